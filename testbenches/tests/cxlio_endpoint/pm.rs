//! Power management messages (CXLIO-VDM-03 to 07).

use super::rig::FORMS;
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{Happened, Latency, PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool::endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_protocols::cxl::cxlio::code::PmOpcode;
use scalepool_protocols::cxl::cxlio::vdm::Pm;

/// A latency that a device can stand: 3 times 32 us.
pub const LATENCY: Latency = Latency { value: 3, scale: 3, required: true };

/// Two agents; every message travels as the bytes of a TLP.
pub struct Talk {
    pub host: PmAgent,
    pub device: PmAgent,
    form: TlpForm,
    /// Opcodes and parameters in the order in which they were sent, `true` from the host.
    pub log: Vec<(bool, PmOpcode, u16)>,
    pub now: u64,
    /// Messages of the device that vanish.
    pub deaf: bool,
}

impl Talk {
    pub fn new(form: TlpForm, host: PmConfig, device: PmConfig) -> Talk {
        let (host, device) = (PmAgent::new(host), PmAgent::new(device));
        Talk { host, device, form, log: Vec::new(), now: 0, deaf: false }
    }

    /// Two agents that have said who they are.
    pub fn ready(form: TlpForm) -> Talk {
        let mut talk = Talk::new(form, PmConfig::new(PmSide::Host), PmConfig::new(PmSide::Device));
        talk.settle();
        assert!(talk.host.is_ready() && talk.device.is_ready());
        assert_eq!(
            (talk.host.take_happened(), talk.device.take_happened()),
            (vec![Happened::Ready], vec![Happened::Ready])
        );
        talk.log.clear();
        talk
    }

    fn travel(&self, tlp: &Tlp) -> Tlp {
        Tlp::decode(&tlp.encode(self.form).expect("fits"), self.form).expect("our own bytes")
    }

    /// Until nobody has anything to say.
    pub fn settle(&mut self) {
        loop {
            self.now += 1;
            let (down, up) = (self.host.next_message(), self.device.next_message());
            if down.is_none() && up.is_none() {
                return;
            }
            for (from_host, tlp) in [(true, down), (false, up)] {
                let Some(tlp) = tlp.map(|tlp| self.travel(&tlp)) else { continue };
                let pm = payload(&tlp);
                self.log.push((from_host, pm.opcode, pm.parameter));
                match from_host {
                    true => assert!(self.device.receive(&tlp, self.now)),
                    false if self.deaf => {}
                    false => assert!(self.host.receive(&tlp, self.now)),
                }
            }
        }
    }

    /// The log without credits.
    pub fn said(&self) -> Vec<(bool, PmOpcode, u16)> {
        self.log.iter().copied().filter(|(_, opcode, _)| *opcode != PmOpcode::CreditRtn).collect()
    }

    pub fn events(&mut self) -> Vec<EndpointEvent> {
        let mut events = self.host.take_events();
        events.extend(self.device.take_events());
        events
    }
}

pub fn payload(tlp: &Tlp) -> Pm {
    Pm::from_bytes(tlp.data[..].try_into().expect("16 bytes"))
}

/// Rule of the only event.
pub fn one_rule(events: Vec<EndpointEvent>) -> &'static str {
    let [EndpointEvent::Rule(violation)] = &events[..] else { panic!("{events:?}") };
    violation.rule
}

/// A message of a peer that does not keep to the rules.
pub fn forged(opcode: PmOpcode, parameter: u16, payload: u128) -> Tlp {
    let mut tlp = PmAgent::new(PmConfig::new(PmSide::Host)).next_message().expect("CREDIT_RTN");
    tlp.data = Pm { opcode, agent: 0, parameter, payload }.to_bytes().to_vec();
    tlp
}

