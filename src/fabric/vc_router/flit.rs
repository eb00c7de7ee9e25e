//! Flits, and what travels on a channel in a cycle.
//!
//! Modelled: a channel carries at most one flit and one credit a cycle in each direction ([`ChannelBeat`]). Both leave a router
//! together, though a flit still has to cross the switch when the credit of the same grant is on its way: a beat says by how many
//! cycles its flit is behind it.

use scalepool_kernel::{Binder, Cx, LinkIn, LinkInEnd, LinkOut, LinkOutEnd};
use std::sync::{Arc, Mutex, PoisonError};

/// No virtual channel.
pub const NO_VC: u8 = u8::MAX;

/// A flit of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VcFlit {
    /// Cycle in which its packet was made.
    pub created_cycle: u64,
    /// Id of its packet in traces, another one for each.
    pub packet: u64,
    /// Node that sends it.
    pub source: u16,
    /// Node that it is for.
    pub target: u16,
    /// Virtual channel that it is on.
    pub vc: u8,
    /// Routers that it has passed.
    pub hops: u8,
    /// First flit of its packet.
    pub is_head: bool,
    /// Last flit of its packet.
    pub is_tail: bool,
}

impl VcFlit {
    /// No flit, in a beat with a credit alone.
    pub const NONE: VcFlit = VcFlit {
        created_cycle: 0,
        packet: 0,
        source: 0,
        target: 0,
        vc: NO_VC,
        hops: 0,
        is_head: false,
        is_tail: false,
    };
}

/// What leaves an end of a channel in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelBeat {
    /// The flit; of none the virtual channel is [`NO_VC`].
    pub flit: VcFlit,
    /// Virtual channel whose buffer has a place more; [`NO_VC`]: there is no credit.
    pub credit_vc: u8,
    /// Cycles by which the flit comes later than the beat.
    pub flit_behind_cycles: u8,
}

impl ChannelBeat {
    /// Nothing.
    pub const NONE: ChannelBeat = ChannelBeat { flit: VcFlit::NONE, credit_vc: NO_VC, flit_behind_cycles: 0 };
}

/// The ends of a port before a module owns them.
pub struct VcPortEnds {
    /// Towards the other end.
    pub tx: LinkOutEnd<ChannelBeat>,
    /// From there.
    pub rx: LinkInEnd<ChannelBeat>,
    /// Where the number of flits that were sent is left.
    pub sent: Arc<Mutex<u64>>,
}

impl VcPortEnds {
    /// Makes a module their owner.
    pub fn attach(self, bind: &mut Binder<'_>) -> VcPort {
        VcPort { tx: bind.attach(self.tx), rx: bind.attach(self.rx), flits: 0, sent: self.sent }
    }
}

/// A port of a router or a node.
pub struct VcPort {
    tx: LinkOut<ChannelBeat>,
    rx: LinkIn<ChannelBeat>,
    flits: u64,
    sent: Arc<Mutex<u64>>,
}

impl VcPort {
    /// Sends what there is in this cycle.
    #[inline]
    pub fn push(&mut self, cx: &mut Cx<'_>, beat: ChannelBeat) {
        self.flits += u64::from(beat.flit.vc != NO_VC);
        self.tx.push(cx, beat);
    }

    /// Takes the next beat that is due.
    #[inline]
    pub fn pop(&mut self, cx: &mut Cx<'_>) -> Option<ChannelBeat> {
        self.rx.pop(cx)
    }

    /// Leaves the number of flits that were sent.
    pub fn publish(&self) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = self.flits;
    }
}
