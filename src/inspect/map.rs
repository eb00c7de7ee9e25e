//! The map: which signals of a wave are an interface that carries flits.
//!
//! ```toml
//! scope = "tb.dut"              # optional: stands before every signal name
//!
//! [[interface]]
//! name = "link.down"            # its name in output and traces
//! protocol = "cxl-68b"          # as `list protocols` shows it
//! dir = "down"                  # or "up"
//! clock = "clk"
//! edge = "rising"               # or "falling", "any": every change, as of a count of events
//! sample = "before"             # values before the edge, as a register takes them; or "after". Of edge "any": "after"
//! reset = "rst_n"               # optional
//! reset_active = "low"          # or "high"
//! valid = "valid"               # optional: without it every edge counts
//! ready = "ready"               # optional
//! first = "sop"                 # optional: 1 at the first beat of a unit, 0 at its others
//! data = "flit[543:0]"          # a signal or a part of it; bit 8n+b is bit b of byte n
//! unit_bits = 544               # optional: bits of a unit, if not those of the protocol
//! ```
//!
//! A signal is named by its full path or by an end of it that is the path of no other signal, so that scopes that one
//! simulator puts on top and another one does not may be left out. A unit wider than `data` comes in several beats, lowest
//! bits first. A packet of NVLink ends where `first` says that the next one
//! begins; without `first` it has as many flits as its header says.

use super::InspectError;
use scalepool_protocols::registry::{self, Protocol};
use serde::Deserialize;

/// What a map file says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Stands before every signal name.
    pub scope: Option<String>,
    /// The interfaces, at least one.
    #[serde(default)]
    pub interface: Vec<Interface>,
}

/// One direction of one link.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Name in output and traces: names joined by dots.
    pub name: String,
    /// Name in [`registry::PROTOCOLS`].
    pub protocol: String,
    /// `down` or `up`.
    pub dir: String,
    /// Signal whose edges sample the others.
    pub clock: String,
    /// Which of its changes.
    #[serde(default)]
    pub edge: Edge,
    /// Which values; by default those before a rising or falling edge, those after any change.
    pub sample: Option<Sample>,
    /// While it is active nothing is sampled, and the stream begins anew.
    pub reset: Option<String>,
    /// Level at which it is active.
    #[serde(default)]
    pub reset_active: Level,
    /// 1 where there is data.
    pub valid: Option<String>,
    /// 1 where data is taken.
    pub ready: Option<String>,
    /// 1 at the first beat of a unit.
    pub first: Option<String>,
    /// The bytes.
    pub data: String,
    /// Bits of a unit.
    pub unit_bits: Option<usize>,
}

/// Changes of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// To 1.
    #[default]
    Rising,
    /// To 0.
    Falling,
    /// Every one.
    Any,
}

/// Values beside an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sample {
    /// Those of the instant before.
    Before,
    /// Those at the end of its instant.
    After,
}

/// A level of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// 0.
    #[default]
    Low,
    /// 1.
    High,
}

/// What a unit in the wave holds of the unit of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// All of it.
    Unit,
    /// A 68-byte unit without its protocol ID.
    FlitAndCrc,
    /// Its slots alone.
    Slots,
}

impl Map {
    /// Reads the text of a map file; `path` is its name in messages.
    ///
    /// # Errors
    /// Text that is no map: TOML, keys, values, names.
    pub fn read(text: &str, path: &str) -> Result<Map, InspectError> {
        let map: Map = toml::from_str(text)
            .map_err(|e| InspectError::Map { path: path.to_owned(), text: e.to_string().trim_end().to_owned() })?;
        let refuse = |text: String| Err(InspectError::Map { path: path.to_owned(), text });
        if map.interface.is_empty() {
            return refuse("found no [[interface]], expected at least one".into());
        }
        for (n, interface) in map.interface.iter().enumerate() {
            let name = &interface.name;
            if !name.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_graphic())) {
                return refuse(format!("interface {n}, key `name`: found `{name}`, expected names joined by dots"));
            }
            if map.interface[..n].iter().any(|other| other.name == *name) {
                return refuse(format!("interface {n}, key `name`: found `{name}` again, expected another name"));
            }
            if let Err(text) = interface.holds() {
                return refuse(format!("interface `{name}`, {text}"));
            }
        }
        Ok(map)
    }
}

impl Interface {
    /// Row of the protocol.
    pub(super) fn protocol(&self) -> Option<&'static Protocol> {
        registry::PROTOCOLS.iter().find(|p| p.name == self.protocol)
    }

    /// Bits of a unit in the wave and what it holds.
    pub(super) fn holds(&self) -> Result<(usize, Holds), String> {
        let Some(protocol) = self.protocol() else {
            let known: Vec<_> = registry::PROTOCOLS.iter().map(|p| p.name).collect();
            return Err(format!("key `protocol`: found `{}`, expected one of {}", self.protocol, known.join(", ")));
        };
        if !["down", "up"].contains(&self.dir.as_str()) {
            return Err(format!("key `dir`: found `{}`, expected `down` or `up`", self.dir));
        }
        let whole = 8 * protocol.unit_bytes;
        match (self.unit_bits.unwrap_or(whole), protocol.name) {
            (bits, _) if bits == whole => Ok((bits, Holds::Unit)),
            (528, "cxl-68b") => Ok((528, Holds::FlitAndCrc)),
            (512, "cxl-68b") => Ok((512, Holds::Slots)),
            (bits, "cxl-68b") => Err(format!("key `unit_bits`: found {bits}, expected 544, 528 or 512")),
            (bits, _) => Err(format!("key `unit_bits`: found {bits}, expected {whole}")),
        }
    }

    /// Which values it samples.
    pub(super) fn sample(&self) -> Sample {
        let usual = if self.edge == Edge::Any { Sample::After } else { Sample::Before };
        self.sample.unwrap_or(usual)
    }
}
