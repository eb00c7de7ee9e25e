//! What agents may do: operations that free agents begin at any time, and programs.

use scalepool_coherence::cache::state::At;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::DeviceOp;
use scalepool_coherence::mem::host::{HostAccess, HostReq};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// An operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// A request of CXL.cache (`coherence` §2.2).
    Cache(D2hReqOpcode),
    /// A request of CXL.mem (§3.2).
    Mem(HostReq),
    /// MemWr of a dirty line, of which nothing is kept.
    WriteBack,
    /// Needs a valid copy.
    Load,
    /// Needs E or M.
    Store,
}

impl Act {
    /// The access for which a request of CXL.mem is made when this operation comes next.
    pub fn want(next: Option<&Self>) -> HostAccess {
        match next {
            Some(Act::Load) => HostAccess::Load,
            Some(Act::Store) => HostAccess::Store,
            _ => HostAccess::Nothing,
        }
    }
}

/// What free agents may do. Each kind of agent reads its own lists.
#[derive(Debug, Clone, Default)]
pub struct Menu {
    /// Requests of caching devices, and of devices with HDM-D.
    pub cache: Vec<D2hReqOpcode>,
    /// Caching devices attach a store to RdOwn and RdOwnNoData too (a store that waits for ownership).
    pub waiting_stores: bool,
    /// The core of a home of CXL.cache reads and writes too.
    pub core: bool,
    /// Requests of hosts.
    pub requests: Vec<HostReq>,
    /// What a MemWr may keep; empty: no write-backs of their own.
    pub write_backs: Vec<Copy4>,
    /// Whether hosts store into copies that they own.
    pub stores: bool,
    /// Accesses for which hosts ask for ownership.
    pub wants: Vec<HostAccess>,
    /// Whether hosts drop clean copies.
    pub drops: bool,
    /// Operations of the own cache of a device with HDM-DB.
    pub device: Vec<DeviceOp>,
    /// Operations of such a device on a block of lines, and its enable.
    pub blocks: Vec<(DeviceOp, u8)>,
    /// Hosts that are direct peers, by their port at the device.
    pub peers: IdSet,
}

/// The stable state in which a holder starts.
pub trait Held: Copy {
    /// As MESI.
    fn held(self) -> Copy4;
}

impl Held for Copy4 {
    fn held(self) -> Copy4 {
        self
    }
}

impl Held for At {
    fn held(self) -> Copy4 {
        match self {
            At::M => Copy4::M,
            At::E => Copy4::E,
            At::S => Copy4::S,
            _ => Copy4::I,
        }
    }
}
