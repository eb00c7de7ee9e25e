//! `cxl.switch.hbr` and `cxl.switch.pbr`: CXL switches, see [`scalepool_fabric::cxl_switch`]; `cxl.switch.io` and `cxl.switch.io-pbr`, what passes CXL.io.
//!
//! Modelled: what both have, their stages, queues and counters, and how a switch becomes a module; the rest is in a file for
//! each. A walk: the settings of the hardware become cycles of the clock of the switch; the ports get their links and their
//! signals; the kind says how messages are routed and what it counts beside.

pub mod hbr;
pub mod io;
mod io_commands;
mod io_node;
pub mod io_pbr;
mod mem_beside;
pub mod pbr;

use super::{arbiter, cxl_links, published};
use crate::channels::{ChannelWait, Reach};
use crate::field::{FieldRange, config};
use crate::kind::{ComponentNode, ComponentPlug, ConfigFinding, Site, SitePort};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_arbiter::{ALLOCATOR_NAMES, ARBITER_NAMES, AllocatorKind, RoundRobin, Separable, WeightedRoundRobin};
use scalepool_fabric::cxl_switch::module::SWITCH_CLASSES;
use scalepool_fabric::cxl_switch::{
    SWITCH_STAGES, SwitchConfig, SwitchPreset, SwitchResult, SwitchTraffic, Switching, Undelivered,
};
use scalepool_kernel::{BuildError, Clock, ClockId, PartitionBuilder};
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_protocols::cxl::message::{Class, MessageForm};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex};

metrics! {
    /// What a switch counts, whatever routes its messages.
    static SWITCHED {
        REQS = "switched M2S Req" ["messages"] Sum, "requests without data that were passed on";
        RWDS = "switched M2S RwD" ["messages"] Sum, "requests with data that were passed on";
        NDRS = "switched S2M NDR" ["messages"] Sum, "answers without data that were passed on";
        DRSS = "switched S2M DRS" ["messages"] Sum, "answers with data that were passed on";
        ANSWERS = "switch answers" ["messages"] Sum, "answers of the switch to requests that reach nothing";
        NOT_DECODED = "not decoded" ["messages"] Sum, "requests whose address no decoder holds (fabric CMR-4)";
        UNKNOWN_LD = "unknown LD-ID" ["messages"] Sum, "answers with an LD-ID that is not bound, which are dropped (fabric MLD-5)";
        OTHER_CLASS = "other classes" ["messages"] Sum, "messages of classes that the port has not negotiated, which are dropped (fabric ERR-4)";
        FULL = "switch queue full" ["cycles"] Sum, "cycles for which the first message of a class waited at a port because its queue was full";
    }
}

metrics! {
    /// What a switch counts of back-invalidates and of CXL.cache.
    static COHERENT {
        BISNPS = "switched S2M BISnp" ["messages"] Sum, "back-invalidate snoops that were passed on";
        BIRSPS = "switched M2S BIRsp" ["messages"] Sum, "answers to back-invalidate snoops that were passed on";
        D2H_REQS = "switched D2H Req" ["messages"] Sum, "requests of caching devices that were passed on";
        D2H_RSPS = "switched D2H Rsp" ["messages"] Sum, "answers of caching devices to snoops that were passed on";
        D2H_DATA = "switched D2H Data" ["messages"] Sum, "data of caching devices that were passed on";
        H2D_REQS = "switched H2D Req" ["messages"] Sum, "snoops of hosts that were passed on";
        H2D_RSPS = "switched H2D Rsp" ["messages"] Sum, "answers of hosts to caching devices that were passed on";
        H2D_DATA = "switched H2D Data" ["messages"] Sum, "data of hosts for caching devices that were passed on";
    }
}

config! {
    /// Latencies of the stages of a switch.
    pub struct Pipeline {
        ingress: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "from the link end into the buffer of the input";
        decode: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "decoder, vPPB and binding of a request, or port and LD-ID of an answer; with port based routing the routing table too";
        crossbar: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "from the grant to the buffer of the output";
        egress: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "from there to the link end";
    }
}

