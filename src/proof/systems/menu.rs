//! What agents may do: operations that free agents begin at any time, and programs.

use super::cache::ALL_REQUESTS;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::DeviceOp;
use scalepool_coherence::mem::host::{HostAccess, HostReq};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// An operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProgramOperation {
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

impl ProgramOperation {
    /// The access for which a request of CXL.mem is made when this operation comes next.
    pub fn want(next: Option<&Self>) -> HostAccess {
        match next {
            Some(ProgramOperation::Load) => HostAccess::Load,
            Some(ProgramOperation::Store) => HostAccess::Store,
            _ => HostAccess::Nothing,
        }
    }
}

/// How an atomic keeps others from storing between its load and its store (`bridge` §4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicHold {
    /// It begins with an owned copy, and begins again when ownership is lost before its store.
    Held,
    /// Not at all, as towards a memory without an owner, where a bridge refuses atomics: it loads any copy.
    Unheld,
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
    /// Atomics of caching devices, hosts and the device with HDM-DB; `None`: there are none.
    pub atomics: Option<AtomicHold>,
}

/// The stable state in which a holder starts.
pub trait StartState: Copy {
    /// As MESI.
    fn held(self) -> Copy4;
}

impl StartState for Copy4 {
    fn held(self) -> Copy4 {
        self
    }
}

impl StartState for CacheLineState {
    fn held(self) -> Copy4 {
        match self {
            CacheLineState::M => Copy4::M,
            CacheLineState::E => Copy4::E,
            CacheLineState::S => Copy4::S,
            _ => Copy4::I,
        }
    }
}

/// Requests of hosts by the names that `--ops` takes.
const REQUESTS: &[(&str, HostReq)] = &[
    ("MemRdA", HostReq::RD_ANY),
    ("MemRdS", HostReq::RD_SHARED),
    ("MemRdData", HostReq::RD_DATA),
    ("MemInv", HostReq::INV),
    ("MemInvNT", HostReq::INV_NT),
    ("MemClnEvct", HostReq::CLN_EVCT),
];

/// Operations of the own cache of a device with HDM-DB, and of peers over UIO at it.
const OWN: &[(&str, DeviceOp)] = &[
    ("ReadOnce", DeviceOp::ReadOnce),
    ("ReadShared", DeviceOp::ReadShared),
    ("ReadOwn", DeviceOp::ReadOwn),
    ("Evict", DeviceOp::Evict),
    ("UioRead", DeviceOp::UioRead),
    ("UioWrite", DeviceOp::UioWrite),
];

/// Atomics of whoever has a copy.
const ATOMICS: &[(&str, AtomicHold)] = &[("Atomic", AtomicHold::Held), ("UnheldAtomic", AtomicHold::Unheld)];

/// An operation that nobody begins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found the operation {found:?}, expected one of {expected}")]
pub struct UnknownOperation {
    /// The name.
    pub found: String,
    /// The names that are known.
    pub expected: String,
}

/// What agents may do where nothing else is said: they share, own and give up.
pub const USUAL: &str = "RdShared,RdOwn,CleanEvict,DirtyEvict,MemRdA,MemRdS,MemWr,MemClnEvct";

impl Menu {
    /// What `--ops` names, separated by commas: requests of CXL.cache, requests of hosts over CXL.mem with MemWr and Drop,
    /// operations of the own cache of a device with HDM-DB, `Core`, reads and writes of the core of a home, and `Atomic` or
    /// `UnheldAtomic`, atomics of whoever has a copy. Stores to a copy that allows them are always there.
    ///
    /// # Errors
    /// A name that is none.
    pub fn of_names(names: &str) -> Result<Self, UnknownOperation> {
        let mut menu = Menu { stores: true, wants: vec![HostAccess::Nothing], ..Menu::default() };
        for name in names.split(',').map(str::trim) {
            let cache = ALL_REQUESTS.iter().find(|opcode| opcode.name() == Some(name));
            let request = REQUESTS.iter().find(|(known, _)| *known == name);
            let own = OWN.iter().find(|(known, _)| *known == name);
            let atomic = ATOMICS.iter().find(|(known, _)| *known == name);
            if let Some((_, hold)) = atomic {
                menu.atomics = Some(*hold);
                continue;
            }
            match (name, cache, request, own) {
                (_, Some(&opcode), ..) => menu.cache.push(opcode),
                (_, _, Some(&(_, request)), _) => menu.requests.push(request),
                (.., Some(&(_, op))) => menu.device.push(op),
                ("MemWr", ..) => menu.write_backs.push(Copy4::I),
                ("Drop", ..) => menu.drops = true,
                ("Core", ..) => menu.core = true,
                _ => {
                    let cache = ALL_REQUESTS.iter().filter_map(|opcode| opcode.name());
                    let known = cache.chain(REQUESTS.iter().map(|(name, _)| *name)).chain(["MemWr", "Drop"]);
                    let known = known.chain(OWN.iter().map(|(name, _)| *name)).chain(["Core"]);
                    let known: Vec<&str> = known.chain(ATOMICS.iter().map(|(name, _)| *name)).collect();
                    return Err(UnknownOperation { found: name.to_owned(), expected: known.join(", ") });
                }
            }
        }
        Ok(menu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations_are_known_or_refused_with_all_that_are() {
        let usual = Menu::of_names(USUAL).expect("the usual operations have names");
        assert_eq!((usual.cache.len(), usual.requests.len(), usual.write_backs.len()), (4, 3, 1));
        let more = Menu::of_names("UioRead, Core,Drop").expect("blanks are skipped");
        assert!(more.device == [DeviceOp::UioRead] && more.core && more.drops && more.cache.is_empty());
        assert_eq!(Menu::of_names("UnheldAtomic").map(|menu| menu.atomics), Ok(Some(AtomicHold::Unheld)));
        let error = Menu::of_names("RdOwn,MemRd").expect_err("MemRd says nothing of what is kept").to_string();
        assert!(error.starts_with("found the operation \"MemRd\"") && error.contains("MemRdA"), "{error}");
    }
}
