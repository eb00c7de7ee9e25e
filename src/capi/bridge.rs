//! The bridge between UALink or NVLink and CXL: a reference model, and a scoreboard for a bridge in RTL.
//!
//! Modelled: nothing of its own; [`scalepool::conversion`] converts and judges. Left out: time and flits: messages pass when
//! they are given in.
//!
//! A walk: a request is passed to the model, and `sp_bridge_next` gives what it sends; the answer of memory is passed, and
//! `sp_bridge_next` gives the response. A scoreboard gets all four, and `sp_bridge_finding` tells what the bridge did otherwise.

use super::call::{Caller, call};
use super::status::{Failure, SP_EMPTY, SP_ERR_INPUT, SP_FINDING, SP_FULL, SP_OK};
use super::table::ObjectTable;
use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge, ReferenceError};
use scalepool::conversion::scoreboard::{BridgeScoreboard, ScoreboardFinding};
use scalepool::forms::{FormError, parse};
use std::collections::VecDeque;
use std::ffi::c_char;

/// A request is accepted by the bridge, behind the lookup of its line; or one who holds a line answers a snoop of the bridge.
pub const SP_BRIDGE_REQUEST: u32 = 0;
/// What the request was converted to leaves the bridge on its other side, with a tag of the bridge; or its answer to a snoop of a host, or data that a
/// host pulls, both under the UQID of the host.
pub const SP_BRIDGE_SENT: u32 = 1;
/// An answer to that comes to the bridge, or a snoop.
pub const SP_BRIDGE_ANSWER: u32 = 2;
/// The response to the request leaves the bridge, or a snoop of those that hold its lines.
pub const SP_BRIDGE_RESPONSE: u32 = 3;

/// A bridge of a caller.
pub(crate) enum Role {
    /// It converts.
    Reference {
        bridge: Box<ReferenceBridge>,
        /// What it has made and nobody has taken.
        made: VecDeque<BridgeEvent>,
        findings: VecDeque<ScoreboardFinding>,
        passed: u64,
    },
    /// It judges.
    Watch(Box<BridgeScoreboard>),
}

pub(crate) static BRIDGES: ObjectTable<Role> = ObjectTable::new(5, "bridge");

pub(crate) fn wrong(error: FormError) -> Failure {
    Failure::new(SP_ERR_INPUT, error.to_string())
}

fn refused(error: ReferenceError) -> Failure {
    let is_full = matches!(error, ReferenceError::Full | ReferenceError::Epoch);
    let status = if is_full { SP_FULL } else { SP_ERR_INPUT };
    Failure::new(status, error.to_string())
}

/// The point of a number.
pub(crate) fn point_of(point: u32) -> Result<BridgePoint, Failure> {
    let known = BridgePoint::ALL.get(point as usize).copied();
    known.ok_or_else(|| Failure::range("point", point, "one of SP_BRIDGE_*, 0 to 3"))
}

impl Role {
    pub(crate) fn finding(&self) -> Option<&ScoreboardFinding> {
        match self {
            Role::Reference { findings, .. } => findings.front(),
            Role::Watch(scoreboard) => scoreboard.finding(),
        }
    }

    pub(crate) fn drop_finding(&mut self) {
        match self {
            Role::Reference { findings, .. } => {
                findings.pop_front();
            }
            Role::Watch(scoreboard) => scoreboard.drop_finding(),
        }
    }

    /// Whether there is something to tell.
    fn verdict(&self) -> Result<i32, Failure> {
        match self.finding() {
            Some(first) => Err(Failure::new(
                SP_FINDING,
                format!("{}: found {}, expected {}", first.rule, first.found, first.expected),
            )),
            None => Ok(SP_OK),
        }
    }

    pub(crate) fn pass(&mut self, event: &BridgeEvent) -> Result<i32, Failure> {
        match self {
            Role::Watch(scoreboard) => scoreboard.pass(event).map_err(refused)?,
            Role::Reference { bridge, made, findings, passed } => {
                let followed = match event.point {
                    BridgePoint::Request => bridge.request(event.port, &event.message),
                    BridgePoint::Answer => bridge.answer(event.port, &event.message),
                    _ => {
                        let found = event.point.name();
                        let expected = "SP_BRIDGE_REQUEST or SP_BRIDGE_ANSWER: the model makes the others";
                        return Err(Failure::range("point", found, expected));
                    }
                };
                made.extend(followed.map_err(refused)?);
                findings.extend(bridge.take_findings().into_iter().map(|finding| ScoreboardFinding {
                    rule: finding.rule,
                    message: *passed,
                    found: finding.found,
                    expected: finding.expected,
                }));
                *passed += 1;
            }
        }
        self.verdict()
    }
}

