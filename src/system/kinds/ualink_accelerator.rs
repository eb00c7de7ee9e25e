//! `ualink.accelerator`: an originator and completer of UALink transactions, see [`scalepool_nodes::ualink::accelerator`].
//!
//! Modelled: up to 16 ports, each with the protection that its link asks for, and, where they are on, the UPLIs between the
//! accelerator and its ports, one interface pair for the ports of a station of four lanes. A walk through one transaction:
//! the accelerator hands it to a port, over the UPLI signal by signal if there is one; the port seals it and hands it to
//! the link end.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, NodeError, NodeLedger, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::ualink_link::{REQUEST, RESPONSE, codec};
use crate::kinds::{bridge, memory_behind};
use crate::measured::{ComponentMeasured, NodeTraffic, Offered};
use crate::metric::MetricValue;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::{BuildError, Clock, ClockId, Module, OutEnd, PartitionBuilder, Rng};
use scalepool_link::ualink::security::{Protection, SecurityConfig};
use scalepool_link::ualink::upli::{Ordering, UpliConfig, UpliCreditCounts};
use scalepool_link::ualink::wiring::Socket;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::ualink::accelerator::{
    self, Accelerator, AcceleratorConfig, AcceleratorPortEnds, AcceleratorResult,
};
use scalepool_nodes::ualink::completer::Responses;
use scalepool_nodes::ualink::draws::DrawLogs;
use scalepool_nodes::ualink::guard::Guard;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::port::{self, AcceleratorChannels, Tamper};
use scalepool_nodes::ualink::station::{self, Interfaces, ParityFault, Sides, Station, StationResult};
use scalepool_nodes::ualink::traffic::{Generator, Mix, Pattern, Traffic};
use scalepool_nodes::ualink::{Ends, InEnds, OutEnds, channels};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Hub, Tap};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "ualink.accelerator",
    about: "accelerator that reads, writes and updates the memory of the others; its ports are `port[n]`",
    fields: UalAccelerator::fields,
    read: component::<UalAccelerator>,
    external: &["flits"],
    metrics: &[METRICS, WORDS],
};

metrics! {
    /// What an accelerator counts.
    static METRICS {
        OPERATIONS = "operations" ["operations"] Sum, "operations that are done";
        READS = "reads" ["requests"] Sum, "reads begun";
        WRITES = "writes" ["requests"] Sum, "writes begun";
        ATOMICS = "atomics" ["requests"] Sum, "atomic operations begun";
        DUMMIES = "dummy answers" ["answers"] Sum, "error responses that this side made itself because the peer can no longer answer";
        LATE = "late answers" ["answers"] Sum, "answers to requests that were given up before";
        FAILED = "operations failed" ["requests"] Sum, "operations that a bridge answered with another status than OKAY, where failures = \"counted\"";
        KEY_ROLLS = "key rolls" ["rolls"] Sum, "key rolls begun";
    }
}

metrics! {
    /// Words of UPLIs, in the order of [`StationResult::words`].
    static WORDS {
        UPLI_REQUESTS = "UPLI requests" ["words"] Sum, "words of requests";
        UPLI_DATA = "UPLI data beats" ["beats"] Sum, "beats of data of writes";
        UPLI_READS = "UPLI read response beats" ["beats"] Sum, "beats of read responses";
        UPLI_WRITES = "UPLI write responses" ["words"] Sum, "words of write responses";
    }
}

/// Lanes of a station, whose ports share a UPLI (`ualink` §1).
const STATION_LANES: usize = 4;
/// Bytes of a TL flit.
const TL_FLIT_BYTES: u16 = 64;
/// Parity faults of a UPLI.
const PARITY_FAULTS: &str = "request:N, response:N, data:N, read:N";
/// Bits of received transactions.
const TAMPERED: &str = "TRANSACTION:BIT";

