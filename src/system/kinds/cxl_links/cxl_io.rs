//! `cxl-io`: a link of CXL.io, in 68B units or in 256B flits, as its ends train; `cachemem` puts CXL.mem beside it.
//!
//! With both protocols the link owns the ARB/MUX, which shares it by its weights, and each end has channels for TLPs and
//! for messages. What the wire damages is repaired: TLPs of 68B units go again by their own numbers, 256B flits by those of
//! the flits. A 68B link of both protocols cannot see units of CXL.cachemem that vanish or come twice.

use super::{Classes, CxlLine, CxlLink, Figures, PortBinding, Reported, channels, classes, site, unit_bytes_per_s};
use crate::channels::ClassOrder;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, ComponentPlug, ConfigFinding, IoPlug, Link, LinkFacts, LinkKind, LinkSite, MemPlug, Offer,
    PortRole, link,
};
use crate::kinds;
use crate::metric::MetricValue;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_arbiter::{ARBITER_NAMES, ArbiterKind, WeightedRoundRobin};
use scalepool_kernel::{BuildError, PartitionBuilder, Simulation};
use scalepool_link::arbmux::cxl68::{ArbMux as ArbMux68, ArbMuxConfig as ArbMux68Config};
use scalepool_link::arbmux::cxl256::{ArbMux as ArbMux256, ArbMuxConfig as ArbMux256Config};
use scalepool_link::arbmux::{ArbMuxInstance, Ask};
use scalepool_link::coverage::Met;
use scalepool_link::cxl68::timing::LineRate;
use scalepool_link::cxl68::{Cxl68End, EndConfig, UNDER_WAY_BYTES};
use scalepool_link::cxl256::config::{CachememConfig, LinkConfig, flit_time_fs};
use scalepool_link::cxl256::{Cachemem, Cxl256End};
use scalepool_link::cxlio::{
    Advertised, FlitConfig, FlitEnd, IdPrefix, IoConfig, IoConfigError, IoCreditClass, IoOrder, NonFlitEnd,
    ReplayConfig, Stats,
};
use scalepool_link::io_ends::{Beside, HasIo, IoEnd, IoFigures, IoItem, IoReport, PidLogger, Shares, UnitEnd};
use scalepool_link::port::MakesIoAgents;
use scalepool_memory::limit;
use scalepool_nodes::cxl::coherent::wiring;
use scalepool_nodes::io::mode;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Cxl68Width;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::message::{Message, MessageForm};

/// The kind.
pub const CXL_IO: LinkKind = LinkKind {
    name: "cxl-io",
    about: "CXL.io over 68B or 256B flits, as its ends train; CXL.mem can share it, behind the ARB/MUX",
    fields: CxlIoLink::fields,
    read: link::<CxlIoLink>,
    metrics: &[METRICS, SHARES],
};

/// Class of posted requests and messages of CXL.io.
pub(crate) const POSTED: &str = "posted";
/// Class of requests of CXL.io with a completion.
pub(crate) const NON_POSTED: &str = "non-posted";
/// Class of completions of CXL.io.
pub(crate) const COMPLETION: &str = "completion";
metrics! {
    /// What a link counts.
    static METRICS {
        REPLAYED_TLPS = "replayed TLPs" ["TLPs"] Sum, "TLPs sent again";
        REPLAYED = "replayed flits" ["flits"] Sum, "flits sent again";
        EARLY_HALVES = "early halves" ["halves"] Sum, "first halves of latency-optimised flits that were used before the second one";
        TRAININGS = "trainings" ["trainings"] Sum, "times that an end trained the link";
        PASSED = "TLPs that passed others" ["TLPs"] Sum, "TLPs that left in front of others that had come before them and waited for room (fabric §4.1); given where there are any";
    }
}

