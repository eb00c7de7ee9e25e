//! What comes to the end that a monitor stands beside (`cxl-68b` sections 5 to 7).
//!
//! Modelled: the sequence numbers that an end expects, acknowledgements and credits that come, and the retry of the peer. Left out: what the
//! end sends (the parent).
//!
//! A walk: a good retryable flit moves ESeq and NumAck on; a bad one means that a Req of the end is due; a whole Req of the peer means that an
//! Ack is due.

use super::{AckDue, FLITS_AN_AK, Lrsm, Monitor, add_credits, retry_control};
use crate::cxl68::event::{Severity, finding};
use scalepool_protocols::cxl::cxl68::config::WrapMeaning;
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::pid::PidKind;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl68::{Dir, pid};

impl Monitor {
    /// A unit has arrived at the end in flit clock `now`. The unit as the end reads it, each flit of the stream once; `None`
    /// if the end throws it away unread, because a replay brings it again.
    pub fn received(&mut self, unit: &Cxl68Unit, now: u64) -> Option<Cxl68DecodedUnit> {
        let action = pid::receive(unit.pid(), self.config.enabled);
        let read = match action.accept.map(|p| p.kind) {
            None => {
                self.seen.bad_id += 1;
                self.error();
                Some(self.rx.read_as(unit, action))
            }
            Some(PidKind::Cachemem) if !unit.crc_ok() => {
                self.seen.bad_crc += 1;
                self.error();
                Some(self.rx.read_as(unit, action))
            }
            Some(PidKind::Cachemem) if self.lrsm == Lrsm::Normal => {
                let decoded = self.rx.read_as(unit, action);
                self.good_unit(&decoded);
                Some(decoded)
            }
            Some(PidKind::Cachemem) => {
                self.retry_flit_alone(unit.slot(0));
                let alone = || self.outside_the_stream(unit, self.config.dir.opposite());
                retry_control(unit.slot(0)).is_some().then(alone)
            }
            Some(_) => Some(self.rx.read_as(unit, action)),
        };
        self.received += 1;
        self.time_acks(now);
        read
    }

    /// A unit without what is owed before it.
    pub(super) fn outside_the_stream(&self, unit: &Cxl68Unit, dir: Dir) -> Cxl68DecodedUnit {
        Unpacker::new(dir, self.config.link.revision, self.config.enabled).read(unit)
    }

    pub(super) fn error(&mut self) {
        self.rx_frames = 0;
        self.rx_framing += 1;
        if self.lrsm == Lrsm::Normal {
            self.lrsm = Lrsm::ReqDue(self.sent);
        }
    }

    pub(super) fn good_unit(&mut self, decoded: &Cxl68DecodedUnit) {
        match decoded.kind {
            Cxl68UnitKind::Control(_) if !Control::static_bits_ok(decoded.unit.slot(0)) => self.error(),
            Cxl68UnitKind::Control(control) if !control.is_retryable() => self.retry_flit(&control),
            Cxl68UnitKind::Control(control) => {
                self.count_retryable();
                match control {
                    Control::InitParam(_) if self.init_received => {
                        let text = "a second INIT.Param";
                        self.hears(Severity::Uncorrectable, finding("CXL68-INI-02", "INIT.Param", "one in all", text));
                    }
                    Control::InitParam(init) => {
                        self.init_received = true;
                        self.rx_modulus = self.modulus(&init);
                    }
                    _ if self.too_early(control.name()) => (),
                    Control::LlcrdAcknowledge(llcrd) => {
                        self.acknowledged(llcrd.full_ack().into(), "CXL68-LLR-05");
                        self.credits([llcrd.rsp_crd, llcrd.req_crd, llcrd.data_crd]);
                    }
                    _ => (),
                }
            }
            Cxl68UnitKind::Protocol(header) => {
                self.count_retryable();
                if self.too_early("a protocol flit") {
                    return;
                }
                if header.ak {
                    self.acknowledged(FLITS_AN_AK, "CXL68-LLR-09");
                }
                self.credits([header.rsp_crd, header.req_crd, header.data_crd]);
                for (slot, class, _) in decoded.messages() {
                    self.seen.messages[class.index()] += 1;
                    let given = &mut self.given[class.index()];
                    let had = *given > 0;
                    *given = given.saturating_sub(1);
                    if !had {
                        let text = format!("{} in slot {slot} without a credit", class.def().name);
                        self.hears(Severity::Protocol, finding("CXL68-CRD-04", "a message", "no message", &text));
                    }
                }
            }
            Cxl68UnitKind::AllData => {
                self.count_retryable();
                self.too_early("a protocol flit");
            }
            Cxl68UnitKind::Almp | Cxl68UnitKind::Null | Cxl68UnitKind::Io | Cxl68UnitKind::Dropped => (),
        }
    }

    /// A flit that is neither RETRY nor INIT.Param, while the link comes up: it stops the link.
    pub(super) fn too_early(&mut self, found: &'static str) -> bool {
        let (rule, text) = match (self.init_received, self.init_sent) {
            (true, true) => return false,
            (true, false) => ("CXL68-INI-03", "the peer cannot have the end's INIT.Param, it has not been sent"),
            _ if self.sent == 0 => ("CXL68-INI-01", "the peer cannot have a clean flit, none has been sent"),
            _ => ("CXL68-INI-05", "a flit that is not RETRY before INIT.Param"),
        };
        self.hears(Severity::Uncorrectable, finding(rule, found, "RETRY flits", text));
        true
    }