config! {
    /// What an accelerator asks the others for.
    pub struct UalTraffic {
        pattern: String = "all-to-all" [Unit::Of("-")] in FieldRange::Words(&["all-to-all", "ring", "hot-spot", "random"]), "destinations of the operations; hot-spot = accelerator 0";
        mix: String = "mix" [Unit::Of("-")] in FieldRange::Words(&["reads", "writes", "mix", "all"]), "mix = two reads per write; all = any size, with atomics";
        bytes: u16 = "256" [Unit::Bytes] in FieldRange::OneOf(&[64, 128, 192, 256]), "size of an operation, except with mix = \"all\"";
        regions: u64 = "1" [Unit::Of("regions")] in FieldRange::Int(1, 64), "1 MB regions that an accelerator uses in each memory";
        blocks: u64 = "64" [Unit::Of("blocks")] in FieldRange::Int(1, 4096), "blocks of 256 bytes that an accelerator uses in each region";
        operations: u64 = "500" [Unit::Of("operations")] in FieldRange::Int(1, 1 << 24), "number of operations of each accelerator";
        start_cycles: u64 = "2500" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 30), "cycles before the first operation, where the measurement of goodput starts; links come up in about 1 us at x4";
        interval_cycles: u64 = "0" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 30), "cycles from one operation to the next; 0 = unthrottled";
        poison_every: u64 = "0" [Unit::Of("writes")] in FieldRange::Int(0, 1 << 30), "poison one beat in every N writes; 0 = none";
        shared: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["on", "off"]), "on = other components, such as hosts behind a bridge, store to the same bytes, so that what is read is not compared with what was written here; coherent copies are judged all the same; left out, off";
        failures: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["broken", "counted"]), "operations that a bridge answers with another status than OKAY: broken = each breaks a rule; counted = they are counted, and lines of such writes hold what they held before or what was written; left out, broken (bridge §8.1)";
        key_roll_every: u64 = "0" [Unit::Of("operations")] in FieldRange::Int(0, 1 << 30), "operations of an accelerator between two key rolls, of types 1, 2, 3 in turn; 0 = never (ualink §12)";
    }
}

config! {
    /// The UPLIs between an accelerator and its ports.
    pub struct UalUpli {
        model: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "accelerators reach their ports over UPLIs, signal by signal, with a monitor on each (ualink §12)";
        credits: u16 = "32" [Unit::Of("credits")] in FieldRange::Int(4, 1024), "credits of each channel, virtual channel and pool of a UPLI port (ualink §12)";
        fault: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(PARITY_FAULTS), "parity errors to inject in the Nth word, counted from 0, on the first UPLI of the accelerator: control parity of requests and responses, data parity of data and reads";
    }
}

config! {
    /// An accelerator. Numbers without another source are of the model (basis: model).
    pub struct UalAccelerator {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "links of the accelerator (ualink §1)";
        outstanding: usize = "1024" [Unit::Of("operations")] in FieldRange::Int(1, 1 << 16), "operations that each accelerator can have outstanding";
        vcs: u8 = "1" [Unit::Of("channels")] in FieldRange::Int(1, 4), "virtual channels that an accelerator uses";
        latency_cycles: u64 = "100" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in a memory";
        queue: usize = "512" [Unit::Of("responses")] in FieldRange::Int(4, 1 << 20), "responses that a completer can queue for a port";
        responses: String = "multi" [Unit::Of("-")] in FieldRange::Words(&["multi", "single"]), "multi = a read response carries all beats; single = one beat each (ualink §12)";
        timeout: u64 = "2 ms" [Unit::Time] in FieldRange::Int(1, 1 << 50), "response time-out, after which the port is isolated (ualink §12)";
        tamper: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(TAMPERED), "bits to flip above the data link layer of the first port; transactions are counted from 0 in the order received, bits through field, data, byte enables and tag, from the first again behind the last";
        upli: UalUpli = "" [Unit::Of("-")] in FieldRange::Table(UalUpli::fields), "what stands between the accelerator and its ports";
        traffic: UalTraffic = "" [Unit::Of("-")] in FieldRange::Table(UalTraffic::fields), "what it asks for";
    }
}

