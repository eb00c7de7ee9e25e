//! Ports of a run: units that pass are sampled and compared, units and messages of external components are driven.
//!
//! A port is a link end by its name in traces, `host.cxl`; SP_RX is what comes to it, SP_TX what it sends. A unit is what
//! travels in one flit clock: 68 bytes, 256 bytes, one flit of 16 bytes, 640 bytes. Of a component that is external by its
//! messages each channel is a port too, `host.cxl.m2s_req`: its units are messages, which either arrive or are driven.

use super::SIMS;
use crate::call::{Caller, call};
use crate::link::hook::way_of;
use crate::link::{compare, mask_of};
use crate::status::{Failure, SP_EMPTY, SP_ERR_INPUT, SP_ERR_KIND, SP_FULL, SP_OK};
use scalepool::forms::FormError;
use scalepool::link::external::MAX_DRIVEN;
use scalepool::link::hook::Direction;
use scalepool::link::mailbox::{MAX_MESSAGES, MailboxChannel, MailboxDirection};
use scalepool::link::sample::WireSample;
use scalepool::link::sim_port::SimPort;
use std::ffi::c_char;

/// Starts (1) or stops (0) watching one direction of a port; units that pass it from then on can be sampled. At most
/// 65536 units wait to be sampled; later ones are counted as lost. When watching stops, waiting units stay. Returns
/// SP_ERR_INPUT if there is no such port; sp_sim_state lists the ports. Returns SP_ERR_KIND for a channel of messages,
/// whose messages can be sampled without this call.
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
        SIMS.with(sim, |sim| {
            let port = sim.port(&port)?;
            if port.channel.is_some() {
                let text = format!("port: found {}, a channel of messages, expected the end of a link", port.name);
                return Err(Failure::new(SP_ERR_KIND, text));
            }
            Ok(port.hooks.sample(way, on == 1).map(|()| SP_OK)?)
        })
    })
}

/// A channel whose messages flow this way; otherwise the error names those of its port that do.
fn flows<'a>(
    port: &SimPort,
    channel: &'a MailboxChannel,
    flow: MailboxDirection,
) -> Result<&'a MailboxChannel, Failure> {
    if channel.flow == flow {
        return Ok(channel);
    }
    let (found, expected) = match channel.flow {
        MailboxDirection::Sent => ("which the component sends", "that arrive for it"),
        MailboxDirection::Arriving => ("which arrive for the component", "that it sends"),
    };
    let end = port.name.rsplit_once('.').map_or("", |(end, _)| end);
    let names = channel.names(flow);
    let text = format!("port: found messages of {}, {found}, expected those of {end} {expected}: {names}", port.name);
    Err(Failure::new(SP_ERR_KIND, text))
}

/// The oldest unit of a watched wire, or message that arrived, which is looked at and taken.
fn next(port: &SimPort, way: Direction) -> Result<WireSample, Failure> {
    let none = || Failure::new(SP_EMPTY, "port: no unit waits");
    if let Some(channel) = &port.channel {
        if way == Direction::Tx {
            let text = format!("way: found SP_TX of {}, a channel of messages, expected SP_RX", port.name);
            return Err(Failure::new(SP_ERR_KIND, text));
        }
        return flows(port, channel, MailboxDirection::Arriving)?.first().ok_or_else(none);
    }
    let hooks = &port.hooks;
    match hooks.samples(way, |samples| samples.first().cloned())? {
        Some(sample) => Ok(sample),
        None if hooks.is_sampled(way) => Err(none()),
        None => Err(Failure::new(SP_ERR_KIND, "port: found a wire that is not watched, expected sp_sim_watch first")),
    }
}

/// Takes what [`next`] has looked at.
fn take(port: &SimPort, way: Direction) -> Result<Option<WireSample>, Failure> {
    match &port.channel {
        Some(channel) => Ok(channel.take()),
        None => Ok(port.hooks.samples(way, |samples| samples.take())?),
    }
}

/// Takes the oldest unit that passed a watched direction of a port, and the time at which it did. Transmitted units are
/// seen after all hooks, received units after all hooks and faults. Returns SP_EMPTY if no unit waits, and SP_ERR_KIND
/// if the direction is not watched.
///
/// If a component has `external = "messages"`, a port such as `host.cxl.s2m_drs` gives the arriving messages of that
/// class; `way` is SP_RX, and the time is when the message became available. At most 16 messages wait in a channel. The
/// link end keeps any further ones and returns no credits until messages are taken, so nothing is lost.
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
            let port = sim.port(&port)?;
            let sample = next(port, way)?;
            unit.fill(&sample.unit)?;
            time_fs.set(sample.t_fs);
            take(port, way)?;
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
            let sample = next(of, way)?;
            take(of, way)?;
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

/// Drives a port of an external component. A component is external if its table has `external = "flits"`, or if the key
/// `external` of the text names it. Units leave in order, one in each flit clock; in a flit clock in which no unit
/// waits, nothing is sent. At most 65536 units wait. The caller takes the place of the link end at this port: the model
/// builds none there, and only answers the link training of the peer. Returns SP_ERR_KIND if the port is not external.
///
/// If a component has `external = "messages"`, the model keeps its link ends, and a port such as `host.cxl.m2s_req`
/// takes the messages of that class that the component sends, at most one in each cycle of its clock. A message is the
/// bytes of its layout (`layout` in sp_sim_state), as sp_encode makes them and the packed struct of the SystemVerilog
/// package has them. In a class with data, 64 bytes of data follow, then 8 bytes of byte enables (bit n for byte n) and
/// 4 bytes of extended metadata, low byte first; a message without byte enables has ones there, one without metadata
/// zeros. At a port of UALink or NVLink, as a bridge has, there is a channel for each class and direction:
/// `ubridge.x[0].tx_request` is driven, `ubridge.x[0].rx_request` gives what arrives. Behind a header of UALink come 256
/// bytes of data, 32 of byte enables (requests alone) and 1 of poison; behind one of NVLink 16 of its address extension,
/// 16 of byte enables and 256 of data. Fields that the link decides are 0. Returns SP_FULL if 16 messages wait: the message was not taken and can be driven again after a step. Returns
/// SP_ERR_INPUT for a message of another length, with reserved bits or codes, or with what the model has no use for;
/// sp_last_error says where.
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
            if let Some(channel) = &port.channel {
                let wrong = |e| Failure::new(SP_ERR_INPUT, format!("{}: {e}", port.name));
                return match flows(port, channel, MailboxDirection::Sent)?.post(&unit).map_err(wrong)? {
                    true => Ok(SP_OK),
                    false => Err(Failure::new(SP_FULL, format!("{}: {MAX_MESSAGES} messages wait", port.name))),
                };
            }
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
