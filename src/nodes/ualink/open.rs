//! Requests of an accelerator that have no answer yet.
//!
//! Modelled: a place for each tag of a port. Left out: which tags are free, see [`accelerator`](super::accelerator).
//!
//! A walk: a request enters at its port and tag; its answer finds it there; with the last beat it leaves.

use super::check::Assembly;
use super::traffic::Op;
use scalepool_kernel::Time;

/// A request without an answer.
pub struct Open {
    /// What was asked for.
    pub op: Op,
    /// What has come of the answer.
    pub answer: Assembly,
    /// When it was sent.
    pub since: Time,
    /// The same in cycles.
    pub since_cycle: u64,
    /// Its number in traces.
    pub id: u64,
    /// That of its operation, which ends with it.
    pub access: u64,
}

/// Open requests by port and tag. There may be a thousand of them at each of a thousand accelerators, so a place that is
/// empty is small.
pub struct OpenRequests {
    of_port: Vec<Vec<Option<Box<Open>>>>,
    count: usize,
}

impl OpenRequests {
    /// None, at so many ports.
    pub fn new(ports: usize) -> OpenRequests {
        OpenRequests { of_port: (0..ports).map(|_| Vec::new()).collect(), count: 0 }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds one at a port and tag where there is none.
    pub fn insert(&mut self, port: usize, tag: u16, open: Open) {
        let (of_tag, tag) = (&mut self.of_port[port], usize::from(tag));
        if of_tag.len() <= tag {
            of_tag.resize_with(tag + 1, || None);
        }
        self.count += usize::from(of_tag[tag].replace(Box::new(open)).is_none());
    }

    /// The one at a port and tag.
    pub fn get(&self, port: usize, tag: u16) -> Option<&Open> {
        self.of_port[port].get(usize::from(tag))?.as_deref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, port: usize, tag: u16) -> Option<&mut Open> {
        self.of_port[port].get_mut(usize::from(tag))?.as_deref_mut()
    }

    /// Takes the one at a port and tag out.
    pub fn remove(&mut self, port: usize, tag: u16) -> Option<Box<Open>> {
        let open = self.of_port[port].get_mut(usize::from(tag))?.take()?;
        self.count -= 1;
        Some(open)
    }

    /// All, by port and tag.
    pub fn iter(&self) -> impl Iterator<Item = &Open> {
        self.of_port.iter().flatten().filter_map(Option::as_deref)
    }

    /// Takes all out, by port and tag.
    pub fn take_all(&mut self) -> Vec<Box<Open>> {
        self.count = 0;
        self.of_port.iter_mut().flat_map(std::mem::take).flatten().collect()
    }
}
