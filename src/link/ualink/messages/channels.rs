//! Channels and their negotiation (`ualink` §6).
//!
//! A negotiation is a request, an Ack, and an Ack that confirms it: who asked changes with the Ack, who answered with the
//! confirmation. An online request may be answered with Pending; then the responder asks by itself. \[D\]: the Response
//! field of an answer repeats the state that was asked for; without confirmation in 1 us the responder asks by itself.

use super::{Deadlines, DlMessageFinding, answer, broken, lateness, word};
use crate::event::Severity;
use scalepool_protocols::ualink::code::ChannelCommand;
use scalepool_protocols::ualink::message::DlChannel;
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// Channel of TL flits (`ualink` §6).
pub const TL_CHANNEL: u8 = 0;
/// Channel of the UART (`ualink` §6).
pub const UART_CHANNEL: u8 = 4;
/// Channel numbers have three bits (`ualink` §6).
const CHANNELS: usize = 8;

/// How far a request of ours is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChannelRequestStage {
    /// It waits to be sent.
    Waiting,
    /// Sent at this flit time.
    Sent(u64),
    /// The peer decides later; since this flit time.
    Pending(u64),
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    online: bool,
    /// Our request and the state that it asks for.
    asked: Option<(ChannelRequestStage, bool)>,
    /// The Ack that confirms waits to be sent: the peer still has the old state.
    confirms: bool,
    /// The peer's request that we have agreed to, and since when we wait for the confirmation.
    agreed: Option<(bool, u64)>,
}

/// States of all channels of one end.
#[derive(Debug, Clone)]
pub struct Channels {
    states: [State; CHANNELS],
    answers: VecDeque<u32>,
    deadlines: Deadlines,
    later: bool,
    /// Whose turn it is: 0 to 7 the requests of a channel, then answers, then confirmations.
    turn: usize,
    /// Nothing is asked, agreed or to be told: looked at some ten times a flit time, and hardly ever otherwise.
    quiet: bool,
}

/// Turns that are no channel's.
const ANSWERS: usize = CHANNELS;
const CONFIRMATIONS: usize = CHANNELS + 1;
const TURNS: usize = CHANNELS + 2;

fn nibble(channel: usize, online: bool) -> u8 {
    channel as u8 | (online as u8) << 3
}

fn message(command: ChannelCommand, channel: usize, online: bool) -> u32 {
    let target = nibble(channel, online);
    let response = if command == ChannelCommand::Request { 0 } else { target };
    word(&DlChannel { command, target, response, ..DlChannel::default() })
}

impl Channels {
    pub(super) fn new(deadlines: Deadlines) -> Channels {
        let states = [State::default(); CHANNELS];
        Channels { states, answers: VecDeque::new(), deadlines, later: false, turn: 0, quiet: true }
    }

    /// Whether a channel is online at this end.
    pub fn is_online(&self, channel: u8) -> bool {
        self.states[usize::from(channel) % CHANNELS].online
    }

    /// Whether this end may use a channel: it is online, and the peer hears of it before what is sent now.
    pub fn may_send(&self, channel: u8) -> bool {
        let state = &self.states[usize::from(channel) % CHANNELS];
        state.online && !state.confirms
    }

    pub(super) fn ask(&mut self, channel: u8, online: bool) {
        self.states[usize::from(channel) % CHANNELS].asked = Some((ChannelRequestStage::Waiting, online));
        self.settle();
    }

    /// Looks again whether it is quiet, behind every change.
    fn settle(&mut self) {
        let at_rest = |s: &State| s.asked.is_none() && s.agreed.is_none() && !s.confirms;
        self.quiet = self.answers.is_empty() && self.states.iter().all(at_rest);
    }

    pub(super) fn decide_later(&mut self, later: bool) {
        self.later = later;
    }

    /// The next message, each kind and channel in turn.
    pub(super) fn next(&mut self, now: u64) -> Option<u32> {
        if self.is_quiet() {
            return None;
        }
        let turn = self.turn;
        let (at, message) = (0..TURNS).map(|k| (turn + k) % TURNS).find_map(|at| Some((at, self.of_turn(at, now)?)))?;
        self.turn = (at + 1) % TURNS;
        self.settle();
        Some(message)
    }

    fn of_turn(&mut self, turn: usize, now: u64) -> Option<u32> {
        match turn {
            ANSWERS => self.answers.pop_front(),
            CONFIRMATIONS => {
                let channel = self.states.iter().position(|s| s.confirms)?;
                self.states[channel].confirms = false;
                Some(message(ChannelCommand::Ack, channel, self.states[channel].online))
            }
            channel => {
                let (ChannelRequestStage::Waiting, online) = self.states[channel].asked? else { return None };
                self.states[channel].asked = Some((ChannelRequestStage::Sent(now), online));
                Some(message(ChannelCommand::Request, channel, online))
            }
        }
    }

    pub(super) fn receive(&mut self, bits: u32, now: u64, found: &mut Vec<DlMessageFinding>) {
        self.take(bits, now, found);
        self.settle();
    }

