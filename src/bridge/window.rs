//! Windows of the bridge: which addresses lead where, and who may do what there (`bridge` §2).
//!
//! Modelled: up to 16 windows a direction with their class, translation and interleave: from
//! accelerators to CXL over CXL ports, from CXL to UALink or NVLink over accelerators; 16 groups of sources with rights for each window. An address outside all windows is found before
//! rights are looked at, so that rights tell nothing about addresses. Left out: when
//! windows change in a running system, which is that of [epochs](crate::outbound::epoch).
//!
//! A walk: the address lies in a window, the group of its source may write there; the offset in the window, counted in granules, says
//! which port or which accelerator; the address is moved by the distance between both bases.

use super::commands::AccessKind;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::field::REGION_BYTES;
use thiserror::Error;

/// Most windows of a direction (`bridge` §2).
pub const MOST_WINDOWS: usize = 16;
/// Groups of sources that have rights together (`bridge` §2).
pub const GROUPS: usize = 16;
/// Least size of a window \[bytes\] (`bridge` §2).
pub const LEAST_BYTES: u64 = 2 << 20;
/// Bytes in a row at one port of an interleaved window (`bridge` §2).
pub const WINDOW_GRANULES: [u64; 7] = [256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10];
/// Ports of an interleaved window (`bridge` §2).
pub const WINDOW_WAYS: [usize; 5] = [1, 2, 4, 8, 16];
/// First number that is no accelerator's: they have 10 bits (`bridge` §1.1).
pub const ACCELERATORS: u16 = 1 << 10;
/// First byte behind the addresses of CXL, which have 52 bits (`bridge` §2).
pub const CXL_END: u64 = 1 << 52;

/// First port identifier that is none: SPIDs have 12 bits (`cxl-256b` §3.2).
pub const PORT_IDS: u16 = 1 << 12;

/// What lines of a window from UALink or NVLink to CXL are, and so how they are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowClass {
    /// CXL.mem to memory that its device keeps coherent (HDM-DB).
    Mc,
    /// CXL.mem to memory that nobody keeps coherent (HDM-H).
    Mn,
    /// CXL.cache to memory of a host, which keeps it coherent.
    Cc,
    /// CXL.io to whatever answers there, without coherence.
    Io,
    /// Memory of accelerators of the own cluster that the bridge keeps coherent (HDM-DB): the hairpin.
    Hp,
}

/// What lines of a window from CXL to UALink or NVLink are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InboundClass {
    /// Memory of accelerators that nobody keeps coherent (HDM-H).
    #[default]
    Nh,
    /// Memory of accelerators that the bridge keeps coherent (HDM-DB).
    Db,
    /// Memory of accelerators behind a BAR, reached over CXL.io without coherence.
    Br,
}

/// A class of windows of a direction.
pub trait WindowAddresses: Copy {
    /// Whether its windows are reached by the same addresses as those of another class of its direction.
    fn shares_addresses(self, other: Self) -> bool;
}

impl WindowAddresses for WindowClass {
    fn shares_addresses(self, _: WindowClass) -> bool {
        true
    }
}

/// Bytes of a BAR are no addresses of CXL.mem.
impl WindowAddresses for InboundClass {
    fn shares_addresses(self, other: InboundClass) -> bool {
        (self == InboundClass::Br) == (other == InboundClass::Br)
    }
}

/// Where addresses of a direction end, and its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowLimits {
    /// First address behind those to which windows lead.
    pub out_end: u64,
    /// First number that no source has.
    pub sources: u16,
}

