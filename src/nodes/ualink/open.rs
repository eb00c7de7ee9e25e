//! Requests of an accelerator that have no answer yet.
//!
//! Modelled: a place for each tag of a port. Left out: which tags are free, see [`accelerator`](super::accelerator).
//!
//! A walk: a request enters at its port and tag; each response finds it there and adds its beats; with the last beat it
//! leaves. The places of neighbouring tags lie side by side, 24 bytes each, and take memory while there is a request at one
//! of them: cycles and numbers in traces are kept as what they are above those of the first request there. What a read has to return is not kept where nothing had written it, since its address says so; that of any
//! other stands in a tree beside them. Which request is the oldest is searched for when it may be overdue, which is next to
//! never: until then it is enough to know since when there is none.

use super::check::UalReadAssembly;
use super::completer::{ADDRESSES, global, owner};
use super::read::Read;
use super::traffic::UalTrafficOp;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;

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
    pub fn first_line(&self) -> u64 {
        self.first / LINE_BYTES * LINE_BYTES
    }
}

/// Open requests by port and tag. There may be a thousand of them at each of a thousand accelerators, so a tag that is not
/// used takes little.
pub struct OpenRequests {
    /// Tags of each port, so many a block; `None`: there is no request in it.
    ports: Vec<Vec<Option<Box<TagBlock>>>>,
    count: usize,
    /// All of them were sent in this cycle or later.
    since_cycle: u64,
    /// What those expect that read what was written, by port and tag.
    expected: OrderedMap<(usize, u16), Read>,
    /// Those that are too far from the first one of their block, by port and tag.
    far: OrderedMap<(usize, u16), UalOpenRequest>,
}

/// Places of neighbouring tags.
struct TagBlock {
    /// Cycle and number in traces of the request that came first, which no other one is below.
    since_cycle: u64,
    id: u64,
    near: [Option<NearRequest>; BLOCK],
    count: usize,
}

/// A request within 2^32 cycles and numbers of the first one of its block, which is all but ever.
#[derive(Debug, Clone, Copy)]
struct NearRequest {
    first: u64,
    id_above: u32,
    cycles_above: u32,
    access_back: u32,
    cmd: ReqCmd,
    dwords: u8,
    expects: Expects,
    seen: u8,
}

/// Tags of a block.
const BLOCK: usize = 32;

impl TagBlock {
    /// An empty one, for a request that comes first.
    fn of(open: &UalOpenRequest) -> TagBlock {
        TagBlock { since_cycle: open.since_cycle, id: open.id, near: [None; BLOCK], count: 0 }
    }

    /// The near form of a request; `None`: it is too far.
    fn near(&self, open: &UalOpenRequest) -> Option<NearRequest> {
        let UalOpenRequest { id, since_cycle, first, access_back, cmd, dwords, expects, seen } = *open;
        let above = |number: u64, least: u64| u32::try_from(number.checked_sub(least)?).ok();
        let (id_above, cycles_above) = (above(id, self.id)?, above(since_cycle, self.since_cycle)?);
        Some(NearRequest { first, id_above, cycles_above, access_back, cmd, dwords, expects, seen })
    }

    fn request(&self, near: &NearRequest) -> UalOpenRequest {
        let NearRequest { first, id_above, cycles_above, access_back, cmd, dwords, expects, seen } = *near;
        let (id, since_cycle) = (self.id + u64::from(id_above), self.since_cycle + u64::from(cycles_above));
        UalOpenRequest { id, since_cycle, first, access_back, cmd, dwords, expects, seen }
    }
}

