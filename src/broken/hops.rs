//! Hops and agents of coherence that hold messages which must go on, judged by the watch of a hop and by the table of who waits for whom.
//!
//! Modelled: one direction of a hop with a fault: one queue for all channels, a channel that is served last, orders that are not kept, one
//! pool of credits, a credit that is kept. And an agent in which one class waits for one more. The wave has what comes to the hop and what
//! leaves it, a nanosecond apart.
//! Left out: what is behind the hop; a class that is stuck is stuck for as long as is looked at.
//!
//! A walk: D2H Req is stuck, and S2M NDR comes behind it; with one queue for both nothing leaves: COH-DLK-01.

use super::message_wave::{MessageWave, STEP_FS};
use super::timeline::MOST_STEPS;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Class, Msg, shown};
use scalepool_coherence::passing::{CoherenceChannel, Lane, LaneFault};
use scalepool_forms::message::message_to_json;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::TimeAxis;

/// Credits of each channel of a hop.
const CREDITS: u64 = 4;
/// Messages after which a channel that is passed each time counts as starved, and a few more.
const STARVING_STEPS: u64 = 40;

/// What is wrong.
#[derive(Debug, Clone, Copy)]
enum HopFault {
    /// A class waits behind a stuck one in one queue.
    Behind(Class, Class),
    /// CXL.cachemem of a class waits behind CXL.io.
    BehindIo(Class),
    /// A class is passed by another one again and again.
    Starves(Class, Class),
    /// A class with all messages of the hop leaves none for another one.
    SharedCredits(Class, Class),
    /// The credit of a message of this class does not come back.
    KeepsCredit(Class),
    /// A class that comes in waits for one that goes out, in an agent or a direct peer.
    Waits(Class, Class, WaitsIn),
}

/// Where a class waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsIn {
    Agent,
    Peer,
}

/// The table, a rule once.
const BREAKS: &[(&str, HopFault)] = &[
    ("COH-CHN-01", HopFault::SharedCredits(Class::M2sReq, Class::M2sRwd)),
    ("COH-DLK-01", HopFault::Behind(Class::S2mNdr, Class::D2hReq)),
    ("COH-DLK-02", HopFault::Behind(Class::S2mBisnp, Class::D2hReq)),
    ("COH-DLK-03", HopFault::Starves(Class::D2hReq, Class::D2hRsp)),
    ("COH-DLK-04", HopFault::Starves(Class::M2sReq, Class::M2sRwd)),
    ("COH-DLK-05", HopFault::Behind(Class::M2sRwd, Class::M2sReq)),
    ("COH-DLK-06", HopFault::Behind(Class::H2dReq, Class::M2sReq)),
    ("COH-DLK-07", HopFault::Behind(Class::H2dRsp, Class::H2dReq)),
    ("COH-DLK-08", HopFault::Waits(Class::M2sReq, Class::D2hReq, WaitsIn::Agent)),
    ("COH-DLK-09", HopFault::Waits(Class::M2sRwd, Class::S2mBisnp, WaitsIn::Agent)),
    ("COH-DLK-10", HopFault::Waits(Class::H2dReq, Class::D2hReq, WaitsIn::Agent)),
    ("COH-DLK-11", HopFault::Waits(Class::H2dRsp, Class::D2hReq, WaitsIn::Agent)),
    ("COH-DLK-12", HopFault::Waits(Class::S2mDrs, Class::M2sReq, WaitsIn::Agent)),
    ("COH-DLK-13", HopFault::Waits(Class::S2mBisnp, Class::M2sReq, WaitsIn::Agent)),
    ("COH-DLK-16", HopFault::BehindIo(Class::M2sReq)),
    ("COH-P2P-03", HopFault::Waits(Class::H2dReq, Class::M2sReq, WaitsIn::Peer)),
    ("COH-INV-11", HopFault::KeepsCredit(Class::M2sReq)),
];

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|(rule, _)| *rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    BREAKS.iter().find(|(of, _)| *of == rule).map(|(rule, fault)| fault.judged(rule)).transpose()
}

/// A usual message of a class, about line 0.
fn message(class: Class) -> Msg<CacheLine> {
    let (line, data) = (LineAddr(0), CacheLine::of([0; LINE_BYTES]));
    let (snp, meta_field, meta) = (SnpType::SnpInv, MetaField::Meta0State, MetaValue::Any);
    match class {
        Class::D2hReq => Msg::D2hReq { opcode: D2hReqOpcode::RdOwn, line, cqid: 0 },
        Class::D2hRsp => Msg::D2hRsp { opcode: D2hRspOpcode::RspIHitI, uqid: 0 },
        Class::D2hData => Msg::D2hData { uqid: 0, bogus: false, data, enables: WHOLE_LINE },
        Class::H2dReq => Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line, uqid: 0 },
        Class::H2dRsp => Msg::H2dRsp { opcode: H2dRspOpcode::WritePull, rsp_data: 0, cqid: 0 },
        Class::H2dData => Msg::H2dData { cqid: 0, go_err: false, data },
        Class::M2sReq => Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag: 0 },
        Class::M2sRwd => {
            let (opcode, enables) = (M2sRwdOpcode::MemWr, WHOLE_LINE);
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag: 0, data, enables }
        }
        Class::M2sBirsp => Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag: 0, low_addr: 0 },
        Class::S2mBisnp => Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line, bi_tag: 0 },
        Class::S2mNdr => Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag: 0, devload: DevLoad(0) },
        Class::S2mDrs => {
            Msg::S2mDrs { opcode: DrsOpcode::MemData, meta_field, meta, tag: 0, devload: DevLoad(0), data }
        }
    }
}

