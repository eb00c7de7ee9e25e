//! Interfaces that cores have, by the names of their signals behind a prefix.
//!
//! Modelled: which signals say that a beat passes, which is the last one of a flit, which of its bytes count. What is called *like* a
//! public interface has its handshake and no more. Where `crdgnt` of a credited bus is in the wave, a beat needs a credit that was granted
//! at an edge before, counted from a reset in the wave on, for nobody knows what was granted before the wave; where `state_sts` of a bus
//! with states is there, data is offered in the state Active alone. A `crdgnt` of x counts as a grant. Left out: credits that the sender
//! gives back (`crdrtn` of CXS), which stay counted as granted, so that a beat that spends one of them is not told; parity and errors, the
//! order of states, requests for them.
//!
//! A walk through one interface: `bus = "axi-stream"` and `prefix = "m_axis"` name `m_axis_tvalid` and `m_axis_tdata`, which have to be
//! there, and `m_axis_tready`, `m_axis_tlast` and `m_axis_tkeep`, each used where it is. A key of the map that names a signal goes first.

use super::map::Interface;
use serde::Deserialize;

/// A kind of interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MappedBus {
    /// AXI-Stream, a packet is a flit: tvalid, tdata; tready, tlast, tkeep where they are there.
    AxiStream,
    /// Like CXS: valid, data; last and crdgnt where they are there. A beat passes wherever valid is 1.
    Credited,
    /// Like LPIF and FDI: a beat passes where irdy, valid and trdy are 1; state_sts where it is there.
    State,
    /// 68B flits as the 512 bits of their slots: valid, data; ready where it is there. Protocol ID and CRC are not read.
    Slots68,
}

/// Names of signals behind a prefix; those of `optional` need not be there.
struct BusSignals {
    valid: &'static [&'static str],
    ready: Option<&'static str>,
    data: &'static str,
    optional: &'static [(&'static str, SideSignal)],
}

/// What an optional signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideSignal {
    Ready,
    Last,
    Keep,
    /// A credit for each edge at which it is 1.
    Grant,
    /// The state, [`ACTIVE`] where data may be offered.
    State,
}

/// The state Active of a bus with states: code 1, as in LPIF.
pub(super) const ACTIVE: u64 = 1;

impl MappedBus {
    const fn signals(self) -> BusSignals {
        use SideSignal::{Grant, Keep, Last, Ready, State};
        match self {
            MappedBus::AxiStream => BusSignals {
                valid: &["tvalid"],
                ready: None,
                data: "tdata",
                optional: &[("tready", Ready), ("tlast", Last), ("tkeep", Keep)],
            },
            MappedBus::Credited => BusSignals {
                valid: &["valid"],
                ready: None,
                data: "data",
                optional: &[("last", Last), ("crdgnt", Grant)],
            },
            MappedBus::State => BusSignals {
                valid: &["irdy", "valid"],
                ready: Some("trdy"),
                data: "data",
                optional: &[("state_sts", State)],
            },
            MappedBus::Slots68 => {
                BusSignals { valid: &["valid"], ready: None, data: "data", optional: &[("ready", Ready)] }
            }
        }
    }
}

/// The names that an interface samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignalNames {
    /// All of them are 1 where there is data.
    pub valid: Vec<String>,
    pub ready: Option<String>,
    pub last: Option<String>,
    pub keep: Option<String>,
    pub grant: Option<String>,
    pub state: Option<String>,
    pub data: String,
}

impl Interface {
    /// The names of its signals; `is_there` says whether the wave has one.
    ///
    /// # Errors
    /// Keys that do not go together.
    pub(super) fn signal_names(&self, is_there: impl Fn(&str) -> bool) -> Result<SignalNames, String> {
        let Interface { valid, ready, last, keep, data, .. } = self;
        let (Some(bus), Some(prefix)) = (self.bus, &self.prefix) else {
            if self.bus.is_some() || self.prefix.is_some() {
                let (found, expected) = if self.bus.is_some() { ("bus", "prefix") } else { ("prefix", "bus") };
                return Err(format!("key `{found}`: found a value, expected `{expected}` beside it"));
            }
            let data = data.clone().ok_or("key `data`: found none, expected a signal, or `bus` and `prefix`")?;
            let (valid, ready) = (valid.iter().cloned().collect(), ready.clone());
            let (last, keep) = (last.clone(), keep.clone());
            return Ok(SignalNames { valid, ready, last, keep, grant: None, state: None, data });
        };
        let BusSignals { valid: of_valid, ready: of_ready, data: of_data, optional } = bus.signals();
        let named = |name: &str| format!("{prefix}_{name}");
        let side = |key: &Option<String>, side: SideSignal| {
            let of_bus = optional.iter().find(|(_, of)| *of == side).map(|(name, _)| named(name));
            key.clone().or(of_bus.filter(|name| is_there(name)))
        };
        Ok(SignalNames {
            valid: valid.clone().map_or_else(|| of_valid.iter().map(|name| named(name)).collect(), |name| vec![name]),
            ready: side(ready, SideSignal::Ready).or(of_ready.map(named)),
            last: side(last, SideSignal::Last),
            keep: side(keep, SideSignal::Keep),
            grant: side(&None, SideSignal::Grant),
            state: side(&None, SideSignal::State),
            data: data.clone().unwrap_or_else(|| named(of_data)),
        })
    }
}