impl OpenRequests {
    /// None, at so many ports.
    pub fn new(ports: usize) -> OpenRequests {
        OpenRequests {
            ports: (0..ports).map(|_| Vec::new()).collect(),
            count: 0,
            since_cycle: 0,
            expected: OrderedMap::new(),
            far: OrderedMap::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
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
        let block = blocks[at].get_or_insert_with(|| Box::new(TagBlock::of(&open)));
        if block.count == 0 {
            **block = TagBlock::of(&open);
        }
        match block.near(&open) {
            Some(near) => {
                block.near[usize::from(tag) % BLOCK] = Some(near);
                block.count += 1;
            }
            None => {
                self.far.insert((port, tag), open);
            }
        }
    }

    /// The one at a port and tag.
    pub fn get(&self, port: usize, tag: u16) -> Option<UalOpenRequest> {
        let block = self.ports[port].get(usize::from(tag) / BLOCK)?.as_ref()?;
        match &block.near[usize::from(tag) % BLOCK] {
            Some(near) => Some(block.request(near)),
            None => self.far.get(&(port, tag)).copied(),
        }
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

    /// What the one at a port and tag expects to read.
    fn expected(&self, port: usize, tag: u16) -> Option<Read> {
        let open = self.get(port, tag)?;
        Some(match open.expects {
            Expects::Nothing => Read::nothing(),
            Expects::Unwritten => Read::unwritten(open.first_line(), open.beats()),
            Expects::Others => self.expected.get(&(port, tag))?.clone(),
        })
    }

    /// The line that the one at a port and tag expects as a beat; `None`: it expects no such beat.
    pub fn expected_line(&self, port: usize, tag: u16, beat: usize) -> Option<(LineBytes, bool)> {
        self.expected(port, tag)?.lines(beat).next()
    }

    /// The one at a port and tag expects this line as a beat from here on.
    pub fn expect(&mut self, port: usize, tag: u16, beat: usize, line: (LineBytes, bool)) {
        let Some(read) = self.expected(port, tag) else { return };
        let mut lines: Vec<_> = read.lines(0).collect();
        if let Some(old) = lines.get_mut(beat) {
            *old = line;
            self.expected.insert((port, tag), lines.into());
            self.set_expects(port, tag, Expects::Others);
        }
    }

    fn set_expects(&mut self, port: usize, tag: u16, expects: Expects) {
        let block = self.ports[port].get_mut(usize::from(tag) / BLOCK).and_then(Option::as_mut);
        match block.and_then(|block| block.near[usize::from(tag) % BLOCK].as_mut()) {
            Some(near) => near.expects = expects,
            None => {
                if let Some(far) = self.far.get_mut(&(port, tag)) {
                    far.expects = expects;
                }
            }
        }
    }

    /// A response to the one at a port and tag: whether its answer is finished, and what is wrong.
    pub fn answer(&mut self, port: usize, tag: u16, transfer: &Transfer) -> Option<(bool, Vec<Violation>)> {
        let seen = self.get(port, tag)?.seen;
        let mut answer = UalReadAssembly::of(self.expected(port, tag)?, seen);
        let mut taken = answer.take(transfer);
        for wrong in taken.1.iter_mut().filter(|wrong| wrong.rule == "SIM-E2E-01") {
            let open = self.get(port, tag)?;
            let line = open.first_line() & ADDRESSES;
            wrong.text = format!("{}; beat 0 is at {line:#x} of accelerator {}", wrong.text, open.dst());
        }
        let block = self.ports[port].get_mut(usize::from(tag) / BLOCK)?.as_mut()?;
        match &mut block.near[usize::from(tag) % BLOCK] {
            Some(near) => near.seen = answer.seen(),
            None => self.far.get_mut(&(port, tag))?.seen = answer.seen(),
        }
        Some(taken)
    }

    /// Takes the one at a port and tag out.
    pub fn remove(&mut self, port: usize, tag: u16) -> Option<UalOpenRequest> {
        let open = self.get(port, tag)?;
        let place = self.ports[port].get_mut(usize::from(tag) / BLOCK)?;
        let block = place.as_mut()?;
        match block.near[usize::from(tag) % BLOCK].take() {
            Some(_) => block.count -= 1,
            None => {
                self.far.remove(&(port, tag));
            }
        }
        if block.count == 0 && self.far.is_empty() {
            *place = None;
        }
        self.count -= 1;
        if open.expects == Expects::Others {
            self.expected.remove(&(port, tag));
        }
        Some(open)
    }

    /// All, by port and tag.
    pub fn iter(&self) -> impl Iterator<Item = UalOpenRequest> + '_ {
        self.by_place().map(|(_, open)| open)
    }

    /// All with their ports and tags.
    pub fn by_place(&self) -> impl Iterator<Item = ((usize, u16), UalOpenRequest)> + '_ {
        let blocks = |port: usize| self.ports[port].iter().enumerate().filter(|(_, block)| block.is_some());
        let tags = (0..self.ports.len()).flat_map(move |port| {
            blocks(port).flat_map(move |(block, _)| (block * BLOCK..(block + 1) * BLOCK).map(move |tag| (port, tag)))
        });
        tags.filter_map(|(port, tag)| Some(((port, tag as u16), self.get(port, tag as u16)?)))
    }

    /// Takes all out, by port and tag.
    pub fn take_all(&mut self) -> Vec<UalOpenRequest> {
        let all = std::mem::replace(self, OpenRequests::new(self.ports.len()));
        all.iter().collect()
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
        scalepool_ordered::sort(&mut model);
        let all: Vec<u64> = requests.take_all().iter().map(|open| open.id).collect();
        assert_eq!(all, model.iter().map(|&(.., id)| id).collect::<Vec<_>>(), "by port and tag");
        assert!(requests.count() == 0 && requests.since_cycle().is_none());
        assert_eq!((size_of::<Option<NearRequest>>(), size_of::<TagBlock>()), (24, 24 * BLOCK + 24));
    }

    /// A request that stays open while 2^32 cycles and numbers go by is found like its younger neighbours, which are far from it.
    #[test]
    fn requests_far_from_the_first_of_their_block_are_found() {
        const FAR: u64 = 1 << 40;
        let op = |dst| UalTrafficOp { dst, cmd: ReqCmd::Read, metadata: 0, address: 0, dwords: 16 };
        let open = |tag, since, id| UalOpenRequest::new(&op(tag), since, id, id);
        let mut requests = OpenRequests::new(1);
        for (tag, since, id) in [(3, 5, 7), (1, 5 + FAR, 8), (2, 6 + FAR, 7 + FAR), (40, 7 + FAR, 8 + FAR)] {
            requests.insert(0, tag, open(tag, since, id), Read::unwritten(global(tag, 0), 1));
        }
        let all = |requests: &OpenRequests| {
            requests.iter().map(|open| (open.dst(), open.since_cycle, open.id)).collect::<Vec<_>>()
        };
        let expected = [(1, 5 + FAR, 8), (2, 6 + FAR, 7 + FAR), (3, 5, 7), (40, 7 + FAR, 8 + FAR)];
        assert_eq!((all(&requests), requests.far.len(), requests.oldest_cycle()), (expected.to_vec(), 2, Some(5)));
        assert_eq!(requests.remove(0, 3).map(|open| open.id), Some(7));
        assert_eq!(requests.remove(0, 2).map(|open| open.id), Some(7 + FAR));
        assert_eq!((requests.get(0, 2).is_none(), requests.count(), requests.oldest_cycle()), (true, 2, Some(5 + FAR)));
        // With the first one gone, the block begins anew.
        requests.insert(0, 3, open(3, 8 + FAR, 9 + FAR), Read::nothing());
        assert_eq!((requests.get(0, 3).map(|open| open.id), requests.far.len()), (Some(9 + FAR), 1));
        assert_eq!(requests.take_all().len(), 3);
        assert!(requests.count() == 0 && requests.far.is_empty());
    }
}
