//! `ualink`: a UALink with DL flits of 640 bytes, see [`scalepool_link::ualink`].
//!
//! Between two accelerators the first of them opens the channels; between an accelerator and a switch the accelerator does.

use super::cable::Cable;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, Clocks, ComponentPlug, ConfigFinding, ExternalComponent, Link, LinkEndSite, LinkFacts,
    LinkKind, LinkSite, PortRole, UnitsInFlight, link,
};
use crate::measured::{Ending, LinkMeasured};
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::{BuildError, Clock, PartitionBuilder, Simulation, Time};
use scalepool_link::coverage::Met;
use scalepool_link::external::Feed;
use scalepool_link::fault::Fault;
use scalepool_link::port::PortResult;
use scalepool_link::sim_port::SimPort;
use scalepool_link::ualink::EndConfig;
use scalepool_link::ualink::line::{INTERLEAVES, LaneRate, UalLine, UalWidth};
use scalepool_link::ualink::replay::ReplayConfig;
use scalepool_link::ualink::security::Protection;
use scalepool_link::ualink::tl::port::UalReport;
use scalepool_link::ualink::tl::{TlConfig, TlCreditCounts};
use scalepool_link::ualink::wiring::{Socket, SocketKind, wires};
use scalepool_nodes::PlacedViolation;
use scalepool_protocols::ualink::code::DeviceType;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::FLIT_BYTES;
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: LinkKind = LinkKind {
    name: "ualink",
    about: "UALink with DL flits of 640 bytes, between accelerators and switches",
    fields: UaLink::fields,
    read: link::<UaLink>,
    metrics: &[METRICS],
};

metrics! {
    /// What a link counts.
    static METRICS {
        TL_FLITS = "TL flits" ["TL flits"] Sum, "TL flits sent";
        EMPTY = "empty TL flits" ["TL flits"] Sum, "TL flits without a field";
        DOWNS = "link downs" ["events"] Sum, "times that an end went down";
        DROPPED = "transactions dropped" ["transactions"] Sum, "transactions that an end dropped since the link was down";
    }
}

/// Fields of the transaction layer by type.
const FIELDS: [&LayoutDef; 6] = [TlFc::DEF, TlReq::DEF, TlRsp::DEF, TlCreq::DEF, TlCrspSingle::DEF, TlCrspMulti::DEF];
/// Bytes of a flit under way beside its own: what else the wire keeps of it.
const BESIDE_BYTES: usize = 64;
/// Listed faults.
const FAULTS: &str = "flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the peer's flits";

/// Class of requests. Its virtual channels stand for one another: no transaction changes its channel.
pub(super) const REQUEST: &str = "request";
/// Class of responses. Where data of both classes has one buffer, requests leave a part of it to responses.
pub(super) const RESPONSE: &str = "response";

config! {
    /// A UALink. Numbers without another source are of the model (basis: model).
    pub struct UaLink with { cable: Cable } {
        rate: String = "212.5" [Unit::Of("Gb/s per lane")] in FieldRange::Words(&["106.25", "212.5"]), "line rate (ualink §1)";
        width: u8 = "4" [Unit::Of("lanes")] in FieldRange::OneOf(&[1, 2, 4]), "lanes (ualink §1)";
        interleave: u8 = "4" [Unit::Of("code words")] in FieldRange::OneOf(&INTERLEAVES), "FEC interleave (ualink §13)";
        ber: f64 = "0" [Unit::Of("errors per bit")] in FieldRange::Real(0.0, 0.1), "bit error rate of both directions";
        give_up: u32 = "64" [Unit::Of("tries")] in FieldRange::Int(1, 1 << 20), "replays in a row, without one good payload flit, after which the run ends (SIM-LNK-01); unused flits count as one replay each time that they reach the replay limit";
        fault: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(FAULTS), "faults to inject at numbered flits, counted from 0 in the order sent";
        outage: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 60), "time at which the line of the link's first end, an accelerator, fails; 0 = never";
        outage_length: u64 = "1 us" [Unit::Time] in FieldRange::Int(1, 1 << 50), "length of the outage";
        pipeline: u64 = "50 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "pipeline delay of an accelerator's link end";
        propagation: u64 = "5 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "propagation delay of the wire";
        compression: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "use compressed requests and responses (ualink §10)";
        authentication: String = "off" [Unit::Of("-")] in FieldRange::Words(&["off", "auth", "encrypt"]), "AES-256-GCM over transactions, each with an 8-byte tag: auth = authentication, encrypt = encryption too (ualink §12)";
        order: String = "strict" [Unit::Of("-")] in FieldRange::Words(&["strict", "relaxed"]), "what stays in order: strict = all requests and all responses of a pair and port; relaxed = requests of a channel within 256 bytes (ualink §12)";
        stall_percent: u64 = "0" [Unit::Of("%")] in FieldRange::Int(0, 99), "share of flit clocks in which a port stalls the transactions that it received, for each port and class";
        shared_data_buffer: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "share one receive buffer between request and response data (ualink §11)";
        pool_commands: u16 = "256" [Unit::Of("transactions")] in FieldRange::Int(0, 4096), "receive buffers in the pool of each class";
        pool_data: u16 = "1024" [Unit::Of("beats")] in FieldRange::Int(0, 16384), "data buffers in the pool of each class";
        vc_commands: u16 = "8" [Unit::Of("transactions")] in FieldRange::Int(0, 4096), "receive buffers of each class and virtual channel";
        bits: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["watched", "always"]), "when its flits have bytes: watched (if left out) = where somebody looks at them or a fault may hit them, else transactions, times, credits and counts alone are modelled, with the same results; always = in any run";
        vc_data: u16 = "32" [Unit::Of("beats")] in FieldRange::Int(0, 16384), "data buffers of each class and virtual channel";
    }
}

