//! The UALink transaction layer over one link (`ualink` sections 9 to 11).
//!
//! Modelled: queues a class and virtual channel, credits of four kinds with their initialisation and return, the limit of
//! the peer's catch buffers, compression with the address cache, poison, message halves, authentication tags as opaque
//! numbers, drop mode when the link goes down; broken rules of the peer as events. Detail: one TL flit a call. Left out: the
//! cipher, key rolling, parity of UPLI.
//!
//! A walk through one TL flit: [`Tl::send`] puts a transaction into the queue of its class and channel. When the packer owes
//! at most one data half, a Control half is due: the next requests and responses that credits can pay for are paid and take
//! their form on the wire, and so many of each go in that the fewest places stay empty, in the Control half and in the half
//! behind it, which is empty where nothing brings data. What is equally full keeps the two classes together, so that neither
//! waits for the other. A flow-control field fills what is left, or has its place kept when the peer runs dry. On the other side
//! the unpacker gives transactions back; they are charged to the receive buffers, uncompressed, and wait in [`Tl::take`]; what
//! takes them returns their [`TlHeldBuffers`] when it needs the buffers no more.
//!
//! The catch buffer (`ualink` §11) drains one request and one response a TL flit. Both ends count TL flits alone, so
//! replay, which changes when they come, changes no count; a sender with nothing else to send sends an empty TL flit \[D\].
//!
//! # How much of a line is data
//!
//! An operation costs the sectors of its request and its response, 8 for each half of data or byte enables, and a seventh of a
//! flow-control field, which returns at most 7 commands of a kind. The share of its data in them is what full Control halves
//! reach; DL flits and code words without a flit leave 628/640 and 1023/1024 of that (`ualink` §15, where one field of credits
//! goes with 5 operations: 93.36 %).
//!
//! | Operations | Request | Response | Credits | Byte enables | Data | Of the line | Measured |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 256 bytes, compressed | 2 | 1 | 1/7 | 0 | 64 | 93.44 % | 93.44 % |
//! | 256 bytes, uncompressed | 4 | 2 | 1/7 | 0 | 64 | 89.44 % | 89.1 % |
//! | `traffic.mix=all`, in mean | 2.75 | 1 | 1/7 | 3 | 27.29 | 78.27 % | 78.1 % |
//!
//! Measured is `ualink-pair` in steady state, with pool buffers alone; buffers of a channel beside them are returned by fields
//! of their own, 0.09 % of the line. The mean of `traffic.mix=all`: of 8 operations 3 reads, 2 whole writes, 1 write with byte
//! enables, 2 atomics, which are never compressed and carry a beat of 64 bytes and a half of byte enables for an operand of 8.
//! So the 80.4 bytes that an operation asks for in mean are 57.6 % of the line.
//!
//! What a run loses beside that is its beginning: until the first answers come there are requests alone, of which the peer's
//! catch buffer takes one a TL flit, and none brings data.

pub mod config;
pub mod credit;
pub mod fault;
pub mod monitor;
pub mod port;
mod receive;
mod send;
pub mod stall;
#[cfg(test)]
mod tests;
pub mod transfer;

pub use config::TlConfig;
pub use credit::{TlClass, TlCreditCounts, TlCreditKind, TlCreditTarget, TlHeldBuffers};

use super::client::{Client, Levels};
use crate::event::{LinkEvent, Severity};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, figures};
use crate::hook::{Direction, Hooks};
use crate::line_time::LineTimeParts;
use credit::{UalCreditPool, UalReceiveBuffers};
use scalepool_protocols::ualink::code::{RdWr, Status};
use scalepool_protocols::ualink::compress::Compressor;
use scalepool_protocols::ualink::content::TlContent;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::half::TlFlit;
use scalepool_protocols::ualink::pack::TlPacker;
use scalepool_protocols::ualink::unpack::{TlUnpacker, Transfer};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// Virtual channels (`ualink` §1).
pub const VCS: usize = 4;
/// Requests and responses that a catch buffer takes (`ualink` §11).
pub const CATCH: [u16; 2] = [4, 8];

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TlStats {
    /// Fields sent, by type: flow control, request, response, compressed request, single, multi.
    pub fields: [u64; 6],
    /// TL flits sent.
    pub flits: u64,
    /// Of them empty ones, for the catch buffer's sake.
    pub empty_flits: u64,
    /// Transactions received, by class.
    pub received: [u64; 2],
    /// Transactions lost because the link was down.
    pub dropped: u64,
    /// Flit times in which a transaction waited for a credit.
    pub credit_stalls: u64,
}

