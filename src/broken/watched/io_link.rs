//! Watchers of one link of CXL.io: an end over 68B units, its credits, what a TLP begins with, and agents of power management.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `io_68` | a unit each: `tlp NUMBER`, a message of no use; `spoilt NUMBER`, the same with a wrong LCRC; `prefixed NUMBER ID`, one with a local prefix; `dllp BYTES`, `spoilt_dllp BYTES`, with a wrong CRC; `bytes BYTES`, which begin the payload and are followed by IDL |
//! | `io_credits` | `init STEP`, a DLLP of the step 1 or 2 for each kind, `update`, the same, `wait FLITS` |
//! | `pbr_link` | `BYTES` of a TLP, a DW at a time |
//! | `power` | an agent at a device: `gets OPCODE PARAMETER PAYLOAD`; `says`, the next message of its own; `ready`, behind the beginning of both |
//! | `power_host` | the same at a host: also `asks reset` or `asks flush`, `cache`, a request of CXL.cache that comes, `late`, the time-out of an answer |

use super::{CaseWatcher, Found, LineOutcome, MadeWatched};
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool_endpoint::tlp::Tlp;
use scalepool_link::arbmux::cxl68::Client;
use scalepool_link::cxlio::config::{IoConfig, ReplayConfig};
use scalepool_link::cxlio::flow::FlowControl;
use scalepool_link::cxlio::nonflit::NonFlitEnd;
use scalepool_link::cxlio::port::IoPort;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::{FcType, PmOpcode};
use scalepool_protocols::cxl::cxlio::dllp::{Dllp, DllpFc};
use scalepool_protocols::cxl::cxlio::framing::{IDL, frame_dllp, frame_tlp};
use scalepool_protocols::cxl::cxlio::tlp::{Begin, Front, UnknownSize};
use scalepool_protocols::cxl::cxlio::vdm::Pm;

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("io_68", || Some(Box::new(Io68(NonFlitEnd::new(IoConfig::default(), ReplayConfig::default()).ok()?, 0)))),
    ("io_credits", || Some(Box::new(Credits { flow: FlowControl::new(&IoConfig::default()), now: 0 }))),
    ("pbr_link", || Some(Box::new(PbrLink))),
    ("power", || Some(Box::new(Power::new(PmSide::Device)))),
    ("power_host", || Some(Box::new(Power::new(PmSide::Host)))),
];

/// Credits of the peer of an agent.
const PEER_CREDITS: u128 = 4;
/// A message of a vendor without data.
const MESSAGE: [u8; 16] = [0x34, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0];
/// First byte of a local prefix with an ID.
const PREFIX: u8 = 0x8e;

fn number(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    scalepool_forms::number::bytes_of(text, "bytes").ok()
}

/// An end, and the flit clock.
struct Io68(NonFlitEnd, u64);

impl CaseWatcher for Io68 {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let framed = |sequence: &str, tlp: &[u8]| {
            let (token, lcrc) = frame_tlp(u16::try_from(number(sequence)?).ok()?, tlp)?;
            Some([&token, tlp, &lcrc].concat())
        };
        let inverted = |mut bytes: Vec<u8>| {
            bytes.last_mut().into_iter().for_each(|last| *last = !*last);
            bytes
        };
        let dllp = |text: &str| Some(frame_dllp(Dllp(bytes(text)?.try_into().ok()?)).to_vec());
        let (stream, said) = match words {
            ["tlp", sequence] => (framed(sequence, &MESSAGE)?, format!("TLP {sequence}")),
            ["spoilt", sequence] => {
                (inverted(framed(sequence, &MESSAGE)?), format!("TLP {sequence} with another last byte of its LCRC"))
            }
            ["prefixed", sequence, id] => {
                let id = number(id)?.to_le_bytes();
                let tlp = [&[PREFIX, id[1], id[0], 0][..], &MESSAGE].concat();
                (framed(sequence, &tlp)?, format!("TLP {sequence} with a local prefix {PREFIX:02x}"))
            }
            ["dllp", text] => (dllp(text)?, format!("DLLP {text}")),
            ["spoilt_dllp", text] => {
                (inverted(dllp(text)?), format!("DLLP {text} with another last byte of its CRC-16"))
            }
            ["bytes", text] => (bytes(text)?, format!("bytes {text}, then IDL")),
            _ => return None,
        };
        let mut payload = [IDL; PAYLOAD_BYTES];
        payload.get_mut(..stream.len())?.copy_from_slice(&stream);
        self.1 += 1;
        self.0.receive(&Cxl68Unit::plain(pid::IO, &payload), self.1);
        let found = self.0.take_io_events().into_iter().map(|event| event.violation).next();
        LineOutcome::judged(said, self.1, found)
    }
}

/// Flow control, and the flit clock.
struct Credits {
    flow: FlowControl,
    now: u64,
}

