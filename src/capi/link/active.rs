//! Active ends: the link layers of the model behind one set of calls.

use super::config::Config;
use super::message;
use super::ualink::{self, Queue};
use crate::status::{Failure, SP_ERR_KIND};
use scalepool::forms::FormError;
use scalepool::link::cxl256::WireFlit;
use scalepool::link::event::Event;
use scalepool::link::fault::WireUnit;
use scalepool::link::hook::{Direction, Hooks};
use scalepool::link::protocol::Protocol;
use scalepool::link::ualink::OnLine;
use scalepool::link::ualink::{
    End as UalEnd,
    state::{Fault, State},
};
use scalepool::link::{cxl68, cxl256, nvlink};
use scalepool_protocols::cxl::cxl68::message::Class as Class68;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxl256::{Class, Mode, flit::Flit};
use scalepool_protocols::nvlink::Vc;
use serde_json::Value;
use std::sync::Arc;

/// Messages a channel that fit, where the caller does not say; the number is ours.
const BUFFERS: u16 = 64;
/// Messages that may wait to be sent.
const MAX_MESSAGES: usize = 1 << 16;

/// The end, the oldest received message, and what was asked of the physical layer.
pub struct End {
    layer: Layer,
    /// Name of the protocol.
    name: &'static str,
    next: Option<Value>,
    wants_training: bool,
    down: bool,
}

enum Layer {
    Cxl68(Box<cxl68::End>),
    Cxl256(Mode, Box<cxl256::End<cxl256::Cachemem>>),
    Nvlink(Box<nvlink::End>),
    Ualink(Box<UalEnd<Queue>>),
}

fn cxl256_end(mode: Mode, config: &Config) -> cxl256::End<cxl256::Cachemem> {
    let default = cxl256::LinkConfig::default();
    let link = cxl256::LinkConfig {
        buffer_flits: config.retry_entries.unwrap_or(default.buffer_flits),
        replay_timer_flits: config.timeout_flits.unwrap_or(default.replay_timer_flits),
        selective_nak: config.selective_nak,
        ..default
    };
    let of = if config.mem_alone { cxl256::CachememConfig::mem } else { cxl256::CachememConfig::cachemem };
    cxl256::End::cachemem(link, of(config.dir, mode, config.buffers.unwrap_or(BUFFERS)))
}

fn nvlink_end(config: &Config) -> nvlink::End {
    let (default, buffers) = (nvlink::LinkConfig::default(), nvlink::Buffers::default());
    let link = nvlink::LinkConfig {
        window_flits: config.retry_entries.unwrap_or(default.window_flits),
        timeout_flits: config.timeout_flits.unwrap_or(default.timeout_flits),
        ..default
    };
    let headers = config.buffers.unwrap_or(buffers.headers[usize::from(Vc::CREQ0.0)]);
    let data_flits = config.data_flits.unwrap_or(buffers.data_flits[usize::from(Vc::CREQ0.0)]);
    nvlink::End::new(link, nvlink::Buffers::of_default_channels(headers, data_flits))
}