metrics! {
    /// Flits by protocol behind the ARB/MUX, and ALMPs: those of the host, then those of the device.
    static SHARES {
        IO_DOWN = "CXL.io flits down" ["flits"] Sum, "flits of CXL.io that the host sent";
        CACHEMEM_DOWN = "CXL.cachemem flits down" ["flits"] Sum, "flits of CXL.cachemem that the host sent";
        ALMPS_DOWN = "ALMPs down" ["flits"] Sum, "ALMPs that the host sent";
        IO_UP = "CXL.io flits up" ["flits"] Sum, "flits of CXL.io that the device sent";
        CACHEMEM_UP = "CXL.cachemem flits up" ["flits"] Sum, "flits of CXL.cachemem that the device sent";
        ALMPS_UP = "ALMPs up" ["flits"] Sum, "ALMPs that the device sent";
    }
}

/// Identifiers of host and device in port based routing.
const PORT_IDS: [u16; 2] = [1, 2];

config! {
    /// A link of CXL.io. Numbers without another source are of the model (basis: model).
    pub struct CxlIoLink with { line: CxlLine } {
        rate: u32 = "32" [Unit::Rate] in FieldRange::OneOf(&[8, 16, 32, 64]), "line rate (cxl-68b §1.3); 64 takes 256B flits (cxl-io §7)";
        selective_nak: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "256B flits: request only the lost flit instead of all flits from it on (cxl-256b §9)";
        cachemem: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "CXL.mem accesses share the link, behind the ARB/MUX (cxl-68b §8, cxl-256b §6)";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "whose flit is next while both protocols have flits (cxl-68b §8.2); not given = weighted-round-robin, the only one that looks at the weights";
        weight_io: u16 = "1" [Unit::Of("-")] in FieldRange::Int(1, 65535), "arbitration weight of CXL.io while both protocols have flits";
        weight_cachemem: u16 = "1" [Unit::Of("-")] in FieldRange::Int(1, 65535), "arbitration weight of CXL.cachemem while both protocols have flits";
        non_posted: u16 = "64" [Unit::Of("requests")] in FieldRange::Int(1, 127), "requests with a completion for which each end of CXL.io has buffers (cxl-io §2.2); further ones wait at the sender, where others may pass them (fabric §4.1)";
    }
}

/// Requests with a completion that can be open between two ends: tags have 10 bits.
const TAGS: usize = 1 << 10;

/// What an end is beside the settings of its link.
#[derive(Debug, Clone, Copy)]
struct EndSide {
    /// Where it sends.
    dir: Dir,
    /// The policy of the component there for TLPs that wait, if it has one.
    order: Option<IoOrder>,
    /// What the local prefix of TLPs carries on the link.
    id_prefix: IdPrefix,
    /// The link has a virtual channel for UIO.
    has_uio: bool,
}

/// How the link is after training: the format of 256B flits; `None`: 68B units.
type TrainedFormat = Option<Mode>;

impl CxlIoLink {
    /// What two ends train to; `None`: no CXL link comes up.
    fn train(&self, [host, device]: [Offer; 2]) -> Option<TrainedFormat> {
        host.flex_bus?.train(&device.flex_bus?, self.rate).map(mode::flits)
    }

    /// Bytes of a unit, and its time as a fraction \[fs\].
    fn unit(&self, flits: TrainedFormat) -> (usize, (u64, u64)) {
        let width = Cxl68Width::new(self.line.width).unwrap_or_else(|| unreachable!("the range of the width"));
        let line = LineRate { rate_gtps: self.rate, width, sync_headers: false, skip_ordered_sets: false };
        match flits {
            None => (UNIT_BYTES, line.unit_time_fs()),
            Some(_) => (FLIT_BYTES, flit_time_fs(self.line.width.into(), self.rate.into())),
        }
    }

    fn io_config(&self, flits: TrainedFormat, side: Option<EndSide>) -> IoConfig {
        let (_, (num, den)) = self.unit(flits);
        let plain = IoConfig::default();
        let (mut buffers, mut queue_tlps) = (plain.buffers, plain.queue_tlps);
        let non_posted = IoCreditClass::NonPosted.index();
        buffers[non_posted].headers = Advertised::x1(self.non_posted);
        // All that have tags, so that none of them is held where nothing can pass it.
        queue_tlps[non_posted] = TAGS;
        let order = side.and_then(|side| side.order).unwrap_or_default();
        let id_prefix = side.map(|side| side.id_prefix).unwrap_or_default();
        // The channel of UIO has as many buffers as that of everything else.
        let uio = side.filter(|side| side.has_uio).map(|_| buffers);
        IoConfig { flit_fs: num.div_ceil(den), buffers, uio, queue_tlps, order, id_prefix, ..plain }
    }

