//! Ports of a run: units that pass are sampled and compared, units of an external end are driven.
//!
//! A port is a link end by its name in traces, `host.cxl`; SP_RX is what comes to it, SP_TX what it sends. A unit is what
//! travels in one flit clock: 68 bytes, 256 bytes, one flit of 16 bytes, 640 bytes.

use super::SIMS;
use crate::call::{Caller, call};
use crate::link::hook::way_of;
use crate::link::{compare, mask_of};
use crate::status::{Failure, SP_EMPTY, SP_ERR_KIND, SP_OK};
use scalepool::forms::FormError;
use scalepool::link::external::MAX_DRIVEN;
use scalepool::link::hook::{Hooks, Way};
use scalepool::link::sample::Sample;
use std::ffi::c_char;

/// Starts (1) or stops (0) watching one direction of a port; units that pass it from then on can be sampled. At most
/// 65536 units wait to be sampled; later ones are counted as lost. Units that wait already stay. Returns SP_ERR_INPUT
/// if there is no such port; sp_sim_state lists them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_watch(sim: u64, port: *const c_char, port_length: usize, way: u32, on: u32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let port = caller.text("port", port, port_length)?;
        let way = way_of(way)?;
        if on > 1 {
            return Err(Failure::range("on", on, "0 or 1"));
        }
        SIMS.with(sim, |sim| Ok(sim.port(&port)?.hooks.sample(way, on == 1).map(|()| SP_OK)?))
    })
}

/// The oldest unit of a watched wire, which is looked at and taken.
fn next(hooks: &Hooks, way: Way) -> Result<Sample, Failure> {
    match hooks.samples(way, |samples| samples.first().cloned())? {
        Some(sample) => Ok(sample),
        None if hooks.is_sampled(way) => Err(Failure::new(SP_EMPTY, "port: no unit waits")),
        None => Err(Failure::new(SP_ERR_KIND, "port: found a wire that is not watched, expected sp_sim_watch first")),
    }
}

/// Takes the oldest unit that passed a watched direction of a port, and the time at which it did. Transmitted units are
/// seen after all hooks, received units after all hooks and faults. Returns SP_EMPTY if no unit waits, and SP_ERR_KIND
/// if the direction is not watched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_sample(
    sim: u64,
    port: *const c_char,
    port_length: usize,
    way: u32,
    time_fs: *mut u64,
    unit: *mut u8,
    unit_capacity: usize,
    unit_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let time_fs = caller.place("time_fs", time_fs)?;
        let unit = caller.buffer("unit", unit, unit_capacity, unit_length)?;
        let port = caller.text("port", port, port_length)?;
        let way = way_of(way)?;
        SIMS.with(sim, |sim| {
            let hooks = &sim.port(&port)?.hooks;
            let sample = next(hooks, way)?;
            unit.fill(&sample.unit)?;
            time_fs.set(sample.t_fs);
            hooks.samples(way, |samples| samples.take())?;
            Ok(SP_OK)
        })
    })
}

/// Takes the oldest unit that passed a watched direction of a port and compares `unit` with it, as sp_link_expect does.
/// Returns SP_FINDING if they differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits, and
/// SP_ERR_KIND if the direction is not watched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_expect(
    sim: u64,
    port: *const c_char,
    port_length: usize,
    way: u32,
    unit: *const u8,
    mask: *const u8,
    unit_length: usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let port = caller.text("port", port, port_length)?;
        let way = way_of(way)?;
        let found = caller.items("unit", unit, unit_length)?;
        let mask = mask_of(&caller, mask, found.len())?;
        SIMS.with(sim, |sim| {
            let of = sim.port(&port)?;
            check_unit(of.unit_bytes, found.len())?;
            let sample = next(&of.hooks, way)?;
            of.hooks.samples(way, |samples| samples.take())?;
            compare(&format!("{port} at {} fs", sample.t_fs), &found, &sample.unit, &mask)
        })
    })
}

fn check_unit(unit_bytes: usize, found: usize) -> Result<(), Failure> {
    if found == unit_bytes {
        return Ok(());
    }
    Err(FormError::new("unit", format!("{found} bytes"), format!("{unit_bytes}")).into())
}

/// Drives the external port, which the key `external` of the text names. Units leave in order, one in each flit clock;
/// in a flit clock in which none waits, nothing is sent. At most 65536 units wait. The caller stands for the link end
/// at this port: the model does not build one, and it only answers the link training of the peer. Returns SP_ERR_KIND
/// if the port is not external.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_drive(
    sim: u64,
    port: *const c_char,
    port_length: usize,
    unit: *const u8,
    unit_length: usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let port = caller.text("port", port, port_length)?;
        let unit = caller.items("unit", unit, unit_length)?;
        SIMS.with(sim, |sim| {
            let port = sim.port(&port)?;
            let Some(feed) = &port.feed else {
                let text = format!("port: found {}, which the model drives, expected one that is external", port.name);
                return Err(Failure::new(SP_ERR_KIND, text));
            };
            check_unit(port.unit_bytes, unit.len())?;
            if !feed.drive(unit) {
                return Err(Failure::range("driven units", MAX_DRIVEN, format!("fewer than {MAX_DRIVEN}")));
            }
            Ok(SP_OK)
        })
    })
}
