//! Ends of links beside RTL: one handle is one end of a link, or watches one.
//!
//! Modelled: the ends of `scalepool::link` for `cxl-68b`, the 256B modes, `nvlink` and `ualink`, as they are; an active handle is the
//! end itself, a passive one only reads both directions and reports rule ids. Detail: one wire unit a flit clock in each
//! direction (68 bytes, 256 bytes, one flit of 16 bytes, 640 bytes). Left out: latency (the caller's steps are the wire), early even
//! halves of latency-optimised flits, ARB/MUX, CXL.io.
//!
//! An active end stands in one of two places. As the peer of the RTL: what the RTL sends is driven, what the end sends is
//! sampled. As its twin: what the RTL receives is driven, and what the RTL sends is expected, unit by unit.
//!
//! A walk through one [`sp_link_step`]: the oldest unit that was driven arrives, the end sends at most one unit, which
//! waits to be sampled; what is broken waits as an event.

mod active;
mod config;
pub mod hook;
mod message;
mod ualink;

use super::call::{Caller, call};
use super::status::{Failure, SP_EMPTY, SP_ERR_KIND, SP_FINDING, SP_OK};
use super::stream::dir_of;
use super::table::Table;
use active::End;
use config::{Config, check_unit};
use scalepool::forms::{self, FormError, Object, number, violation};
use scalepool::link::event::{Event, Severity};
use scalepool::link::hook::{HookPoint, Hooks, Passed, Way};
use scalepool::link::watch::Watch;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::c_char;

/// A link end that drives a port.
pub const SP_ACTIVE: u32 = 0;
/// A link end that watches another one.
pub const SP_PASSIVE: u32 = 1;

/// The port of what comes to the end.
pub const SP_RX: u32 = 0;
/// The port of what the end sends.
pub const SP_TX: u32 = 1;

/// Most flit clocks of one step.
pub const SP_MAX_STEPS: u64 = 1 << 16;
/// Units, messages or events that may wait.
const MAX_WAITING: usize = 1 << 16;

struct Link {
    /// What a reset makes anew.
    config: Config,
    part: Part,
    now: u64,
    /// Driven and not yet arrived, by port.
    driven: [VecDeque<Vec<u8>>; 2],
    /// Sent and not yet sampled.
    sent: VecDeque<Vec<u8>>,
    events: VecDeque<Value>,
    events_lost: u64,
    compared: u64,
    mismatches: u64,
    /// Not attachable until one is asked for.
    hooks: Hooks,
    /// The first answer of a hook that was not allowed.
    bad_answer: Option<String>,
}

enum Part {
    Active(End),
    Passive(Watch),
}

impl Part {
    fn attach_hooks(&mut self, hooks: &Hooks) {
        if let Part::Active(end) = self {
            end.attach_hooks(hooks);
        }
    }
}

static LINKS: Table<Link> = Table::new(3, "link end");

fn event_json(port: &str, event: &Event) -> Value {
    let mut form = Object::new();
    form.insert("unit".into(), event.unit.into());
    form.insert("port".into(), port.into());
    let severity = match event.severity {
        Severity::Corrected => "corrected",
        Severity::Protocol => "protocol",
        Severity::Retrain => "retrain",
        Severity::Uncorrectable => "uncorrectable",
        Severity::Fatal => "fatal",
    };
    form.insert("severity".into(), severity.into());
    if let Value::Object(violation) = violation::to_json(&event.violation) {
        form.extend(violation);
    }
    Value::Object(form)
}

impl Link {
    fn new(config: Config, hooks: Hooks) -> Result<Link, Failure> {
        let mut part = match config.passive {
            false => Part::Active(End::new(&config)?),
            true => Part::Passive(Watch::new(&config.watch())?),
        };
        part.attach_hooks(&hooks);
        let (driven, sent, events) = Default::default();
        Ok(Link {
            config,
            part,
            now: 0,
            driven,
            sent,
            events,
            events_lost: 0,
            compared: 0,
            mismatches: 0,
            hooks,
            bad_answer: None,
        })
    }

