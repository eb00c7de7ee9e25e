//! The link ends of the model as handles drive them: units are bytes, messages [`CapiMessage`].

use super::config::CapiEndConfig;
use super::message::CapiMessage;
use super::plain::PlainEnd;
use super::protocol::CapiProtocol;
use super::ualink::{self, Queue};
use crate::status::{Failure, SP_ERR_KIND};
use scalepool::forms::FormError;
use scalepool::link::coverage::Met;
use scalepool::link::cxlio::{FlitConfig, FlitEnd, IoConfig, IoPort, IoTlp};
use scalepool::link::event::LinkEvent;
use scalepool::link::fault::WireUnit;
use scalepool::link::health::LinkHealth;
use scalepool::link::health::liveness::LinkWait;
use scalepool::link::hook::{Direction, Hooks};
use scalepool::link::link_coverage::LinkCoverage;
use scalepool::link::port::LinkEnd;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::tl::{Tl, TlClass};
use scalepool::link::ualink::{OnLine, UalEnd, state::State};
use scalepool::link::{cxl68, cxl256, nvlink};
use scalepool_protocols::cxl::cxl68::message::Class as Class68;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_protocols::nvlink::Vc;

/// Messages a channel that fit, where the caller does not say; the number is ours.
const BUFFERS: u16 = 64;

/// The messages of a link end, and what a protocol says of its own.
pub trait EndMessages {
    /// Messages that wait to be sent.
    fn waiting(&self) -> usize;

    /// Queues a message.
    fn send(&mut self, message: CapiMessage) -> Result<(), Failure>;

    /// The oldest message that has come. NVLink: of the lowest channel.
    fn take(&mut self) -> Option<CapiMessage>;

    /// Answers of CXL.cache, H2D Rsp, that have not left in a flit.
    fn cache_answers_waiting(&self) -> usize {
        0
    }

    /// How often the link has gone down and all that was open or queued was lost with it.
    fn losses(&self) -> u32 {
        0
    }

    /// What has come, by the codes of the protocol; nothing where the end does not count it.
    fn coverage(&self) -> Vec<Met> {
        Vec::new()
    }

    /// Whether what is sent now is lost, since the link is down.
    fn loses_what_is_sent(&self) -> bool {
        false
    }

    /// The link is up.
    fn is_up(&self) -> bool;

    /// Whether the end is silent while its link trains.
    fn is_silent_in_training(&self) -> Result<bool, Failure> {
        Ok(true)
    }
}

/// A link end of any protocol.
pub trait AnyEnd: EndMessages + Send {
    fn attach_hooks(&mut self, hooks: &Hooks);
    /// Takes a unit off the wire.
    fn receive(&mut self, unit: &[u8], now: u64) -> Result<(), FormError>;
    /// The unit of this flit clock, if there is one; two if a fault doubles it.
    fn transmit(&mut self, now: u64) -> Vec<Vec<u8>>;
    /// Training begins or is over.
    fn train(&mut self, up: bool);
    fn take_retrain_request(&mut self) -> bool;
    fn take_events(&mut self) -> Vec<LinkEvent>;
    fn is_quiet(&self) -> bool;
    fn halted(&self) -> Option<&'static str>;
    /// Lets time pass up to a flit clock, before anything happens in it.
    fn pass_time(&mut self, now: u64);
    fn health(&self, now: u64) -> LinkHealth;
    /// Tells everything that it waits for.
    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>));
    fn report_repairs(&mut self);
}

