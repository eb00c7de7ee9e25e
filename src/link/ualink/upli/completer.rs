//! The completer's side: takes requests, sends responses, drops everything when its link is down.

use super::config::{UpliChannel, UpliConfig, UpliConfigError};
use super::convert::{self, ConvertError, Response, UpliRequest};
use super::credit::{UpliCreditPool, UpliCreditReturns};
use super::monitor::broken;
use super::signals::{
    DataWires, FromCompleter, FromOriginator, MAX_PORTS, RdWires, WrWires, control_is_even, data_is_even,
    seal_write_response,
};
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::UpliWrRsp;
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// A request whose beats may still come.
#[derive(Debug, Clone)]
struct Gather {
    request: UpliRequest,
    beats: usize,
    /// The port went into drop mode since.
    lost: bool,
}

impl Gather {
    fn is_whole(&self) -> bool {
        self.request.beats.len() == self.beats
    }
}

/// Completer of one UPLI.
#[derive(Debug, Clone)]
pub struct UpliCompleter {
    config: UpliConfig,
    cycle: u64,
    /// In order of arrival.
    requests: [VecDeque<Gather>; MAX_PORTS],
    next: usize,
    reads: [VecDeque<RdWires>; MAX_PORTS],
    /// Beats left of a response of all beats that has begun.
    in_burst: [usize; MAX_PORTS],
    writes: [VecDeque<WrWires>; MAX_PORTS],
    rd_credits: UpliCreditPool,
    wr_credits: UpliCreditPool,
    req_bank: UpliCreditReturns,
    data_bank: UpliCreditReturns,
    dropping: [bool; MAX_PORTS],
    events: Vec<Violation>,
}

impl UpliCompleter {
    /// Nothing has been received.
    ///
    /// # Errors
    /// A configuration with which nothing can work.
    pub fn new(config: UpliConfig) -> Result<UpliCompleter, UpliConfigError> {
        config.check()?;
        let bank = |channel: UpliChannel| UpliCreditReturns::new(&config.credits[channel.index()], config.ports);
        Ok(UpliCompleter {
            config,
            cycle: 0,
            requests: Default::default(),
            next: 0,
            reads: Default::default(),
            in_burst: [0; MAX_PORTS],
            writes: Default::default(),
            rd_credits: UpliCreditPool::default(),
            wr_credits: UpliCreditPool::default(),
            req_bank: bank(UpliChannel::Request),
            data_bank: bank(UpliChannel::OrigData),
            dropping: [false; MAX_PORTS],
            events: Vec::new(),
        })
    }

    /// The next request that is whole, ports in turn; its buffers are free then.
    pub fn take(&mut self) -> Option<(u8, Transfer)> {
        let ports = usize::from(self.config.ports);
        let first = self.next;
        (0..ports).map(|turn| ((first + turn) % ports) as u8).find_map(|port| Some((port, self.take_of(port)?)))
    }

    /// The next request of a port that is whole; its buffers are free then.
    pub fn take_of(&mut self, port: u8) -> Option<Transfer> {
        let p = usize::from(port) % MAX_PORTS;
        while self.requests[p].front().is_some_and(Gather::is_whole) {
            let Some(Gather { request, lost, .. }) = self.requests[p].pop_front() else { break };
            self.free(&request);
            if lost {
                continue;
            }
            match convert::request_from_wires(&request, &self.config.codec) {
                Ok(transfer) => {
                    self.next = p + 1;
                    return Some(transfer);
                }
                Err(error) => {
                    let text = "these signals are not a legal request; it is dropped";
                    self.events.push(broken("UAL-UPL-02", error, "a request", text));
                }
            }
        }
        None
    }

    /// Queues a response. A port in drop mode drops it.
    ///
    /// # Errors
    /// It is no response that a UPLI carries. A port that is not there is taken as the last one.
    pub fn answer(&mut self, port: u8, transfer: &Transfer) -> Result<(), ConvertError> {
        let port = port.min(self.config.ports - 1);
        let p = usize::from(port);
        match convert::response_to_wires(transfer, port)? {
            _ if self.dropping[p] => {}
            Response::Read(beats) => self.reads[p].extend(beats),
            Response::Write(word) => self.writes[p].push_back(word),
        }
        Ok(())
    }

    /// Beats and write responses that wait on a port.
    pub fn waiting(&self, port: u8) -> usize {
        let p = usize::from(port) % MAX_PORTS;
        self.reads[p].len() + self.writes[p].len()
    }

    /// Whether a port is in drop mode.
    pub fn is_dropping(&self, port: u8) -> bool {
        self.dropping.get(usize::from(port)).is_some_and(|&yes| yes)
    }

    /// The link of a port is down: what is there and what comes is dropped, the originator is told by a write response of
    /// status ISOLATE. A response of all beats that has begun goes on to its end, so that the interface stays legal.
    pub fn link_down(&mut self, port: u8) {
        let p = usize::from(port);
        if p >= usize::from(self.config.ports) || self.dropping[p] {
            return;
        }
        self.dropping[p] = true;
        self.requests[p].iter_mut().for_each(|gather| gather.lost = true);
        self.reads[p].truncate(self.in_burst[p]);
        self.writes[p].clear();
        self.writes[p].extend(self.isolate_word(port));
    }

