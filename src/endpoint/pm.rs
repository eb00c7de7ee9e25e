//! Power management agents: the vendor-defined messages by which a host and a CXL device agree on resets, package sleep
//! and the global persistent flush (`cxl-io` §6).
//!
//! Modelled: the start (CREDIT_RTN, then AGENT_INFO, from each side), credits for every message but CREDIT_RTN, RESETPREP
//! and its acknowledgement, PMREQ with a latency report, its response and GO, the two phases of GPF, time-outs. Detail:
//! every field of the 16-byte payload that decides something. Left out: what a reset or a sleep state does to the device,
//! the ARB/MUX states that follow, several agents behind one port, event notifications.
//!
//! A walk through the start of a host: [`PmAgent::new`] queues CREDIT_RTN and the request for AGENT_INFO; the first leaves
//! at once, the second when the device's CREDIT_RTN has come. The device answers AGENT_INFO; both are ready, and each
//! message that was taken gave its credit back.
//!
//! The sheet marks the order of the start, the place of the latency report and of the flush phase as unconfirmed; they are
//! the constants at the top of this file.

use super::event::EndpointEvent;
use super::tlp::{Tlp, TlpKind};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::code::{PmOpcode, VdmCode};
use scalepool_protocols::cxl::cxlio::vdm::{self, Pm};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// Routing of a message that ends at the receiver (`cxl-io` §1.2).
const ROUTING_LOCAL: u8 = 4;
/// Parameter bit 0: an answer is wanted.
const REQUEST: u16 = 1;
/// Parameter bit 2 of PMREQ: the package goes to sleep.
const GO: u16 = 1 << 2;
/// Capability vector of AGENT_INFO: bit 0 always, bit 1 GPF.
const CAPABILITIES: u128 = 0b11;
/// Where the phase stands in the payload of GPF, two bits: 1 and 2 (`cxl-io` §6; the codes are unconfirmed).
const GPF_PHASE_LSB: u32 = 16;
/// Where the latency report stands in the payload of PMREQ: snoop, then no-snoop, 16 bits each (unconfirmed).
const LATENCY_LSB: [u32; 2] = [0, 16];

/// Which end of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PmSide {
    /// The downstream port: it asks for resets and flushes, and lets the package sleep.
    Host,
    /// The device.
    Device,
}

/// How an agent is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PmConfig {
    /// Which end.
    pub side: PmSide,
    /// Bus, device and function, in the header of its messages.
    pub id: u16,
    /// PM agent ID, 0 to 127.
    pub agent: u8,
    /// Credits that the peer gets, 1 to 255.
    pub credits: u8,
    /// A host lets the package sleep when the device asks; else it answers and no GO follows.
    pub grants_sleep: bool,
    /// The agent of a switch (`fabric` RST-8). Towards a host it answers resets and flushes when [`PmAgent::release`] says that all
    /// ports below have; towards a device it begins each phase of a flush when it is asked to.
    pub is_of_switch: bool,
    /// Time until an answer is overdue, in the unit of the `now` that calls pass. The agent of a switch times resets and phases of
    /// a flush alone: the host waits for these.
    pub timeout: u64,
    /// What it sends can be lost on its way: a request without an answer is given up, and breaks no rule.
    pub may_lose: bool,
}

impl PmConfig {
    /// An agent of one side with four credits and a time-out of 1 000 000.
    pub const fn new(side: PmSide) -> PmConfig {
        let agent = match side {
            PmSide::Host => 0,
            PmSide::Device => 1,
        };
        PmConfig {
            side,
            id: 0,
            agent,
            credits: 4,
            grants_sleep: true,
            is_of_switch: false,
            timeout: 1_000_000,
            may_lose: false,
        }
    }
}

/// What RESETPREP announces (`cxl-io` §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetKind {
    /// Sleep state S1.
    S1 = 0x01,
    /// Sleep state S3.
    S3 = 0x03,
    /// Sleep state S4.
    S4 = 0x04,
    /// Sleep state S5.
    S5 = 0x05,
    /// Reset, warm or cold.
    Reset = 0x10,
}

impl ResetKind {
    /// All of them.
    pub const ALL: [ResetKind; 5] = [ResetKind::S1, ResetKind::S3, ResetKind::S4, ResetKind::S5, ResetKind::Reset];