impl WindowLimits {
    /// From UALink to CXL.
    pub const OUTBOUND: WindowLimits = WindowLimits { out_end: CXL_END, sources: ACCELERATORS };
    /// From NVLink to CXL: GPUs have 9 bits.
    pub const OUTBOUND_NVLINK: WindowLimits = WindowLimits { sources: 1 << 9, ..WindowLimits::OUTBOUND };
    /// From CXL to accelerators on UALink, whose addresses have 57 bits (`bridge` §2).
    pub const INBOUND_UALINK: WindowLimits = WindowLimits { out_end: 1 << 57, sources: PORT_IDS };
    /// From CXL to GPUs on NVLink, each of which has 36 bits of addresses of its own (`nvlink` §5: bits 46:36 select).
    pub const INBOUND_NVLINK: WindowLimits = WindowLimits { out_end: 1 << 36, sources: PORT_IDS };
}

/// What a group of sources may do in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AccessRights {
    /// Read.
    pub read: bool,
    /// Write.
    pub write: bool,
    /// Atomics, which take the other two as well.
    pub atomic: bool,
}

impl AccessRights {
    /// All three.
    pub const ALL: AccessRights = AccessRights { read: true, write: true, atomic: true };

    /// Whether they are enough.
    pub fn allow(self, access: AccessKind) -> bool {
        match access {
            AccessKind::Read => self.read,
            AccessKind::Write => self.write,
            AccessKind::Atomic => self.read && self.write && self.atomic,
        }
    }
}

/// A window, of class [`WindowClass`] to CXL and of class [`InboundClass`] from there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BridgeWindow<C = WindowClass> {
    /// First address of its requests.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Address of the first byte on the other side.
    pub out_base: u64,
    /// What its lines are.
    pub class: C,
    /// Among which it is dealt: CXL ports, or accelerators by number.
    pub ports: Vec<usize>,
    /// Bytes in a row at one of them.
    pub granule: u64,
    /// Rights by group.
    pub rights: [AccessRights; GROUPS],
}

impl<C: Copy> BridgeWindow<C> {
    /// Whether an address lies in it.
    fn holds(&self, address: u64) -> bool {
        address >= self.base && address - self.base < self.size
    }

    /// Where an address of it leads; `None`: beyond the addresses of the other side.
    fn translated(&self, address: u64, limits: WindowLimits) -> Option<BridgeRoute<C>> {
        let offset = address - self.base;
        let out = self.out_base.checked_add(offset).filter(|out| *out < limits.out_end)?;
        let way = offset / self.granule % self.ports.len() as u64;
        Some(BridgeRoute { class: self.class, port: self.ports[way as usize], address: out })
    }
}

impl<C> BridgeWindow<C> {
    /// At which port an address of the other side lies, which is one of this window's.
    fn port_of(&self, out: u64) -> usize {
        self.ports[((out - self.out_base) / self.granule % self.ports.len() as u64) as usize]
    }

    /// The first address of the other side to which this window and another one lead, and at which port.
    pub fn leads_where(&self, other: &BridgeWindow<C>) -> Option<(usize, u64)> {
        let first = self.out_base.max(other.out_base);
        let end = (self.out_base + self.size).min(other.out_base + other.size);
        // Ways and granules are powers of two: behind the longer round of both all is as it was.
        let round = |window: &BridgeWindow<C>| window.granule * window.ports.len() as u64;
        let end = end.min(first.saturating_add(round(self).max(round(other))));
        let mut blocks = (first..end).step_by(REGION_BYTES as usize);
        blocks.find(|out| self.port_of(*out) == other.port_of(*out)).map(|out| (self.port_of(out), out))
    }

    /// The first address of the other side to which an address of this window and a different one of another window lead.
    pub fn alias(&self, other: &BridgeWindow<C>) -> Option<WindowAlias> {
        let (_, out) = self.leads_where(other)?;
        let addresses = [self, other].map(|window| window.base + (out - window.out_base));
        (addresses[0] != addresses[1]).then_some(WindowAlias { addresses, out })
    }
}

/// Two addresses of requests that lead to one address of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowAlias {
    /// Both of them.
    pub addresses: [u64; 2],
    /// Where they lead.
    pub out: u64,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeRoute<C = WindowClass> {
    /// What its lines are.
    pub class: C,
    /// CXL port, or accelerator.
    pub port: usize,
    /// Address there.
    pub address: u64,
}

