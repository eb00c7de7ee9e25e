//! Hooks of link ends: callbacks and faults at the points of [`scalepool::link::hook`].
//!
//! Modelled: what the Rust side has, with a function and a pointer of the caller in place of a closure, and faults as a
//! text for those who cannot pass functions. Hooks belong to the handle: a reset keeps them and counts their items anew.
//! Hooks at the ports of a simulation are in [`crate::sim::hook`].

use super::protocol::CapiProtocol;
use super::{LINKS, LinkHandle, LinkRole, SP_RX, SP_TX};
use crate::call::{Caller, call};
use crate::status::{Failure, SP_ERR_BUSY, SP_ERR_INPUT, SP_ERR_KIND, SP_ERR_NULL, SP_OK};
use scalepool::link::fault::Fault;
use scalepool::link::hook::{Direction, HookAnswer, HookError, HookItem, HookPoint, Hooks};
use scalepool::link::protocol::LinkProtocol;
use std::ffi::{CString, c_char, c_void};

/// The item passes unchanged.
pub const SP_HOOK_KEEP: u32 = 0;
/// The item is dropped.
pub const SP_HOOK_DROP: u32 = 1;
/// The item is replaced with the bytes in `other`.
pub const SP_HOOK_REPLACE: u32 = 2;
/// The item is held back in this flit clock and offered again in the next one.
pub const SP_HOOK_HOLD: u32 = 3;

/// Callback of a hook point. It sees each item that passes and answers with one of SP_HOOK_*; any other number is taken
/// for SP_HOOK_KEEP. `point` is a position in the list packer_in, packer_out, credit, replay_in, replay_out, wire.
/// `way` is the direction, SP_RX or SP_TX. `number` counts the items of the point from 0. `name` is the name of a
/// layout or a protocol, or `credit`.
/// `bytes` and `other` have `length` bytes each; `other` holds a copy that the callback may change for SP_HOOK_REPLACE.
/// All pointers but `user` are valid during the call only.
///
/// The callback runs inside sp_link_step, sp_link_send, sp_sim_step or sp_sim_run, in the thread of that call. It may
/// call any function, but those on its own handle return SP_ERR_BUSY. It has to return: no longjmp, C++ exception or
/// panic may leave it.
pub type SpHook = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        point: u32,
        way: u32,
        flit_clock: u64,
        number: u64,
        name: *const c_char,
        bytes: *const u8,
        other: *mut u8,
        length: usize,
    ) -> u32,
>;

impl From<HookError> for Failure {
    fn from(error: HookError) -> Failure {
        let status = match error {
            HookError::Point { .. } | HookError::Fault(_) => SP_ERR_INPUT,
            HookError::Busy => SP_ERR_BUSY,
            HookError::Answer { .. } | HookError::Length { .. } => SP_ERR_KIND,
        };
        Failure::new(status, error.to_string())
    }
}

/// The way of a number.
pub(crate) fn way_of(way: u32) -> Result<Direction, Failure> {
    match way {
        SP_RX => Ok(Direction::Rx),
        SP_TX => Ok(Direction::Tx),
        _ => Err(Failure::range("way", way, "SP_RX or SP_TX")),
    }
}

impl LinkHandle {
    /// Its hooks, at a point that it has.
    fn hooks_at(&mut self, point: HookPoint) -> Result<&Hooks, Failure> {
        let has = match (&self.part, self.config.protocol, point) {
            (_, _, HookPoint::Wire) => true,
            (LinkRole::Passive(..) | LinkRole::PassivePlain(..), ..) => false,
            // Plain flits have no other hook points.
            (LinkRole::Active(_), ..) if self.config.plain_flits => false,
            // What its credits are, the caller's transaction layer knows alone.
            (LinkRole::Active(_), CapiProtocol::Link(LinkProtocol::Ualink), HookPoint::Credit) => false,
            (LinkRole::Active(_), ..) => true,
        };
        if !has {
            let end = if self.config.passive { "passive" } else { "active" };
            let found = format!(
                "hook point: found {} of a{} {end} end",
                point.name(),
                if self.config.passive { "" } else { "n" }
            );
            return Err(Failure::new(
                SP_ERR_KIND,
                format!("{found} of {}, expected one that it has", self.config.protocol.name()),
            ));
        }
        if !self.hooks.is_some() {
            self.hooks = Hooks::new();
            self.part.attach_hooks(&self.hooks);
        }
        Ok(&self.hooks)
    }
}

/// The pointer of the caller, as a number: nothing here follows it.
struct User(usize);