/// Makes one half of a bridge with nothing under way. `config` is a JSON object: `protocol` (`ualink` or `nvlink`), `direction`
/// (`outbound` from accelerators to CXL, `inbound` from CXL to accelerators), `own` (number of the bridge among accelerators),
/// `windows` (each with `class`, `base`, `size`, `out_base`, `targets`, `granule`, `rights`), `groups`, `entries`, `write_buffers`,
/// `order` (`blocks` or `sources`), `io_ack` (`flush` or `sent`: when writes of windows of class IO are answered), `single_beat` (UALink, true: a read
/// of several lines is answered line by line), `host_ports` (CXL ports, side by side, that lead to hosts; left out: those of windows of class CC), `control` (outbound: the registers, with `base`, their first address, and `ports`, the class MN, MC, CC or IO of each CXL port), `cache`, `ports` (inbound: ports by which accelerators are asked, by block of 256 bytes).
/// With windows of class DB, which the bridge keeps coherent, also `home` (`holders`: SPID or LD-ID of who holds lines, by CXL port;
/// `filter_entries`, `filter_ways`, `recalls`) and `hairpin`, by which accelerators ask for these lines (`windows` of class HP, `groups`,
/// `entries`, `write_buffers`, `order`): then both come at SP_BRIDGE_REQUEST, with port numbers of their own. The first
/// line of each file of `scalepool export conversions` has one. A scoreboard also takes `credits`: pools whose credits it counts, each with
/// `point` (`request`, `sent`, `answer`, `response`), `port`, `class`, `vchan` (CXL has none;
/// UALink 0 to 3, left out: the common pool; NVLink 0 to 7) and `depth`,
/// the buffers of the receiver. Classes are those of a message of CXL.mem (`m2s_req`, `m2s_rwd`, `m2s_birsp`, `s2m_ndr`, `s2m_drs`,
/// `s2m_bisnp`) or, outbound, of CXL.cache (`d2h_req`, `d2h_rsp`, `d2h_data`, `h2d_req`, `h2d_rsp`, `h2d_data`); of UALink `request`, `request_data`, `response`, `response_data`, data in beats; of NVLink `header` and `data`, in data flits.
/// With `watches` 0 it is the model itself, which converts; with 1 it is a scoreboard, which compares a bridge with the model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_new(
    config: *const c_char,
    config_length: usize,
    watches: u32,
    bridge: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let bridge = caller.place("bridge", bridge)?;
        let config = parse(&caller.text("config", config, config_length)?).map_err(wrong)?;
        let config = ReferenceConfig::from_json(&config).map_err(wrong)?;
        let role = match watches {
            0 if !config.credits.is_empty() => {
                let expected = "none: the model sends nothing through a link";
                return Err(Failure::range("credits", "pools of a model", expected));
            }
            0 => Role::Reference {
                bridge: Box::new(ReferenceBridge::new(config)),
                made: VecDeque::new(),
                findings: VecDeque::new(),
                passed: 0,
            },
            1 => Role::Watch(Box::new(BridgeScoreboard::new(config))),
            _ => return Err(Failure::range("watches", watches, "0 or 1")),
        };
        bridge.set(BRIDGES.insert(role)?);
        Ok(SP_OK)
    })
}

/// Gives a message to the bridge. `point` is one of SP_BRIDGE_*; the model takes requests and answers, a scoreboard takes all
/// four, in the order in which they pass. `port` counts the ports or links of that side from 0. `json` is a message as the files
/// of `scalepool export conversions` have them. A request passes when the bridge has accepted it behind the lookup of its line, since
/// the model looks it up at once. Returns SP_FULL if the model has no entry for a request, which it then has not taken; for a
/// scoreboard that is a finding. Returns SP_FINDING as long as there is a finding to be taken by sp_bridge_finding.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_pass(
    bridge: u64,
    point: u32,
    port: u32,
    json: *const c_char,
    json_length: usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let point = point_of(point)?;
        let form = parse(&caller.text("json", json, json_length)?).map_err(wrong)?;
        let message = BridgeMessage::from_json(&form).map_err(wrong)?;
        BRIDGES.with(bridge, |role| role.pass(&BridgeEvent { point, port: port as usize, message }))
    })
}

