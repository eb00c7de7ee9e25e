//! Refreshes that a rank or pseudo-channel owes (`memory §4`).
//!
//! Modelled: one refresh becomes due in each interval; up to four are postponed while requests wait, then one is forced.
//! Refreshes of single banks go round in the order of banks. Left out: refreshes ahead of their time.
//!
//! A walk through one interval: a refresh becomes due; while a request for the scope waits it is owed; with a fifth one owed
//! no row of the scope (or bank) is opened and no burst moved until its banks are closed and it has been sent.

use super::preset::{DramPreset, DramStandard};

/// Which refreshes a memory sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DramRefresh {
    /// Of all banks of a scope at once.
    #[default]
    All,
    /// Of one bank after the other.
    PerBank,
    /// None: for measurements alone.
    Off,
}

impl DramRefresh {
    /// Names, in the order of the declaration.
    pub const NAMES: &'static [&'static str] = &["all", "per_bank", "none"];

    /// The one of a name.
    pub fn find(name: &str) -> Option<DramRefresh> {
        let all = [DramRefresh::All, DramRefresh::PerBank, DramRefresh::Off];
        DramRefresh::NAMES.iter().zip(all).find(|(known, _)| **known == name).map(|(_, refresh)| refresh)
    }
}

/// Refreshes that may be owed while requests wait.
pub(super) const POSTPONED: u32 = 4;

/// What a scope owes.
#[derive(Debug, Clone)]
pub(super) struct RefreshDebt {
    interval: u64,
    next_due: u64,
    owed: u32,
    /// Banks in the order of their refreshes, by number in the scope; empty for refreshes of all.
    order: Vec<u32>,
    next_bank: usize,
}

impl RefreshDebt {
    /// That of scope `scope` of `scopes`; `None`: it sends no refresh.
    pub(super) fn new(preset: &DramPreset, refresh: DramRefresh, scope: u32, scopes: u32) -> Option<RefreshDebt> {
        let o = &preset.organisation;
        let (per_refi, order): (u32, Vec<u32>) = match refresh {
            DramRefresh::Off => return None,
            DramRefresh::All => (1, Vec::new()),
            DramRefresh::PerBank => {
                let banks = match preset.standard {
                    DramStandard::Ddr5 => o.banks,
                    DramStandard::Lpddr5 => o.banks_of_scope() / 2,
                    DramStandard::Ddr4 | DramStandard::Hbm => o.banks_of_scope(),
                };
                (preset.bank_refreshes_in_refi(), (0..banks).collect())
            }
        };
        let interval = u64::from(preset.timing.refi / per_refi).max(1);
        let offset = interval * u64::from(scope) / u64::from(scopes);
        Some(RefreshDebt { interval, next_due: interval + offset, owed: 0, order, next_bank: 0 })
    }

    /// The clock at which the next one becomes due.
    pub(super) fn next_due(&self) -> u64 {
        self.next_due
    }

    /// Makes due what is due at a clock.
    pub(super) fn advance(&mut self, clock: u64) {
        while self.next_due <= clock {
            self.owed += 1;
            self.next_due += self.interval;
        }
    }

    /// Whether one is owed.
    pub(super) fn is_owed(&self) -> bool {
        self.owed > 0
    }

    /// Whether one has to go before anything else of its scope or bank.
    pub(super) fn is_forced(&self) -> bool {
        self.owed > POSTPONED
    }

    /// The bank that is next; `None`: all at once.
    pub(super) fn bank(&self) -> Option<u32> {
        self.order.get(self.next_bank).copied()
    }

    /// One was sent.
    pub(super) fn sent(&mut self) {
        self.owed = self.owed.saturating_sub(1);
        self.next_bank = (self.next_bank + 1) % self.order.len().max(1);
    }
}
