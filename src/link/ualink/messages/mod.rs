//! DL messages of one end (`ualink` §6): who sends which DWord next, and what a received one does.
//!
//! Modelled: identities and rate with their answers, channel negotiation, the UART stream with its credits and reset, round
//! robin inside a class and then between the three classes, all deadlines. Detail: one DWord a segment. Left out: what
//! firmware says over the UART, and the clock that a rate announces.
//!
//! A walk: the packer asks `next_word` once a segment. A UART message that has begun goes on; else the class
//! that is due gives its next message. A received DWord (`receive`) is UART payload while some is owed, else
//! its class takes it and may queue an answer.

mod basic;
mod channels;
mod uart;
mod watch;

pub use basic::{Identity, MIN_RATE, NOMINAL_RATE, RateError};
pub use channels::{Channels, TL_CHANNEL, UART_CHANNEL};
pub use uart::Uart;
pub(super) use watch::MessageMonitor;

use super::config::EndConfig;
use crate::event::Severity;
use basic::Basic;
use scalepool_protocols::ualink::code::MsgClass;
use scalepool_protocols::ualink::message::{self, MESSAGES};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// What is to be logged.
pub type DlMessageFinding = (Severity, Violation);

/// Deadlines in flit times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deadlines {
    /// 1.0 us, for answers.
    pub answer_flits: u64,
    /// 10 ms, for decisions and UART resets.
    pub long_flits: u64,
}

impl Deadlines {
    fn new(config: &EndConfig) -> Deadlines {
        let (num, den) = config.line.code_word_fs();
        let flits = |fs: u64| (fs * den).div_ceil(num);
        Deadlines { answer_flits: flits(1_000_000_000), long_flits: flits(10_000_000_000_000) }
    }
}

/// How bad a late answer is. Messages travel in payload flits, which a bad flit delays in both directions until they have
/// gone again: Rx_replay_limit alone, 50 flits, is 1.28 us at x1 (`ualink` §4, §7). So an answer is late by the peer's fault
/// only where the link had nothing to repair since the question went out.
fn lateness(asked_at: u64, repaired_at: Option<u64>) -> Severity {
    match repaired_at {
        Some(at) if at >= asked_at => Severity::Corrected,
        _ => Severity::Protocol,
    }
}

/// A violation that concerns a message as a whole.
fn broken(rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) -> Violation {
    crate::event::finding(rule, found, expected, text)
}

/// The DWord of a message.
fn word<W: Wire>(message: &W) -> u32 {
    let bits = message.to_bits();
    debug_assert!(bits.is_ok(), "numbers are checked where they come in");
    bits.unwrap_or_default() as u32
}

/// Queues an answer. One that waits already serves for both requests \[D\], so a peer that asks without end fills nothing.
fn answer(queue: &mut VecDeque<u32>, word: u32) {
    if !queue.contains(&word) {
        queue.push_back(word);
    }
}

/// DL messages of one end.
#[derive(Debug, Clone)]
pub struct DlMessages {
    basic: Basic,
    channels: Channels,
    uart: Uart,
    /// Class that is asked first: 0 basic, 1 control, 2 UART.
    turn: usize,
    opens_channels: bool,
    findings: Vec<DlMessageFinding>,
}

impl DlMessages {
    pub(super) fn new(config: &EndConfig) -> DlMessages {
        let deadlines = Deadlines::new(config);
        let mut messages = DlMessages {
            basic: Basic::new(config, deadlines),
            channels: Channels::new(deadlines),
            uart: Uart::new(config.uart_buffer_dwords, deadlines),
            turn: 0,
            opens_channels: config.opens_channels,
            findings: Vec::new(),
        };
        messages.link_down();
        messages
    }

    // ---- the user's side -----------------------------------------------------------------------------------------

    /// States of the channels.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Asks the peer to bring a channel online or offline.
    pub fn negotiate(&mut self, channel: u8, online: bool) {
        self.channels.ask(channel, online);
    }

    /// Lets the end answer requests for online with Pending until [`DlMessages::negotiate`] is called for the channel.
    pub fn decide_later(&mut self, later: bool) {
        self.channels.decide_later(later);
    }

    /// The byte stream between firmware.
    pub fn uart(&mut self) -> &mut Uart {
        &mut self.uart
    }

