//! Ids of rules and days of waivers, for benches that keep waivers and severities of their own.
//!
//! Modelled: whether there is a rule, and whether a waiver still holds on a day. Left out: the table of rules itself, which `scalepool list
//! rules` prints, and a clock: what day it is, the caller says, so that a run is the same on every day.

use super::call::{Caller, call};
use super::status::{Failure, SP_ERR_INPUT, SP_OK};
use scalepool::forms::message::most_similar;
use scalepool::inspect::waiver::CalendarDay;
use scalepool_protocols::rules;
use std::ffi::c_char;

/// Returns SP_OK if there is a rule with this id, such as `CXL68-CRC-01`. Returns SP_ERR_INPUT if there is none; sp_last_error then names the
/// ids that come nearest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_rule_known(rule: *const c_char, rule_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let rule = caller.text("rule", rule, rule_length)?;
        if rules::find(&rule).is_some() {
            return Ok(SP_OK);
        }
        let near = most_similar(&rule, rules::all().map(|rule| rule.id)).join(", ");
        let text =
            format!("rule: found `{rule}`, expected an id that `scalepool list rules` prints; the nearest are {near}");
        Err(Failure::new(SP_ERR_INPUT, text))
    })
}

fn day(what: &str, text: &str) -> Result<CalendarDay, Failure> {
    CalendarDay::read(text).map_err(|text| Failure::new(SP_ERR_INPUT, format!("{what}: {text}")))
}

/// Compares the last day of a waiver with the day on which it is judged, both YYYY-MM-DD: `holds` is 1 up to the last day, that day included,
/// and 0 behind it. The library asks no clock: `today` is what the caller says. Returns SP_ERR_INPUT for a text that is no day.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_waiver_holds(
    last_day: *const c_char,
    last_day_length: usize,
    today: *const c_char,
    today_length: usize,
    holds: *mut u32,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let holds = caller.place("holds", holds)?;
        let last = day("last_day", &caller.text("last_day", last_day, last_day_length)?)?;
        let today = day("today", &caller.text("today", today, today_length)?)?;
        holds.set(u32::from(today <= last));
        Ok(SP_OK)
    })
}
