//! Messages of a component that stands outside the simulation, while the model keeps its link ends.
//!
//! Modelled: a channel with valid and ready for each class of messages, of UALink and NVLink for each class and direction. Messages
//! that arrived wait for the caller, who takes them one by one; messages of the caller wait for the link end. Both queues are small:
//! an arrived message that finds no room stays in the link end, whose peer then gets no credit back, and the caller is told that
//! there is no room. Left out: what the messages mean; the module that moves them once a cycle is `scalepool_nodes::outside`.
//!
//! A walk through one message: the caller posts it, and it gets its number among all that the component has sent; the module takes
//! it at the next edge of the component's clock.

use super::nvlink::NvlMessage;
use super::nvlink::packed::PACKED_BYTES;
use super::nvlink::port::CHANNELS;
use super::sample::WireSample;
use super::sim_port::SimPort;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm};
use scalepool_protocols::nvlink::NvlHeader;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::packed::PackedTransfer;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{PackedError, Wire};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages that may wait in each channel.
pub const MAX_MESSAGES: usize = 16;
/// How transactions of UALink are spelled: without protection, which those who stand outside by messages do not have.
const CODEC: UalConfig = UalConfig::SHEET;

/// Whether the caller posts the messages of a channel or takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxDirection {
    /// The component sends them: the caller posts them.
    Sent,
    /// They arrive for the component: the caller takes them.
    Arriving,
}

/// A message of any of the protocols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailboxMessage {
    /// Of CXL.mem or CXL.cache.
    Cxl(Message),
    /// Of UALink.
    Ualink(Box<Transfer>),
    /// Of NVLink.
    Nvlink(NvlMessage),
}

/// What the messages of a channel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxKind {
    /// A class of CXL.
    Cxl(MessageForm, Class),
    /// A class of UALink.
    Ualink(PackedTransfer),
    /// A virtual channel of NVLink by its place among [`CHANNELS`].
    Nvlink(usize),
}

/// Names of the channels of NVLink, in the order of [`CHANNELS`](super::nvlink::port::CHANNELS).
const NVLINK_NAMES: [&str; 3] = ["creq0", "creq1", "rsp0"];

impl MailboxKind {
    /// Layout of its messages, or of their headers; `None`: the link does not have it.
    fn layout(self) -> Option<&'static str> {
        match self {
            MailboxKind::Cxl(form, class) => form.layout(class).map(|layout| layout.name),
            MailboxKind::Ualink(class) => Some(class.layout().name),
            MailboxKind::Nvlink(_) => Some(NvlHeader::DEF.name),
        }
    }

    /// Bytes of a message.
    fn bytes(self) -> Option<usize> {
        match self {
            MailboxKind::Cxl(form, class) => form.packed_bytes(class),
            MailboxKind::Ualink(class) => Some(class.bytes()),
            MailboxKind::Nvlink(_) => Some(PACKED_BYTES),
        }
    }

    /// Name of the channel at its port. A class of CXL has one direction; those of the others have both.
    fn name(self, flow: MailboxDirection) -> String {
        let way = match flow {
            MailboxDirection::Sent => "tx",
            MailboxDirection::Arriving => "rx",
        };
        match self {
            MailboxKind::Cxl(..) => {
                let layout = self.layout().unwrap_or_default();
                layout.split_once('.').map_or(layout, |(_, short)| short).to_owned()
            }
            MailboxKind::Ualink(PackedTransfer::Request) => format!("{way}_request"),
            MailboxKind::Ualink(PackedTransfer::Response) => format!("{way}_response"),
            MailboxKind::Nvlink(n) => format!("{way}_{}", NVLINK_NAMES[n]),
        }
    }

    /// The bytes of a message.
    ///
    /// # Errors
    /// It is none of this channel.
    pub fn pack(self, message: &MailboxMessage) -> Result<Vec<u8>, PackedError> {
        match (self, message) {
            (MailboxKind::Cxl(form, _), MailboxMessage::Cxl(message)) => Ok(message.to_packed(form)?),
            (MailboxKind::Ualink(class), MailboxMessage::Ualink(transfer)) => Ok(class.pack(transfer, &CODEC)?),
            (MailboxKind::Nvlink(_), MailboxMessage::Nvlink(message)) => Ok(message.to_packed()?),
            _ => unreachable!("channels carry what their links do"),
        }
    }

    fn unpack(self, bytes: &[u8]) -> Result<MailboxMessage, PackedError> {
        Ok(match self {
            MailboxKind::Cxl(form, class) => MailboxMessage::Cxl(Message::from_packed(form, class, bytes)?),
            MailboxKind::Ualink(class) => MailboxMessage::Ualink(Box::new(class.unpack(bytes, &CODEC)?)),
            MailboxKind::Nvlink(n) => MailboxMessage::Nvlink(NvlMessage::from_packed_on(CHANNELS[n], bytes)?),
        })
    }
}