    fn end(&mut self) -> Result<&mut End, Failure> {
        match &mut self.part {
            Part::Active(end) => Ok(end),
            Part::Passive(_) => Err(Failure::new(SP_ERR_KIND, "link end: found a passive one, expected an active one")),
        }
    }

    fn drive(&mut self, port: u32, unit: Vec<u8>) -> Result<(), Failure> {
        check_unit(self.config.protocol, &unit)?;
        let queue = match (port, &self.part) {
            (SP_RX, _) | (SP_TX, Part::Passive(_)) => &mut self.driven[port as usize],
            (SP_TX, Part::Active(_)) => {
                return Err(Failure::new(SP_ERR_KIND, "port: found SP_TX of an active end, expected SP_RX"));
            }
            _ => return Err(Failure::range("port", port, "SP_RX or SP_TX")),
        };
        if queue.len() >= MAX_WAITING {
            return Err(Failure::range("driven units", queue.len(), format!("fewer than {MAX_WAITING}")));
        }
        queue.push_back(unit);
        Ok(())
    }

    /// Keeps events; those that have no room are counted.
    fn keep(&mut self, events: Vec<Value>) {
        let room = MAX_WAITING - self.events.len();
        self.events_lost += events.len().saturating_sub(room) as u64;
        self.events.extend(events.into_iter().take(room));
    }

    /// Whether what an end sends in so many flit clocks has room.
    fn has_room(&self, flit_clocks: u64) -> Result<(), Failure> {
        let waiting = self.sent.len() as u64;
        if matches!(self.part, Part::Active(_)) && waiting + flit_clocks > MAX_WAITING as u64 {
            let found = format!("{waiting} units that wait and {flit_clocks} flit clocks");
            return Err(Failure::range("link end", found, format!("at most {MAX_WAITING}: sample units first")));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.now += 1;
        let [rx, tx] = self.driven.each_mut().map(VecDeque::pop_front);
        match &mut self.part {
            Part::Active(end) => {
                if let Some(unit) = rx {
                    end.receive(&unit, self.now)?;
                }
                self.sent.extend(end.transmit(self.now));
                let events: Vec<Value> = end.events().iter().map(|e| event_json("rx", e)).collect();
                self.keep(events);
            }
            Part::Passive(watch) => {
                let name = self.config.protocol.name();
                let watched = |unit: &mut Vec<u8>, way| self.hooks.pass(HookPoint::Wire, way, name, unit) == Passed::On;
                for (way, unit) in [(Way::Rx, rx), (Way::Tx, tx)] {
                    if let Some(mut unit) = unit
                        && watched(&mut unit, way)
                    {
                        watch.unit(way, &unit, self.now)?;
                    }
                }
                let events = watch.take_events().iter().map(|(way, e)| event_json(way.name(), e)).collect();
                self.keep(events);
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Value {
        let (bad, bad_answers) = self.hooks.take_errors();
        self.bad_answer = self.bad_answer.take().or(bad.first().map(ToString::to_string));
        let mut form = json!({
            "protocol": self.config.protocol.name(),
            "dir": self.config.dir.name(),
            "passive": self.config.passive,
            "flit_clocks": self.now,
            "driven": self.driven[0].len() + self.driven[1].len(),
            "sent": self.sent.len(),
            "events": self.events.len(),
            "events_lost": self.events_lost,
            "compared": self.compared,
            "mismatches": self.mismatches,
            "bad_answers": bad_answers,
            "bad_answer": self.bad_answer,
        });
        if let Part::Active(end) = &self.part {
            for (key, value) in end.state() {
                form[key] = value;
            }
        }
        form
    }
}

/// An end of a link. `protocol` is `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `nvlink` or `ualink`; `dir` is the direction
/// in which the end sends, SP_DOWN for a host or accelerator. `config` is a JSON object, empty for the defaults:
///
/// * `buffers`: messages a channel that fit into the receive buffers (64); nvlink: packets (32)
/// * `data_flits`: nvlink, data flits a channel (256)
/// * `classes`: `mem`, or `cachemem` for CXL.cache too (`cachemem`)
/// * `retry_entries`, `timeout_flits`: retry buffer and time-out (those of the sheets)
/// * `max_num_retry`, `max_num_phy_reinit`, `flush_flits`: cxl-68b
/// * `selective_nak`: the 256B modes, true or false (false)
/// * `reaction_flits`: cxl-68b and ualink, passive: depth of the pipeline of the end that is watched (0)
///
/// `ualink` has none of the others. A unit of one byte stands there for control flits in place of a flit: 0 is idle, 1 a remote
/// fault; an end sends them until it is up.
///
/// `mode` is SP_ACTIVE or SP_PASSIVE; a passive end never sends and only reports what breaks a rule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_new(
    protocol: *const c_char,
    protocol_length: usize,
    dir: u32,
    config: *const c_char,
    config_length: usize,
    mode: u32,
    link: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let link = caller.place("link", link)?;
        let passive = match mode {
            SP_ACTIVE => false,
            SP_PASSIVE => true,
            _ => return Err(Failure::range("mode", mode, "SP_ACTIVE or SP_PASSIVE")),
        };
        let protocol = caller.text("protocol", protocol, protocol_length)?;
        let text = caller.text("config", config, config_length)?;
        let config = Config::read(&protocol, dir_of(dir)?, passive, &text)?;
        link.set(LINKS.insert(Link::new(config, Hooks::default())?)?);
        Ok(SP_OK)
    })
}

/// As it was made: all that waits is gone. Hooks stay, and count their items anew.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_reset(link: u64) -> i32 {
    call(|| {
        LINKS.with(link, |link| {
            link.hooks.reset();
            *link = Link::new(link.config.clone(), link.hooks.clone())?;
            Ok(SP_OK)
        })
    })
}