    /// The link of a port is up again.
    pub fn link_up(&mut self, port: u8) {
        if let Some(dropping) = self.dropping.get_mut(usize::from(port)) {
            *dropping = false;
        }
    }

    /// Nothing is to be driven, taken or given back.
    pub fn is_quiet(&self) -> bool {
        (0..self.config.ports).all(|port| self.waiting(port) == 0)
            && self.requests.iter().all(VecDeque::is_empty)
            && self.req_bank.is_quiet()
            && self.data_bank.is_quiet()
    }

    /// Nothing has happened up to a cycle: slots go on from there.
    pub fn skip_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// What it saw the originator break.
    pub fn take_events(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.events)
    }

    /// Paid by the first target that has credits at all.
    fn isolate_word(&self, port: u8) -> Option<WrWires> {
        let counts = &self.config.credits[UpliChannel::WrRsp.index()];
        let pool = counts.pool > 0;
        let vc = if pool { 0 } else { counts.vc.iter().position(|&c| c > 0)? as u8 };
        let word = UpliWrRsp { port, pool, vc, status: Status::ISOLATE, ..UpliWrRsp::default() };
        seal_write_response(word).ok().map(|word| WrWires { word, auth_tag: 0 })
    }

    /// The signals of this cycle.
    pub fn drive(&mut self) -> FromCompleter {
        let mut out = FromCompleter {
            req_credits: self.req_bank.drive(),
            data_credits: self.data_bank.drive(),
            ..FromCompleter::default()
        };
        let port = self.config.completer_slot(self.cycle);
        let p = usize::from(port);
        if let Some(wr) = self.writes[p].front().copied()
            && self.wr_credits.spend(port, wr.word.pool, wr.word.vc, 1)
        {
            self.writes[p].pop_front();
            out.wr = wr;
        }
        if let Some(rd) = self.reads[p].front().copied() {
            // All beats of a response are paid with its first one, so that none waits behind it.
            let beats = u16::from(rd.word.numbeats) + 1;
            let goes_on = self.in_burst[p] > 0;
            if goes_on || self.rd_credits.spend(port, rd.word.pool, rd.word.vc, beats) {
                self.in_burst[p] = if goes_on { self.in_burst[p] } else { usize::from(beats) } - 1;
                self.reads[p].pop_front();
                out.rd = rd;
            }
        }
        out
    }

    /// Hears the signals of this cycle, at its end.
    pub fn sample(&mut self, wires: &FromOriginator) {
        self.rd_credits.take_returns(&wires.rd_credits);
        self.wr_credits.take_returns(&wires.wr_credits);
        if wires.request.word.valid {
            if control_is_even(&wires.request.word) {
                self.request(wires);
            } else {
                self.events.push(broken(
                    "UAL-UPL-13",
                    "odd",
                    "even",
                    "the control parity of a request is wrong; the port goes to drop mode",
                ));
                (0..self.config.ports).for_each(|port| self.link_down(port));
            }
        }
        if wires.data.word.valid {
            self.beat(&wires.data);
        }
        for port in 0..self.config.ports {
            self.drop_lost(usize::from(port));
        }
        self.cycle += 1;
    }

    fn request(&mut self, wires: &FromOriginator) {
        let word = &wires.request.word;
        let p = usize::from(word.port);
        let beats = convert::data_beats(word, &self.config.codec);
        let request = UpliRequest { wires: wires.request, beats: Vec::with_capacity(beats) };
        self.requests[p].push_back(Gather { request, beats, lost: self.dropping[p] });
    }

    fn beat(&mut self, beat: &DataWires) {
        if let Err(error) = beat.word.to_bits() {
            self.events.push(broken(
                "UAL-UPL-01",
                error,
                "a value that fits its wires",
                "a value does not fit its UPLI signal",
            ));
            return;
        }
        if !data_is_even(&beat.data, beat.word.data_parity) {
            let text = "the data parity of a request is wrong; the beat is poisoned";
            self.events.push(broken("UAL-UPL-13", "odd", "even", text));
        }
        let p = usize::from(beat.word.port);
        match self.requests[p].iter_mut().find(|gather| !gather.is_whole()) {
            Some(gather) => gather.request.beats.push(*beat),
            None => {
                // The request of a port in drop mode may be what was not understood.
                if !self.dropping[p] {
                    self.events.push(broken(
                        "UAL-UPL-11",
                        "a beat",
                        "no beat",
                        "a data beat is received without a request",
                    ));
                }
                self.data_bank.free(beat.word.port, beat.word.pool, beat.word.vc, 1);
            }
        }
    }

    /// Gives back the buffers of whole requests that are lost, without anybody taking them.
    fn drop_lost(&mut self, p: usize) {
        while self.requests[p].front().is_some_and(|gather| gather.lost && gather.is_whole()) {
            if let Some(Gather { request, .. }) = self.requests[p].pop_front() {
                self.free(&request);
            }
        }
    }

    fn free(&mut self, request: &UpliRequest) {
        let word = &request.wires.word;
        self.req_bank.free(word.port, word.pool, word.vc, 1);
        for beat in &request.beats {
            self.data_bank.free(word.port, beat.word.pool, beat.word.vc, 1);
        }
    }
}
