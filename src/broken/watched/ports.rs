//! Watchers of ports and of what is inside a switch.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `ports` | `bound VCS VPPB PORT LD` and `unbound ..`, `step PORT VCS VPPB STEP`, `sent PORT`, `passed PORT`, `settle`; `-` is nobody. Port 0 belongs to the manager, port 1 is bound to vPPB 1 of VCS 0, port 2 has logical devices 0 and 1 of vPPBs 2 of both hierarchies |
//! | `credits` | of a queue with 4 places over a link with 2 credits: `comes LD`, `leaves LD`, `returned LD`, `above COUNT`, the credits that the link above got back |
//! | `cut_through` | `comes good` or `bad`, `comes last-good` or `last-bad`, `leaves ..` |
//! | `room` | of one input, output and class with 2 places: `take`, `back`, `rest` |
//! | `reserved` | `CLASS FROM TO CAME LEFT`, forms being `cxl68`, `hbr` or `pbr`, and headers with their reserved bits |
//! | `manager` | `io`, `mem` or `cache`, and `bound` or `free` |
//! | `modes` | `PORT VCS MODE`, mode being `cxl`, `rcd` or `pcie` |
//! | `root_port` | `timeout`, `down`, `clear OPEN` |
//! | `timeouts` | `capability RANGES`, `control CODE RANGES` |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_fabric::cxl_switch::hot_plug::PortStep;
use scalepool_fabric::cxl_switch::plug_watch::PlugWatch;
use scalepool_fabric::cxl_switch::{
    Bindings, CutThrough, DspMode, DspModes, HopCredits, ManagerEvent, MessagePart, PlugStep, RoomLedger, VppbBinding,
    judge_reserved,
};
use scalepool_nodes::cxl::isolation::{IsolationControl, RootPortIsolation};
use scalepool_nodes::cxl::isolation_registers::{capability_register, control_register};
use scalepool_nodes::io::switch::manager::{PortProtocol, judge_manager};
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::isolation::{TimeoutCode, TimeoutIsolationCapability, TimeoutIsolationControl};
use scalepool_protocols::cxl::message::{Class, MessageForm};

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("ports", || Some(Box::new(PluggedPorts::new()?))),
    ("credits", || Some(Box::new(HopCredits::new(4, 2, &[0; 2]).ok()?))),
    ("cut_through", || Some(Box::new(CutThrough::default()))),
    ("room", || Some(Box::new(RoomLedger::new(1, 1, 1, 2)))),
    ("reserved", || Some(Box::new(Reserved))),
    ("manager", || Some(Box::new(ManagerPort))),
    ("modes", || Some(Box::new(PortModes::default()))),
    ("root_port", || {
        let control = IsolationControl { on_timeout: true, on_link_down: false };
        Some(Box::new(RootPortIsolation::new(control)))
    }),
    ("timeouts", || Some(Box::new(Timeouts))),
];

