//! Hooks at the ports of a run: as [`crate::link::hook`], with the name of a port.
//!
//! Modelled: the same points, answers and faults, at every link end of a scenario that is a port. Hooks belong to the
//! handle: a reset, or a run that begins anew, keeps them and counts their items anew.

use super::SIMS;
use super::run::Sim;
use crate::call::{Caller, call};
use crate::link::hook::{SpHook, asks, way_of};
use crate::status::{Failure, SP_ERR_KIND, SP_OK};
use scalepool::link::fault::Fault;
use scalepool::link::hook::{HookError, HookPoint};
use scalepool::link::sim_port::SimPort;
use std::ffi::{c_char, c_void};

impl Sim {
    /// A port that has this point.
    fn port_with(&mut self, name: &str, point: HookPoint) -> Result<&SimPort, Failure> {
        let port = self.port(name)?;
        if port.channel.is_some() {
            let text = format!("port: found {name}, a channel of messages, expected the end of a link");
            return Err(Failure::new(SP_ERR_KIND, text));
        }
        if port.feed.is_some() && point != HookPoint::Wire {
            let text = format!("hook point: found {} of {name}, which is external, expected wire", point.name());
            return Err(Failure::new(SP_ERR_KIND, text));
        }
        Ok(port)
    }
}

/// Attaches a callback to a hook point of a port, as sp_hook_attach does to one of a link end. `hook` receives the
/// number to pass to sp_sim_hook_detach. Returns SP_ERR_KIND in a run of several threads, since callbacks run in the
/// thread of the call, and for an external port at any point but `wire`. Answers that are not allowed change nothing;
/// sp_sim_state counts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_hook_attach(
    sim: u64,
    port: *const c_char,
    port_length: usize,
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
        let port = caller.text("port", port, port_length)?;
        let point = HookPoint::of(&caller.text("point", point, point_length)?)?;
        let way = way_of(way)?;
        let ask = asks(function, user)?;
        SIMS.with(sim, |sim| {
            if sim.request.threads > 1 {
                let text = format!("threads: found {}, expected 1 for a callback at a hook point", sim.request.threads);
                return Err(Failure::new(SP_ERR_KIND, text));
            }
            hook.set(sim.port_with(&port, point)?.hooks.attach(point, way, ask)?);
            Ok(SP_OK)
        })
    })
}

/// Attaches a fault to a hook point of a port, as sp_hook_fault does to one of a link end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_hook_fault(
    sim: u64,
    port: *const c_char,
    port_length: usize,
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
        let port = caller.text("port", port, port_length)?;
        let point = HookPoint::of(&caller.text("point", point, point_length)?)?;
        let way = way_of(way)?;
        let fault = caller.text("fault", fault, fault_length)?;
        SIMS.with(sim, |sim| {
            let port = sim.port_with(&port, point)?;
            let fault = Fault::parse(&fault, port.unit_bytes).map_err(HookError::from)?;
            hook.set(port.hooks.attach_fault(point, way, fault)?);
            Ok(SP_OK)
        })
    })
}

/// Detaches a hook from a port. Returns SP_ERR_RANGE if the port has no hook of this number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_hook_detach(sim: u64, port: *const c_char, port_length: usize, hook: u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let port = caller.text("port", port, port_length)?;
        SIMS.with(sim, |sim| match sim.port(&port)?.hooks.detach(hook)? {
            true => Ok(SP_OK),
            false => Err(Failure::range("hook", hook, "one that is attached to this port")),
        })
    })
}
