//! `cxl.switch.io`: the CXL.io side of a switch with virtual hierarchies, see [`scalepool_nodes::io::switch`].
//!
//! Modelled: upstream ports `usp[n]`, each the top of a virtual hierarchy, downstream ports `dsp[n]`, static bindings of ports, or of
//! logical devices behind them (`fabric` VCS-4 a, MLD-2); CXL.mem beside CXL.io where all links carry both, see `mem_beside.rs`.
//! A walk: bindings are judged, ports are trained with what is at them, and the hierarchies get a vPPB for each number up to
//! the highest one that is bound, or as many as are asked for.

use super::cxl_links::POSTED;
use super::io_commands::{self, IoCommand};
use super::io_node::{TrainedPort, answer_within_fs, node, power_timeout_cycles, uio_settings};
use super::{Hardware, SWITCHED, answered, cycles, mem_beside, misfit};
use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, MaybeGiven, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, IoPassage, NodeError, Offer, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_root::PAYLOADS;
use crate::kinds::uio::UioDecoderConfig;
use crate::metric::{MetricValue, metrics};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_endpoint::pm::PmAgent;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_fabric::cxl_switch::module::SWITCH_CLASSES;
use scalepool_fabric::cxl_switch::{Bindings, HBR_PRESETS, SwitchPreset, SwitchTraffic, VppbBinding};
use scalepool_kernel::Clock;
use scalepool_link::cxlio::IoOrder;
use scalepool_nodes::io::mode::{FlexPort, MODES};
use scalepool_nodes::io::switch::hierarchy::{FUNCTIONS, IoHierarchy, IoSide};
use scalepool_nodes::io::switch::manager::ManagerAccess;
use scalepool_nodes::io::switch::{IoSeat, IoSwitchConfig, IoSwitchResult};
use scalepool_ordered::OrderedSet;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.switch.io",
    about: "CXL.io side of a switch with hierarchy based routing: root complexes at `usp[n]` enumerate through it and reach the devices at `dsp[n]` that are bound to their hierarchies; and their memory by CXL.mem, where its links carry that beside",
    fields: IoCxlSwitch::fields,
    read: component::<IoCxlSwitch>,
    external: &["flits"],
    metrics: &[METRICS, SWITCHED, mem_beside::METRICS],
};

metrics! {
    /// What a switch counts.
    static METRICS {
        SWITCHED_POSTED = "switched posted" ["TLPs"] Sum, "posted requests that were passed on";
        SWITCHED_NON_POSTED = "switched non-posted" ["TLPs"] Sum, "requests with a completion that were passed on";
        SWITCHED_COMPLETIONS = "switched completions" ["TLPs"] Sum, "completions that were passed on";
        OWN_CONFIG = "own configuration requests" ["requests"] Sum, "configuration requests for the ports of the switch";
        UNSUPPORTED = "unsupported requests" ["requests"] Sum, "requests that nobody claims, completed as Unsupported Request (fabric IOR-4)";
        UNCLAIMED = "unclaimed TLPs" ["TLPs"] Sum, "posted requests and completions that nobody claims, which are dropped (fabric IOR-4)";
        UNKNOWN_LD = "TLPs of unknown LD-ID" ["TLPs"] Sum, "TLPs for or from logical devices that are not there, which are dropped (fabric MLD-5); given where logical devices are bound";
        UNBOUND = "ports unbound" ["ports"] Sum, "ports that were unbound while the system ran, given where there are commands (fabric BND-4)";
        BOUND = "ports bound" ["ports"] Sum, "ports that were bound again";
        MANAGER_ANSWERED = "manager accesses" ["requests"] Sum, "configuration requests of the fabric manager that were answered, where it makes any";
        MANAGER_REFUSED = "manager accesses refused" ["requests"] Sum, "configuration requests of the fabric manager to ports that are bound (fabric VCS-8)";
        UIO_DOWN = "UIO down" ["requests"] Sum, "requests of UIO that left at a vPPB by a decoder that allows it, given where there are any decoders (fabric IOR-6)";
        UIO_UP = "UIO up" ["requests"] Sum, "requests of UIO that went toward the host, as no decoder that allows it has all of their bytes (fabric UIO-02)";
        UIO_ABORTED = "UIO aborted" ["requests"] Sum, "requests of UIO to a peer from a port that is not enabled for it, completed as Completer Abort (fabric UIO-02)";
        POWER_COLLECTED = "power requests collected" ["requests"] Sum, "resets and phases of a flush that all ports of a hierarchy have answered (fabric RST-8)";
    }
}

