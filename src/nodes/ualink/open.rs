//! Requests of an accelerator that have no answer yet.
//!
//! Modelled: a place for each tag of a port. Left out: which tags are free, see [`accelerator`](super::accelerator).
//!
//! A walk: a request enters at its port and tag, behind those that were sent before; each response finds it there and adds
//! its beats; with the last beat it leaves. Requests lie side by side at places that are used again, 32 bytes each, 4 for
//! their order and 2 for the tag. What a read has to return is not kept where nothing had written it, since its address says
//! so; that of any other stands in a tree beside them.

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
    /// Place of each tag of a port, counted from 1; 0: there is none.
    of_port: Vec<Vec<u16>>,
    /// Places, block by block, which stay where they are: there is never a second copy of all while they grow.
    #[allow(clippy::vec_box)]
    blocks: Vec<Box<Block>>,
    /// Places that have been used.
    used: usize,
    /// Those of them without a request.
    free: Vec<u16>,
    /// The one that was sent first, and the one that was sent last.
    oldest: u16,
    newest: u16,
    /// What those expect that read what was written, by place.
    expected: BTreeMap<u16, Read>,
}

/// Places that lie side by side.
struct Block {
    open: [Option<UalOpenRequest>; BLOCK],
    /// The places of those that were sent just before and just after.
    neighbours: [[u16; 2]; BLOCK],
}

/// No place.
const NOWHERE: u16 = u16::MAX;
/// Which neighbour.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// Places of a block.
const BLOCK: usize = 32;
/// Tags that get room at once.
const TAGS_AT_ONCE: usize = 64;

impl OpenRequests {
    /// None, at so many ports.
    pub fn new(ports: usize) -> OpenRequests {
        OpenRequests {
            of_port: (0..ports).map(|_| Vec::new()).collect(),
            blocks: Vec::new(),
            used: 0,
            free: Vec::new(),
            oldest: NOWHERE,
            newest: NOWHERE,
            expected: BTreeMap::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.used - self.free.len()
    }

    fn place(&self, port: usize, tag: u16) -> Option<u16> {
        self.of_port[port].get(usize::from(tag))?.checked_sub(1)
    }

    fn at(&mut self, place: u16) -> &mut Option<UalOpenRequest> {
        &mut self.blocks[usize::from(place) / BLOCK].open[usize::from(place) % BLOCK]
    }

    fn neighbours(&mut self, place: u16) -> &mut [u16; 2] {
        &mut self.blocks[usize::from(place) / BLOCK].neighbours[usize::from(place) % BLOCK]
    }

    /// Puts a place behind all others.
    fn link(&mut self, place: u16) {
        let before = std::mem::replace(&mut self.newest, place);
        *self.neighbours(place) = [before, NOWHERE];
        match before {
            NOWHERE => self.oldest = place,
            before => self.neighbours(before)[AFTER] = place,
        }
    }

    /// Takes a place from between its neighbours.
    fn unlink(&mut self, place: u16) {
        let [before, after] = *self.neighbours(place);
        match before {
            NOWHERE => self.oldest = after,
            before => self.neighbours(before)[AFTER] = after,
        }
        match after {
            NOWHERE => self.newest = before,
            after => self.neighbours(after)[BEFORE] = before,
        }
    }

    /// A place without a request. There are 2^15 at most, a tag of a port each.
    fn free_place(&mut self) -> u16 {
        if let Some(place) = self.free.pop() {
            return place;
        }
        if self.used.is_multiple_of(BLOCK) {
            self.blocks.push(Box::new(Block { open: [None; BLOCK], neighbours: [[NOWHERE; 2]; BLOCK] }));
        }
        self.used += 1;
        (self.used - 1) as u16
    }

    /// Adds one at a port and tag where there is none, and what it is to read.
    pub fn insert(&mut self, port: usize, tag: u16, mut open: UalOpenRequest, expected: Read) {
        let place = self.free_place();
        open.expects = match expected.beats() {
            0 => Expects::Nothing,
            _ if expected.is_unwritten(open.first_line(), open.beats()) => Expects::Unwritten,
            _ => {
                self.expected.insert(place, expected);
                Expects::Others
            }
        };
        let of_tag = &mut self.of_port[port];
        if of_tag.len() <= usize::from(tag) {
            let tags = (usize::from(tag) + 1).next_multiple_of(TAGS_AT_ONCE);
            of_tag.reserve_exact(tags - of_tag.len());
            of_tag.resize(tags, 0);
        }
        of_tag[usize::from(tag)] = place + 1;
        *self.at(place) = Some(open);
        self.link(place);
    }

    /// The one at a port and tag.
    pub fn get(&self, port: usize, tag: u16) -> Option<&UalOpenRequest> {
        self.open(self.place(port, tag)?)
    }

    fn open(&self, place: u16) -> Option<&UalOpenRequest> {
        self.blocks.get(usize::from(place) / BLOCK)?.open[usize::from(place) % BLOCK].as_ref()
    }

    /// The one that was sent first.
    pub fn oldest(&self) -> Option<&UalOpenRequest> {
        self.open(self.oldest)
    }

    /// A response to the one at a port and tag: whether its answer is finished, and what is wrong.
    pub fn answer(&mut self, port: usize, tag: u16, transfer: &Transfer) -> Option<(bool, Vec<Violation>)> {
        let place = self.place(port, tag)?;
        let open = (*self.at(place))?;
        let expected = match open.expects {
            Expects::Nothing => Read::nothing(),
            Expects::Unwritten => Read::unwritten(open.first_line(), open.beats()),
            Expects::Others => self.expected.get(&place)?.clone(),
        };
        let mut answer = UalReadAssembly::of(expected, open.seen);
        let taken = answer.take(transfer);
        *self.at(place) = Some(UalOpenRequest { seen: answer.seen(), ..open });
        Some(taken)
    }

    /// Takes the one at a port and tag out.
    pub fn remove(&mut self, port: usize, tag: u16) -> Option<UalOpenRequest> {
        let place = self.place(port, tag)?;
        self.of_port[port][usize::from(tag)] = 0;
        self.free.push(place);
        self.unlink(place);
        let open = self.at(place).take()?;
        if open.expects == Expects::Others {
            self.expected.remove(&place);
        }
        Some(open)
    }

    /// All, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &UalOpenRequest> {
        self.blocks.iter().flat_map(|block| block.open.iter().flatten())
    }

    /// Takes all out, by port and tag.
    pub fn take_all(&mut self) -> Vec<UalOpenRequest> {
        let mut all = std::mem::replace(self, OpenRequests::new(self.of_port.len()));
        let places = std::mem::take(&mut all.of_port);
        let places = places.into_iter().flatten().filter_map(|place| place.checked_sub(1));
        places.filter_map(|place| all.at(place).take()).collect()
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
            assert_eq!(requests.oldest().map(|open| open.id), model.first().map(|&(.., id)| id));
            for &(port, tag, id) in &model {
                let open = requests.get(port, tag).expect("it is open");
                assert!((open.id, open.dst(), open.beats(), open.is_read()) == (id, tag, 1, true), "{open:?}");
            }
        }
        model.sort_unstable();
        let all: Vec<u64> = requests.take_all().iter().map(|open| open.id).collect();
        assert_eq!(all, model.iter().map(|&(.., id)| id).collect::<Vec<_>>(), "by port and tag");
        assert!(requests.count() == 0 && requests.oldest().is_none());
        assert_eq!((size_of::<Option<UalOpenRequest>>(), size_of::<Block>()), (32, 36 * BLOCK));
    }
}
