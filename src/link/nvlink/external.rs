//! An NVLink end that stands outside the simulation: its flits are driven by a caller. Basis: model.
//!
//! Modelled: the place of an end, not the end. What the caller drives leaves here, one flit a flit clock, over the same faulty
//! wire as that of a [`Port`](crate::port::Port); what arrives is kept for the caller. Detail: a packet of the
//! peer arrives with its last flit, so its flits are there in one clock; in a flit clock for which nothing was driven,
//! nothing is sent, which stands for IDLE. Left out: IDLE flits of a peer that has nothing to say, which are not
//! modelled.
//!
//! A walk through one flit clock: what is due on the wire passes the hooks and is kept; the oldest driven flit leaves.

use super::end::{PROTOCOL, Stats};
use super::flit::NvlFlit;
use super::port::{Burst, NvlReport};
use crate::external::Feed;
use crate::hook::{Direction, Hooks};
use crate::port::{PortResult, WayOut, on_wire};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Module, Next};
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// An end outside the simulation.
pub struct ExternalPort {
    pub(super) dir: &'static str,
    pub(super) wire_out: LinkOut<Burst>,
    pub(super) wire_in: LinkIn<Burst>,
    pub(super) packets: Tap,
    pub(super) way_out: WayOut,
    pub(super) hooks: Hooks,
    pub(super) feed: Feed,
    pub(super) result: Arc<Mutex<PortResult<NvlReport>>>,
}

impl ExternalPort {
    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(Burst { flits, .. }) = self.wire_in.pop(cx) {
            let each = flits.into_iter().flat_map(|flit| on_wire(&self.hooks, Direction::Rx, PROTOCOL, flit));
            let bytes: Vec<u8> = each.flat_map(|(flit, _)| flit.0).collect();
            if !bytes.is_empty() {
                let dir = self.dir;
                self.packets.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol: PROTOCOL, dir, bytes });
            }
        }
    }

    fn send(&mut self, cx: &mut Cx) {
        // Bytes of another length were refused before they came here.
        let Some(flit) = self.feed.next().and_then(|bytes| NvlFlit::from_bytes(&bytes).ok()) else { return };
        let (mut flits, mut damaged) = (Vec::new(), false);
        self.way_out.send(&self.hooks, PROTOCOL, flit, |arriving| {
            damaged |= arriving.damaged;
            flits.push(arriving.unit);
        });
        if !flits.is_empty() {
            self.wire_out.push(cx, Burst { flits, damaged });
        }
    }
}

impl Module for ExternalPort {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.hooks.instant(at.cycle, at.t_fs);
        self.arrivals(cx, at);
        self.send(cx);
        // The caller may drive a flit at any time.
        Next::Busy
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let stats = Stats { sent_flits: self.feed.sent(), ..Stats::default() };
        result.end = Some(NvlReport { stats, ..NvlReport::default() });
        result.damaged = self.way_out.damaged(true);
    }
}
