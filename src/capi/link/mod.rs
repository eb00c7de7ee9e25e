//! Ends of links beside RTL: one handle is one end of a link, or watches one.
//!
//! Modelled: the ends of `scalepool::link` for `cxl-68b`, the 256B modes, `nvlink`, `ualink` and `cxl-io`, as they are; an
//! active handle is the end itself, a passive one only reads both directions and reports rule ids. Detail: one wire unit a flit clock in each
//! direction (68 bytes, 256 bytes, one flit of 16 bytes, 640 bytes). Left out: latency (the caller's steps are the wire), early even
//! halves of latency-optimised flits, ARB/MUX.
//!
//! An active end stands in one of two places. As the peer of the RTL: what the RTL sends is driven, what the end sends is
//! sampled. As its twin: what the RTL receives is driven, and what the RTL sends is expected, unit by unit.
//!
//! A walk through one [`sp_link_step`]: the oldest unit that was driven arrives, the end sends at most one unit, which
//! waits to be sampled; what is broken waits as an event.

mod active;
pub(crate) mod bits;
mod config;
mod covered;
mod ends;
mod event;
pub mod hook;
mod judges;
pub(crate) mod message;
mod plain;
pub(crate) mod protocol;
pub mod typed;
mod ualink;

use super::call::{Caller, call};
use super::status::{Failure, SP_EMPTY, SP_ERR_KIND, SP_FINDING, SP_OK};
use super::stream::dir_of;
use super::table::ObjectTable;
use active::CapiEnd;
use config::{CapiEndConfig, JudgedTransactions, check_unit};
use covered::EndCoverage;
use event::CapiEvent;
use judges::Judges;
use message::CapiMessage;
use scalepool::forms::options::Options;
use scalepool::forms::{self, FormError, number};
use scalepool::link::coverage::Met;
use scalepool::link::event::LinkEvent;
use scalepool::link::hook::{Direction, HookPoint, Hooks, Passed};
use scalepool::link::plain::PlainWatch;
use scalepool::link::watch::{EndWatch, WatchedContent, WatchedMessage};
use scalepool_protocols::wire::Violation;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::c_char;

/// Mode of a link end that takes part in the link.
pub const SP_ACTIVE: u32 = 0;
/// Mode of a link end that only watches another one.
pub const SP_PASSIVE: u32 = 1;

/// Receive direction: units that arrive at the end.
pub const SP_RX: u32 = 0;
/// Transmit direction: units that the end sends.
pub const SP_TX: u32 = 1;

/// Highest number of flit clocks in one step.
pub const SP_MAX_STEPS: u64 = 1 << 16;
/// Units, messages or events that may wait.
const MAX_WAITING: usize = 1 << 16;

struct LinkHandle {
    /// What a reset makes anew.
    config: CapiEndConfig,
    part: LinkRole,
    judges: Judges,
    now: u64,
    /// Units that have arrived at an active end, and that it has sent.
    units: [u64; 2],
    /// Driven and not yet arrived, by port.
    driven: [VecDeque<Vec<u8>>; 2],
    /// Sent and not yet sampled.
    sent: VecDeque<Vec<u8>>,
    events: VecDeque<CapiEvent>,
    events_lost: u64,
    /// What a passive end has seen, with direction and unit, if it keeps messages.
    seen: VecDeque<(Direction, u64, CapiMessage)>,
    seen_lost: u64,
    compared: u64,
    mismatches: u64,
    /// Not attachable until one is asked for.
    hooks: Hooks,
    /// The first answer of a hook that was not allowed.
    bad_answer: Option<String>,
    /// What has passed, if it counts that.
    coverage: Option<EndCoverage>,
}

enum LinkRole {
    Active(CapiEnd),
    Passive(EndWatch),
    PassivePlain(PlainWatch),
}

impl LinkRole {
    fn attach_hooks(&mut self, hooks: &Hooks) {
        if let LinkRole::Active(end) = self {
            end.attach_hooks(hooks);
        }
    }
}

static LINKS: ObjectTable<LinkHandle> = ObjectTable::new(3, "link end");

