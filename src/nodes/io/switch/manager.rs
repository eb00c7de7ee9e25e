//! What the fabric manager asks of a port that belongs to no virtual hierarchy (`fabric` VCS-8).
//!
//! Modelled: configuration reads and writes at given times, to the device at a downstream port; one to a port that is bound is
//! refused. Left out: CXL Reset, and the commands by which a manager outside asks for them.
//!
//! A walk through one read: the port is bound to no vPPB, so the request leaves there, with the ID of the manager as its requester; its
//! completion ends at the switch.

use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_protocols::wire::{At, Violation};
use std::collections::VecDeque;

/// Requester of what the manager asks for, which no function has.
pub const MANAGER_ID: u16 = 0xffff;

/// An access to the configuration space of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagerAccess {
    /// When \[cycles\].
    pub cycle: u64,
    /// The downstream port, counted among all ports of the switch.
    pub port: usize,
    /// Byte address of the register, a multiple of 4.
    pub register: u16,
    /// What is written; `None`: it is read.
    pub write: Option<u32>,
}

impl ManagerAccess {
    /// The request, which has this tag.
    pub fn tlp(&self, tag: u16) -> Tlp {
        let (register, enables) = (self.register, 0xf);
        let tlp = match self.write {
            None => Tlp::new(TlpKind::ConfigRead { level: 0, target: 0, register, enables }, MANAGER_ID, Vec::new()),
            Some(value) => {
                let kind = TlpKind::ConfigWrite { level: 0, target: 0, register, enables };
                Tlp::new(kind, MANAGER_ID, value.to_le_bytes().to_vec())
            }
        };
        Tlp { tag, ..tlp }
    }
}

/// Protocols of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortProtocol {
    /// CXL.io.
    Io,
    /// CXL.mem.
    Mem,
    /// CXL.cache.
    Cache,
}

/// Judges what the manager sends to a port: CXL.io alone, and nothing to one that is bound.
pub fn judge_manager(protocol: PortProtocol, is_bound: bool) -> Option<Violation> {
    let found = match (protocol, is_bound) {
        (PortProtocol::Io, false) => return None,
        (PortProtocol::Io, true) => "CXL.io to a port that is bound",
        (PortProtocol::Mem, _) => "CXL.mem",
        (PortProtocol::Cache, _) => "CXL.cache",
    };
    let (found, expected) = (found.to_owned(), "CXL.io to a port that belongs to no hierarchy".to_owned());
    let text = "the fabric manager uses a port that is not its own".to_owned();
    Some(Violation { rule: "FAB-VCS-08", at: At::Byte(0), found, expected, text })
}

/// What is asked, and what became of it.
#[derive(Debug, Clone, Default)]
pub struct ManagerAccesses {
    /// What is still to be asked, by time.
    pub due: VecDeque<ManagerAccess>,
    /// Ports and tags of what was asked and not answered.
    pub open: Vec<(usize, u16)>,
    /// Tag of the next one.
    pub tag: u16,
}

impl ManagerAccesses {
    /// Whether something is to be asked of a port, or was and is not answered.
    pub fn uses(&self, port: usize) -> bool {
        self.due.iter().any(|access| access.port == port) || self.open.iter().any(|(open, _)| *open == port)
    }

    /// Takes a completion that came at a port; whether it is one of these.
    pub fn answered(&mut self, port: usize, completion: &Tlp) -> bool {
        let is_it = completion.requester == MANAGER_ID;
        let found = self.open.iter().position(|open| is_it && *open == (port, completion.tag));
        found.map(|n| self.open.remove(n)).is_some()
    }
}