/// Drives a port: the unit arrives in the next step that has not another one before it. SP_RX is what comes to the end;
/// a passive end takes what the end that it watches sends at SP_TX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_drive(link: u64, port: u32, unit: *const u8, unit_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let unit = caller.items("unit", unit, unit_length)?;
        LINKS.with(link, |link| link.drive(port, unit).map(|()| SP_OK))
    })
}

/// Flit clocks, at most SP_MAX_STEPS: in each, one driven unit of each port arrives and an active end sends at most one.
/// Units that nobody samples wait, 65536 at most; so do events, and those behind them are counted alone.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_step(link: u64, flit_clocks: u64) -> i32 {
    call(|| {
        if flit_clocks > SP_MAX_STEPS {
            return Err(Failure::range("flit clocks", flit_clocks, format!("at most {SP_MAX_STEPS}")));
        }
        LINKS.with(link, |link| {
            link.has_room(flit_clocks)?;
            (0..flit_clocks).try_for_each(|_| link.step()).map(|()| SP_OK)
        })
    })
}

/// Takes the oldest unit that the end has sent. SP_EMPTY if none waits: a link may be silent in a flit clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_sample(
    link: u64,
    unit: *mut u8,
    unit_capacity: usize,
    unit_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let unit = caller.buffer("unit", unit, unit_capacity, unit_length)?;
        LINKS.with(link, |link| {
            link.end()?;
            let sent = link.sent.front().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no unit waits"))?;
            unit.fill(sent)?;
            link.sent.pop_front();
            Ok(SP_OK)
        })
    })
}

/// The mask of a comparison, null for all bits.
pub(super) fn mask_of(caller: &Caller, mask: *const u8, length: usize) -> Result<Vec<u8>, Failure> {
    if mask.is_null() { Ok(vec![0xff; length]) } else { caller.items("mask", mask, length) }
}

/// Compares bytes of the same number where the mask has a 1.
pub(super) fn compare(what: &str, found: &[u8], expected: &[u8], mask: &[u8]) -> Result<i32, Failure> {
    let mut bytes = found.iter().zip(expected).zip(mask).enumerate();
    let Some((at, ((found, expected), _))) =
        bytes.find(|(_, ((found, expected), mask))| (*found ^ *expected) & *mask != 0)
    else {
        return Ok(SP_OK);
    };
    let text = format!("{what}, byte {at}: found {found:#04x}, expected {expected:#04x}");
    Err(Failure::new(SP_FINDING, text))
}