/// How transactions are spelled, with protection or without.
pub(super) fn codec(protection: Protection) -> UalConfig {
    let (authentication, encryption) = (protection != Protection::Off, protection == Protection::Encrypt);
    UalConfig { authentication, encryption, ..UalConfig::SHEET }
}

/// Time in which a DL message is answered \[fs\] (`ualink` §6).
const ANSWER_FS: u64 = 1_000_000_000;

impl UaLink {
    fn line(&self) -> UalLine {
        UalLine {
            rate: if self.rate == "106.25" { LaneRate::G100 } else { LaneRate::G200 },
            width: match self.width {
                1 => UalWidth::X1,
                2 => UalWidth::X2,
                _ => UalWidth::X4,
            },
            interleave: self.interleave,
        }
    }

    fn protection(&self) -> Protection {
        match self.authentication.as_str() {
            "auth" => Protection::Authenticate,
            "encrypt" => Protection::Encrypt,
            _ => Protection::Off,
        }
    }

    /// When the line of the first end fails, and until when.
    fn outage(&self) -> Option<(Time, Time)> {
        let from = Time::from_fs(self.outage);
        (self.outage > 0).then(|| (from, from.plus_fs(self.outage_length)))
    }

    /// Transaction layer of an accelerator's end.
    fn tl(&self) -> TlConfig {
        let protection = self.protection();
        let (commands, data) = ([self.pool_commands, self.pool_data], [self.vc_commands, self.vc_data]);
        TlConfig {
            codec: codec(protection),
            buffers: TlCreditCounts::even(commands, data),
            shared_data_buffer: self.shared_data_buffer,
            compress_requests: self.compression,
            // The compressed forms lose the source, which names the key where the tag is encrypted.
            compress_responses: self.compression && protection != Protection::Encrypt,
            strict_order: self.order == "strict",
            ..TlConfig::accelerator()
        }
    }

    /// Time from a transmitter to the receiver of the other end \[fs\]: a flit is there when its last byte is, and the last
    /// code word of its group.
    fn way_fs(&self, roles: [PortRole; 2]) -> u64 {
        let accelerators = roles.iter().filter(|&&role| role == PortRole::Node).count() as u64;
        let line = self.line();
        let (num, den) = line.code_word_fs();
        accelerators * self.pipeline
            + self.propagation
            + self.cable.delay_fs()
            + line.interleave_delay_fs()
            + num.div_ceil(den)
    }

    /// Whether its flits need bytes: somebody may look at them, or something may happen to them, or to the link, whose repair
    /// sends them again. A way of a quarter of the watchdog is far below what makes an end leave Up (`ualink` §7).
    fn has_bytes(&self, site: &LinkSite<'_>) -> bool {
        let (num, den) = self.line().code_word_fs();
        let watchdog_fs = u128::from(ReplayConfig::default().watchdog_flits) * u128::from(num) / u128::from(den);
        let is_faulty = self.ber > 0.0 || !self.fault.is_empty() || self.outage > 0;
        let is_long = u128::from(self.way_fs(site.roles)) > watchdog_fs / 4;
        site.is_watched || is_faulty || is_long || self.bits.as_deref() == Some("always")
    }

    fn faults(&self) -> ([Vec<Fault>; 2], Vec<ConfigFinding>) {
        super::faults(&self.fault, FLIT_BYTES, FAULTS)
    }
}

