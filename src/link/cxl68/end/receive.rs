//! The receiver of a [`Cxl68End`]: protocol ID, CRC, retry, initialisation, credits, delivery.
//!
//! A walk through one unit: its protocol ID says whether it is ours; in NORMAL the rollover count tells data from
//! control, a bad unit starts a retry, a good retryable one counts; outside NORMAL only framed RETRY sequences do.

use super::{Cxl68End, FLITS_AN_AK, Init};
use crate::cxl68::event::{LinkEvent, Severity, finding};
use crate::cxl68::form::Flit68;
use crate::cxl68::retry::{Local, RemoteTrigger, Trigger};
use crate::hook::{Direction, HookPoint};
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{StaticBitFault, WrapMeaning};
use scalepool_protocols::cxl::cxl68::content::Content68;
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::{self, PidAction, PidKind, PidLog};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::wire::Violation;

impl<U: Flit68> Cxl68End<U> {
    pub(super) fn event(&mut self, severity: Severity, violation: Violation) {
        if severity == Severity::Uncorrectable {
            self.halted = Some(violation.rule);
            self.settled = false;
        }
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }
}

impl Cxl68End {
    /// Takes a unit off the wire. Messages are read with [`Cxl68End::take`], events with [`Cxl68End::take_events`].
    pub fn receive(&mut self, unit: &Cxl68Unit, now: u64) {
        self.hooks.clock(now);
        let watched;
        let unit = if self.hooks.watches(HookPoint::ReplayIn, Direction::Rx) {
            watched = self.hooks_unit(HookPoint::ReplayIn, Direction::Rx, *unit);
            let Some(unit) = &watched else { return };
            unit
        } else {
            unit
        };
        if self.halted.is_some() {
            self.received += 1;
            return;
        }
        let action = pid::receive(unit.pid(), self.config.enabled);
        if action.log.is_some() || action.accept.is_none_or(|p| p.kind != PidKind::Cachemem) {
            self.not_plain_cachemem(unit, action);
        }
        if action.accept.is_some_and(|p| p.kind == PidKind::Cachemem) {
            if self.local.state == Local::Normal {
                self.receive_normal(unit, action);
            } else {
                self.receive_in_retry(unit);
            }
        }
        self.received += 1;
        self.note_waiting(now);
    }

    fn not_plain_cachemem(&mut self, unit: &Cxl68Unit, action: PidAction) {
        self.settled = false;
        // A decoder of its own: ID, NULL and ALMP findings need no stream.
        let decoded =
            Unpacker::new(self.config.dir.opposite(), self.config.link.revision, self.config.enabled).read(unit);
        let findings = check::unit(&decoded, &self.config.link);
        let of_id = |rule: &str| rule.starts_with("CXL68-PID");
        for violation in findings.violations {
            let severity = match action.log {
                Some(PidLog::CorrectableFraming) if of_id(violation.rule) => Severity::Corrected,
                Some(_) if of_id(violation.rule) => Severity::Retrain,
                _ if decoded.kind == Cxl68UnitKind::Null || decoded.kind == Cxl68UnitKind::Almp => Severity::Protocol,
                _ => continue,
            };
            self.event(severity, violation);
        }
        if action.accept.is_none() {
            self.stats.pid_errors += 1;
            // What was on the wire when training began asks for no other one.
            if self.local.state != Local::PhyReinit {
                self.ask_for_training();
            }
            self.frames = 0;
            // The unit may have held a number: nothing counts until it has come again, even if training begins later.
            self.local.step(Trigger::Error);
        }
    }

    /// In NORMAL the stream is in step: the rollover count tells data from control.
    fn receive_normal(&mut self, unit: &Cxl68Unit, action: PidAction) {
        let mut decoded = Cxl68DecodedUnit::nothing(self.config.dir.opposite());
        self.reader.read_into(unit, action, &mut decoded);
        self.coverage.record(&decoded);
        if decoded.crc_ok == Some(false) {
            self.bad_crc(unit);
            return;
        }
        if let Cxl68UnitKind::Control(_) = decoded.kind
            && !Control::static_bits_ok(unit.slot(0))
        {
            self.static_bits(&decoded);
            return;
        }
        self.clean_flit();
        match decoded.kind {
            Cxl68UnitKind::Control(control) if !control.is_retryable() => self.retry_flit(&control),
            Cxl68UnitKind::Control(control) => {
                self.frames = 0;
                self.retryable();
                self.hooks_unit(HookPoint::ReplayOut, Direction::Rx, *unit);
                self.control(&control);
            }
            Cxl68UnitKind::Protocol(_) | Cxl68UnitKind::AllData => {
                self.frames = 0;
                self.retryable();
                self.hooks_unit(HookPoint::ReplayOut, Direction::Rx, *unit);
                self.hooks_unit(HookPoint::PackerIn, Direction::Rx, *unit);
                self.protocol(&decoded);
            }
            Cxl68UnitKind::Almp | Cxl68UnitKind::Null | Cxl68UnitKind::Io | Cxl68UnitKind::Dropped => (),
        }
    }