    /// Asks the peer for its device ID.
    pub fn ask_device_id(&mut self) {
        self.basic.ask_device_id();
    }

    /// Asks the peer for its port number.
    pub fn ask_port_number(&mut self) {
        self.basic.ask_port_number();
    }

    /// What the peer has told of itself.
    pub fn peer(&self) -> &Identity {
        self.basic.peer()
    }

    /// Changes the TL rate, in units of 50 kHz, by way of the lowest one (`ualink` §6).
    ///
    /// # Errors
    /// This end is a switch, or the rate is not one from [`MIN_RATE`] to [`NOMINAL_RATE`].
    pub fn change_rate(&mut self, rate_50khz: u16) -> Result<(), RateError> {
        self.basic.change_rate(rate_50khz)
    }

    /// Rates that hold now, in units of 50 kHz: our own and the peer's.
    pub fn rates_50khz(&self) -> [u16; 2] {
        self.basic.rates_50khz()
    }

    // ---- the link's side -----------------------------------------------------------------------------------------

    /// The DWord for the next segment.
    pub(super) fn next_word(&mut self, now: u64) -> Option<u32> {
        if self.is_quiet() {
            // All but ever. Asking each kind of message takes 300 instructions.
            return None;
        }
        if let Some(word) = self.uart.payload_word() {
            return Some(word);
        }
        for k in 0..3 {
            let class = (self.turn + k) % 3;
            let word = match class {
                0 => self.basic.next(now),
                1 => self.channels.next(now),
                _ => self.uart.next(now, self.channels.may_send(UART_CHANNEL)),
            };
            if word.is_some() {
                self.turn = (class + 1) % 3;
                return word;
            }
        }
        None
    }

    /// Whether what [`DlMessages::next_word`] gave last, if it was nothing, is all that it has to say in this flit
    /// time.
    pub(super) fn has_finished(&self) -> bool {
        self.uart.has_finished()
    }

    /// Takes a received DWord.
    pub(super) fn receive(&mut self, word: u32, now: u64) {
        let online = self.channels.is_online(UART_CHANNEL);
        if self.uart.take_payload(word, online) {
            return;
        }
        let Some(def) = message::def_of(word).filter(|_| !message::is_ignored(word)) else {
            self.findings.push((Severity::Protocol, message::unlisted(word)));
            return;
        };
        let mut found = Vec::new();
        def.check(word.into(), &mut found);
        self.findings.extend(found.into_iter().map(|v| (Severity::Protocol, v)));
        debug_assert!(MESSAGES.iter().any(|m| m.name == def.name));
        let class = MsgClass((word >> 2 & 0xf) as u8);
        if class == MsgClass::Basic {
            self.basic.receive(def, word, now, &mut self.findings);
        } else if class == MsgClass::Uart {
            self.uart.receive(def, word, online, &mut self.findings);
        } else {
            self.channels.receive(word, now, &mut self.findings);
        }
    }

    /// A flit has gone out: deadlines are looked at. `repaired_at` is when the link last had to repair anything.
    pub(super) fn flit_sent(&mut self, now: u64, repaired_at: Option<u64>) {
        self.uart.flit_sent(now);
        self.basic.clock(now, repaired_at, &mut self.findings);
        self.channels.clock(now, repaired_at, &mut self.findings);
    }

    /// A flit has come in, perhaps while a replay is waited for.
    pub(super) fn flit_received(&mut self, replayed: bool) {
        self.uart.flit_received(replayed);
    }

    /// The link has left Up: everything is as after reset.
    pub(super) fn link_down(&mut self) {
        self.basic.link_down();
        self.channels.link_down();
        self.uart.link_down();
        if self.opens_channels {
            self.channels.ask(TL_CHANNEL, true);
            self.channels.ask(UART_CHANNEL, true);
        }
    }

    pub(super) fn take_findings(&mut self) -> Vec<DlMessageFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Whether there are findings.
    pub(super) fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Nothing waits to be sent or answered.
    pub fn is_quiet(&self) -> bool {
        self.basic.is_quiet() && self.channels.is_quiet() && self.uart.is_quiet(self.channels.is_online(UART_CHANNEL))
    }
}