impl Link for UaLink {
    fn facts(&self) -> LinkFacts {
        let (line, strict) = (self.line(), self.order == "strict");
        let (num, den) = line.code_word_fs();
        LinkFacts {
            carried: Carried::Ualink {
                code_word_fs: (num, den),
                lanes: line.width.lanes() as u16,
                strict,
                protection: self.protection(),
            },
            unit_bytes_per_s: FLIT_BYTES as f64 * 1e15 * den as f64 / num as f64,
        }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let (_, mut wrong) = self.faults();
        let own = [("pipeline", self.pipeline), ("propagation", self.propagation)];
        let why = "a DL message is answered within 1 us (UAL-MSG-13)";
        wrong.extend(self.cable.too_long(own, (self.latency_fs(0), ANSWER_FS / 2), why));
        // One transaction of 256 bytes has to fit, and in a shared buffer the one response that requests leave room for.
        let pays = |commands: u16, data: u16| commands > 0 && data >= 4;
        if !pays(self.pool_commands, self.pool_data) && !pays(self.vc_commands, self.vc_data) {
            let text = "found too few buffers, expected pool or channel buffers for a transaction and its 4 beats";
            wrong.push(("pool_data", text.to_owned()));
        }
        if self.protection() != Protection::Off && self.order != "strict" {
            let text = format!(
                "found {}, expected strict order where transactions count: authentication is {}",
                self.order, self.authentication
            );
            wrong.push(("order", text));
        }
        wrong
    }

    fn directions(&self, roles: [PortRole; 2]) -> [&'static str; 2] {
        if roles[1] == PortRole::Switch { ["to switch", "from switch"] } else { ["down", "up"] }
    }

    fn channels(&self, _: [PortRole; 2]) -> [Vec<&'static str>; 2] {
        [vec![REQUEST, RESPONSE], vec![REQUEST, RESPONSE]]
    }

    fn on_wire(&self, roles: [PortRole; 2], _: usize) -> Option<UnitsInFlight> {
        Some(UnitsInFlight {
            key: self.cable.slowest([("pipeline", self.pipeline), ("propagation", self.propagation)]),
            way_fs: self.way_fs(roles),
            unit_time_fs: self.line().code_word_fs(),
            unit_bytes: FLIT_BYTES + BESIDE_BYTES,
        })
    }

    /// A link that nobody answers leaves Up after 40,000 flit times, 1 ms at x1 (`ualink` §7); behind an outage it comes up anew.
    fn settle_fs(&self) -> u64 {
        5_000_000_000_000.max(2 * self.outage_length)
    }

    fn latency_fs(&self, _: usize) -> u64 {
        self.way_fs([PortRole::Node; 2])
    }

    fn ber(&self) -> f64 {
        self.ber
    }

    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        let line = self.line();
        let is_switched = site.roles[1] == PortRole::Switch;
        let names = [format!("{}.down", site.path), format!("{}.up", site.path)];
        let ends = wires(sim, names.each_ref().map(String::as_str), self.way_fs(site.roles))?;
        let (num, den) = line.code_word_fs();
        let flit_clock = Clock::new(num, den, 0)?;
        let kind = SocketKind { ber: self.ber, give_up: self.give_up, stall_percent: self.stall_percent };
        let (mut faults, _) = self.faults();
        let own = site.members.map(|member| member.own);
        let of_end = |n: usize| match (n, is_switched) {
            (1, true) => {
                let TlConfig { role, isolates, .. } = TlConfig::switch_port();
                (EndConfig::switch_port(line, own[0]), TlConfig { role, isolates, ..self.tl() })
            }
            (_, true) => (EndConfig::accelerator(line, own[n]), self.tl()),
            (_, false) => {
                let end = EndConfig::accelerator(line, own[n]);
                let end = EndConfig { peer_type: DeviceType::Accelerator, opens_channels: n == 0, ..end };
                (end, self.tl())
            }
        };
        let (mut sites, mut results) = (Vec::new(), Vec::new());
        let has_bytes = self.has_bytes(site);
        for (n, wires) in ends.into_iter().enumerate() {
            let (end, tl) = of_end(n);
            let of_end = (EndConfig { has_bytes, ..end }, tl);
            let (mut socket, port, result) = Socket::new(site.ports[n], of_end, ["up", "down"][n], kind, wires);
            let port =
                SimPort { feed: (site.external[n] == Some(ExternalComponent::Flits)).then(Feed::default), ..port };
            socket.faults = std::mem::take(&mut faults[n]);
            socket.outage = if n == 0 { self.outage() } else { None };
            results.push((port.clone(), result));
            sites.push(UalLinkEnd { socket, port, clock_name: format!("{}.flit", site.path), flit_clock });
        }
        let Ok([first, second]) = <[UalLinkEnd; 2]>::try_from(sites) else { unreachable!("a link has two ends") };
        let bits = (line.code_word_fs(), 8 * FLIT_BYTES as u64);
        Ok(BuiltLink {
            ends: [Box::new(first), Box::new(second)],
            measure: Box::new(move |ending| measured(&results, bits, ending)),
        })
    }
}

