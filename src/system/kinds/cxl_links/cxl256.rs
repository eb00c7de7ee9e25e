//! Links with 256B flits in their three modes.

use super::{
    Classes, CxlLine, CxlLink, Figures, FlitBits, PortBinding, Reported, classes, is_between_switches, is_coherent,
    messages, site, unit_bytes_per_s,
};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, ComponentPlug, ConfigFinding, Link, LinkFacts, LinkKind, LinkSite, PortRole, link,
};
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_kernel::{BuildError, PartitionBuilder, Simulation};
use scalepool_link::coverage::Met;
use scalepool_link::cxl256::cachemem::Cachemem;
use scalepool_link::cxl256::config::{CachememConfig, CreditReturn, LinkConfig, flit_time_fs};
use scalepool_link::cxl256::end::{Cxl256End, Stats};
use scalepool_link::cxl256::form::Flit256;
use scalepool_link::cxl256::port::EndReport;
use scalepool_link::port::MakesAgents;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Class;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::cxl256::{Mode, config::Cxl256Config};

/// Standard 256B flits.
pub const CXL_256B: LinkKind = LinkKind {
    name: "cxl-256b",
    about: "CXL.cachemem over standard 256B flits",
    fields: Standard::fields,
    read: link::<Standard>,
    metrics: &[METRICS],
};

metrics! {
    /// What a link counts.
    static METRICS {
        PROTOCOL = "protocol flits" ["flits"] Sum, "flits with messages or data sent";
        CREDIT = "credit flits" ["flits"] Sum, "flits that carry credits alone sent";
        NOPS = "NOP flits" ["flits"] Sum, "flits without payload sent";
        REPLAYED = "replayed flits" ["flits"] Sum, "flits sent again";
        NAKS = "Nak flits" ["flits"] Sum, "flits with a Nak sent";
        LATE_ACKS = "late Acks" ["Acks"] Sum, "Acks sent later than the limit of the sheet allows";
        EARLY_HALVES = "early halves" ["halves"] Sum, "first halves of latency-optimised flits that were used before the second one";
        REPAIRS = "FEC repairs" ["flits"] Sum, "flits that the FEC repaired";
        BAD = "bad flits" ["flits"] Sum, "flits that were thrown away by their CRC";
    }
}

/// Latency-optimised 256B flits.
pub const CXL_256B_LOPT: LinkKind = LinkKind {
    name: "cxl-256b-lopt",
    about: "CXL.cachemem over latency-optimised 256B flits, whose halves are used one by one",
    fields: LatencyOptimised::fields,
    read: link::<LatencyOptimised>,
    metrics: &[METRICS],
};

/// 256B flits with port based routing.
pub const CXL_256B_PBR: LinkKind = LinkKind {
    name: "cxl-256b-pbr",
    about: "CXL.cachemem over 256B flits with port based routing: requests carry SPID and DPID",
    fields: Pbr::fields,
    read: link::<Pbr>,
    metrics: &[METRICS],
};

config! {
    /// A link with 256B flits. Numbers without another source are of the model (basis: model).
    pub struct Cxl256Link with { line: CxlLine, bits: FlitBits } {
        rate: u32 = "64" [Unit::Rate] in FieldRange::OneOf(&[8, 16, 32, 64]), "line rate (cxl-256b §9)";
        retry_entries: u16 = "511" [Unit::Of("flits")] in FieldRange::Int(1, 511), "retry buffer (cxl-256b §9)";
        timeout_flits: u32 = "1500" [Unit::Of("flits")] in FieldRange::Int(1, u32::MAX as u64), "replay timer (cxl-256b §9)";
        selective_nak: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "request only the lost flit instead of all flits from it on (cxl-256b §9)";
        nak_ignore_flits: u16 = "16" [Unit::Of("flits")] in FieldRange::Int(0, 1023), "flits after the start of a replay in which a Nak is ignored (cxl-256b §9)";
        flush_credits: u16 = "16" [Unit::Of("credits")] in FieldRange::Int(1, 1023), "pending credits of a channel that force an Empty flit (cxl-256b §9)";
        flush_flits: u32 = "64" [Unit::Of("flits")] in FieldRange::Int(1, 1 << 20), "flits for which credits wait for a message to travel with (cxl-256b §9)";
    }
}

config! {
    /// A link of kind `cxl-256b`.
    pub struct Standard with { link: Cxl256Link } {}
}

