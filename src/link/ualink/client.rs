//! What stands above the data link layer: a transaction layer that makes and takes TL flits.

use crate::event::LinkEvent;
use crate::health::LinkHealth;
use crate::health::liveness::LinkWait;
use crate::hook::Hooks;
use crate::line_time::{LineTimeParts, Use};
use scalepool_protocols::ualink::content::TlContent;
use scalepool_protocols::ualink::half::TlFlit;

/// How full a client is, for waves and for what is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels {
    /// Requests and responses that wait to be sent.
    pub waiting: [usize; 2],
    /// Requests and responses that have been received and not taken.
    pub received: [usize; 2],
    /// Credits to spend.
    pub credits: u64,
    /// Credits to return.
    pub credits_due: u64,
}

/// A transaction layer over a UALink.
pub trait Client {
    /// The next TL flit; `None`: nothing to send at this place.
    fn transmit(&mut self, now_flits: u64) -> Option<TlFlit>;

    /// The same TL flit without its bytes, if the end has none, see [`EndConfig::has_bytes`](super::EndConfig::has_bytes). One
    /// that has bytes alone has nothing to send there.
    fn transmit_content(&mut self, now_flits: u64) -> Option<TlContent> {
        let _ = now_flits;
        None
    }

    /// What the place was used for for which [`Client::transmit`] was asked last. A client that keeps no account sends payload.
    fn uses(&self) -> LineTimeParts {
        LineTimeParts::all(Use::Payload)
    }

    /// Takes a TL flit: each once, in order.
    fn receive(&mut self, flit: &TlFlit, now_flits: u64);

    /// Takes TL flits without their bytes.
    fn receive_content(&mut self, flits: TlContent, now_flits: u64) {
        let _ = (flits, now_flits);
    }

    /// The link has left Up: what was on its way is lost, the next one begins anew.
    fn link_down(&mut self);

    /// Nothing waits to be sent, taken or returned.
    fn is_quiet(&self) -> bool;

    /// Flit time at which it has something to do without being called before; `None`: never.
    fn wakes_at(&self, now_flits: u64) -> Option<u64>;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<LinkEvent>;

    /// Whether there may be some.
    fn has_events(&self) -> bool {
        true
    }

    /// How full it is; a client without queues is empty.
    fn levels(&self) -> Levels {
        Levels::default()
    }

    /// Fills the figures of its transactions and credits; a client that counts none has none.
    fn fill_health(&self, health: &mut LinkHealth) {
        let _ = health;
    }

    /// Tells the channels whose transactions wait for a credit.
    fn credit_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let _ = each;
    }

    /// Takes the hooks of the end; they concern one that counts credits.
    fn attach_hooks(&mut self, hooks: &Hooks) {
        let _ = hooks;
    }
}