/// Names of the presets.
const PRESET_NAMES: &[&str] = &[HBR_PRESETS[0].name, HBR_PRESETS[1].name, HBR_PRESETS[2].name];
/// Best modes of its ports: all but the one with port based routing.
pub(super) const HBR_MODES: &[&str] = &[MODES[0], MODES[1], MODES[2]];

config! {
    /// A vPPB and the port that is bound to it.
    pub struct IoBinding {
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 63), "virtual hierarchy, the number of its upstream port";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0 (fabric VCS-7 counts that of the upstream port too)";
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "downstream port";
        ld: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(0, LOGICAL_DEVICES as u64 - 1), "logical device behind the port; not given = the port as a whole (fabric BND-4)";
    }
}

config! {
    /// An access of the fabric manager to the device at a port that is bound to no vPPB.
    pub struct IoManagerAccess {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it is made";
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "downstream port; an access to one that is bound is refused and counted (fabric VCS-8)";
        register: u16 = "0" [Unit::Of("-")] in FieldRange::Int(0, 4092), "register of the configuration space, a multiple of 4";
        write: Option<u32> = "" [Unit::Of("-")] in FieldRange::Int(0, 4294967295), "what is written, such as a function level reset; not given = the register is read";
    }
}

config! {
    /// A range of the HDM decoders of an upstream port, as UIO sees it: that of one vPPB.
    pub struct IoUioRange with { decoder: UioDecoderConfig } {
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 63), "virtual hierarchy, the number of its upstream port";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0";
    }
}

config! {
    /// A switch. Numbers without another source are of the model (basis: model).
    pub struct IoCxlSwitch {
        preset: String = "cxl_switch" [Unit::Of("-")] in FieldRange::Words(PRESET_NAMES), "latency from port to port: 90, 60 or 140 ns (fabric §5, none is measured)";
        latency: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "latency from port to port, rounded up to cycles; not given = that of the preset";
        hosts: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 64), "upstream ports, each with a virtual hierarchy of its own (fabric VCS-1)";
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 256), "downstream ports";
        vppbs: Option<usize> = "" [Unit::Of("vPPBs")] in FieldRange::Int(1, 256), "vPPBs of downstream ports in each hierarchy; not given = up to the highest one that is bound";
        device_numbers: usize = "32" [Unit::Of("numbers")] in FieldRange::Int(1, 32), "device numbers of the bus inside the switch: vPPBs take function 0 of each of them, then function 1, up to 7 (fabric VCS-7)";
        bindings: Vec<(IoBinding, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoBinding::fields), "which vPPBs the ports are bound to; without any the ports go to the hierarchies in turn";
        commands: Vec<(IoCommand, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoCommand::fields), "bindings that end and begin again while the system runs, for CXL.io and CXL.mem in the same cycle";
        manager: Vec<(IoManagerAccess, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoManagerAccess::fields), "what the fabric manager reads and writes in devices at ports that are bound to no vPPB (fabric VCS-8)";
        uio: Vec<(IoUioRange, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoUioRange::fields), "ranges of the HDM decoders by which requests of UIO, from the host and from peers, find their vPPB (fabric IOR-6); without any the switch takes no part in UIO";
        uio_to_peers: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "its downstream ports may send UIO to peers; off: such requests are completed as Completer Abort (fabric UIO-02)";
        mode: String = "cxl-256b" [Unit::Of("-")] in FieldRange::Words(HBR_MODES), "best mode of its ports; each link gets the best that both ends can do";
        max_payload: usize = "512" [Unit::Bytes] in FieldRange::OneOf(PAYLOADS), "largest payload that its ports pass";
        queue: usize = "64" [Unit::Of("TLPs")] in FieldRange::Int(1, 1 << 16), "posted requests of an input that the switch holds; further ones wait in the link";
        order: String = "strict" [Unit::Of("-")] in FieldRange::Words(IoOrder::NAMES), "which TLPs pass others that wait at its ports: strict = those that have to be able to, relaxed = all that may, by RO and IDO too (fabric ORD-2)";
        width: u64 = "128 B" [Unit::Bytes] in FieldRange::Int(16, 4096), "bytes that an output moves in a cycle";
        mem: MaybeGiven<Hardware> = "" [Unit::Of("-")] in FieldRange::Table(Hardware::fields), "what passes CXL.mem on, where the links carry cachemem = true; a decoder of each upstream port deals addresses in chunks of 256 bytes to the devices of its hierarchy, of which there are 1, 2, 4 or 8 (fabric §2.1)";
        power_timeout: u64 = "20 us" [Unit::Time] in FieldRange::Int(1_000_000_000, 1 << 50), "time after which a device that has not answered a reset or a phase of a flush is given up, so that the host gets the answer of the others; with the way to the host and back it has to be shorter than the time-out of the host";
    }
}

