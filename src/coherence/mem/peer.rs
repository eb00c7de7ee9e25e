//! A device that is a host towards another device: direct peer-to-peer CXL.mem (`coherence` §3.7).
//!
//! Modelled: its CXL.cache interface (port 0) and its reversed CXL.mem interface (port 1) towards an HDM-DB device, for
//! which it is one more holder. Each line is held through one of the two, and a snoop of the other finds nothing. Left
//! out: the fabric between.
//!
//! One snoop: H2D SnpInv arrives for a line that came through CXL.mem. The line is not in the table of CXL.cache, so the
//! answer is RspIHitI, and the copy stays until the BISnp of its own interface.

use super::host::{HostAccess, HostReq, MemHost};
use super::host_rows::Phase;
use super::tables::Copy4;
use crate::agent::{Accept, Agent, AgentOutput, AgentPort};
use crate::cache::device::{DeviceCache, WriteBytes};
use crate::cache::state::CacheLineState;
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// The interface towards the own host.
pub const CACHE: AgentPort = 0;

/// The interface towards the other device.
pub const MEM: AgentPort = 1;

/// The device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemPeer<D> {
    /// Lines of CXL.cache.
    pub cache: DeviceCache<D>,
    /// Lines of the other device.
    pub mem: MemHost<D>,
}

impl<D: LineContent> MemPeer<D> {
    /// Without copies; `id` names it in events.
    pub fn new(id: AgentPort) -> Self {
        Self { cache: DeviceCache::new(), mem: MemHost::new(id) }
    }

    /// The interface through which a line is held or being asked for; `None`: through none.
    pub fn interface(&self, line: LineAddr) -> Option<AgentPort> {
        if self.mem.copy(line).state != Copy4::I || self.mem.phase(line) != Phase::Idle {
            Some(MEM)
        } else if self.cache.at(line) != CacheLineState::I {
            Some(CACHE)
        } else {
            None
        }
    }

    /// Asks through CXL.cache; `false`: the line is held through the other interface, or its state does not allow it.
    pub fn ask_host(
        &mut self,
        op: D2hReqOpcode,
        line: LineAddr,
        bytes: Option<WriteBytes<D>>,
        out: &mut AgentOutput<D>,
    ) -> bool {
        self.interface(line) != Some(MEM) && self.cache.issue(op, line, bytes, out)
    }

    /// Asks the other device; `false` as in [`MemPeer::ask_host`].
    pub fn ask_peer(&mut self, line: LineAddr, req: HostReq, want: HostAccess, out: &mut AgentOutput<D>) -> bool {
        let may = self.interface(line) != Some(CACHE) && self.mem.can_issue(line, req);
        if may {
            // What the host's half sends to its port 0 leaves through this port.
            let before = out.sends.len();
            self.mem.issue(line, req, want, out);
            out.sends[before..].iter_mut().for_each(|(port, _)| *port = MEM);
        }
        may
    }
}

/// What the two interfaces hold of a line.
fn held<D: LineContent>(peer: &MemPeer<D>, line: LineAddr) -> (CacheLineState, Copy4) {
    (peer.cache.at(line), peer.mem.copy(line).state)
}

/// What a snoop of one interface must leave as it is: a line that came through the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherInterface {
    line: LineAddr,
    held: (CacheLineState, Copy4),
}

impl OtherInterface {
    /// What a message at a port must leave; `None`: it is no snoop, or one of a line of its own interface.
    pub fn before<D: LineContent>(peer: &MemPeer<D>, port: AgentPort, msg: &Msg<D>) -> Option<Self> {
        let line = match *msg {
            Msg::H2dReq { line, .. } | Msg::S2mBisnp { line, .. } => line,
            _ => return None,
        };
        peer.interface(line).filter(|own| *own != port).map(|_| Self { line, held: held(peer, line) })
    }

    /// COH-P2P-02, if the line is no longer held as it was.
    pub fn check<D: LineContent>(&self, peer: &MemPeer<D>) -> Option<CoherenceEvent> {
        let now = held(peer, self.line);
        (now != self.held).then(|| {
            let found = format!("{now:?} after a snoop of the other interface");
            CoherenceEvent::new("COH-P2P-02", self.line, "peer", found, format!("{:?}", self.held))
        })
    }
}

impl<D: LineContent> Agent<D> for MemPeer<D> {
    fn accepts(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>) -> Accept {
        match port {
            MEM => self.mem.accepts(config, 0, msg),
            _ => self.cache.accepts(config, 0, msg),
        }
    }

    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        let other = OtherInterface::before(self, port, &msg);
        let mut own = AgentOutput::default();
        match port {
            MEM => self.mem.take(config, 0, msg, way, &mut own),
            _ => self.cache.take(config, 0, msg, way, &mut own),
        }
        out.sends.extend(own.sends.into_iter().map(|(_, msg)| (port, msg)));
        out.events.append(&mut own.events);
        out.effects.append(&mut own.effects);
        out.events.extend(other.and_then(|other| other.check(self)));
    }

    fn is_idle(&self) -> bool {
        self.cache.is_idle() && self.mem.is_idle()
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.cache.visit(f);
        self.mem.visit(f);
    }
}