impl<E: LinkEnd + EndMessages> AnyEnd for E
where
    E::Unit: UnitBytes,
{
    fn attach_hooks(&mut self, hooks: &Hooks) {
        LinkEnd::attach_hooks(self, hooks);
    }

    fn receive(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        let arrivals = self.hooks().wire(Direction::Rx, self.protocol(), self.unit(unit)?);
        // The end hears of a unit that a fault of the wire took away or doubled, as the port of a system tells it.
        if arrivals.iter().all(Option::is_none) {
            self.hidden_fault();
        }
        for (n, (unit, _)) in arrivals.iter().flatten().enumerate() {
            if n > 0 {
                self.hidden_fault();
            }
            LinkEnd::receive(self, unit, now);
        }
        Ok(())
    }

    fn transmit(&mut self, now: u64) -> Vec<Vec<u8>> {
        let Some(unit) = self.fill(now) else { return Vec::new() };
        let leaving = self.hooks().wire(Direction::Tx, self.protocol(), unit);
        leaving.iter().flatten().map(|(unit, _)| unit.to_bytes()).collect()
    }

    fn train(&mut self, up: bool) {
        if up { self.phy_up() } else { self.phy_down() }
    }

    fn take_retrain_request(&mut self) -> bool {
        LinkEnd::take_retrain_request(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        LinkEnd::take_events(self)
    }

    fn is_quiet(&self) -> bool {
        LinkEnd::is_quiet(self)
    }

    fn halted(&self) -> Option<&'static str> {
        LinkEnd::halted(self)
    }

    fn pass_time(&mut self, now: u64) {
        LinkEnd::pass_time(self, now);
    }

    fn health(&self, now: u64) -> LinkHealth {
        LinkEnd::health(self, now)
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        LinkEnd::pending_waits(self, each);
    }

    fn report_repairs(&mut self) {
        LinkEnd::report_repairs(self);
    }
}

/// The bytes of a unit as a caller samples them.
pub trait UnitBytes: WireUnit {
    fn to_bytes(&self) -> Vec<u8> {
        self.bytes().to_vec()
    }
}

impl UnitBytes for Cxl68Unit {}
impl UnitBytes for cxl256::WireFlit {}
impl UnitBytes for nvlink::NvlFlit {}

/// Control flits are one byte.
impl UnitBytes for OnLine {
    fn to_bytes(&self) -> Vec<u8> {
        OnLine::to_bytes(self)
    }
}

fn refused(error: impl std::fmt::Display) -> FormError {
    FormError::new("message", error.to_string(), "a message that this end may send")
}

/// A message of another protocol: whoever made it knew the end.
fn foreign() -> Failure {
    refused("a message of another protocol").into()
}

/// A message of UALink for an end with the other layer on top.
fn other_layer(found: &str, expected: &str) -> Failure {
    FormError::new("message", found, expected).into()
}

impl EndMessages for cxl68::Cxl68End {
    fn waiting(&self) -> usize {
        Class68::ALL.iter().map(|&class| cxl68::Cxl68End::waiting(self, class)).sum()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let CapiMessage::Cxl68(message) = message else { return Err(foreign()) };
        Ok(cxl68::Cxl68End::send(self, message).map_err(refused)?)
    }

    fn take(&mut self) -> Option<CapiMessage> {
        cxl68::Cxl68End::take(self).map(CapiMessage::Cxl68)
    }

    fn cache_answers_waiting(&self) -> usize {
        cxl68::Cxl68End::waiting(self, Class68::H2dRsp)
    }

    fn is_up(&self) -> bool {
        cxl68::Cxl68End::is_up(self)
    }

    fn coverage(&self) -> Vec<Met> {
        cxl68::Cxl68End::coverage(self).met()
    }
}

impl EndMessages for cxl256::Cxl256End<cxl256::Cachemem> {
    fn waiting(&self) -> usize {
        Class::ALL.iter().map(|&class| self.client.waiting(class)).sum()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        match message {
            CapiMessage::Cxl256(mode, message) if mode == self.link().mode => {
                Ok(self.client.send(message).map_err(refused)?)
            }
            _ => Err(foreign()),
        }
    }

    fn take(&mut self) -> Option<CapiMessage> {
        let mode = self.link().mode;
        self.client.take().map(|message| CapiMessage::Cxl256(mode, message))
    }

