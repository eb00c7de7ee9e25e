//! ALMPs and payload that a port gets from a peer with a wrong vLSM, judged by the vLSM of the port, and moves of a vLSM judged by the table.
//!
//! Modelled: one port with the vLSM of CXL.io, which answers and asks as in every run; the other one is that of whoever breaks the rule. The
//! cases stand in `vlsm.txt`, a line for each thing that happens, a nanosecond apart. The wave has the ALMPs that the port gets and sends,
//! and its state behind each line.
//! Left out: payload itself and the physical layer, whose training is one line.
//!
//! A walk: behind `cxl-68b up` and `trains` the port has a vLSM in Reset that waits for the downstream port; at `gets Request L1_0` it finds
//! a downstream port that asks for a power state: CXL68-VLS-04.

use super::case_file::CaseFile;
use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::message_to_json;
use scalepool_link::arbmux::cxl68::almp as almp68;
use scalepool_link::arbmux::cxl68::table::{Cause, Vlsm68Move, check_move, check_phy};
use scalepool_link::arbmux::cxl68::{self, ArbMux, IoQueue, PhysicalLinkEntry};
use scalepool_link::arbmux::cxl256::{self, L0pSide, LinkWidth, almp as almp256, l0p};
use scalepool_link::arbmux::{ArbMuxInstance, Ask, L1Level, State};
use scalepool_link::cxl68::{Cxl68End, EndConfig};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::Almp;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::almp as fields256;
use scalepool_protocols::cxl::cxl256::flit::standard;
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "vlsm.txt", text: include_str!("vlsm.txt"), judged };

/// The protocol of every case.
const IO: ArbMuxInstance = ArbMuxInstance::Io;
/// Lines that a refusal of a power state waits.
const REFUSAL_LINES: u64 = 1;
/// Most units that a port sends in a line: ALMPs of both vLSMs.
const MOST_SENT: usize = 8;
/// Credits of each channel of the end beside CXL.io, which has nothing to send.
const CREDITS: u16 = 8;

/// Who judges.
enum VlsmJudge {
    Cxl68(Box<ArbMux<IoQueue, Cxl68End>>),
    Cxl256(Box<cxl256::Vlsm>),
    Width(L0pSide),
    /// The tables of 68B mode alone, which judge what a vLSM has done.
    Tables,
}

/// An ALMP in words, with its bits.
struct ShownAlmp {
    said: String,
    layout: &'static LayoutDef,
    bits: u128,
}

fn ask_of(word: &str) -> Option<Ask> {
    match word {
        "Active" => Some(Ask::Active),
        "L2" => Some(Ask::L2),
        "Deepest" => Some(Ask::Deepest),
        _ => L1Level::ALL.into_iter().find(|level| format!("{level:?}") == word).map(Ask::L1),
    }
}

fn state_name(state: State) -> String {
    match state {
        State::L1(level) => format!("{level:?}"),
        other => format!("{other:?}"),
    }
}

fn state_of(word: &str) -> Option<State> {
    State::ALL.into_iter().find(|state| state_name(*state) == word)
}

fn width_of(word: &str) -> Option<LinkWidth> {
    LinkWidth::ALL.into_iter().find(|width| format!("{width:?}") == word)
}

fn cause_of(word: &str) -> Option<Cause> {
    let all = [Cause::Handshake, Cause::Granted, Cause::Wake, Cause::Resolved, Cause::LinkReset];
    all.into_iter().find(|cause| format!("{cause:?}") == word)
}

/// The word of an ALMP in a 256B flit.
fn shown256(content: almp256::AlmpContent, said: String) -> ShownAlmp {
    let flit = almp256::flit(content);
    let bytes = &flit.0[standard::HEADER.end..standard::HEADER.end + fields256::ALMP_BYTES];
    let bits = bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte));
    ShownAlmp { said, layout: fields256::def(bits as u32), bits }
}

fn said68(says: almp68::Says) -> String {
    match says {
        almp68::Says::Request(Ask::L1(level)) => format!("Request {level:?}"),
        almp68::Says::Request(ask) => format!("Request {ask:?}"),
        almp68::Says::Status(state) => format!("Status {}", state_name(state)),
    }
}

