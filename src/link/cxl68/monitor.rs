//! A passive monitor at one end of a 68B link (`cxl-68b` sections 5 to 7 and 9).
//!
//! Modelled: what the end beside it may put on the wire, from nothing but the wire: every unit that the end sends, before
//! any fault, and every unit that it receives, as it arrives. The monitor keeps sequence numbers, retry buffer, retry
//! machines, acknowledgements and credits of its own, written from the sheet, so it judges any transmitter, in a model or
//! in RTL. Left out: what cannot be seen on the wire. Credits that a consumer has freed are invisible, so only waiting
//! acknowledgements are timed; the debug fields of Req and Ack are not judged; a data flit that has all bits of a RETRY
//! flit is taken for one where a data run was cut by training. Of what comes, the monitor says what the end itself has to
//! notice ([`Monitor::take_heard`]): initialisation out of order, acknowledgements, messages and requests that fit nothing.
//!
//! A walk through one flit clock: [`Monitor::received`] takes the unit that arrived; a good retryable flit moves ESeq and
//! NumAck on and brings acknowledgements and credits, a bad one means that a Req is due, a good Req sequence that an Ack
//! is due. [`Monitor::sent`] then sorts the unit that left: part of an all-data run, RETRY flit, copy out of the retry
//! buffer, or new flit, and asks whether it was its turn and whether it says what the end can know. [`Monitor::trained`]
//! tells that the link was down in between.
//!
//! Where to attach it: at the output of the link layer, where units leave in order and none is lost behind it, and at the
//! input, before the pipeline; what has come in before training counts. An end that answers through a pipeline has
//! `reaction_flits` to do so. A TIMEOUT that runs out while the awaited Ack is in that pipeline is not followed: the end
//! then discards flits that the monitor counts.

mod health;
mod received;
mod sent_retry;

use super::end::EndConfig;
use super::event::{LinkEvent, Severity, finding};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, Llcrd};
use scalepool_protocols::cxl::cxl68::credit::{self, CreditField};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// What the monitor knows beforehand.
#[derive(Debug, Clone)]
pub struct MonitorConfig {
    /// Direction of the transmitter that is judged.
    pub dir: Dir,
    /// Choices of the end that is judged.
    pub link: Cxl68Config,
    /// Protocols that negotiation enabled.
    pub enabled: Enabled,
    /// Flits that the end may still send before it shows that something has come in: depth of its pipeline, 0 for the
    /// model.
    pub reaction_flits: u64,
    /// Which choices of `link` are those of the end.
    pub known: Known,
}

/// Choices of an end that are known. The end is not held to one that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Entries of the retry buffer; else those that INIT.Param of the end names.
    pub entries: bool,
    /// Flits until a missing Ack is asked for again.
    pub timeout: bool,
    /// Tries before training.
    pub tries: bool,
    /// Trainings before the link is given up.
    pub reinits: bool,
    /// Link clocks that acknowledgements may wait, and how many of them do not.
    pub flush: bool,
}

impl Known {
    /// All of them.
    pub const ALL: Known = Known { entries: true, timeout: true, tries: true, reinits: true, flush: true };
    /// None of them.
    pub const NONE: Known = Known { entries: false, timeout: false, tries: false, reinits: false, flush: false };
}

impl MonitorConfig {
    /// The monitor of a model end.
    pub fn of(end: &EndConfig) -> MonitorConfig {
        MonitorConfig { dir: end.dir, link: end.link, enabled: end.enabled, reaction_flits: 0, known: Known::ALL }
    }
}

/// Frames before a Req or Ack (`cxl-68b` §7.2).
const FRAMES: u32 = 5;
/// Flits that one Ak acknowledges (`cxl-68b` §1.5).
const FLITS_AN_AK: u16 = 8;
/// Chunks that an all-data flit takes (`cxl-68b` §5.2).
const CHUNKS_A_FLIT: usize = 4;
/// Entries that a retry buffer may have (`cxl-68b` §7.1).
const ENTRIES: std::ops::RangeInclusive<usize> = 22..=255;
/// Sequence numbers before INIT.Param (`cxl-68b` §6.4: wrap value 9).
const MODULUS_BEFORE_INIT: u16 = 10;
/// Flits that may go before an overdue Req or LLCRD: a run of four, two Ack sequences of six, a run behind them; ours.
const SLACK_FLITS: u64 = 24;