impl LinkHandle {
    fn new(config: CapiEndConfig, hooks: Hooks) -> Result<LinkHandle, Failure> {
        let mut part = match (config.passive, config.plain_form()) {
            (false, _) => LinkRole::Active(CapiEnd::new(&config)?),
            (true, None) => LinkRole::Passive(EndWatch::new(&config.watch())?),
            (true, Some(form)) => LinkRole::PassivePlain(PlainWatch::new(form, config.dir, &Options::default())),
        };
        part.attach_hooks(&hooks);
        let (driven, sent, events, seen) = Default::default();
        Ok(LinkHandle {
            judges: Judges::new(&config),
            coverage: EndCoverage::new(&config),
            config,
            part,
            now: 0,
            units: [0; 2],
            driven,
            sent,
            events,
            events_lost: 0,
            seen,
            seen_lost: 0,
            compared: 0,
            mismatches: 0,
            hooks,
            bad_answer: None,
        })
    }

    fn end(&mut self) -> Result<&mut CapiEnd, Failure> {
        match &mut self.part {
            LinkRole::Active(end) => Ok(end),
            LinkRole::Passive(_) | LinkRole::PassivePlain(_) => {
                Err(Failure::new(SP_ERR_KIND, "link end: found a passive one, expected an active one"))
            }
        }
    }