    /// Outside NORMAL only framed RETRY sequences count; everything else is discarded, whatever it is.
    fn receive_in_retry(&mut self, unit: &Cxl68Unit) {
        if matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            return;
        }
        let slot = unit.slot(0);
        if !unit.crc_ok() {
            self.bad_crc(unit);
            return;
        }
        self.in_retry(match Control::from_slot(slot) {
            control if slot & 1 == 1 && !control.is_retryable() && Control::static_bits_ok(slot) => Some(control),
            _ => None,
        });
    }

    fn protocol(&mut self, decoded: &Cxl68DecodedUnit) {
        if self.too_early("a protocol flit") {
            return;
        }
        self.judged(check::violations(decoded, &self.config.link));
        if self.halted.is_some() {
            return;
        }
        if let Cxl68UnitKind::Protocol(header) = &decoded.kind {
            self.header(header);
            decoded.messages().for_each(|(slot, class, _)| self.spends_credit(slot, class));
        }
        self.deliver();
    }

    fn deliver(&mut self) {
        let at = (HookPoint::PackerOut, Direction::Rx);
        if !self.hooks.watches(at.0, at.1) {
            self.inbox.extend(self.reader.delivered());
            return;
        }
        for mut message in self.reader.delivered().iter().copied() {
            if Cxl68Unit::shown_message(&mut message, &self.hooks, at) {
                self.inbox.push(message);
            } else {
                // It was in a buffer, which is free again.
                self.credits.freed(message.class);
            }
        }
    }

    fn bad_crc(&mut self, unit: &Cxl68Unit) {
        if self.reports_repairs {
            let [found, expected] = [unit.tail(), unit.expected_crc()].map(|crc| format!("{crc:#06x}"));
            let text = "the CRC does not match the bytes of the flit; a replay brings it again";
            self.event(Severity::Corrected, Violation::at_byte("CXL68-CRC-01", 66, found, expected, text));
        }
        self.bad_flit();
    }

    fn bad_flit(&mut self) {
        self.settled = false;
        self.stats.crc_errors += 1;
        self.frames = 0;
        self.local.step(Trigger::Error);
    }

    fn static_bits(&mut self, decoded: &Cxl68DecodedUnit) {
        let found = check::unit(decoded, &self.config.link);
        for violation in found.violations {
            let severity = match self.config.link.static_bit_fault {
                StaticBitFault::FatalInNormal => Severity::Uncorrectable,
                StaticBitFault::CrcError => Severity::Protocol,
            };
            self.event(severity, violation);
        }
        if self.config.link.static_bit_fault == StaticBitFault::CrcError {
            self.bad_flit();
        }
    }
}

impl Cxl68End<Content68> {
    /// Takes a flit without bytes off the wire. Messages are read with [`Cxl68End::take`], events with
    /// [`Cxl68End::take_events`].
    pub fn receive_content(&mut self, content: &Content68, now: u64) {
        self.hooks.clock(now);
        if !self.settled && self.halted.is_some() {
            self.received += 1;
            return;
        }
        if self.settled || self.local.state == Local::Normal {
            self.receive_normal(content);
        } else if !matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            self.in_retry(match content {
                Content68::Control(control) if !control.is_retryable() => Some(**control),
                _ => None,
            });
        }
        self.received += 1;
        self.note_waiting(now);
    }

    /// In NORMAL the stream is in step.
    fn receive_normal(&mut self, content: &Content68) {
        let (rollover_before, before) = (self.reader.rollover(), self.inbox.len());
        let chunk_slots = self.reader.read(content, &mut self.inbox);
        self.coverage.record_content(self.config.dir.opposite(), content, rollover_before);
        self.clean_flit();
        match content {
            Content68::Control(control) if !control.is_retryable() => self.retry_flit(control),
            Content68::Control(control) => {
                self.frames = 0;
                self.retryable();
                self.control(control);
            }
            Content68::Protocol(..) | Content68::AllData => {
                self.frames = 0;
                self.retryable();
                if !self.takes(content, chunk_slots) {
                    self.inbox.truncate(before);
                }
            }
        }
    }

    /// Takes what a flit says; `false`: nothing of it is delivered.
    fn takes(&mut self, content: &Content68, chunk_slots: u8) -> bool {
        if self.too_early("a protocol flit") {
            return false;
        }
        if let Content68::Protocol(header, messages) = content {
            let flit = (self.config.dir.opposite(), header, messages);
            let rollover = self.reader.rollover();
            if !check::content_breaks_nothing(flit, rollover, &self.config.link) {
                self.judged(check::content(flit, chunk_slots, rollover, &self.config.link));
            }
            if self.halted.is_some() {
                return false;
            }
            self.header(header);
            messages.iter().for_each(|placed| self.spends_credit(placed.slot.into(), placed.place.class));
        }
        true
    }
}

