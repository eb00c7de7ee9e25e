//! Transfers of a link of UALink that break a rule of transactions, judged by the checker of the transactions of somebody else.
//!
//! The cases stand in `transfers.txt`, a transfer each nanosecond. The wave has a scope for each direction.

use super::case_file::CaseFile;
use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_conversion::message::BridgeMessage;
use scalepool_forms::parse;
use scalepool_inspect::told::fields;
use scalepool_protocols::cxl::Dir;
use scalepool_transactions::ualink::{UalTransactionConfig, UalTransactions};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "transfers.txt", text: include_str!("transfers.txt"), judged };

fn judged(rule: &str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let config = UalTransactionConfig { all_writers_seen: true, strict: true, limit: None };
    let mut checker = UalTransactions::new(config, vec!["link".to_owned()]);
    let (mut steps, mut wave, mut units) = (Vec::new(), MessageWave::new("link"), [0_u64; 2]);
    for (n, line) in text.lines().enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let (dir, form) = line.split_once(' ').unwrap_or((line, ""));
        let known = [Dir::Down, Dir::Up].into_iter().find(|known| known.name() == dir);
        let dir = known.ok_or_else(|| CaseError::of(format!("found `{dir}`, expected down or up")))?;
        let form = parse(form).map_err(CaseError::of)?;
        let BridgeMessage::Upli(transfer) = BridgeMessage::from_json(&form).map_err(CaseError::of)? else {
            return Err(CaseError::of(format!("found {}, expected a request or a response of UALink", form["layout"])));
        };
        wave.message(t_fs, dir.name(), &form)?;
        let layout = form["layout"].as_str().unwrap_or_default();
        let data = if form.get("data").is_some() { ", with data" } else { "" };
        let poison = if form.get("poison").is_some() { ", poisoned" } else { "" };
        let said = format!("{layout}{}{data}{poison}", fields(form["fields"].as_object()));
        steps.push(CaseStep { t_fs, place: dir.name().to_owned(), said });
        let unit = &mut units[usize::from(dir == Dir::Up)];
        let found = checker.see(0, dir, *unit, &transfer);
        *unit += 1;
        if found.is_empty() {
            continue;
        }
        let violation = found.into_iter().map(|found| found.violation).find(|violation| violation.rule == rule);
        let violation = violation.ok_or_else(|| CaseError::breaks_nothing(rule, "transfer"))?;
        return Ok(wave.case(what, t_fs, violation, steps));
    }
    Err(CaseError::breaks_nothing(rule, "transfer"))
}
