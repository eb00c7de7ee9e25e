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

/// Point of a bridge where a message enters it on the requesting side: a request, when the bridge has accepted it and looked up its
/// line; or the answer of a holder of lines to a snoop of the bridge.
pub const SP_BRIDGE_REQUEST: u32 = 0;
/// Point of a bridge where a message leaves it on the other side: what a request was converted to, with a tag of the bridge; or the
/// answer of the bridge to a snoop of a host, or the data that a host pulls, both under the UQID of the host.
pub const SP_BRIDGE_SENT: u32 = 1;
/// Point of a bridge where a message enters it on the other side: the answer to a message that the bridge sent, or a snoop of a host.
pub const SP_BRIDGE_ANSWER: u32 = 2;
/// Point of a bridge where a message leaves it on the requesting side: the response to a request, or a snoop of the bridge for the
/// holders of its lines.
pub const SP_BRIDGE_RESPONSE: u32 = 3;

/// The bridge behind a handle.
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

/// Makes one direction of a bridge, with no transaction open. With `watches` 0 it is the reference model, which converts messages;
/// with 1 it is a scoreboard, which compares a bridge with the reference model. `config` is a JSON object; the first line of each
/// file of `scalepool export conversions` is an example. Its keys are:
///
/// * `protocol`: `ualink` or `nvlink`
/// * `direction`: `outbound` from accelerators to CXL, or `inbound` from CXL to accelerators
/// * `own`: number of the bridge among the accelerators
/// * `windows`: address windows, each with `class`, `base`, `size`, `out_base`, `targets`, `granule` and `rights`
/// * `groups`, `entries`, `write_buffers`: groups of sources, number of open transactions, number of write buffers
/// * `order`: `blocks` or `sources`
/// * `io_ack`: when a write to a window of class IO is answered, `flush` or `sent`
/// * `single_beat`: for UALink, true if a read of several lines is answered line by line
/// * `host_ports`: numbers of the CXL ports, side by side, that lead to hosts (default: the ports of windows of class CC)
/// * `control`: for outbound, the registers: `base`, their first address, and `ports`, the class of each CXL port, MN, MC, CC or IO
/// * `cache`: the conversion cache
/// * `ports`: for inbound, the ports to accelerators, interleaved by blocks of 256 bytes
/// * `home`: for windows of class DB, which the bridge keeps coherent: `holders` (for each CXL port, the SPIDs or LD-IDs of those that may
///   hold lines), `filter_entries`, `filter_ways` and `recalls`
/// * `hairpin`: for windows of class DB, the access of accelerators to these lines: `windows` of class HP, `groups`, `entries`,
///   `write_buffers` and `order`. With it, requests of hosts and of accelerators both enter at SP_BRIDGE_REQUEST, with port numbers of
///   their own.
/// * `credits`: for a scoreboard, the credit pools that it counts, each with `point` (`request`, `sent`, `answer` or `response`), `port`,
///   `class`, `vchan` and `depth`, the number of buffers of the receiver. `vchan` is left out for CXL; for UALink it is 0 to 3, or
///   left out for the common pool; for NVLink it is 0 to 7. `class` is, for CXL.mem, `m2s_req`, `m2s_rwd`, `m2s_birsp`,
///   `s2m_ndr`, `s2m_drs` or `s2m_bisnp`; for CXL.cache (outbound), `d2h_req`, `d2h_rsp`, `d2h_data`, `h2d_req`, `h2d_rsp` or `h2d_data`; for
///   UALink, `request`, `request_data`, `response` or `response_data`, with data counted in beats; for NVLink, `header`
///   or `data`, with data counted in data flits.
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

/// Passes a message to the bridge. `point` is one of SP_BRIDGE_*. The reference model takes messages at SP_BRIDGE_REQUEST and
/// SP_BRIDGE_ANSWER; a scoreboard takes the messages of all four points, in the order in which they pass. `port` is the number of the
/// port or link on that side, from 0. `json` is a message in the form of the files of `scalepool export conversions`. Pass a request
/// once the bridge under test has accepted it and looked up its line, since the model looks it up at once. Returns SP_FULL if the
/// model has no free entry for a request, which is then not taken; for a scoreboard that is a finding. Returns SP_FINDING as long
/// as sp_bridge_finding has a finding to give.
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

/// Commits new windows and groups of sources to an outbound bridge, in place of the previous ones. `json` is an object with `windows`
/// and `groups`, as in sp_bridge_new. Returns SP_OK if they are valid now. Returns SP_FULL if requests to the old windows are still
/// open. The commit is then taken and waits for the last of their responses: until that response has left, the model returns SP_FULL
/// for every request, and for a scoreboard a request is a finding; the scoreboard counts the responses that are passed to it. Returns
/// SP_ERR_INPUT for windows that are not allowed, for an inbound bridge, while another commit waits, and, with a `cache`, for windows
/// that lead an address of class MN to another port than before.
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

/// Tells a scoreboard that credits were given to the sender of the messages at a point. Call it in the order in which credits and
/// messages pass. `json` is an object with `point`, `port`, `class`, `vchan` and `count` (1 if left out), for a pool that the
/// configuration of the scoreboard names; initial credits are passed in the same way. A message without a credit is a finding when it
/// passes (BRG-CRD-01). More credits than buffers are a finding at once, or at the end in the case of requests (BRG-CRD-02). Credits
/// that have not been returned at the end are a finding, too (BRG-CRD-03). Returns SP_FINDING as long as there is a finding to take,
/// and SP_ERR_INPUT for an unknown pool and for the reference model.
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

/// Ends the run of a scoreboard: each message that has not left and each open request becomes a finding. Returns SP_FINDING if there
/// is a finding.
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