impl<U: Flit68> Cxl68End<U> {
    /// Asks the physical layer to train, once.
    pub(super) fn ask_for_training(&mut self) {
        self.settled = false;
        self.stats.trainings += u64::from(!self.retrain_wanted);
        self.retrain_wanted = true;
    }

    #[inline]
    fn clean_flit(&mut self) {
        if !self.settled {
            self.came_clean();
        }
    }

    fn came_clean(&mut self) {
        self.init.clean_seen = true;
        if let Some((modulus, left)) = self.peer_modulus_soon {
            match left {
                0 => (self.peer_modulus, self.peer_modulus_soon) = (modulus, None),
                n => self.peer_modulus_soon = Some((modulus, n - 1)),
            }
        }
    }

    fn after_eseq(&self, n: u16) -> u8 {
        ((u16::from(self.eseq) + n) % self.peer_modulus) as u8
    }

    /// What has come shows that the link works.
    fn came_well(&mut self) {
        (self.fruitless, self.progress) = (0, self.progress + 1);
    }

    /// A good retryable flit in NORMAL (LRS-01).
    #[inline]
    fn retryable(&mut self) {
        self.came_well();
        self.local.step(Trigger::Retryable);
        self.eseq = self.after_eseq(1);
        self.num_ack += 1;
    }

    /// RETRY flits: the only ones that count outside NORMAL too. Req and Ack need their Frames directly before.
    fn retry_flit(&mut self, control: &Control) {
        self.settled = false;
        let framed = self.frames >= u16::from(self.config.link.frames_before_sequence);
        self.frames = if matches!(control, Control::RetryFrame(_)) { self.frames.saturating_add(1) } else { 0 };
        match control {
            Control::RetryReq(req) if framed => self.req_sequence(req),
            Control::RetryAck(ack) if framed => self.ack_sequence(ack),
            _ => {
                self.local.step(Trigger::NotRetryable);
            }
        }
    }

    fn req_sequence(&mut self, req: &RetryReq) {
        self.local.step(Trigger::ReqSequence);
        if !self.buffer.holds(req.eseq) {
            let expected = format!("{} flits before {}", self.buffer.unacknowledged(), self.buffer.wr_ptr());
            self.event(
                Severity::Protocol,
                finding(
                    "CXL68-RRS-01",
                    req.eseq,
                    expected,
                    "RETRY.Req asks for a flit that is not in the retry buffer",
                ),
            );
            return;
        }
        self.stats.reqs_heard += 1;
        self.remote = self.remote.step(RemoteTrigger::Req { num_retry: req.num_retry, eseq: req.eseq });
        self.buffer.rewind(req.eseq);
    }

    fn ack_sequence(&mut self, ack: &RetryAck) {
        let matches = ack.num_retry == self.req_echo;
        match self.local.state {
            Local::Normal => {
                self.event(
                    Severity::Protocol,
                    finding(
                        "CXL68-LLR-15",
                        "RETRY.Ack",
                        "no RETRY.Ack",
                        "RETRY.Ack received although no RETRY.Req was sent",
                    ),
                );
                return;
            }
            Local::LocalIdle if matches => {
                if ack.eseq != self.eseq {
                    let text = "RETRY.Ack repeats another Eseq than the RETRY.Req had";
                    self.event(Severity::Protocol, finding("CXL68-LLR-14", ack.eseq, self.eseq, text));
                }
                self.came_well();
                self.local.step(if ack.empty { Trigger::AckMatchEmpty } else { Trigger::AckMatch });
            }
            _ => {
                self.local.step(Trigger::AckOther);
                return;
            }
        }
        if ack.viral {
            if self.peer_viral.is_none() {
                let found = format!("Viral, logical devices {:#06x}", ack.viral_ld_id);
                let text = "the peer has declared viral";
                self.event(Severity::Fatal, finding("CXL68-VIR-02", found, "no viral", text));
            }
            self.peer_viral = Some(ack.viral_ld_id);
            self.statuses.hear(LinkStatus::Viral(ack.viral_ld_id));
        }
    }