/// One end, bound by the module of its component.
struct UalLinkEnd {
    socket: Socket,
    port: SimPort,
    clock_name: String,
    flit_clock: Clock,
}

impl LinkEndSite for UalLinkEnd {
    fn port(&self) -> SimPort {
        self.port.clone()
    }

    fn tap(&mut self, hub: &mut Hub) {
        self.socket.tap(hub);
    }

    fn place(
        self: Box<Self>,
        p: &mut PartitionBuilder,
        clocks: &mut Clocks,
    ) -> Result<Option<ComponentPlug>, BuildError> {
        let flit = clocks.id(p, &self.clock_name, self.flit_clock)?;
        let UalLinkEnd { socket, port, .. } = *self;
        if let Some(feed) = port.feed {
            p.module(&port.name, flit, |bind| socket.bind_external(bind, feed))?;
            return Ok(None);
        }
        Ok(Some(ComponentPlug::Ualink(Box::new(socket), flit)))
    }
}

fn measured(
    results: &[(SimPort, Arc<Mutex<PortResult<UalReport>>>)],
    (code_word_fs, flit_bits): ((u64, u64), u64),
    ending: &Ending,
) -> LinkMeasured {
    let ports = results.iter().map(|(_, result)| super::published(result)).collect::<Vec<_>>();
    let ends: Vec<UalReport> = ports.iter().map(|port| port.end.clone().unwrap_or_default()).collect();
    let is_driven = |n: usize| results[n].0.feed.is_some();
    let sum = |of: fn(&UalReport) -> u64| ends.iter().map(of).sum::<u64>();
    let field = |n: usize| ends.iter().map(|end| end.tl.fields[n]).sum::<u64>();
    let line_bits = ending.clocks(code_word_fs) * flit_bits;
    let open = |place: &str, found: String, expected: &str, text: &str| PlacedViolation {
        place: place.to_owned(),
        violation: Violation::at_byte("SIM-E2E-03", 0, found, expected, text),
    };
    let (mut broken, mut astray) = (Vec::new(), Vec::new());
    for (n, end) in ends.iter().enumerate() {
        let name = &results[n].0.name;
        broken.extend(super::broken(name, &ports[n].violations));
        if end.link.downs > 0 {
            let found = format!("{} times down, {} transactions dropped", end.link.downs, end.tl.dropped);
            broken.push(open(name, found, "always up", "the link has left Up"));
        }
        let text = "credits or flits are still open at the end of the run";
        // What one end still owes shows at the other one, which is the caller's.
        if is_driven(0) || is_driven(1) {
            continue;
        }
        if end.astray > 0 {
            astray.push(open(name, format!("{} credits spent", end.astray), "all credits returned", text));
        }
        if end.kept > 0 {
            astray.push(open(name, format!("{} flits without Ack", end.kept), "no flit without Ack", text));
        }
    }
    LinkMeasured {
        units: [0, 1].map(|n| ends[n].flits),
        messages: FIELDS.iter().enumerate().map(|(n, def)| (def.name.to_owned(), field(n))).collect(),
        retries: sum(|end| end.replays),
        credit_stalls: sum(|end| end.tl.credit_stalls),
        damaged: ports.iter().map(|port| port.damaged).sum(),
        is_whole: ends.iter().all(|end| end.link.downs == 0),
        times: [0, 1].map(|n| (!is_driven(n)).then(|| ports[n].time.of_line(line_bits))),
        counts: vec![
            (&TL_FLITS, sum(|end| end.tl.flits)),
            (&EMPTY, sum(|end| end.tl.empty_flits)),
            (&DOWNS, sum(|end| end.link.downs)),
            (&DROPPED, sum(|end| end.tl.dropped)),
        ],
        coverage: Vec::new(),
        rows: vec![Met {
            protocol: "ualink",
            group: "field types",
            bins: FIELDS.iter().enumerate().map(|(n, def)| (def.name.to_owned(), field(n))).collect(),
        }],
        health: (0..ports.len())
            .filter(|&n| !is_driven(n))
            .map(|n| (results[n].0.name.clone(), ports[n].health.clone()))
            .collect(),
        broken,
        astray,
        ..LinkMeasured::default()
    }
}
