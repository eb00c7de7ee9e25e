//! CXL.cache of a virtual hierarchy: messages go by CacheID (`fabric` §1.7, CID-1 to CID-3).
//!
//! Modelled: what each hierarchy has of CacheIDs, its table and the ports next to its caching devices, whose arithmetic is
//! [`CacheRoutes`]. Detail: a message at a time. The commit of a decoder and its time limit (CID-4) are in
//! [`committing`](super::committing).
//!
//! A walk through one request: the vPPB that the downstream port is bound to gives it its CacheID, and it leaves at the
//! upstream port. The snoops and the answers of the host have this CacheID; the table says to which vPPB they go, and the
//! port there passes only its own. Answers of a device to snoops, and its data, have no CacheID and always go up.

use super::command::Vppb;
use super::committing::TableKind;
use super::route::{HbrRoute, HbrRoutes};
use super::switching::Undelivered;
use scalepool_coherence::cache::route::CacheRoutes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_protocols::cxl::message::Message;

/// The caching devices of a virtual hierarchy.
#[derive(Debug, Clone)]
pub struct CachingDevices {
    /// Table and ports; its devices are those of [`vppbs`](Self::vppbs), in this order.
    pub routes: CacheRoutes,
    /// The vPPB of each device.
    pub vppbs: Vec<usize>,
    /// Choices of the agents, which say what a port lets pass.
    pub config: CoherenceConfig,
}

const DISCARDED: HbrRoute = HbrRoute::Dropped(Undelivered::CacheId);

impl HbrRoutes {
    /// The route of a message of CXL.cache that came from a downstream port.
    pub(super) fn cache_up(&self, port: usize, message: &Message) -> HbrRoute {
        let Some((vcs, vppb)) = self.bindings.up(port, 0) else { return HbrRoute::Dropped(Undelivered::UnknownLd) };
        let Some((caches, device)) = self.caching_device((vcs, vppb)) else {
            return HbrRoute::Dropped(Undelivered::Class);
        };
        // Answers to snoops and data go up by no table.
        if matches!(message, Message::D2hReq(_)) && !self.is_in_use(vcs, TableKind::CacheId) {
            return DISCARDED;
        }
        caches.routes.up(device, *message).map_or(DISCARDED, |message| HbrRoute::Port(vcs, message, (vcs, vppb)))
    }

    /// The route of a message of CXL.cache that came from an upstream port.
    pub(super) fn cache_down(&self, vcs: usize, message: &Message) -> HbrRoute {
        let Some(caches) = self.caches.get(&vcs) else { return HbrRoute::Dropped(Undelivered::Class) };
        if !self.is_in_use(vcs, TableKind::CacheId) {
            return DISCARDED;
        }
        let led = caches.routes.down(&caches.config, *message).ok().and_then(|(device, message)| {
            let vppb = *caches.vppbs.get(device)?;
            let (port, _) = self.bindings.down(vcs, vppb)?;
            Some(HbrRoute::Port(self.hosts() + port, message, (vcs, vppb)))
        });
        led.unwrap_or(DISCARDED)
    }

    /// The devices of a hierarchy, and which of them a vPPB leads to.
    fn caching_device(&self, (vcs, vppb): Vppb) -> Option<(&CachingDevices, usize)> {
        let caches = self.caches.get(&vcs)?;
        Some((caches, caches.vppbs.iter().position(|one| *one == vppb)?))
    }
}
