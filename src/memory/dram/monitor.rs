//! A monitor that checks the commands of a memory against the table of spacing rules (`memory §3`) and the invariants of
//! `memory §10`.
//!
//! Modelled: every row of the table as data (a set of earlier commands, a set of later commands, the coordinates that
//! they share, and the clocks between them); the four-activate window; row states; the data bus; and the number of
//! refreshes in every window of refresh intervals. Left out: requests, which a command trace does not show. The monitor
//! shares only the presets with the scheduler, so it also judges traces of other simulators.
//!
//! A walk through one command: each row of the table whose later set contains the command looks up the last command of
//! the earlier set at the same place (or at another one, as the row says), and reports a finding if fewer clocks have
//! passed. The monitor then checks row states, the data bus and refreshes.

use super::command::{DramCommand, DramOperation};
use super::preset::{DramPreset, DramStandard};
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;
use std::fmt::{self, Display};

use DramOperation::{
    Act, MaskedWrite, MaskedWritePre, Pre, PreAll, Read, ReadPre, RefreshAll, RefreshBank, Write, WritePre,
};

/// A rule that a command broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DramFinding {
    /// Id of the rule.
    pub rule: &'static str,
    /// The command, or the last one where a trace ends too early.
    pub command: DramCommand,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl Display for DramFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.rule, self.found, self.expected)
    }
}

/// The coordinates that two commands share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SharedCoordinates {
    SameScope,
    SameGroup,
    SameBank,
    OtherBank,
    OtherStack,
    OtherRank,
}

use SharedCoordinates::{OtherBank, OtherRank, OtherStack, SameBank, SameGroup, SameScope};

/// A row of the table.
#[derive(Debug, Clone)]
struct TimingRow {
    rule: &'static str,
    earlier: &'static [DramOperation],
    later: &'static [DramOperation],
    shared: SharedCoordinates,
    clocks: u32,
    /// The row constrains the distance to the last earlier command (1) or to the fourth last one (4).
    back: usize,
}

const READS: &[DramOperation] = &[Read, ReadPre];
const WRITES: &[DramOperation] = &[Write, WritePre, MaskedWrite, MaskedWritePre];
const WHOLE: &[DramOperation] = &[Write, WritePre];
const MASKED: &[DramOperation] = &[MaskedWrite, MaskedWritePre];
const WRITES_PRE: &[DramOperation] = &[WritePre, MaskedWritePre];
const PRES: &[DramOperation] = &[Pre, PreAll];