    fn of(payload: u128) -> Option<ResetKind> {
        ResetKind::ALL.into_iter().find(|kind| *kind as u128 == payload & 0xff)
    }
}

/// A latency that a device can stand: value times 32^scale ns (LTR format, general knowledge of PCIe).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Bits 9:0.
    pub value: u16,
    /// Bits 12:10: 0 to 5.
    pub scale: u8,
    /// Bit 15: it is a requirement.
    pub required: bool,
}

impl Latency {
    /// The 16 bits that travel; what does not fit is lost.
    pub const fn to_bits(self) -> u16 {
        (self.required as u16) << 15 | (self.scale as u16 & 7) << 10 | self.value & 0x3ff
    }

    /// Reads 16 bits; `None` where they are no latency: scale 6 and 7, reserved bits 14:13 set.
    pub fn from_bits(bits: u16) -> Option<Latency> {
        let scale = (bits >> 10 & 7) as u8;
        (scale <= 5 && bits >> 13 & 3 == 0).then_some(Latency { value: bits & 0x3ff, scale, required: bits >> 15 == 1 })
    }
}

/// What an agent is asked to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PmRequest {
    /// Host: a reset is coming.
    ResetPrep(ResetKind),
    /// Device: it could sleep if latencies up to these are kept, snoop and no-snoop.
    Sleep([Latency; 2]),
    /// Host: sleep now, whether or not the device asked.
    Go,
    /// Host: flush everything that has to persist.
    Flush,
    /// The same, a phase of it: 1 or 2.
    FlushPhase(u8),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// Both sides have said who they are.
    Ready,
    /// Device: it was told, and has acknowledged.
    ResetAnnounced(ResetKind),
    /// Host: the device has acknowledged.
    ResetAcknowledged,
    /// Device: the host has answered its report.
    SleepAnswered,
    /// Device: the package sleeps, the link may go to L1.
    Asleep,
    /// A phase of the flush begins at the device: 1 caches, 2 memory.
    FlushPhase(u8),
    /// Host: the device has finished a phase.
    FlushAnswered(u8),
    /// Host: the device has not answered a reset or a phase of a flush in time, or named another phase, and is not waited for any
    /// more.
    GivenUp,
}

/// Requests that hold up a reset or a flush until they are answered.
fn is_waited_for(opcode: PmOpcode) -> bool {
    matches!(opcode, PmOpcode::ResetPrep | PmOpcode::Gpf)
}

/// Phase that a message of a flush names.
fn phase_of(pm: &Pm) -> u8 {
    (pm.payload >> GPF_PHASE_LSB & 3) as u8
}

/// A power management agent.
pub struct PmAgent {
    config: PmConfig,
    /// Messages that wait for a credit, CREDIT_RTN first.
    queue: VecDeque<Pm>,
    /// Credits to return.
    owed: u8,
    /// Credits that we may spend.
    credits: u32,
    /// Credits that the peer may spend.
    granted: u32,
    /// The peer's first CREDIT_RTN has come.
    credited: bool,
    info_sent: bool,
    info_received: bool,
    /// Requests without an answer, by opcode, and since when.
    waiting: OrderedMap<u8, u64>,
    /// Resets and phases of a flush that were given up: their answers may still come, in order, and count for nothing then. The phase
    /// stands beside the opcode, 0 for a reset.
    given_up: Vec<(PmOpcode, u8)>,
    sleep_answered: bool,
    asleep: bool,
    /// Phase of the flush that was begun, 0 for none.
    phase: u8,
    /// Answers that wait until ports below have answered, of the agent of a switch.
    collecting: VecDeque<(PmOpcode, u128)>,
    happened: Vec<Happened>,
    events: Vec<EndpointEvent>,
}

impl PmAgent {
    /// An agent that has just been told that the link is up.
    pub fn new(config: PmConfig) -> PmAgent {
        let mut agent = PmAgent {
            queue: VecDeque::new(),
            owed: config.credits,
            credits: 0,
            granted: 0,
            credited: false,
            info_sent: false,
            info_received: false,
            waiting: OrderedMap::new(),
            given_up: Vec::new(),
            sleep_answered: false,
            asleep: false,
            phase: 0,
            collecting: VecDeque::new(),
            happened: Vec::new(),
            events: Vec::new(),
            config,
        };
        if config.side == PmSide::Host {
            agent.queue_info(REQUEST);
        }
        agent
    }