/// Takes the oldest unit that the end has sent and compares it with `unit`: the end is the twin of what sent that. `mask`
/// has a 1 for each bit that counts, null for all. SP_FINDING if they differ; the last error names the first byte.
/// SP_EMPTY if none waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_expect(link: u64, unit: *const u8, mask: *const u8, unit_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let found = caller.items("unit", unit, unit_length)?;
        let mask = mask_of(&caller, mask, found.len())?;
        LINKS.with(link, |link| {
            link.end()?;
            check_unit(link.config.protocol, &found)?;
            let expected = link.sent.pop_front().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no unit waits"))?;
            let answer = compare(&format!("unit {}", link.compared), &found, &expected, &mask);
            link.compared += 1;
            link.mismatches += u64::from(answer.is_err());
            answer
        })
    })
}

/// Queues a message to be sent, in its JSON form: `{"layout":..,"fields":{..}}`, with `data` (hex of the 64 bytes of a
/// line), `be` (byte enables, a number); cxl-68b: `half` (`lower` or `upper`) for 32 bytes; the 256B modes: `metadata` (a
/// number). nvlink: one flat object with `op`, `vc`, `tag`, `rid`, `size`, `ep`, `atag`, `address`, `attr`, `route`, `be`, `data`.
/// At most 65536 messages wait: SP_ERR_RANGE beyond. ualink: a TL flit, `lower` and `upper` (hex of 32 bytes each) and `indicators` (0 to 3, bit n: half n is a message).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_send(link: u64, message: *const c_char, message_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let form = forms::parse(&caller.text("message", message, message_length)?)?;
        LINKS.with(link, |link| link.end()?.send(&form).map(|()| SP_OK))
    })
}

/// Takes the oldest message that has come, in its JSON form; its credit goes back. SP_EMPTY if none waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_take(
    link: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        LINKS.with(link, |link| {
            let end = link.end()?;
            let form = end.next().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no message waits"))?;
            json.fill_text(&form.to_string())?;
            end.drop_next();
            Ok(SP_OK)
        })
    })
}

/// Takes the oldest event: `{"unit":..,"port":"rx","severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`.
/// SP_EMPTY if none waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_event(
    link: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        LINKS.with(link, |link| {
            let event = link.events.front().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no event waits"))?;
            json.fill_text(&event.to_string())?;
            link.events.pop_front();
            Ok(SP_OK)
        })
    })
}

/// State and counters as a JSON object: flit clocks, what waits, what was compared; of an active end whether it is `up`,
/// `quiet`, `halted` (a rule id) and whether it asks for training (`wants_training`); answers of hooks that were not
/// allowed (`bad_answers`, the first one as `bad_answer`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_state(
    link: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        LINKS.with(link, |link| json.fill_text(&link.state().to_string()))
    })
}

/// The physical layer begins to train (0) or is up again (1). nvlink has no such state here; an end of
/// ualink takes it for a fault of its line.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_train(link: u64, up: u32) -> i32 {
    call(|| {
        if up > 1 {
            return Err(Failure::range("up", up, "0 or 1"));
        }
        LINKS.with(link, |link| {
            match &mut link.part {
                Part::Active(end) => end.train(up == 1)?,
                Part::Passive(watch) if up == 1 => watch.trained(),
                Part::Passive(_) => (),
            }
            Ok(SP_OK)
        })
    })
}

/// Ends a link end; its handle names nothing any more.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_destroy(link: u64) -> i32 {
    call(|| LINKS.remove(link).map(|()| SP_OK))
}

/// `{"text":..}` of bytes that are data.
fn hex_of(value: &Value, at: &str) -> Result<Vec<u8>, FormError> {
    number::bytes_of(forms::text(value, at, "a string of hexadecimal digits")?, at)
}
