//! Active ends: the link layers of the model behind one set of calls.
//!
//! A snoop of CXL.cache stays behind every answer to the device that was queued before it (`coherence` §2.6 O1): it is held here until these
//! have left in flits, and answers that are queued behind a held snoop wait with it.

use super::config::CapiEndConfig;
use super::ends::{AnyEnd, end_of};
use super::message::CapiMessage;
use crate::status::Failure;
use scalepool::forms::FormError;
use scalepool::link::coverage::Met;
use scalepool::link::event::LinkEvent;
use scalepool::link::health::LinkHealth;
use scalepool::link::health::liveness::{Liveness, LivenessLimits, LivenessNow};
use scalepool::link::hook::{Direction, Hooks};
use serde_json::Value;
use std::collections::VecDeque;

/// Messages that may wait to be sent.
const MAX_MESSAGES: usize = 1 << 16;

/// The end, the oldest received message, and what was asked of the physical layer.
pub struct CapiEnd {
    end: Box<dyn AnyEnd>,
    next: Option<CapiMessage>,
    /// A snoop that waits for the answers before it, and what was queued behind it.
    held: VecDeque<CapiMessage>,
    wants_training: bool,
    /// It is silent until training is over.
    down: bool,
    /// Its link trains: nobody has to say anything.
    trains: bool,
    /// Losses that it had when it was last asked about them.
    losses: u32,
    liveness: Liveness,
}

impl CapiEnd {
    pub fn new(config: &CapiEndConfig) -> Result<CapiEnd, Failure> {
        let mut end = end_of(config)?;
        end.report_repairs();
        let liveness = Liveness::new(LivenessLimits { flits: config.liveness_flits, time_fs: None });
        let (next, held) = (None, VecDeque::new());
        Ok(CapiEnd { end, next, held, wants_training: false, down: false, trains: false, losses: 0, liveness })
    }

    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.end.attach_hooks(hooks);
    }

    /// What has come, by the codes of the protocol.
    pub fn coverage(&self) -> Vec<Met> {
        self.end.coverage()
    }

    /// Takes a unit off the wire.
    pub fn receive(&mut self, unit: &[u8], now: u64) -> Result<(), FormError> {
        self.end.receive(unit, now)
    }

    /// The unit of this flit clock, if there is one; two if a fault doubles it.
    pub fn transmit(&mut self, now: u64) -> Vec<Vec<u8>> {
        self.release();
        let units = if self.down { Vec::new() } else { self.end.transmit(now) };
        self.wants_training |= self.end.take_retrain_request();
        units
    }

    /// Time goes on to a flit clock, before anything happens in it.
    pub fn pass_time(&mut self, now: u64) {
        self.end.pass_time(now);
    }

    pub fn events(&mut self) -> Vec<LinkEvent> {
        self.end.take_events()
    }

    /// What it has waited for too long, in flit clock `now`, behind so many units that came and were sent; nothing while the link
    /// trains.
    pub fn overdue(&mut self, now: u64, units: [u64; 2]) -> Vec<(Direction, LinkEvent)> {
        if !self.liveness.is_on() || self.trains {
            return Vec::new();
        }
        self.liveness.begin(LivenessNow { flits: now, time_fs: 0, units });
        self.end.pending_waits(&mut |wait| self.liveness.waits(wait));
        self.liveness.end()
    }

    /// Queues a message.
    ///
    /// # Errors
    /// [`SP_ERR_RANGE`](super::super::status::SP_ERR_RANGE) if the queue is full, as for units that are driven; a message
    /// that this end refuses.
    pub fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        let waiting = self.end.waiting() + self.held.len();
        if waiting >= MAX_MESSAGES {
            let found = format!("{waiting} messages that wait");
            return Err(Failure::range("link end", found, format!("fewer than {MAX_MESSAGES}")));
        }
        let is_held = match message.is_snoop() {
            Some(true) => !self.held.is_empty() || self.end.cache_answers_waiting() > 0,
            Some(false) => !self.held.is_empty(),
            None => false,
        };
        if !is_held {
            return self.end.send(message);
        }
        self.held.push_back(message);
        Ok(())
    }

    /// Lets held messages go whose turn it is.
    fn release(&mut self) {
        while let Some(first) = self.held.front() {
            if first.is_snoop() == Some(true) && self.end.cache_answers_waiting() > 0 {
                return;
            }
            // An end that has taken answers of CXL.cache takes its snoops too.
            let _ = self.held.pop_front().map(|message| self.end.send(message));
        }
    }

    /// The oldest message that has come; it stays until [`CapiEnd::drop_next`].
    pub fn next(&mut self) -> Option<&CapiMessage> {
        if self.next.is_none() {
            self.next = self.end.take();
        }
        self.next.as_ref()
    }

    pub fn drop_next(&mut self) -> Option<CapiMessage> {
        self.next.take()
    }

    /// Whether the link has gone down since the last call, and what was open with it.
    pub fn take_loss(&mut self) -> bool {
        let losses = self.end.losses();
        std::mem::replace(&mut self.losses, losses) != losses
    }

    /// Whether what is sent now is lost, since the link is down.
    pub fn loses_what_is_sent(&self) -> bool {
        self.end.loses_what_is_sent()
    }

    /// Training begins or is over.
    pub fn train(&mut self, up: bool) -> Result<(), Failure> {
        let is_silent = self.end.is_silent_in_training()?;
        self.end.train(up);
        (self.down, self.trains, self.wants_training) = (is_silent && !up, !up, false);
        self.liveness.restart();
        Ok(())
    }

    /// Whether the link is up; it is not once it has stopped.
    pub fn is_up(&self) -> bool {
        self.end.is_up() && !self.down && self.halted().is_none()
    }

    /// Whether nothing is left to be sent or acknowledged, or to be taken.
    pub fn is_quiet(&self) -> bool {
        self.next.is_none() && self.held.is_empty() && self.end.is_quiet()
    }

    /// The rule that has stopped the link.
    pub fn halted(&self) -> Option<&'static str> {
        self.end.halted()
    }

    /// Whether the end has requested link training.
    pub fn wants_training(&self) -> bool {
        self.wants_training
    }

    pub fn health(&self, now: u64) -> LinkHealth {
        self.end.health(now)
    }

    pub fn state(&self, now: u64) -> [(&'static str, Value); 5] {
        [
            ("up", self.is_up().into()),
            ("quiet", self.is_quiet().into()),
            ("halted", self.halted().map_or(Value::Null, Value::from)),
            ("wants_training", self.wants_training.into()),
            ("health", self.health(now).json().into()),
        ]
    }
}