#[test]
fn cxlio_vdm_03_p() {
    for form in FORMS {
        let mut talk = Talk::new(form, PmConfig::new(PmSide::Host), PmConfig::new(PmSide::Device));
        talk.settle();
        for side in [true, false] {
            let said: Vec<PmOpcode> = talk.log.iter().filter(|m| m.0 == side).map(|m| m.1).collect();
            let credits = said.iter().take_while(|o| **o == PmOpcode::CreditRtn).count();
            assert!(credits > 0 && said[credits] == PmOpcode::AgentInfo, "host {side}: {said:?}");
        }
        assert_eq!(talk.said(), [(true, PmOpcode::AgentInfo, 1), (false, PmOpcode::AgentInfo, 0)]);
        assert!(talk.host.is_ready() && talk.device.is_ready() && talk.host.is_quiet() && talk.device.is_quiet());
        assert!(talk.events().is_empty());
    }
}

#[test]
fn cxlio_vdm_03_n() {
    // PMREQ before AGENT_INFO, and AGENT_INFO before CREDIT_RTN: events, and no answer.
    let mut host = PmAgent::new(PmConfig::new(PmSide::Host));
    host.next_message().expect("CREDIT_RTN");
    assert!(host.receive(&forged(PmOpcode::CreditRtn, 0, 4), 1));
    assert!(host.receive(&forged(PmOpcode::PmReq, 1, 0), 2));
    assert_eq!(one_rule(host.take_events()), "CXLIO-VDM-03");
    let mut device = PmAgent::new(PmConfig::new(PmSide::Device));
    device.next_message().expect("CREDIT_RTN");
    assert!(device.receive(&forged(PmOpcode::AgentInfo, 1, 3), 1));
    assert_eq!(one_rule(device.take_events()), "CXLIO-VDM-03");
    assert_eq!((device.waiting(), device.is_ready()), (0, false));
}

#[test]
fn cxlio_vdm_04_p() {
    // One credit: every message waits for the one before, and all go.
    let one = |side| PmConfig { credits: 1, ..PmConfig::new(side) };
    let mut talk = Talk::new(TlpForm::NonFlit, one(PmSide::Host), one(PmSide::Device));
    talk.settle();
    talk.host.ask(PmRequest::ResetPrep(ResetKind::S1), talk.now);
    talk.host.ask(PmRequest::ResetPrep(ResetKind::S3), talk.now);
    talk.host.ask(PmRequest::ResetPrep(ResetKind::S5), talk.now);
    talk.settle();
    assert_eq!((talk.host.waiting(), talk.host.credits(), talk.device.credits()), (0, 1, 1), "credits are home");
    let announced: Vec<Happened> = talk.device.take_happened();
    assert_eq!(announced.len(), 4, "{announced:?}");
    assert!(talk.events().is_empty());
}

#[test]
fn cxlio_vdm_04_n() {
    // No credit left: the message waits. A peer that does not wait is an event.
    let mut host = PmAgent::new(PmConfig { credits: 1, ..PmConfig::new(PmSide::Host) });
    assert_eq!(payload(&host.next_message().expect("CREDIT_RTN")).opcode, PmOpcode::CreditRtn);
    assert_eq!((host.next_message(), host.waiting()), (None, 1), "AGENT_INFO waits");
    host.receive(&forged(PmOpcode::CreditRtn, 0, 1), 1);
    assert_eq!(payload(&host.next_message().expect("a credit")).opcode, PmOpcode::AgentInfo);
    host.receive(&forged(PmOpcode::AgentInfo, 0, 3), 2);
    assert!(host.take_events().is_empty());
    host.receive(&forged(PmOpcode::PmReq, 1, 0), 3);
    assert_eq!(one_rule(host.take_events()), "CXLIO-VDM-04");
}

#[test]
fn cxlio_vdm_05_p() {
    for form in FORMS {
        for kind in ResetKind::ALL {
            let mut talk = Talk::ready(form);
            talk.host.ask(PmRequest::ResetPrep(kind), talk.now);
            talk.settle();
            assert_eq!(talk.said(), [(true, PmOpcode::ResetPrep, 1), (false, PmOpcode::ResetPrep, 0)]);
            assert_eq!(talk.device.take_happened(), [Happened::ResetAnnounced(kind)]);
            assert_eq!(talk.host.take_happened(), [Happened::ResetAcknowledged]);
            talk.host.expire(u64::MAX);
            assert!(talk.events().is_empty());
        }
    }
}