fn number(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

fn small(text: &str) -> Option<u8> {
    number(text).and_then(|value| u8::try_from(value).ok())
}

/// Downstream ports that come and go.
struct PluggedPorts(PlugWatch);

impl PluggedPorts {
    fn new() -> Option<PluggedPorts> {
        let mut bindings = Bindings::new(2, 3, 3);
        for (vcs, vppb, port, ld) in [(0, 1, 1, None), (0, 2, 2, Some(0)), (1, 2, 2, Some(1))] {
            bindings.bind(VppbBinding { vcs, vppb, port, ld }).ok()?;
        }
        Some(PluggedPorts(PlugWatch::new(&bindings, &OrderedSet::from([2]), 100)))
    }
}

/// The steps that a case names, without the `plug_` of traces.
fn port_step(name: &str, vppb: Option<(usize, usize)>) -> Option<PortStep> {
    let all = [
        PortStep::Mapped(vppb.unwrap_or_default()),
        PortStep::LinesMoved,
        PortStep::LinkDisabled,
        PortStep::FunctionsMoved,
        PortStep::ManagerBridgeGone,
        PortStep::PresenceSeen,
        PortStep::HotPlugEvent,
        PortStep::LinkReleased,
        PortStep::LinkUp,
        PortStep::LinkDownSeen,
        PortStep::AbsenceSeen,
        PortStep::ManagerOwned,
        PortStep::LinkUpSeen,
    ];
    all.into_iter().find(|step| step.name().strip_prefix("plug_") == Some(name))
}

impl CaseWatcher for PluggedPorts {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let parse = |word: &str| word.parse::<usize>().ok();
        let binding = |[vcs, vppb, port, ld]: [&str; 4]| {
            Some(VppbBinding { vcs: parse(vcs)?, vppb: parse(vppb)?, port: parse(port)?, ld: ld.parse().ok() })
        };
        let of_ld = |ld: Option<u8>| ld.map_or(String::new(), |ld| format!(", logical device {ld}"));
        let (said, value) = match words {
            &["bound", vcs, vppb, port, ld] => {
                let one = binding([vcs, vppb, port, ld])?;
                self.0.event(&ManagerEvent::Bound(one));
                (format!("vPPB {vppb} of VCS {vcs} is bound to port {port}{}", of_ld(one.ld)), one.port as u64)
            }
            &["unbound", vcs, vppb, port, ld] => {
                let one = binding([vcs, vppb, port, ld])?;
                self.0.event(&ManagerEvent::Unbound(one, 0));
                (format!("vPPB {vppb} of VCS {vcs} is unbound from port {port}{}", of_ld(one.ld)), one.port as u64)
            }
            ["step", port, vcs, vppb, name] => {
                let vppb = parse(vcs).zip(parse(vppb));
                let (port, step) = (parse(port)?, port_step(name, vppb)?);
                self.0.step(PlugStep { port, vppb, step });
                let who = vppb.map_or("the manager".to_owned(), |(vcs, vppb)| format!("vPPB {vppb} of VCS {vcs}"));
                (format!("port {port}, {who}: {}", name.replace('_', " ")), port as u64)
            }
            ["sent", port] => {
                self.0.sent(parse(port)?);
                (format!("a message leaves at port {port}"), parse(port)? as u64)
            }
            ["passed", port] => {
                self.0.passed(parse(port)?);
                (format!("a message that came at port {port} leaves for its host"), parse(port)? as u64)
            }
            ["settle"] => ("everything has been done that was due".to_owned(), 0),
            _ => return None,
        };
        let found = if words == ["settle"] { self.0.settle(0) } else { self.0.take() };
        LineOutcome::judged(said, value, found.into_iter().next())
    }
}

impl CaseWatcher for HopCredits {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [word, count] = words else { return None };
        let ld = small(count)?;
        match *word {
            "comes" => {
                LineOutcome::tried(format!("a message for logical device {ld} comes"), ld.into(), self.comes(ld))
            }
            "leaves" => {
                LineOutcome::tried(format!("a message for logical device {ld} leaves"), ld.into(), self.leaves(ld))
            }
            "returned" => LineOutcome::tried(
                format!("the link below returns the credit of logical device {ld}"),
                ld.into(),
                self.returned(ld),
            ),
            "above" => {
                let said = format!("the link above has got {count} credits back");
                LineOutcome::judged(said, ld.into(), self.judge(ld.into()))
            }
            _ => None,
        }
    }
}

impl CaseWatcher for CutThrough {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [way, part] = words else { return None };
        let is_last = part.starts_with("last-");
        let is_bad = match part.strip_prefix("last-").unwrap_or(part) {
            "good" => false,
            "bad" => true,
            _ => return None,
        };
        let said =
            format!("a {} {}{way}", if is_bad { "bad" } else { "good" }, if is_last { "last part " } else { "part " });
        let one = MessagePart { is_last, is_bad };
        match *way {
            "comes" => {
                self.comes(one);
                LineOutcome::judged(said, is_bad.into(), None)
            }
            "leaves" => LineOutcome::judged(said, is_bad.into(), self.leaves(one)),
            _ => None,
        }
    }
}