config! {
    /// What a switch has, whatever routes its messages. Numbers without another source are of the model (basis: model).
    pub struct Hardware {
        pipeline: Pipeline = "" [Unit::Of("-")] in FieldRange::Table(Pipeline::fields), "latencies of the stages one by one, rounded up to cycles";
        queue: usize = "64" [Unit::Of("messages")] in FieldRange::Int(1, 1 << 16), "messages that wait for one output, of each input and class";
        output_queue: usize = "256" [Unit::Of("messages")] in FieldRange::Int(1, 1 << 16), "messages of each class that an output holds, those in the stages behind the grant included";
        width: u64 = "128 B" [Unit::Bytes] in FieldRange::Int(16, 4096), "bytes that a port moves in a cycle, each way";
        speedup: u64 = "1" [Unit::Of("-")] in FieldRange::Int(1, 8), "bytes that the crossbar moves for each byte of a port";
        allocator: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ALLOCATOR_NAMES), "which inputs send to which outputs (fabric §6.1); not given = separable-output-first";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "which class an output takes (fabric §6.2); not given = round-robin";
        class_weights: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("CLASS:WEIGHT such as `S2M DRS:4`"), "shares of an output that classes get while all of them wait for it, with arbiter = \"weighted-round-robin\"; a class that is not given has weight 1 (fabric §6.2)";
        starved_after: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 50), "age above which a message is a finding, from when it stood first at its port, whether it leaves or not: the class starves, which is named once with its ports (fabric DLK-7); not given = none is";
        poison_on_decode_error: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "poison the data of reads that no decoder holds (fabric §2.1)";
    }
}

/// A time in cycles, rounded up.
fn cycles(clock: Clock, fs: u64) -> u64 {
    let (num, den) = clock.period();
    (u128::from(fs) * u128::from(den)).div_ceil(u128::from(num)) as u64
}

impl Hardware {
    /// Latencies of the stages \[fs\].
    fn stages_fs(&self, preset: &str) -> [u64; SWITCH_STAGES.len()] {
        let Some(preset) = SwitchPreset::by_name(preset) else { unreachable!("a word of the range") };
        let Pipeline { ingress, decode, crossbar, egress } = self.pipeline;
        let given = [ingress, decode, crossbar, egress];
        std::array::from_fn(|n| given[n].unwrap_or(preset.stages_fs[n]))
    }

    /// Latency in front of the grant and from it on \[cycles\].
    fn stages_cycles(&self, preset: &str, clock: Clock) -> [u64; 2] {
        let [ingress, decode, crossbar, egress] = self.stages_fs(preset).map(|fs| cycles(clock, fs));
        [ingress + decode, crossbar + egress]
    }

    /// Latency from port to port \[fs\].
    fn latency_fs(&self, preset: &str, clock: Clock) -> u64 {
        clock.periods_fs(self.stages_cycles(preset, clock).iter().sum())
    }

    fn config(&self, preset: &str, site: &Site<'_>, traffic: SwitchTraffic) -> SwitchConfig {
        let clock = site.clock;
        let named =
            |name: &str| AllocatorKind::by_name(name).unwrap_or_else(|e| unreachable!("a word of the range: {e}"));
        SwitchConfig {
            traffic,
            stages_cycles: self.stages_cycles(preset, clock),
            queue: self.queue,
            output_queue: self.output_queue,
            width_bytes: self.width,
            speedup: self.speedup,
            allocator: self.allocator.as_deref().map_or(&Separable::OUTPUT_FIRST, named),
            arbiter: arbiter(self.arbiter.as_deref(), &RoundRobin::KIND),
            weights: self.weights().0,
            starved_cycles: self.starved_after.map(|fs| cycles(clock, fs)),
            dropped: site.dropped_stores(),
        }
    }

