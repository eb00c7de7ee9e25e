//! Links with 68B flits.

use super::{
    Classes, CxlLine, CxlLink, Figures, FlitBits, PortBinding, Reported, classes, is_coherent, messages, site,
    unit_bytes_per_s,
};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, ComponentPlug, ConfigFinding, Link, LinkFacts, LinkKind, LinkSite, PortRole, UnitsInFlight,
    link,
};
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_kernel::{BuildError, PartitionBuilder, Simulation};
use scalepool_link::coverage::Met;
use scalepool_link::cxl68::end::{Cxl68End, EndConfig};
use scalepool_link::cxl68::port::EndReport;
use scalepool_link::cxl68::timing::LineRate;
use scalepool_link::cxl68::{Flit68, UNDER_WAY_BYTES};
use scalepool_link::port::MakesAgents;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Cxl68ConfigError};
use scalepool_protocols::cxl::cxl68::lanes::Cxl68Width;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;
use scalepool_protocols::cxl::message::MessageForm;

/// The kind.
pub const CXL_68B: LinkKind = LinkKind {
    name: "cxl-68b",
    about: "CXL.cachemem over 68B flits, at most 32 GT/s",
    fields: Cxl68Link::fields,
    read: link::<Cxl68Link>,
    metrics: &[METRICS],
};

metrics! {
    /// What a link counts.
    static METRICS {
        PROTOCOL = "protocol flits" ["flits"] Sum, "flits with a header and slots sent";
        ALL_DATA = "all-data flits" ["flits"] Sum, "flits of data alone sent";
        LLCRD = "LLCRD flits" ["flits"] Sum, "flits that carry credits and Acks alone sent";
        RETRY = "RETRY flits" ["flits"] Sum, "flits of the retry sequence sent";
        REPLAYED = "replayed flits" ["flits"] Sum, "flits sent again";
    }
}

config! {
    /// A link with 68B flits. Numbers without another source are of the model (basis: model).
    pub struct Cxl68Link with { line: CxlLine, bits: FlitBits } {
        rate: u32 = "32" [Unit::Rate] in FieldRange::OneOf(&[8, 16, 32]), "line rate (cxl-68b §1.3)";
        sync_headers: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "2-bit sync header every 130 bits (cxl-68b §1.3)";
        skip_ordered_sets: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "one ordered set every 340 data blocks";
        retry_entries: u16 = "128" [Unit::Of("flits")] in FieldRange::Int(22, 255), "retry buffer (cxl-68b §7.1)";
        timeout_flits: u32 = "4096" [Unit::Of("flits")] in FieldRange::Int(1, u32::MAX as u64), "retry time-out, counted in sent flits (cxl-68b §7.3)";
        max_num_retry: u8 = "10" [Unit::Of("tries")] in FieldRange::Int(1, 31), "retries before the physical layer is reinitialised (cxl-68b §7.3)";
        max_num_phy_reinit: u8 = "10" [Unit::Of("tries")] in FieldRange::Int(1, 31), "reinitialisations before the link goes down (cxl-68b §7.3)";
        flush_flits: u16 = "32" [Unit::Of("flit clocks")] in FieldRange::Int(1, 1023), "LLCRD flush timer (cxl-68b §7.1)";
    }
}

impl Cxl68Link {
    fn line_rate(&self) -> LineRate {
        let width = Cxl68Width::new(self.line.width).unwrap_or_else(|| unreachable!("the range of the width"));
        let Cxl68Link { rate, sync_headers, skip_ordered_sets, .. } = *self;
        LineRate { rate_gtps: rate, width, sync_headers, skip_ordered_sets }
    }

    fn config(&self, dir: Dir, is_coherent: bool) -> EndConfig {
        let config = Cxl68Config {
            mdh: self.line.mdh,
            llrb_entries: self.retry_entries,
            timeout_flits: self.timeout_flits,
            max_num_retry: self.max_num_retry,
            max_num_phy_reinit: self.max_num_phy_reinit,
            llcrd_flush_flits: self.flush_flits,
            ..Cxl68Config::default()
        };
        let of = if is_coherent { EndConfig::cachemem } else { EndConfig::mem };
        of(dir, config, self.line.buffers)
    }