    fn drive(&mut self, port: u32, unit: Vec<u8>) -> Result<(), Failure> {
        check_unit(self.config.protocol, &unit)?;
        let queue = match (port, &self.part) {
            (SP_RX, _) | (SP_TX, LinkRole::Passive(_) | LinkRole::PassivePlain(_)) => &mut self.driven[port as usize],
            (SP_TX, LinkRole::Active(_)) => {
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
    fn keep(&mut self, events: Vec<CapiEvent>) {
        self.coverage.iter_mut().for_each(|coverage| coverage.events(&events));
        let room = MAX_WAITING - self.events.len();
        self.events_lost += events.len().saturating_sub(room) as u64;
        self.events.extend(events.into_iter().take(room));
    }

    /// Whether what an end sends in so many flit clocks has room.
    fn has_room(&self, flit_clocks: u64) -> Result<(), Failure> {
        let waiting = self.sent.len() as u64;
        if matches!(self.part, LinkRole::Active(_)) && waiting + flit_clocks > MAX_WAITING as u64 {
            let found = format!("{waiting} units that wait and {flit_clocks} flit clocks");
            return Err(Failure::range("link end", found, format!("at most {MAX_WAITING}: sample units first")));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.now += 1;
        let [rx, tx] = self.driven.each_mut().map(VecDeque::pop_front);
        let mut events: Vec<CapiEvent>;
        match &mut self.part {
            LinkRole::Active(end) => {
                end.pass_time(self.now);
                if let Some(unit) = rx {
                    end.receive(&unit, self.now)?;
                    self.judges.unit(Direction::Rx, self.units[0]);
                    self.units[0] += 1;
                }
                let sent = end.transmit(self.now);
                self.units[1] += sent.len() as u64;
                self.sent.extend(sent);
                events = end.events().into_iter().map(|e| CapiEvent::of(Direction::Rx, e)).collect();
                if end.take_loss() {
                    events.extend(self.judges.see(Direction::Rx, self.units[0], &WatchedContent::Restart));
                }
                let overdue = end.overdue(self.now, self.units);
                events.extend(overdue.into_iter().map(|(way, e)| CapiEvent::of(way, e)));
            }
            LinkRole::PassivePlain(watch) => {
                let name = self.config.protocol.name();
                events = Vec::new();
                for (n, (way, unit)) in [(Direction::Rx, rx), (Direction::Tx, tx)].into_iter().enumerate() {
                    let Some(mut unit) = unit else { continue };
                    if self.hooks.pass(HookPoint::Wire, way, name, &mut unit) != Passed::On {
                        continue;
                    }
                    let (number, flit) = (self.units[n], watch.unit(way, &unit)?);
                    self.judges.unit(way, number);
                    self.units[n] += 1;
                    if let Some(coverage) = self.coverage.as_mut().filter(|_| flit.is_good) {
                        coverage.unit(&self.config, way, &unit);
                    }
                    events.extend(flit.events.into_iter().map(|event| CapiEvent::of(way, event)));
                    for message in flit.messages {
                        events.extend(self.judges.see(way, number, &WatchedContent::Cxl(message.content())));
                        if self.config.messages {
                            let has_room = self.seen.len() < MAX_WAITING;
                            self.seen_lost += u64::from(!has_room);
                            self.seen.extend(has_room.then(|| (way, number, message.into())));
                        }
                    }
                }
            }
            LinkRole::Passive(watch) => {
                let name = self.config.protocol.name();
                let watched = |unit: &mut Vec<u8>, way| self.hooks.pass(HookPoint::Wire, way, name, unit) == Passed::On;
                for (n, (way, unit)) in [(Direction::Rx, rx), (Direction::Tx, tx)].into_iter().enumerate() {
                    if let Some(mut unit) = unit
                        && watched(&mut unit, way)
                    {
                        let is_taken = watch.unit(way, &unit, self.now)?;
                        if let Some(coverage) = self.coverage.as_mut().filter(|_| is_taken) {
                            coverage.unit(&self.config, way, &unit);
                        }
                        self.judges.unit(way, self.units[n]);
                        self.units[n] += 1;
                    }
                }
                watch.clock(self.now, 0);
                events = watch.take_events().into_iter().map(|(way, e)| CapiEvent::of(way, e)).collect();
                for WatchedMessage { way, unit, message } in watch.take_messages() {
                    if self.config.messages
                        && let Some(seen) = CapiMessage::seen(self.config.protocol, &message)
                    {
                        let has_room = self.seen.len() < MAX_WAITING;
                        self.seen_lost += u64::from(!has_room);
                        self.seen.extend(has_room.then_some((way, unit, seen)));
                    }
                    events.extend(self.judges.see(way, unit, &message));
                }
            }
        }
        events.extend(self.judges.clock(self.now));
        self.keep(events);
        Ok(())
    }

    /// Queues a message, and shows it to those who judge it.
    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        // Nobody is owed an answer to what is lost before it is sent.
        let is_lost = self.end()?.loses_what_is_sent();
        let judged = if is_lost { None } else { self.judged(&message) };
        self.end()?.send(message)?;
        self.judge(Direction::Tx, judged);
        Ok(())
    }

    /// The oldest message of an active end; it stays until `taken`.
    fn next(&mut self) -> Result<&CapiMessage, Failure> {
        self.end()?.next().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no message waits"))
    }

    /// The oldest message has been taken: its credit returns.
    fn taken(&mut self) -> Result<(), Failure> {
        if let Some(message) = self.end()?.drop_next() {
            self.judge(Direction::Rx, self.judged(&message));
        }
        Ok(())
    }

    /// What a message says, if there is someone who judges it.
    fn judged(&self, message: &CapiMessage) -> Option<WatchedContent> {
        if self.judges.wants_messages() { message.content() } else { None }
    }

    /// A message of an active end is queued, or taken from it.
    fn judge(&mut self, way: Direction, message: Option<WatchedContent>) {
        let Some(message) = message else { return };
        let unit = match way {
            Direction::Rx => self.units[0].saturating_sub(1),
            Direction::Tx => self.units[1],
        };
        let events = self.judges.see(way, unit, &message);
        self.keep(events);
    }

    /// What an active end has counted itself.
    fn active_coverage(&self) -> Vec<Met> {
        match &self.part {
            LinkRole::Active(end) => end.coverage(),
            LinkRole::Passive(_) | LinkRole::PassivePlain(_) => Vec::new(),
        }
    }

    fn state(&mut self) -> Value {
        let (bad, bad_answers) = self.hooks.take_errors();
        self.bad_answer = self.bad_answer.take().or(bad.first().map(ToString::to_string));
        let mut form = json!({
            "protocol": self.config.protocol.name(),
            "dir": self.config.dir.name(),
            "passive": self.config.passive,
            "transactions": self.config.transactions.map(JudgedTransactions::key),
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
        match &self.part {
            LinkRole::Active(end) => end.state(self.now).into_iter().for_each(|(key, value)| form[key] = value),
            LinkRole::Passive(watch) => {
                form["halted"] = watch.halted().into();
                form["health"] = watch.health().json().into();
            }
            LinkRole::PassivePlain(watch) => {
                form["halted"] = Value::Null;
                form["health"] = watch.health().json().into();
            }
        }
        if let Some(coverage) = &self.coverage {
            form["coverage"] = coverage.json(&self.active_coverage());
        }
        form
    }
}

/// Makes one end of a link. `protocol` is `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `nvlink`, `ualink`, or
/// `cxl-io`: CXL.io alone in 256B flits.
/// `dir` is the direction in which the end sends: SP_DOWN for a host or an accelerator. `mode` is SP_ACTIVE or
/// SP_PASSIVE; a passive end sends nothing and only reports broken rules. `config` is a JSON object, or an empty text
/// for the defaults, which stand in parentheses here:
///
/// * `buffers`: size of the receive buffers: for CXL in messages for each channel (64), for nvlink in packets (32), for ualink with
///   `layer` = `tl` in requests and in responses, each with four beats of data (256)
/// * `data_flits`: for nvlink, size of the receive buffers in data flits for each channel (256)
/// * `classes`: `mem` for CXL.mem alone, or `cachemem` for CXL.cache and CXL.mem (`cachemem`)
/// * `retry_entries`, `timeout_flits`: size of the retry buffer and time-out in flits (the values of the specification,
///   or of the model where there is none)
/// * `max_num_retry`, `max_num_phy_reinit`, `flush_flits`: limits and flush timer of the retry of cxl-68b
/// * `selective_nak`: true if the end may request the replay of a single flit, in the 256B modes (false)
/// * `reaction_flits`: for a passive end of cxl-68b or ualink, the number of units that the watched end may send after a
///   unit arrived and before its own units have to show a reaction to it (4096). Set it to the pipeline depth of a design
///   for a strict check.
/// * `coherence`: for a passive end of CXL, `hdm-h`, `hdm-db` or `hdm-d`, the kind of the memory that answers CXL.mem, to
///   judge the messages too: who may hold a copy of a line, which data a read may bring, snoops, evicts and their order
/// * `messages`: for a passive end, true if it keeps the messages of both directions for sp_link_seen_bits: messages of CXL.cachemem, TLPs
///   of cxl-io, requests and responses of ualink, packets of nvlink (false)
/// * `coverage`: true if sp_link_state has `coverage`: which codes of the protocol have passed and how often, in the form that
///   `scalepool coverage` reads. A passive end counts both directions, an active end of CXL what it has received (false)
/// * `plain_flits`: for an end of CXL but cxl-io, true if the interface hands over protocol flits and has no link layer: no initialisation,
///   credits, acknowledgements or replays. A queued message is packed at once, and an arriving flit is accepted at once. A flit with
///   a wrong CRC breaks a rule, and so do control flits of a link layer, credits and acknowledgements (SIM-PLN-01). Only
///   `coverage` and `transactions` with its keys can be combined with it, and, for a passive end, `coherence` and `messages` (false)
/// * `transactions`: for an end of CXL, `hdm-h`, `hdm-db` or `hdm-d`, the kind of the memory that answers CXL.mem, to judge the
///   requests and answers of CXL.mem: tags, answers that are doubled, unknown or of the wrong kind, and data that no request asked for. Or
///   `cxl-cache`, to judge requests, snoops and answers of CXL.cache in the same way; `coherence` may be set as well.
///   A passive end judges both directions as they pass. An active end judges what it queues and what is taken from it. For a
///   passive end of ualink, or an active one with `layer` = `tl`, it is `ualink`: tags, beats and data of the requests of both ends. For any
///   end of nvlink it is `nvlink`. For any end of cxl-io, and a passive end of another protocol of CXL, it is `cxl-io`: tags, completions with
///   their Byte Counts and order, registers of configuration space
/// * `layer`: for an active end of ualink, `tl` if its messages are requests and responses and it has a transaction layer with credits
///   and compression, or `dl` if they are TL flits of the caller's (`dl`)
/// * `strict`: with `transactions` of ualink, true if the link keeps strict order (false)
/// * `unique_tags`: with `transactions`, true if no tag is used again while its request is open (false)
/// * `answer_flits`: with `transactions`, highest number of flit clocks from a request to its last answer (no limit)
/// * `all_writers_seen`: with `coherence` or `transactions`, true if nobody but the two ends writes the lines, so that every
///   read is compared with the last write; of cxl-io the memory behind the BARs (false)
/// * `liveness_flits`: number of flit clocks for which an end may wait for a credit, an acknowledgement, a replay or the end of
///   initialisation before it is reported (LIV-CRD-01, LIV-ACK-01, LIV-RTY-01, LIV-INI-01), 0 for no limit (131072)
/// * `interleave`: number of FEC code words that the line of ualink interleaves, 1, 2 or 4 (1). Copies of a Replay
///   Request are sent in groups of this many flits; a peer that groups them otherwise is reported.
///
/// `cxl-io` has only `retry_entries`, `timeout_flits`, `selective_nak`, `liveness_flits`, `transactions`, `all_writers_seen`,
/// `answer_flits` and `messages`. `ualink` has only `reaction_flits`,
/// `liveness_flits`, `interleave`, `layer`, `buffers`, `coverage`, `messages` and the keys of `transactions`. A unit of
/// one byte stands for control flits of ualink: 0 is idle, 1 is a remote fault. An end of ualink sends such units until it is up.
///
/// A passive end of cxl-68b checks a limit only if `config` sets it. If `retry_entries` is left out, the passive end uses
/// the value of the watched end's INIT.Param.
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
        let config = CapiEndConfig::read(&protocol, dir_of(dir)?, passive, &text)?;
        link.set(LINKS.insert(LinkHandle::new(config, Hooks::default())?)?);
        Ok(SP_OK)
    })
}

/// Puts a link end back to where sp_link_new left it; everything that was queued is gone. Coverage and hooks stay; hooks count their
/// items from 0 again.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_reset(link: u64) -> i32 {
    call(|| {
        LINKS.with(link, |link| {
            link.hooks.reset();
            let mut coverage = link.coverage.take();
            let of_active = link.active_coverage();
            *link = LinkHandle::new(link.config.clone(), link.hooks.clone())?;
            coverage.iter_mut().for_each(|coverage| coverage.restart(&of_active));
            link.coverage = coverage;
            Ok(SP_OK)
        })
    })
}

/// Queues a unit that arrives at a link end. At most one unit arrives in each direction in a flit clock. SP_RX is what
/// arrives at the end; for a passive end SP_TX is what the watched end sends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_drive(link: u64, port: u32, unit: *const u8, unit_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let unit = caller.items("unit", unit, unit_length)?;
        LINKS.with(link, |link| link.drive(port, unit).map(|()| SP_OK))
    })
}