    pub(super) fn modulus(&self, init: &InitParam) -> u16 {
        match self.config.link.wrap_meaning {
            WrapMeaning::HighestNumber => u16::from(init.wrap) + 1,
            WrapMeaning::Modulus => u16::from(init.wrap).max(1),
        }
    }

    /// LRS-01: both counters to 0, one number and one acknowledgement on.
    pub(super) fn count_retryable(&mut self) {
        (self.rx_frames, self.rx_framing, self.num_retry, self.num_phy_reinit) = (0, 0, 0, 0);
        (self.trained, self.req_came) = (false, false);
        self.eseq = (self.eseq + 1) % self.rx_modulus;
        self.num_ack += 1;
    }

    pub(super) fn acknowledged(&mut self, count: u16, rule: &'static str) {
        // More than were sent frees nothing.
        match self.unacknowledged.checked_sub(count) {
            Some(left) => self.unacknowledged = left,
            None => {
                let expected = format!("at most {}", self.unacknowledged);
                let text = "acknowledges flits that were not sent";
                self.hears(Severity::Protocol, finding(rule, count, expected, text));
            }
        }
    }

    /// Credits that came: the end may spend them.
    pub(super) fn credits(&mut self, codes: [u8; 3]) {
        add_credits(&mut self.spend, self.config.dir.opposite(), codes, self.config.link.credit_counter_bits);
    }

    /// Outside NORMAL only RETRY flits count, and the rollover says nothing.
    pub(super) fn retry_flit_alone(&mut self, slot: u128) {
        match retry_control(slot) {
            Some(control) => self.retry_flit(&control),
            None => {
                (self.rx_frames, self.rx_framing) = (0, 0);
                self.seen.discarded += 1;
            }
        }
    }

    pub(super) fn retry_flit(&mut self, control: &Control) {
        let due = u32::from(self.config.link.frames_before_sequence);
        let (framed, frames) = (self.rx_frames >= due, self.rx_frames);
        let damaged = !framed && self.rx_framing >= due;
        (self.rx_frames, self.rx_framing) = match control {
            Control::RetryFrame(_) => (frames + 1, self.rx_framing + 1),
            _ => (0, 0),
        };
        match control {
            Control::RetryReq(req) if framed => self.peer_asks(req),
            Control::RetryAck(ack) if framed => self.peer_answers(ack),
            // A sequence counts as a whole or not at all, whatever hits it.
            Control::RetryReq(_) if damaged => self.void(control, frames, "it is to be asked again"),
            Control::RetryAck(_) if damaged => self.void(control, frames, "the Req stays without an answer"),
            _ => (),
        }
    }

    /// A sequence of which a Frame was damaged.
    pub(super) fn void(&mut self, control: &Control, frames: u32, then: &str) {
        let text = format!("{} behind a damaged Frame has no effect: {then}", control.name());
        let expected = format!("{} Frames directly before it", self.config.link.frames_before_sequence);
        self.hears(Severity::Corrected, finding("CXL68-LLR-12", frames, expected, &text));
    }

    pub(super) fn peer_asks(&mut self, req: &RetryReq) {
        self.req_came = true;
        let (eseq, modulus) = (u16::from(req.eseq), self.buffer.len() as u16);
        // An Eseq that is not in the buffer cannot be answered.
        if eseq < modulus && (self.wr + modulus - eseq) % modulus <= self.unacknowledged {
            self.seen.reqs_heard += 1;
            self.acks_due.push_back(AckDue { num_retry: req.num_retry, eseq, since: self.sent });
        } else {
            let expected = format!("{} flits before {}", self.unacknowledged, self.wr);
            let text = "Eseq of a RETRY.Req is not in the retry buffer";
            self.hears(Severity::Protocol, finding("CXL68-RRS-01", eseq, expected, text));
        }
    }

    pub(super) fn peer_answers(&mut self, ack: &RetryAck) {
        if self.lrsm == Lrsm::Normal {
            let text = "an Ack that nobody asked for";
            self.hears(Severity::Protocol, finding("CXL68-LLR-15", "a RETRY.Ack sequence", "none", text));
        } else if matches!(self.lrsm, Lrsm::Waiting(_)) && self.asked == Some(ack.num_retry) {
            if u16::from(ack.eseq) != self.eseq {
                let text = "Eseq of a RETRY.Ack is not the one that was asked for";
                self.hears(Severity::Protocol, finding("CXL68-LLR-14", ack.eseq, self.eseq, text));
            }
            if ack.viral && !std::mem::replace(&mut self.viral_heard, true) {
                let found = format!("Viral, logical devices {:#06x}", ack.viral_ld_id);
                let text = "the peer has declared viral";
                self.hears(Severity::Fatal, finding("CXL68-VIR-02", found, "no viral", text));
            }
            self.lrsm = Lrsm::Normal;
            self.req_came = false;
            if ack.empty {
                (self.num_retry, self.num_phy_reinit) = (0, 0);
            }
        }
    }
}