impl IoCxlSwitch {
    /// What is to be bound: what is given, or else the ports to the hierarchies in turn.
    fn given(&self) -> Vec<VppbBinding> {
        if self.bindings.is_empty() {
            let in_turn = |port| VppbBinding { vcs: port % self.hosts, vppb: port / self.hosts, port, ld: None };
            return (0..self.ports).map(in_turn).collect();
        }
        let given = |(one, _): &(IoBinding, TextPlace)| VppbBinding {
            vcs: one.vcs,
            vppb: one.vppb,
            port: one.port,
            ld: one.ld,
        };
        self.bindings.iter().map(given).collect()
    }

    fn vppb_count(&self) -> usize {
        let highest = self.given().iter().map(|one| one.vppb).max().unwrap_or(0);
        self.vppbs.unwrap_or(highest + 1)
    }

    fn latency_fs(&self) -> u64 {
        let Some(preset) = SwitchPreset::by_name(&self.preset) else { unreachable!("a word of the range") };
        self.latency.unwrap_or_else(|| preset.stages_fs.iter().sum())
    }

    fn latency_cycles(&self, clock: Clock) -> u64 {
        cycles(clock, self.latency_fs()).max(1)
    }

    /// The logical devices that are bound behind a port, each with its hierarchy and vPPB.
    fn logical(&self, port: usize) -> Vec<(u8, (usize, IoSide))> {
        let given = self.given();
        let of_port = given.iter().filter(|one| Some(one.port) == port.checked_sub(self.hosts));
        of_port.filter_map(|one| Some((one.ld?, (one.vcs, IoSide::Down(one.vppb))))).collect()
    }

    /// What a port that is bound whole is.
    fn side(&self, port: usize) -> Option<(usize, IoSide)> {
        match port.checked_sub(self.hosts) {
            None => Some((port, IoSide::Up)),
            Some(port) => {
                let all = self.given();
                all.iter().find(|one| one.port == port).map(|one| (one.vcs, IoSide::Down(one.vppb)))
            }
        }
    }

    /// What a port is, or each logical device behind it, of which the device has so many; those that are bound to nothing belong to the
    /// fabric manager.
    fn seats(&self, port: usize, logical_devices: Option<u16>, agent: impl Fn() -> PmAgent) -> Vec<IoSeat> {
        let logical = self.logical(port);
        if logical.is_empty() {
            return vec![IoSeat { ld: None, place: self.side(port), agent: agent() }];
        }
        let place = |ld: u16| logical.iter().find(|(own, _)| u16::from(*own) == ld).map(|(_, place)| *place);
        let all = 0..logical_devices.unwrap_or(1);
        all.map(|ld| IoSeat { ld: Some(ld), place: place(ld), agent: agent() }).collect()
    }
}