    fn io_of_units(&self, side: Option<EndSide>) -> Result<NonFlitEnd, IoConfigError> {
        NonFlitEnd::new(self.io_config(None, side), ReplayConfig::default())
    }

    fn io_of_flits(&self, mode: Mode, side: Option<EndSide>) -> Result<FlitEnd, IoConfigError> {
        FlitEnd::new(self.io_config(Some(mode), side), FlitConfig::new(mode))
    }

    fn flit_config(&self, mode: Mode) -> LinkConfig {
        LinkConfig { selective_nak: self.selective_nak, ..LinkConfig::of_line(mode, self.line.width.into(), self.rate) }
    }

    fn config_68b(&self) -> Cxl68Config {
        Cxl68Config { mdh: self.line.mdh, ..Cxl68Config::default() }
    }

    /// Whether the wires do anything but carry.
    fn is_faulty(&self) -> bool {
        self.line.ber > 0.0 || !self.line.fault.is_empty()
    }

    fn arbiter(&self) -> &'static ArbiterKind {
        kinds::arbiter(self.arbiter.as_deref(), &WeightedRoundRobin::KIND)
    }

    /// An end of 68B units.
    fn units<C: Beside>(&self, side: EndSide, beside: C) -> UnitEnd<C> {
        let config = ArbMux68Config {
            enabled: C::ENABLED,
            arbiter: self.arbiter(),
            weights: [self.weight_io, self.weight_cachemem],
            ..ArbMux68Config::new(side.dir, self.config_68b())
        };
        UnitEnd::new(ArbMux68::new(config, checked(self.io_of_units(Some(side))), beside), self.is_faulty())
    }

    /// The link layer of CXL.mem in 68B units.
    fn mem_of_units(&self, dir: Dir) -> Cxl68End {
        checked(Cxl68End::new(EndConfig::mem(dir, self.config_68b(), self.line.buffers)))
    }

    /// An end of 256B flits.
    fn flits(&self, mode: Mode, side: EndSide) -> Cxl256End<FlitEnd> {
        Cxl256End::new(self.flit_config(mode), checked(self.io_of_flits(mode, Some(side))))
    }

    /// An end of 256B flits that carries both protocols, and asks for Active at once.
    fn shared_flits(&self, side: EndSide, mode: Mode) -> Cxl256End<ArbMux256<FlitEnd, Cachemem>> {
        let codec = Cxl256Config { mdh: self.line.mdh, ..Cxl256Config::default() };
        let cachemem =
            Cachemem::new(CachememConfig { codec, ..CachememConfig::mem(side.dir, mode, self.line.buffers) });
        let weights = [self.weight_io, self.weight_cachemem];
        let config = ArbMux256Config { arbiter: self.arbiter(), weights, ..ArbMux256Config::new(side.dir, mode) };
        let mut mux = ArbMux256::new(config, checked(self.io_of_flits(mode, Some(side))), cachemem);
        ArbMuxInstance::ALL.into_iter().for_each(|instance| mux.ask(instance, Some(Ask::Active)));
        Cxl256End::new(self.flit_config(mode), mux)
    }

    fn build_ends<E: HasIo>(
        &self,
        end: impl Fn(EndSide) -> E,
        flits: TrainedFormat,
        sim: &mut Simulation,
        site: &LinkSite<'_>,
    ) -> Result<BuiltLink, BuildError>
    where
        IoEnd<E>: MakesIoAgents<Report = IoReport>,
    {
        // Without CXL.mem on the link nobody answers on it.
        let answers_due = if E::CACHEMEM { site.offers[0].answers_due } else { 0 };
        let both = site.roles == [PortRole::SwitchFabric; 2];
        let (unit_bytes, unit_time_fs) = self.unit(flits);
        let has_lds = site.offers.iter().all(|offer| offer.flex_bus.is_some_and(|port| port.can.mld));
        let id_prefix = if has_lds { IdPrefix::LdId } else { IdPrefix::Nothing };
        // UIO is in flit mode alone (`cxl-io` §3.3).
        let has_uio = flits.is_some() && site.offers.iter().all(|offer| offer.has_uio);
        let side = |dir, offer: Offer| EndSide { dir, order: offer.io_order, id_prefix, has_uio };
        let [host, device] = [side(Dir::Down, site.offers[0]), side(Dir::Up, site.offers[1])];
        let link = CxlLink {
            host: IoEnd::new(end(host), answers_due).between_switches(both),
            device: IoEnd::new(end(device), 0)
                .telling(site.roles[1] == PortRole::SwitchUpstream)
                .between_switches(both),
            line: self.line.clone(),
            unit_bytes,
            unit_time_fs,
            halves: flits.is_some_and(Mode::is_lopt),
            form: flits.map_or(MessageForm::Cxl68, |mode| mode.routing().into()),
            is_coherent: false,
        };
        site::build(link, sim, site)
    }
}