impl CaseWatcher for Credits {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let (types, said) = match words {
            ["init", "1"] => ([FcType::InitFc1P, FcType::InitFc1Np, FcType::InitFc1Cpl], "InitFC1 of each kind"),
            ["init", "2"] => ([FcType::InitFc2P, FcType::InitFc2Np, FcType::InitFc2Cpl], "InitFC2 of each kind"),
            ["update"] => ([FcType::UpdateFcP, FcType::UpdateFcNp, FcType::UpdateFcCpl], "UpdateFC of each kind"),
            ["wait", flits] => {
                self.now += number(flits)?;
                let said = format!("{flits} flits pass without a DLLP");
                return LineOutcome::judged(said, self.now, self.flow.silence(self.now));
            }
            _ => return None,
        };
        self.now += 1;
        let receive = |fc_type| {
            let dllp = DllpFc { fc_type, hdr_fc: 8, data_fc: 64, hdr_scale: 1, data_scale: 1, ..DllpFc::default() };
            self.flow.receive(&dllp, self.now)
        };
        let found = types.map(receive).into_iter().flatten().next();
        LineOutcome::judged(said, self.now, found)
    }
}

/// A receiver behind a port with port based routing.
struct PbrLink;

impl CaseWatcher for PbrLink {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [text] = words else { return None };
        let tlp = bytes(text)?;
        let mut front = Front::default();
        for (n, dw) in tlp.chunks_exact(DW_BYTES).enumerate() {
            match front.next(dw.try_into().ok()?, true) {
                Begin::More(next) => front = next,
                Begin::Nop | Begin::Header(_) => break,
                Begin::Unknown(unknown @ UnknownSize::NoPth) => {
                    return LineOutcome::judged(format!("TLP {text}"), n as u64, Some(unknown.violation(0, &tlp)));
                }
                Begin::Unknown(unknown) => {
                    let found = unknown.violation(DW_BYTES * n, &tlp[DW_BYTES * n..]);
                    return LineOutcome::judged(format!("TLP {text}"), n as u64, Some(found));
                }
            }
        }
        LineOutcome::judged(format!("TLP {text}"), tlp.len() as u64, None)
    }
}

/// An agent of power management, and a time that goes on by one a line.
struct Power {
    agent: PmAgent,
    config: PmConfig,
    now: u64,
}

impl Power {
    fn new(side: PmSide) -> Power {
        let config = PmConfig::new(side);
        Power { agent: PmAgent::new(config), config, now: 0 }
    }

    /// A message of the peer, in the frame of one of its own.
    fn gets(&mut self, pm: Pm) -> Option<()> {
        let peer = match self.config.side {
            PmSide::Host => PmSide::Device,
            PmSide::Device => PmSide::Host,
        };
        let frame = PmAgent::new(PmConfig::new(peer)).next_message()?;
        let tlp = Tlp { data: pm.to_bytes().to_vec(), ..frame };
        self.agent.receive(&tlp, self.now).then_some(())
    }
}

/// The opcodes that cases name.
fn opcode(name: &str) -> Option<PmOpcode> {
    Some(match name {
        "AGENT_INFO" => PmOpcode::AgentInfo,
        "RESETPREP" => PmOpcode::ResetPrep,
        "PMREQ" => PmOpcode::PmReq,
        "GPF" => PmOpcode::Gpf,
        "CREDIT_RTN" => PmOpcode::CreditRtn,
        code => PmOpcode(u8::try_from(number(code)?).ok()?),
    })
}

impl CaseWatcher for Power {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        self.now += 1;
        let said = match words {
            ["gets", name, parameter, payload] => {
                let (parameter, payload) = (u16::try_from(number(parameter)?).ok()?, number(payload)?.into());
                self.gets(Pm { opcode: opcode(name)?, agent: 0, parameter, payload })?;
                format!("{name} comes, parameter {parameter}, payload {payload:#x}")
            }
            ["ready"] => {
                self.agent.next_message()?;
                self.gets(Pm { opcode: PmOpcode::CreditRtn, agent: 0, parameter: 0, payload: PEER_CREDITS })?;
                self.gets(Pm { opcode: PmOpcode::AgentInfo, agent: 0, parameter: 0, payload: 3 })?;
                while self.agent.next_message().is_some() {}
                "both ends have given credits and said who they are".to_owned()
            }
            ["says"] => {
                let pm = Pm::from_bytes(self.agent.next_message()?.data[..].try_into().ok()?);
                format!("{:?} leaves, parameter {}, payload {:#x}", pm.opcode, pm.parameter, pm.payload)
            }
            ["asks", what] => {
                self.agent.ask(
                    match *what {
                        "reset" => PmRequest::ResetPrep(ResetKind::Reset),
                        "flush" => PmRequest::Flush,
                        _ => return None,
                    },
                    self.now,
                );
                format!("a {what} is asked for")
            }
            ["cache"] => {
                self.agent.saw_cache_request();
                "a request of CXL.cache comes".to_owned()
            }
            ["late"] => {
                self.now += self.config.timeout;
                self.agent.expire(self.now);
                "the time-out passes".to_owned()
            }
            _ => return None,
        };
        let found = self.agent.take_events().into_iter().find_map(|event| match event {
            EndpointEvent::Rule(violation) => Some(Found::Violation(violation)),
            _ => None,
        });
        Some(LineOutcome { said, value: self.now, found })
    }
}