    fn cache_answers_waiting(&self) -> usize {
        self.client.waiting(Class::H2dRsp)
    }

    fn is_up(&self) -> bool {
        self.client.is_up()
    }

    fn coverage(&self) -> Vec<Met> {
        self.client.coverage().met()
    }
}

impl EndMessages for nvlink::NvlEnd {
    fn waiting(&self) -> usize {
        (0..Vc::COUNT as u8).map(|vc| nvlink::NvlEnd::waiting(self, Vc(vc))).sum()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let CapiMessage::Nvlink(message) = message else { return Err(foreign()) };
        Ok(nvlink::NvlEnd::send(self, message).map_err(refused)?)
    }

    fn take(&mut self) -> Option<CapiMessage> {
        let mut channels = 0..Vc::COUNT as u8;
        channels.find_map(|vc| nvlink::NvlEnd::take(self, Vc(vc))).map(CapiMessage::Nvlink)
    }

    fn is_up(&self) -> bool {
        !self.is_down()
    }

    fn is_silent_in_training(&self) -> Result<bool, Failure> {
        Err(Failure::new(SP_ERR_KIND, "nvlink: found link training, which its links do not have here"))
    }
}

impl EndMessages for UalEnd<Queue> {
    fn waiting(&self) -> usize {
        self.client.out.len()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let CapiMessage::Ualink(flit) = message else {
            return Err(other_layer("a request or a response", "a TL flit: the end was made without `layer` = `tl`"));
        };
        self.client.out.push_back(flit);
        Ok(())
    }

    fn take(&mut self) -> Option<CapiMessage> {
        self.client.inbox.pop_front().map(CapiMessage::Ualink)
    }

    fn is_up(&self) -> bool {
        self.state() == State::Up
    }

    /// A fault of the line, which ordered sets tell the peer: the end speaks meanwhile.
    fn is_silent_in_training(&self) -> Result<bool, Failure> {
        Ok(false)
    }
}

impl EndMessages for UalEnd<Tl> {
    fn waiting(&self) -> usize {
        TlClass::ALL.into_iter().map(|class| self.client.waiting(class)).sum()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let CapiMessage::UalinkTransfer(transfer) = message else {
            return Err(other_layer("a TL flit", "a request or a response: the end was made with `layer` = `tl`"));
        };
        Ok(self.client.send(*transfer).map_err(refused)?)
    }

    /// Responses first: they are never behind requests. What is taken needs its buffers no more.
    fn take(&mut self) -> Option<CapiMessage> {
        let taken = [TlClass::Response, TlClass::Request].into_iter().find_map(|class| self.client.take(class));
        let (transfer, held) = taken?;
        if let Some(held) = held {
            self.client.release(&held);
        }
        CapiMessage::of_transfer(transfer)
    }

    fn losses(&self) -> u32 {
        self.client.losses()
    }

    fn loses_what_is_sent(&self) -> bool {
        self.client.is_dropping()
    }

    fn is_up(&self) -> bool {
        self.state() == State::Up && self.client.is_open()
    }

    fn is_silent_in_training(&self) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// CXL.io alone in 256B flits. What waits to be sent is bounded by the link layer of CXL.io, 64 TLPs of a kind.
impl EndMessages for cxl256::Cxl256End<FlitEnd> {
    fn waiting(&self) -> usize {
        0
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let CapiMessage::Tlp(bytes) = message else { return Err(foreign()) };
        let tlp = IoTlp::new(self.client.form(), bytes).map_err(refused)?;
        self.client.push(tlp).map_err(|refused| Failure::range("TLP", refused.why, "one that has room"))
    }

    fn take(&mut self) -> Option<CapiMessage> {
        self.client.pop().map(|tlp| CapiMessage::Tlp(tlp.into_bytes()))
    }