#[test]
fn cxlio_vdm_05_n() {
    let mut talk = Talk::ready(TlpForm::Flit);
    talk.deaf = true;
    talk.host.ask(PmRequest::ResetPrep(ResetKind::Reset), 100);
    talk.settle();
    let due = 100 + PmConfig::new(PmSide::Host).timeout;
    talk.host.expire(due - 1);
    assert!(talk.events().is_empty());
    talk.host.expire(due);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-05");
    // A kind of reset that is not listed is not acknowledged.
    let mut talk = Talk::ready(TlpForm::Flit);
    talk.device.receive(&forged(PmOpcode::ResetPrep, 1, 0x02), 1);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-05");
    assert_eq!(talk.device.waiting(), 0);
}

#[test]
fn cxlio_vdm_06_p() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.device.ask(PmRequest::Sleep([LATENCY, LATENCY]), talk.now);
        talk.settle();
        let pm_req = PmOpcode::PmReq;
        assert_eq!(talk.said(), [(false, pm_req, 1), (true, pm_req, 0), (true, pm_req, 4)], "request, response, GO");
        assert_eq!(talk.device.take_happened(), [Happened::SleepAnswered, Happened::Asleep]);
        assert!(talk.device.is_asleep());
        talk.device.wake();
        assert!(!talk.device.is_asleep());
        assert!(talk.events().is_empty());
    }
}

#[test]
fn cxlio_vdm_06_n() {
    // Scale 6 and 7 and reserved bits are no latency, in either half.
    for lsb in [0, 16] {
        for bits in [0x1800u128, 0x1c00, 0x2000, 0x4000] {
            let mut talk = Talk::ready(TlpForm::NonFlit);
            talk.host.receive(&forged(PmOpcode::PmReq, 1, bits << lsb), 1);
            assert_eq!(one_rule(talk.events()), "CXLIO-VDM-06");
            assert_eq!(talk.host.waiting(), 0, "no response");
        }
    }
    for scale in 0..6 {
        let latency = Latency { value: 0x3ff, scale, required: false };
        assert_eq!(Latency::from_bits(latency.to_bits()), Some(latency));
    }
    // No response at all.
    let mut talk = Talk::ready(TlpForm::NonFlit);
    talk.device.ask(PmRequest::Sleep([LATENCY, LATENCY]), 0);
    talk.device.expire(u64::MAX);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-06");
}

#[test]
fn cxlio_vdm_07_p() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        assert!(talk.device.may_request_cache());
        talk.host.saw_cache_request();
        talk.host.ask(PmRequest::Flush, talk.now);
        // What was under way when the flush began still arrives.
        talk.host.saw_cache_request();
        talk.settle();
        assert_eq!(talk.device.take_happened(), [Happened::FlushPhase(1), Happened::FlushPhase(2)]);
        assert_eq!(talk.host.take_happened(), [Happened::FlushAnswered(1), Happened::FlushAnswered(2)]);
        assert!(!talk.device.may_request_cache());
        assert!(talk.events().is_empty());
    }
}

#[test]
fn cxlio_vdm_07_n() {
    const PHASE_1: u128 = 1 << 16;
    const PHASE_2: u128 = 2 << 16;
    // Phase 2 first; phase 1 twice.
    let mut talk = Talk::ready(TlpForm::Flit);
    talk.device.receive(&forged(PmOpcode::Gpf, 1, PHASE_2), 1);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-07");
    assert!(talk.device.may_request_cache() && talk.device.waiting() == 0);
    talk.device.receive(&forged(PmOpcode::Gpf, 1, PHASE_1), 2);
    talk.device.receive(&forged(PmOpcode::Gpf, 1, PHASE_1), 3);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-07");
    // A request of CXL.cache after the answer to phase 1.
    let mut talk = Talk::ready(TlpForm::Flit);
    talk.host.ask(PmRequest::Flush, talk.now);
    talk.settle();
    talk.host.saw_cache_request();
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-07");
    // The answer to another phase.
    let mut talk = Talk::ready(TlpForm::Flit);
    talk.host.ask(PmRequest::Flush, talk.now);
    talk.host.receive(&forged(PmOpcode::Gpf, 0, PHASE_2), talk.now);
    assert_eq!(one_rule(talk.events()), "CXLIO-VDM-07");
}

