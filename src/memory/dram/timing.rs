//! Command timing: the earliest clock of every kind of command, kept for each bank, group, stack, scope and bus. A scope
//! is a rank or a pseudo-channel.
//!
//! Modelled: all rows of `memory §3`. Each issued command moves the earliest clocks of later commands back. The earliest
//! clock of a command is then the maximum of a few numbers. The other formulation, command against command, is
//! [`monitor`](super::monitor).
//!
//! A walk through one activate: it may be issued when its bank, its group, its scope, the four-activate window and the
//! row bus allow it. Afterwards reads of that bank wait for tRCD, its precharge for tRAS, its next activate for tRC, and
//! activates of other banks of its group for tRRD_L.
//!
//! Invariant: earliest clocks never decrease.

use super::command::{DramOperation, DramPlace};
use super::preset::{DramPreset, DramStandard};
use std::collections::VecDeque;

/// Raises an earliest clock to at least `clock`.
fn raise(earliest: &mut u64, clock: u64) {
    *earliest = (*earliest).max(clock);
}

/// Earliest clocks of a bank, and its row.
#[derive(Debug, Clone, Copy, Default)]
struct Bank {
    act: u64,
    read: u64,
    write: u64,
    pre: u64,
    refresh: u64,
    open: Option<u32>,
}

/// Earliest clocks of a bank group.
#[derive(Debug, Clone, Copy, Default)]
struct BankGroupTiming {
    act: u64,
    read: u64,
    write: u64,
    masked_write: u64,
}

/// Earliest clocks of a rank or pseudo-channel.
#[derive(Debug, Clone, Default)]
struct RankTiming {
    act: u64,
    read: u64,
    write: u64,
    pre: u64,
    refresh_all: u64,
    refresh_bank: u64,
    banks: Vec<Bank>,
    groups: Vec<BankGroupTiming>,
    /// Earliest read of each stack.
    stack_reads: Vec<u64>,
    /// Clocks of the last four activates; per-bank refreshes count where the standard says so.
    window: VecDeque<u64>,
}

/// The state of a channel.
#[derive(Debug, Clone)]
pub struct DramTimingState {
    preset: DramPreset,
    scopes: Vec<RankTiming>,
    row_bus: u64,
    column_bus: u64,
}

impl DramTimingState {
    /// A channel at rest.
    pub fn new(preset: &DramPreset) -> DramTimingState {
        let o = &preset.organisation;
        let scope = RankTiming {
            banks: vec![Bank::default(); o.banks_of_scope() as usize],
            groups: vec![BankGroupTiming::default(); o.groups() as usize],
            stack_reads: vec![0; o.stacks as usize],
            ..RankTiming::default()
        };
        DramTimingState { preset: *preset, scopes: vec![scope; o.scopes() as usize], row_bus: 0, column_bus: 0 }
    }

    fn bank_index(&self, place: &DramPlace) -> usize {
        place.bank_of_scope(&self.preset.organisation) as usize
    }

    fn stack(&self, place: &DramPlace) -> usize {
        (place.group / self.preset.organisation.bank_groups) as usize
    }

    fn named(&self, bank: usize) -> (u32, u32) {
        let banks = self.preset.organisation.banks;
        (bank as u32 / banks, bank as u32 % banks)
    }

    /// The open row of a bank.
    pub fn open_row(&self, scope: usize, bank: usize) -> Option<u32> {
        self.scopes[scope].banks[bank].open
    }

    /// Whether a bank of a scope is open.
    pub fn any_open(&self, scope: usize) -> bool {
        self.scopes[scope].banks.iter().any(|bank| bank.open.is_some())
    }

    /// The earliest clock of a command, by timing alone.
    pub fn earliest(&self, operation: DramOperation, place: &DramPlace) -> u64 {
        let scope = &self.scopes[place.rank as usize];
        let index = self.bank_index(place);
        let (bank, group) = (&scope.banks[index], &scope.groups[place.group as usize]);
        let window = self.window_end(scope);
        let row_bus = self.row_bus;
        match operation {
            DramOperation::Act => bank.act.max(group.act).max(scope.act).max(window).max(row_bus),
            DramOperation::Read | DramOperation::ReadPre => {
                let stack = scope.stack_reads[self.stack(place)];
                bank.read.max(group.read).max(stack).max(scope.read).max(self.column_bus)
            }
            DramOperation::Write | DramOperation::WritePre => {
                bank.write.max(group.write).max(scope.write).max(self.column_bus)
            }
            DramOperation::MaskedWrite | DramOperation::MaskedWritePre => {
                bank.write.max(group.masked_write).max(scope.write).max(self.column_bus)
            }
            DramOperation::Pre => bank.pre.max(scope.pre).max(row_bus),
            DramOperation::PreAll => scope.banks.iter().fold(scope.pre.max(row_bus), |clock, bank| clock.max(bank.pre)),
            DramOperation::RefreshAll => scope.refresh_all.max(row_bus),
            DramOperation::RefreshBank => {
                let counts = if self.preset.has_two_command_buses() { window } else { 0 };
                let of_banks = self.covered(place).fold(0, |clock, n| clock.max(scope.banks[n].refresh));
                of_banks.max(scope.refresh_bank).max(counts).max(row_bus)
            }
        }
    }

