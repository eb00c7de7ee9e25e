//! Slices and core of a switch, put into a partition.

use super::core::CoreStats;
use super::{CoreModule, FromCore, SLICE_PORTS, Slice, ToCore, UalSwitchCore};
use scalepool_kernel::{BuildError, ClockId, PartitionBuilder};
use scalepool_link::ualink::wiring::Socket;
use std::sync::{Arc, Mutex};

/// Batches between a slice and the core of a switch: one a cycle is sent, and one is taken.
const BATCHES: u32 = 4;

/// Puts a switch into a partition, on the clock of flits.
///
/// # Errors
/// A name that is used twice.
pub fn place_switch(
    p: &mut PartitionBuilder,
    switch: &str,
    ports: Vec<Socket>,
    flit: ClockId,
    middle: UalSwitchCore,
    result: Arc<Mutex<CoreStats>>,
) -> Result<(), BuildError> {
    let (mut to_core, mut from_core) = (Vec::new(), Vec::new());
    let mut ports = ports.into_iter().peekable();
    for slice in 0.. {
        if ports.peek().is_none() {
            break;
        }
        let mine: Vec<Socket> = ports.by_ref().take(SLICE_PORTS).collect();
        let name = format!("{switch}.slice[{slice}]");
        let (slice_tx, core_rx) = p.channel::<Vec<ToCore>>(&format!("{name}.to_core"), BATCHES, 1)?;
        let (core_tx, slice_rx) = p.channel::<Vec<FromCore>>(&format!("{name}.from_core"), BATCHES, 1)?;
        to_core.push(core_rx);
        from_core.push(core_tx);
        p.module(&name, flit, |bind| {
            let link = |parts: Socket| {
                let stall = parts.stall(bind);
                (parts.bind(bind, Vec::new()), stall)
            };
            let links = mine.into_iter().map(link).collect();
            Slice::new((slice * SLICE_PORTS) as u16, links, bind.attach(slice_rx), bind.attach(slice_tx))
        })?;
    }
    p.module(&format!("{switch}.core"), flit, |bind| {
        let rx = to_core.into_iter().map(|end| bind.attach(end)).collect();
        let tx = from_core.into_iter().map(|end| bind.attach(end)).collect();
        CoreModule::new(middle, rx, tx, result)
    })
}
