//! Our replay machine and the second one side by side, and a line between two such twins.

use super::rig::*;
pub use super::wrong::ReplayFault;
use super::wrong::WrongHeads;
use scalepool::link::ualink::replay::{Head, Replay, Says, UalFlitOutcome, UalReceived};
use scalepool_oracle::ual_llr::Llr;
use std::collections::VecDeque;

/// FH\[23:0\] of what a head says.
pub fn fh(head: &Head) -> u32 {
    let header = match head.says {
        Says::Number { number, replayed } => {
            explicit(if replayed { FlitOp::Replayed } else { FlitOp::Original }, head.payload, number)
        }
        Says::Ack { number, own_low } => command(FlitOp::Ack, head.payload, number, own_low.into()),
        Says::Request { number, own_low } => command(FlitOp::ReplayRequest, head.payload, number, own_low.into()),
    };
    header.to_bits().expect("it fits")
}

/// What a header says.
pub fn head(fh: u32) -> Head {
    let header = UalHeader::from_bits(fh);
    let says = match header {
        UalHeader::Explicit(h) => Says::Number { number: h.seq, replayed: h.op == FlitOp::Replayed },
        UalHeader::Command(h) if h.op == FlitOp::Ack => Says::Ack { number: h.ack_req_seq, own_low: h.seq_lo },
        UalHeader::Command(h) => Says::Request { number: h.ack_req_seq, own_low: h.seq_lo },
    };
    Head { payload: header.payload(), says }
}

/// A flit between twins: its header, and the number of what it carries.
pub type Sent = (u32, Option<u64>);

/// Our replay machine, perhaps with a fault around it.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub config: ReplayConfig,
    pub fault: Option<ReplayFault>,
}

impl From<ReplayConfig> for Machine {
    fn from(config: ReplayConfig) -> Machine {
        Machine { config, fault: None }
    }
}

/// A machine with a fault and everything else as it is.
pub fn wrong(fault: ReplayFault) -> Machine {
    Machine { config: ReplayConfig::default(), fault: Some(fault) }
}

/// Both machines, fed with the same.
pub struct Twin {
    pub ours: Replay<u64>,
    wrong: Option<WrongHeads>,
    pub second: Llr,
    /// Payload: the next one and the first not to be sent.
    pub next: u64,
    pub last: u64,
    /// Payload that came, in its order.
    pub came: Vec<u64>,
    /// Headers sent.
    pub sent: Vec<u32>,
    /// Rules of what ours has to log.
    pub logged: Vec<&'static str>,
    /// First difference.
    pub differs: Option<String>,
}

impl Twin {
    pub fn new(machine: impl Into<Machine>, last: u64) -> Twin {
        let Machine { config, fault } = machine.into();
        let mut second = Llr::default();
        second.rx_replay_limit = config.replay_limit_flits.into();
        second.buffer_size = config.buffer_flits.into();
        second.fec_group = config.fec_group_flits.into();
        let ours = Replay::new(config);
        let (came, sent, logged) = (Vec::new(), Vec::new(), Vec::new());
        let wrong = fault.map(WrongHeads::new);
        Twin { ours, wrong, second, next: 0, last, came, sent, logged, differs: None }
    }

    fn compare(&mut self, what: &str, ours: impl PartialEq<u64> + std::fmt::Debug, second: u64) {
        if self.differs.is_none() && ours != second {
            self.differs = Some(format!("flit {}, {what}: {ours:?}, the second machine: {second}", self.sent.len()));
        }
    }

    /// One flit of the transmitter.
    pub fn transmit(&mut self) -> Sent {
        let offered = self.next < self.last;
        if let Some(room) = self.wrong.as_ref().filter(|_| offered).and_then(|wrong| wrong.makes_room(&self.ours)) {
            self.ours.receive(Some(room));
        }
        let next = &mut self.next;
        let sent = self.ours.transmit(|| {
            offered.then(|| {
                *next += 1;
                *next - 1
            })
        });
        let (head, payload, again) = (sent.head, sent.payload.copied(), sent.again);
        let head = self.wrong.as_mut().map_or(head, |wrong| wrong.says(&self.ours, head, again));
        let header = fh(&head);
        let (second, number) = self.second.transmit(offered);
        self.compare("header", u64::from(header), second.into());
        self.compare("payload", u64::from(payload.is_some()), number.is_some().into());
        self.compare("kept", self.ours.unacknowledged() as u64, self.second.buffer.len() as u64);
        self.sent.push(header);
        (header, payload)
    }

