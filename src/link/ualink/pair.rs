//! Two ends and the line between them, without a kernel: for vectors and for tests of the link layer alone.
//!
//! Modelled: one flit a flit time in each direction, a latency in flit times, faults by a function of the user. A walk
//! through [`Pair::step`]: what is due arrives, then both ends send.

use super::client::Client;
use super::config::EndConfig;
use super::end::{End, OnLine};
use super::state::State;
use std::collections::VecDeque;

/// What the line does to a flit: direction (0 from end 0), flit time, the flit; `None`: nothing arrives.
pub type Line<'a> = dyn FnMut(usize, u64, OnLine) -> Option<OnLine> + 'a;

/// A link.
#[derive(Debug, Clone)]
pub struct Pair<C> {
    /// The ends.
    pub ends: [End<C>; 2],
    lines: [VecDeque<Option<OnLine>>; 2],
    latency_flits: usize,
    now_flits: u64,
}

impl<C: Client> Pair<C> {
    /// A link without fault whose line takes `latency_flits` flit times, at least 1.
    pub fn new(configs: [EndConfig; 2], clients: [C; 2], latency_flits: usize) -> Pair<C> {
        let [a, b] = clients;
        let mut ends = [End::new(configs[0], a), End::new(configs[1], b)];
        ends.iter_mut().for_each(|end| end.line_fault(None));
        let latency_flits = latency_flits.max(1);
        let lines = [(); 2].map(|()| VecDeque::from(vec![None; latency_flits - 1]));
        Pair { ends, lines, latency_flits, now_flits: 0 }
    }

    /// Flit times so far.
    pub fn now_flits(&self) -> u64 {
        self.now_flits
    }

    /// One flit time on a good line.
    pub fn step(&mut self) {
        self.step_with(&mut |_, _, flit| Some(flit));
    }

    /// One flit time on a line that does something to flits.
    pub fn step_with(&mut self, line: &mut Line<'_>) {
        let now = self.now_flits;
        for from in 0..2 {
            let sent = self.ends[from].transmit(now);
            self.lines[from].push_back(line(from, now, sent));
        }
        for from in 0..2 {
            if self.lines[from].len() >= self.latency_flits
                && let Some(arrives) = self.lines[from].pop_front().flatten()
            {
                self.ends[1 - from].receive(&arrives, now);
            }
        }
        self.now_flits += 1;
    }

    /// Both ends are up.
    pub fn is_up(&self) -> bool {
        self.ends.iter().all(|end| end.state() == State::Up)
    }

    /// Nothing is to be sent, waited for or taken.
    pub fn is_quiet(&self) -> bool {
        self.ends.iter().all(End::is_quiet)
    }
}
