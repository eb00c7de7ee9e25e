//! Links that carry CXL.cache and CXL.mem, in every flit mode.

use super::build::{Strand, Wants};
use crate::flit_link::flit_link;
use crate::settings::Settings;
use crate::{RunError, memory};
use scalepool_kernel::{BuildError, Simulation};
use scalepool_link::classes::ByClass;
use scalepool_link::cxl68::end::{End as End68, EndConfig};
use scalepool_link::cxl68::timing::LineRate;
use scalepool_link::cxl256::cachemem::Cachemem;
use scalepool_link::cxl256::config::{CachememConfig, flit_time_fs};
use scalepool_link::cxl256::port::PortEnd;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Width;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::class::Routing;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::message::Form;
use scalepool_trace::Hub;

/// What a kind of link is, whoever its ends are.
#[derive(Clone, Copy)]
pub(super) struct Spec {
    /// How it spells messages.
    pub form: Form,
    /// Bytes of a unit.
    pub unit_bytes: usize,
    /// Time of a unit as a fraction \[fs\], (numerator, denominator).
    pub unit_time_fs: (u64, u64),
    /// Units are used by halves.
    pub halves: bool,
}

/// A kind of link with its ends: the one that sends down, the one that sends up.
pub(super) struct Line<E> {
    ends: [E; 2],
    spec: Spec,
}

/// A kind of link, to put strands of it in.
pub(super) trait Kind {
    /// What it is.
    fn spec(&self) -> Spec;

    /// A strand of it.
    ///
    /// # Errors
    /// What the kernel refuses.
    fn strand(&self, sim: &mut Simulation, hub: &mut Hub, wants: Wants) -> Result<Strand, BuildError>;
}

impl<E: Counted> Kind for Line<E> {
    fn spec(&self) -> Spec {
        self.spec
    }

    fn strand(&self, sim: &mut Simulation, hub: &mut Hub, wants: Wants) -> Result<Strand, BuildError> {
        Strand::new(sim, hub, self.spec, self.ends.clone(), wants)
    }
}

/// The kind of link that a setting names.
///
/// # Errors
/// Choices that the link layer refuses.
pub(super) fn kind(mode: &str, settings: &Settings) -> Result<Box<dyn Kind>, RunError> {
    Ok(match mode {
        "cxl-68b" => Box::new(cxl68(settings)?),
        "cxl-256b-lopt" => Box::new(cxl256(Mode::LatencyOptimised, settings)?),
        "cxl-256b-pbr" => Box::new(cxl256(Mode::Pbr, settings)?),
        _ => Box::new(cxl256(Mode::Standard, settings)?),
    })
}

/// What a report wants of an end.
pub(super) trait Counted: ByClass {
    /// Units sent, times that it asked for something again, flit clocks in which a message waited for a credit.
    fn counted(&self) -> (u64, u64, u64);
}

impl Counted for End68 {
    fn counted(&self) -> (u64, u64, u64) {
        let stats = self.stats();
        (stats.sent, stats.retries, stats.credit_stalls)
    }
}

impl Counted for PortEnd<Cachemem> {
    fn counted(&self) -> (u64, u64, u64) {
        (self.sent, self.end.stats().replays, self.credit_stalls)
    }
}

/// A link with 68B flits.
///
/// # Errors
/// Choices that the link layer refuses.
fn cxl68(settings: &Settings) -> Result<Line<End68>, RunError> {
    let width = settings.int("link.width");
    let width = Width::new(width as u8).ok_or_else(|| settings.refuse("link.width", width))?;
    let rate_gtps = settings.int("link.rate_gtps") as u32;
    let line = LineRate { rate_gtps, width, sync_headers: false, skip_ordered_sets: false };
    // Every host has a link to every device.
    let sides = settings.iter().filter(|(key, _)| ["hosts", "devices"].contains(key));
    let links: u64 = sides.map(|(key, _)| settings.int(key)).product();
    memory::check_68b(settings, links, line.unit_time_fs())?;
    let end = |dir| End68::new(EndConfig::cachemem(dir, Cxl68Config::default(), settings.int("link.buffers") as u16));
    let spec = Spec { form: Form::Cxl68, unit_bytes: UNIT_BYTES, unit_time_fs: line.unit_time_fs(), halves: false };
    Ok(Line { ends: [end(Dir::Down)?, end(Dir::Up)?], spec })
}

/// A link with 256B flits.
///
/// # Errors
/// Settings that do not go together.
fn cxl256(mode: Mode, settings: &Settings) -> Result<Line<PortEnd<Cachemem>>, RunError> {
    let (lanes, rate_gtps) = (settings.int("link.width"), settings.int("link.rate_gtps"));
    let config = flit_link(mode, settings)?;
    let end = |dir| PortEnd::cachemem(config, CachememConfig::cachemem(dir, mode, settings.int("link.buffers") as u16));
    let spec = Spec {
        form: match mode.routing() {
            Routing::Hbr => Form::Hbr,
            Routing::Pbr => Form::Pbr,
        },
        unit_bytes: FLIT_BYTES,
        unit_time_fs: flit_time_fs(lanes, rate_gtps),
        halves: mode.is_lopt(),
    };
    Ok(Line { ends: [end(Dir::Down), end(Dir::Up)], spec })
}