/// What a check has found to be sound.
fn checked<T, E: std::fmt::Display>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|error| unreachable!("it was checked: {error}"))
}

impl Link for CxlIoLink {
    fn facts(&self) -> LinkFacts {
        // Lanes carry as many bytes in units of either length.
        let (unit_bytes, unit_time_fs) = self.unit(None);
        let carried = Carried::CxlIo {
            rate_gtps: self.rate,
            cachemem: self.cachemem,
            port_ids: PORT_IDS,
            way_fs: self.line.way_fs(),
        };
        LinkFacts { carried, unit_bytes_per_s: unit_bytes_per_s(unit_bytes, unit_time_fs) }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let end = Cxl68End::new(EndConfig::mem(Dir::Down, self.config_68b(), self.line.buffers));
        end.err().map(|error| ("buffers", error.to_string())).into_iter().collect()
    }

    fn check_joined(&self, offers: [Offer; 2]) -> Vec<ConfigFinding> {
        let Some(flits) = self.train(offers) else {
            let text = format!(
                "found {} GT/s between ends of which one has no 256B flits, expected less: no CXL link comes up at this rate",
                self.rate
            );
            return vec![("rate", text)];
        };
        let (unit_bytes, unit_time_fs) = self.unit(flits);
        let (_, mut wrong) = self.line.faults(unit_bytes);
        let way_fs = self.line.way_fs();
        match flits {
            None => {
                wrong.extend(self.io_of_units(None).err().map(|error| ("rate", error.to_string())));
                let above = limit::above_on_wires(2, way_fs, unit_time_fs, UNDER_WAY_BYTES);
                wrong.extend(above.map(|text| (self.line.slowest(), text)));
            }
            Some(mode) => {
                wrong.extend(self.io_of_flits(mode, None).err().map(|error| ("rate", error.to_string())));
                let way = self.flit_config(mode).check_way(way_fs, unit_time_fs);
                wrong.extend(way.err().map(|text| (self.line.slowest(), text)));
            }
        }
        wrong
    }

    fn channels(&self, roles: [PortRole; 2]) -> [Vec<&'static str>; 2] {
        let messages = if self.cachemem { classes(roles) } else { Default::default() };
        messages.map(|messages| [POSTED, NON_POSTED, COMPLETION].into_iter().chain(messages).collect())
    }

    fn order(&self) -> Vec<ClassOrder> {
        let behind =
            |held| ClassOrder { held, behind: POSTED, why: "keeps posted requests in front (PCI Express order)" };
        [NON_POSTED, COMPLETION].map(behind).to_vec()
    }

    fn latency_fs(&self, _: usize) -> u64 {
        self.line.way_fs()
    }

    fn hold_fs(&self) -> u64 {
        // A flit of 256 bytes, which takes longest.
        self.line.hold_fs(flit_time_fs(self.line.width.into(), self.rate.into()))
    }

    fn ber(&self) -> f64 {
        self.line.ber
    }

    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        let flits = self.train(site.offers).unwrap_or_else(|| unreachable!("it was checked"));
        match (flits, self.cachemem) {
            (None, false) => self.build_ends(|side| self.units(side, PidLogger::default()), flits, sim, site),
            (None, true) => self.build_ends(|side| self.units(side, self.mem_of_units(side.dir)), flits, sim, site),
            (Some(mode), false) => self.build_ends(|side| self.flits(mode, side), flits, sim, site),
            (Some(mode), true) => self.build_ends(|side| self.shared_flits(side, mode), flits, sim, site),
        }
    }
}

