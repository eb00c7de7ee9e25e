//! Basic messages: device ID, port number, TL rate (`ualink` §6).

use super::{Deadlines, DlMessageFinding, answer, broken, lateness, word};
use crate::event::Severity;
use crate::ualink::config::EndConfig;
use scalepool_protocols::ualink::code::DeviceType;
use scalepool_protocols::ualink::message::{DeviceId, PortNumber, TlRate};
use scalepool_protocols::wire::{LayoutDef, Wire};
use std::collections::VecDeque;

/// 1562.5 MHz in units of 50 kHz (`ualink` §6).
pub const NOMINAL_RATE: u16 = 31_250;
/// 156.25 MHz in units of 50 kHz, by way of which every change goes (`ualink` §6).
pub const MIN_RATE: u16 = 3_125;

/// Why a TL rate is not announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// Only accelerators change their rate (`ualink` §6).
    #[error("TL rate of a switch: found a change, expected none")]
    Switch,
    /// Outside of what the clock can do.
    #[error("TL rate: found {found} x 50 kHz, expected {MIN_RATE} to {NOMINAL_RATE}")]
    Range {
        /// The rate, in units of 50 kHz.
        found: u16,
    },
}

/// What an end tells of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity {
    /// Kind and device ID; the ID is `None` when the peer has none.
    pub device: Option<(DeviceType, Option<u16>)>,
    /// Port number; `Some(None)` when the peer has none.
    pub port: Option<Option<u16>>,
}

/// A request without answer yet.
#[derive(Debug, Clone, Copy)]
struct UnansweredBasicRequest {
    /// Sent at this flit time; `None`: it waits to be sent.
    at: Option<u64>,
}

/// Kinds of requests, in the order of their turns.
const DEVICE: usize = 0;
const PORT: usize = 1;
const RATE: usize = 2;
/// Turn of the answers.
const ANSWERS: usize = 3;
const TURNS: usize = 4;
const NAMES: [&str; 3] = ["device ID", "port number", "TL rate"];

#[derive(Debug, Clone)]
pub(super) struct Basic {
    device: (DeviceType, Option<u16>),
    port: Option<u16>,
    peer_type: DeviceType,
    deadlines: Deadlines,
    asked: [Option<UnansweredBasicRequest>; 3],
    /// Questions that were asked again: their first answers may still come.
    again: [u16; 3],
    /// Rates to announce, the first one is the next.
    rates: VecDeque<u16>,
    rate: u16,
    peer_rate: u16,
    answers: VecDeque<u32>,
    peer: Identity,
    turn: usize,
}

impl Basic {
    pub fn new(config: &EndConfig, deadlines: Deadlines) -> Basic {
        let device = (config.device_type, config.device_id);
        Basic { device, port: config.port_number, ..Basic::following(config.peer_type, deadlines) }
    }

    /// One that only follows an end: nothing is to be sent.
    pub fn following(peer_type: DeviceType, deadlines: Deadlines) -> Basic {
        Basic {
            device: (DeviceType::default(), None),
            port: None,
            peer_type,
            deadlines,
            asked: [None; 3],
            again: [0; 3],
            rates: VecDeque::new(),
            rate: NOMINAL_RATE,
            peer_rate: NOMINAL_RATE,
            answers: VecDeque::new(),
            peer: Identity::default(),
            turn: 0,
        }
    }

    /// The end that is followed has sent a message.
    pub fn sent(&mut self, def: &LayoutDef, bits: u32) {
        let bits = bits.into();
        let (kind, is_answer) = if def.name == DeviceId::DEF.name {
            (DEVICE, DeviceId::from_bits(bits).ack)
        } else if def.name == PortNumber::DEF.name {
            (PORT, PortNumber::from_bits(bits).ack)
        } else if def.name == TlRate::DEF.name {
            (RATE, TlRate::from_bits(bits).ack)
        } else {
            return;
        };
        if !is_answer && self.asked[kind].replace(UnansweredBasicRequest { at: Some(0) }).is_some() {
            self.again[kind] = self.again[kind].saturating_add(1);
        }
    }

    pub fn ask_device_id(&mut self) {
        self.asked[DEVICE].get_or_insert(UnansweredBasicRequest { at: None });
    }

    pub fn ask_port_number(&mut self) {
        self.asked[PORT].get_or_insert(UnansweredBasicRequest { at: None });
    }

    pub fn peer(&self) -> &Identity {
        &self.peer
    }

    pub fn change_rate(&mut self, rate: u16) -> Result<(), RateError> {
        if self.device.0 == DeviceType::Switch {
            return Err(RateError::Switch);
        }
        if !(MIN_RATE..=NOMINAL_RATE).contains(&rate) {
            return Err(RateError::Range { found: rate });
        }
        let last = self.rates.back().copied().unwrap_or(self.rate);
        let steps = if last == MIN_RATE || rate == MIN_RATE { vec![rate] } else { vec![MIN_RATE, rate] };
        self.rates.extend(steps);
        self.asked[RATE].get_or_insert(UnansweredBasicRequest { at: None });
        Ok(())
    }

