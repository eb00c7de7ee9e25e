//! Passive ends: they read both directions and say which rules are broken.
//!
//! Each direction goes through the decoder of its stream with all its checks. Beside them stands, for CXL 68B and the 256B
//! modes, the monitor of the end that is watched, which knows retry, acknowledgements and credits. For UALink and NVLink
//! these are left out: what the decoder of a stream sees is all.

use super::active::cxl68_config;
use super::config::{Config, Protocol};
use super::ualink::CONTROL_BYTES;
use crate::ffi::status::Failure;
use crate::forms::FormError;
use crate::forms::flit::Decoder;
use crate::link::cxl68::{Monitor, MonitorConfig};
use crate::link::cxl256::Monitor as Monitor256;
use crate::link::event::{Event, Severity};
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxl256::flit::Flit;
use scalepool_protocols::nvlink::{FLIT_BYTES, Header};
use scalepool_protocols::wire::Wire;

/// The watcher of one end.
pub struct Watch {
    /// Both directions: what comes to the end, what it sends.
    streams: [Stream; 2],
    monitor: Option<Beside>,
    events: Vec<(&'static str, Event)>,
}

/// The monitor of the end.
enum Beside {
    Cxl68(Box<Monitor>),
    Cxl256(Box<Monitor256>),
}

struct Stream {
    port: &'static str,
    decoder: Decoder,
    /// NVLink: flits of the packet so far, and how many it has.
    packet: Option<(Vec<u8>, usize)>,
    units: u64,
}

impl Stream {
    fn new(port: &'static str, config: &Config, sends: bool) -> Result<Stream, FormError> {
        let dir = if sends { config.dir } else { config.dir.opposite() };
        let packet = (config.protocol == Protocol::Nvlink).then(|| (Vec::new(), 0));
        Ok(Stream { port, decoder: Decoder::new(config.protocol.name(), dir)?, packet, units: 0 })
    }

    /// Reads a unit; what it breaks goes to `events`.
    fn read(&mut self, unit: &[u8], events: &mut Vec<(&'static str, Event)>) {
        let number = self.units;
        self.units += 1;
        // Control flits in place of a flit say nothing about the stream.
        if unit.len() == CONTROL_BYTES {
            return;
        }
        let whole = match &mut self.packet {
            None => unit.to_vec(),
            Some((flits, length)) => {
                if flits.is_empty() {
                    let bits = unit.iter().rev().fold(0, |n, &b| n << 8 | u128::from(b));
                    *length = FLIT_BYTES * (1 + usize::from(Header::from_bits(bits).len).min(17));
                }
                flits.extend_from_slice(unit);
                if flits.len() < *length {
                    return;
                }
                std::mem::take(flits)
            }
        };
        // Units have the length of their protocol, so every answer is an object.
        for (_, findings) in self.decoder.read(Ok(&whole)).into_iter().flatten() {
            let of = |violation| Event { severity: Severity::Protocol, unit: number, violation };
            events.extend(findings.violations.into_iter().map(|v| (self.port, of(v))));
        }
    }
}

impl Watch {
    pub fn new(config: &Config) -> Result<Watch, Failure> {
        let monitor = match config.protocol {
            Protocol::Cxl68 => {
                let link = cxl68_config(config);
                link.validate().map_err(|e| Failure::range("config", e, "a choice in its range"))?;
                let (dir, reaction_flits) = (config.dir, config.reaction_flits);
                let config = MonitorConfig { dir, link, enabled: Enabled::ALL, reaction_flits };
                Some(Beside::Cxl68(Box::new(Monitor::new(config))))
            }
            Protocol::Cxl256(mode) => {
                Some(Beside::Cxl256(Box::new(Monitor256::new(mode, config.dir, config.selective_nak))))
            }
            Protocol::Nvlink | Protocol::Ualink => None,
        };
        let streams = [Stream::new("rx", config, false)?, Stream::new("tx", config, true)?];
        Ok(Watch { streams, monitor, events: Vec::new() })
    }

    /// A unit has come to the end.
    pub fn received(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        self.streams[0].read(unit, &mut self.events);
        match &mut self.monitor {
            Some(Beside::Cxl68(monitor)) => monitor.received(&Unit::from_bytes(unit)?, now),
            Some(Beside::Cxl256(monitor)) => monitor.received(&Flit::from_bytes(unit)?, now),
            None => (),
        }
        Ok(())
    }

    /// The end has sent a unit.
    pub fn sent(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        self.streams[1].read(unit, &mut self.events);
        match &mut self.monitor {
            Some(Beside::Cxl68(monitor)) => monitor.sent(&Unit::from_bytes(unit)?, now),
            Some(Beside::Cxl256(monitor)) => monitor.sent(&Flit::from_bytes(unit)?, now),
            None => (),
        }
        Ok(())
    }

    /// Events since the last call, with their ports.
    pub fn events(&mut self) -> Vec<(&'static str, Event)> {
        let mut events = std::mem::take(&mut self.events);
        let found = match &mut self.monitor {
            Some(Beside::Cxl68(monitor)) => monitor.take_events(),
            Some(Beside::Cxl256(monitor)) => monitor.take_events(),
            None => Vec::new(),
        };
        events.extend(found.into_iter().map(|e| ("tx", e)));
        events
    }

    /// Training begins or is over.
    pub fn train(&mut self, up: bool) -> Result<(), Failure> {
        match &mut self.monitor {
            Some(Beside::Cxl68(monitor)) if up => monitor.trained(),
            Some(Beside::Cxl256(monitor)) if up => monitor.trained(),
            _ => (),
        }
        Ok(())
    }
}