fn shown68(unit: &Cxl68Unit) -> Option<ShownAlmp> {
    let (_, says) = almp68::read(unit).filter(|(instance, _)| *instance == IO)?;
    Some(ShownAlmp { said: said68(says), layout: Almp::DEF, bits: unit.slot(0) & u128::from(u32::MAX) })
}

impl VlsmJudge {
    fn of_head(head: &str) -> Option<VlsmJudge> {
        let (kind, dir) = head.split_once(' ').unwrap_or((head, "down"));
        let dir = [Dir::Down, Dir::Up].into_iter().find(|known| known.name() == dir)?;
        Some(match kind {
            "cxl-68b" => {
                let config = cxl68::ArbMuxConfig::new(dir, Cxl68Config::default());
                let end = Cxl68End::new(EndConfig::mem(dir, Cxl68Config::default(), CREDITS)).ok()?;
                VlsmJudge::Cxl68(Box::new(ArbMux::new(config, IoQueue::default(), end)))
            }
            "cxl-256b" => {
                let plain = cxl256::ArbMuxConfig::new(dir, Mode::Standard);
                let config = cxl256::ArbMuxConfig { pm_refusal_flits: Some(REFUSAL_LINES), ..plain };
                VlsmJudge::Cxl256(Box::new(cxl256::Vlsm::new(&config)))
            }
            "l0p" => VlsmJudge::Width(L0pSide::new(dir, LinkWidth::X16, LinkWidth::X1)),
            "tables" => VlsmJudge::Tables,
            _ => return None,
        })
    }

    /// What it is now, in words and as a number.
    fn state(&self) -> Option<(String, u64)> {
        let of = |all: &[String], name: String| all.iter().position(|known| *known == name).unwrap_or_default() as u64;
        match self {
            VlsmJudge::Cxl68(port) => {
                let (all, name) = (State::ALL.map(state_name), state_name(port.vlsm(IO).state()));
                Some((name.clone(), of(&all, name)))
            }
            VlsmJudge::Cxl256(vlsm) => {
                let (all, name) = (cxl256::State::ALL.map(|s| format!("{s:?}")), format!("{:?}", vlsm.state()));
                Some((name.clone(), of(&all, name)))
            }
            VlsmJudge::Width(side) => Some((format!("{:?}", side.width()), side.width().lanes())),
            VlsmJudge::Tables => None,
        }
    }

