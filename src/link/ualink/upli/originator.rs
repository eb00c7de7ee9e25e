//! The originator's side: sends requests, takes responses, answers for a completer that is lost.

use super::config::{UpliChannel, UpliConfig, UpliConfigError};
use super::convert::{self, ConvertError, Response, UpliRequest};
use super::credit::{UpliCreditPool, UpliCreditReturns};
use super::monitor::broken;
use super::order::Ordered;
use super::signals::{DataWires, FromCompleter, FromOriginator, MAX_PORTS, RdWires, control_is_even, data_is_even};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::{RdWr, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::UpliReq;
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// A request that waits for its last beat.
#[derive(Debug, Clone)]
struct UnansweredUpliRequest {
    word: UpliReq,
    /// Beats of a read, 0 of a write.
    beats: usize,
    /// Bit i: beat i has been handed on.
    seen: u8,
    sent_at: u64,
    /// Beats of a response of all beats that is not whole.
    gathered: Vec<RdWires>,
}

/// Credits that an answer holds.
#[derive(Debug, Clone, Copy)]
struct Holds {
    channel: UpliChannel,
    pool: bool,
    vc: u8,
    credits: u16,
}

/// Originator of one UPLI.
#[derive(Debug, Clone)]
pub struct Originator {
    config: UpliConfig,
    cycle: u64,
    waiting: [VecDeque<UpliRequest>; MAX_PORTS],
    /// Beats behind a request that has gone.
    burst: [VecDeque<DataWires>; MAX_PORTS],
    req_credits: UpliCreditPool,
    data_credits: UpliCreditPool,
    rd_bank: UpliCreditReturns,
    wr_bank: UpliCreditReturns,
    /// By source and tag: behind a link, requests of several accelerators share a port.
    open: [OrderedMap<(u16, u16), UnansweredUpliRequest>; MAX_PORTS],
    isolated: [bool; MAX_PORTS],
    answers: VecDeque<(u8, Transfer, Option<Holds>)>,
    events: Vec<Violation>,
}

impl Originator {
    /// Nothing has been sent.
    ///
    /// # Errors
    /// A configuration with which nothing can work.
    pub fn new(config: UpliConfig) -> Result<Originator, UpliConfigError> {
        config.check()?;
        let bank = |channel: UpliChannel| UpliCreditReturns::new(&config.credits[channel.index()], config.ports);
        Ok(Originator {
            config,
            cycle: 0,
            waiting: Default::default(),
            burst: Default::default(),
            req_credits: UpliCreditPool::default(),
            data_credits: UpliCreditPool::default(),
            rd_bank: bank(UpliChannel::RdRsp),
            wr_bank: bank(UpliChannel::WrRsp),
            open: Default::default(),
            isolated: [false; MAX_PORTS],
            answers: VecDeque::new(),
            events: Vec::new(),
        })
    }

    /// Queues a request. In isolation it is answered at once.
    ///
    /// # Errors
    /// It is no request that a UPLI carries. A port that is not there is taken as the last one.
    pub fn submit(&mut self, port: u8, transfer: &Transfer) -> Result<(), ConvertError> {
        let port = port.min(self.config.ports - 1);
        let request = convert::request_to_wires(transfer, port, &self.config.codec)?;
        self.waiting[usize::from(port)].push_back(request);
        if self.isolated[usize::from(port)] {
            self.isolate(port);
        }
        Ok(())
    }

    /// The next answer with its port; its buffers are free then.
    pub fn take(&mut self) -> Option<(u8, Transfer)> {
        let (port, transfer, holds) = self.answers.pop_front()?;
        if let Some(Holds { channel, pool, vc, credits }) = holds {
            self.free(channel, port, pool, vc, credits);
        }
        Some((port, transfer))
    }

    /// Requests without their last beat.
    pub fn open_tags(&self, port: u8) -> usize {
        self.open.get(usize::from(port)).map_or(0, OrderedMap::len)
    }

    /// Requests that wait to be sent.
    pub fn waiting(&self, port: u8) -> usize {
        self.waiting.get(usize::from(port)).map_or(0, VecDeque::len)
    }

    /// Whether a port is in isolation.
    pub fn is_isolated(&self, port: u8) -> bool {
        self.isolated.get(usize::from(port)).is_some_and(|&yes| yes)
    }

    /// Nothing is to be driven, taken or given back; requests may wait for their answers.
    pub fn is_quiet(&self) -> bool {
        self.waiting.iter().all(VecDeque::is_empty)
            && self.burst.iter().all(VecDeque::is_empty)
            && self.answers.is_empty()
            && self.rd_bank.is_quiet()
            && self.wr_bank.is_quiet()
    }

    /// Nothing has happened up to a cycle: slots and deadlines go on from there.
    pub fn skip_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// What it saw the completer break.
    pub fn take_events(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.events)
    }

    /// Goes into isolation on a port: all its requests are answered with a completion time-out.
    pub fn isolate(&mut self, port: u8) {
        let Some(open) = self.open.get_mut(usize::from(port)) else { return };
        self.isolated[usize::from(port)] = true;
        for open in std::mem::take(open).into_values() {
            self.drop_beats(&open.gathered);
            self.answers.extend(dummies(&open.word, open.beats, open.seen).map(|dummy| (port, dummy, None)));
        }
        for request in std::mem::take(&mut self.waiting[usize::from(port)]) {
            let word = request.wires.word;
            let beats = convert::read_beats(&word);
            self.answers.extend(dummies(&word, beats, 0).map(|dummy| (port, dummy, None)));
        }
    }

    /// Leaves isolation: requests are sent again. Answers to what was sent before must have come in or be lost, or they
    /// meet new requests of their tags.
    pub fn leave_isolation(&mut self, port: u8) {
        if let Some(isolated) = self.isolated.get_mut(usize::from(port)) {
            *isolated = false;
        }
    }

    /// The signals of this cycle.
    pub fn drive(&mut self) -> FromOriginator {
        let mut out = FromOriginator {
            rd_credits: self.rd_bank.drive(),
            wr_credits: self.wr_bank.drive(),
            ..FromOriginator::default()
        };
        let port = self.config.originator_slot(self.cycle);
        let p = usize::from(port);
        let in_burst = self.burst[p].pop_front();
        if let Some(at) = self.choose(p, in_burst.is_some()) {
            out = self.send(out, p, at);
        }
        if let Some(beat) = in_burst {
            out.data = beat;
        }
        out
    }

    /// The first request that may go: order, tag and credits.
    fn choose(&self, p: usize, in_burst: bool) -> Option<usize> {
        let ordered = |word: &UpliReq| Ordered::request(word.src, word.dst, word.tag, word.vc, word.address);
        let waiting = &self.waiting[p];
        (0..waiting.len()).find(|&at| {
            let UpliRequest { wires, beats } = &waiting[at];
            let word = &wires.word;
            let (port, pool, vc) = (word.port, word.pool, word.vc);
            // A request with data waits for all that have data, or a long one could wait for ever.
            let in_order = waiting.iter().take(at).all(|earlier| {
                let may_pass = ordered(word).may_pass(&ordered(&earlier.wires.word), self.config.ordering);
                let other_tag = (earlier.wires.word.src, earlier.wires.word.tag) != (word.src, word.tag);
                may_pass && other_tag && (beats.is_empty() || earlier.beats.is_empty())
            });
            in_order
                && !self.open[p].contains_key(&(word.src, word.tag))
                && self.req_credits.has(port, pool, vc, 1)
                && (beats.is_empty() || !in_burst && self.data_credits.has(port, pool, vc, beats.len() as u16))
        })
    }

    fn send(&mut self, mut out: FromOriginator, p: usize, at: usize) -> FromOriginator {
        let Some(UpliRequest { wires, beats }) = self.waiting[p].remove(at) else { return out };
        let word = wires.word;
        self.req_credits.spend(word.port, word.pool, word.vc, 1);
        self.data_credits.spend(word.port, word.pool, word.vc, beats.len() as u16);
        let read = convert::read_beats(&word);
        let open = UnansweredUpliRequest { word, beats: read, seen: 0, sent_at: self.cycle, gathered: Vec::new() };
        self.open[p].insert((word.src, word.tag), open);
        out.request = wires;
        let mut beats = VecDeque::from(beats);
        if let Some(first) = beats.pop_front() {
            out.data = first;
            self.burst[p] = beats;
        }
        out
    }

    /// Hears the signals of this cycle, at its end.
    pub fn sample(&mut self, wires: &FromCompleter) {
        self.req_credits.take_returns(&wires.req_credits);
        self.data_credits.take_returns(&wires.data_credits);
        if wires.wr.word.valid {
            self.write_response(wires);
        }
        if wires.rd.word.valid {
            self.read_response(&wires.rd);
        }
        let late = |open: &UnansweredUpliRequest| self.cycle - open.sent_at >= self.config.watchdog_cycles;
        for port in 0..self.config.ports {
            if let Some(open) = self.open[usize::from(port)].values().find(|open| late(open)) {
                let found = format!("tag {} without its answer", open.word.tag);
                let expected = format!("an answer in {} cycles", self.config.watchdog_cycles);
                self.events.push(broken(
                    "UAL-UPL-14",
                    found,
                    expected,
                    "a request is not answered in time; the watchdog isolates the port",
                ));
                self.isolate(port);
                // One port a cycle; the next one is found in the next.
                break;
            }
        }
        self.cycle += 1;
    }

    fn write_response(&mut self, wires: &FromCompleter) {
        let word = &wires.wr.word;
        if !control_is_even(word) {
            self.events.push(broken("UAL-UPL-13", "odd", "even", "the control parity of a write response is wrong"));
            (0..self.config.ports).for_each(|port| self.isolate(port));
            return;
        }
        let p = usize::from(word.port);
        let taken = self.open[p].get(&(word.dst, word.tag)).is_some_and(|open| open.beats == 0);
        if word.status == Status::ISOLATE || !taken || self.isolated[p] {
            if word.status == Status::ISOLATE {
                self.isolate(word.port);
            } else if !self.isolated[p] {
                self.stray(word.tag);
            }
            self.free(UpliChannel::WrRsp, word.port, word.pool, word.vc, 1);
            return;
        }
        self.open[p].remove(&(word.dst, word.tag));
        let holds = Holds { channel: UpliChannel::WrRsp, pool: word.pool, vc: word.vc, credits: 1 };
        self.answer(word.port, &Response::Write(wires.wr), holds);
    }

    fn read_response(&mut self, beat: &RdWires) {
        let word = &beat.word;
        if let Err(error) = word.to_bits() {
            self.events.push(broken(
                "UAL-UPL-01",
                error,
                "a value that fits its wires",
                "a value does not fit its UPLI signal",
            ));
            return;
        }
        let p = usize::from(word.port);
        if !data_is_even(&beat.data, word.data_parity) {
            let text = "the data parity of a read response is wrong; the beat is poisoned";
            self.events.push(broken("UAL-UPL-13", "odd", "even", text));
        }
        let known = self.open[p].get_mut(&(word.dst, word.tag)).filter(|open| open.beats > 0);
        let Some(open) = known.filter(|_| !self.isolated[p]) else {
            if !self.isolated[p] {
                self.stray(word.tag);
            }
            self.free(UpliChannel::RdRsp, word.port, word.pool, word.vc, 1);
            return;
        };
        open.gathered.push(*beat);
        let whole = open.gathered.len() == usize::from(open.gathered[0].word.numbeats) + 1;
        if whole {
            open.seen |= open.gathered.iter().fold(0, |seen, beat| seen | 1 << beat.word.offset);
        }
        let all = whole && open.seen.count_ones() as usize == open.beats;
        let over = word.last || all;
        let gathered = if whole || over { std::mem::take(&mut open.gathered) } else { Vec::new() };
        if over {
            self.open[p].remove(&(word.dst, word.tag));
        }
        if word.last != all {
            let (found, expected) = (format!("Last {}", word.last), format!("Last {all}"));
            self.events.push(broken(
                "UAL-UPL-12",
                found,
                expected,
                "Last does not mark the final beat of the response",
            ));
        }
        if over && !whole {
            self.drop_beats(&gathered);
        }
        if whole {
            let credits = gathered.len() as u16;
            let holds = Holds { channel: UpliChannel::RdRsp, pool: word.pool, vc: word.vc, credits };
            self.answer(word.port, &Response::Read(gathered), holds);
        }
    }

    fn answer(&mut self, port: u8, response: &Response, holds: Holds) {
        match convert::response_from_wires(response) {
            Ok(transfer) => self.answers.push_back((port, transfer, Some(holds))),
            Err(error) => {
                self.events.push(broken(
                    "UAL-UPL-12",
                    error,
                    "a whole response",
                    "the beats of a response do not belong together",
                ));
                self.free(holds.channel, port, holds.pool, holds.vc, holds.credits);
            }
        }
    }

    fn stray(&mut self, tag: u16) {
        let found = format!("tag {tag}");
        self.events.push(broken(
            "UAL-UPL-09",
            found,
            "a tag that waits for it",
            "a response is received that nobody waits for",
        ));
    }

    /// Beats that nobody will take.
    fn drop_beats(&mut self, beats: &[RdWires]) {
        for beat in beats {
            self.rd_bank.free(beat.word.port, beat.word.pool, beat.word.vc, 1);
        }
    }

    fn free(&mut self, channel: UpliChannel, port: u8, pool: bool, vc: u8, credits: u16) {
        let bank = if channel == UpliChannel::RdRsp { &mut self.rd_bank } else { &mut self.wr_bank };
        bank.free(port, pool, vc, credits);
    }
}

