//! Channels between agents and the link end of a port, whatever they carry.

use super::end::Carries;
use scalepool_kernel::{Cx, In, Out};
use scalepool_protocols::wire::Violation;

/// Most messages a class that wait in the packer of an end; the rest waits in the producer's channel.
pub const PACKER_DEPTH: usize = 16;

/// Channels between an agent and its port.
pub struct Channels<T> {
    /// Items to send.
    pub tx: In<T>,
    /// Items received.
    pub rx: Out<T>,
}

/// [`Channels`] of a link end, whatever they carry.
pub trait PortAgent<E> {
    /// Hands received items over as far as there is room.
    fn deliver(&mut self, end: &mut E, cx: &mut Cx);

    /// Gives the end what it has room for. Items that would break a rule are dropped, and the rules go to `refused`.
    fn fetch(&mut self, end: &mut E, cx: &mut Cx, refused: &mut Vec<Violation>);

    /// Whether an item waits to be fetched.
    fn is_due(&self, cx: &Cx) -> bool;

    /// [`PortAgent::deliver`] and [`PortAgent::fetch`] of the only agent of a port, and whether an item still waits: one call
    /// through a table instead of three.
    fn exchange(&mut self, end: &mut E, cx: &mut Cx, refused: &mut Vec<Violation>) -> bool {
        self.deliver(end, cx);
        self.fetch(end, cx, refused);
        self.is_due(cx)
    }
}

impl<T, E: Carries<T>> PortAgent<E> for Channels<T> {
    #[inline(always)]
    fn deliver(&mut self, end: &mut E, cx: &mut Cx) {
        while end.has_arrivals()
            && self.rx.has_room(cx, 1)
            && end.give_whole(|item| {
                // Room was asked for before.
                self.rx.push_made(cx, || item);
            })
        {}
    }

    #[inline(always)]
    fn fetch(&mut self, end: &mut E, cx: &mut Cx, refused: &mut Vec<Violation>) {
        // An item that fits whatever it is goes without being looked at first, and so is moved once less.
        while end.has_room_for_any() || self.tx.peek(cx).is_some_and(|item| end.has_room(item)) {
            let mut item = self.tx.pop(cx);
            if item.is_none() {
                break;
            }
            if let Err(violation) = end.send_taken(&mut item) {
                refused.push(violation);
            }
        }
    }

    #[inline]
    fn is_due(&self, cx: &Cx) -> bool {
        self.tx.is_due(cx)
    }
}