/// Why windows are refused; windows are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// Too many.
    #[error("found {0} windows, expected at most {MOST_WINDOWS} (bridge §2)")]
    Count(usize),
    /// Its base, its size or its base on the other side.
    #[error("found window {0} with {1} = {2:#x}, expected a multiple of 256 bytes (bridge §2)")]
    Unaligned(usize, &'static str, u64),
    /// Its size.
    #[error("found window {0} of {1} bytes, expected at least 2 MiB (bridge §2)")]
    Small(usize, u64),
    /// Its addresses do not fit 64 bits.
    #[error("found window {0}, whose last address does not fit 64 bits, expected one that does")]
    Overflow(usize),
    /// The first address behind it on the other side.
    #[error("found window {0} that ends at {1:#x} on the other side, expected an end of at most {2:#x} (bridge §2)")]
    Beyond(usize, u64, u64),
    /// Number of ports among which it is dealt.
    #[error("found window {0} dealt among {1} ports or accelerators, expected 1, 2, 4, 8 or 16 (bridge §2)")]
    Ways(usize, usize),
    /// A CXL port, or an accelerator, that there is not.
    #[error("found window {0} at port or accelerator {1}, expected 0 to {2}")]
    Port(usize, usize, usize),
    /// Bytes in a row.
    #[error(
        "found window {0} with {1} bytes in a row at a port, expected 256 bytes to 16 KiB, a power of two (bridge §2)"
    )]
    Granule(usize, u64),
    /// Two that have addresses in common.
    #[error("found addresses in window {0} and in window {1}, expected windows that do not overlap (bridge §2)")]
    Overlap(usize, usize),
    /// A byte of an accelerator to which two of them lead.
    #[error(
        "found address {3:#x} of accelerator {2} in window {0} and in window {1}, expected one window for each byte that is exported (bridge §1.3)"
    )]
    Exported(usize, usize, usize, u64),
    /// A source that there cannot be.
    #[error("found source {0}, expected 0 to {1} (bridge §1.1)")]
    Source(u16, u16),
    /// A group that there is not.
    #[error("found group {0}, expected 0 to 15 (bridge §2)")]
    Group(usize),
}

impl WindowError {
    /// The field of a description that is wrong.
    pub fn field(&self) -> &'static str {
        match self {
            WindowError::Source(..) | WindowError::Group(_) => "groups",
            _ => "windows",
        }
    }
}

/// Windows of a direction, of which those that are reached by the same addresses do not overlap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BridgeWindows<C = WindowClass> {
    windows: Vec<BridgeWindow<C>>,
    groups: OrderedMap<u16, usize>,
    limits: WindowLimits,
}

impl BridgeWindows {
    /// These windows to CXL, of a bridge with so many CXL ports; `groups` has the group of a source, 0 where nothing is said.
    ///
    /// # Errors
    /// The first window that cannot be, or cannot be beside another one.
    pub fn new(
        windows: Vec<BridgeWindow>,
        groups: OrderedMap<u16, usize>,
        ports: usize,
    ) -> Result<BridgeWindows, WindowError> {
        BridgeWindows::within(WindowLimits::OUTBOUND, windows, groups, ports)
    }
}

impl BridgeWindows<InboundClass> {
    /// These windows from CXL, each of which leads to bytes of accelerators that no other one leads to: a byte has one home.
    ///
    /// # Errors
    /// As of [`BridgeWindows::within`], and the first byte to which two windows lead.
    pub fn exporting(
        limits: WindowLimits,
        windows: Vec<BridgeWindow<InboundClass>>,
        groups: OrderedMap<u16, usize>,
        accelerators: usize,
    ) -> Result<BridgeWindows<InboundClass>, WindowError> {
        let all = BridgeWindows::within(limits, windows, groups, accelerators)?;
        // Addresses that lead nowhere are memory that the bridge offers and does not have.
        let ends = || all.windows.iter().map(|window| window.out_base + window.size).enumerate();
        if let Some((n, end)) = ends().find(|(_, end)| *end > limits.out_end) {
            return Err(WindowError::Beyond(n, end, limits.out_end));
        }
        for (n, window) in all.windows.iter().enumerate() {
            for (m, other) in all.windows[..n].iter().enumerate() {
                if let Some((accelerator, address)) = window.leads_where(other) {
                    return Err(WindowError::Exported(m, n, accelerator, address));
                }
            }
        }
        Ok(all)
    }
}

