//! References of memories: the commands of a controller, clocks of a preset, check bytes.

use super::machine::{Figure, number, said};
use scalepool_memory::dram::channel::{DramAccess, DramChannel, DramLineRequest, DramPagePolicy, DramScheduling};
use scalepool_memory::dram::controller::DramRefresh;
use scalepool_memory::dram::{DramOperation, DramPlace, preset};
use scalepool_memory::ecc::secded;

/// Commands that are compared.
const COMMANDS: [&str; 8] =
    ["command 1", "command 2", "command 3", "command 4", "command 5", "command 6", "command 7", "command 8"];

/// Said where there are fewer commands; steps leave it out.
pub(super) const NO_COMMAND: &str = "no command";

/// The first commands of a controller of one channel of DDR4-3200 without refreshes: `CLOCKS SETTINGS REQUEST ..`. `CLOCKS` is how long it runs;
/// settings are `default`, or `KEY=VALUE` with commas between; a request is `CLOCK:KIND:GROUP.BANK.ROW.COLUMN`, its kind `R`, `W` for a whole line
/// or `P` for a part of one.
pub(super) fn controller(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [clocks, settings, requests @ ..] = words else { return None };
    let mut scheduling = DramScheduling::default();
    for setting in settings.split(',').filter(|setting| *setting != "default") {
        let (key, value) = setting.split_once('=')?;
        match key {
            "policy" => scheduling.policy = DramPagePolicy::find(value)?,
            "writes" => scheduling.writes = value.parse().ok()?,
            "batch" => scheduling.batch = value.parse().ok()?,
            "hit_cap" => scheduling.hit_cap = value.parse().ok()?,
            "idle_close" => scheduling.idle_close_clocks = value.parse().ok()?,
            "age_limit" => scheduling.age_limit_clocks = value.parse().ok()?,
            "drain_high" => scheduling.drain_high_percent = value.parse().ok()?,
            "drain_low" => scheduling.drain_low_percent = value.parse().ok()?,
            _ => return None,
        }
    }
    let preset = preset::find("ddr4_3200aa")?;
    let mut channel = DramChannel::new(0, preset, scheduling, DramRefresh::Off, true);
    for (token, word) in requests.iter().enumerate() {
        let &[clock, kind, place] = &word.split(':').collect::<Vec<_>>()[..] else { return None };
        let access = match kind {
            "R" => DramAccess::Read,
            "W" => DramAccess::Write,
            "P" => DramAccess::MaskedWrite,
            _ => return None,
        };
        let numbers: Vec<u32> = place.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let &[group, bank, row, column] = &numbers[..] else { return None };
        let place = DramPlace { channel: 0, rank: 0, group, bank, row, column };
        // One number for each place.
        let line = [group, bank, row, column].iter().fold(0, |line, part| line << 16 | u64::from(*part));
        channel.push(DramLineRequest {
            token: token as u64,
            place,
            bursts: 1,
            line,
            access,
            visible: clock.parse().ok()?,
        });
    }
    channel.advance(clocks.parse().ok()?);
    let commands = channel.take_commands();
    let figure = |(n, name): (usize, &&'static str)| match commands.get(n) {
        None => said(name, 0, NO_COMMAND),
        Some(command) => {
            let DramPlace { group, bank, row, column, .. } = command.place;
            let operation = command.operation;
            let code = DramOperation::ALL.iter().position(|one| *one == operation).unwrap_or_default() as u64 + 1;
            let has_row = operation == DramOperation::Act || operation.is_column();
            let row = if has_row { format!(", row {row}") } else { String::new() };
            let column = if operation.is_column() { format!(", column {column}") } else { String::new() };
            let of = if operation.has_bank() { format!(" of bank {group}.{bank}{row}{column}") } else { String::new() };
            said(name, code, format!("{operation}{of} at clock {}", command.clock))
        }
    };
    Some(vec![COMMANDS.iter().enumerate().map(figure).collect()])
}

/// Clocks of a least time: `LEAST PICOSECONDS MEGATRANSFERS`.
pub(super) fn least_clocks(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [least, ps, rate] = words else { return None };
    let clocks = preset::clocks(least.parse().ok()?, ps.parse().ok()?, rate.parse().ok()?);
    Some(vec![vec![number("clocks", clocks.into())]])
}

/// Clocks of a longest interval: `PICOSECONDS PERIOD`, the period in fs.
pub(super) fn interval_clocks(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [ps, period] = words else { return None };
    let period: u64 = period.parse().ok().filter(|period| *period > 0)?;
    Some(vec![vec![number("clocks", preset::interval_clocks(ps.parse().ok()?, period).into())]])
}

/// The check byte of a word of SECDED: `WORD`.
pub(super) fn check_byte(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [word] = words else { return None };
    let word = scalepool_forms::number::parse(word).and_then(|word| u64::try_from(word).ok())?;
    let check = secded::check_byte(word);
    Some(vec![vec![said("check byte", check.into(), format!("{check:#04x}"))]])
}