/// Protection of the transactions of a port.
pub(super) fn protection(port: &SitePort) -> Protection {
    match port.link.carried {
        Carried::Ualink { protection, .. } => protection,
        _ => unreachable!("a port takes the links that it declares"),
    }
}

/// Lanes of the link at a port.
fn lanes(port: &SitePort) -> usize {
    match port.link.carried {
        Carried::Ualink { lanes, .. } => lanes.into(),
        _ => unreachable!("a port takes the links that it declares"),
    }
}

/// Reads the texts of a list; with what was read, the findings about those that are wrong.
fn parsed<T>(
    key: &'static str,
    list: &[(String, TextPlace)],
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> (Vec<T>, Vec<ConfigFinding>) {
    let (mut good, mut wrong) = (Vec::new(), Vec::new());
    for (text, _) in list {
        match parse(text) {
            Some(value) => good.push(value),
            None => wrong.push((key, format!("found `{text}`, expected {expected}"))),
        }
    }
    (good, wrong)
}

impl UalUpli {
    fn faults(&self) -> (Vec<ParityFault>, Vec<ConfigFinding>) {
        parsed("upli.fault", &self.fault, PARITY_FAULTS, station::parse)
    }
}

impl UalTraffic {
    fn of(&self, own: u16, accelerators: u16) -> Traffic {
        Traffic {
            own,
            accelerators,
            pattern: match self.pattern.as_str() {
                "ring" => Pattern::Ring,
                "hot-spot" => Pattern::HotSpot,
                "random" => Pattern::Random,
                _ => Pattern::AllToAll,
            },
            mix: match self.mix.as_str() {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                "mix" => Mix::TwoToOne,
                _ => Mix::All,
            },
            bytes: self.bytes,
            regions: self.regions,
            blocks: self.blocks,
            count: self.operations,
            key_roll_every: self.key_roll_every,
        }
    }
}

impl UalAccelerator {
    /// Bits that flip in received transactions: transaction and bit.
    fn flips(&self) -> (Vec<(u64, u32)>, Vec<ConfigFinding>) {
        parsed("tamper", &self.tamper, TAMPERED, port::parse)
    }

    /// TL flits that it wants to send, a cycle of its clock.
    fn offered(&self, site: &Site<'_>) -> f64 {
        let (num, den) = site.clock.period();
        match self.traffic.interval_cycles {
            // The line of a port takes one a cycle at x4 and 1562.5 MHz (`ualink` §1).
            0 => {
                let bytes_per_s: f64 = site.ports.iter().map(|port| port.link.unit_bytes_per_s).sum();
                bytes_per_s * num as f64 / den as f64 / 1e15 / f64::from(TL_FLIT_BYTES)
            }
            interval => f64::from(self.traffic.bytes / TL_FLIT_BYTES) / interval as f64,
        }
    }

    /// Stations whose ports are reached over UPLIs; none where these are left out.
    fn stations(&self, site: &Site<'_>, hub: &mut Hub) -> Result<Vec<StationParts>, NodeError> {
        if !self.upli.model {
            return Ok(Vec::new());
        }
        let Carried::Ualink { lanes, strict, protection, .. } = site.one_kind_of_link()? else {
            unreachable!("a port takes the links that it declares")
        };
        let each = STATION_LANES / usize::from(lanes);
        let (num, den) = site.clock.period();
        let station = |first: usize| {
            let (n, ports) = (first / each, (site.ports.len() - first).min(each));
            let config = UpliConfig {
                ports: ports as u8,
                credits: [UpliCreditCounts::each(self.upli.credits); 4],
                ordering: if strict { Ordering::Strict } else { Ordering::Default },
                // The accelerator's own time-out comes first.
                watchdog_cycles: (u128::from(2 * self.timeout) * u128::from(den) / u128::from(num)) as u64 + 1,
                codec: codec(protection),
                ..UpliConfig::default()
            };
            let name = format!("{}.upli[{n}]", site.path);
            StationParts {
                interfaces: Interfaces::new(config).unwrap_or_else(|e| unreachable!("credits in their range: {e}")),
                ports,
                faults: if n == 0 { self.upli.faults().0 } else { Vec::new() },
                taps: ["asks", "asked"].map(|of| hub.tap(&format!("{name}.{of}"), station::SHOWS)),
                name,
                result: Arc::default(),
            }
        };
        Ok((0..site.ports.len()).step_by(each).map(station).collect())
    }
}

impl Component for UalAccelerator {
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let cycles = self.traffic.start_cycles.max(self.traffic.interval_cycles).max(self.latency_cycles);
        clock.periods_fs(cycles).max(self.timeout)
    }

    fn gives_up_after_fs(&self) -> Option<u64> {
        Some(self.timeout)
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory other accelerators address by its number"
    }

    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["ualink"], role: PortRole::Node }]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let (_, mut wrong) = self.flips();
        let (_, faults) = self.upli.faults();
        wrong.extend(faults);
        if !self.upli.model && !self.upli.fault.is_empty() {
            let text = "found parity faults without a UPLI, expected none, or the UPLIs on (upli.model)";
            wrong.push(("upli.fault", text.to_owned()));
        }
        wrong
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        if member.is_apart {
            let text =
                "found an accelerator with tiers at the first place of its fabric, expected accelerators of one kind";
            wrong.push(("traffic.pattern", text.to_owned()));
        }
        let faces_other = member.nodes == 2 && ports.iter().all(|port| port.peer_role == PortRole::Node);
        let all_lanes: usize = ports.iter().map(lanes).sum();
        if faces_other && all_lanes > STATION_LANES {
            let text = format!(
                "found {} ports with {all_lanes} lanes at one other accelerator, expected at most the {STATION_LANES} lanes of a station in all",
                ports.len()
            );
            wrong.push(("ports", text));
        }
        // Accelerator 0 is the hot spot, and asks the next node itself.
        let asks_bridge = self.traffic.pattern != "hot-spot" || member.peers < 2;
        if self.traffic.mix == "all" && member.refuses_atomics && asks_bridge {
            wrong.push(("traffic.mix", bridge::without_atomics("all", "reads, writes or mix")));
        }
        let is_protected = |port: &SitePort| protection(port) != Protection::Off;
        let protected = ports.iter().find(|port| is_protected(port));
        match protected {
            Some(port) if self.traffic.poison_every > 0 => {
                let text = format!(
                    "found {}, expected 0 where transactions are protected, as at {}: poison cannot be judged",
                    self.traffic.poison_every, port.path
                );
                wrong.push(("traffic.poison_every", text));
            }
            None if self.traffic.key_roll_every > 0 => {
                let text =
                    format!("found {}, expected 0 without authentication on a link", self.traffic.key_roll_every);
                wrong.push(("traffic.key_roll_every", text));
            }
            _ => (),
        }
        let is_crossed = |(n, port): &(usize, &SitePort)| {
            is_protected(port) && port.peer_role == PortRole::Node && port.peer_port != *n
        };
        if let Some((n, port)) = ports.iter().enumerate().find(is_crossed) {
            let text = format!(
                "found port {} of the other accelerator at {}, expected port {n}: ports of one number share keys",
                port.peer_port, port.path
            );
            wrong.push(("ports", text));
        }
        wrong
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(vec![ChannelWait::answered(REQUEST, RESPONSE)])
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let is_direct = site.ports.iter().any(|port| port.peer_role == PortRole::Node);
        if is_direct && site.member.nodes != 2 {
            let text = format!(
                "found a link to another accelerator among {}, expected a switch with a port for each: a transaction takes any port of an accelerator",
                site.member.nodes
            );
            return Err(NodeError::Joined { path: site.path.to_owned(), text });
        }
        let (name, own) = (site.path.to_owned(), site.member.own);
        let traffic = self.traffic.of(own, site.member.asked);
        let config = AcceleratorConfig {
            own,
            fabric: site.member.fabric,
            place: name.clone(),
            operations: Generator::new(traffic, Rng::for_name(site.seed, &format!("{name}:operations"))),
            clock: site.clock,
            start_cycle: self.traffic.start_cycles,
            interval_cycles: self.traffic.interval_cycles,
            outstanding: self.outstanding,
            vcs: self.vcs,
            poison_every: self.traffic.poison_every,
            shares: self.traffic.shared.as_deref() == Some("on"),
            counts_failures: self.traffic.failures.as_deref() == Some("counted"),
            timeout_fs: self.timeout,
            latency_cycles: self.latency_cycles,
            queue: self.queue,
            responses: if self.responses == "single" { Responses::Single } else { Responses::Multi },
        };
        let guard = |(n, port): (usize, &SitePort)| {
            let security = SecurityConfig { protection: protection(port), ..SecurityConfig::default() };
            (security.protection != Protection::Off).then(|| Guard::new(security, own, n, site.seed))
        };
        let mut guards: Vec<Option<Guard>> = site.ports.iter().enumerate().map(guard).collect();
        let mut flips = self.flips().0;
        let stations = self.stations(site, hub)?;
        let station_results: Vec<_> = stations.iter().map(|parts| (parts.name.clone(), parts.result.clone())).collect();
        let tap = hub.tap(&name, accelerator::SHOWS);
        let result: Arc<Mutex<AcceleratorResult>> = Arc::default();
        let (shared, ledger): (_, Arc<Mutex<UalLedger>>) = (result.clone(), Arc::default());
        let entered = ledger.clone();
        let originators = format!("what originators of UALink fabric {} have drawn", site.member.fabric);
        let logs = site.shared.get(&originators, || DrawLogs::new(site.member.nodes));
        let behind = memory_behind(site);
        let from_fs = site.clock.edge(self.traffic.start_cycles).as_fs();
        let (path, judged) = (name.clone(), (self.offered(site), config.counts_failures));
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let mut ends = Vec::new();
                for (n, plug) in plugs.into_iter().enumerate() {
                    let (socket, flit) = plug.ualink();
                    let tamper = Tamper { flips: std::mem::take(&mut flips), seen: 0 };
                    ends.push(place_port(p, &name, n, (*socket, flit), guards[n].take(), tamper)?);
                }
                if !stations.is_empty() {
                    ends = place_stations(p, &name, clock, stations, ends)?;
                }
                p.module(&name, clock, |bind| {
                    let ports = ends.into_iter().map(|(tx, rx)| AcceleratorPortEnds {
                        tx: tx.map(|end| bind.attach(end)),
                        rx: rx.map(|end| bind.attach(end)),
                    });
                    let ports = ports.collect();
                    Accelerator::new(config, ports, bind.rng(), tap, logs, behind, (shared, entered))
                })
            }),
            measure: Box::new(move || {
                let stations: Vec<(&str, StationResult)> =
                    station_results.iter().map(|(name, result)| (name.as_str(), super::published(result))).collect();
                let figures = ComponentMeasured { from_fs, ..measured(&path, judged, &super::published(&result)) };
                with_stations(figures, &stations)
            }),
            digest: Vec::new(),
            ledger: Some(NodeLedger::Ualink(ledger)),
        })
    }
}