impl CaseWatcher for RoomLedger {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        match words {
            ["take"] => LineOutcome::judged("a message takes a place of the queue", 1, self.take((0, 0, 0))),
            ["back"] => LineOutcome::judged("a place of the queue is given back", 0, self.give_back((0, 0, 0))),
            ["rest"] => LineOutcome::judged("nothing is in the switch", 0, self.astray().into_iter().next()),
            _ => None,
        }
    }
}

struct Reserved;

impl CaseWatcher for Reserved {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [class, from, to, came, left] = words else { return None };
        let class = Class::ALL.into_iter().find(|one| one.name().replace(' ', "_").to_lowercase() == *class)?;
        let form = |name: &str| {
            Some(match name {
                "cxl68" => MessageForm::Cxl68,
                "hbr" => MessageForm::Hbr,
                "pbr" => MessageForm::Pbr,
                _ => return None,
            })
        };
        let bits = |text: &str| scalepool_forms::number::parse(text);
        let said = format!("a {} with header {came} leaves with {left}", class.name());
        let found = judge_reserved(class, [form(from)?, form(to)?], [bits(came)?, bits(left)?]);
        LineOutcome::judged(said, bits(left)? as u64, found)
    }
}

struct ManagerPort;

impl CaseWatcher for ManagerPort {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [protocol, state] = words else { return None };
        let of = match *protocol {
            "io" => PortProtocol::Io,
            "mem" => PortProtocol::Mem,
            "cache" => PortProtocol::Cache,
            _ => return None,
        };
        let said = format!("the manager sends CXL.{protocol} to a port that is {state}");
        LineOutcome::judged(said, (*state == "bound").into(), judge_manager(of, *state == "bound"))
    }
}

#[derive(Default)]
struct PortModes {
    modes: DspModes,
    bound: Vec<VppbBinding>,
}

impl CaseWatcher for PortModes {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [port, vcs, mode] = words else { return None };
        let (port, vcs) = (port.parse().ok()?, vcs.parse().ok()?);
        self.modes.set(
            port,
            match *mode {
                "cxl" => DspMode::Cxl,
                "rcd" => DspMode::Rcd,
                "pcie" => DspMode::Pcie,
                _ => return None,
            },
        );
        self.bound.push(VppbBinding { vcs, vppb: self.bound.len(), port, ld: None });
        let of = if *mode == "rcd" { " with a device of CXL 1.1" } else { "" };
        LineOutcome::tried(format!("dsp[{port}] of VCS {vcs} comes up{of}"), port as u64, self.modes.check(&self.bound))
    }
}

impl CaseWatcher for RootPortIsolation {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let said = |port: &RootPortIsolation, what: &str| {
            format!("{what}: {}", if port.is_isolated() { "isolated" } else { "in use" })
        };
        match words {
            ["timeout"] => {
                self.timed_out();
                LineOutcome::judged(said(self, "a request times out"), 1, None)
            }
            ["down"] => {
                self.link_down();
                LineOutcome::judged(said(self, "the link goes down"), 2, None)
            }
            ["clear", open] => {
                let cleared = self.clear(open.parse().ok()?);
                LineOutcome::tried(format!("software clears the status with {open} requests open"), 0, cleared)
            }
            _ => None,
        }
    }
}

struct Timeouts;

impl CaseWatcher for Timeouts {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        match words {
            ["capability", ranges] => {
                let mem_ranges = small(ranges)?;
                let capability = TimeoutIsolationCapability { mem_ranges, ..Default::default() };
                let said = format!("a port has the set {ranges} of ranges");
                LineOutcome::tried(said, mem_ranges.into(), capability_register(capability))
            }
            ["control", code, ranges] => {
                let capability = TimeoutIsolationCapability { mem_ranges: small(ranges)?, ..Default::default() };
                let mem_timeout = TimeoutCode(small(code)?);
                let control = TimeoutIsolationControl { mem_timeout, ..Default::default() };
                let said = format!("code {code} is written at a port with the set {ranges} of ranges");
                LineOutcome::tried(said, mem_timeout.0.into(), control_register(control, capability))
            }
            _ => None,
        }
    }
}
