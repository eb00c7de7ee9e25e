//! Passive ends: they read both directions and say which rules are broken.
//!
//! CXL 68B: the monitor of the end that is watched knows retry, acknowledgements and credits, and so which unit is the next
//! of its stream. Each flit is judged once, when the end takes it or sends it for the first time; what is thrown away until
//! a replay comes is held against its CRC and protocol ID alone, and a replay against the flits that it repeats.
//!
//! The others: each direction goes through the decoder of its stream with all its checks, beside it, for the 256B modes, the
//! monitor of the end. Its flit clocks are the flits themselves: an interface may take several clocks for one, so silence
//! between two is no NOP that was left out. For UALink and NVLink retry and credits are left out: what the decoder of a stream sees is all.

use super::active::cxl68_config;
use super::config::{Config, Protocol};
use super::ualink::CONTROL_BYTES;
use crate::ffi::status::Failure;
use crate::forms::FormError;
use crate::forms::flit::Decoder;
use crate::link::cxl68::{Monitor, MonitorConfig};
use crate::link::cxl256::Monitor as Monitor256;
use crate::link::event::{Event, Severity};
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::Decoded;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxl256::flit::Flit;
use scalepool_protocols::nvlink::{FLIT_BYTES, Header};
use scalepool_protocols::wire::Wire;

/// The watcher of one end.
pub struct Watch {
    judge: Judge,
    events: Vec<(&'static str, Event)>,
}

/// Who reads both directions.
enum Judge {
    Cxl68(Box<Watch68>),
    /// What comes to the end, what it sends; the monitor of the 256B modes.
    Streams([Stream; 2], Option<Box<Monitor256>>),
}

/// CXL 68B.
struct Watch68 {
    monitor: Monitor,
    link: Cxl68Config,
    /// Units that came to the end.
    received: u64,
    /// Units that it has sent.
    sent: u64,
}

impl Watch68 {
    fn received(&mut self, unit: &Unit, now: u64) -> Vec<Event> {
        let number = self.received;
        self.received += 1;
        let read = self.monitor.received(unit, now);
        self.judge(read, number)
    }

    fn sent(&mut self, unit: &Unit, now: u64) -> Vec<Event> {
        let number = self.sent;
        self.sent += 1;
        let alone = self.monitor.sent(unit, now);
        self.judge(alone, number)
    }

    fn judge(&self, read: Option<Decoded>, unit: u64) -> Vec<Event> {
        let violations = read.map(|decoded| check::unit(&decoded, &self.link).violations).unwrap_or_default();
        violations.into_iter().map(|violation| Event { severity: Severity::Protocol, unit, violation }).collect()
    }
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
        let streams = || Ok::<_, FormError>([Stream::new("rx", config, false)?, Stream::new("tx", config, true)?]);
        let judge = match config.protocol {
            Protocol::Cxl68 => {
                let link = cxl68_config(config);
                link.validate().map_err(|e| Failure::range("config", e, "a choice in its range"))?;
                let (dir, reaction_flits) = (config.dir, config.reaction_flits);
                let monitor = Monitor::new(MonitorConfig { dir, link, enabled: Enabled::ALL, reaction_flits });
                Judge::Cxl68(Box::new(Watch68 { monitor, link, received: 0, sent: 0 }))
            }
            Protocol::Cxl256(mode) => {
                Judge::Streams(streams()?, Some(Box::new(Monitor256::new(mode, config.dir, config.selective_nak))))
            }
            Protocol::Nvlink | Protocol::Ualink => Judge::Streams(streams()?, None),
        };
        Ok(Watch { judge, events: Vec::new() })
    }

    /// A unit has come to the end.
    pub fn received(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        match &mut self.judge {
            Judge::Cxl68(watch) => {
                let found = watch.received(&Unit::from_bytes(unit)?, now);
                self.events.extend(found.into_iter().map(|event| ("rx", event)));
            }
            Judge::Streams([rx, _], monitor) => {
                rx.read(unit, &mut self.events);
                if let Some(monitor) = monitor {
                    monitor.received(&Flit::from_bytes(unit)?, rx.units);
                }
            }
        }
        Ok(())
    }

    /// The end has sent a unit.
    pub fn sent(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        match &mut self.judge {
            Judge::Cxl68(watch) => {
                let found = watch.sent(&Unit::from_bytes(unit)?, now);
                self.events.extend(found.into_iter().map(|event| ("tx", event)));
            }
            Judge::Streams([_, tx], monitor) => {
                tx.read(unit, &mut self.events);
                if let Some(monitor) = monitor {
                    monitor.sent(&Flit::from_bytes(unit)?, tx.units);
                }
            }
        }
        Ok(())
    }

    /// Events since the last call, with their ports.
    pub fn events(&mut self) -> Vec<(&'static str, Event)> {
        let mut events = std::mem::take(&mut self.events);
        let found = match &mut self.judge {
            Judge::Cxl68(watch) => watch.monitor.take_events(),
            Judge::Streams(_, Some(monitor)) => monitor.take_events(),
            Judge::Streams(_, None) => Vec::new(),
        };
        events.extend(found.into_iter().map(|e| ("tx", e)));
        events
    }

    /// Training begins or is over.
    pub fn train(&mut self, up: bool) -> Result<(), Failure> {
        match &mut self.judge {
            Judge::Cxl68(watch) if up => watch.monitor.trained(),
            Judge::Streams(_, Some(monitor)) if up => monitor.trained(),
            _ => (),
        }
        Ok(())
    }
}
