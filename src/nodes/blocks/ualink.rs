//! A node on UALink: requests of whole lines, answers beat by beat, HBM in which requests take effect in the order in which they come.
//!
//! Modelled: requests to a region of 256 bytes take one port, so they keep their order; tags of all ports together that are unique until
//! the last beat of the answer; isolation when the link is down. Left out: protection of transactions, UPLI, time-outs.
//!
//! A walk: a read of four lines leaves as one request over the port of its region; its answer, or four of them by single beats, fill its
//! lines; with the last beat it is over.

use super::open::{OpenBlock, OpenBlocks};
use super::{
    BlockAddress, BlockEnd, BlockEvent, BlockFinding, BlockNode, BlockNodeConfig, BlockRequest, ControlReply,
    ForeignOperation, ForeignRequest, MarkedLine, NodeAccess,
};
use crate::ualink::accelerator::AcceleratorPortEnds;
use crate::ualink::completer::{Responses, UalDelayedAnswer, answers, apply, global};
use crate::ualink::ledger::UalLedger;
use crate::ualink::read::{BACKGROUND, Read, lines_of};
use crate::ualink::request_handle;
use scalepool_kernel::{Cx, Out};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::upli::Ordered;
use scalepool_memory::backend::{MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::store::Store;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Wire;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tags of an accelerator: 11 bits (`ualink` §12), here of all ports together.
const TAGS: u16 = 1 << 11;
/// Answers that wait for a port, at which no more requests are taken.
const MOST_LEAVING: usize = 64;
/// Doublewords of a line.
const LINE_DOUBLEWORDS: u8 = 16;

/// What HBM does.
enum HbmWork {
    /// A request of its own: what it has read.
    Own { tag: u16, read: Read },
    /// An answer to another node.
    Answer { port: usize, answer: UalDelayedAnswer, id: u64 },
}

/// A node with ports on UALink.
pub struct UalinkBlocks {
    config: BlockNodeConfig,
    ports: Vec<AcceleratorPortEnds>,
    /// HBM.
    memory: Store,
    hbm: Box<dyn MemoryBackend<HbmWork>>,
    /// Answers that wait for the room of a port.
    leaving: Vec<VecDeque<(UalDelayedAnswer, u64)>>,
    open: OpenBlocks,
    is_isolated: bool,
    served: u64,
    ledger: Arc<Mutex<UalLedger>>,
}

impl UalinkBlocks {
    /// A node with its ports, at least one; messages are in `ledger` as they pass.
    pub fn new(
        config: BlockNodeConfig,
        ports: Vec<AcceleratorPortEnds>,
        ledger: Arc<Mutex<UalLedger>>,
    ) -> UalinkBlocks {
        UalinkBlocks {
            memory: Store::new(BACKGROUND),
            hbm: MemoryTiming::fixed(config.hbm_cycles).build(),
            leaving: ports.iter().map(|_| VecDeque::new()).collect(),
            open: OpenBlocks::new(TAGS),
            is_isolated: false,
            served: 0,
            config,
            ports,
            ledger,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, UalLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn port_of(&self, address: u64) -> usize {
        (address / REGION_BYTES % self.ports.len() as u64) as usize
    }

    fn response(
        &mut self,
        cx: &mut Cx,
        port: usize,
        transfer: &Transfer,
        at: Stamp,
        tap: &mut Tap,
    ) -> Option<BlockEvent> {
        let ControlField::Response(rsp) = &transfer.field else { return None };
        if rsp.status == Status::ISOLATE {
            return Some(BlockEvent::LinkDown);
        }
        if self.is_isolated {
            return Some(BlockEvent::Late);
        }
        let (own, is_read) = (self.config.own, rsp.rdwr == RdWr::Read);
        let is_meant = |open: &&mut OpenBlock| open.is_read == is_read && open.port == Some(port) && rsp.dst == own;
        let Some(open) = self.open.get_mut(rsp.tag).filter(is_meant) else {
            return Some(BlockEvent::Found(BlockFinding {
                rule: "SIM-E2E-02",
                found: format!("tag {:#x} for accelerator {} at port {port}", rsp.tag, rsp.dst),
                expected: "an open request of this accelerator, of its kind and at its port".to_owned(),
                text: "a response is received without a request",
            }));
        };
        // A compressed answer does not say where it comes from.
        let named = TlRsp { src: open.to.node, ..*rsp };
        if rsp.status != Status::OKAY && open.refused.is_none() {
            open.refused = Some(format!("{:?} of node {}", rsp.status, named.src));
        }
        let first = if rsp.len == 0 { usize::from(rsp.offset) } else { 0 };
        let came = Read { data: transfer.data.clone(), poisoned: transfer.poisoned };
        for (slot, line) in open.lines.iter_mut().skip(first).zip(came.lines(0)) {
            *slot = Some(line);
        }
        self.ledger().came.add(port, Ordered::response(&named));
        if is_read && !rsp.last {
            return None;
        }
        let bits = || rsp.to_bits().unwrap_or(0);
        let body = || Body::Message { layout: TlRsp::DEF, bits: bits(), data: None };
        self.ended(cx, rsp.tag, at, tap, body).map(BlockEvent::Ended)
    }

    /// The last answer to a request has come.
    fn ended(
        &mut self,
        cx: &mut Cx,
        tag: u16,
        at: Stamp,
        tap: &mut Tap,
        body: impl FnOnce() -> Body,
    ) -> Option<BlockEnd> {
        let open = self.open.take(tag)?;
        tap.record(at, RecordKind::End, open.id, 0, body);
        cx.progress();
        Some(open.end(tag, "UAL-UPL-12", "Last with the final beat"))
    }

    /// A request is answered behind the latency of HBM.
    fn answer(&mut self, port: usize, req: &TlReq, read: Read, id: u64, at: Stamp) {
        for answer in answers(read, req, Responses::Multi) {
            // A latency without limits always has room.
            let _ = self.hbm.push(at.cycle, &MemoryRequest::NONE, HbmWork::Answer { port, answer, id });
        }
    }

    /// A request at a control address, as its user has it.
    fn foreign(port: usize, req: &TlReq, transfer: &Transfer, id: u64) -> ForeignRequest {
        let lines = usize::from(req.len / LINE_DOUBLEWORDS) + 1;
        let operation = match (req.cmd, lines_of(&transfer.data).next()) {
            (ReqCmd::Read, _) if (req.len + 1).is_multiple_of(LINE_DOUBLEWORDS) => ForeignOperation::Read,
            (ReqCmd::WriteFull, Some(line)) if (req.len + 1).is_multiple_of(LINE_DOUBLEWORDS) => {
                ForeignOperation::Write((line, transfer.poisoned != 0))
            }
            (cmd, _) => ForeignOperation::Other(format!("{cmd:?} of {} doublewords", u16::from(req.len) + 1)),
        };
        let (source, address) = (req.src, req.address);
        ForeignRequest { source, operation, address, lines, id, reply: ControlReply::Ualink(port, *req) }
    }
}

impl BlockNode for UalinkBlocks {
    fn width(&self) -> usize {
        self.ports.len()
    }

    fn hindered(&self, cx: &Cx, to: BlockAddress, _access: NodeAccess) -> Option<Wait> {
        if self.open.is_full() {
            return Some(Wait::Tag);
        }
        let is_own = to.node == self.config.own;
        let out: &Out<_> = &self.ports[self.port_of(to.address)].tx[TlClass::Request.index()];
        (!is_own && !out.has_room(cx, 1)).then_some(Wait::Link)
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest) -> Option<u16> {
        let BlockRequest { to, lines, count, parent } = request;
        let tag = self.open.take_tag()?;
        let is_read = lines.is_empty();
        let req = TlReq {
            cmd: if is_read { ReqCmd::Read } else { ReqCmd::WriteFull },
            src: self.config.own,
            dst: to.node,
            address: to.address,
            // A request has four lines at most.
            len: (16 * count - 1) as u8,
            numbeats: if is_read { 0 } else { (count - 1) as u8 },
            attr: if is_read { 0xff } else { 0 },
            tag,
            ..TlReq::default()
        };
        let Read { data, poisoned } = lines.into();
        let transfer = Transfer { data, poisoned, ..Transfer::new(ControlField::Request(req)) };
        let id = tap.new_id();
        let is_own = to.node == self.config.own;
        if is_own {
            tap.record(at, RecordKind::Begin, id, parent, || Body::Access { name: "hbm", address: to.address });
            tap.wait(at, id, Wait::Media, 0);
            let read = apply(&mut self.memory, to.node, &transfer);
            let access = if is_read { MemoryAccess::Read } else { MemoryAccess::Write };
            let memory = MemoryRequest { address: to.address, bytes: 64 * count, access };
            // A latency without limits always has room.
            let _ = self.hbm.push(at.cycle, &memory, HbmWork::Own { tag, read });
        } else {
            let port = self.port_of(to.address);
            let named =
                request_handle(self.config.fabric, &transfer).map_or(TransactionNaming::Nowhere, TransactionNaming::As);
            let bits = || req.to_bits().unwrap_or(0);
            let body = || Body::Message { layout: TlReq::DEF, bits: bits(), data: None };
            tap.named(named, at, RecordKind::Begin, id, parent, body);
            self.ledger().sends(port, &transfer);
            // Room was asked for before.
            let _ = self.ports[port].tx[TlClass::Request.index()].push(cx, Box::new(transfer));
        }
        let lines = if is_read { vec![None; count as usize] } else { Vec::new() };
        let port = (!is_own).then(|| self.port_of(to.address));
        self.open.begin(tag, OpenBlock { to, port, is_read, lines, refused: None, since_cycle: at.cycle, id });
        Some(tag)
    }

    /// Every write is answered, which says that it is visible.
    fn send_bulk(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest) {
        self.send(cx, at, tap, request);
    }

    fn fence(&mut self, _cx: &mut Cx, _at: Stamp, _tap: &mut Tap, _node: u16) {}

    fn answered(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEvent> {
        for port in 0..self.ports.len() {
            while let Some(transfer) = self.ports[port].rx[TlClass::Response.index()].pop(cx) {
                let event = self.response(cx, port, &transfer, at, tap);
                if event.is_some() {
                    return event;
                }
            }
        }
        None
    }

    fn own_ended(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEnd> {
        while let Some(work) = self.hbm.pop(at.cycle) {
            match work {
                HbmWork::Own { tag, read } => {
                    if let Some(open) = self.open.get_mut(tag) {
                        open.lines = read.lines(0).map(Some).collect();
                    }
                    let end = self.ended(cx, tag, at, tap, || Body::None);
                    if end.is_some() {
                        return end;
                    }
                }
                HbmWork::Answer { port, answer, id } => self.leaving[port].push_back((answer, id)),
            }
        }
        None
    }

    fn leave(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) {
        for port in 0..self.ports.len() {
            while !self.leaving[port].is_empty()
                && self.ports[port].tx[TlClass::Response.index()].has_room(cx, 1)
                && let Some((answer, id)) = self.leaving[port].pop_front()
            {
                tap.record(at, RecordKind::End, id, 0, || Body::None);
                let answer = answer.transfer(self.config.own);
                self.ledger().sends(port, &answer);
                cx.progress();
                // Room was asked for before.
                let _ = self.ports[port].tx[TlClass::Response.index()].push(cx, Box::new(answer));
            }
        }
    }

    fn serve(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<ForeignRequest> {
        for port in 0..self.ports.len() {
            while self.leaving[port].len() < MOST_LEAVING
                && let Some(transfer) = self.ports[port].rx[TlClass::Request.index()].pop(cx)
            {
                self.ledger().takes(port, &transfer);
                let ControlField::Request(req) = &transfer.field else { continue };
                self.served += 1;
                let id = tap.new_id();
                let named = request_handle(self.config.fabric, &transfer)
                    .map_or(TransactionNaming::Nowhere, TransactionNaming::By);
                let body = || Body::Access { name: "serve", address: req.address };
                tap.named(named, at, RecordKind::Begin, id, 0, body);
                if self.config.control.contains(&req.address) {
                    return Some(UalinkBlocks::foreign(port, req, &transfer, id));
                }
                tap.wait(at, id, Wait::Media, 0);
                let read = apply(&mut self.memory, self.config.own, &transfer);
                self.answer(port, req, read, id, at);
            }
        }
        None
    }

    fn reply(&mut self, at: Stamp, to: &ForeignRequest, lines: Vec<MarkedLine>) {
        if let ControlReply::Ualink(port, req) = &to.reply {
            let read = if req.cmd == ReqCmd::Read { lines.into() } else { Read::nothing() };
            self.answer(*port, req, read, to.id, at);
        }
    }

    fn isolate(&mut self) -> Vec<(u16, u64)> {
        self.is_isolated = true;
        self.open.take_all()
    }

    fn own_line(&self, address: u64) -> MarkedLine {
        let stored = self.memory.read_line(global(self.config.own, address));
        (stored.data, stored.poison)
    }

    fn open(&self) -> usize {
        self.open.len()
    }

    fn open_since(&self) -> Option<u64> {
        self.open.since()
    }

    fn due(&self, cycle: u64) -> Option<u64> {
        self.hbm.ready_at().into_iter().filter(|due| *due > cycle).min()
    }

    fn served(&self) -> u64 {
        self.served
    }
}