/// Puts a port into a partition; the channels of its user.
pub(crate) fn place_port(
    p: &mut PartitionBuilder,
    accelerator: &str,
    n: usize,
    socket: (Socket, ClockId),
    guard: Option<Guard>,
    tamper: Tamper,
) -> Result<Ends, BuildError> {
    let (own, of_port) = channels(p, accelerator, "", n)?;
    place_between(p, of_port, None, socket, (guard, tamper))?;
    Ok(own)
}

/// Puts a port that has these channels into a partition.
pub(super) fn place_between(
    p: &mut PartitionBuilder,
    (tx, rx): (InEnds, OutEnds),
    rx_vchans: Option<[OutEnd<Box<Transfer>>; 3]>,
    (socket, flit): (Socket, ClockId),
    (guard, tamper): (Option<Guard>, Tamper),
) -> Result<(), BuildError> {
    let name = socket.name().to_owned();
    p.module(&name, flit, |bind| {
        let channels = AcceleratorChannels {
            tx: tx.map(|end| bind.attach(end)),
            rx: rx.map(|end| bind.attach(end)),
            rx_vchans: rx_vchans.map(|ends| ends.map(|end| bind.attach(end))),
            guard,
            tamper,
            stall: socket.stall(bind),
        };
        let port: Box<dyn Module> = socket.bind(bind, vec![Box::new(channels)]);
        port
    })
}