/// Commits new windows and groups of sources to a half from accelerators to CXL, in place of those before. `json` is an object with
/// `windows` and `groups` as sp_bridge_new has them. Returns SP_OK if they are valid now. Returns SP_FULL if requests under the old windows
/// have still to be answered: the commit is taken, and until the last of their responses has left the model returns SP_FULL for a request,
/// and for a scoreboard one is a finding; it counts the responses that have been passed to it. Returns SP_ERR_INPUT for windows that cannot be,
/// for the other half, while a commit waits, and with a `cache` for windows that lead an address of class MN by another port than before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_commit(bridge: u64, json: *const c_char, json_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let form = parse(&caller.text("json", json, json_length)?).map_err(wrong)?;
        BRIDGES.with(bridge, |role| {
            let is_valid = match role {
                Role::Reference { bridge, .. } => bridge.commit(&form),
                Role::Watch(scoreboard) => scoreboard.commit(&form),
            };
            if is_valid.map_err(wrong)? {
                return Ok(SP_OK);
            }
            Err(Failure::new(SP_FULL, "bridge: requests under the old windows are under way"))
        })
    })
}

/// Credits are given to the sender of the messages at a point, in the order in which that is seen among the messages. `json` is an object with
/// `point`, `port`, `class`, `vchan` and `count` (1 if left out), of a pool that the configuration of the scoreboard names; initial
/// credits are told like any others. A message without a credit is a finding when it passes (BRG-CRD-01), more credits than buffers are one at
/// once, of requests at the end (BRG-CRD-02), and so are credits that are not back then (BRG-CRD-03). Returns SP_FINDING as long as there is a
/// finding, SP_ERR_INPUT for credits of no such pool, and for the model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_credit(bridge: u64, json: *const c_char, json_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let form = parse(&caller.text("json", json, json_length)?).map_err(wrong)?;
        BRIDGES.with(bridge, |role| {
            let Role::Watch(scoreboard) = role else {
                return Err(Failure::range("bridge", "a model", "a scoreboard: a model has no credits"));
            };
            scoreboard.credit(&form).map_err(wrong)?;
            role.verdict()
        })
    })
}

/// Takes the next message that the model has made, with its point, SP_BRIDGE_SENT or SP_BRIDGE_RESPONSE, and its port. Returns
/// SP_EMPTY if there is none; a scoreboard makes none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_next(
    bridge: u64,
    point: *mut u32,
    port: *mut u32,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (point, port) = (caller.place("point", point)?, caller.place("port", port)?);
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        BRIDGES.with(bridge, |role| {
            let empty = || Failure::new(SP_EMPTY, "bridge: no message has been made");
            let Role::Reference { made, .. } = role else { return Err(empty()) };
            let event = made.front().ok_or_else(empty)?;
            let status = json.fill_text(&event.message.to_json().to_string())?;
            point.set(event.point as u32);
            port.set(event.port as u32);
            made.pop_front();
            Ok(status)
        })
    })
}

/// Takes the next finding as a JSON object with `rule`, `message` (its number among those that have passed, from 0), `found` and
/// `expected`. Returns SP_EMPTY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_finding(
    bridge: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        BRIDGES.with(bridge, |role| {
            let Some(finding) = role.finding() else {
                return Err(Failure::new(SP_EMPTY, "bridge: nothing has been found"));
            };
            let status = json.fill_text(&finding.to_json().to_string())?;
            role.drop_finding();
            Ok(status)
        })
    })
}

/// Ends the run of a scoreboard: what has not left and what is open are findings now. Returns SP_FINDING if there is a finding.
#[unsafe(no_mangle)]
pub extern "C" fn sp_bridge_finish(bridge: u64) -> i32 {
    call(|| {
        BRIDGES.with(bridge, |role| {
            if let Role::Watch(scoreboard) = role {
                scoreboard.finish();
            }
            role.verdict()
        })
    })
}

/// Destroys a bridge; its handle is invalid from then on.
#[unsafe(no_mangle)]
pub extern "C" fn sp_bridge_destroy(bridge: u64) -> i32 {
    call(|| BRIDGES.remove(bridge).map(|()| SP_OK))
}