/// The table for a preset, row by row.
fn table(preset: &DramPreset) -> Vec<TimingRow> {
    let t = &preset.timing;
    let write_end = t.cwl + t.bl;
    let row = |rule, earlier, later, shared, clocks| TimingRow { rule, earlier, later, shared, clocks, back: 1 };
    let counted: &'static [DramOperation] =
        if preset.standard == DramStandard::Hbm { &[Act, RefreshBank] } else { &[Act] };
    let mut rows = vec![
        row("MEM-TIM-01", READS, READS, SameScope, t.ccd_s),
        row("MEM-TIM-02", READS, READS, SameGroup, t.ccd_l),
        row("MEM-TIM-03", WRITES, WRITES, SameScope, t.ccd_s_wr),
        row("MEM-TIM-04", WRITES, WHOLE, SameGroup, t.ccd_l_wr),
        row("MEM-TIM-04", WRITES, MASKED, SameGroup, t.ccd_l_wr_masked),
        row("MEM-TIM-05", READS, WRITES, SameScope, t.rtw),
        row("MEM-TIM-06", WRITES, READS, SameScope, write_end + t.wtr_s),
        row("MEM-TIM-07", WRITES, READS, SameGroup, t.cwl + t.bl_array + t.wtr_l),
        row("MEM-TIM-08", READS, READS, OtherStack, t.ccd_stack),
        row("MEM-TIM-13", &[Act], &[Act], SameScope, t.rrd_s),
        row("MEM-TIM-14", &[Act], &[Act], SameGroup, t.rrd_l),
        TimingRow { rule: "MEM-TIM-15", earlier: counted, later: counted, shared: SameScope, clocks: t.faw, back: 4 },
        row("MEM-TIM-16", &[Act], &[Act], SameBank, t.rc),
        row("MEM-TIM-17", &[Act], READS, SameBank, t.rcd_read),
        row("MEM-TIM-18", &[Act], WRITES, SameBank, t.rcd_write),
        row("MEM-TIM-19", &[Act], &[Pre], SameBank, t.ras),
        row("MEM-TIM-19", &[Act], &[PreAll], SameScope, t.ras),
        row("MEM-TIM-20", &[Pre], &[Act], SameBank, t.rp),
        row("MEM-TIM-20", &[PreAll], &[Act], SameScope, t.rp_all),
        row("MEM-TIM-21", READS, &[Pre], SameBank, t.rtp),
        row("MEM-TIM-21", READS, &[PreAll], SameScope, t.rtp),
        row("MEM-TIM-22", WRITES, &[Pre], SameBank, write_end + t.wr),
        row("MEM-TIM-22", WRITES, &[PreAll], SameScope, write_end + t.wr),
        row("MEM-TIM-23", &[ReadPre], &[Act], SameBank, t.rtp + t.rp),
        row("MEM-TIM-24", WRITES_PRE, &[Act], SameBank, write_end + t.wr + t.rp),
        row("MEM-TIM-25", PRES, PRES, SameScope, t.ppd),
        row("MEM-TIM-26", &[Pre], &[RefreshAll], SameScope, t.rp),
        row("MEM-TIM-26", &[PreAll], &[RefreshAll], SameScope, t.rp_all),
        row("MEM-TIM-27", &[ReadPre], &[RefreshAll], SameScope, t.rtp + t.rp),
        row("MEM-TIM-28", WRITES_PRE, &[RefreshAll], SameScope, write_end + t.wr + t.rp),
        row("MEM-TIM-29", &[Act], &[RefreshAll], SameScope, t.rc),
        row("MEM-TIM-30", &[RefreshAll], &[Act, Pre, PreAll, RefreshAll, RefreshBank], SameScope, t.rfc_all),
    ];
    if preset.organisation.pseudo_channels == 1 {
        let read_end = t.cl + t.bl;
        rows.extend([
            row("MEM-TIM-09", READS, READS, OtherRank, t.bl + t.cs),
            row("MEM-TIM-10", READS, WRITES, OtherRank, (read_end + t.cs).saturating_sub(t.cwl)),
            row("MEM-TIM-11", WRITES, READS, OtherRank, (write_end + t.cs).saturating_sub(t.cl).max(1)),
            row("MEM-TIM-12", WRITES, WRITES, OtherRank, t.bl + t.cs),
        ]);
    }
    if preset.has_bank_refresh() {
        rows.extend([
            row("MEM-TIM-31", &[RefreshBank], &[Act, RefreshBank], SameBank, t.rfc_bank),
            row("MEM-TIM-32", &[Pre], &[RefreshBank], SameBank, t.rp),
            row("MEM-TIM-32", &[PreAll], &[RefreshBank], SameScope, t.rp_all),
            row("MEM-TIM-32", &[ReadPre], &[RefreshBank], SameBank, t.rtp + t.rp),
            row("MEM-TIM-32", WRITES_PRE, &[RefreshBank], SameBank, write_end + t.wr + t.rp),
            row("MEM-TIM-33", &[Act], &[RefreshBank], SameBank, t.rc),
            row("MEM-TIM-34", &[RefreshBank], &[Act], OtherBank, t.refresh_to_act),
            row("MEM-TIM-35", &[RefreshBank], &[RefreshBank], OtherBank, t.refresh_to_refresh),
            row("MEM-TIM-36", &[RefreshBank], &[RefreshAll], SameScope, t.rfc_bank),
            row("MEM-TIM-37", &[Act], &[RefreshBank], OtherBank, t.rrd_s),
        ]);
    }
    rows
}

/// Key by which a row distinguishes places: rank, and group or bank, or neither.
type ScopeKey = (u32, u32, u32);

/// The last commands of the earlier set of a row, by place.
type EarlierCommands = OrderedMap<ScopeKey, VecDeque<u64>>;

/// The monitor's state of a bank.
#[derive(Debug, Clone, Copy, Default)]
struct BankView {
    open: Option<u32>,
    /// Number of half intervals that refreshes have covered.
    refreshed: u64,
    /// Minimum of (clock - intervals covered by refreshes up to that clock), which limits how late later refreshes may
    /// be.
    ahead: i128,
}