/// The answers that a lost request gets: what is missing of a read, with data of zeros, or a write response. They come from
/// its destination.
fn dummies(word: &UpliReq, beats: usize, seen: u8) -> impl Iterator<Item = Transfer> + use<> {
    let rsp = TlRsp {
        dst: word.src,
        src: word.dst,
        tag: word.tag,
        vchan: word.vc,
        pool: word.pool,
        status: Status::CompletionTimeout,
        rdwr: if beats > 0 { RdWr::Read } else { RdWr::Write },
        ..TlRsp::default()
    };
    let missing: Vec<usize> = (0..beats).filter(|k| seen >> k & 1 == 0).collect();
    let answers: Vec<TlRsp> = match missing.len() {
        0 => vec![rsp],
        n if n == beats => vec![TlRsp { len: beats as u8 - 1, last: true, ..rsp }],
        n => (0..n).map(|k| TlRsp { offset: missing[k] as u8, last: k + 1 == n, ..rsp }).collect(),
    };
    answers.into_iter().map(|rsp| {
        let halves = if rsp.rdwr == RdWr::Read { 2 * (usize::from(rsp.len) + 1) } else { 0 };
        Transfer { data: vec![[0; 32]; halves].into(), ..Transfer::new(ControlField::Response(rsp)) }
    })
}