    fn is_up(&self) -> bool {
        self.client.is_up()
    }
}

fn cxl68_end(config: &CapiEndConfig) -> Result<cxl68::Cxl68End, Failure> {
    let of = if config.mem_alone { cxl68::EndConfig::mem } else { cxl68::EndConfig::cachemem };
    let end = of(config.dir, config.cxl68(), config.buffers.unwrap_or(BUFFERS));
    cxl68::Cxl68End::new(end).map_err(|e| Failure::range("config", e, "values in their ranges"))
}

/// Choices of the flits of a 256B mode.
fn link256(config: &CapiEndConfig) -> cxl256::LinkConfig {
    let default = cxl256::LinkConfig::default();
    cxl256::LinkConfig {
        buffer_flits: config.retry_entries.unwrap_or(default.buffer_flits),
        replay_timer_flits: config.timeout_flits.unwrap_or(default.replay_timer_flits),
        selective_nak: config.selective_nak,
        ..default
    }
}

fn cxl_io_end(config: &CapiEndConfig) -> Result<cxl256::Cxl256End<FlitEnd>, Failure> {
    let io = FlitEnd::new(IoConfig::default(), FlitConfig::new(Mode::Standard));
    let io = io.map_err(|e| Failure::range("config", e, "values in their ranges"))?;
    Ok(cxl256::Cxl256End::new(cxl256::LinkConfig { mode: Mode::Standard, ..link256(config) }, io))
}

fn cxl256_end(mode: Mode, config: &CapiEndConfig) -> cxl256::Cxl256End<cxl256::Cachemem> {
    let link = link256(config);
    let of = if config.mem_alone { cxl256::CachememConfig::mem } else { cxl256::CachememConfig::cachemem };
    cxl256::Cxl256End::cachemem(link, of(config.dir, mode, config.buffers.unwrap_or(BUFFERS)))
}

fn nvlink_end(config: &CapiEndConfig) -> nvlink::NvlEnd {
    let (default, buffers) = (nvlink::LinkConfig::default(), nvlink::Buffers::default());
    let link = nvlink::LinkConfig {
        window_flits: config.retry_entries.unwrap_or(default.window_flits),
        timeout_flits: config.timeout_flits.unwrap_or(default.timeout_flits),
        ..default
    };
    let headers = config.buffers.unwrap_or(buffers.headers[usize::from(Vc::CREQ0.0)]);
    let data_flits = config.data_flits.unwrap_or(buffers.data_flits[usize::from(Vc::CREQ0.0)]);
    nvlink::NvlEnd::new(link, nvlink::Buffers::of_default_channels(headers, data_flits))
}

fn ualink_end<C: Client>(config: &CapiEndConfig, client: C) -> UalEnd<C>
where
    UalEnd<C>: LinkEnd,
{
    let mut end = UalEnd::new(ualink::end_config(config.dir, config.interleave), client);
    end.phy_up();
    end
}

/// The end that a configuration asks for.
pub fn end_of(config: &CapiEndConfig) -> Result<Box<dyn AnyEnd>, Failure> {
    if let Some(form) = config.plain_form() {
        let covered = config.protocol.messages().filter(|_| config.coverage).map(LinkCoverage::new);
        return Ok(Box::new(PlainEnd::new(form, config.dir, config.protocol.name(), covered)));
    }
    let CapiProtocol::Link(protocol) = config.protocol else { return Ok(Box::new(cxl_io_end(config)?)) };
    Ok(match protocol {
        LinkProtocol::Cxl68 => Box::new(cxl68_end(config)?),
        LinkProtocol::Cxl256(mode) => Box::new(cxl256_end(mode, config)),
        LinkProtocol::Nvlink => Box::new(nvlink_end(config)),
        LinkProtocol::Ualink if config.has_transaction_layer => {
            let layer = Tl::new(ualink::tl_config(config.dir, config.buffers));
            Box::new(ualink_end(config, layer))
        }
        LinkProtocol::Ualink => Box::new(ualink_end(config, Queue::default())),
    })
}