/// A station that is still to be built.
struct StationParts {
    name: String,
    ports: usize,
    interfaces: Interfaces,
    faults: Vec<ParityFault>,
    taps: [Tap; 2],
    result: Arc<Mutex<StationResult>>,
}

/// Puts stations between the channels of ports and an accelerator; the channels of the accelerator.
fn place_stations(
    p: &mut PartitionBuilder,
    accelerator: &str,
    clock: ClockId,
    stations: Vec<StationParts>,
    of_ports: Vec<Ends>,
) -> Result<Vec<Ends>, BuildError> {
    let (mut of_ports, mut of_accelerator) = (of_ports.into_iter(), Vec::new());
    for StationParts { name, ports, interfaces, faults, taps, result } in stations {
        let mut sides = Vec::new();
        for of_port in of_ports.by_ref().take(ports) {
            let (accel, mine) = channels(p, accelerator, "upli_", of_accelerator.len())?;
            of_accelerator.push(accel);
            sides.push((mine, of_port));
        }
        p.module(&name, clock, |bind| {
            let sides = sides.into_iter().map(|((accel_rx, accel_tx), (port_tx, port_rx))| Sides {
                accel_rx: accel_rx.map(|end| bind.attach(end)),
                accel_tx: accel_tx.map(|end| bind.attach(end)),
                port_rx: port_rx.map(|end| bind.attach(end)),
                port_tx: port_tx.map(|end| bind.attach(end)),
            });
            let sides = sides.collect();
            Station::new(&name, interfaces, faults, sides, taps, result)
        })?;
    }
    Ok(of_accelerator)
}