/// What the local retry machine of the end must be in, as far as the wire tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lrsm {
    /// RETRY_LOCAL_NORMAL.
    Normal,
    /// RETRY_LLRREQ since this many sent flits.
    ReqDue(u64),
    /// RETRY_LOCAL_IDLE; flits sent since the Req.
    Waiting(u64),
}

/// A Req sequence of the peer that has no Ack yet.
#[derive(Debug, Clone, Copy)]
struct AckDue {
    num_retry: u8,
    eseq: u16,
    since: u64,
}

/// A flit in the shadow of the retry buffer.
#[derive(Debug, Clone, Copy)]
struct Copied {
    unit: Cxl68Unit,
    rollover_after: usize,
}

/// A framed sequence that is leaving.
#[derive(Debug, Clone, Copy, Default)]
struct Framing {
    /// Frames directly before.
    frames: u32,
    /// All-data flits directly before that look like Frames.
    lookalikes: u32,
    /// Sent flits before the first Frame.
    start: u64,
    /// An Ack was due when it began.
    ack_was_due: bool,
}

/// The monitor.
#[derive(Debug, Clone)]
pub struct Monitor {
    config: MonitorConfig,
    events: Vec<LinkEvent>,
    /// What was noticed of what has come.
    heard: Vec<LinkEvent>,
    /// Units sent, and received.
    sent: u64,
    received: u64,

    // What the end has sent.
    tx: Unpacker,
    init_sent: bool,
    buffer: Vec<Option<Copied>>,
    wr: u16,
    rd: u16,
    unacknowledged: u16,
    run: bool,
    framing: Framing,
    spend: [u32; 10],
    llcrd_sent: bool,
    spoiled: bool,

    // What has come to the end.
    rx: Unpacker,
    init_received: bool,
    rx_modulus: u16,
    eseq: u16,
    num_ack: u16,
    rx_frames: u32,
    /// Units directly before that were Frames or damaged.
    rx_framing: u32,
    /// Credits that the end has given and its peer has not spent.
    given: [u32; 10],
    viral_heard: bool,

    // The retry machines.
    lrsm: Lrsm,
    num_retry: u8,
    num_phy_reinit: u8,
    trained: bool,
    req_came: bool,
    asked: Option<u8>,
    acks_due: VecDeque<AckDue>,
    dropped: Option<AckDue>,
    ack_waits_since: Option<u64>,
    threshold_since: Option<u64>,
    seen: Seen,
}

/// Figures of the end that is judged.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    bad_crc: u64,
    bad_id: u64,
    discarded: u64,
    reqs_heard: u64,
    reqs_sent: u64,
    replays: u64,
    replayed: u64,
    /// Messages that have come or were sent, by class.
    messages: [u64; 10],
}

impl Monitor {
    /// A monitor of an end that has just come up.
    pub fn new(config: MonitorConfig) -> Monitor {
        let stream = |dir| Unpacker::new(dir, config.link.revision, config.enabled);
        Monitor {
            tx: stream(config.dir),
            rx: stream(config.dir.opposite()),
            events: Vec::new(),
            heard: Vec::new(),
            sent: 0,
            received: 0,
            init_sent: false,
            buffer: vec![None; config.link.llrb_entries.into()],
            wr: 0,
            rd: 0,
            unacknowledged: 0,
            run: false,
            framing: Framing::default(),
            spend: [0; 10],
            llcrd_sent: false,
            spoiled: false,
            init_received: false,
            rx_modulus: MODULUS_BEFORE_INIT,
            eseq: 0,
            num_ack: 0,
            rx_frames: 0,
            rx_framing: 0,
            given: [0; 10],
            viral_heard: false,
            lrsm: Lrsm::Normal,
            num_retry: 0,
            num_phy_reinit: 0,
            trained: false,
            req_came: false,
            asked: None,
            acks_due: VecDeque::new(),
            dropped: None,
            ack_waits_since: None,
            threshold_since: None,
            seen: Seen::default(),
            config,
        }
    }

