//! Messages of a component that stands outside the simulation, while the model keeps its link ends.
//!
//! Modelled: a channel with valid and ready for each class of messages. Messages that arrived wait for the caller, who takes them
//! one by one; messages of the caller wait for the link end. Both queues are small: an arrived message that finds no room stays
//! in the link end, whose peer then gets no credit back, and the caller is told that there is no room. Left out: what the messages
//! mean; the module that moves them once a cycle is `scalepool_nodes::cxl::outside`.
//!
//! A walk through one message: the caller posts it, and it gets its number among all that the component has sent; the module takes
//! it at the next edge of the component's clock.

use super::classes::Posted;
use super::sample::WireSample;
use super::sim_port::SimPort;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm, PackedError};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages that may wait in each channel.
pub const MAX_MESSAGES: usize = 16;

/// Whether the caller posts the messages of a channel or takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxDirection {
    /// The component sends them: the caller posts them.
    Sent,
    /// They arrive for the component: the caller takes them.
    Arriving,
}

/// All channels of a port; a copy is the same ones.
#[derive(Debug, Clone)]
pub struct Mailbox {
    form: MessageForm,
    classes: Vec<(Class, MailboxDirection)>,
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Queues {
    /// Messages posted so far.
    posted: u64,
    sent: [VecDeque<Posted>; Class::ALL.len()],
    arrived: [VecDeque<WireSample>; Class::ALL.len()],
}

impl Mailbox {
    /// Empty channels of these classes, whose messages are spelled in this form.
    pub fn new(form: MessageForm, classes: Vec<(Class, MailboxDirection)>) -> Mailbox {
        Mailbox { form, classes, queues: Arc::default() }
    }

    /// How messages are spelled.
    pub fn form(&self) -> MessageForm {
        self.form
    }

    /// The channels as ports of a run: `host.cxl.m2s_req` of `host.cxl`.
    pub fn ports(&self, end: &SimPort) -> Vec<SimPort> {
        let port = |&(class, flow): &(Class, MailboxDirection)| {
            let layout = self.form.layout(class)?;
            let short = layout.name.split_once('.').map_or(layout.name, |(_, short)| short);
            let channel = MailboxChannel { class, flow, layout: layout.name, mailbox: self.clone() };
            let port = SimPort::new(format!("{}.{short}", end.name), end.protocol, self.form.packed_bytes(class)?);
            Some(SimPort { channel: Some(channel), ..port })
        };
        self.classes.iter().filter_map(port).collect()
    }

    fn open(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a message that arrives finds room.
    pub fn has_room(&self, class: Class) -> bool {
        self.open().arrived[class.index()].len() < MAX_MESSAGES
    }

    /// Keeps an arrived message for the caller; room was asked for before.
    pub fn keep(&self, class: Class, message: WireSample) {
        self.open().arrived[class.index()].push_back(message);
    }

    /// How many arrived messages wait for the caller, and since when \[fs\]; `None`: none does.
    pub fn oldest(&self) -> Option<(usize, u64)> {
        let queues = self.open();
        let since = queues.arrived.iter().filter_map(|queue| queue.front()).map(|message| message.t_fs).min()?;
        Some((queues.arrived.iter().map(VecDeque::len).sum(), since))
    }

    /// The oldest message of a class that the caller has posted, which leaves now.
    pub fn next(&self, class: Class) -> Option<Posted> {
        self.open().sent[class.index()].pop_front()
    }
}

/// One channel of a port.
#[derive(Debug, Clone)]
pub struct MailboxChannel {
    class: Class,
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
        let message = Message::from_packed(self.mailbox.form, self.class, bytes)?;
        let mut queues = self.mailbox.open();
        let has_room = queues.sent[self.class.index()].len() < MAX_MESSAGES;
        if has_room {
            let number = queues.posted;
            queues.posted += 1;
            queues.sent[self.class.index()].push_back((number, message));
        }
        Ok(has_room)
    }

    /// Posted messages that wait.
    pub fn posted(&self) -> usize {
        self.mailbox.open().sent[self.class.index()].len()
    }

    /// Arrived messages that wait.
    pub fn arrived(&self) -> usize {
        self.mailbox.open().arrived[self.class.index()].len()
    }

    /// The oldest message that arrived, which stays.
    pub fn first(&self) -> Option<WireSample> {
        self.mailbox.open().arrived[self.class.index()].front().cloned()
    }

    /// Takes the oldest message that arrived.
    pub fn take(&self) -> Option<WireSample> {
        self.mailbox.open().arrived[self.class.index()].pop_front()
    }

    /// Names of the channels of the port whose messages flow this way, with commas between.
    pub fn names(&self, flow: MailboxDirection) -> String {
        let layouts = self.mailbox.classes.iter().filter(|(_, of)| *of == flow);
        let names = layouts.filter_map(|(class, _)| self.mailbox.form.layout(*class)?.name.split_once('.'));
        names.map(|(_, short)| short).collect::<Vec<_>>().join(", ")
    }
}