/// The monitor's state of a channel.
#[derive(Debug, Clone)]
struct ChannelView {
    /// Clock of the last command.
    last: u64,
    /// Earlier commands, for each row of the table.
    seen: Vec<EarlierCommands>,
    /// For each command bus, the clock at which it is free and the last operation that it carried.
    buses: [Option<(u64, DramOperation)>; 2],
    /// By scope of the data bus: end of the last burst.
    data: OrderedMap<u32, u64>,
    banks: OrderedMap<ScopeKey, BankView>,
}

/// Judges one trace.
#[derive(Debug, Clone)]
pub struct DramMonitor {
    preset: DramPreset,
    rows: Vec<TimingRow>,
    /// Whether missing refreshes break a rule.
    wants_refresh: bool,
    channels: OrderedMap<u32, ChannelView>,
    last: Option<DramCommand>,
    findings: Vec<DramFinding>,
    commands: u64,
}

/// Intervals by which a refresh may be late in any window (`memory §10`, M4).
const LATE_INTERVALS: u64 = 5;

impl DramMonitor {
    /// Makes a monitor for a device. With `wants_refresh`, missing refreshes break a rule.
    pub fn new(preset: &DramPreset, wants_refresh: bool) -> DramMonitor {
        DramMonitor {
            preset: *preset,
            rows: table(preset),
            wants_refresh,
            channels: OrderedMap::new(),
            last: None,
            findings: Vec::new(),
            commands: 0,
        }
    }

    /// Commands seen.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    /// Clock of the last command of a channel.
    pub fn before(&self, channel: u32) -> Option<u64> {
        self.channels.get(&channel).map(|channel| channel.last)
    }

    /// Findings since the last call.
    pub fn take_findings(&mut self) -> Vec<DramFinding> {
        std::mem::take(&mut self.findings)
    }

    fn find(&mut self, rule: &'static str, command: &DramCommand, found: String, expected: String) {
        self.findings.push(DramFinding { rule, command: *command, found, expected });
    }

    /// Describes an address of a trace that the device does not have; a command with such an address cannot be judged.
    pub fn misplaced(&self, command: &DramCommand) -> Option<String> {
        let (o, place) = (&self.preset.organisation, &command.place);
        let limits = [
            ("rank", place.rank, o.scopes()),
            ("bank group", place.group, o.groups()),
            ("bank", place.bank, o.banks),
            ("row", place.row, o.rows),
            ("column", place.column, o.row_bytes / o.burst_bytes),
        ];
        let wrong = limits.into_iter().find(|(_, value, size)| value >= size);
        let text = |(name, value, size): (&str, u32, u32)| format!("found {name} {value}, expected 0 to {}", size - 1);
        wrong.map(text).or_else(|| {
            let has_none = command.operation == RefreshBank && !self.preset.has_bank_refresh();
            has_none.then(|| format!("found {RefreshBank}, expected REF: {} refreshes all banks", self.preset.key))
        })
    }

    /// Judges the next command of a channel; the clocks of one channel must not decrease.
    pub fn judge(&mut self, command: &DramCommand) {
        let rows = self.rows.len();
        let new = || ChannelView {
            last: 0,
            seen: vec![EarlierCommands::new(); rows],
            buses: [None; 2],
            data: OrderedMap::new(),
            banks: OrderedMap::new(),
        };
        let mut channel = self.channels.remove(&command.place.channel).unwrap_or_else(new);
        self.commands += 1;
        channel.last = command.clock;
        self.bus(&mut channel, command);
        self.spacing(&mut channel, command);
        self.state(&mut channel, command);
        self.data(&mut channel, command);
        self.refreshed(&mut channel, command);
        self.channels.insert(command.place.channel, channel);
        self.last = Some(*command);
    }

    /// Judges the end of a trace.
    pub fn finish(&mut self, end: u64) {
        let Some(last) = self.last.filter(|_| self.wants_refresh) else { return };
        let o = self.preset.organisation;
        for channel in std::mem::take(&mut self.channels).into_values() {
            for rank in 0..o.scopes() {
                for (group, bank) in (0..o.groups()).flat_map(|group| (0..o.banks).map(move |bank| (group, bank))) {
                    let view = channel.banks.get(&(rank, group, bank)).copied().unwrap_or_default();
                    self.late(&view, &last, end, (rank, group, bank));
                }
            }
        }
    }