    /// A flit for the receiver; `None`: a bad one.
    pub fn receive(&mut self, flit: Option<Sent>) {
        let received = self.hears(flit.map(|(fh, _)| head(fh)));
        let second = self.second.receive(flit.map(|(fh, _)| fh));
        self.compare("delivered", u64::from(received.taken == UalFlitOutcome::Payload), second.into());
        self.compare("kept", self.ours.unacknowledged() as u64, self.second.buffer.len() as u64);
        self.compare("number", u64::from(self.ours.last_taken()), self.second.rx_last_seq_calc.into());
        self.logged.extend(received.found.map(|(_, violation)| violation.rule));
        if received.taken == UalFlitOutcome::Payload {
            self.came.push(flit.and_then(|(_, payload)| payload).unwrap_or(u64::MAX));
        }
    }

    /// What our machine makes of a head, or of a bad flit.
    fn hears(&mut self, head: Option<Head>) -> UalReceived {
        let Some(wrong) = &mut self.wrong else { return self.ours.receive(head) };
        let mut received = UalReceived { taken: UalFlitOutcome::Dropped, found: None };
        for head in wrong.hears(&self.ours, head) {
            received = self.ours.receive(head);
        }
        wrong.heard(head, received)
    }

    /// The header of a flit made by hand, without payload that anybody looks at.
    pub fn hear(&mut self, header: UalHeader) {
        self.receive(Some((header.to_bits().expect("it fits"), None)));
    }

    /// So many flits of the transmitter; their headers.
    pub fn send(&mut self, flits: usize) -> Vec<UalHeader> {
        (0..flits).map(|_| UalHeader::from_bits(self.transmit().0)).collect()
    }

    /// What came is everything up to now, once and in order.
    pub fn in_order(&self) -> bool {
        self.came.iter().enumerate().all(|(n, &came)| came == n as u64)
    }
}

/// Two twins and the line between them.
pub struct Link {
    pub ends: [Twin; 2],
    lines: [VecDeque<Option<Sent>>; 2],
    pub now: u64,
}

impl Link {
    pub fn new(machine: impl Into<Machine>, each: [u64; 2]) -> Link {
        let machine = machine.into();
        Link { ends: each.map(|last| Twin::new(machine, last)), lines: Default::default(), now: 0 }
    }

    /// One flit time, 10 flit times of line; `spoil` sees direction, time and header and says which arrive bad.
    pub fn step(&mut self, spoil: &mut dyn FnMut(usize, u64, u32) -> bool) {
        for from in 0..2 {
            let sent = self.ends[from].transmit();
            self.lines[from].push_back((!spoil(from, self.now, sent.0)).then_some(sent));
        }
        for from in 0..2 {
            if self.lines[from].len() > 10
                && let Some(flit) = self.lines[from].pop_front()
            {
                self.ends[1 - from].receive(flit);
            }
        }
        self.now += 1;
    }

    /// Until everything has come and been acknowledged; whether it has within a time.
    pub fn run(&mut self, within: u64, spoil: &mut dyn FnMut(usize, u64, u32) -> bool) -> bool {
        let end = self.now + within;
        while self.now < end && !self.is_done() {
            self.step(spoil);
        }
        self.is_done()
    }

    fn is_done(&self) -> bool {
        let [a, b] = &self.ends;
        let came = |from: &Twin, to: &Twin| to.came.len() as u64 >= from.last && from.ours.is_quiet();
        came(a, b) && came(b, a)
    }

    /// Both machines did the same at both ends, everything came once and in order, nothing but errors was logged.
    #[track_caller]
    pub fn assert_clean(&self) {
        for (from, to) in [(0, 1), (1, 0)] {
            let [from, to] = [&self.ends[from], &self.ends[to]];
            assert_eq!((&to.differs, to.came.len() as u64, to.in_order()), (&None, from.last, true));
            assert!(to.logged.iter().all(|&rule| rule == "UAL-RXR-08"), "{:?}", to.logged);
        }
    }

    /// Something showed that a machine does not do as it should.
    pub fn is_caught(&self) -> bool {
        self.ends.iter().any(|twin| twin.differs.is_some() || !twin.in_order())
    }
}