    /// A good flit outside NORMAL; `retry`: the RETRY flit that it is.
    fn in_retry(&mut self, retry: Option<Control>) {
        self.settled = false;
        if let Some(control) = retry {
            self.init.clean_seen = true;
            self.retry_flit(&control);
            return;
        }
        self.frames = 0;
        self.stats.discarded += 1;
        self.came_well();
        self.local.step(Trigger::Retryable);
    }

    fn control(&mut self, control: &Control) {
        if let Control::InitParam(init) = control {
            self.init_param(init);
            return;
        }
        if self.too_early(control.name()) {
            return;
        }
        if let Control::LlcrdAcknowledge(llcrd) = control {
            self.acknowledged(u16::from(llcrd.full_ack()), "CXL68-LLR-05");
            self.credits.receive(self.hooks.credits([llcrd.rsp_crd, llcrd.req_crd, llcrd.data_crd]));
        }
    }

    /// Judges a flit that is neither RETRY nor INIT.Param by how far the link has come up. `true`: it stops the link.
    #[inline]
    fn too_early(&mut self, found: &'static str) -> bool {
        let is_early = !self.settled && !self.is_up();
        if is_early {
            self.came_too_early(found);
        }
        is_early
    }

    #[cold]
    fn came_too_early(&mut self, found: &'static str) {
        let (rule, text) = match self.init {
            Init { received: true, sent: false, .. } => {
                ("CXL68-INI-03", "the peer sends numbered flits before our INIT.Param was sent")
            }
            _ if self.stats.sent == 0 => {
                ("CXL68-INI-01", "the peer sends numbered flits before it can have received a good flit")
            }
            _ => ("CXL68-INI-05", "a flit other than RETRY received before INIT.Param"),
        };
        self.event(Severity::Uncorrectable, finding(rule, found, "RETRY flits", text));
    }

    fn init_param(&mut self, init: &InitParam) {
        self.settled = false;
        if self.init.received {
            let text = "INIT.Param received a second time";
            self.event(Severity::Uncorrectable, finding("CXL68-INI-02", "INIT.Param", "one INIT.Param", text));
            return;
        }
        self.init.received = true;
        let modulus = match self.config.link.wrap_meaning {
            WrapMeaning::HighestNumber => u16::from(init.wrap) + 1,
            WrapMeaning::Modulus => u16::from(init.wrap).max(1),
        };
        self.peer_modulus_soon = Some((modulus, self.config.param_delay_flits.min(8)));
    }

    fn acknowledged(&mut self, count: u16, rule: &'static str) {
        if !self.buffer.acknowledge(count) {
            let expected = format!("at most {}", self.buffer.unacknowledged());
            self.event(
                Severity::Protocol,
                finding(rule, count, expected, "the flit acknowledges more flits than are unacknowledged"),
            );
        }
    }

    /// Tells the rules that a flit with messages or data breaks.
    fn judged(&mut self, violations: Vec<Violation>) {
        for violation in violations {
            let severity = match violation.rule {
                "CXL68-HDR-03" | "CXL68-HDR-04" | "CXL68-PCK-14" => Severity::Uncorrectable,
                // Reserved bits are ignored; the protocol ID has been judged already.
                rule if rule.starts_with("CXL68-MSG") || rule.starts_with("CXL68-PID") => continue,
                _ => Severity::Protocol,
            };
            self.event(severity, violation);
        }
    }

    /// Acknowledgement and credits of a header.
    fn header(&mut self, header: &FlitHeader) {
        if header.ak {
            self.acknowledged(FLITS_AN_AK, "CXL68-LLR-09");
        }
        self.credits.receive(self.hooks.credits([header.rsp_crd, header.req_crd, header.data_crd]));
    }

    /// A message has come in a slot.
    fn spends_credit(&mut self, slot: usize, class: Class) {
        if !self.credits.arrived(class) {
            let text = format!("{} received in slot {slot} although the sender has no credit for it", class.def().name);
            self.event(Severity::Protocol, finding("CXL68-CRD-04", "a message", "no message", &text));
        }
    }
}