/// Windows from CXL, by what reaches them: an address has a meaning only in one of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundWindows {
    /// Those of classes NH and DB, by addresses of CXL.mem.
    pub memory: BridgeWindows<InboundClass>,
    /// Those of class BR, by bytes of the BAR.
    pub bar: BridgeWindows<InboundClass>,
}

impl BridgeWindows<InboundClass> {
    /// These windows by what reaches them.
    pub fn by_addresses(self) -> InboundWindows {
        let BridgeWindows { windows, groups, limits } = self;
        let (bar, memory) = windows.into_iter().partition(|window| window.class == InboundClass::Br);
        let of = |windows, groups| BridgeWindows { windows, groups, limits };
        InboundWindows { memory: of(memory, groups.clone()), bar: of(bar, groups) }
    }
}

impl<C: WindowAddresses> BridgeWindows<C> {
    /// The windows, in the order in which they were given.
    pub fn list(&self) -> &[BridgeWindow<C>] {
        &self.windows
    }

    /// These windows of a direction, dealt among so many ports or accelerators; `groups` has the group of a source, 0 where nothing is
    /// said.
    ///
    /// # Errors
    /// The first window that cannot be, or cannot be beside another one.
    pub fn within(
        limits: WindowLimits,
        windows: Vec<BridgeWindow<C>>,
        groups: OrderedMap<u16, usize>,
        ports: usize,
    ) -> Result<BridgeWindows<C>, WindowError> {
        if windows.len() > MOST_WINDOWS {
            return Err(WindowError::Count(windows.len()));
        }
        for (n, window) in windows.iter().enumerate() {
            judge(n, window, ports)?;
            let overlaps = |other: &BridgeWindow<C>| {
                other.class.shares_addresses(window.class)
                    && other.base < window.base + window.size
                    && window.base < other.base + other.size
            };
            if let Some(other) = windows[..n].iter().position(overlaps) {
                return Err(WindowError::Overlap(other, n));
            }
        }
        for (&source, &group) in &groups {
            if source >= limits.sources {
                return Err(WindowError::Source(source, limits.sources - 1));
            }
            if group >= GROUPS {
                return Err(WindowError::Group(group));
            }
        }
        Ok(BridgeWindows { windows, groups, limits })
    }

    /// Where an access of a source goes, or the status with which it ends: 3 outside of all windows or beyond the addresses of the other
    /// side, 6 without the right, in this order.
    ///
    /// # Errors
    /// That status.
    pub fn route(&self, source: u16, address: u64, access: AccessKind) -> Result<BridgeRoute<C>, Status> {
        let window = self.windows.iter().find(|window| window.holds(address)).ok_or(Status::DecodeError)?;
        let route = window.translated(address, self.limits).ok_or(Status::DecodeError)?;
        if !window.rights[self.group(source)].allow(access) {
            return Err(Status::ProtectionViolation);
        }
        Ok(route)
    }

    /// Groups of sources that are not in group 0, or were named all the same.
    pub fn groups(&self) -> &OrderedMap<u16, usize> {
        &self.groups
    }

    /// Where its addresses and sources end.
    pub fn limits(&self) -> WindowLimits {
        self.limits
    }

    /// The group of a source.
    pub fn group(&self, source: u16) -> usize {
        self.groups.get(&source).copied().unwrap_or(0)
    }

    /// Where an address leads, whoever asks; `None`: it lies in no window.
    pub fn translated(&self, address: u64) -> Option<BridgeRoute<C>> {
        self.windows.iter().find(|window| window.holds(address))?.translated(address, self.limits)
    }