    /// The clock at which the fourth last activate leaves the window.
    fn window_end(&self, scope: &RankTiming) -> u64 {
        match scope.window.len() {
            4 => scope.window[0] + u64::from(self.preset.timing.faw),
            _ => 0,
        }
    }

    /// Banks that a per-bank refresh covers.
    pub fn covered(&self, place: &DramPlace) -> impl Iterator<Item = usize> + use<> {
        let (preset, named) = (self.preset, (place.group, place.bank));
        let banks = preset.organisation.banks;
        (0..preset.organisation.banks_of_scope())
            .filter(move |n| refresh_covers(&preset, named, (n / banks, n % banks)))
            .map(|n| n as usize)
    }

    /// Notes that a command is issued at a clock, which must not be before its earliest clock.
    pub fn issue(&mut self, operation: DramOperation, place: &DramPlace, clock: u64) {
        let after = |clocks: u32| clock + u64::from(clocks);
        let t = self.preset.timing;
        self.take_bus(operation, clock);
        let index = self.bank_index(place);
        match operation {
            DramOperation::Act => {
                let scope = &mut self.scopes[place.rank as usize];
                raise(&mut scope.act, after(t.rrd_s));
                raise(&mut scope.refresh_all, after(t.rc));
                raise(&mut scope.refresh_bank, after(t.rrd_s));
                raise(&mut scope.groups[place.group as usize].act, after(t.rrd_l));
                let bank = &mut scope.banks[index];
                bank.open = Some(place.row);
                raise(&mut bank.act, after(t.rc));
                raise(&mut bank.refresh, after(t.rc));
                raise(&mut bank.read, after(t.rcd_read));
                raise(&mut bank.write, after(t.rcd_write));
                raise(&mut bank.pre, after(t.ras));
                self.enter_window(place, clock);
            }
            DramOperation::Pre => {
                let scope = &mut self.scopes[place.rank as usize];
                raise(&mut scope.pre, after(t.ppd));
                raise(&mut scope.refresh_all, after(t.rp));
                close(&mut scope.banks[index], after(t.rp));
            }
            DramOperation::PreAll => {
                let scope = &mut self.scopes[place.rank as usize];
                raise(&mut scope.pre, after(t.ppd));
                raise(&mut scope.refresh_all, after(t.rp_all));
                scope.banks.iter_mut().for_each(|bank| close(bank, after(t.rp_all)));
            }
            DramOperation::Read | DramOperation::ReadPre => self.read(place, clock),
            DramOperation::Write
            | DramOperation::WritePre
            | DramOperation::MaskedWrite
            | DramOperation::MaskedWritePre => self.write(place, clock),
            DramOperation::RefreshAll => {
                let scope = &mut self.scopes[place.rank as usize];
                let RankTiming { act, pre, refresh_all, refresh_bank, .. } = scope;
                [act, pre, refresh_all, refresh_bank]
                    .into_iter()
                    .for_each(|earliest| raise(earliest, after(t.rfc_all)));
            }
            DramOperation::RefreshBank => self.refresh_bank(place, clock),
        }
        if operation.precharges() {
            let busy = if operation.is_read() { t.rtp } else { t.cwl + t.bl + t.wr };
            let scope = &mut self.scopes[place.rank as usize];
            raise(&mut scope.refresh_all, after(busy + t.rp));
            close(&mut scope.banks[index], after(busy + t.rp));
        }
    }

    fn take_bus(&mut self, operation: DramOperation, clock: u64) {
        let t = &self.preset.timing;
        let clocks = match operation {
            DramOperation::Act => t.act_clocks,
            _ if operation.is_column() => t.column_clocks,
            _ => 1,
        };
        let free = clock + u64::from(clocks);
        let (row, column) = (!operation.is_column(), operation.is_column());
        let is_shared = !self.preset.has_two_command_buses();
        if row || is_shared {
            self.row_bus = free;
        }
        if column || is_shared {
            self.column_bus = free;
        }
    }