    /// Both ends in the form that [`EndConfig`] is given to `end` for.
    fn built<U: Flit68>(
        &self,
        sim: &mut Simulation,
        site: &LinkSite<'_>,
        end: fn(EndConfig) -> Result<Cxl68End<U>, Cxl68ConfigError>,
    ) -> Result<BuiltLink, BuildError>
    where
        Cxl68End<U>: MakesAgents<Report = EndReport>,
    {
        let is_coherent = is_coherent(site);
        let end =
            |dir| end(self.config(dir, is_coherent)).unwrap_or_else(|error| unreachable!("it was checked: {error}"));
        let link = CxlLink {
            host: end(Dir::Down),
            device: end(Dir::Up),
            line: self.line.clone(),
            unit_bytes: UNIT_BYTES,
            unit_time_fs: self.line_rate().unit_time_fs(),
            halves: false,
            form: MessageForm::Cxl68,
            is_coherent,
        };
        site::build(link, sim, site)
    }
}

impl Link for Cxl68Link {
    fn facts(&self) -> LinkFacts {
        let rate = unit_bytes_per_s(UNIT_BYTES, self.line_rate().unit_time_fs());
        LinkFacts { carried: Carried::Cxl { form: MessageForm::Cxl68, port_ids: [0, 0] }, unit_bytes_per_s: rate }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let (_, mut wrong) = self.line.faults(UNIT_BYTES);
        let end = Cxl68End::new(self.config(Dir::Down, true));
        wrong.extend(end.err().map(|error| ("retry_entries", error.to_string())));
        wrong
    }

    fn on_wire(&self, _: [PortRole; 2], _: usize) -> Option<UnitsInFlight> {
        Some(UnitsInFlight {
            key: self.line.slowest(),
            way_fs: self.line.way_fs(),
            unit_time_fs: self.line_rate().unit_time_fs(),
            unit_bytes: UNDER_WAY_BYTES,
        })
    }

    fn hold_fs(&self) -> u64 {
        self.line.hold_fs(self.line_rate().unit_time_fs())
    }

    fn channels(&self, roles: [PortRole; 2]) -> [Vec<&'static str>; 2] {
        classes(roles)
    }

    fn latency_fs(&self, _: usize) -> u64 {
        self.line.way_fs()
    }

    fn ber(&self) -> f64 {
        self.line.ber
    }

    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        if self.bits.has_bytes(&self.line, site) {
            self.built(sim, site, Cxl68End::new)
        } else {
            self.built(sim, site, Cxl68End::without_bytes)
        }
    }
}

impl<U: Flit68> Reported for Cxl68End<U>
where
    Cxl68End<U>: MakesAgents<Report = EndReport>,
{
    fn plug(
        p: &mut PartitionBuilder,
        name: &str,
        edges: u32,
        classes: Option<Classes>,
    ) -> Result<(ComponentPlug, PortBinding<Self>), BuildError> {
        messages(p, name, edges, classes)
    }

    fn figures([host, device]: [&EndReport; 2], is_coherent: bool) -> Figures {
        let (down, up) = (&host.stats, &device.stats);
        let sent = |class: Class| {
            let stats = if class.dir() == Dir::Down { down } else { up };
            (class.def().name.to_owned(), stats.messages[class.index()])
        };
        const MEM: &[Class] = &[Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs];
        let classes = if is_coherent { &Class::ALL[..] } else { MEM };
        Figures {
            units: [down.sent, up.sent],
            messages: classes.iter().copied().map(sent).collect(),
            retries: down.retries + up.retries,
            credit_stalls: down.credit_stalls + up.credit_stalls,
            counts: vec![
                (&PROTOCOL, down.sent_protocol + up.sent_protocol),
                (&ALL_DATA, down.sent_all_data + up.sent_all_data),
                (&LLCRD, down.sent_llcrd + up.sent_llcrd),
                (&RETRY, down.sent_retry + up.sent_retry),
                (&REPLAYED, down.replayed + up.replayed),
            ],
            coverage: Met::of_both(&host.coverage, &device.coverage),
        }
    }

    fn stopped_by(end: &EndReport) -> Option<&'static str> {
        end.halted
    }

    fn held(end: &EndReport) -> Vec<(&'static str, u16)> {
        Class::ALL.iter().map(|class| (class.def().name, end.held[class.index()])).collect()
    }

    fn astray(end: &EndReport, peer: &EndReport) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for class in Class::ALL {
            let (has, should) = (end.spend[class.index()], peer.granted[class.index()]);
            if has != should {
                let name = class.def().name;
                found.push((format!("{has} credits for {name}"), format!("{should}, as the peer counts")));
            }
        }
        let (kept, open) = (end.unacknowledged, peer.num_ack);
        if kept != open {
            let kept = format!("{kept} flits in the retry buffer");
            found.push((kept, format!("{open}, which the peer has not acknowledged")));
        }
        found
    }
}