    /// Events since the last call; `unit` counts the units that the end had sent before.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    /// What the end has to notice of what came to it, since the last call; `unit` counts the units that came before.
    pub fn take_heard(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.heard)
    }

    fn hears(&mut self, severity: Severity, violation: Violation) {
        self.heard.push(LinkEvent { severity, unit: self.received, violation });
    }

    /// Whether the next unit that comes is read behind those before it: no replay is awaited.
    pub(crate) fn follows_stream(&self) -> bool {
        self.lrsm == Lrsm::Normal
    }

    /// Number of the next new flit.
    pub(crate) fn newest(&self) -> u16 {
        self.wr
    }

    fn broken(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        let violation = finding(rule, found, expected, text);
        self.events.push(LinkEvent { severity: Severity::Protocol, unit: self.sent, violation });
    }

    // ---- what comes to the end -----------------------------------------------------------------------------------

    /// The link was down and is up again: what was on the wires is lost, sequences and runs are cut.
    pub fn trained(&mut self) {
        let limit = self.num_retry >= self.config.link.max_num_retry;
        let asked_for = match self.lrsm {
            Lrsm::Normal => false,
            Lrsm::ReqDue(_) => limit,
            Lrsm::Waiting(flits) => limit && flits + 1 >= u64::from(self.config.link.timeout_flits),
        };
        self.num_phy_reinit += u8::from(asked_for);
        self.num_retry = 0;
        self.lrsm = Lrsm::ReqDue(self.sent);
        self.trained = true;
        self.asked = None;
        (self.rx_frames, self.rx_framing) = (0, 0);
        self.run = false;
        self.framing = Framing::default();
        self.ack_waits_since = None;
        // The pending Ack is dropped; the read pointer has been loaded when the Req came (RRS-01, RRS-03).
        if let Some(due) = self.acks_due.pop_back() {
            self.rd = due.eseq;
            self.dropped = Some(due);
        }
        self.acks_due.clear();
    }

    // ---- what the end sends --------------------------------------------------------------------------------------

    /// The end has sent a unit in flit clock `now`. The unit if it can be judged by itself, beside what the monitor judges:
    /// RETRY flits, what is no CXL.cachemem, and flits with a CRC that does not fit.
    pub fn sent(&mut self, unit: &Cxl68Unit, now: u64) -> Option<Cxl68DecodedUnit> {
        let action = pid::receive(unit.pid(), self.config.enabled);
        if action.accept.map(|p| p.kind) != Some(PidKind::Cachemem) {
            return Some(self.outside_the_stream(unit, self.config.dir));
        }
        // A spoiled CRC signals viral; the flit itself is stored with the right one.
        let mut good = *unit;
        good.set_tail(unit.expected_crc());
        self.spoiled |= good != *unit;
        self.after_the_end(now);
        if let Lrsm::Waiting(flits) = &mut self.lrsm {
            *flits += 1;
        }
        let control = self.sent_retry(&good);
        match &control {
            Some(control) => self.sent_retry_flit(control, now),
            None => self.sent_retryable(good, now),
        }
        self.sent += 1;
        self.time_acks(now);
        (control.is_some() || good != *unit).then(|| self.outside_the_stream(unit, self.config.dir))
    }

    /// An end that has given up sends nothing, one whose TIMEOUT is over asks again.
    fn after_the_end(&mut self, now: u64) {
        let link = self.config.link;
        let known = self.config.known;
        let limit = known.tries && self.num_retry >= link.max_num_retry;
        let last = limit && known.reinits && self.num_phy_reinit >= link.max_num_phy_reinit;
        let late = match self.lrsm {
            Lrsm::Normal => false,
            Lrsm::ReqDue(since) => limit && self.sent > since + SLACK_FLITS + self.config.reaction_flits,
            Lrsm::Waiting(flits) => {
                known.timeout
                    && flits > u64::from(link.timeout_flits) + SLACK_FLITS + self.config.reaction_flits
                    && self.framing.frames == 0
            }
        };
        if !late {
            return;
        }
        let flits = link.timeout_flits;
        match (last, limit) {
            (true, _) => self.broken("CXL68-LRS-16", "a flit", "no flit", "a flit is sent after RETRY_ABORT"),
            (_, true) => self.broken("CXL68-LRS-07", "a flit", "training", "a flit is sent after the last retry"),
            _ => self.broken(
                "CXL68-LRS-14",
                "no RETRY.Req",
                format!("a RETRY.Req after {flits} flits"),
                "no RETRY.Req is sent although TIMEOUT has run out",
            ),
        }
        // Said once: the end is taken to be back in NORMAL.
        self.lrsm = Lrsm::Normal;
        self.ack_waits_since = Some(now);
    }

    /// The RETRY flit that a sent unit is, if it is one.
    fn sent_retry(&self, unit: &Cxl68Unit) -> Option<Control> {
        let control = retry_control(unit.slot(0))?;
        if self.run {
            return None;
        }
        // Training cuts data runs: then RETRY flits stand where all data would. Known data is compared, a RETRY flit of
        // a run that goes on with new data is known by its empty slots.
        let owed = self.copy(self.before(self.rd)).is_some_and(|c| c.rollover_after >= CHUNKS_A_FLIT);
        if owed && self.rd != self.wr && self.copy(self.rd).is_some_and(|c| c.unit == *unit) {
            return None;
        }
        if owed && (1..4).any(|n| unit.slot(n) != 0) {
            return None;
        }
        Some(control)
    }

    fn copy(&self, seq: u16) -> Option<&Copied> {
        self.buffer.get(usize::from(seq))?.as_ref()
    }

    fn before(&self, seq: u16) -> u16 {
        (seq + self.buffer.len() as u16 - 1) % self.buffer.len() as u16
    }

    fn after(&self, seq: u16) -> u16 {
        (seq + 1) % self.buffer.len() as u16
    }

    /// Whether an Ack is due and the pipeline behind it has run empty before the flit at `at`.
    fn ack_is_due(&self, at: u64) -> bool {
        self.acks_due.front().is_some_and(|due| at >= due.since + self.config.reaction_flits)
    }

    fn sent_retryable(&mut self, unit: Cxl68Unit, now: u64) {
        let in_run = self.run;
        if in_run {
            let looks = matches!(retry_control(unit.slot(0)), Some(Control::RetryFrame(_)));
            self.framing.lookalikes = if looks { self.framing.lookalikes + 1 } else { 0 };
        } else {
            self.lone_frames();
            self.turn();
        }
        let rollover_after =
            if self.rd == self.wr { self.sent_new(unit, in_run, now) } else { self.sent_copy(unit, now) };
        self.run = rollover_after >= CHUNKS_A_FLIT;
    }

    /// Ack, then Req, then the rest; a data run is finished first.
    fn turn(&mut self) {
        if self.ack_is_due(self.sent) {
            self.broken(
                "CXL68-RRS-02",
                "another flit",
                "the RETRY.Ack sequence",
                "another flit is sent although a RETRY.Ack is pending",
            );
            self.acks_due.clear();
        } else if let Lrsm::ReqDue(since) = self.lrsm
            && self.sent >= since + self.config.reaction_flits
            && self.acks_due.is_empty()
        {
            self.broken(
                "CXL68-LLR-16",
                "another flit",
                "the RETRY.Req sequence",
                "another flit is sent although a receive error is pending",
            );
            self.lrsm = Lrsm::Normal;
        }
    }

    /// A flit that must be the copy at the read pointer. The chunks owed behind it.
    fn sent_copy(&mut self, unit: Cxl68Unit, now: u64) -> usize {
        self.ack_waits_since = Some(now);
        let Some(&expected) = self.copy(self.rd) else { return 0 };
        if unit == expected.unit {
            self.seen.replayed += 1;
            self.rd = self.after(self.rd);
            return expected.rollover_after;
        }
        let text = format!("the replay is wrong: flit {} of the retry buffer is due", self.rd);
        let rest: Vec<u16> =
            std::iter::successors(Some(self.rd), |&s| Some(self.after(s))).take_while(|&s| s != self.wr).collect();
        if let Some(&at) = rest.iter().find(|&&s| self.copy(s).is_some_and(|c| c.unit == unit)) {
            self.broken("CXL68-LLR-14", format!("flit {at}"), format!("flit {}", self.rd), &text);
            self.rd = self.after(at);
            return self.copy(at).map_or(0, |c| c.rollover_after);
        }
        // Most of the flit is right: it was changed. Else it is another one, and the replay is still due.
        let same = (0..4).filter(|&n| unit.slot(n) == expected.unit.slot(n)).count();
        if same == 3 {
            self.broken("CXL68-LLR-11", format!("{unit:?}"), format!("{:?}", expected.unit), &text);
            self.rd = self.after(self.rd);
            return expected.rollover_after;
        }
        self.broken("CXL68-LLR-14", "a new flit", format!("flit {}", self.rd), &text);
        let rd = self.rd;
        let rollover_after = self.sent_new(unit, false, now);
        self.rd = rd;
        rollover_after
    }

    /// A new flit takes the next number. The chunks owed behind it.
    fn sent_new(&mut self, unit: Cxl68Unit, in_run: bool, now: u64) -> usize {
        let action = pid::receive(unit.pid(), self.config.enabled);
        let decoded = self.tx.read_as(&unit, action);
        for violation in check::unit(&decoded, &self.config.link).violations {
            self.events.push(LinkEvent { severity: Severity::Protocol, unit: self.sent, violation });
        }
        if !self.init_sent || !self.init_received {
            self.initialising(&decoded);
        }
        let acks = self.sent_acks(&decoded);
        self.sent_credits(&decoded, acks > 0, now);
        self.takes_entry(decoded.rollover_after, in_run, acks);
        for (slot, class, _) in decoded.messages() {
            self.seen.messages[class.index()] += 1;
            if self.spend[class.index()] == 0 {
                let text = format!("{} sent in slot {slot} although there is no credit for it", class.def().name);
                self.broken("CXL68-CRD-04", "a message", "no message", &text);
            }
            self.spend[class.index()] = self.spend[class.index()].saturating_sub(1);
        }
        let at = usize::from(self.wr);
        self.buffer[at] = Some(Copied { unit, rollover_after: decoded.rollover_after });
        self.wr = self.after(self.wr);
        self.rd = self.wr;
        self.unacknowledged = (self.unacknowledged + 1).min(self.buffer.len() as u16);
        decoded.rollover_after
    }

    fn initialising(&mut self, decoded: &Cxl68DecodedUnit) {
        match (decoded.kind, self.init_sent) {
            (Cxl68UnitKind::Control(Control::InitParam(init)), false) => {
                self.init_sent = true;
                let entries = usize::from(self.modulus(&init));
                if !self.config.known.entries && self.wr == 0 && ENTRIES.contains(&entries) {
                    self.buffer = vec![None; entries];
                }
                if entries != self.buffer.len() {
                    let text = "the wrap value of INIT.Param is not that of the retry buffer";
                    self.broken("CXL68-INI-06", entries, self.buffer.len(), text);
                }
            }
            (Cxl68UnitKind::Control(Control::InitParam(_)), true) => {
                self.broken(
                    "CXL68-INI-02",
                    "a second INIT.Param",
                    "one INIT.Param",
                    "INIT.Param is sent a second time",
                );
            }
            (_, false) => self.broken(
                "CXL68-INI-02",
                "another flit",
                "INIT.Param",
                "the first flit with a sequence number is not INIT.Param",
            ),
            (_, true) => self.broken(
                "CXL68-INI-03",
                "a flit",
                "RETRY flits",
                "a flit other than RETRY is sent before the peer's INIT.Param has come",
            ),
        }
    }

    /// Acknowledgements of a new flit; they must be of flits that have come.
    fn sent_acks(&mut self, decoded: &Cxl68DecodedUnit) -> u16 {
        let (acks, rule) = match decoded.kind {
            Cxl68UnitKind::Protocol(header) if header.ak => (FLITS_AN_AK, "CXL68-LLR-09"),
            Cxl68UnitKind::Control(Control::LlcrdAcknowledge(llcrd)) => (llcrd.full_ack().into(), "CXL68-LLR-05"),
            _ => return 0,
        };
        if acks > self.num_ack {
            self.broken(
                rule,
                acks,
                format!("at most {}", self.num_ack),
                "the flit acknowledges more flits than have come",
            );
        }
        self.num_ack = self.num_ack.saturating_sub(acks);
        acks
    }

    fn sent_credits(&mut self, decoded: &Cxl68DecodedUnit, acks: bool, now: u64) {
        let credits = match decoded.kind {
            Cxl68UnitKind::Protocol(h) => h.rsp_crd | h.req_crd | h.data_crd,
            Cxl68UnitKind::Control(Control::LlcrdAcknowledge(Llcrd { rsp_crd, req_crd, data_crd, .. })) => {
                self.llcrd_sent = true;
                rsp_crd | req_crd | data_crd
            }
            // The timer runs over flits that cannot carry anything, but they cannot be blamed either.
            Cxl68UnitKind::AllData => 1,
            _ => 0,
        };
        let codes = match decoded.kind {
            Cxl68UnitKind::Protocol(h) => [h.rsp_crd, h.req_crd, h.data_crd],
            Cxl68UnitKind::Control(Control::LlcrdAcknowledge(l)) => [l.rsp_crd, l.req_crd, l.data_crd],
            _ => [0; 3],
        };
        add_credits(&mut self.given, self.config.dir, codes, self.config.link.credit_counter_bits);
        if credits & 7 != 0 && !self.llcrd_sent && matches!(decoded.kind, Cxl68UnitKind::Protocol(_)) {
            self.broken(
                "CXL68-CRD-08",
                "credits in a header",
                "an LLCRD",
                "credits are returned in a flit header before the first LLCRD",
            );
        }
        if acks || credits != 0 {
            self.ack_waits_since = Some(now);
        }
    }

    /// LLR-07, LLR-08: the last entry is never used, the last but one by acknowledgements alone.
    fn takes_entry(&mut self, rollover_after: usize, in_run: bool, acks: u16) {
        let free = (self.buffer.len() as u16).saturating_sub(self.unacknowledged);
        if free <= 1 {
            self.broken(
                "CXL68-LLR-07",
                "a flit",
                "none",
                "a flit is sent although only one entry of the retry buffer is free",
            );
        } else if free == 2 && acks == 0 {
            let expected = "a flit with acknowledgements";
            self.broken(
                "CXL68-LLR-07",
                "a flit without acknowledgements",
                expected,
                "a flit without acknowledgements is sent although only two entries of the retry buffer are free",
            );
        }
        let run = rollover_after / CHUNKS_A_FLIT;
        if !in_run && run > 0 && usize::from(free) < run + 3 {
            let expected = format!("at most {} all-data flits", usize::from(free).saturating_sub(3));
            self.broken("CXL68-LLR-08", run, expected, "a data run is begun that the retry buffer cannot take whole");
        }
    }

    /// LLR-10: acknowledgements wait no longer than the flush timer runs, and a threshold of them not at all.
    fn time_acks(&mut self, now: u64) {
        if !self.config.known.flush {
            return;
        }
        let link = self.config.link;
        let free = self.buffer.len() as u16 - self.unacknowledged;
        let able = self.init_sent && self.init_received && !self.run && self.lrsm == Lrsm::Normal && free > 1;
        if self.num_ack <= 1 || !able || !self.acks_due.is_empty() {
            (self.ack_waits_since, self.threshold_since) = (None, None);
            return;
        }
        let since = *self.ack_waits_since.get_or_insert(now);
        let slack = SLACK_FLITS + self.config.reaction_flits;
        let mut late = now > since + u64::from(link.llcrd_flush_flits) + slack;
        if self.num_ack >= link.llcrd_ack_threshold.into() {
            late |= now > since.max(*self.threshold_since.get_or_insert(now)) + slack;
        } else {
            self.threshold_since = None;
        }
        if late {
            let found = format!("{} acknowledgements wait for {} flit clocks", self.num_ack, now - since);
            self.broken("CXL68-LLR-10", found, "an LLCRD", "acknowledgements wait too long without an LLCRD");
            self.ack_waits_since = Some(now);
        }
    }

    /// The end of the run in flit clock `now`: what is still due and has been for long.
    pub fn finish(&mut self, now: u64) {
        self.time_acks(now);
        self.lone_frames();
        if self.ack_is_due(self.sent) {
            self.broken(
                "CXL68-RRS-01",
                "no RETRY.Ack",
                "a RETRY.Ack sequence",
                "a RETRY.Req of the peer is not answered",
            );
        }
        if matches!(self.lrsm, Lrsm::ReqDue(_)) && self.num_retry < self.config.link.max_num_retry {
            self.broken(
                "CXL68-LRS-04",
                "no RETRY.Req",
                "a RETRY.Req sequence",
                "a bad flit is received and not asked for again",
            );
        }
    }
}

/// Adds the credits that a flit of a direction carries, Rsp, Req, Data; counters saturate.
fn add_credits(credits: &mut [u32; 10], dir: Dir, codes: [u8; 3], counter_bits: u8) {
    let maximum = (1u32 << counter_bits) - 1;
    for (field, code) in CreditField::ALL.into_iter().zip(codes) {
        if let Some((class, count)) = credit::decode(dir, field, code) {
            credits[class.index()] = (credits[class.index()] + u32::from(count)).min(maximum);
        }
    }
}

/// The RETRY flit that slot 0 holds when it is a control flit.
fn retry_control(slot: u128) -> Option<Control> {
    if slot & 1 == 0 || !Control::static_bits_ok(slot) {
        return None;
    }
    Some(Control::from_slot(slot)).filter(|c| !c.is_retryable())
}
