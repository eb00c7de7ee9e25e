//! Credits of one channel: what a sender may spend, and what a receiver gives back.

use super::config::{TARGETS, UpliCreditCounts, target};
use super::signals::{MAX_PORTS, Returns, no_returns};
use scalepool_protocols::ualink::upli::UpliCredit;

/// Credits that one return can hold (`ualink` §12).
const MAX_RETURN: u16 = 4;

/// What the sender of a channel may spend. It starts empty.
#[derive(Debug, Clone, Default)]
pub struct UpliCreditPool {
    left: [[u16; TARGETS]; MAX_PORTS],
    open: [bool; MAX_PORTS],
}

impl UpliCreditPool {
    /// Hears the returns of a cycle.
    pub fn take_returns(&mut self, returns: &Returns) {
        for (port, word) in returns.iter().enumerate() {
            if word.valid {
                let left = &mut self.left[port][target(word.pool, word.vc)];
                *left = left.saturating_add(u16::from(word.num) + 1);
            }
            self.open[port] |= word.init_done;
        }
    }

    /// Whether the initial credits of a port are all there.
    pub fn is_open(&self, port: u8) -> bool {
        self.open[usize::from(port) % MAX_PORTS]
    }

    /// Credits left.
    pub fn left(&self, port: u8, pool: bool, vc: u8) -> u16 {
        self.left[usize::from(port) % MAX_PORTS][target(pool, vc)]
    }

    /// Whether so many can be spent now.
    pub fn has(&self, port: u8, pool: bool, vc: u8, credits: u16) -> bool {
        self.is_open(port) && self.left(port, pool, vc) >= credits
    }

    /// Spends; `false`, and nothing is spent, when they are not there.
    pub fn spend(&mut self, port: u8, pool: bool, vc: u8, credits: u16) -> bool {
        let has = self.has(port, pool, vc, credits);
        if has {
            self.left[usize::from(port) % MAX_PORTS][target(pool, vc)] -= credits;
        }
        has
    }
}

/// What the receiver of a channel gives back: first its buffers, then each that becomes free.
#[derive(Debug, Clone)]
pub struct UpliCreditReturns {
    due: [[u16; TARGETS]; MAX_PORTS],
    /// Initial credits that have not been given yet.
    initial: [u16; MAX_PORTS],
    next: [usize; MAX_PORTS],
    ports: usize,
}

impl UpliCreditReturns {
    /// Buffers of every port.
    pub fn new(counts: &UpliCreditCounts, ports: u8) -> UpliCreditReturns {
        let row = counts.row();
        let ports = usize::from(ports).min(MAX_PORTS);
        UpliCreditReturns { due: [row; MAX_PORTS], initial: [row.iter().sum(); MAX_PORTS], next: [0; MAX_PORTS], ports }
    }

    /// Buffers are free again.
    pub fn free(&mut self, port: u8, pool: bool, vc: u8, credits: u16) {
        self.due[usize::from(port) % MAX_PORTS][target(pool, vc)] += credits;
    }

    /// Nothing is to be given back.
    pub fn is_quiet(&self) -> bool {
        self.due[..self.ports].iter().flatten().all(|&due| due == 0)
    }

    /// The returns of a cycle: one target a port, in turn, up to 4 credits. InitDone is a level, from the last initial
    /// return on \[D\].
    pub fn drive(&mut self) -> Returns {
        let mut returns = no_returns();
        for (port, word) in returns.iter_mut().enumerate().take(self.ports) {
            let due = &mut self.due[port];
            let turn = (0..TARGETS).map(|k| (self.next[port] + k) % TARGETS).find(|&t| due[t] > 0);
            if let Some(t) = turn {
                let credits = due[t].min(MAX_RETURN);
                due[t] -= credits;
                self.initial[port] = self.initial[port].saturating_sub(credits);
                self.next[port] = (t + 1) % TARGETS;
                let pool = t == TARGETS - 1;
                let vc = if pool { 0 } else { t as u8 };
                *word = UpliCredit { valid: true, pool, vc, num: credits as u8 - 1, init_done: false };
            }
            word.init_done = self.initial[port] == 0;
        }
        returns
    }
}
