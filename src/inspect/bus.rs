//! Interfaces that cores have, by the names of their signals behind a prefix, out of the table of them.
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
use scalepool_protocols::interfaces::{CORE_INTERFACES, CoreInterface, InterfaceSignal, SignalNeed, SignalRole};
use serde::Deserialize;

/// A kind of interface, by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct MappedBus(&'static CoreInterface);

impl TryFrom<String> for MappedBus {
    type Error = String;

    fn try_from(key: String) -> Result<MappedBus, String> {
        let known: Vec<_> = CORE_INTERFACES.iter().map(|interface| format!("`{}`", interface.key)).collect();
        let wrong = || format!("key `bus`: found `{key}`, expected one of {}", known.join(", "));
        CoreInterface::find(&key).map(MappedBus).ok_or_else(wrong)
    }
}

impl MappedBus {
    /// Its key.
    pub(super) const fn key(self) -> &'static str {
        self.0.key
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
        let named = |signal: &InterfaceSignal| format!("{prefix}_{}", signal.name);
        let side = |key: &Option<String>, role: SignalRole| {
            let of_bus = bus.0.signal(role).map(|signal| (signal.need == SignalNeed::Always, named(signal)));
            let is_used = |(always, name): &(bool, String)| *always || is_there(name);
            key.clone().or(of_bus.filter(is_used).map(|(_, name)| name))
        };
        let offered = bus.0.signals.iter().filter(|signal| {
            matches!(signal.role, SignalRole::Valid | SignalRole::Offer) && signal.need == SignalNeed::Always
        });
        Ok(SignalNames {
            valid: valid.clone().map_or_else(|| offered.map(named).collect(), |name| vec![name]),
            ready: side(ready, SignalRole::Ready),
            last: side(last, SignalRole::Last),
            keep: side(keep, SignalRole::Keep),
            grant: side(&None, SignalRole::Grant),
            state: side(&None, SignalRole::State),
            data: side(data, SignalRole::Data).unwrap_or_default(),
        })
    }
}