config! {
    /// A link of kind `cxl-256b-lopt`.
    pub struct LatencyOptimised with { link: Cxl256Link } {}
}

config! {
    /// A link of kind `cxl-256b-pbr`.
    pub struct Pbr with { link: Cxl256Link } {
        host_pid: u16 = "1" [Unit::Of("-")] in FieldRange::Int(0, 4095), "port ID of the host, the SPID of its requests (cxl-256b §3.2); behind a switch its port counts";
        device_pid: u16 = "2" [Unit::Of("-")] in FieldRange::Int(0, 4095), "port ID of the device, the DPID of requests (cxl-256b §3.2); behind a switch its port counts";
    }
}

impl Cxl256Link {
    fn unit_time_fs(&self) -> (u64, u64) {
        flit_time_fs(self.line.width.into(), self.rate.into())
    }

    fn facts(&self, mode: Mode, port_ids: [u16; 2]) -> LinkFacts {
        let unit_bytes_per_s = unit_bytes_per_s(FLIT_BYTES, self.unit_time_fs());
        LinkFacts { carried: Carried::Cxl { form: mode.routing().into(), port_ids }, unit_bytes_per_s }
    }

    fn config(&self, mode: Mode) -> LinkConfig {
        LinkConfig {
            buffer_flits: self.retry_entries,
            replay_timer_flits: self.timeout_flits,
            nak_ignore_flits: self.nak_ignore_flits,
            selective_nak: self.selective_nak,
            ..LinkConfig::of_line(mode, self.line.width.into(), self.rate)
        }
    }

    fn check(&self, mode: Mode) -> Vec<ConfigFinding> {
        let (_, mut wrong) = self.line.faults(FLIT_BYTES);
        let (config, way_fs) = (self.config(mode), self.line.way_fs());
        let way = config.check_way(way_fs, self.unit_time_fs());
        wrong.extend(way.err().map(|text| (self.line.slowest(), text)));
        let timer = config.check_timer(way_fs, self.unit_time_fs());
        wrong.extend(timer.err().map(|text| ("timeout_flits", text)));
        wrong
    }

    /// The longest way without bytes \[fs\], far below what makes the replay timer run out.
    fn longest_way_fs(&self) -> u128 {
        let (num, den) = self.unit_time_fs();
        let flits = self.timeout_flits.saturating_sub(ACK_FLITS) / 4;
        u128::from(flits) * u128::from(num) / u128::from(den)
    }

    fn build(&self, mode: Mode, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        // On a longer way Acks may come so late that flits go again.
        let is_long = u128::from(self.line.way_fs()) > self.longest_way_fs();
        if self.bits.has_bytes(&self.line, site) || is_long {
            self.built(mode, sim, site, Cxl256End::cachemem)
        } else {
            self.built(mode, sim, site, Cxl256End::cachemem_without_bytes)
        }
    }

    fn built<F: Flit256>(
        &self,
        mode: Mode,
        sim: &mut Simulation,
        site: &LinkSite<'_>,
        end: fn(LinkConfig, CachememConfig) -> Cxl256End<Cachemem<F>>,
    ) -> Result<BuiltLink, BuildError>
    where
        Cxl256End<Cachemem<F>>: MakesAgents<Report = EndReport>,
    {
        let is_coherent = is_coherent(site);
        let of = match (is_between_switches(site.roles), is_coherent) {
            (true, _) if site.roles[0] == PortRole::CachingFabric => CachememConfig::cachemem_both_ways,
            (true, _) => CachememConfig::mem_both_ways,
            (_, true) => CachememConfig::cachemem,
            _ => CachememConfig::mem,
        };
        let end_of = |dir| {
            let ends = of(dir, mode, self.line.buffers);
            let cachemem = CachememConfig {
                codec: Cxl256Config { mdh: self.line.mdh, ..ends.codec },
                credit_return: CreditReturn { credits: self.flush_credits, waiting_flits: self.flush_flits },
                ..ends
            };
            end(self.config(mode), cachemem)
        };
        let link = CxlLink {
            host: end_of(Dir::Down),
            device: end_of(Dir::Up),
            line: self.line.clone(),
            unit_bytes: FLIT_BYTES,
            unit_time_fs: self.unit_time_fs(),
            halves: mode.is_lopt(),
            form: mode.routing().into(),
            is_coherent,
        };
        site::build(link, sim, site)
    }
}