impl<E: HasIo> Reported for IoEnd<E>
where
    IoEnd<E>: MakesIoAgents<Report = IoReport>,
{
    fn plug(
        p: &mut PartitionBuilder,
        name: &str,
        edges: u32,
        classes: Option<Classes>,
    ) -> Result<(ComponentPlug, PortBinding<Self>), BuildError> {
        /// Items between an agent and its link end: room for the longest access in the smallest payloads.
        const DEPTH: u32 = 64;
        let (io, attach) = channels::<IoItem, Self>(p, &format!("{name}.io"), (DEPTH, edges), Self::io_agent)?;
        if !E::CACHEMEM {
            return Ok((ComponentPlug::CxlIo(IoPlug { io, mem: None }), attach));
        }
        let mem_name = format!("{name}.mem");
        let (mem, attach_mem): (MemPlug, PortBinding<Self>) = match classes {
            Some(Classes { form, sends, beside }) => {
                let (node, port) = wiring::channels(p, &mem_name, (sends, beside), form, edges)?;
                (MemPlug::ByClass(node), Box::new(move |bind| vec![Self::mem_agent_by_class(port.attach(bind))]))
            }
            None => {
                let ((tx, rx), attach) = channels::<Message, Self>(p, &mem_name, (DEPTH, edges), Self::mem_agent)?;
                (MemPlug::Together(tx, rx), attach)
            }
        };
        let both: PortBinding<Self> = Box::new(move |bind| {
            let mut agents = attach(bind);
            agents.extend(attach_mem(bind));
            agents
        });
        Ok((ComponentPlug::CxlIo(IoPlug { io, mem: Some(mem) }), both))
    }

    fn figures(ends: [&IoReport; 2], _: bool) -> Figures {
        let stats: [&Stats; 2] = ends.map(|end| &end.stats);
        let figures = ends.map(|end| &end.figures);
        let of_io = |count: fn(&Stats) -> u64| stats.iter().map(|s| count(s)).sum::<u64>();
        let of_ends = |count: fn(&IoFigures) -> u64| figures.iter().map(|f| count(f)).sum::<u64>();
        let mut counts: Vec<MetricValue> = vec![
            (&REPLAYED_TLPS, of_io(|s| s.replayed)),
            (&REPLAYED, of_ends(|f| f.replayed)),
            (&EARLY_HALVES, of_ends(|f| f.early_halves)),
            (&TRAININGS, ends.iter().map(|end| end.trainings).sum()),
        ];
        let passed = of_io(|s| s.passed);
        counts.extend((passed > 0).then_some((&PASSED, passed)));
        for (metrics, shares) in SHARES.chunks(3).zip(&figures).filter_map(|(metrics, f)| Some((metrics, f.shares?))) {
            let Shares { sent: [io, cachemem], almps } = shares;
            counts.extend(metrics.iter().copied().zip([io, cachemem, almps]));
        }
        let sent = TLPS.into_iter().zip(&stats).flat_map(|(names, stats)| names.into_iter().zip(stats.sent));
        Figures {
            units: [figures[0].units, figures[1].units],
            messages: sent.map(|(name, n)| (name.to_owned(), n)).collect(),
            retries: of_io(|s| s.replays) + of_ends(|f| f.replays),
            credit_stalls: of_ends(|f| f.credit_stalls),
            counts,
            coverage: Met::of_both(&ends[0].coverage, &ends[1].coverage),
        }
    }

    fn stopped_by(end: &IoReport) -> Option<&'static str> {
        end.halted
    }

    /// Timers of CXL.io stop with its last answer, wherever the credits are then.
    fn held(_: &IoReport) -> Vec<(&'static str, u16)> {
        Vec::new()
    }

    fn astray(_: &IoReport, _: &IoReport) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// TLPs that each direction sends, in the order in which its end counts them.
const TLPS: [[&str; 3]; 2] =
    [["posted down", "non-posted down", "completion down"], ["posted up", "non-posted up", "completion up"]];
