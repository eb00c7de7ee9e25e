//! Port identifiers (PID) of a fabric (`fabric` PID-1, PID-2).
//!
//! Modelled: 12 bits; FFFh means "handle here" and is never assigned. The fabric manager and each switch have a PID for
//! management, each edge port towards a host has one, each binding has one, which stands for a device or logical device
//! towards its host, and each edge port towards a device has one, which segment tables name. Left out: changes while the
//! fabric runs.
//!
//! A walk through one allocation: the manager has 0; switches, host ports, bindings and device ports follow in the order of
//! the description.

use scalepool_ordered::OrderedMap;

/// Number of values that 12 bits have.
pub const PIDS: usize = 1 << 12;
/// Number of PIDs that can be assigned: all but FFFh.
pub const ASSIGNABLE_PIDS: usize = PIDS - 1;

/// A port identifier that is assigned, 0 to FFEh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PbrPid(u16);

/// Why there is no such PID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PidError {
    /// It is FFFh or has more than 12 bits.
    #[error("found the PID {found:#05x}, expected 0x000 to 0xffe: 0xfff is reserved (fabric PID-1)")]
    Reserved {
        /// The number that was given.
        found: u16,
    },
    /// The fabric needs more than there are.
    #[error(
        "found {} PIDs (the manager, {} switches, {} host ports, {} bindings, {} device ports), expected at most {ASSIGNABLE_PIDS} (fabric PID-1)",
        .0.sum(), .0.switches, .0.hosts, .0.bindings, .0.devices
    )]
    TooMany(PidCounts),
    /// Somebody who needs a PID has none.
    #[error("found no PID for {0}, expected one (fabric PID-2)")]
    Missing(PidHolder),
    /// Two have the same one.
    #[error("found the PID {pid:#05x} for {} and {}, expected one for each (fabric PID-2)", .holders[0], .holders[1])]
    Double {
        /// The PID.
        pid: u16,
        /// Who has it.
        holders: [PidHolder; 2],
    },
}

/// Who has a PID of its own (`fabric` PID-2); numbers are those of the order of the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PidHolder {
    /// The fabric manager.
    Manager,
    /// A switch.
    Switch(usize),
    /// An edge port towards a host.
    Host(usize),
    /// A device or logical device as its host has it.
    Binding(usize),
    /// An edge port towards a device.
    Device(usize),
}

impl std::fmt::Display for PidHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PidHolder::Manager => f.write_str("the fabric manager"),
            PidHolder::Switch(n) => write!(f, "switch {n}"),
            PidHolder::Host(n) => write!(f, "host port {n}"),
            PidHolder::Binding(n) => write!(f, "binding {n}"),
            PidHolder::Device(n) => write!(f, "device port {n}"),
        }
    }
}

/// Judges PIDs that were given: each of `needed` has one, and no two have the same (`fabric` PID-2).
///
/// # Errors
/// The first one that is missing or given twice.
pub fn judge_pids(needed: &[PidHolder], given: &[(PidHolder, PbrPid)]) -> Result<(), PidError> {
    for holder in needed {
        if given.iter().all(|(other, _)| other != holder) {
            return Err(PidError::Missing(*holder));
        }
    }
    let mut known: OrderedMap<u16, PidHolder> = OrderedMap::new();
    for (holder, pid) in given {
        if let Some(first) = known.insert(pid.number(), *holder) {
            return Err(PidError::Double { pid: pid.number(), holders: [first, *holder] });
        }
    }
    Ok(())
}

impl PbrPid {
    /// The PID of a number.
    ///
    /// # Errors
    /// The number is FFFh or has more than 12 bits.
    pub const fn new(number: u16) -> Result<PbrPid, PidError> {
        if number as usize >= ASSIGNABLE_PIDS { Err(PidError::Reserved { found: number }) } else { Ok(PbrPid(number)) }
    }

    /// Its number, as messages carry it.
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// Number of members of a fabric that need a PID, beside the manager.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PidCounts {
    /// Switches.
    pub switches: usize,
    /// Edge ports towards hosts.
    pub hosts: usize,
    /// Bindings.
    pub bindings: usize,
    /// Edge ports towards devices.
    pub devices: usize,
}

impl PidCounts {
    /// PIDs in all, with that of the manager.
    pub const fn sum(&self) -> usize {
        1 + self.switches + self.hosts + self.bindings + self.devices
    }
}

/// The PIDs of a fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PidPlan(PidCounts);

impl PidPlan {
    /// Allocates PIDs.
    ///
    /// # Errors
    /// The fabric needs more than there are.
    pub const fn new(counts: PidCounts) -> Result<PidPlan, PidError> {
        if counts.sum() > ASSIGNABLE_PIDS { Err(PidError::TooMany(counts)) } else { Ok(PidPlan(counts)) }
    }

    /// The PID of the fabric manager.
    pub const MANAGER: PbrPid = PbrPid(0);

    fn nth(before: usize, n: usize, count: usize) -> Option<PbrPid> {
        // Below 4095, as the sum is.
        (n < count).then_some(PbrPid((1 + before + n) as u16))
    }

    /// The PID of the n-th switch; `None`: there is none.
    pub fn of_switch(&self, n: usize) -> Option<PbrPid> {
        PidPlan::nth(0, n, self.0.switches)
    }

    /// The PID of the n-th edge port towards a host.
    pub fn of_host(&self, n: usize) -> Option<PbrPid> {
        PidPlan::nth(self.0.switches, n, self.0.hosts)
    }

    /// The PID of the n-th binding.
    pub fn of_binding(&self, n: usize) -> Option<PbrPid> {
        PidPlan::nth(self.0.switches + self.0.hosts, n, self.0.bindings)
    }

    /// The PID of the n-th edge port towards a device.
    pub fn of_device(&self, n: usize) -> Option<PbrPid> {
        PidPlan::nth(self.0.switches + self.0.hosts + self.0.bindings, n, self.0.devices)
    }

    /// All that it gives out.
    pub fn given(&self) -> Vec<(PidHolder, PbrPid)> {
        let PidPlan(counts) = self;
        let switches = (0..counts.switches).filter_map(|n| Some((PidHolder::Switch(n), self.of_switch(n)?)));
        let hosts = (0..counts.hosts).filter_map(|n| Some((PidHolder::Host(n), self.of_host(n)?)));
        let bindings = (0..counts.bindings).filter_map(|n| Some((PidHolder::Binding(n), self.of_binding(n)?)));
        let devices = (0..counts.devices).filter_map(|n| Some((PidHolder::Device(n), self.of_device(n)?)));
        std::iter::once((PidHolder::Manager, PidPlan::MANAGER))
            .chain(switches)
            .chain(hosts)
            .chain(bindings)
            .chain(devices)
            .collect()
    }
}