    pub fn rates_50khz(&self) -> [u16; 2] {
        [self.rate, self.peer_rate]
    }

    /// Answers and each kind of request in turn.
    pub fn next(&mut self, now: u64) -> Option<u32> {
        if self.is_quiet() {
            return None;
        }
        let waits = |kind: usize| match kind {
            ANSWERS => !self.answers.is_empty(),
            kind => matches!(self.asked[kind], Some(UnansweredBasicRequest { at: None })),
        };
        let kind = (0..TURNS).map(|k| (self.turn + k) % TURNS).find(|&kind| waits(kind))?;
        self.turn = (kind + 1) % TURNS;
        if kind == ANSWERS {
            return self.answers.pop_front();
        }
        self.asked[kind] = Some(UnansweredBasicRequest { at: Some(now) });
        Some(match kind {
            DEVICE => word(&DeviceId::default()),
            PORT => word(&PortNumber::default()),
            _ => word(&TlRate { rate: self.rates.front().copied().unwrap_or(self.rate), ..TlRate::default() }),
        })
    }

    pub fn receive(&mut self, def: &LayoutDef, bits: u32, _now: u64, found: &mut Vec<DlMessageFinding>) {
        let bits = bits.into();
        if def.name == DeviceId::DEF.name {
            let message = DeviceId::from_bits(bits);
            if message.ack {
                self.answered(DEVICE, found);
                self.peer.device = Some((message.device_type, message.valid.then_some(message.id)));
            } else {
                let (device_type, id) = self.device;
                let (valid, id) = (id.is_some(), id.unwrap_or(0));
                answer(&mut self.answers, word(&DeviceId { ack: true, device_type, valid, id, ..DeviceId::default() }));
            }
        } else if def.name == PortNumber::DEF.name {
            let message = PortNumber::from_bits(bits);
            if message.ack {
                self.answered(PORT, found);
                self.peer.port = Some(message.valid.then_some(message.port));
            } else {
                let (valid, port) = (self.port.is_some(), self.port.unwrap_or(0));
                answer(&mut self.answers, word(&PortNumber { ack: true, valid, port, ..PortNumber::default() }));
            }
        } else if def.name == TlRate::DEF.name {
            self.rate_message(&TlRate::from_bits(bits), found);
        }
    }

    fn rate_message(&mut self, message: &TlRate, found: &mut Vec<DlMessageFinding>) {
        if message.ack {
            if !self.answered(RATE, found) {
                return;
            }
            self.rate = self.rates.pop_front().unwrap_or(self.rate);
            self.asked[RATE] = (!self.rates.is_empty()).then_some(UnansweredBasicRequest { at: None });
            return;
        }
        if self.peer_type == DeviceType::Switch {
            let text = "a switch asks for another TL rate";
            found.push((Severity::Protocol, broken("UAL-RTE-02", message.rate, "no request", text)));
        }
        if self.peer_rate != MIN_RATE && message.rate != MIN_RATE && message.rate != self.peer_rate {
            let text = "the TL rate changes without going by way of the lowest";
            let change = format!("{} to {}", self.peer_rate, message.rate);
            found.push((Severity::Protocol, broken("UAL-RTE-01", change, format!("by way of {MIN_RATE}"), text)));
        }
        self.peer_rate = message.rate;
        answer(&mut self.answers, word(&TlRate { ack: true, ..TlRate::default() }));
    }

    /// An answer has come: whether it answers the question that is open.
    fn answered(&mut self, kind: usize, found: &mut Vec<DlMessageFinding>) -> bool {
        let asked = self.asked[kind].take();
        let is_open = asked.is_some();
        if asked.is_some_and(|asked| asked.at.is_some()) {
            return true;
        }
        if self.again[kind] > 0 {
            // To a question that has been asked again, or is about to be.
            self.again[kind] -= 1;
            return is_open;
        }
        let text = "an answer is received that nobody asked for";
        found.push((Severity::Protocol, broken("UAL-MSG-13", NAMES[kind], "a request before", text)));
        is_open
    }

    pub fn clock(&mut self, now: u64, repaired_at: Option<u64>, found: &mut Vec<DlMessageFinding>) {
        for (kind, asked) in self.asked.iter_mut().enumerate() {
            if let Some(UnansweredBasicRequest { at: Some(at) }) = *asked
                && now > at + self.deadlines.answer_flits
            {
                // It is asked again.
                *asked = Some(UnansweredBasicRequest { at: None });
                self.again[kind] += 1;
                let text = "a DL message is not answered within 1 us";
                found.push((lateness(at, repaired_at), broken("UAL-MSG-13", NAMES[kind], "an answer", text)));
            }
        }
    }

    pub fn link_down(&mut self) {
        self.answers.clear();
        self.again = [0; 3];
        for asked in self.asked.iter_mut().flatten() {
            asked.at = None;
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.answers.is_empty() && self.asked.iter().all(Option::is_none)
    }
}
