//! Flits, and the content of a channel in one cycle.
//!
//! Modelled: a channel carries at most one flit and one credit per cycle in each direction ([`ChannelBeat`]). Flit and
//! credit of the same grant leave a router in one beat, although the flit still has to cross the switch when the credit
//! is already on its way. The beat therefore states by how many cycles its flit arrives later than the beat.

use scalepool_kernel::{Binder, Cx, LinkIn, LinkInEnd, LinkOut, LinkOutEnd};
use std::sync::{Arc, Mutex, PoisonError};

/// No virtual channel.
pub const NO_VC: u8 = u8::MAX;

/// No intermediate place on the way of a packet.
pub const NO_VIA: u16 = u16::MAX;

/// A flit of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VcFlit {
    /// Cycle in which the packet was created.
    pub created_cycle: u64,
    /// Id of the packet in traces, unique per packet.
    pub packet: u64,
    /// Source node.
    pub source: u16,
    /// Destination node.
    pub target: u16,
    /// In a head flit, the intermediate place that the packet still has to reach
    /// ([`Topology::intermediates`](super::super::topology::Topology::intermediates)); [`NO_VIA`] if there is none.
    pub via: u16,
    /// Virtual channel that the flit is on.
    pub vc: u8,
    /// Number of routers that the flit has passed.
    pub hops: u8,
    /// Whether this is the first flit of its packet.
    pub is_head: bool,
    /// Whether this is the last flit of its packet.
    pub is_tail: bool,
}

impl VcFlit {
    /// No flit, for a beat that carries only a credit.
    pub const NONE: VcFlit = VcFlit {
        created_cycle: 0,
        packet: 0,
        source: 0,
        target: 0,
        via: NO_VIA,
        vc: NO_VC,
        hops: 0,
        is_head: false,
        is_tail: false,
    };
}

/// The transfer of one end of a channel in one cycle: a flit, a credit or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelBeat {
    /// The flit; its virtual channel is [`NO_VC`] if there is none.
    pub flit: VcFlit,
    /// Virtual channel to which a credit is returned; [`NO_VC`] if there is no credit.
    pub credit_vc: u8,
    /// Cycles by which the flit arrives later than the beat.
    pub flit_behind_cycles: u8,
}

impl ChannelBeat {
    /// Neither a flit nor a credit.
    pub const NONE: ChannelBeat = ChannelBeat { flit: VcFlit::NONE, credit_vc: NO_VC, flit_behind_cycles: 0 };
}

/// The ends of a port before a module owns them.
pub struct VcPortEnds {
    /// Transmit side.
    pub tx: LinkOutEnd<ChannelBeat>,
    /// Receive side.
    pub rx: LinkInEnd<ChannelBeat>,
    /// Number of flits sent, for the report.
    pub sent: Arc<Mutex<u64>>,
}

impl VcPortEnds {
    /// Attaches the ends to a module.
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
    /// Sends the beat of this cycle.
    #[inline]
    pub fn push(&mut self, cx: &mut Cx<'_>, beat: ChannelBeat) {
        self.flits += u64::from(beat.flit.vc != NO_VC);
        self.tx.push(cx, beat);
    }

    /// Receives the next beat that is due.
    #[inline]
    pub fn pop(&mut self, cx: &mut Cx<'_>) -> Option<ChannelBeat> {
        self.rx.pop(cx)
    }

    /// Publishes the number of flits sent.
    pub fn publish(&self) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = self.flits;
    }
}