/// Advances a link end by at most SP_MAX_STEPS flit clocks. In each of them, one queued unit of each direction arrives,
/// and an active end sends at most one. At most 65536 units that were sent wait to be sampled. At most 65536 events
/// wait; later ones are only counted.
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

/// Takes the oldest unit that the end has sent. Returns SP_EMPTY if none waits: a link may be silent in a flit clock.
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

/// Takes the oldest unit that the end has sent and compares `unit` with it; the end is the reference for a design that
/// sent `unit`. `mask` has a 1 for each bit that is compared; null compares all. Returns SP_FINDING if they
/// differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits.
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

/// Queues a message to be sent, in its JSON form. At most 65536 messages wait; the next one returns SP_ERR_RANGE. The
/// form depends on the protocol:
///
/// * CXL: `{"layout":..,"fields":{..}}`, with `data` (hex of the 64 bytes of a line) and `be` (byte enables, a number)
///   where the message has data. cxl-68b also takes `half`, `lower` or `upper`, for 32 bytes of data, and the 256B
///   modes take `metadata`, a number.
/// * nvlink: one object with `op`, `vc`, `tag`, `rid`, `size`, `ep`, `atag`, `address`, `attr`, `route`, `be` and
///   `data`
/// * ualink: a TL flit with `lower` and `upper` (hex of 32 bytes each) and `indicators` (0 to 3: bit 0 or 1 is set if
///   the lower or the upper half is a message). With `layer` = `tl` it is a request or a response, `{"layout":..,"fields":{..}}`
///   of `ualink.tl_req` or `ualink.tl_rsp`, with `data` (hex of 64 bytes for each beat), `be` (hex of 32 bytes, bit n for byte n of the
///   256-byte block) and `poisoned` (a number; bit n says that the bytes of beat n are invalid) where it has data. When such a link
///   goes down, all open requests are lost, and so is everything that is queued before it is up again
/// * cxl-io: `{"tlp":..}` with the bytes of a TLP of flit mode in hex, byte 0 first. At most 64 TLPs of a kind wait; the next one returns
///   SP_ERR_RANGE
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_send(link: u64, message: *const c_char, message_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let form = forms::parse(&caller.text("message", message, message_length)?)?;
        LINKS.with(link, |link| {
            link.end()?;
            link.send(CapiMessage::from_json(link.config.protocol, &form)?).map(|()| SP_OK)
        })
    })
}

