//! Requests of an accelerator that have no answer yet.
//!
//! Modelled: a place for each tag of a port. Left out: which tags are free, see [`accelerator`](super::accelerator).
//!
//! A walk: a request enters at its port and tag; its answer finds it there; with the last beat it leaves. Requests lie side by
//! side at places that are used again: 72 bytes and 4 for the tag, where one by one they took 80 and 8.

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

/// Open requests by port and tag. There may be a thousand of them at each of a thousand accelerators, so a tag that is not
/// used takes little.
pub struct OpenRequests {
    /// Place of each tag of a port, counted from 1; 0: there is none.
    of_port: Vec<Vec<u32>>,
    places: Vec<Option<Open>>,
    /// Places without a request.
    free: Vec<u32>,
}

/// Room for so many more is made at least.
const LEAST_ROOM: usize = 16;

/// Makes room for one more: an eighth, not twice as much.
fn make_room<T>(all: &mut Vec<T>) {
    if all.len() == all.capacity() {
        all.reserve_exact(LEAST_ROOM.max(all.len() / 8));
    }
}

impl OpenRequests {
    /// None, at so many ports.
    pub fn new(ports: usize) -> OpenRequests {
        OpenRequests { of_port: (0..ports).map(|_| Vec::new()).collect(), places: Vec::new(), free: Vec::new() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len() - self.free.len()
    }

    fn place(&self, port: usize, tag: u16) -> Option<usize> {
        (*self.of_port[port].get(usize::from(tag))? as usize).checked_sub(1)
    }

    /// Adds one at a port and tag where there is none.
    pub fn insert(&mut self, port: usize, tag: u16, open: Open) {
        let of_tag = &mut self.of_port[port];
        while of_tag.len() <= usize::from(tag) {
            make_room(of_tag);
            of_tag.push(0);
        }
        let place = self.place(port, tag).or_else(|| self.free.pop().map(|place| place as usize));
        let place = place.unwrap_or_else(|| {
            make_room(&mut self.places);
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(open);
        self.of_port[port][usize::from(tag)] = place as u32 + 1;
    }

    /// The one at a port and tag.
    pub fn get(&self, port: usize, tag: u16) -> Option<&Open> {
        self.places[self.place(port, tag)?].as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, port: usize, tag: u16) -> Option<&mut Open> {
        let place = self.place(port, tag)?;
        self.places[place].as_mut()
    }

    /// Takes the one at a port and tag out.
    pub fn remove(&mut self, port: usize, tag: u16) -> Option<Open> {
        let place = self.place(port, tag)?;
        self.of_port[port][usize::from(tag)] = 0;
        make_room(&mut self.free);
        self.free.push(place as u32);
        self.places[place].take()
    }

    /// All, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Open> {
        self.places.iter().flatten()
    }

    /// Takes all out, by port and tag.
    pub fn take_all(&mut self) -> Vec<Open> {
        let places: Vec<u32> = self.of_port.iter_mut().flat_map(std::mem::take).collect();
        self.free.clear();
        let mut all = std::mem::take(&mut self.places);
        places.into_iter().filter_map(|place| all.get_mut((place as usize).checked_sub(1)?)?.take()).collect()
    }
}
