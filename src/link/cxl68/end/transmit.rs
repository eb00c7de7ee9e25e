//! The transmitter of a [`Cxl68End`]: what goes out in a flit clock.
//!
//! A walk through one flit clock: the rest of an all-data run, a framed Ack or Req sequence, INIT.Param or filler while the
//! link comes up, replayed flits, an LLCRD that is forced, new flits.

use super::{Cxl68End, FLITS_AN_AK, TIMED_ACKS};
use crate::cxl68::event::{Severity, finding};
use crate::cxl68::form::Flit68;
use crate::cxl68::retry::{Local, Remote, RemoteTrigger, Stored, Trigger};
use crate::hook::{Direction, HookPoint};
use crate::line_time::{PlainParts, Use};
use scalepool_protocols::cxl::cxl68::config::{ReqCount, WrapMeaning};
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, Llcrd, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::Packed;

/// Protocol ID and CRC of a unit (`cxl-68b` §1.2).
const FRAME_BITS: u32 = 32;
/// Header of a protocol flit (`cxl-68b` §2).
const HEADER_BITS: u32 = 32;
/// Frames before a Req or Ack: more than the four all-data flits that could look like one (`cxl-68b` §7.2).
const FRAMES: usize = 5;

impl<U: Flit68> Cxl68End<U> {
    pub(super) fn note_waiting(&mut self, now: u64) {
        let credits = self.credits.pending() > 0 && !self.credits_held;
        if self.num_ack > TIMED_ACKS || credits {
            self.waiting_since.get_or_insert(now);
        } else {
            self.waiting_since = None;
        }
    }

    /// The unit of this flit clock; `None`: nothing to send, the physical layer fills with NULL.
    pub fn transmit(&mut self, now: u64) -> Option<U> {
        self.hooks.clock(now);
        self.note_waiting(now);
        debug_assert!(!self.settled || self.may_settle());
        if self.settled {
            let unit = self.new_flit(now);
            self.stats.sent += u64::from(unit.is_some());
            self.note_waiting(now);
            return unit;
        }
        let unit = self.transmit_rare(now);
        self.settled = self.may_settle();
        unit
    }

