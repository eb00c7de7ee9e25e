//! Which sets there are, and what they are made from.

use super::vectors::VectorSet;
use super::{cxl68, cxl256, cxlio, layouts, nvlink, ualink};
use scalepool_forms::{flit_io, flit_nvl, flit_ual, flit256};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::registry::{self, PROTOCOLS, Protocol};
use scalepool_protocols::wire::LayoutDef;

/// Version of the file formats. A changed byte in a released vector is a new one.
pub const FORMAT_VERSION: u32 = 1;

/// Seed when none is given.
pub const DEFAULT_SEED: u64 = 1;

/// Random vectors of a layout when no count is given.
pub const DEFAULT_COUNT: u32 = 64;

/// Families other than `cxl68` take one random vector for so many of the count: their lines are up to four times as long.
pub const THINNED: u32 = 16;

/// Most random vectors of a layout: a file of traffic then has about 150 MB.
pub const MAX_COUNT: u32 = 10_000;

/// Largest seed: TOML integers are signed.
pub const MAX_SEED: u64 = i64::MAX as u64;

/// What a golden set is made from. Equal values give equal bytes on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Protocols, in order of the registry.
    pub protocols: Vec<&'static Protocol>,
    /// Seed, at most [`MAX_SEED`].
    pub seed: u64,
    /// Random vectors of each layout, at most [`MAX_COUNT`]; traffic has four flits for each. Families other than `cxl68`
    /// take one for every 16, and as many flits of traffic.
    pub count: u32,
    /// Version of the model, for the headers.
    pub model_version: String,
}

/// Families that have vector sets.
const FAMILIES: [&str; 6] = ["cxl68", "cxl256", "cxlpbr", "cxlio", "ualink", "nvlink"];

/// Protocols that have vector sets, in order of the registry.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    PROTOCOLS.iter().filter(|p| FAMILIES.contains(&p.family))
}

impl Default for Spec {
    fn default() -> Spec {
        Spec {
            protocols: protocols().collect(),
            seed: DEFAULT_SEED,
            count: DEFAULT_COUNT,
            model_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Spec {
    /// The command that makes the set.
    pub fn command(&self) -> String {
        let protocol = match self.protocols.as_slice() {
            [one] => format!(" --protocol {}", one.name),
            _ => String::new(),
        };
        format!("scalepool golden{protocol} --seed {} --count {} --out DIR", self.seed, self.count)
    }

    /// The command that makes each of its files, among others: it stays the same when protocols are added.
    pub fn command_of_files(&self) -> String {
        format!("scalepool golden --seed {} --count {} --out DIR", self.seed, self.count)
    }

    /// Its sets, in order of the manifest.
    pub fn sources(&self) -> Vec<VectorSource> {
        let mut sources = Vec::new();
        for (n, protocol) in self.protocols.iter().enumerate() {
            // Protocols of one family share its layouts.
            if self.protocols[..n].iter().all(|p| p.family != protocol.family) {
                sources.extend(registry::layouts().filter(|l| l.family() == protocol.family).map(VectorSource::Layout));
            }
            match (flit256::mode_of(protocol.name), protocol.name) {
                (Some(mode), _) => sources.extend(Dir::ALL.map(|dir| VectorSource::Flits256(mode, dir))),
                (None, flit_ual::PROTOCOL) => sources.extend(Dir::ALL.map(VectorSource::FlitsUal)),
                (None, flit_nvl::PROTOCOL) => sources.extend(Dir::ALL.map(VectorSource::PacketsNvl)),
                (None, flit_io::PROTOCOL) => sources.extend(Dir::ALL.map(VectorSource::FlitsIo)),
                (None, _) => {
                    let kinds =
                        [VectorSource::Flits, VectorSource::Control, VectorSource::Retry, VectorSource::Context];
                    sources.extend(kinds.iter().flat_map(|kind| Dir::ALL.map(kind)));
                }
            }
        }
        sources
    }
}

/// One vector set before it is made.
#[derive(Debug, Clone, Copy)]
pub enum VectorSource {
    /// Messages of a layout.
    Layout(&'static LayoutDef),
    /// Traffic, slot formats and visible breaks of `cxl-68b`.
    Flits(Dir),
    /// Control flits, ALMP, NULL and io of `cxl-68b`.
    Control(Dir),
    /// Retry of `cxl-68b`.
    Retry(Dir),
    /// Breaks of `cxl-68b` that need context.
    Context(Dir),
    /// Flits of a 256-byte mode with slots.
    Flits256(Mode, Dir),
    /// Flits of `cxl-io`.
    FlitsIo(Dir),
    /// Flits of `ualink`.
    FlitsUal(Dir),
    /// Packets of `nvlink`.
    PacketsNvl(Dir),
}

impl VectorSource {
    /// Makes the set.
    pub fn vectors(self, spec: &Spec) -> VectorSet {
        match self {
            VectorSource::Layout(def) if def.family() == "cxl68" => layouts::vectors(def, spec.seed, spec.count),
            VectorSource::Layout(def) => layouts::vectors(def, spec.seed, thinned(spec.count)),
            VectorSource::Flits256(mode, dir) => cxl256::flits::vectors(mode, dir, spec.seed, thinned(spec.count)),
            VectorSource::FlitsUal(dir) => ualink::vectors(dir, spec.seed, thinned(spec.count)),
            VectorSource::PacketsNvl(dir) => nvlink::vectors(dir, spec.seed, thinned(spec.count)),
            VectorSource::FlitsIo(dir) => cxlio::vectors(dir, spec.seed, thinned(spec.count)),
            VectorSource::Flits(dir) => cxl68::flits::vectors(dir, spec.seed, spec.count),
            VectorSource::Control(dir) => cxl68::control::vectors(dir, spec.seed, spec.count),
            VectorSource::Retry(dir) => cxl68::retry::vectors(dir, spec.seed),
            VectorSource::Context(dir) => cxl68::context::vectors(dir, spec.seed),
        }
    }
}

/// Random vectors of the families whose lines are long.
fn thinned(count: u32) -> u32 {
    count.div_ceil(THINNED)
}