    /// What happens in a line: what it gets, if that is an ALMP, and what is found.
    fn happens(&mut self, line: &str, now: u64) -> Option<(Option<ShownAlmp>, Vec<Violation>)> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        match (self, word, words.as_slice()) {
            (_, "waits", _) => (),
            (VlsmJudge::Cxl68(port), "trains", _) => port.phy_up(PhysicalLinkEntry::First),
            (VlsmJudge::Cxl68(port), "recovers", _) => {
                port.phy_down();
                port.phy_up(PhysicalLinkEntry::Recovery);
            }
            (VlsmJudge::Cxl68(port), "asks", [ask]) => port.ask(IO, Some(ask_of(ask)?)),
            (VlsmJudge::Cxl68(port), "gets", ["payload"]) => {
                port.receive(&Cxl68Unit::plain(pid::IO, &[0; PAYLOAD_BYTES]), now);
                return Some((None, events(port)));
            }
            (VlsmJudge::Cxl68(port), "gets", [kind, what]) => {
                let says = match *kind {
                    "Request" => almp68::Says::Request(ask_of(what)?),
                    _ => almp68::Says::Status(state_of(what)?),
                };
                let unit = almp68::unit(IO, says);
                port.receive(&unit, now);
                return Some((shown68(&unit), events(port)));
            }
            (VlsmJudge::Cxl256(vlsm), "asks", [ask]) => vlsm.ask(Some(ask_of(ask)?)),
            (VlsmJudge::Cxl256(vlsm), "gets", [kind, what]) => {
                let says = match *kind {
                    "Request" => almp256::Says::Request(ask_of(what)?),
                    _ if *what == "PMNAK" => almp256::Says::Status(cxl256::State::PmNak),
                    _ => almp256::Says::Status(state_of(what)?.into()),
                };
                let shown = shown256(almp256::AlmpContent::Vlsm(IO, says), rest.to_owned());
                return Some((Some(shown), vlsm.receive(says, now).into_iter().collect()));
            }
            (VlsmJudge::Width(side), "asks", [width]) => side.ask(width_of(width)?, false).ok()?,
            (VlsmJudge::Width(side), "gets", [kind, what]) => {
                let width = width_of(what);
                let says = match *kind {
                    "Request" => l0p::Says::Request { width: width?, priority: false },
                    "Ack" => l0p::Says::Ack(width?),
                    _ => l0p::Says::Nak,
                };
                let shown = shown256(almp256::AlmpContent::Width(says), rest.to_owned());
                return Some((Some(shown), side.receive(says).into_iter().collect()));
            }
            (VlsmJudge::Tables, "goes", [from, cause, to]) => {
                let made = Vlsm68Move { from: state_of(from)?, cause: cause_of(cause)?, to: state_of(to)? };
                return Some((None, check_move(&made).into_iter().collect()));
            }
            (VlsmJudge::Tables, "asks", [io, cachemem, asked]) => {
                return Some((
                    None,
                    check_phy(state_of(io)?, state_of(cachemem)?, state_of(asked)?).into_iter().collect(),
                ));
            }
            _ => return None,
        }
        Some((None, Vec::new()))
    }

    /// The next ALMP that it sends of its own.
    fn sends(&mut self, now: u64) -> Option<ShownAlmp> {
        match self {
            VlsmJudge::Cxl68(port) => {
                std::iter::from_fn(|| port.transmit(now)).take(MOST_SENT).find_map(|unit| shown68(&unit))
            }
            VlsmJudge::Cxl256(vlsm) => {
                vlsm.advance(now, true);
                let says = vlsm.transmit()?;
                let said = match says {
                    almp256::Says::Request(Ask::L1(level)) => format!("Request {level:?}"),
                    almp256::Says::Request(ask) => format!("Request {ask:?}"),
                    almp256::Says::Status(cxl256::State::PmNak) => "Status PMNAK".to_owned(),
                    almp256::Says::Status(state) => format!("Status {}", state_name(state.phy())),
                };
                Some(shown256(almp256::AlmpContent::Vlsm(IO, says), said))
            }
            VlsmJudge::Width(side) => {
                let says = side.transmit()?;
                let said = match says {
                    l0p::Says::Request { width, .. } => format!("Request {width:?}"),
                    l0p::Says::Ack(width) => format!("Ack {width:?}"),
                    l0p::Says::Nak => "Nak".to_owned(),
                };
                Some(shown256(almp256::AlmpContent::Width(says), said))
            }
            VlsmJudge::Tables => None,
        }
    }
}

fn events(port: &mut ArbMux<IoQueue, Cxl68End>) -> Vec<Violation> {
    port.take_events().into_iter().map(|event| event.violation).collect()
}

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let head = lines.next().unwrap_or_default();
    let unknown = |line: &str| CaseError::of(format!("found `{line}`, expected what a port of {head} knows"));
    let mut port = VlsmJudge::of_head(head).ok_or_else(|| unknown(head))?;
    let (mut steps, mut wave) = (Vec::new(), MessageWave::new("port"));
    let mut last = None;
    for (n, line) in lines.enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let (got, mut found) = port.happens(line, n as u64).ok_or_else(|| unknown(line))?;
        if let Some(got) = got {
            wave.message(t_fs, "gets", &message_to_json(got.layout, got.bits))?;
        }
        let mut said = line.to_owned();
        while let Some(sent) = found.is_empty().then(|| port.sends(n as u64)).flatten() {
            wave.message(t_fs, "sends", &message_to_json(sent.layout, sent.bits))?;
            said += &format!("; sends {}", sent.said);
            if let VlsmJudge::Cxl68(port) = &mut port {
                found.extend(events(port));
            }
        }
        if let Some((state, number)) = port.state() {
            wave.figure(t_fs, "state", number);
            if last.replace(state.clone()).is_none_or(|before| before != state) {
                said += &format!("; is {state}");
            }
        }
        steps.push(CaseStep { t_fs, place: "port".to_owned(), said });
        if found.is_empty() {
            continue;
        }
        let violation = found.into_iter().find(|violation| violation.rule == rule);
        let violation = violation.ok_or_else(|| CaseError::breaks_nothing(rule, "ALMP"))?;
        return Ok(wave.case(what, t_fs, violation, steps));
    }
    Err(CaseError::breaks_nothing(rule, "ALMP"))
}
