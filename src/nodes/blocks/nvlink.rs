//! A node on NVLink: requests with an answer for blocks of whole lines, posted writes for bulk, FLUSH. Basis: model.
//!
//! Modelled: all requests to a block take one link and one channel, so they keep their order (see
//! [`link_group`](crate::nvlink::link_group)); tags of 10 bits until the last answer. A packet has one poison bit for all of its lines
//! (`bridge` §8.3), so a write of lines of which only some are poisoned goes in parts, and a read of several lines that comes
//! with poison is asked for again, line by line; a write to the block waits until such a read is over, since it could come in between \[D\]. Left
//! out: atomics, byte enables, links that go down, which end a run.
//!
//! A walk: four lines of which the second is poisoned are read. RSP_DATA comes with poison, so four READs of a line follow, each with a tag of
//! its own; each brings the mark of its line; with the last one the read is over.

use super::nvlink_packets::{BlockPacket, Held, LINE, OnWay, PacketForm, Packets, lines_of};
use super::open::{OpenBlock, OpenBlocks};
use super::{
    BLOCK_BYTES, BlockAddress, BlockEnd, BlockEvent, BlockFinding, BlockNode, BlockNodeConfig, BlockRequest,
    ControlReply, ForeignOperation, ForeignRequest, MarkedLine, NodeAccess,
};
use crate::nvlink::completer::{NVLINK_ANSWERS, NvlCompleter, REFUSED};
use crate::nvlink::gpu::{LinkEnds, request_handle};
use crate::nvlink::ledger::{NvlLedger, NvlPeer};
use crate::nvlink::link_group::{LinkGroup, TAGS, global, local, target};
use scalepool_kernel::Cx;
use scalepool_link::nvlink::NvlMessage;
use scalepool_link::nvlink::port::body_of;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::backend::{MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Channel of requests with an answer.
const REQUESTS: usize = 0;
/// Channel of posted requests.
const POSTED: usize = 1;
/// Channel of answers.
const ANSWERS: usize = 2;
/// A node with links of NVLink.
pub struct NvlinkBlocks {
    config: BlockNodeConfig,
    form: PacketForm,
    links: Vec<LinkEnds>,
    completer: NvlCompleter,
    /// Requests of its own to its HBM: their tags, and what they have read.
    hbm: Box<dyn MemoryBackend<(u16, Vec<MarkedLine>)>>,
    group: LinkGroup,
    open: OpenBlocks,
    /// Packets that are not answered, by their tags.
    on_way: OrderedMap<u16, OnWay>,
    /// Packets of requests, by the tags of these.
    packets: OrderedMap<u16, Packets>,
    /// Open reads of several lines, which may have to be asked for again, by block.
    long_reads: OrderedMap<(u16, u64), u32>,
    held: VecDeque<Held>,
    /// What is still to be told.
    found: VecDeque<BlockFinding>,
    served: u64,
    ledger: Arc<Mutex<NvlLedger>>,
}

fn block_of(at: BlockAddress) -> (u16, u64) {
    (at.node, at.address / BLOCK_BYTES)
}

impl NvlinkBlocks {
    /// A node with its links, at least one; messages are in `ledger` as they pass.
    pub fn new(config: BlockNodeConfig, links: Vec<LinkEnds>, ledger: Arc<Mutex<NvlLedger>>) -> NvlinkBlocks {
        let number = (config.own, config.fabric);
        NvlinkBlocks {
            form: PacketForm { rid: config.own, codec: NvlConfig::default() },
            completer: NvlCompleter::new(number, links.len(), config.hbm_cycles, NVLINK_ANSWERS),
            hbm: MemoryTiming::fixed(config.hbm_cycles).build(),
            group: LinkGroup::new(links.len()),
            open: OpenBlocks::new(TAGS as u16),
            on_way: OrderedMap::new(),
            packets: OrderedMap::new(),
            long_reads: OrderedMap::new(),
            held: VecDeque::new(),
            found: VecDeque::new(),
            served: 0,
            config,
            links,
            ledger,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, NvlLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- packets -------------------------------------------------------------------------------------------------

    fn is_held(&self, link: usize, channel: usize) -> bool {
        self.held.iter().any(|held| held.link == link && channel == REQUESTS)
    }

    fn push(&mut self, cx: &mut Cx, link: usize, channel: usize, message: NvlMessage) {
        let peer = match channel {
            ANSWERS => NvlPeer::of_requester(message.rid),
            _ => NvlPeer::Gpu(target(message.address)),
        };
        self.ledger().send((peer, link, channel), &message);
        // Room was asked for before.
        let _ = self.links[link].tx[channel].push(cx, message);
    }

    fn named(&self, message: &NvlMessage) -> TransactionNaming {
        TransactionNaming::As(request_handle(self.config.fabric, message, target(message.address)))
    }

    /// Packets that waited for room leave, on each link in their order.
    fn send_held(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) {
        let mut full = vec![false; self.links.len()];
        for held in std::mem::take(&mut self.held) {
            let link = held.link;
            full[link] |= !self.links[link].tx[REQUESTS].has_room(cx, 1);
            if full[link] {
                self.held.push_back(held);
                continue;
            }
            let Held { message, id, .. } = held;
            tap.named(self.named(&message), at, RecordKind::Mark, id, 0, || Body::Mark("sent"));
            self.push(cx, link, REQUESTS, message);
        }
    }

    /// Packets of a request get tags, as far as there are any, this one first; whether it was given away.
    fn give_tags(&mut self, request: u16, (link, id): (usize, u64), tag: u16) -> bool {
        let mut free = Some(tag);
        while let Some(packets) = self.packets.get_mut(&request)
            && !packets.left.is_empty()
            && let Some(tag) = free.take().or_else(|| self.open.take_tag())
            && let Some(BlockPacket { first, lines, message }) = packets.left.pop_front()
        {
            packets.on_way += 1;
            self.on_way.insert(tag, OnWay { request, first, lines });
            self.held.push_back(Held { link, message: NvlMessage { tag, ..message }, id });
        }
        free.is_none()
    }

    // ---- answers -------------------------------------------------------------------------------------------------

    fn answer(&mut self, cx: &mut Cx, link: usize, message: NvlMessage, at: Stamp, tap: &mut Tap) -> Option<BlockEnd> {
        let is_own = message.rid == self.config.own;
        let way = self.on_way.get(&message.tag).copied().filter(|_| is_own);
        let open = way.and_then(|way| self.open.get_mut(way.request)).filter(|open| open.port == Some(link));
        let Some((open, OnWay { request, first, lines })) = open.zip(way) else {
            self.found.push_back(BlockFinding {
                rule: "NVL-TLR-01",
                found: format!("{:?} to {} with tag {} at link {link}", message.op, message.rid, message.tag),
                expected: "an answer to an open request of this node, at its link".to_owned(),
                text: "an answer is received that nobody waits for",
            });
            return None;
        };
        self.on_way.remove(&message.tag);
        let (to, id, is_read) = (open.to, open.id, open.is_read);
        let expected = if is_read { (Op::RSP_DATA, lines * LINE) } else { (Op::RSP_DONE, 0) };
        let is_error = message.op == Op::RSP_ERROR;
        let is_asked_again = !is_error && message.ep && lines > 1;
        if is_error || (message.op, message.data.len()) != expected {
            let found = match is_error {
                true => format!("error {} of node {}", message.size, to.node),
                false => format!("{:?} with {} bytes of node {}", message.op, message.data.len(), to.node),
            };
            open.refused.get_or_insert(found);
        } else if !is_asked_again {
            for (slot, line) in open.lines.iter_mut().skip(first).zip(lines_of(&message.data, message.ep)) {
                *slot = Some(line);
            }
        }
        let again: Vec<BlockPacket> = match is_asked_again && open.refused.is_none() {
            true => (0..lines).map(|n| self.form.read(to, first + n, 1)).collect(),
            false => Vec::new(),
        };
        let packets = self.packets.entry(request).or_default();
        packets.on_way -= 1;
        packets.left.extend(again);
        self.ledger().receive((NvlPeer::Gpu(to.node), link, ANSWERS), &message);
        cx.progress();
        // The tag of a request stays its own until it is over.
        if !self.give_tags(request, (link, id), message.tag) && message.tag != request {
            self.open.give_tag(message.tag);
        }
        self.send_held(cx, at, tap);
        if self.packets.get(&request).is_some_and(|packets| packets.on_way > 0) {
            return None;
        }
        tap.record(at, RecordKind::End, id, 0, || body_of(&message));
        self.end(request)
    }

    /// The request of a tag is over.
    fn end(&mut self, tag: u16) -> Option<BlockEnd> {
        let open = self.open.take(tag)?;
        let key = block_of(open.to);
        let is_long_read = open.is_read && open.lines.len() > 1;
        if self.packets.remove(&tag).is_some()
            && is_long_read
            && let Some(count) = self.long_reads.get_mut(&key)
        {
            *count -= 1;
            if *count == 0 {
                self.long_reads.remove(&key);
            }
        }
        Some(open.end(tag, "NVL-TLR-01", "all lines that were asked for"))
    }

    // ---- requests of others --------------------------------------------------------------------------------------

    fn is_control(&self, message: &NvlMessage) -> bool {
        message.op != Op::FLUSH && self.config.control.contains(&local(message.address))
    }

    /// A request at a control address, as its user has it.
    fn foreign(link: usize, message: NvlMessage, id: u64) -> ForeignRequest {
        let (address, has_data) = (local(message.address), message.op.has_data() == Some(true));
        let bytes = if has_data { message.data.len() } else { 16 * (usize::from(message.size) + 1) };
        let is_whole = bytes.is_multiple_of(LINE) && address.is_multiple_of(LINE_BYTES) && message.be.is_none();
        let operation = match (message.op, lines_of(&message.data, message.ep).next()) {
            (Op::READ, _) if is_whole => ForeignOperation::Read,
            (Op::WRITE_NONPOSTED, Some(line)) if is_whole => ForeignOperation::Write(line),
            (op, _) => ForeignOperation::Other(format!("{op:?} of {bytes} bytes")),
        };
        let (source, lines) = (message.rid, bytes.div_ceil(LINE));
        ForeignRequest { source, operation, address, lines, id, reply: ControlReply::Nvlink(link, Box::new(message)) }
    }
}

impl BlockNode for NvlinkBlocks {
    fn width(&self) -> usize {
        self.links.len()
    }

    fn hindered(&self, cx: &Cx, to: BlockAddress, access: NodeAccess) -> Option<Wait> {
        if access != NodeAccess::Bulk && self.open.is_full() {
            return Some(Wait::Tag);
        }
        if to.node == self.config.own {
            return None;
        }
        let channel = if access == NodeAccess::Bulk { POSTED } else { REQUESTS };
        let link = self.group.link_of(to.address);
        if self.is_held(link, channel) || !self.links[link].tx[channel].has_room(cx, 1) {
            return Some(Wait::Link);
        }
        let is_met = access == NodeAccess::Write && self.long_reads.contains_key(&block_of(to));
        is_met.then_some(Wait::Line)
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest) -> Option<u16> {
        let BlockRequest { to, lines, count, parent } = request;
        let tag = self.open.take_tag()?;
        let (id, is_read) = (tap.new_id(), lines.is_empty());
        let open = OpenBlock {
            to,
            port: (to.node != self.config.own).then(|| self.group.link_of(to.address)),
            is_read,
            lines: if is_read { vec![None; count as usize] } else { Vec::new() },
            refused: None,
            since_cycle: at.cycle,
            id,
        };
        let Some(link) = open.port else {
            tap.record(at, RecordKind::Begin, id, parent, || Body::Access { name: "hbm", address: to.address });
            tap.wait(at, id, Wait::Media, 0);
            let place = |n: u64| to.address + LINE_BYTES * n;
            for (n, (line, poison)) in (0..).zip(&lines) {
                self.completer.memory.write_marked(place(n), line, None, *poison);
            }
            let read = if is_read { count } else { 0 };
            let read = (0..read).map(|n| self.completer.memory.marked_line(place(n))).collect();
            let access = if is_read { MemoryAccess::Read } else { MemoryAccess::Write };
            let memory = MemoryRequest { address: to.address, bytes: LINE_BYTES * count, access };
            // A latency without limits always has room.
            let _ = self.hbm.push(at.cycle, &memory, (tag, read));
            self.open.begin(tag, open);
            return Some(tag);
        };
        let mut left = match is_read {
            true => VecDeque::from([self.form.read(to, 0, count as usize)]),
            false => self.form.writes(Op::WRITE_NONPOSTED, to, &lines),
        };
        if is_read && count > 1 {
            *self.long_reads.entry(block_of(to)).or_default() += 1;
        }
        self.open.begin(tag, open);
        let Some(BlockPacket { first, lines, message }) = left.pop_front() else { return Some(tag) };
        self.on_way.insert(tag, OnWay { request: tag, first, lines });
        self.packets.insert(tag, Packets { left, on_way: 1 });
        let message = NvlMessage { tag, ..message };
        tap.named(self.named(&message), at, RecordKind::Begin, id, parent, || body_of(&message));
        self.push(cx, link, REQUESTS, message);
        if let Some(second) = self.open.take_tag()
            && !self.give_tags(tag, (link, id), second)
        {
            self.open.give_tag(second);
        }
        self.send_held(cx, at, tap);
        Some(tag)
    }

    /// Posted, so that nothing is answered.
    fn send_bulk(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest) {
        let BlockRequest { to, lines, parent, .. } = request;
        let link = self.group.link_of(to.address);
        // Lines of bulk have no poison, so there is one packet.
        for BlockPacket { message, .. } in self.form.writes(Op::WRITE_POSTED, to, &lines) {
            let message = NvlMessage { tag: self.group.post(to.node, link), ..message };
            let id = tap.new_id();
            tap.named(self.named(&message), at, RecordKind::Begin, id, parent, || body_of(&message));
            tap.record(at, RecordKind::End, id, 0, || Body::None);
            self.push(cx, link, POSTED, message);
        }
    }

    /// A FLUSH over each link that has carried posted writes since the last one, with their count.
    fn fence(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, node: u16) {
        for (link, count) in self.group.flush(node) {
            let Some(tag) = self.open.take_tag() else { return };
            let to = BlockAddress { node, address: 0 };
            let address = global(node, local(count << 4));
            let message = NvlMessage { tag, address, ..self.form.message(Op::FLUSH, to) };
            let id = tap.new_id();
            tap.record(at, RecordKind::Begin, id, 0, || body_of(&message));
            let (lines, since_cycle) = (Vec::new(), at.cycle);
            let open = OpenBlock { to, port: Some(link), is_read: false, lines, refused: None, since_cycle, id };
            self.open.begin(tag, open);
            self.on_way.insert(tag, OnWay { request: tag, first: 0, lines: 0 });
            self.packets.insert(tag, Packets { left: VecDeque::new(), on_way: 1 });
            self.held.push_back(Held { link, message, id });
        }
        self.send_held(cx, at, tap);
    }

    fn answered(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEvent> {
        for link in 0..self.links.len() {
            while let Some(message) = self.links[link].rx[ANSWERS].pop(cx) {
                if let Some(end) = self.answer(cx, link, message, at, tap) {
                    return Some(BlockEvent::Ended(end));
                }
                if let Some(found) = self.found() {
                    return Some(BlockEvent::Found(found));
                }
            }
        }
        None
    }

    fn found(&mut self) -> Option<BlockFinding> {
        self.found.pop_front()
    }

    fn own_ended(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEnd> {
        let (tag, read) = self.hbm.pop(at.cycle)?;
        let open = self.open.get_mut(tag)?;
        open.lines = read.into_iter().map(Some).collect();
        tap.record(at, RecordKind::End, open.id, 0, || Body::None);
        cx.progress();
        self.end(tag)
    }

    fn leave(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) {
        for link in 0..self.links.len() {
            while self.completer.is_due(link, at.cycle)
                && self.links[link].tx[ANSWERS].has_room(cx, 1)
                && let Some(answer) = self.completer.leaves(link, at, tap)
            {
                cx.progress();
                self.push(cx, link, ANSWERS, answer);
            }
            self.completer.stays(link, at, tap);
        }
        self.send_held(cx, at, tap);
    }

    fn serve(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<ForeignRequest> {
        for link in 0..self.links.len() {
            while let Some(message) = self.links[link].rx[POSTED].pop(cx) {
                self.ledger().receive((NvlPeer::of_requester(message.rid), link, POSTED), &message);
                self.served += 1;
                let id = self.completer.serves(&message, at, tap);
                tap.record(at, RecordKind::End, id, 0, || Body::None);
                let wrong = self.completer.posted(&message, link);
                self.found.extend(wrong.map(|wrong| BlockFinding {
                    rule: "NVL-TLR-03",
                    found: wrong.found,
                    expected: wrong.expected,
                    text: "posted requests to a block have come in the wrong order",
                }));
                cx.progress();
                if self.is_control(&message) {
                    return Some(NvlinkBlocks::foreign(link, message, id));
                }
            }
            while self.completer.may_take(link)
                && let Some(message) = self.links[link].rx[REQUESTS].pop(cx)
            {
                self.ledger().receive((NvlPeer::of_requester(message.rid), link, REQUESTS), &message);
                self.served += 1;
                let id = self.completer.serves(&message, at, tap);
                if self.is_control(&message) {
                    return Some(NvlinkBlocks::foreign(link, message, id));
                }
                self.completer.request(message, link, id, at, tap);
            }
        }
        self.completer.answer_flushes(at, tap);
        None
    }

    fn reply(&mut self, at: Stamp, to: &ForeignRequest, lines: Vec<MarkedLine>) {
        let ControlReply::Nvlink(link, message) = &to.reply else { return };
        let (op, data) = match message.op {
            Op::READ => {
                let bytes = lines.iter().flat_map(|(line, _)| *line);
                (Op::RSP_DATA, bytes.take(16 * (usize::from(message.size) + 1)).collect())
            }
            Op::WRITE_NONPOSTED => (Op::RSP_DONE, Vec::new()),
            Op::ATOMIC_RETURN | Op::REDUCE_READ => (Op::RSP_ERROR, Vec::new()),
            // Nobody waits for an answer.
            _ => return,
        };
        let ep = op == Op::RSP_DATA && lines.iter().any(|(_, poison)| *poison);
        let size = if op == Op::RSP_ERROR { REFUSED } else { 0 };
        let answer = NvlMessage { data, ep, size, ..self.completer.answer_to(message, op) };
        self.completer.answer_as(at, *link, to.id, answer);
    }

    fn isolate(&mut self) -> Vec<(u16, u64)> {
        self.on_way = OrderedMap::new();
        self.packets = OrderedMap::new();
        self.long_reads = OrderedMap::new();
        self.held.clear();
        self.open.take_all()
    }

    fn own_line(&self, address: u64) -> MarkedLine {
        self.completer.memory.marked_line(address)
    }

    fn open(&self) -> usize {
        self.open.len()
    }

    fn open_since(&self) -> Option<u64> {
        self.open.since()
    }

    fn due(&self, cycle: u64) -> Option<u64> {
        let own = self.hbm.ready_at().into_iter().filter(|due| *due > cycle);
        own.chain(self.completer.due(cycle)).min()
    }

    fn served(&self) -> u64 {
        self.served
    }
}