    /// Whether both sides have said who they are.
    pub fn is_ready(&self) -> bool {
        self.info_sent && self.info_received
    }

    /// Credits that it may spend.
    pub fn credits(&self) -> u32 {
        self.credits
    }

    /// Messages that wait to leave.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether everything it sent is answered and nothing waits.
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.waiting.is_empty() && self.collecting.is_empty() && self.owed == 0
    }

    /// Whether the link may go to L1: the host has said GO.
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Whether the device may send requests of CXL.cache: not after phase 1 of a flush (CXLIO-VDM-07).
    pub fn may_request_cache(&self) -> bool {
        self.phase == 0
    }

    /// What happened since the last call.
    pub fn take_happened(&mut self) -> Vec<Happened> {
        std::mem::take(&mut self.happened)
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<EndpointEvent> {
        std::mem::take(&mut self.events)
    }

    /// Starts something; the message leaves when a credit is there.
    pub fn ask(&mut self, ask: PmRequest, now: u64) {
        match ask {
            PmRequest::ResetPrep(kind) => self.request(PmOpcode::ResetPrep, kind as u128, now),
            PmRequest::Sleep(report) => {
                let payload = report
                    .into_iter()
                    .zip(LATENCY_LSB)
                    .fold(0, |bits, (latency, lsb)| bits | u128::from(latency.to_bits()) << lsb);
                self.sleep_answered = false;
                self.request(PmOpcode::PmReq, payload, now);
            }
            PmRequest::Go => self.queue(PmOpcode::PmReq, GO, 0),
            PmRequest::Flush => self.begin_phase(1, now),
            PmRequest::FlushPhase(phase) => self.begin_phase(phase, now),
        }
    }

    /// A request of CXL.cache came from the device; the host checks that none comes after phase 1 (CXLIO-VDM-07).
    pub fn saw_cache_request(&mut self) {
        if self.phase > 0 && !self.waiting.contains_key(&PmOpcode::Gpf.0) || self.phase > 1 {
            let phase = self.phase;
            self.broken(
                "CXLIO-VDM-07",
                6,
                format!("a request in phase {phase}"),
                "none",
                "cache traffic is sent after phase 1 of the flush",
            );
        }
    }

    /// The next message that can leave.
    pub fn next_message(&mut self) -> Option<Tlp> {
        if self.owed > 0 {
            let credits = std::mem::take(&mut self.owed);
            self.granted += u32::from(credits);
            // Payload 14:8 names the agent that gets them; agents are alone on their side.
            let target = match self.config.side {
                PmSide::Host => PmConfig::new(PmSide::Device).agent,
                PmSide::Device => PmConfig::new(PmSide::Host).agent,
            };
            let payload = u128::from(credits) | u128::from(target) << 8;
            return Some(self.message(Pm {
                opcode: PmOpcode::CreditRtn,
                agent: self.config.agent,
                parameter: 0,
                payload,
            }));
        }
        if self.credits == 0 {
            return None;
        }
        let next = self.queue.pop_front()?;
        self.credits -= 1;
        self.info_sent |= next.opcode == PmOpcode::AgentInfo;
        let message = self.message(next);
        self.note_ready(next.opcode);
        Some(message)
    }

    /// Takes a message; `false`: it is no power management message of CXL and somebody else's business.
    pub fn receive(&mut self, tlp: &Tlp, now: u64) -> bool {
        let TlpKind::Message { code, dw2, dw3, .. } = tlp.kind else { return false };
        let is_pm = code == vdm::MESSAGE_CODE && dw2 as u16 == vdm::VENDOR_ID && VdmCode(dw3 as u8) == VdmCode::Pm;
        let Some(&payload) = tlp.data.first_chunk().filter(|_| is_pm && tlp.data.len() == 16) else { return false };
        let pm = Pm::from_bytes(payload);
        if pm.opcode == PmOpcode::CreditRtn {
            self.credited = true;
            self.credits = self.credits.saturating_add((pm.payload & 0xff) as u32);
            return true;
        }
        if pm.opcode.name().is_none() {
            self.broken(
                "CXLIO-VDM-02",
                0,
                format!("{:?}", pm.opcode),
                "an opcode of the table",
                "the power-management message is dropped",
            );
            return true;
        }
        match self.granted.checked_sub(1) {
            Some(left) => {
                self.granted = left;
                self.owed += 1;
            }
            None => self.broken(
                "CXLIO-VDM-04",
                0,
                "no credit left",
                "one credit per message",
                "the peer sends a power-management message without a credit",
            ),
        }
        if !self.credited || !self.info_received && pm.opcode != PmOpcode::AgentInfo {
            let is = format!("{:?} before {}", pm.opcode, if self.credited { "AGENT_INFO" } else { "CREDIT_RTN" });
            self.broken(
                "CXLIO-VDM-03",
                0,
                is,
                "CREDIT_RTN, then AGENT_INFO",
                "the power-management message is dropped",
            );
            return true;
        }
        if !pm.is_request() && self.was_given_up(&pm) {
            return true;
        }
        let answered = !pm.is_request() && self.waiting.remove(&pm.opcode.0).is_some();
        match pm.opcode {
            PmOpcode::AgentInfo => {
                self.info_received = true;
                if pm.is_request() {
                    self.queue_info(0);
                }
                self.note_ready(pm.opcode);
            }
            PmOpcode::ResetPrep if pm.is_request() => match ResetKind::of(pm.payload) {
                Some(kind) => {
                    self.answer(PmOpcode::ResetPrep, pm.payload);
                    self.happened.push(Happened::ResetAnnounced(kind));
                }
                None => {
                    let is = format!("{:#x}", pm.payload & 0xff);
                    self.broken(
                        "CXLIO-VDM-05",
                        4,
                        is,
                        "1, 3, 4, 5 or 0x10",
                        "RESETPREP names an unlisted kind of reset",
                    );
                }
            },
            PmOpcode::ResetPrep if answered => self.happened.push(Happened::ResetAcknowledged),
            PmOpcode::PmReq => self.pm_req(&pm, answered),
            PmOpcode::Gpf => self.gpf(&pm, answered, now),
            _ => {}
        }
        true
    }

    /// Whether a message is the late answer to a request that was given up, which is forgotten with it.
    fn was_given_up(&mut self, pm: &Pm) -> bool {
        let phase = if pm.opcode == PmOpcode::Gpf { phase_of(pm) } else { 0 };
        let found = self.given_up.iter().position(|one| *one == (pm.opcode, phase));
        found.map(|n| self.given_up.remove(n)).is_some()
    }

    fn pm_req(&mut self, pm: &Pm, answered: bool) {
        if pm.is_request() {
            let report = LATENCY_LSB.map(|lsb| Latency::from_bits((pm.payload >> lsb) as u16));
            if report.contains(&None) {
                let is = format!("{:#x}", pm.payload);
                self.broken(
                    "CXLIO-VDM-06",
                    4,
                    is,
                    "scales up to 5, reserved bits 0",
                    "the payload of PMREQ is not a latency report",
                );
                return;
            }
            self.queue(PmOpcode::PmReq, 0, pm.payload);
            if self.config.grants_sleep {
                self.queue(PmOpcode::PmReq, GO, 0);
            }
        } else if pm.parameter & GO != 0 {
            // GO without a report that was answered changes nothing (C14-10.3 allows both).
            if std::mem::take(&mut self.sleep_answered) {
                self.asleep = true;
                self.happened.push(Happened::Asleep);
            }
        } else if answered {
            self.sleep_answered = true;
            self.happened.push(Happened::SleepAnswered);
        }
    }

    fn gpf(&mut self, pm: &Pm, answered: bool, now: u64) {
        let phase = phase_of(pm);
        if pm.is_request() {
            let expected = self.phase + 1;
            if phase != expected || expected > 2 {
                let is = format!("phase {phase}");
                self.broken("CXLIO-VDM-07", 6, is, "phase 1, then phase 2", "the phases of the flush are out of order");
                return;
            }
            self.phase = phase;
            self.answer(PmOpcode::Gpf, u128::from(phase) << GPF_PHASE_LSB);
            self.happened.push(Happened::FlushPhase(phase));
        } else if answered {
            if phase != self.phase {
                let (is, expected) = (format!("phase {phase}"), format!("phase {}", self.phase));
                self.broken(
                    "CXLIO-VDM-07",
                    6,
                    is,
                    &expected,
                    "the answer names another phase of the flush than the request",
                );
                self.happened.push(Happened::GivenUp);
                return;
            }
            self.happened.push(Happened::FlushAnswered(phase));
            if phase == 1 && !self.config.is_of_switch {
                self.begin_phase(2, now);
            }
        }
    }

    fn begin_phase(&mut self, phase: u8, now: u64) {
        self.phase = phase;
        self.request(PmOpcode::Gpf, u128::from(phase) << GPF_PHASE_LSB, now);
    }

    /// Answers a reset or a phase of a flush: at once, or when those below have.
    fn answer(&mut self, opcode: PmOpcode, payload: u128) {
        match self.config.is_of_switch {
            true => self.collecting.push_back((opcode, payload)),
            false => self.queue(opcode, 0, payload),
        }
    }

    /// All ports below have answered what was announced first: this agent answers it too.
    pub fn release(&mut self) {
        if let Some((opcode, payload)) = self.collecting.pop_front() {
            self.queue(opcode, 0, payload);
        }
    }

    /// Wakes up: the link has left L1.
    pub fn wake(&mut self) {
        self.asleep = false;
    }

    /// When the oldest open request is overdue, in the unit of the `now` that calls pass.
    pub fn due(&self) -> Option<u64> {
        self.timed().map(|(_, since)| since + self.config.timeout).min()
    }

    /// Requests whose answer can be overdue: opcode, and since when.
    fn timed(&self) -> impl Iterator<Item = (u8, u64)> {
        let is_timed = |opcode: u8| !self.config.is_of_switch || is_waited_for(PmOpcode(opcode));
        self.waiting.iter().map(|(&opcode, &since)| (opcode, since)).filter(move |(opcode, _)| is_timed(*opcode))
    }

    /// Reports answers that are overdue; each is given up (CXLIO-VDM-05).
    pub fn expire(&mut self, now: u64) {
        let overdue: Vec<(u8, u64)> =
            self.timed().filter(|(_, since)| now.saturating_sub(*since) >= self.config.timeout).collect();
        for (opcode, since) in overdue {
            self.waiting.remove(&opcode);
            if is_waited_for(PmOpcode(opcode)) {
                let phase = if PmOpcode(opcode) == PmOpcode::Gpf { self.phase } else { 0 };
                self.given_up.push((PmOpcode(opcode), phase));
                self.happened.push(Happened::GivenUp);
            }
            if self.config.may_lose {
                continue;
            }
            let rule = match PmOpcode(opcode) {
                PmOpcode::ResetPrep => "CXLIO-VDM-05",
                PmOpcode::PmReq => "CXLIO-VDM-06",
                PmOpcode::Gpf => "CXLIO-VDM-07",
                _ => "CXLIO-VDM-03",
            };
            let is = format!("no answer to {:?} of {since}", PmOpcode(opcode));
            self.broken(rule, 0, is, "an answer in time", "a power-management request was not answered in time");
        }
    }

    fn request(&mut self, opcode: PmOpcode, payload: u128, now: u64) {
        self.waiting.insert(opcode.0, now);
        self.queue(opcode, REQUEST, payload);
    }

    fn queue_info(&mut self, parameter: u16) {
        if parameter & REQUEST != 0 {
            self.waiting.insert(PmOpcode::AgentInfo.0, 0);
        }
        self.queue(PmOpcode::AgentInfo, parameter, CAPABILITIES);
    }

    fn queue(&mut self, opcode: PmOpcode, parameter: u16, payload: u128) {
        self.queue.push_back(Pm { opcode, agent: self.config.agent, parameter, payload });
    }

    fn note_ready(&mut self, opcode: PmOpcode) {
        if opcode == PmOpcode::AgentInfo && self.is_ready() {
            self.happened.push(Happened::Ready);
        }
    }

    fn message(&self, pm: Pm) -> Tlp {
        let (dw2, dw3) = vdm::words(VdmCode::Pm, 0);
        let kind = TlpKind::Message { routing: ROUTING_LOCAL, code: vdm::MESSAGE_CODE, dw2, dw3 };
        Tlp::new(kind, self.config.id, pm.to_bytes().to_vec())
    }

    /// `byte` counts in the payload of the message.
    fn broken(&mut self, rule: &'static str, byte: usize, is: impl ToString, expected: &str, text: &str) {
        self.events.push(EndpointEvent::Rule(Violation::at_byte(rule, byte, is, expected, text)));
    }
}