    /// Weights of all classes, and what is wrong with those that are given.
    fn weights(&self) -> ([u16; SWITCH_CLASSES.len()], Vec<ConfigFinding>) {
        let (mut weights, mut wrong) = ([1; SWITCH_CLASSES.len()], Vec::new());
        let mut is_given = [false; SWITCH_CLASSES.len()];
        for (text, _) in &self.class_weights {
            let parts = text.rsplit_once(':');
            let class = parts.and_then(|(name, _)| SWITCH_CLASSES.iter().position(|class| class.name() == name.trim()));
            let weight = parts.and_then(|(_, weight)| weight.trim().parse::<u16>().ok()).filter(|weight| *weight > 0);
            let problem = match (class, weight) {
                (Some(class), Some(weight)) if !is_given[class] => {
                    (is_given[class], weights[class]) = (true, weight);
                    continue;
                }
                (Some(_), Some(_)) => format!("found `{text}`, expected one weight for each class"),
                (Some(_), None) => format!("found `{text}`, expected a weight of 1 to 65535"),
                (None, _) => {
                    let names: Vec<&str> = SWITCH_CLASSES.iter().map(|class| class.name()).collect();
                    format!("found `{text}`, expected CLASS:WEIGHT with one of {}", names.join(", "))
                }
            };
            wrong.push(("class_weights", problem));
        }
        let is_weighted = self.arbiter.as_deref() == Some(WeightedRoundRobin::KIND.name);
        if !self.class_weights.is_empty() && !is_weighted {
            let text =
                "found weights, expected them with arbiter = \"weighted-round-robin\", which alone looks at them";
            wrong.push(("class_weights", text.to_owned()));
        }
        (weights, wrong)
    }
}

/// Links without port based routing, as hosts and devices at a switch have them: all of CXL.mem but one.
fn hbr_links() -> &'static [&'static str] {
    const HBR_LINKS: usize = cxl_links::NAMES.len() - 1;
    &cxl_links::NAMES[..HBR_LINKS]
}

/// Message form of the link at a port.
fn form(port: &SitePort) -> MessageForm {
    port.link.cxl().0
}

/// Why a binding to a logical device, or to a whole port, does not fit a device with so many logical devices, or with none.
pub(crate) fn misfit(path: &str, ld: Option<u8>, logical_devices: Option<u8>) -> Option<String> {
    Some(match (ld, logical_devices) {
        (None, None) => return None,
        (Some(ld), Some(count)) if ld < count => return None,
        (Some(ld), Some(count)) => format!("found LD {ld} at {path}, expected 0 to {}", count - 1),
        (Some(ld), None) => {
            format!("found LD {ld} at {path}, expected none: the device there has no logical devices (fabric BND-7)")
        }
        (None, Some(count)) => {
            format!("found no LD at {path}, expected one of 0 to {}: the device there is shared", count - 1)
        }
    })
}

/// What a switch needs room for to answer what reaches nothing.
fn answered(reach: Reach) -> impl Iterator<Item = ChannelWait> {
    let answered = [
        (Class::M2sReq, Class::S2mNdr),
        (Class::M2sReq, Class::S2mDrs),
        (Class::M2sRwd, Class::S2mNdr),
        (Class::M2sRwd, Class::S2mDrs),
    ];
    answered.into_iter().map(move |(request, answer)| ChannelWait {
        reach: reach.clone(),
        ..ChannelWait::answered(request.name(), answer.name())
    })
}

/// The form in which the messages of a switch appear in traces, what it has counted, and what is wrong with what it has not
/// passed on.
type SwitchReport = (MessageForm, fn(&SwitchResult) -> Vec<MetricValue>, Box<dyn Fn(&SwitchResult) -> Vec<Violation>>);

/// A switch that is not placed yet.
struct SwitchModule<S> {
    name: String,
    switching: S,
    config: SwitchConfig,
    /// Of each port the form of its messages, the number of its link, and its signals.
    links: Vec<(MessageForm, u32, Tap)>,
    tap: Tap,
    result: Arc<Mutex<SwitchResult>>,
}