impl Component for IoCxlSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, role| PortDecl { name, len: Some(len), links: &["cxl-io"], role };
        vec![port("usp", self.hosts, PortRole::SwitchUpstream), port("dsp", self.ports, PortRole::SwitchDownstream)]
    }

    fn offer(&self) -> Offer {
        Offer {
            flex_bus: Some(FlexPort::root(&self.mode)),
            io_order: IoOrder::by_name(&self.order),
            has_uio: !self.uio.is_empty(),
            ..Offer::default()
        }
    }

    fn offer_at(&self, port: usize) -> Offer {
        let mut own = self.offer();
        let logical = self.logical(port);
        own.io_logical_devices = logical.iter().map(|(ld, _)| u16::from(*ld) + 1).max();
        // A device that is bound whole works as one with a single logical device (`fabric` MLD-4).
        own.flex_bus.iter_mut().for_each(|bus| bus.can.mld = !logical.is_empty());
        own
    }

    fn io_passage(&self, clock: Clock) -> Option<IoPassage> {
        let below = self.given().into_iter().map(|one| (one.vcs, self.hosts + one.port)).collect();
        Some(IoPassage { latency_fs: clock.periods_fs(self.latency_cycles(clock)), below })
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let count = self.vppb_count();
        let wrong = self.manager.iter().find_map(|(access, _)| {
            let IoManagerAccess { port, register, .. } = access;
            match (*port < self.ports, register.is_multiple_of(4)) {
                (false, _) => Some(format!("found port {port}, expected 0 to {}", self.ports - 1)),
                (_, false) => Some(format!("found register {register}, expected a multiple of 4")),
                _ => None,
            }
        });
        let wrong = wrong.map(|text| ("manager", text));
        let uio = self.uio.iter().find_map(|(one, _)| {
            let is_bound = self.given().iter().any(|bound| (bound.vcs, bound.vppb) == (one.vcs, one.vppb));
            let unbound = (!is_bound).then(|| {
                let text = format!("found vPPB {} of VCS {}, expected one that is bound", one.vppb, one.vcs);
                ("uio", text)
            });
            unbound.or_else(|| one.decoder.check("uio"))
        });
        let mut bindings = Bindings::new(self.hosts, count, self.ports);
        let mut found: Vec<ConfigFinding> = self
            .given()
            .into_iter()
            .filter_map(|one| Some(("bindings", bindings.bind(one).err()?.to_string())))
            .chain(wrong)
            .chain(uio)
            .chain(io_commands::check(&self.commands, &self.given()))
            .chain(self.mem.config.weights().1.into_iter().map(|(_, text)| ("mem", text)))
            .collect();
        if let Some(vcs) = (0..self.hosts).find(|vcs| found.is_empty() && bindings.list().all(|one| one.vcs != *vcs)) {
            let text =
                format!("found no binding of VCS {vcs}, expected at least one for every upstream port (fabric VCS-1)");
            found.push(("bindings", text));
        }
        let most = self.device_numbers * FUNCTIONS;
        if count > most {
            let text = format!(
                "found {count} vPPBs of a hierarchy, expected at most {most}: {FUNCTIONS} functions of each of {} device numbers (fabric VCS-7)",
                self.device_numbers
            );
            found.push(("device_numbers", text));
        }
        found
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let late = ports.iter().filter_map(|port| {
            // The request of the host travels to the switch, and the answer back.
            let (found, most, path) = (self.power_timeout, answer_within_fs(port)?, &port.path);
            let text = || {
                let [found, most] = [found, most].map(|fs| Unit::Time.shown(fs));
                format!("found {found}, expected less than {most}: the time-out of the host at {path}, without the time there and back")
            };
            (found >= most).then(|| ("power_timeout", text()))
        });
        let absent = ports.iter().enumerate().flat_map(|(n, port)| {
            let count = port.peer.io_logical_devices.and_then(|count| u8::try_from(count).ok());
            let text = move |(ld, _)| misfit(&port.path, Some(ld), count).map(|text| ("bindings", text));
            self.logical(n).into_iter().filter_map(text)
        });
        let mem = mem_beside::check(self.offer(), self.hosts, &self.given(), ports);
        let unused = (self.mem.is_given && !ports.iter().any(mem_beside::carries_mem)).then(|| {
            let text =
                "found a table, expected none: no link of the switch carries CXL.mem (cachemem = true)".to_owned();
            ("mem", text)
        });
        mem.into_iter().chain(unused).chain(late).chain(absent).collect()
    }

    fn why_no_window(&self) -> &'static str {
        "which passes requests on"
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Requests with a completion, and completions, are always taken. Outputs keep the order of arrival; what stands there in front of a
        // posted request always leaves, since devices take requests at once and ask for nothing themselves.
        let io = ChannelWait::routed(POSTED, Reach::OtherPorts);
        // Messages of CXL.mem stay in their hierarchy.
        let ways = self.given().into_iter();
        let ways: OrderedSet<(usize, usize)> =
            ways.flat_map(|one| [(one.vcs, self.hosts + one.port), (self.hosts + one.port, one.vcs)]).collect();
        let mem = SWITCH_CLASSES[..SwitchTraffic::Mem.count()].iter();
        let mem = mem.map(|class| ChannelWait::routed(class.name(), Reach::Ways(ways.clone())));
        Some([io].into_iter().chain(mem).chain(answered(Reach::SamePort)).collect())
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        self.latency_fs().max(self.mem.config.latency_fs(&self.preset, clock))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let own = FlexPort::root(&self.mode);
        let mut bound = vec![vec![false; self.vppb_count()]; self.hosts];
        self.given().iter().for_each(|one| bound[one.vcs][one.vppb] = true);
        let hierarchy = |bound: &Vec<bool>| IoHierarchy::new(bound, self.device_numbers, own.can, self.max_payload);
        let mut hierarchies: Vec<IoHierarchy> = bound.iter().map(hierarchy).collect();
        for (vcs, hierarchy) in hierarchies.iter_mut().enumerate() {
            let own = self.uio.iter().filter(|(one, _)| one.vcs == vcs);
            let ranges = own.map(|(one, _)| (one.vppb, one.decoder.range())).collect();
            let settings = uio_settings(ranges, self.uio_to_peers);
            hierarchy.sets_uio(settings);
        }
        let mut ports = Vec::new();
        for (n, port) in site.ports.iter().enumerate() {
            let trained = TrainedPort::new(&own, port, n < self.hosts, self.offer().has_uio);
            let timeout = power_timeout_cycles(site.clock, self.power_timeout);
            let seats = self.seats(n, port.peer.io_logical_devices, || trained.agent(timeout));
            for IoSeat { ld, place, .. } in &seats {
                let Some((of, side)) = *place else { continue };
                hierarchies[of].trained(side, &trained.can, trained.agreed);
                if let (Some(_), IoSide::Down(vppb)) = (ld, side) {
                    hierarchies[of].redirects(vppb);
                }
            }
            ports.push(trained.seated(seats, hub));
        }
        let config = IoSwitchConfig {
            latency_cycles: self.latency_cycles(site.clock),
            queue: self.queue,
            width_bytes: self.width,
        };
        let has_lds = self.bindings.iter().any(|(one, _)| one.ld.is_some());
        let mut accesses: Vec<ManagerAccess> = self
            .manager
            .iter()
            .map(|(access, _)| ManagerAccess {
                cycle: cycles(site.clock, access.at),
                port: self.hosts + access.port,
                register: access.register,
                write: access.write,
            })
            .collect();
        scalepool_ordered::sort_by_key(&mut accesses, |access| access.cycle);
        let is_managed = !accesses.is_empty();
        let has_uio = !self.uio.is_empty();
        let changes_bindings = !self.commands.is_empty();
        let changes = io_commands::changes(&self.commands, site.clock);
        let counts = move |result: &IoSwitchResult| {
            let of_uio = has_uio.then(|| uio_counts(result)).into_iter().flatten();
            let [unbound, bound] = result.rebound;
            let rebound: [MetricValue; 2] = [(&UNBOUND, unbound), (&BOUND, bound)];
            let rebound = rebound.into_iter().filter(|_| changes_bindings);
            counts(result, has_lds, is_managed).into_iter().chain(of_uio).chain(rebound).collect()
        };
        let has_mem = site.ports.iter().any(mem_beside::carries_mem);
        let mem = has_mem.then(|| {
            let given = self.given();
            let commands = io_commands::timed(&self.commands, &given, site.clock);
            let bindings = (Bindings::new(self.hosts, self.vppb_count(), self.ports), given);
            mem_beside::module((&self.mem.config, &self.preset), &own, (bindings, commands), self.hosts, site, hub)
        });
        Ok(node(site, (config, hierarchies, ports), mem, |switch| switch.managed(accesses).rebinding(changes), counts))
    }
}

fn uio_counts(result: &IoSwitchResult) -> [MetricValue; 3] {
    let [down, up] = result.uio;
    [(&UIO_DOWN, down), (&UIO_UP, up), (&UIO_ABORTED, result.uio_aborted)]
}

fn counts(result: &IoSwitchResult, has_lds: bool, is_managed: bool) -> Vec<MetricValue> {
    let [posted, non_posted, completions] = result.switched;
    let counts: [MetricValue; 7] = [
        (&SWITCHED_POSTED, posted),
        (&SWITCHED_NON_POSTED, non_posted),
        (&SWITCHED_COMPLETIONS, completions),
        (&OWN_CONFIG, result.own_config),
        (&UNSUPPORTED, result.unsupported),
        (&UNCLAIMED, result.dropped),
        (&POWER_COLLECTED, result.power_answered),
    ];
    let unknown = has_lds.then_some((&UNKNOWN_LD, result.unknown_ld));
    let [answered, refused] = result.manager;
    let of_manager: [MetricValue; 2] = [(&MANAGER_ANSWERED, answered), (&MANAGER_REFUSED, refused)];
    let of_manager = of_manager.into_iter().filter(|_| is_managed);
    counts.into_iter().chain(unknown).chain(of_manager).collect()
}
