//! Back-invalidate snoops and their answers at the bridges of a switch (`fabric` §1.7, BIR-1 to BIR-3).
//!
//! Modelled: the bus range and the BI decoder control of each vPPB; BI-IDs, which are the bus number of the device above a
//! bridge and on the link of a multi-logical device its LD-ID. Detail: a message at a time. Left out: the BI route table of
//! an upstream port and its commit, and the check of snoops there, all of which are optional (BIR-2): the bus ranges of the
//! bridges are asked instead.
//!
//! A walk through one snoop: port and LD-ID give the vPPB, whose decoder control says what it does with snoops. The address
//! has to hit a decoder with the BI bit that leads back to this vPPB. The snoop gets the secondary bus of the vPPB as BI-ID and
//! leaves at the upstream port. The answer has that BI-ID; the bridge whose bus range holds it takes it, and puts the LD-ID
//! in its place where the device has logical devices.

use super::command::Vppb;
use super::route::{HbrRoute, HbrRoutes};
use super::switching::Undelivered;
use scalepool_protocols::cxl::message::{Message, PeerRoute};

/// BI decoder control of a downstream port (`fabric` BIR-1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BiDecoder {
    /// BI Enable: a device is directly below, its snoops get the bus number of the bridge.
    pub enable: bool,
    /// BI Forward: another switch is below, BI-IDs pass as they are.
    pub forward: bool,
}

/// What configuration software has written into the bridge of a vPPB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VppbBridge {
    /// Secondary bus number, that of a device directly below.
    pub secondary: u8,
    /// Subordinate bus number: the last bus below.
    pub subordinate: u8,
    /// BI decoder control.
    pub bi: BiDecoder,
}

impl VppbBridge {
    /// The bridge above a device that sends back-invalidate snoops and has a bus of its own.
    pub const fn above_device(bus: u8) -> VppbBridge {
        VppbBridge { secondary: bus, subordinate: bus, bi: BiDecoder { enable: true, forward: false } }
    }

    /// The bridge above a further switch, with the first and the last bus below it.
    pub const fn above_switch([secondary, subordinate]: [u8; 2]) -> VppbBridge {
        VppbBridge { secondary, subordinate, bi: BiDecoder { enable: false, forward: true } }
    }
}

/// First bus number of a vPPB below an upstream port: the root complex has bus 0, the upstream port bus 1, its vPPBs bus 2.
pub const FIRST_VPPB_BUS: usize = 3;

/// A message with this BI-ID and no other identifier.
fn with_bi_id(message: &Message, bi_id: u16) -> Message {
    message.on_route(PeerRoute { bi_id, ..PeerRoute::default() })
}

impl HbrRoutes {
    /// The route of a snoop for an address that came from a downstream port.
    pub(super) fn snoop(&self, port: usize, address: u64, message: &Message) -> HbrRoute {
        const DISCARDED: HbrRoute = HbrRoute::Dropped(Undelivered::BackInvalidate);
        let own = message.route().bi_id;
        // A device without logical devices leaves the BI-ID to the bridge.
        let whole = self.bindings.up(port, 0).filter(|vppb| self.logical_device(*vppb).is_none());
        let of_ld = || u8::try_from(own).ok().and_then(|ld_id| self.bindings.up(port, ld_id));
        let Some((vcs, vppb)) = whole.or_else(of_ld) else { return HbrRoute::Dropped(Undelivered::UnknownLd) };
        let Some(bridge) = self.bridges.get(&(vcs, vppb)) else { return HbrRoute::Dropped(Undelivered::Class) };
        let bi_id = match bridge.bi {
            BiDecoder { enable: false, forward: true } => own,
            BiDecoder { enable: true, forward: false } if self.decoders[vcs].snooping_target(address) == Some(vppb) => {
                bridge.secondary.into()
            }
            _ => return DISCARDED,
        };
        HbrRoute::Port(vcs, with_bi_id(message, bi_id), (vcs, vppb))
    }

    /// The route of an answer to a snoop that came from an upstream port.
    pub(super) fn snoop_answer(&self, vcs: usize, message: &Message) -> HbrRoute {
        let bi_id = message.route().bi_id;
        let mut own = self.bridges.range((vcs, 0)..=(vcs, usize::MAX)).peekable();
        if own.peek().is_none() {
            return HbrRoute::Dropped(Undelivered::Class);
        }
        let below = own.find(|(_, bridge)| (bridge.secondary.into()..=bridge.subordinate.into()).contains(&bi_id));
        let led = below.and_then(|(vppb, bridge)| {
            let (port, ld) = self.bindings.down(vppb.0, vppb.1)?;
            let bi_id = match bridge.bi {
                BiDecoder { enable: false, forward: true } => bi_id,
                BiDecoder { enable: true, forward: false } if bi_id == u16::from(bridge.secondary) => {
                    ld.map_or(bi_id, Into::into)
                }
                _ => return None,
            };
            Some(HbrRoute::Port(self.hosts() + port, with_bi_id(message, bi_id), *vppb))
        });
        led.unwrap_or(HbrRoute::Dropped(Undelivered::BackInvalidate))
    }

    /// The logical device of a vPPB; `None`: it is bound to a whole port, or not bound.
    fn logical_device(&self, (vcs, vppb): Vppb) -> Option<u8> {
        self.bindings.down(vcs, vppb)?.1
    }
}