    /// The unit of a flit clock in which the end is not settled.
    #[inline(never)]
    fn transmit_rare(&mut self, now: u64) -> Option<U> {
        self.uses = PlainParts::all(Use::Idle);
        if self.halted.is_some() || self.retrain_wanted || matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            return None;
        }
        if self.local.state == Local::LocalIdle && self.local.timeout_flits >= self.config.link.timeout_flits {
            self.local.step(Trigger::Timeout);
        }
        let retry_flits = self.stats.sent_retry;
        // The Req itself leads to LOCAL_IDLE and is not counted.
        let counts = self.local.state == Local::LocalIdle;
        let unit = self.next_unit(now);
        if unit.is_some() {
            self.stats.sent += 1;
            self.local.timeout_flits += u32::from(counts);
        }
        self.note_waiting(now);
        let mut unit = unit?;
        if self.viral_to_signal && self.stats.sent_retry == retry_flits {
            self.viral_to_signal = false;
            unit.spoil_crc(self.config.link.crc_spoil);
        }
        Some(unit)
    }

    fn next_unit(&mut self, now: u64) -> Option<U> {
        if self.run.is_some() {
            return self.rest_of_run(now);
        }
        if self.sequence.is_empty() {
            self.begin_sequence();
        }
        if let Some(unit) = self.sequence.pop_front() {
            self.stats.sent_retry += 1;
            self.uses = PlainParts::all(Use::Replay);
            if self.sequence.is_empty() {
                self.end_sequence();
            }
            return Some(unit);
        }
        if matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            return None;
        }
        if self.buffer.replaying() {
            return self.replay();
        }
        if !self.init.clean_seen {
            return Some(self.retry_idle());
        }
        if !self.init.sent {
            self.init.sent = true;
            self.uses = PlainParts::all(Use::Control);
            return self.store(self.init_flit(), 0, 0);
        }
        if !self.init.received {
            return Some(self.retry_idle());
        }
        match self.new_flit(now) {
            Some(unit) => Some(unit),
            // TIMEOUT counts flits, so something has to be sent while an Ack is awaited.
            None if self.local.state == Local::LocalIdle => Some(self.retry_idle()),
            None => None,
        }
    }

    fn retry_idle(&mut self) -> U {
        self.stats.sent_retry += 1;
        self.uses = PlainParts::all(if self.is_up() { Use::Replay } else { Use::Control });
        U::control(Control::retry_idle())
    }

    fn init_flit(&self) -> U {
        let entries = self.buffer.modulus();
        let wrap = match self.config.link.wrap_meaning {
            WrapMeaning::HighestNumber => entries - 1,
            WrapMeaning::Modulus => entries,
        };
        let version = self.config.link.revision.init_version();
        U::control(Control::InitParam(InitParam { version, wrap: wrap as u8, ..InitParam::default() }))
    }

    /// Ack first, then Req (LLR-16).
    fn begin_sequence(&mut self) {
        if let Remote::LlrAck { num_retry, eseq } = self.remote {
            let last = Control::RetryAck(RetryAck {
                empty: eseq == self.buffer.wr_ptr(),
                viral: self.viral.is_some(),
                num_retry,
                wr_ptr: self.buffer.wr_ptr(),
                eseq,
                num_free_buf: self.buffer.num_free() as u8,
                viral_ld_id: self.viral.unwrap_or(0),
                ..RetryAck::default()
            });
            self.frame(last);
            self.answers = Some(self.remote);
            return;
        }
        if self.local.state != Local::LlrReq {
            return;
        }
        let link = &self.config.link;
        if self.local.num_retry >= link.max_num_retry {
            if self.local.num_phy_reinit >= link.max_num_phy_reinit {
                self.local.step(Trigger::BothLimits);
                let found = format!("NUM_RETRY {}, NUM_PHY_REINIT {}", link.max_num_retry, link.max_num_phy_reinit);
                let text = "the LRSM has gone to RETRY_ABORT, because every retry and every training has failed: the link is down";
                self.event(Severity::Uncorrectable, finding("CXL68-LRS-06", found, "a RETRY.Ack of the peer", text));
            } else {
                self.local.step(Trigger::RetryLimit);
                self.ask_for_training();
                self.stats.reinits += 1;
                self.fruitless += 1;
            }
            return;
        }
        let after = u8::from(link.req_count == ReqCount::AfterIncrement);
        self.req_echo = self.local.num_retry + after;
        let last = Control::RetryReq(RetryReq {
            eseq: self.eseq,
            num_retry: self.req_echo,
            num_phy_reinit: self.local.num_phy_reinit,
            ..RetryReq::default()
        });
        self.frame(last);
        self.answers = None;
        self.stats.retries += 1;
        self.fruitless += 1;
    }

    fn frame(&mut self, last: Control) {
        self.sequence.extend((0..FRAMES).map(|_| U::control(Control::retry_frame())));
        self.sequence.push_back(U::control(last));
    }

    fn end_sequence(&mut self) {
        let Some(answered) = self.answers.take() else {
            self.local.step(Trigger::ReqSent);
            return;
        };
        // A Req that came while the Ack of an older one was leaving is still due: the peer waits for its own echo.
        if answered != self.remote {
            return;
        }
        // A run that was finished after the Req has moved the pointers on; the replay starts where it was asked for.
        if let Remote::LlrAck { eseq, .. } = self.remote {
            self.stats.replays += u64::from(eseq != self.buffer.wr_ptr());
            self.buffer.rewind(eseq);
            self.run = self.buffer.starts_in_run(eseq).then_some(eseq);
        }
        self.remote = self.remote.step(RemoteTrigger::AckSent);
    }

    /// An all-data run is finished before anything else (LLR-16).
    fn rest_of_run(&mut self, now: u64) -> Option<U> {
        let at = self.run?;
        if at == self.buffer.wr_ptr() {
            return self.new_flit(now);
        }
        let flit = self.buffer.entry(at)?.clone();
        let next = self.buffer.after(at, 1);
        // A Req during the run has moved the read pointer already; the Ack sequence will set it again.
        if self.buffer.rd_ptr() == at {
            self.buffer.rewind(next);
        }
        self.run = (flit.rollover_after > 3).then_some(next);
        self.stats.replayed += 1;
        self.uses = PlainParts::all(Use::Replay);
        self.hooks_unit(HookPoint::ReplayOut, Direction::Tx, U::again(flit.unit))
    }

    fn replay(&mut self) -> Option<U> {
        let flit = self.buffer.replay()?;
        self.run = (flit.rollover_after > 3).then_some(self.buffer.rd_ptr());
        self.stats.replayed += 1;
        self.uses = PlainParts::all(Use::Replay);
        self.hooks_unit(HookPoint::ReplayOut, Direction::Tx, U::again(flit.unit))
    }

    /// A new retryable flit, if one is due and may be sent.
    fn new_flit(&mut self, now: u64) -> Option<U> {
        let free = self.buffer.num_free();
        // Unless something goes: the retry buffer is full.
        self.uses = PlainParts::all(if self.packer.is_empty() { Use::Idle } else { Use::Replay });
        if free <= 1 {
            return None;
        }
        if self.packer.in_data_run() {
            let mut none = [0; 10];
            let Packed::AllData(slots) = self.packer.pack_slots(&mut none, 0, U::Slots::default) else { return None };
            self.stats.sent_all_data += 1;
            self.uses = self.parts(FRAME_BITS);
            let unit = self.packed(U::all_data(slots))?;
            return self.store(unit, self.packer.rollover(), 0);
        }
        if self.llcrd_forced(now) && (free > 2 || self.num_ack > 0) {
            return self.llcrd(now);
        }
        let ak = self.num_ack >= FLITS_AN_AK;
        if free <= 2 && !ak {
            // With two entries left only a flit that returns acknowledgements may go (LLR-07).
            return if self.num_ack > 0 && !self.packer.is_empty() { self.llcrd(now) } else { None };
        }
        // A run that cannot finish before two entries are left is not begun (LLR-08): this flit takes one entry, each
        // all-data flit another one, and each of them needs at least three before it.
        let runs = usize::from(free.saturating_sub(3));
        let waited = !self.packer.is_empty();
        let spares = &mut self.spares;
        match self.packer.pack_slots(&mut self.credits.spend, runs, || spares.pop().unwrap_or_default()) {
            Packed::Protocol(header, slots) => {
                self.count_messages();
                self.protocol_flit(header, slots, ak, now)
            }
            Packed::AllData(_) | Packed::Nothing => {
                self.uses = PlainParts::all(if waited { Use::Credits } else { Use::Idle });
                self.stats.credit_stalls += u64::from(waited && self.init.received);
                (self.viral_to_signal).then(|| self.llcrd(now)).flatten()
            }
        }
    }

    /// Parts of the flit that was packed last, with so many bits of framing. What is empty waits for a place, for a credit, or
    /// for nothing.
    fn parts(&self, framing: u32) -> PlainParts {
        let filled = self.packer.filled();
        let may_go = |class: Class| self.credits.spend[class.index()] > 0;
        let empty = if self.packer.rollover() > 0 || self.packer.waiting_classes().any(may_go) {
            Use::Packing
        } else if self.packer.queued() > 0 {
            Use::Credits
        } else {
            Use::Idle
        };
        PlainParts::named(framing + filled.messages + filled.trailers, filled.data, empty)
    }

    fn count_messages(&mut self) {
        for (class, messages) in self.packer.packed() {
            self.stats.messages[class.index()] += u64::from(messages);
        }
    }

    fn protocol_flit(&mut self, mut header: FlitHeader, slots: U::Slots, ak: bool, now: u64) -> Option<U> {
        let mut acks = 0;
        if ak {
            header.ak = true;
            acks = FLITS_AN_AK;
            self.num_ack -= FLITS_AN_AK;
        }
        if self.first_credits_sent {
            [header.rsp_crd, header.req_crd, header.data_crd] = self.take_credits();
        }
        self.stats.sent_protocol += 1;
        self.uses = self.parts(FRAME_BITS + HEADER_BITS);
        // A flit without either leaves the flush timer running.
        if ak || header.rsp_crd | header.req_crd | header.data_crd != 0 {
            self.restart_timer(now);
        }
        let unit = self.packed(U::protocol(&header, slots))?;
        self.store(unit, self.packer.rollover(), acks as u8)
    }

    fn take_credits(&mut self) -> [u8; 3] {
        if self.credits_held || self.hooks.holds_credits(self.credits.pending().into()) {
            return [0; 3];
        }
        let (codes, broken) = self.credits.take();
        if let Some(rule) = broken {
            let text = "credits of one protocol wait too long while those of the other one return";
            self.event(Severity::Protocol, finding(rule, "more than 64 flits", "both protocols in turn", text));
        }
        codes
    }

    /// Whether an LLCRD goes before protocol flits (`cxl-68b` §7.1); the first credits after INIT travel in LLCRDs.
    fn llcrd_forced(&self, now: u64) -> bool {
        let link = &self.config.link;
        let first = !self.first_credits_sent && self.credits.pending() > 0 && !self.credits_held;
        let late = self.waiting_since.is_some_and(|since| now >= since + u64::from(link.llcrd_flush_flits));
        // An LLCRD is acknowledged too: one that is sent for a single flit would be answered by another one for ever.
        let many = self.num_ack > TIMED_ACKS && self.num_ack >= u16::from(link.llcrd_ack_threshold);
        first || late || many
    }

    fn llcrd(&mut self, now: u64) -> Option<U> {
        let acks = self.num_ack.min(255);
        self.num_ack -= acks;
        let [rsp_crd, req_crd, data_crd] = self.take_credits();
        let mut llcrd = Llcrd { rsp_crd, req_crd, data_crd, ..Llcrd::default() };
        llcrd.set_full_ack(acks as u8);
        // The first credits are all that our buffers hold; when they are out, headers carry the returns.
        self.first_credits_sent |= self.credits.pending() == 0;
        self.stats.sent_llcrd += 1;
        self.uses = PlainParts::all(Use::Control);
        self.restart_timer(now);
        self.store(U::control(Control::LlcrdAcknowledge(llcrd)), 0, acks as u8)
    }

    fn restart_timer(&mut self, now: u64) {
        self.waiting_since = None;
        self.note_waiting(now);
    }

    /// A unit of the packer; `None`: a hook has dropped it.
    fn packed(&self, unit: U) -> Option<U> {
        self.hooks_unit(HookPoint::PackerOut, Direction::Tx, unit)
    }

    fn store(&mut self, unit: U, rollover_after: usize, acks: u8) -> Option<U> {
        let unit = unit.numbered(&self.hooks);
        self.buffer.store(Stored { unit: unit.kept(), rollover_after, acks });
        self.run = (rollover_after > 3).then(|| self.buffer.wr_ptr());
        Some(unit)
    }
}