/// All channels of a port; a copy is the same ones.
#[derive(Debug, Clone)]
pub struct Mailbox {
    channels: Arc<[(MailboxKind, MailboxDirection)]>,
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Queues {
    /// Messages posted so far.
    posted: u64,
    /// By channel, those that the caller has posted.
    sent: Vec<VecDeque<(u64, MailboxMessage)>>,
    /// By channel, those that have arrived.
    arrived: Vec<VecDeque<WireSample>>,
}

impl Mailbox {
    /// Empty channels of these kinds.
    pub fn new(channels: Vec<(MailboxKind, MailboxDirection)>) -> Mailbox {
        let sent = channels.iter().map(|_| VecDeque::new()).collect();
        let arrived = channels.iter().map(|_| VecDeque::new()).collect();
        Mailbox { channels: channels.into(), queues: Arc::new(Mutex::new(Queues { posted: 0, sent, arrived })) }
    }

    /// Its channels, in the order of their numbers.
    pub fn channels(&self) -> &[(MailboxKind, MailboxDirection)] {
        &self.channels
    }

    /// The channels as ports of a run: `host.cxl.m2s_req` of `host.cxl`.
    pub fn ports(&self, end: &SimPort) -> Vec<SimPort> {
        let port = |(number, &(kind, flow)): (usize, &(MailboxKind, MailboxDirection))| {
            let channel = MailboxChannel { number, kind, flow, layout: kind.layout()?, mailbox: self.clone() };
            let port = SimPort::new(format!("{}.{}", end.name, kind.name(flow)), end.protocol, kind.bytes()?);
            Some(SimPort { channel: Some(channel), ..port })
        };
        self.channels.iter().enumerate().filter_map(port).collect()
    }

    fn open(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a message that arrives in a channel, by its number, finds room.
    pub fn has_room(&self, channel: usize) -> bool {
        self.open().arrived[channel].len() < MAX_MESSAGES
    }

    /// Keeps an arrived message for the caller; room was asked for before.
    pub fn keep(&self, channel: usize, message: WireSample) {
        self.open().arrived[channel].push_back(message);
    }

    /// How many arrived messages wait for the caller, and since when \[fs\]; `None`: none does.
    pub fn oldest(&self) -> Option<(usize, u64)> {
        let queues = self.open();
        let since = queues.arrived.iter().filter_map(|queue| queue.front()).map(|message| message.t_fs).min()?;
        Some((queues.arrived.iter().map(VecDeque::len).sum(), since))
    }

    /// The oldest message of a channel that the caller has posted, with its number among all; it leaves now.
    pub fn next(&self, channel: usize) -> Option<(u64, MailboxMessage)> {
        self.open().sent[channel].pop_front()
    }
}

/// One channel of a port.
#[derive(Debug, Clone)]
pub struct MailboxChannel {
    number: usize,
    kind: MailboxKind,
    /// Who sends.
    pub flow: MailboxDirection,
    /// Layout of its messages or data headers.
    pub layout: &'static str,
    mailbox: Mailbox,
}

impl MailboxChannel {
    /// Posts a message; whether there was room.
    ///
    /// # Errors
    /// The bytes are no message of this channel; nothing was posted.
    pub fn post(&self, bytes: &[u8]) -> Result<bool, PackedError> {
        let message = self.kind.unpack(bytes)?;
        let mut queues = self.mailbox.open();
        let has_room = queues.sent[self.number].len() < MAX_MESSAGES;
        if has_room {
            let number = queues.posted;
            queues.posted += 1;
            queues.sent[self.number].push_back((number, message));
        }
        Ok(has_room)
    }

    /// Posted messages that wait.
    pub fn posted(&self) -> usize {
        self.mailbox.open().sent[self.number].len()
    }

    /// Arrived messages that wait.
    pub fn arrived(&self) -> usize {
        self.mailbox.open().arrived[self.number].len()
    }

    /// The oldest message that arrived, which stays.
    pub fn first(&self) -> Option<WireSample> {
        self.mailbox.open().arrived[self.number].front().cloned()
    }

    /// Takes the oldest message that arrived.
    pub fn take(&self) -> Option<WireSample> {
        self.mailbox.open().arrived[self.number].pop_front()
    }

    /// Names of the channels of the port whose messages flow this way, with commas between.
    pub fn names(&self, flow: MailboxDirection) -> String {
        let channels = self.mailbox.channels.iter().filter(|(_, of)| *of == flow);
        channels.map(|(kind, flow)| kind.name(*flow)).collect::<Vec<_>>().join(", ")
    }
}