    fn bus(&mut self, channel: &mut ChannelView, command: &DramCommand) {
        let t = self.preset.timing;
        let bus = usize::from(self.preset.standard == DramStandard::Hbm && command.operation.is_column());
        if let Some((free, before)) = channel.buses[bus].filter(|(free, _)| *free > command.clock) {
            let found = format!("{} at clock {}", command.operation, command.clock);
            self.find("MEM-TIM-00", command, found, format!("clock {free} or later, as {before} has the command bus"));
        }
        let clocks = match command.operation {
            Act => t.act_clocks,
            operation if operation.is_column() => t.column_clocks,
            _ => 1,
        };
        channel.buses[bus] = Some((command.clock + u64::from(clocks), command.operation));
    }

    /// Keys of a command in a row of the table: a refresh of several banks, or of a rank, has one key for each.
    fn keys(&self, shared: SharedCoordinates, command: &DramCommand) -> Vec<ScopeKey> {
        let (o, place) = (&self.preset.organisation, &command.place);
        match shared {
            SameScope | OtherRank => vec![(place.rank, 0, 0)],
            SameGroup => vec![(place.rank, place.group, 0)],
            OtherStack => vec![(place.rank, place.group / o.bank_groups, 0)],
            SameBank | OtherBank if command.operation == RefreshBank => {
                let all = (0..o.groups()).flat_map(|group| (0..o.banks).map(move |bank| (group, bank)));
                let covered = all.filter(|(group, bank)| match self.preset.standard {
                    DramStandard::Ddr5 => *bank == place.bank,
                    // Eight banks further on, which is two groups of four.
                    DramStandard::Lpddr5 => {
                        let (named, other) = (4 * place.group + place.bank, 4 * group + bank);
                        named % 8 == other % 8
                    }
                    DramStandard::Ddr4 | DramStandard::Hbm => (*group, *bank) == (place.group, place.bank),
                });
                covered.map(|(group, bank)| (place.rank, group, bank)).collect()
            }
            SameBank | OtherBank => vec![(place.rank, place.group, place.bank)],
        }
    }

    fn spacing(&mut self, channel: &mut ChannelView, command: &DramCommand) {
        let mut broken = Vec::new();
        for (row, seen) in self.rows.iter().zip(&mut channel.seen) {
            let (is_earlier, is_later) =
                (row.earlier.contains(&command.operation), row.later.contains(&command.operation));
            if !is_earlier && !is_later {
                continue;
            }
            let keys = self.keys(row.shared, command);
            if is_later {
                let is_other = |key: &ScopeKey| match row.shared {
                    OtherRank => key.0 != command.place.rank,
                    OtherStack => key.0 == command.place.rank && key.1 != keys[0].1,
                    OtherBank => key.0 == command.place.rank && !keys.contains(key),
                    SameScope | SameGroup | SameBank => keys.contains(key),
                };
                let bound =
                    |clocks: &VecDeque<u64>| (clocks.len() >= row.back).then(|| clocks[clocks.len() - row.back]);
                let binding = match row.shared {
                    SameScope | SameGroup | SameBank => keys.iter().filter_map(|key| bound(seen.get(key)?)).max(),
                    _ => seen.iter().filter(|(key, _)| is_other(key)).filter_map(|(_, clocks)| bound(clocks)).max(),
                };
                if let Some(earlier) = binding.filter(|earlier| earlier + u64::from(row.clocks) > command.clock) {
                    broken.push((row.rule, earlier, row.clocks));
                }
            }
            if is_earlier {
                for key in keys {
                    let clocks = seen.entry(key).or_default();
                    clocks.push_back(command.clock);
                    if clocks.len() > row.back {
                        clocks.pop_front();
                    }
                }
            }
        }
        for (rule, earlier, clocks) in broken {
            let found = format!(
                "{} {} clocks after that of clock {earlier}",
                command.operation,
                command.clock.saturating_sub(earlier)
            );
            self.find(rule, command, found, format!("at least {clocks}"));
        }
    }

