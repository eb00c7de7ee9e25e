//! What differs between the ports of protocols: the side between a link end and its wire.
//!
//! Modelled: nothing. A [`PortPhy`] says which items travel, what stands in the way of a unit (training, code words that carry no
//! flit, the rest of a packet), and when its port has work again. Left out: what every port does, see [`Port`](super::Port).
//!
//! A walk through one clock: [`PortPhy::begins`], [`PortPhy::arrives`] for each item that is due, [`PortPhy::arrived`],
//! [`PortPhy::sends`], [`PortPhy::next`].

use super::end::Reports;
use super::frame::Frame;
use scalepool_kernel::{Cx, Next};
use scalepool_trace::Stamp;

/// A link end with what stands between it and its wire.
pub trait PortEnd: Reports + Sized {
    /// What travels between two ports.
    type Item: Send + 'static;

    /// Its side of the wire.
    type Phy: PortPhy<Self>;
}

/// The side of a port between its link end and its wire. Times are clocks of the port.
pub trait PortPhy<E: PortEnd>: Send + 'static {
    /// A clock begins: the hooks get their time and the end gets its own, training or an outage may be over.
    fn begins(&mut self, frame: &mut Frame<E>, cx: &mut Cx, at: Stamp);

    /// Takes an item off the wire.
    fn arrives(&mut self, frame: &mut Frame<E>, item: E::Item, cx: &mut Cx, at: Stamp);

    /// Everything that is due on the wire has been taken.
    fn arrived(&mut self, frame: &mut Frame<E>, cx: &mut Cx) {
        let _ = (frame, cx);
    }

    /// Whether the agents get what has come in this clock.
    fn delivers(&mut self, end: &E, at: Stamp) -> bool {
        let _ = (end, at);
        true
    }

    /// Whether the end gets items of the agents in this clock.
    fn fetches(&self, at: Stamp) -> bool {
        let _ = at;
        true
    }

    /// Sends what leaves in this clock, and has the frame judge whether the link works.
    fn sends(&mut self, frame: &mut Frame<E>, cx: &mut Cx, at: Stamp);

    /// When there is work again. `is_due`: items of the agents wait.
    fn next(&self, end: &E, cx: &Cx, at: Stamp, is_due: impl FnOnce(&Cx) -> bool) -> Next;

    /// Whether something is open at this end.
    fn is_busy(&self, end: &E) -> bool {
        !end.is_quiet()
    }

    /// Whether the link is up, as far as this side knows.
    fn is_up(&self, end: &E) -> bool {
        let _ = end;
        true
    }

    /// Adds to the report of the end what only this side has counted.
    fn completes(&self, report: &mut E::Report) {
        let _ = report;
    }
}