    fn enter_window(&mut self, place: &DramPlace, clock: u64) {
        let window = &mut self.scopes[place.rank as usize].window;
        if window.len() == 4 {
            window.pop_front();
        }
        window.push_back(clock);
    }

    fn read(&mut self, place: &DramPlace, clock: u64) {
        let after = |clocks: u32| clock + u64::from(clocks);
        let (t, index, own_stack) = (self.preset.timing, self.bank_index(place), self.stack(place));
        let own = place.rank as usize;
        for (n, scope) in self.scopes.iter_mut().enumerate() {
            if n == own {
                raise(&mut scope.read, after(t.ccd_s));
                raise(&mut scope.write, after(t.rtw));
                raise(&mut scope.groups[place.group as usize].read, after(t.ccd_l));
                raise(&mut scope.banks[index].pre, after(t.rtp));
                for (stack, read) in scope.stack_reads.iter_mut().enumerate() {
                    if stack != own_stack {
                        raise(read, after(t.ccd_stack));
                    }
                }
            } else if self.preset.organisation.pseudo_channels == 1 {
                // Ranks share the data bus; pseudo-channels do not.
                raise(&mut scope.read, after(t.bl + t.cs));
                raise(&mut scope.write, after((t.cl + t.bl + t.cs).saturating_sub(t.cwl)));
            }
        }
    }

    fn write(&mut self, place: &DramPlace, clock: u64) {
        let after = |clocks: u32| clock + u64::from(clocks);
        let (t, index, own) = (self.preset.timing, self.bank_index(place), place.rank as usize);
        for (n, scope) in self.scopes.iter_mut().enumerate() {
            if n == own {
                raise(&mut scope.write, after(t.ccd_s_wr));
                raise(&mut scope.read, after(t.cwl + t.bl + t.wtr_s));
                let group = &mut scope.groups[place.group as usize];
                raise(&mut group.write, after(t.ccd_l_wr));
                raise(&mut group.masked_write, after(t.ccd_l_wr_masked));
                raise(&mut group.read, after(t.cwl + t.bl_array + t.wtr_l));
                raise(&mut scope.banks[index].pre, after(t.cwl + t.bl + t.wr));
            } else if self.preset.organisation.pseudo_channels == 1 {
                raise(&mut scope.read, after((t.cwl + t.bl + t.cs).saturating_sub(t.cl).max(1)));
                raise(&mut scope.write, after(t.bl + t.cs));
            }
        }
    }

    fn refresh_bank(&mut self, place: &DramPlace, clock: u64) {
        let after = |clocks: u32| clock + u64::from(clocks);
        let t = self.preset.timing;
        let covered: Vec<usize> = self.covered(place).collect();
        let scope = &mut self.scopes[place.rank as usize];
        raise(&mut scope.act, after(t.refresh_to_act));
        raise(&mut scope.refresh_bank, after(t.refresh_to_refresh));
        raise(&mut scope.refresh_all, after(t.rfc_bank));
        for n in covered {
            raise(&mut scope.banks[n].act, after(t.rfc_bank));
            raise(&mut scope.banks[n].refresh, after(t.rfc_bank));
        }
        if self.preset.has_two_command_buses() {
            self.enter_window(place, clock);
        }
    }

    /// The address of a bank, for commands that name no row.
    pub fn bank_place(&self, channel: u32, scope: usize, bank: usize) -> DramPlace {
        let (group, bank) = self.named(bank);
        DramPlace { channel, rank: scope as u32, group, bank, row: 0, column: 0 }
    }
}

/// Closes a bank, which is precharged at a clock.
fn close(bank: &mut Bank, precharged: u64) {
    bank.open = None;
    raise(&mut bank.act, precharged);
    raise(&mut bank.refresh, precharged);
}

/// Whether a per-bank refresh that names one bank also covers another bank of the same scope (`memory §4`). Both banks
/// are given as (group, bank in the group).
fn refresh_covers(preset: &DramPreset, named: (u32, u32), other: (u32, u32)) -> bool {
    match preset.standard {
        // One bank number in all groups.
        DramStandard::Ddr5 => named.1 == other.1,
        // Banks b and b + 8, which are the groups g and g + 2.
        DramStandard::Lpddr5 => named.1 == other.1 && named.0 % 2 == other.0 % 2,
        DramStandard::Ddr4 | DramStandard::Hbm => named == other,
    }
}