/// Flits between payload and its Ack beside the way there and back, at most: one in four flits carries an Ack (`cxl-256b` §9).
const ACK_FLITS: u32 = 64;

/// The three modes are one link with one constant.
macro_rules! modes {
    ($($kind:ty: $mode:expr, |$own:ident| $port_ids:expr;)*) => {
        $(impl Link for $kind {
            fn facts(&self) -> LinkFacts {
                let $own = self;
                self.link.facts($mode, $port_ids)
            }

            fn check(&self) -> Vec<ConfigFinding> {
                self.link.check($mode)
            }

            fn channels(&self, roles: [PortRole; 2]) -> [Vec<&'static str>; 2] {
                classes(roles)
            }

            fn latency_fs(&self, _: usize) -> u64 {
                self.link.line.way_fs()
            }

            fn hold_fs(&self) -> u64 {
                self.link.line.hold_fs(self.link.unit_time_fs())
            }

            fn ber(&self) -> f64 {
                self.link.line.ber
            }

            fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
                self.link.build($mode, sim, site)
            }
        })*
    };
}

modes! {
    Standard: Mode::Standard, |_own| [0, 0];
    LatencyOptimised: Mode::LatencyOptimised, |_own| [0, 0];
    Pbr: Mode::Pbr, |own| [own.host_pid, own.device_pid];
}

impl<F: Flit256> Reported for Cxl256End<Cachemem<F>>
where
    Cxl256End<Cachemem<F>>: MakesAgents<Report = EndReport>,
{
    fn plug(
        p: &mut PartitionBuilder,
        name: &str,
        edges: u32,
        classes: Option<Classes>,
    ) -> Result<(ComponentPlug, PortBinding<Self>), BuildError> {
        messages(p, name, edges, classes)
    }

    fn figures(ends: [&EndReport; 2], is_coherent: bool) -> Figures {
        let sum = |of: fn(&Stats) -> u64| ends.iter().map(|e| of(&e.stats)).sum::<u64>();
        let clients = ends.map(|e| &e.cachemem);
        let routing = ends[0].routing;
        let sent = |class: Class| {
            // Counted where they arrive: nothing gets lost for good on this link.
            let count = clients.iter().map(|c| c.messages[class.index()]).sum();
            (class.def(routing).name.to_owned(), count)
        };
        const MEM: &[Class] = &[Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs];
        // Back-invalidates pass between switches only where devices share lines.
        let is_shown =
            |class: &Class| is_coherent || MEM.contains(class) || clients.iter().any(|c| c.messages[class.index()] > 0);
        let units = ends.map(|e| e.stats.modelled);
        let (payload, replayed) = (sum(|s| s.sent_payload), sum(|s| s.replayed));
        Figures {
            units,
            messages: Class::ALL.into_iter().filter(is_shown).map(sent).collect(),
            retries: sum(|s| s.replays),
            credit_stalls: ends.iter().map(|e| e.stats.credit_stalls).sum(),
            counts: vec![
                (&PROTOCOL, clients.iter().map(|c| c.sent_protocol).sum()),
                (&CREDIT, clients.iter().map(|c| c.sent_credits).sum()),
                (&NOPS, units.iter().sum::<u64>() - payload - replayed),
                (&REPLAYED, replayed),
                (&NAKS, sum(|s| s.sent_naks)),
                (&LATE_ACKS, sum(|s| s.acks_late)),
                (&EARLY_HALVES, sum(|s| s.early_halves)),
                (&REPAIRS, sum(|s| s.repaired)),
                (&BAD, sum(|s| s.bad)),
            ],
            coverage: Met::of_both(&ends[0].coverage, &ends[1].coverage),
        }
    }

    fn stopped_by(end: &EndReport) -> Option<&'static str> {
        end.halted
    }

    fn held(end: &EndReport) -> Vec<(&'static str, u16)> {
        Class::ALL.iter().map(|class| (class.def(end.routing).name, end.held[class.index()])).collect()
    }

    fn astray(end: &EndReport, peer: &EndReport) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for class in Class::ALL {
            let (has, should) = (end.spend[class.index()], peer.granted[class.index()]);
            if has != should {
                let name = class.def(end.routing).name;
                found.push((format!("{has} credits for {name}"), format!("{should}, as the peer counts")));
            }
        }
        let (acked, got) = (end.acknowledged, peer.last_good);
        if acked != got {
            found.push((format!("number {acked} acknowledged"), format!("{got}, which the peer has received")));
        }
        found
    }
}