/// What the hooks of the wire let through.
fn arrivals<U: WireUnit>(
    hooks: &Hooks,
    (way, name): (Direction, &'static str),
    unit: U,
) -> impl Iterator<Item = U> + use<U> {
    hooks.wire(way, name, unit).into_iter().flatten().map(|(unit, _)| unit)
}

fn refused(error: impl std::fmt::Display) -> FormError {
    FormError::new("message", error.to_string(), "a message that this end may send")
}

impl End {
    pub fn new(config: &Config) -> Result<End, Failure> {
        let layer = match config.protocol {
            Protocol::Cxl68 => {
                let of = if config.mem_alone { cxl68::EndConfig::mem } else { cxl68::EndConfig::cachemem };
                let end = of(config.dir, config.cxl68(), config.buffers.unwrap_or(BUFFERS));
                let end = cxl68::End::new(end).map_err(|e| Failure::range("config", e, "values in their ranges"))?;
                Layer::Cxl68(Box::new(end))
            }
            Protocol::Cxl256(mode) => Layer::Cxl256(mode, Box::new(cxl256_end(mode, config))),
            Protocol::Nvlink => Layer::Nvlink(Box::new(nvlink_end(config))),
            Protocol::Ualink => {
                let mut end = UalEnd::new(ualink::end_config(config.dir, config.interleave), Queue::default());
                end.line_fault(None);
                Layer::Ualink(Box::new(end))
            }
        };
        Ok(End { layer, name: config.protocol.name(), next: None, wants_training: false, down: false })
    }

    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        match &mut self.layer {
            Layer::Cxl68(end) => end.attach_hooks(hooks),
            Layer::Cxl256(_, end) => end.attach_hooks(hooks),
            Layer::Nvlink(end) => end.attach_hooks(hooks),
            Layer::Ualink(end) => end.attach_hooks(hooks),
        }
    }

    /// Takes a unit off the wire.
    pub fn receive(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        let name = self.name;
        match &mut self.layer {
            Layer::Cxl68(end) => {
                arrivals(end.hooks(), (Direction::Rx, name), Unit::from_bytes(unit)?)
                    .for_each(|unit| end.receive(&unit, now));
            }
            Layer::Cxl256(mode, end) => {
                let unit = WireFlit { mode: *mode, flit: Flit::from_bytes(unit)? };
                arrivals(end.hooks(), (Direction::Rx, name), unit).for_each(|unit| end.receive(&unit.flit, now));
            }
            Layer::Ualink(end) => {
                let length = || FormError::new("unit", format!("{} bytes", unit.len()), "640 bytes, or 1");
                match OnLine::of_bytes(unit).ok_or_else(length)? {
                    OnLine::Flit(flit) => arrivals(end.hooks(), (Direction::Rx, name), *flit)
                        .for_each(|flit| end.receive(&OnLine::Flit(Arc::new(flit)), now)),
                    control => end.receive(&control, now),
                }
            }
            Layer::Nvlink(end) => {
                let length = || FormError::new("unit", format!("{} bytes", unit.len()), "16 bytes");
                let unit = nvlink::Flit(unit.try_into().map_err(|_| length())?);
                arrivals(end.hooks(), (Direction::Rx, name), unit).for_each(|unit| end.receive(&unit));
            }
        }
        Ok(())
    }

    /// The unit of this flit clock, if there is one; two if a fault doubles it.
    pub fn transmit(&mut self, now: u64) -> Vec<Vec<u8>> {
        let name = self.name;
        let units = match &mut self.layer {
            _ if self.down => Vec::new(),
            Layer::Cxl68(end) => match end.transmit(now) {
                Some(unit) => arrivals(end.hooks(), (Direction::Tx, name), unit).map(|unit| unit.0.to_vec()).collect(),
                None => Vec::new(),
            },
            Layer::Cxl256(mode, end) => {
                let unit = WireFlit { mode: *mode, flit: end.transmit(now) };
                arrivals(end.hooks(), (Direction::Tx, name), unit).map(|unit| unit.flit.0.to_vec()).collect()
            }
            Layer::Nvlink(end) => {
                let unit = end.transmit();
                arrivals(end.hooks(), (Direction::Tx, name), unit).map(|unit| unit.0.to_vec()).collect()
            }
            Layer::Ualink(end) => match end.transmit(now) {
                OnLine::Flit(flit) => {
                    arrivals(end.hooks(), (Direction::Tx, name), *flit).map(|flit| flit.0.to_vec()).collect()
                }
                control => vec![control.to_bytes()],
            },
        };
        self.wants_training |= match &mut self.layer {
            Layer::Cxl68(end) => end.take_retrain_request(),
            Layer::Cxl256(_, end) => end.take_retrain_request(),
            Layer::Nvlink(_) | Layer::Ualink(_) => false,
        };
        units
    }

    pub fn events(&mut self) -> Vec<Event> {
        match &mut self.layer {
            Layer::Cxl68(end) => end.take_events(),
            Layer::Cxl256(_, end) => end.take_events(),
            Layer::Nvlink(end) => end.take_events(),
            Layer::Ualink(end) => end.take_events(),
        }
    }

    fn is_quiet(&self) -> bool {
        self.next.is_none()
            && match &self.layer {
                Layer::Cxl68(end) => end.is_quiet(),
                Layer::Cxl256(_, end) => end.is_quiet(),
                Layer::Nvlink(end) => end.is_quiet(),
                Layer::Ualink(end) => end.is_quiet(),
            }
    }

    /// Messages that wait to be sent.
    fn waiting(&self) -> usize {
        match &self.layer {
            Layer::Cxl68(end) => Class68::ALL.iter().map(|&class| end.waiting(class)).sum(),
            Layer::Cxl256(_, end) => Class::ALL.iter().map(|&class| end.client.waiting(class)).sum(),
            Layer::Nvlink(end) => (0..Vc::COUNT as u8).map(|vc| end.waiting(Vc(vc))).sum(),
            Layer::Ualink(end) => end.client.out.len(),
        }
    }

    /// Queues a message.
    ///
    /// # Errors
    /// [`SP_ERR_RANGE`](super::super::status::SP_ERR_RANGE) if the queue is full, as for units that are driven; a form that
    /// is none, or that this end refuses.
    pub fn send(&mut self, form: &Value) -> Result<(), Failure> {
        if self.waiting() >= MAX_MESSAGES {
            let found = format!("{} messages that wait", self.waiting());
            return Err(Failure::range("link end", found, format!("fewer than {MAX_MESSAGES}")));
        }
        match &mut self.layer {
            Layer::Cxl68(end) => end.send(message::cxl68(form)?).map_err(refused)?,
            Layer::Cxl256(mode, end) => end.client.send(message::cxl256(*mode, form)?).map_err(refused)?,
            Layer::Nvlink(end) => end.send(message::nvlink(form)?).map_err(refused)?,
            Layer::Ualink(end) => end.client.out.push_back(message::ualink(form)?),
        }
        Ok(())
    }

    /// The oldest message that has come; it stays until [`End::drop_next`]. NVLink: of the lowest channel.
    pub fn next(&mut self) -> Option<&Value> {
        if self.next.is_none() {
            self.next = match &mut self.layer {
                Layer::Cxl68(end) => end.take().map(|m| message::cxl68_json(&m)),
                Layer::Cxl256(mode, end) => end.client.take().map(|m| message::cxl256_json(*mode, &m)),
                Layer::Ualink(end) => end.client.inbox.pop_front().map(|m| message::ualink_json(&m)),
                Layer::Nvlink(end) => {
                    let channels = 0..Vc::COUNT as u8;
                    channels.into_iter().find_map(|vc| end.take(Vc(vc))).map(|m| message::nvlink_json(&m))
                }
            };
        }
        self.next.as_ref()
    }

    pub fn drop_next(&mut self) {
        self.next = None;
    }

    /// Training begins or is over.
    pub fn train(&mut self, up: bool) -> Result<(), Failure> {
        match (&mut self.layer, up) {
            (Layer::Cxl68(end), false) => end.phy_down(),
            (Layer::Cxl68(end), true) => end.phy_up(),
            (Layer::Cxl256(_, end), false) => end.phy_down(),
            (Layer::Cxl256(_, end), true) => end.phy_up(),
            // A fault of the line, which ordered sets tell the peer.
            (Layer::Ualink(end), up) => end.line_fault((!up).then_some(Fault::Local)),
            (Layer::Nvlink(_), _) => {
                return Err(Failure::new(SP_ERR_KIND, "nvlink: found link training, which its links do not have here"));
            }
        }
        // A UALink end speaks while its line has a fault.
        let silent = !matches!(self.layer, Layer::Ualink(_));
        (self.down, self.wants_training) = (silent && !up, false);
        Ok(())
    }

    pub fn state(&self) -> [(&'static str, Value); 4] {
        let (up, halted) = match &self.layer {
            Layer::Cxl68(end) => (end.is_up() && !self.down, end.halted()),
            Layer::Cxl256(_, end) => (end.client.is_up() && !self.down, end.halted().or(end.client.halted())),
            Layer::Ualink(end) => (end.state() == State::Up, None),
            Layer::Nvlink(end) => (!end.is_down(), end.is_down().then_some("NVL-RPL-05")),
        };
        let up = up && halted.is_none();
        let halted = halted.map_or(Value::Null, Value::from);
        let quiet = self.is_quiet().into();
        [("up", up.into()), ("quiet", quiet), ("halted", halted), ("wants_training", self.wants_training.into())]
    }
}