impl HopFault {
    fn what(self) -> String {
        match self {
            HopFault::Behind(..) | HopFault::BehindIo(_) => "a hop with one queue for all channels".to_owned(),
            HopFault::Starves(class, _) => format!("a hop that serves {} when nothing else waits", class.name()),
            HopFault::SharedCredits(..) => "a hop with one pool of credits for all channels".to_owned(),
            HopFault::KeepsCredit(_) => "a hop that does not return a credit".to_owned(),
            HopFault::Waits(incoming, outgoing, at) => {
                let at = if at == WaitsIn::Peer { "a direct peer" } else { "an agent" };
                format!("{at} in which {} waits for room for {}", incoming.name(), outgoing.name())
            }
        }
    }

    fn judged(self, rule: &'static str) -> Result<BrokenCase, CaseError> {
        let mut hop = HopSide::new(match self {
            HopFault::Behind(..) | HopFault::BehindIo(_) | HopFault::Waits(..) => LaneFault::InOrder,
            HopFault::Starves(class, _) => LaneFault::Starves(CoherenceChannel::Own(class)),
            HopFault::SharedCredits(..) => LaneFault::SharedPool,
            HopFault::KeepsCredit(_) => LaneFault::KeepsCredit,
        });
        match self {
            HopFault::Behind(later, earlier) => {
                hop.comes(Some(earlier))?;
                hop.comes(Some(later))?;
                hop.leaves(&[CoherenceChannel::Own(earlier)])?;
            }
            HopFault::BehindIo(later) => {
                hop.comes(None)?;
                hop.comes(Some(later))?;
                hop.leaves(&[CoherenceChannel::Io])?;
            }
            HopFault::Starves(class, other) => {
                hop.comes(Some(class))?;
                for _ in 0..STARVING_STEPS {
                    if hop.lane.events.is_empty() {
                        hop.comes(Some(other))?;
                        hop.leaves(&[])?;
                    }
                }
            }
            HopFault::SharedCredits(class, other) => {
                for _ in 0..CREDITS {
                    hop.comes(Some(class))?;
                }
                hop.comes(Some(other))?;
            }
            HopFault::KeepsCredit(class) => {
                hop.comes(Some(class))?;
                hop.leaves(&[])?;
                hop.lane.check_idle();
                hop.step("nothing more comes".to_owned());
            }
            HopFault::Waits(incoming, outgoing, at) => {
                let table = if at == WaitsIn::Peer { WaitTable::peer() } else { WaitTable::default() };
                hop.lane.events.extend(table.with(incoming, outgoing).cycle());
                hop.shows("in", incoming)?;
                hop.step(format!("{} comes and waits for room for {}", incoming.name(), outgoing.name()));
            }
        }
        let event = hop.lane.events.drain(..).next().filter(|event| event.rule == rule);
        let event: CoherenceEvent = event.ok_or_else(|| CaseError::breaks_nothing(rule, "message at a hop"))?;
        let t_fs = hop.t_fs;
        let first = hop.steps.len().saturating_sub(MOST_STEPS);
        Ok(BrokenCase {
            what: self.what(),
            t_fs,
            found: event.to_string(),
            steps: hop.steps.split_off(first),
            records: Some(hop.wave.records(t_fs, event.violation())),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        })
    }
}

/// One direction of a hop, and what has come and left.
struct HopSide {
    lane: Lane,
    steps: Vec<CaseStep>,
    wave: MessageWave,
    /// Of the last step.
    t_fs: u64,
}

impl HopSide {
    fn new(fault: LaneFault) -> HopSide {
        let lane = Lane::new(CREDITS, false, Some(fault));
        HopSide { lane, steps: Vec::new(), wave: MessageWave::new("hop"), t_fs: 0 }
    }

    fn step(&mut self, said: String) {
        self.t_fs += STEP_FS;
        self.steps.push(CaseStep { t_fs: self.t_fs, place: "hop".to_owned(), said });
    }

    /// A message stands in the wave at the time of the next step.
    fn shows(&mut self, place: &'static str, class: Class) -> Result<(), CaseError> {
        let (layout, bits) = shown(&message(class)).spell(MessageForm::Hbr).map_err(CaseError::of)?;
        self.wave.message(self.t_fs + STEP_FS, place, &message_to_json(layout, bits))
    }

    /// A message comes; `None`: one of CXL.io.
    fn comes(&mut self, class: Option<Class>) -> Result<(), CaseError> {
        let name = class.map_or("CXL.io", Class::name);
        let channel = class.map_or(CoherenceChannel::Io, CoherenceChannel::Own);
        let has_credit = self.lane.send(channel, class.map(message));
        if let (Some(class), true) = (class, has_credit) {
            self.shows("in", class)?;
        }
        self.step(if has_credit { format!("{name} comes") } else { format!("{name} has no credit") });
        Ok(())
    }

    /// A message leaves, of a channel that is not stuck.
    fn leaves(&mut self, stuck: &[CoherenceChannel]) -> Result<(), CaseError> {
        let left = self.lane.deliver(&CoherenceConfig::default(), stuck);
        let stuck_class = stuck.first().map(|channel| match channel {
            CoherenceChannel::Own(class) | CoherenceChannel::Peer(class) => class.name(),
            CoherenceChannel::Io | CoherenceChannel::UioCompletion => "CXL.io",
        });
        let said = match (left, stuck_class) {
            (Some((CoherenceChannel::Own(class) | CoherenceChannel::Peer(class), _)), _) => {
                self.shows("out", class)?;
                format!("{} leaves", class.name())
            }
            (Some(_), _) => "CXL.io leaves".to_owned(),
            (None, Some(class)) => format!("nothing leaves while {class} is stuck"),
            (None, None) => "nothing leaves".to_owned(),
        };
        self.step(said);
        Ok(())
    }
}
