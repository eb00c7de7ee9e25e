//! A UALink end that stands outside the simulation: its flits are driven by a caller.
//!
//! Modelled: the place of an end, not the end. What the caller drives leaves here, one flit a code word that carries one, over
//! the same faulty wire as that of a [`Port`](crate::port::Port); what arrives is kept for the caller. Detail: in a
//! flit clock for which nothing was driven, nothing is sent. Left out: what stands in place of a flit, so a caller does not see
//! that the peer is idle or reports a fault.
//!
//! A walk through one flit clock: what is due on the wire passes the hooks and is kept; the oldest driven flit leaves.

use super::OnLine;
use super::end::PROTOCOL;
use super::line::{CodeWord, UalLine};
use super::tl::port::{UalReport, UalWireItem};
use crate::external::Feed;
use crate::hook::{Direction, Hooks};
use crate::port::{PortResult, WayOut, on_wire};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Module, Next};
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// An end outside the simulation.
pub struct ExternalPort {
    pub(super) line: UalLine,
    pub(super) dir: &'static str,
    pub(super) wire_out: LinkOut<UalWireItem>,
    pub(super) wire_in: LinkIn<UalWireItem>,
    pub(super) flits: Tap,
    pub(super) way_out: WayOut,
    pub(super) hooks: Hooks,
    pub(super) feed: Feed,
    pub(super) result: Arc<Mutex<PortResult<UalReport>>>,
}

impl ExternalPort {
    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(arrived) = self.wire_in.pop(cx) {
            let OnLine::Flit(flit) = arrived.item else { continue };
            for (flit, _) in on_wire(&self.hooks, Direction::Rx, PROTOCOL, *flit) {
                let dir = self.dir;
                let body = || Body::Flit { protocol: PROTOCOL, dir, bytes: flit.0.to_vec() };
                self.flits.record(at, RecordKind::Flit, 0, 0, body);
            }
        }
    }

    fn send(&mut self, cx: &mut Cx) {
        // Bytes of another length were refused before they came here.
        let Some(flit) = self.feed.next().and_then(|bytes| DlFlit::from_bytes(&bytes).ok()) else { return };
        let out = &mut self.wire_out;
        self.way_out.send(&self.hooks, PROTOCOL, OnLine::Flit(Arc::new(flit)), |arriving| {
            // A real link never rests: the caller may wait for an answer to any flit.
            out.push(cx, UalWireItem { item: arriving.unit, waits: true });
        });
    }
}

impl Module for ExternalPort {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.hooks.instant(at.cycle, at.t_fs);
        self.arrivals(cx, at);
        if self.line.code_word(at.cycle) == CodeWord::Flit {
            self.send(cx);
        }
        // The caller may drive a flit at any time.
        Next::Busy
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.end = Some(UalReport { flits: self.feed.sent(), ..UalReport::default() });
        result.damaged = self.way_out.damaged(true);
    }
}