/// Transaction layer of one end of a link.
#[derive(Debug, Clone)]
pub struct Tl {
    config: TlConfig,
    packer: TlPacker,
    unpacker: TlUnpacker,
    compressor: Compressor,
    credits: UalCreditPool,
    buffers: UalReceiveBuffers,
    /// What waits, by class and virtual channel. A transaction is one piece of memory from where it is made or unpacked to
    /// where it is used or packed.
    queues: [[VecDeque<Box<Transfer>>; VCS]; 2],
    /// How many there are in the queues of each class.
    queued: [usize; 2],
    next_vc: [usize; 2],
    /// The next of each class: paid and in their form on the wire.
    ready: [VecDeque<Box<Transfer>>; 2],
    /// Requests sent beyond responses since both wait.
    lead: i32,
    received: [VecDeque<(Box<Transfer>, Option<TlHeldBuffers>)>; 2],
    /// Message 0x01 has been handed to the packer.
    said_done: bool,
    /// The link is down: nothing is kept.
    dropping: bool,
    /// How often the link has been down.
    epoch: u32,
    /// Levels of the peer's catch buffers, and of our own.
    catch: [[u16; 2]; 2],
    stalled_at: Option<u64>,
    /// Flit time in which there was nothing to send, and nothing has changed since. A flit asks for each place that is left,
    /// three of them in mean: this takes 400 of 7,300 instructions a flit off them all.
    rests_at: Option<u64>,
    units: u64,
    events: Vec<LinkEvent>,
    stats: TlStats,
    /// What the place of the last TL flit was used for.
    uses: LineTimeParts,
    hooks: Hooks,
}

impl Tl {
    /// A transaction layer whose link has not been up.
    pub fn new(config: TlConfig) -> Tl {
        Tl {
            packer: TlPacker::new(config.codec),
            unpacker: TlUnpacker::new(config.codec, config.peer_role()),
            compressor: Compressor::new(config.role),
            credits: UalCreditPool::default(),
            buffers: UalReceiveBuffers::new(config.buffers, config.shared_data_buffer),
            queues: Default::default(),
            queued: [0; 2],
            next_vc: [0; 2],
            ready: Default::default(),
            lead: 0,
            received: Default::default(),
            said_done: false,
            dropping: false,
            epoch: 0,
            catch: [[0; 2]; 2],
            stalled_at: None,
            rests_at: None,
            units: 0,
            events: Vec::new(),
            stats: TlStats::default(),
            uses: LineTimeParts::default(),
            hooks: Hooks::default(),
            config,
        }
    }

    /// What it is and has.
    pub fn config(&self) -> &TlConfig {
        &self.config
    }

    /// Counters.
    pub fn stats(&self) -> &TlStats {
        &self.stats
    }

    /// Credits to spend.
    pub fn credits(&self) -> &UalCreditPool {
        &self.credits
    }

    /// Receive buffers.
    pub fn buffers(&self) -> &UalReceiveBuffers {
        &self.buffers
    }

    /// Credits have been exchanged: transactions may go.
    pub fn is_open(&self) -> bool {
        self.said_done && self.credits.is_open()
    }

    /// How often the link has gone down, and with it all that was open or queued.
    pub fn losses(&self) -> u32 {
        self.epoch
    }

    /// The link is down: what is sent now is dropped, until the first TL flit is asked for again.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Transactions of a class that wait to be sent.
    pub fn waiting(&self, class: TlClass) -> usize {
        let class = class.index();
        self.queued[class] + self.ready[class].len()
    }

    /// Transactions of a class that have been received and not taken.
    pub fn received(&self, class: TlClass) -> usize {
        self.received[class.index()].len()
    }

    /// The next received transaction of a class, uncompressed. Its buffers are held until [`Tl::release`]; `None`: it
    /// holds none.
    pub fn take(&mut self, class: TlClass) -> Option<(Box<Transfer>, Option<TlHeldBuffers>)> {
        self.received[class.index()].pop_front()
    }

    /// The same of the first one that may be taken, as [`Tl::take`]: others of its virtual channel stand behind it, those of others may wait.
    pub fn take_first(
        &mut self,
        class: TlClass,
        may_take: impl FnMut(&Transfer) -> bool,
    ) -> Option<(Box<Transfer>, Option<TlHeldBuffers>)> {
        let received = &mut self.received[class.index()];
        let mut may_take = may_take;
        let first = received.iter().position(|(transfer, _)| may_take(transfer))?;
        received.remove(first)
    }