impl<S: Switching> SwitchModule<S> {
    /// A switch with links of these forms, which appear as `shown` in traces; `signals` are those of its ports in waves.
    fn new(
        name: String,
        switching: S,
        (config, signals): (SwitchConfig, &'static [(&'static str, u32)]),
        (shown, forms): (MessageForm, Vec<MessageForm>),
        site: &Site<'_>,
        hub: &mut Hub,
    ) -> SwitchModule<S> {
        // A switch without coherent traffic shows the messages that its hosts do.
        let layouts = match config.traffic {
            SwitchTraffic::Mem => scalepool_nodes::cxl::transaction_layouts(shown),
            _ => shown.layouts(),
        };
        let tap = hub.tap(&name, PlaceKind::Messages(layouts));
        let links = site.ports.iter().zip(forms);
        let links =
            links.map(|(port, form)| (form, port.number, hub.tap(&port.path, PlaceKind::Values(signals)))).collect();
        SwitchModule { name, switching, config, links, tap, result: Arc::default() }
    }

    /// Puts it between the ends of its links.
    fn place(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        ends: impl Iterator<Item = NodeEnds>,
    ) -> Result<(), BuildError> {
        let SwitchModule { name, switching, config, links, tap, result } = self;
        p.module(&name, clock, |bind| {
            let links = ends
                .zip(links)
                .map(|(end, (form, number, signals))| (end.attach(bind, Vec::new(), form, (0, number)), signals));
            let links = links.collect();
            switching
                .module(config, links, tap, result)
                .unwrap_or_else(|e| unreachable!("fewer ports than an allocator can have: {e}"))
        })
    }
}

/// What a switch at a place has counted, with what is wrong beside what it has said itself.
fn measured(place: &str, result: &SwitchResult, counts: Vec<MetricValue>, broken: Vec<Violation>) -> ComponentMeasured {
    let placed = |violation| PlacedViolation { place: place.to_owned(), violation };
    ComponentMeasured {
        counts,
        broken: result.broken.iter().cloned().chain(broken).map(placed).collect(),
        astray: result.astray.iter().cloned().map(placed).collect(),
        ..ComponentMeasured::default()
    }
}

/// A switch as a component; `signals` are those of its ports in waves.
fn node<S: Switching>(
    switching: S,
    (config, signals): (SwitchConfig, &'static [(&'static str, u32)]),
    (shown, counts, watchdog): SwitchReport,
    site: &Site<'_>,
    hub: &mut Hub,
) -> ComponentNode {
    let forms = site.ports.iter().map(form).collect();
    let place = site.path.to_owned();
    let module = SwitchModule::new(place.clone(), switching, (config, signals), (shown, forms), site, hub);
    let result = module.result.clone();
    ComponentNode {
        place: Box::new(move |p, clock, plugs| module.place(p, clock, plugs.into_iter().map(ComponentPlug::coherent))),
        measure: Box::new(move || {
            let result = published(&result);
            measured(&place, &result, counts(&result), watchdog(&result))
        }),
        digest: Vec::new(),
        ledger: None,
    }
}

/// Counts of [`SWITCHED`], in its order.
fn switched(result: &SwitchResult) -> [MetricValue; 9] {
    let own: u64 = result.ports.iter().flat_map(|port| port.own).sum();
    let switched = |class: usize| result.ports.iter().map(|port| port.sent[class] - port.own[class]).sum();
    let undelivered = |why| result.undelivered.get(&why).copied().unwrap_or(0);
    [
        (&REQS, switched(0)),
        (&RWDS, switched(1)),
        (&NDRS, switched(2)),
        (&DRSS, switched(3)),
        (&ANSWERS, own),
        (&NOT_DECODED, undelivered(Undelivered::NotDecoded)),
        (&UNKNOWN_LD, undelivered(Undelivered::UnknownLd)),
        (&OTHER_CLASS, undelivered(Undelivered::Class)),
        (&FULL, result.full_cycles),
    ]
}

/// Counts of [`COHERENT`], in its order but for snoops of hosts, which stand behind what they follow.
fn coherent(result: &SwitchResult) -> [MetricValue; 8] {
    let passed = |class: usize| result.ports.iter().map(|port| port.sent[class] - port.own[class]).sum();
    [
        (&BISNPS, passed(4)),
        (&BIRSPS, passed(5)),
        (&D2H_REQS, passed(6)),
        (&D2H_RSPS, passed(7)),
        (&D2H_DATA, passed(8)),
        (&H2D_RSPS, passed(9)),
        (&H2D_DATA, passed(10)),
        (&H2D_REQS, passed(11)),
    ]
}