/// A slow device answers a phase that was given up while the next one is under way: that is no answer to the next one.
#[test]
fn an_answer_that_was_given_up_counts_for_nothing() {
    let timeout = PmConfig::new(PmSide::Host).timeout;
    let (phase, reset) = (|n: u128| forged(PmOpcode::Gpf, 0, n << 16), forged(PmOpcode::ResetPrep, 0, 1));
    let of_switch = PmConfig { is_of_switch: true, ..PmConfig::new(PmSide::Host) };
    let mut talk = Talk::new(TlpForm::Flit, of_switch, PmConfig::new(PmSide::Device));
    // AGENT_INFO is not timed by a switch.
    assert_eq!(talk.host.due(), None);
    talk.host.expire(u64::MAX);
    assert!(talk.events().is_empty());
    talk.settle();
    talk.host.take_happened();
    talk.host.ask(PmRequest::FlushPhase(1), 100);
    assert_eq!(talk.host.due(), Some(100 + timeout));
    talk.host.expire(100 + timeout);
    assert_eq!((one_rule(talk.events()), talk.host.take_happened()), ("CXLIO-VDM-07", vec![Happened::GivenUp]));
    talk.host.ask(PmRequest::FlushPhase(2), 200 + timeout);
    talk.host.receive(&phase(1), 201 + timeout);
    assert_eq!((talk.host.take_happened(), talk.host.due()), (vec![], Some(200 + 2 * timeout)));
    talk.host.receive(&phase(2), 202 + timeout);
    assert_eq!((talk.host.take_happened(), talk.host.due()), (vec![Happened::FlushAnswered(2)], None));
    // The same with two resets.
    talk.host.ask(PmRequest::ResetPrep(ResetKind::Reset), 0);
    talk.host.expire(timeout);
    assert_eq!((one_rule(talk.events()), talk.host.take_happened()), ("CXLIO-VDM-05", vec![Happened::GivenUp]));
    talk.host.ask(PmRequest::ResetPrep(ResetKind::Reset), timeout);
    talk.host.receive(&reset, timeout + 1);
    assert!(talk.host.take_happened().is_empty());
    talk.host.receive(&reset, timeout + 2);
    assert_eq!(talk.host.take_happened(), [Happened::ResetAcknowledged]);
    assert!(talk.events().is_empty());
}

#[test]
fn other_messages_are_left_to_others() {
    let mut host = PmAgent::new(PmConfig::new(PmSide::Host));
    let pm = forged(PmOpcode::PmReq, 1, 0);
    let TlpKind::Message { routing, code, dw2, dw3 } = pm.kind else { panic!("a message") };
    let others = [
        TlpKind::Message { routing, code: 0x7f, dw2, dw3 },
        TlpKind::Message { routing, code, dw2: dw2 ^ 1, dw3 },
        TlpKind::Message { routing, code, dw2, dw3: dw3 ^ 0x80 },
    ];
    for kind in others {
        assert!(!host.receive(&Tlp { kind, ..pm.clone() }, 0));
    }
    assert!(!host.receive(&Tlp { data: vec![0; 12], ..pm.clone() }, 0));
    assert!(host.take_events().is_empty());
    // An opcode that is not listed is dropped and costs no credit.
    assert!(host.receive(&forged(PmOpcode(0x40), 1, 0), 0));
    assert_eq!(one_rule(host.take_events()), "CXLIO-VDM-02");
}