fn open_work(place: &str, found: String, expected: &str, text: &str) -> PlacedViolation {
    let violation = Violation::at_byte("SIM-E2E-03", 0, found, expected, text);
    PlacedViolation { place: place.to_owned(), violation }
}

fn measured(path: &str, (offered, counts_failures): (f64, bool), result: &AcceleratorResult) -> ComponentMeasured {
    let mut broken = result.broken.clone();
    broken.extend(result.isolation(path));
    let mut counts: Vec<MetricValue> = vec![
        (&OPERATIONS, result.done),
        (&READS, result.issued[0]),
        (&WRITES, result.issued[1]),
        (&ATOMICS, result.issued[2]),
        (&DUMMIES, result.dummies),
        (&LATE, result.late),
    ];
    counts.extend(counts_failures.then_some((&FAILED, result.failed)));
    counts.extend((result.issued[3] > 0).then_some((&KEY_ROLLS, result.issued[3])));
    ComponentMeasured {
        counts,
        bytes: result.bytes,
        latencies: result.latencies.clone(),
        broken,
        is_isolated: result.dummies + result.late > 0,
        traffic: Some(NodeTraffic { offered: Offered::PerCycle(offered), accepted_flits: result.beats }),
        ..ComponentMeasured::default()
    }
}

/// Adds what stations have to say.
fn with_stations(mut figures: ComponentMeasured, stations: &[(&str, StationResult)]) -> ComponentMeasured {
    for (name, station) in stations {
        figures.counts.extend(WORDS.iter().copied().zip(station.words));
        figures.broken.extend(station.broken.clone());
        figures.is_isolated |= station.dropped;
        if !station.dropped && !station.credits_home {
            let text = "credits or flits are still open at the end of the run";
            figures.astray.push(open_work(name, "credits spent".to_owned(), "all credits returned", text));
        }
    }
    figures
}
