//! References of memories: the commands of a controller, clocks of a preset, check bytes.

use super::machine::{Figure, number, said};
use scalepool_memory::ALL_BYTES;
use scalepool_memory::dram::channel::{DramAccess, DramChannel, DramLineRequest, DramPagePolicy, DramScheduling};
use scalepool_memory::dram::controller::DramRefresh;
use scalepool_memory::dram::{DramOperation, DramPlace, preset};
use scalepool_memory::ecc::{EccConfig, EccScheme, EccStore, LineEcc, Patrol, secded};
use scalepool_memory::store::Background;

/// Commands that are compared.
const COMMANDS: [&str; 8] =
    ["command 1", "command 2", "command 3", "command 4", "command 5", "command 6", "command 7", "command 8"];

/// Said where there are fewer commands; steps leave it out.
pub(super) const NO_COMMAND: &str = "no command";

/// The first commands of a controller of one channel of DDR4-3200, without refreshes unless a setting says so: `CLOCKS SETTINGS REQUEST ..`. `CLOCKS` is how long it runs;
/// settings are `default`, or `KEY=VALUE` with commas between; a request is `CLOCK:KIND:GROUP.BANK.ROW.COLUMN`, its kind `R`, `W` for a whole line
/// or `P` for a part of one.
pub(super) fn controller(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [clocks, settings, requests @ ..] = words else { return None };
    let (mut scheduling, mut refresh) = (DramScheduling::default(), DramRefresh::Off);
    for setting in settings.split(',').filter(|setting| *setting != "default") {
        let (key, value) = setting.split_once('=')?;
        match key {
            "refresh" => refresh = DramRefresh::find(value)?,
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
    let mut channel = DramChannel::new(0, preset, scheduling, refresh, true);
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

/// Lines under a code: `SCHEME EVENT ..`, events being `flip:ADDRESS:BIT`, `read:ADDRESS`, `scrub:ADDRESS`, `whole:ADDRESS` and `part:ADDRESS`,
/// a write of all and of half of the bytes. Behind each event stands the line that it is about.
pub(super) fn store(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const HALF: u64 = 0xffff_ffff;
    const WRITTEN: [u8; 64] = [0x5a; 64];
    let (scheme, events) = words.split_first()?;
    let ecc = LineEcc { scheme: EccScheme::find(scheme)?, ..EccConfig::NONE.ecc };
    let mut store = EccStore::new(Background::OwnAddress, EccConfig { ecc, ..EccConfig::NONE });
    let mut answers = Vec::new();
    for event in events {
        let parts: Vec<&str> = event.split(':').collect();
        let address = scalepool_forms::number::parse(parts.get(1)?).and_then(|at| u64::try_from(at).ok())?;
        match parts[..] {
            ["flip", _, bit] => store.flip(address, bit.parse().ok()?),
            ["read", _] => store.account_read(address),
            ["scrub", _] => drop(store.scrub(address)),
            ["whole", _] => store.write_line(address, &WRITTEN, ALL_BYTES, false),
            ["part", _] => store.write_line(address, &WRITTEN, HALF, false),
            _ => return None,
        }
        let (line, counts) = (store.read_line(address), store.counts());
        let last = &line.data[32..];
        let is_right = last == &Background::OwnAddress.line(address)[32..] || last == &WRITTEN[32..];
        answers.push(vec![
            said("line", line.poison.into(), if line.poison { "poisoned" } else { "good" }),
            said("last bytes", is_right.into(), if is_right { "as they were written" } else { "wrong" }),
            number("reads corrected", counts.corrected),
            number("lines lost", counts.lost + counts.scrub_lost),
        ]);
    }
    Some(answers)
}

/// The reads of a patrol with an interval of 100 cycles: `CYCLES REQUESTS`, how long it goes, and whether requests are `waiting` or there are
/// `none`.
pub(super) fn patrol(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const INTERVAL: u64 = 100;
    const LINES: u64 = 4;
    /// Longest walk \[cycles\].
    const MOST_CYCLES: u64 = 100_000;
    let [cycles, requests] = words else { return None };
    let mut patrol = Patrol::new(INTERVAL, LINES);
    let mut read = Vec::new();
    for cycle in 0..=cycles.parse::<u64>().ok()?.min(MOST_CYCLES) {
        if let Some(address) = patrol.due(cycle, *requests == "waiting") {
            patrol.taken(cycle);
            read.push(format!("{address:#x} at {cycle}"));
        }
    }
    Some(vec![vec![said("lines read", read.len() as u64, read.join(", "))]])
}