    fn take(&mut self, bits: u32, now: u64, found: &mut Vec<DlMessageFinding>) {
        let read = DlChannel::from_bits(bits.into());
        let (channel, online) = (usize::from(read.target & 7), read.target >> 3 & 1 == 1);
        let state = &mut self.states[channel];
        match read.command {
            ChannelCommand::Request => self.requested(channel, online, now, found),
            ChannelCommand::Ack => match (state.asked, state.agreed) {
                (Some((ChannelRequestStage::Sent(_) | ChannelRequestStage::Pending(_), target)), _)
                    if target == online =>
                {
                    (state.online, state.asked, state.confirms) = (online, None, true);
                }
                (_, Some((target, _))) if target == online => (state.online, state.agreed) = (online, None),
                _ => {
                    // For the present state it is the answer to a request that was repeated because it came late.
                    let severity = if state.online == online { Severity::Corrected } else { Severity::Protocol };
                    let text = "an Ack is received without a request";
                    found.push((severity, broken("UAL-CHN-06", read.target, "a request before", text)));
                }
            },
            ChannelCommand::Nack | ChannelCommand::Pending => {
                let Some((ChannelRequestStage::Sent(_), target)) = state.asked.filter(|&(_, target)| target == online)
                else {
                    let text = "an answer is received without a request";
                    found.push((Severity::Protocol, broken("UAL-CHN-06", read.target, "a request before", text)));
                    return;
                };
                if !target {
                    let text = "a request to go offline is not acknowledged";
                    found.push((Severity::Protocol, broken("UAL-CHN-04", read.command.0, "an Ack", text)));
                } else if state.online {
                    let text = "a request for the present state is not acknowledged";
                    found.push((Severity::Protocol, broken("UAL-CHN-03", read.command.0, "an Ack", text)));
                } else if read.command == ChannelCommand::Nack {
                    let text = "a request to go online is answered neither by Ack nor by Pending";
                    found.push((Severity::Protocol, broken("UAL-CHN-05", read.command.0, "Ack or Pending", text)));
                }
                let pends = read.command == ChannelCommand::Pending && target;
                state.asked = pends.then_some((ChannelRequestStage::Pending(now), target));
            }
            _ => {
                let text = "the command of a channel negotiation is reserved; it is ignored";
                found.push((Severity::Protocol, broken("UAL-MSG-07", read.command.0, "4, 6, 7 or 8", text)));
            }
        }
    }

    fn requested(&mut self, channel: usize, online: bool, now: u64, found: &mut Vec<DlMessageFinding>) {
        let later = self.later;
        let state = &mut self.states[channel];
        if state.online == online {
            let text = "a request asks for the state that the channel is in";
            found.push((Severity::Corrected, broken("UAL-CHN-03", nibble(channel, online), "another state", text)));
        } else if online && later && state.asked.is_none() {
            answer(&mut self.answers, message(ChannelCommand::Pending, channel, online));
            return;
        }
        if let Some((ChannelRequestStage::Pending(_), _)) = state.asked {
            // The decision that we waited for: the peer asks by itself.
            state.asked = None;
        }
        state.agreed = Some((online, now));
        answer(&mut self.answers, message(ChannelCommand::Ack, channel, online));
    }

    /// The end that is followed has sent a message.
    pub(super) fn sent(&mut self, bits: u32) {
        let read = DlChannel::from_bits(bits.into());
        let state = &mut self.states[usize::from(read.target & 7)];
        match read.command {
            ChannelCommand::Request => state.asked = Some((ChannelRequestStage::Sent(0), read.target >> 3 & 1 == 1)),
            ChannelCommand::Ack => state.confirms = false,
            // It decides later, or never.
            _ => state.agreed = None,
        }
        self.settle();
    }

    pub(super) fn clock(&mut self, now: u64, repaired_at: Option<u64>, found: &mut Vec<DlMessageFinding>) {
        if self.quiet {
            return;
        }
        for (channel, state) in self.states.iter_mut().enumerate() {
            match state.asked {
                Some((ChannelRequestStage::Sent(at), target)) if now > at + self.deadlines.answer_flits => {
                    state.asked = Some((ChannelRequestStage::Waiting, target));
                    let text = "a channel request is not answered within 1 us";
                    found.push((lateness(at, repaired_at), broken("UAL-MSG-13", channel, "an answer", text)));
                }
                Some((ChannelRequestStage::Pending(at), _)) if now > at + self.deadlines.long_flits => {
                    state.asked = None;
                    let text = "a pending channel request is not decided within 10 ms";
                    found.push((Severity::Protocol, broken("UAL-CHN-05", channel, "a request", text)));
                }
                _ => (),
            }
            if let Some((target, at)) = state.agreed
                && now > at + self.deadlines.answer_flits
            {
                state.agreed = None;
                if state.online != target {
                    state.asked = Some((ChannelRequestStage::Waiting, target));
                }
            }
        }
        self.settle();
    }

    pub(super) fn link_down(&mut self) {
        self.states = [State::default(); CHANNELS];
        self.answers.clear();
        self.settle();
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }
}