/// Takes the oldest message that has arrived, in its JSON form, and returns its credit to the peer. Returns SP_EMPTY if
/// none waits.
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
            json.fill_text(&link.next()?.json().to_string())?;
            link.taken().map(|()| SP_OK)
        })
    })
}

/// Takes the oldest event:
/// `{"unit":..,"port":"rx","by":..,"severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`. Returns
/// SP_EMPTY if none waits. Rules of `transactions` also have `tag`, a number, where a request is concerned. `by` says who broke
/// the rule:
///
/// * `peer`: the other end of the link, by what it sent to this end
/// * `end`: the watched end, if this end is passive
/// * `line`: nobody; a unit was damaged or lost on the wire, and the link repairs it
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
            json.fill_text(&event.json().to_string())?;
            link.events.pop_front();
            Ok(SP_OK)
        })
    })
}

/// Gives state and counters of a link end as a JSON object: flit clocks, numbers of queued units and events,
/// comparisons and mismatches, and
///
/// * `halted`: id of the rule that stopped the link, or null
/// * `transactions`: which transactions are judged, as the configuration says, or null
/// * `up`, `quiet`, `wants_training`: for an active end, whether the link is up (it is not once it has stopped),
///   whether nothing is left to be sent or acknowledged, and whether the end requests link training
/// * `health`: an object with the figures of the end as far as the protocol has them: states of link and retry with the time in
///   each, flits, sequence numbers, replays, Naks, CRC errors, FEC repairs, duplicates, discarded flits, messages that wait and
///   credits of each channel. `scalepool list health` prints them with unit and meaning. A passive end has what the units of both
///   directions show.
/// * `coverage`: if `config` asks for it, what has passed since sp_link_new, resets included
/// * `bad_answers`, `bad_answer`: number of answers of hooks that were not allowed, and the first of them
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