    fn state(&mut self, channel: &mut ChannelView, command: &DramCommand) {
        let DramCommand { operation, place, .. } = *command;
        let key = (place.rank, place.group, place.bank);
        let open = |channel: &ChannelView, key: &ScopeKey| channel.banks.get(key).and_then(|bank| bank.open);
        let row = |row: Option<u32>| row.map_or("a closed bank".to_owned(), |row| format!("row {row} open"));
        let now = open(channel, &key);
        match operation {
            Act => {
                if now.is_some() {
                    self.find("MEM-STA-02", command, format!("{operation} with {}", row(now)), "a closed bank".into());
                }
                channel.banks.entry(key).or_default().open = Some(place.row);
            }
            Pre => channel.banks.entry(key).or_default().open = None,
            PreAll => {
                channel.banks.iter_mut().filter(|(key, _)| key.0 == place.rank).for_each(|(_, bank)| bank.open = None);
            }
            RefreshAll => {
                let is_open = |(key, bank): (&ScopeKey, &BankView)| key.0 == place.rank && bank.open.is_some();
                if let Some((_, bank)) = channel.banks.iter().find(|(key, bank)| is_open((key, bank))) {
                    let found = format!("{operation} with {}", row(bank.open));
                    self.find("MEM-STA-03", command, found, "every bank closed".into());
                }
            }
            RefreshBank => {
                let covered = self.keys(SameBank, command);
                if let Some(open) = covered.iter().find_map(|key| open(channel, key)) {
                    let found = format!("{operation} with {}", row(Some(open)));
                    self.find("MEM-STA-04", command, found, "its banks closed".into());
                }
            }
            _ => {
                if now != Some(place.row) {
                    let found = format!("{operation} to row {} with {}", place.row, row(now));
                    self.find("MEM-STA-01", command, found, "its row open".into());
                }
                if operation.precharges() {
                    channel.banks.entry(key).or_default().open = None;
                }
            }
        }
    }

    fn data(&mut self, channel: &mut ChannelView, command: &DramCommand) {
        let DramCommand { operation, place, clock } = *command;
        if !operation.is_column() {
            return;
        }
        let t = &self.preset.timing;
        let start = clock + u64::from(if operation.is_read() { t.cl } else { t.cwl });
        // Ranks share a data bus; each pseudo-channel has its own.
        let bus = if self.preset.organisation.pseudo_channels == 1 { 0 } else { place.rank };
        let end = start + u64::from(t.bl);
        let busy = channel.data.insert(bus, end).unwrap_or(0);
        if busy > start {
            let found = format!("data of {operation} from clock {start} on");
            self.find("MEM-STA-05", command, found, format!("clock {busy} or later, as the data bus is busy"));
        }
    }

    /// Number of half intervals that a refresh covers: a per-bank refresh of DDR5 belongs to the fine granularity.
    fn halves(&self, operation: DramOperation) -> u64 {
        if operation == RefreshBank && self.preset.standard == DramStandard::Ddr5 { 1 } else { 2 }
    }

    fn refreshed(&mut self, channel: &mut ChannelView, command: &DramCommand) {
        if !matches!(command.operation, RefreshAll | RefreshBank) || !self.wants_refresh {
            return;
        }
        let o = self.preset.organisation;
        let keys = match command.operation {
            RefreshBank => self.keys(SameBank, command),
            _ => {
                let all = (0..o.groups()).flat_map(|group| (0..o.banks).map(move |bank| (group, bank)));
                all.map(|(group, bank)| (command.place.rank, group, bank)).collect()
            }
        };
        let refi = i128::from(self.preset.timing.refi);
        for (n, key) in keys.into_iter().enumerate() {
            let mut view = channel.banks.get(&key).copied().unwrap_or_default();
            // One finding for a refresh, whatever it covers.
            if n == 0 {
                self.late(&view, command, command.clock, key);
            }
            view.refreshed += self.halves(command.operation);
            view.ahead = view.ahead.min(i128::from(command.clock) - i128::from(view.refreshed) * refi / 2);
            channel.banks.insert(key, view);
        }
    }

    /// Whether a bank has waited too long at a clock: in a window of n intervals there are at least n - 5 refreshes.
    fn late(&mut self, view: &BankView, command: &DramCommand, clock: u64, (rank, group, bank): ScopeKey) {
        let refi = u64::from(self.preset.timing.refi);
        let waited = i128::from(clock) - i128::from(view.refreshed * refi / 2) - view.ahead;
        // The window may begin right after a refresh and end right before this one.
        let most = i128::from((LATE_INTERVALS + 1) * refi);
        if waited > most {
            let found = format!("{} intervals less refreshed than time has passed", waited / i128::from(refi));
            let expected = format!("at most {} for rank {rank}, bank group {group}, bank {bank}", LATE_INTERVALS + 1);
            self.find("MEM-MON-04", command, found, expected);
        }
    }
}