    /// A transaction needs its buffers no more. One from before the link was down is forgotten.
    pub fn release(&mut self, held: &TlHeldBuffers) {
        self.rests_at = None;
        if held.epoch == self.epoch {
            self.buffers.release(held);
        }
    }

    fn event(&mut self, violation: Violation) {
        self.events.push(LinkEvent { severity: Severity::Protocol, unit: self.units, violation });
    }
}

impl Tl {
    /// Tells the originator that the link is down (`ualink` §12), and of each request that is dropped because it is. Only the latter has
    /// numbers: those of the response that will not come.
    fn isolates(&mut self, rsp: TlRsp) {
        if self.config.isolates {
            let field = ControlField::Response(TlRsp { rdwr: RdWr::Write, status: Status::ISOLATE, ..rsp });
            self.received[TlClass::Response.index()].push_back((Box::new(Transfer::new(field)), None));
        }
    }

    fn next<F>(&mut self, now_flits: u64, pack: fn(&mut TlPacker) -> Option<F>, empty: fn() -> F) -> Option<F> {
        self.dropping = false;
        if self.rests_at == Some(now_flits) {
            return None;
        }
        let flit = self.next_flit(now_flits, pack, empty);
        // A hook is asked for each place whether it holds credits back.
        self.rests_at = (flit.is_none() && self.buffers.due().is_zero()).then_some(now_flits);
        flit
    }
}

impl Client for Tl {
    fn transmit(&mut self, now_flits: u64) -> Option<TlFlit> {
        self.next(now_flits, TlPacker::pack, TlFlit::default)
    }

    fn transmit_content(&mut self, now_flits: u64) -> Option<TlContent> {
        if let Some(flit) = self.data_flit() {
            return Some(flit);
        }
        self.next(now_flits, TlPacker::pack_content, TlContent::empty)
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    fn receive(&mut self, flit: &TlFlit, _now_flits: u64) {
        self.rests_at = None;
        self.take_flit(flit);
        self.units += 1;
    }

    fn receive_content(&mut self, flits: TlContent, _now_flits: u64) {
        self.rests_at = None;
        self.units += flits.count();
        match flits {
            TlContent::Data(flits) => self.take_owed(flits),
            TlContent::Other(mut halves) => {
                self.take_halves(&mut halves);
                self.packer.reuse(halves);
            }
        }
    }

    fn link_down(&mut self) {
        let waits = TlClass::ALL.map(|class| self.waiting(class) + self.received(class));
        self.stats.dropped += waits.into_iter().sum::<usize>() as u64;
        let fresh = Tl::new(self.config);
        *self = Tl {
            dropping: true,
            epoch: self.epoch + 1,
            units: self.units,
            events: std::mem::take(&mut self.events),
            stats: self.stats,
            hooks: self.hooks.clone(),
            ..fresh
        };
        self.isolates(TlRsp::default());
    }

    fn is_quiet(&self) -> bool {
        self.is_open()
            && self.packer.is_idle()
            && self.buffers.due().is_zero()
            && TlClass::ALL.into_iter().all(|class| self.waiting(class) == 0 && self.received(class) == 0)
    }

    fn wakes_at(&self, _now_flits: u64) -> Option<u64> {
        None
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn levels(&self) -> Levels {
        Levels {
            waiting: TlClass::ALL.map(|class| self.waiting(class)),
            received: TlClass::ALL.map(|class| self.received(class)),
            credits: self.credits.has().total(),
            credits_due: self.buffers.due().total(),
        }
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        let waiting = TlClass::ALL.map(|class| (class.name().to_lowercase(), self.waiting(class) as u64));
        health.each(&figures::MESSAGES_WAITING, waiting);
        health.each(&figures::CREDITS, self.credits.has().by_kind());
        health.each(&figures::CREDITS_GIVEN, self.buffers.granted().by_kind());
    }

    fn credit_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        for class in TlClass::ALL {
            let waiting = self.unpaid(class);
            if waiting > 0 {
                let (kind, by, channel) = (WaitKind::Credit, Direction::Rx, class.name());
                let progress = self.credits.received(class);
                each(LinkWait { kind, by, channel, waiting, is_passed: false, progress });
            }
        }
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
    }
}