    /// The first address of these windows that others lead to another address, and both of these. What lies in no window of the others is
    /// not looked at, nor by which port an address is reached.
    pub fn first_moved(&self, others: &BridgeWindows<C>) -> Option<(u64, [u64; 2])> {
        // Where both lead does not change between edges of windows.
        let edges = || self.windows.iter().chain(&others.windows).map(|window| window.base);
        let moved = |address: u64| {
            let [from, to] = [self.translated(address)?.address, others.translated(address)?.address];
            (from != to).then_some((address, [from, to]))
        };
        edges().filter_map(moved).min()
    }

    /// The first address of these windows of a class that others lead to by other ports, or may: windows that overlap are dealt in the same way
    /// if both have one port, the same one, or the same base, ports and granule.
    pub fn first_rerouted(&self, others: &BridgeWindows<C>, class: C) -> Option<u64>
    where
        C: PartialEq,
    {
        let of_class = |windows: &&BridgeWindow<C>| windows.class == class;
        let pairs =
            self.windows.iter().filter(of_class).flat_map(|window| others.windows.iter().map(move |o| (window, o)));
        let rerouted = pairs.filter_map(|(window, other)| {
            let first = window.base.max(other.base);
            let overlap = first < (window.base + window.size).min(other.base + other.size);
            let is_same = window.ports == other.ports
                && (window.ports.len() == 1 || window.base == other.base && window.granule == other.granule);
            (overlap && !is_same).then_some(first)
        });
        rerouted.min()
    }

    /// First address behind all windows, 0 without any.
    pub fn end(&self) -> u64 {
        self.windows.iter().map(|window| window.base + window.size).max().unwrap_or(0)
    }

    /// Addresses that lead to an address at a port or an accelerator.
    pub fn leading_to(&self, port: usize, address: u64) -> impl Iterator<Item = u64> {
        self.windows.iter().filter_map(move |window| {
            let inside = address.checked_sub(window.out_base).filter(|offset| *offset < window.size)?;
            let from = window.base + inside;
            window.translated(from, self.limits).filter(|route| route.port == port).map(|_| from)
        })
    }

    /// Whether a window of a class leads to an address at a port or an accelerator.
    pub fn leads_to_class(&self, port: usize, address: u64, class: C) -> bool
    where
        C: PartialEq,
    {
        self.leading_to(port, address).filter_map(|from| self.translated(from)).any(|route| route.class == class)
    }

    /// A window that has an address in common with so many bytes from an address on.
    pub fn meeting(&self, address: u64, bytes: u64) -> Option<usize> {
        self.windows.iter().position(|window| window.base < address + bytes && address < window.base + window.size)
    }
}

/// What is wrong with a window alone.
fn judge<C>(n: usize, window: &BridgeWindow<C>, ports: usize) -> Result<(), WindowError> {
    let &BridgeWindow { base, size, out_base, granule, .. } = window;
    let aligned = [("base", base), ("size", size), ("out_base", out_base)];
    if let Some((name, value)) = aligned.into_iter().find(|(_, value)| !value.is_multiple_of(REGION_BYTES)) {
        return Err(WindowError::Unaligned(n, name, value));
    }
    if size < LEAST_BYTES {
        return Err(WindowError::Small(n, size));
    }
    if base.checked_add(size).is_none() || out_base.checked_add(size).is_none() {
        return Err(WindowError::Overflow(n));
    }
    if !WINDOW_WAYS.contains(&window.ports.len()) {
        return Err(WindowError::Ways(n, window.ports.len()));
    }
    if let Some(port) = window.ports.iter().find(|port| **port >= ports) {
        return Err(WindowError::Port(n, *port, ports.saturating_sub(1)));
    }
    if !WINDOW_GRANULES.contains(&granule) {
        return Err(WindowError::Granule(n, granule));
    }
    Ok(())
}
