//! Requests of an accelerator that have no answer yet.
//!
//! Modelled: a place for each tag of a port. Left out: which tags are free, see [`accelerator`](super::accelerator).
//!
//! A walk: a request enters at its port and tag; each response finds it there and adds its beats; with the last beat it
//! leaves. The places of neighbouring tags lie side by side, 32 bytes each, and take memory while there is a request at one
//! of them. What a read has to return is not kept where nothing had written it, since its address says so; that of any
//! other stands in a tree beside them. Which request is the oldest is searched for when it may be overdue, which is next to
//! never: until then it is enough to know since when there is none.

use super::check::UalReadAssembly;
use super::completer::{global, owner};
use super::read::Read;
use super::traffic::UalTrafficOp;
use scalepool_memory::LINE_BYTES;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use std::collections::BTreeMap;

/// What an answer brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// No data.
    Nothing,
    /// The lines of the request, which nothing had written.
    Unwritten,
    /// Others.
    Others,
}

/// A request without an answer.
#[derive(Debug, Clone, Copy)]
pub struct UalOpenRequest {
    /// Its number in traces.
    pub id: u64,
    /// Cycle at which it was sent.
    pub since_cycle: u64,
    /// Its first byte among the memories of all.
    first: u64,
    /// How far back the number of its operation is: that one may have waited while others got numbers.
    access_back: u32,
    /// Command.
    pub cmd: ReqCmd,
    /// DWords.
    pub dwords: u8,
    expects: Expects,
    /// Beats that have come, a bit each.
    seen: u8,
}

impl UalOpenRequest {
    /// A request for an operation, whose number in traces is `access`.
    pub fn new(op: &UalTrafficOp, since_cycle: u64, id: u64, access: u64) -> UalOpenRequest {
        let UalTrafficOp { dst, cmd, address, dwords, .. } = *op;
        let access_back = u32::try_from(id - access).unwrap_or(u32::MAX);
        let first = global(dst, address);
        UalOpenRequest { id, since_cycle, first, access_back, cmd, dwords, expects: Expects::Nothing, seen: 0 }
    }

    /// Accelerator that is asked.
    pub fn dst(&self) -> u16 {
        owner(self.first)
    }

    /// The number of its operation in traces, which ends with it.
    pub fn access(&self) -> u64 {
        self.id - u64::from(self.access_back)
    }

    /// Beats of 64 bytes that it touches.
    pub fn beats(&self) -> u8 {
        super::traffic::beats(self.first, self.dwords)
    }

    /// Whether it is answered by data.
    pub fn is_read(&self) -> bool {
        self.expects != Expects::Nothing
    }

    /// Address of its first line among the memories of all.
    fn first_line(&self) -> u64 {
        self.first / LINE_BYTES * LINE_BYTES
    }
}

/// Open requests by port and tag. There may be a thousand of them at each of a thousand accelerators, so a tag that is not
/// used takes little.
pub struct OpenRequests {
    /// Tags of each port, so many a block; `None`: there is no request in it.
    ports: Vec<Vec<Option<Box<Block>>>>,
    count: usize,
    /// All of them were sent in this cycle or later.
    since_cycle: u64,
    /// What those expect that read what was written, by port and tag.
    expected: BTreeMap<(usize, u16), Read>,
}

/// Places of neighbouring tags.
#[derive(Default)]
struct Block {
    open: [Option<UalOpenRequest>; BLOCK],
    count: usize,
}

/// Tags of a block.
const BLOCK: usize = 32;