/// Tells a link end that its physical layer begins to train (0) or is up again (1). An end of ualink treats
/// training as a fault of its line; nvlink has no such state in the model. Time spent in training does not count as waiting, so a
/// passive end has to be told, too, both when training begins and when it is over; `liveness_flits` starts again from there.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_train(link: u64, up: u32) -> i32 {
    call(|| {
        if up > 1 {
            return Err(Failure::range("up", up, "0 or 1"));
        }
        LINKS.with(link, |link| {
            match &mut link.part {
                LinkRole::Active(end) => end.train(up == 1)?,
                LinkRole::Passive(watch) => watch.train(up == 1),
                LinkRole::PassivePlain(_) => return Err(plain::without_training()),
            }
            Ok(SP_OK)
        })
    })
}

/// Tells a link end with `transactions` that the run has ended and no message is on its way. Each request of CXL.mem that still lacks
/// an answer becomes an event, once. Returns SP_FINDING if there is such a request; sp_last_error names the first.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_finish(link: u64) -> i32 {
    call(|| {
        LINKS.with(link, |link| {
            let events = link.judges.finish();
            let first = events.first().map(|CapiEvent { event: LinkEvent { violation, .. }, .. }| {
                let Violation { rule, at, found, expected, .. } = violation;
                format!("{rule}: {at}: found {found}, expected {expected}")
            });
            link.keep(events);
            first.map_or(Ok(SP_OK), |text| Err(Failure::new(SP_FINDING, text)))
        })
    })
}

/// Destroys a link end; its handle is invalid from then on.
#[unsafe(no_mangle)]
pub extern "C" fn sp_link_destroy(link: u64) -> i32 {
    call(|| LINKS.remove(link).map(|()| SP_OK))
}

/// `{"text":..}` of bytes that are data.
fn hex_of(value: &Value, at: &str) -> Result<Vec<u8>, FormError> {
    number::bytes_of(forms::text(value, at, "a string of hexadecimal digits")?, at)
}