/// What asks a function of the caller.
pub(crate) fn asks(
    function: SpHook,
    user: *mut c_void,
) -> Result<impl FnMut(&HookItem<'_>) -> HookAnswer + Send + 'static, Failure> {
    let function = function.ok_or_else(|| Failure::new(SP_ERR_NULL, "function: found a null pointer"))?;
    let user = User(user as usize);
    Ok(move |item: &HookItem<'_>| {
        let user = &user;
        let name = CString::new(item.name).unwrap_or_default();
        let mut other = item.bytes.to_vec();
        // SAFETY: a function of the caller, who promises that it is one of this type and that it returns; the pointers
        // are of memory that outlives the call.
        let answer = unsafe {
            function(
                user.0 as *mut c_void,
                item.point as u32,
                item.way as u32,
                item.now_flits,
                item.number,
                name.as_ptr(),
                item.bytes.as_ptr(),
                other.as_mut_ptr(),
                item.bytes.len(),
            )
        };
        match answer {
            SP_HOOK_DROP => HookAnswer::Drop,
            SP_HOOK_REPLACE => HookAnswer::Replace(other),
            SP_HOOK_HOLD => HookAnswer::Hold,
            _ => HookAnswer::Keep,
        }
    })
}

/// Attaches a callback to a hook point of a link end: `packer_in`, `packer_out`, `credit`, `replay_in`, `replay_out` or
/// `wire`. `way` is the direction: SP_RX for what arrives at the end, SP_TX for what it sends. `hook` receives the number
/// to pass to sp_hook_detach. `user` is passed to the callback unchanged. Each point shows these items and allows these
/// answers beside SP_HOOK_KEEP:
///
/// * `packer_in` SP_TX: a message that was queued; drop, replace. SP_RX: a payload flit to unpack
/// * `packer_out` SP_TX: a new payload flit; drop, replace. SP_RX: a message that was unpacked; drop, replace
/// * `credit` SP_TX: credits that wait to be returned, 8 bytes, lowest first; hold. SP_RX: credits that arrived; drop,
///   replace
/// * `replay_in` SP_TX: a flit that is kept for replay; replace. SP_RX: a flit before it is judged; drop, replace
/// * `replay_out` SP_TX: a flit that is sent again; drop, replace. SP_RX: a flit that was accepted
/// * `wire`: a unit that is sent or arrives; drop, replace. A passive end has this point only.
///
/// Returns SP_ERR_KIND if the end has no such point (ualink has no `credit`: its credits are up to the caller). An
/// answer that is not allowed changes nothing; sp_link_state counts it in `bad_answers` and shows the first one as
/// `bad_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_hook_attach(
    link: u64,
    point: *const c_char,
    point_length: usize,
    way: u32,
    function: SpHook,
    user: *mut c_void,
    hook: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let hook = caller.place("hook", hook)?;
        let point = HookPoint::of(&caller.text("point", point, point_length)?)?;
        let way = way_of(way)?;
        let ask = asks(function, user)?;
        LINKS.with(link, |link| {
            hook.set(link.hooks_at(point)?.attach(point, way, ask)?);
            Ok(SP_OK)
        })
    })
}

/// Attaches a fault to a hook point of a link end. `fault` is written as for the setting `link.fault` of scenarios:
/// `flip:N:BIT`, `noise:N`, `drop:N`, `dup:N` or `vanish:N`, where N counts the items of the point from 0. On the wire,
/// `drop` leaves a damaged unit in its place. At the other points `drop` and `vanish` take the item away, and `dup` is
/// refused. Returns SP_ERR_KIND if the point does not allow the fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_hook_fault(
    link: u64,
    point: *const c_char,
    point_length: usize,
    way: u32,
    fault: *const c_char,
    fault_length: usize,
    hook: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let hook = caller.place("hook", hook)?;
        let point = HookPoint::of(&caller.text("point", point, point_length)?)?;
        let way = way_of(way)?;
        let fault = caller.text("fault", fault, fault_length)?;
        LINKS.with(link, |link| {
            let fault = Fault::parse(&fault, link.config.protocol.unit_bytes()).map_err(HookError::from)?;
            if link.config.passive {
                return Err(Failure::new(SP_ERR_KIND, "link end: found a passive one, expected an active one"));
            }
            hook.set(link.hooks_at(point)?.attach_fault(point, way, fault)?);
            Ok(SP_OK)
        })
    })
}

/// Detaches a hook. Returns SP_ERR_RANGE if the end has no hook of this number.
#[unsafe(no_mangle)]
pub extern "C" fn sp_hook_detach(link: u64, hook: u64) -> i32 {
    call(|| {
        LINKS.with(link, |link| {
            if link.hooks.is_some() && link.hooks.detach(hook)? {
                return Ok(SP_OK);
            }
            Err(Failure::range("hook", hook, "one that is attached to this end"))
        })
    })
}