impl OpenRequests {
    /// None, at so many ports.
    pub fn new(ports: usize) -> OpenRequests {
        OpenRequests {
            ports: (0..ports).map(|_| Vec::new()).collect(),
            count: 0,
            since_cycle: 0,
            expected: BTreeMap::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    fn at(&mut self, port: usize, tag: u16) -> Option<&mut UalOpenRequest> {
        let block = self.ports[port].get_mut(usize::from(tag) / BLOCK)?.as_mut()?;
        block.open[usize::from(tag) % BLOCK].as_mut()
    }

    /// Adds one at a port and tag where there is none, and what it is to read. It was not sent before another one.
    pub fn insert(&mut self, port: usize, tag: u16, mut open: UalOpenRequest, expected: Read) {
        open.expects = match expected.beats() {
            0 => Expects::Nothing,
            _ if expected.is_unwritten(open.first_line(), open.beats()) => Expects::Unwritten,
            _ => {
                self.expected.insert((port, tag), expected);
                Expects::Others
            }
        };
        if self.count == 0 {
            self.since_cycle = open.since_cycle;
        }
        self.count += 1;
        let (blocks, at) = (&mut self.ports[port], usize::from(tag) / BLOCK);
        if blocks.len() <= at {
            blocks.resize_with(at + 1, || None);
        }
        let block = blocks[at].get_or_insert_default();
        block.open[usize::from(tag) % BLOCK] = Some(open);
        block.count += 1;
    }

    /// The one at a port and tag.
    pub fn get(&self, port: usize, tag: u16) -> Option<&UalOpenRequest> {
        let block = self.ports[port].get(usize::from(tag) / BLOCK)?.as_ref()?;
        block.open[usize::from(tag) % BLOCK].as_ref()
    }

    /// A cycle before which none of them was sent; `None`: there is none.
    pub fn since_cycle(&self) -> Option<u64> {
        (self.count > 0).then_some(self.since_cycle)
    }

    /// The latest such cycle: that in which the oldest one was sent.
    pub fn oldest_cycle(&mut self) -> Option<u64> {
        let oldest = self.iter().map(|open| open.since_cycle).min()?;
        self.since_cycle = oldest;
        Some(oldest)
    }

    /// A response to the one at a port and tag: whether its answer is finished, and what is wrong.
    pub fn answer(&mut self, port: usize, tag: u16, transfer: &Transfer) -> Option<(bool, Vec<Violation>)> {
        let open = *self.get(port, tag)?;
        let expected = match open.expects {
            Expects::Nothing => Read::nothing(),
            Expects::Unwritten => Read::unwritten(open.first_line(), open.beats()),
            Expects::Others => self.expected.get(&(port, tag))?.clone(),
        };
        let mut answer = UalReadAssembly::of(expected, open.seen);
        let taken = answer.take(transfer);
        self.at(port, tag)?.seen = answer.seen();
        Some(taken)
    }

    /// Takes the one at a port and tag out.
    pub fn remove(&mut self, port: usize, tag: u16) -> Option<UalOpenRequest> {
        let place = self.ports[port].get_mut(usize::from(tag) / BLOCK)?;
        let block = place.as_mut()?;
        let open = block.open[usize::from(tag) % BLOCK].take()?;
        block.count -= 1;
        if block.count == 0 {
            *place = None;
        }
        self.count -= 1;
        if open.expects == Expects::Others {
            self.expected.remove(&(port, tag));
        }
        Some(open)
    }

    /// All, by port and tag.
    pub fn iter(&self) -> impl Iterator<Item = &UalOpenRequest> {
        self.ports.iter().flatten().flatten().flat_map(|block| block.open.iter().flatten())
    }

    /// Takes all out, by port and tag.
    pub fn take_all(&mut self) -> Vec<UalOpenRequest> {
        let all = std::mem::replace(self, OpenRequests::new(self.ports.len()));
        all.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_kernel::Rng;

    /// Whatever comes and goes in whatever order, each is found at its tag, and the oldest one is the first that was sent.
    #[test]
    fn requests_are_found_by_tag_and_by_age() {
        let (mut rng, mut requests) = (Rng::from_seed(5), OpenRequests::new(2));
        let mut model: Vec<(usize, u16, u64)> = Vec::new();
        for n in 0..5000u64 {
            let (port, tag) = (rng.below(2) as usize, rng.below(90) as u16);
            let known = model.iter().position(|&(p, t, _)| (p, t) == (port, tag));
            match known {
                Some(at) => {
                    let (_, _, id) = model.remove(at);
                    assert_eq!(requests.remove(port, tag).map(|open| (open.id, open.access())), Some((id, id - 1)));
                }
                None => {
                    let op = UalTrafficOp { dst: tag, cmd: ReqCmd::Read, metadata: 0, address: 64 * n, dwords: 16 };
                    let read = if n % 3 == 0 {
                        vec![([1; 64], false)].into()
                    } else {
                        Read::unwritten(global(tag, 64 * n), 1)
                    };
                    requests.insert(port, tag, UalOpenRequest::new(&op, n, n + 7, n + 6), read);
                    model.push((port, tag, n + 7));
                }
            }
            assert_eq!(requests.count(), model.len());
            let oldest = model.first().map(|&(.., id)| id - 7);
            assert!(requests.since_cycle().is_some() == oldest.is_some() && requests.since_cycle() <= oldest);
            if n % 5 == 0 {
                assert_eq!(requests.oldest_cycle(), oldest);
                assert_eq!(requests.since_cycle(), oldest);
            }
            for &(port, tag, id) in &model {
                let open = requests.get(port, tag).expect("it is open");
                assert!((open.id, open.dst(), open.beats(), open.is_read()) == (id, tag, 1, true), "{open:?}");
            }
        }
        model.sort_unstable();
        let all: Vec<u64> = requests.take_all().iter().map(|open| open.id).collect();
        assert_eq!(all, model.iter().map(|&(.., id)| id).collect::<Vec<_>>(), "by port and tag");
        assert!(requests.count() == 0 && requests.since_cycle().is_none());
        assert_eq!((size_of::<Option<UalOpenRequest>>(), size_of::<Block>()), (32, 32 * BLOCK + 8));
    }
}
