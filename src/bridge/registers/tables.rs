//! Windows, rights and groups of sources as registers: the shadow tables of a bridge (`bridge` §2).
//!
//! Modelled: both ways between the [windows](crate::window) that are valid and registers, and why registers are no windows. Left out:
//! when a commit takes effect, which is that of [epochs](crate::outbound::epoch). A walk: window 3 is written with a base, 2 MiB, class MN, two
//! ways and rights; the commit finds its base in window 0 as well, so nothing changes, and the status says overlap at 3.

use super::{BridgeRegisters, ControlWindow, bits, number};
use crate::window::{
    AccessRights, BridgeWindow, BridgeWindows, GROUPS, MOST_WINDOWS, WINDOW_GRANULES, WINDOW_WAYS, WindowClass,
    WindowError, WindowLimits,
};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::bridge::{
    BRIDGE_GROUP_REGISTERS, BRIDGE_GROUPS_AT, BRIDGE_REGISTER_BYTES, BRIDGE_WINDOW_STRIDE, BRIDGE_WINDOWS_AT,
    BridgeCapability, BridgeCommitFault, BridgeGranule, BridgeStatus, BridgeTargets, BridgeWays, BridgeWindowClass,
    BridgeWindowControl, BridgeWindowRights, CONTROL_BYTES, SOURCES_OF_REGISTER, bridge_tables, bridge_window,
};
use scalepool_protocols::wire::Wire;
use std::ops::Range;

/// Registers with the ports of a window, four in each.
const TARGETS: [Range<usize>; 4] =
    [bridge_window::TARGETS_0, bridge_window::TARGETS_1, bridge_window::TARGETS_2, bridge_window::TARGETS_3];

/// Why a commit is refused, and at which window or source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitRefusal {
    /// Why.
    pub fault: BridgeCommitFault,
    /// Where.
    pub at: u16,
}

/// Number of a register of a window.
fn of_window(window: usize, segment: Range<usize>) -> usize {
    number(BRIDGE_WINDOWS_AT + window * BRIDGE_WINDOW_STRIDE, segment)
}

/// A group of sources among 16 in a register.
fn of_source(source: u16) -> (usize, usize) {
    let source = usize::from(source);
    (BRIDGE_GROUPS_AT / BRIDGE_REGISTER_BYTES + source / SOURCES_OF_REGISTER, 4 * (source % SOURCES_OF_REGISTER))
}

/// The refusal of tables of which the window of a number is the last one that was looked at.
fn refusal(error: &WindowError, window: u16) -> CommitRefusal {
    let (fault, at) = match *error {
        WindowError::Unaligned(..) => (BridgeCommitFault::Unaligned, window),
        WindowError::Small(..) => (BridgeCommitFault::Small, window),
        WindowError::Overflow(_) | WindowError::Beyond(..) => (BridgeCommitFault::Overflow, window),
        WindowError::Port(..) => (BridgeCommitFault::Port, window),
        // The second one is of windows from CXL, which no register holds.
        WindowError::Overlap(..) | WindowError::Exported(..) => (BridgeCommitFault::Overlap, window),
        WindowError::Source(source, _) => (BridgeCommitFault::Source, source),
        // The registers have no room for these.
        WindowError::Ways(..) | WindowError::Granule(..) | WindowError::Count(_) | WindowError::Group(_) => {
            (BridgeCommitFault::Code, window)
        }
    };
    CommitRefusal { fault, at }
}

impl BridgeRegisters {
    /// As after a reset: the shadow tables are those that are valid.
    pub fn new(windows: &BridgeWindows, window: ControlWindow, flips: bool) -> BridgeRegisters {
        let mut registers = BridgeRegisters::default();
        let (window_count, group_count, port_count) = (MOST_WINDOWS as u8, GROUPS as u8, window.ports as u16);
        let source_count = windows.limits().sources;
        let capability =
            BridgeCapability { window_count, group_count, port_count, source_count, flips, ..Default::default() };
        *registers.table(bridge_tables::CAPABILITY) = bits(&capability);
        registers.show_tables(windows);
        registers
    }

    /// The shadow tables are these from here on.
    pub fn show_tables(&mut self, windows: &BridgeWindows) {
        let groups = BRIDGE_GROUPS_AT / BRIDGE_REGISTER_BYTES;
        self.values[groups..groups + BRIDGE_GROUP_REGISTERS].fill(0);
        for (&source, &group) in windows.groups() {
            let (register, lsb) = of_source(source);
            self.values[register] |= (group as u64) << lsb;
        }
        for n in 0..MOST_WINDOWS {
            let first = of_window(n, 0..0);
            self.values[first..first + bridge_window::LEN / BRIDGE_REGISTER_BYTES].fill(0);
        }
        for (n, window) in windows.list().iter().enumerate() {
            self.show_window(n, window);
        }
    }

    fn show_window(&mut self, n: usize, window: &BridgeWindow) {
        let code = |place: Option<usize>| place.unwrap_or(0) as u8;
        let control = BridgeWindowControl {
            valid: true,
            line_class: match window.class {
                WindowClass::Mc => BridgeWindowClass::Mc,
                WindowClass::Mn => BridgeWindowClass::Mn,
                WindowClass::Io => BridgeWindowClass::Io,
                WindowClass::Cc => BridgeWindowClass::Cc,
                WindowClass::Hp => BridgeWindowClass::Hp,
            },
            granule: BridgeGranule(code(WINDOW_GRANULES.iter().position(|bytes| *bytes == window.granule))),
            ways: BridgeWays(code(WINDOW_WAYS.iter().position(|ways| *ways == window.ports.len()))),
            ..BridgeWindowControl::default()
        };
        let groups = |may: fn(&AccessRights) -> bool| {
            window.rights.iter().enumerate().fold(0, |all, (group, rights)| all | u16::from(may(rights)) << group)
        };
        let rights = BridgeWindowRights {
            may_read: groups(|rights| rights.read),
            may_write: groups(|rights| rights.write),
            may_atomic: groups(|rights| rights.atomic),
            ..BridgeWindowRights::default()
        };
        let values = [
            (bridge_window::BASE, window.base),
            (bridge_window::SIZE, window.size),
            (bridge_window::OUT_BASE, window.out_base),
            (bridge_window::CONTROL, bits(&control)),
            (bridge_window::RIGHTS, bits(&rights)),
        ];
        for (segment, value) in values {
            self.values[of_window(n, segment)] = value;
        }
        for (segment, ports) in TARGETS.into_iter().zip(window.ports.chunks(4)) {
            let port = |way: usize| ports.get(way).copied().unwrap_or(0) as u16;
            let targets = BridgeTargets { way_0: port(0), way_1: port(1), way_2: port(2), way_3: port(3) };
            self.values[of_window(n, segment)] = bits(&targets);
        }
    }

    /// A commit was taken, or it was not and changes nothing.
    pub fn committed(&mut self, refusal: Option<CommitRefusal>) {
        let CommitRefusal { fault, at } = refusal.unwrap_or(CommitRefusal { fault: BridgeCommitFault::Taken, at: 0 });
        let status = self.table(bridge_tables::STATUS);
        let before = BridgeStatus::from_bits(u128::from(*status));
        *status = bits(&BridgeStatus { fault, fault_at: at, ..before });
        *self.table(bridge_tables::REFUSED) += u64::from(refusal.is_some());
    }

    /// The windows of the shadow tables.
    ///
    /// # Errors
    /// Why they cannot be, the first fault by the number of its window.
    pub fn tables(&self, limits: WindowLimits, own: ControlWindow) -> Result<BridgeWindows, CommitRefusal> {
        let mut windows: Vec<BridgeWindow> = Vec::new();
        for n in 0..MOST_WINDOWS {
            let Some(window) = self.window(n)? else { continue };
            let is_wrong = |port: &usize| own.class_at(*port) != window.class;
            let is_misplaced = window.ports.iter().any(is_wrong);
            windows.push(window);
            // Those before it can be, so what is wrong is wrong with this one.
            let at = n as u16;
            let judged = BridgeWindows::within(limits, windows.clone(), OrderedMap::new(), own.ports);
            let judged = judged.map_err(|error| refusal(&error, at))?;
            let fault = match judged.meeting(own.base, CONTROL_BYTES) {
                _ if is_misplaced => BridgeCommitFault::PortClass,
                Some(_) => BridgeCommitFault::Control,
                None => continue,
            };
            return Err(CommitRefusal { fault, at });
        }
        let groups: OrderedMap<u16, usize> = (0..(BRIDGE_GROUP_REGISTERS * SOURCES_OF_REGISTER) as u16)
            .map(|source| {
                let (register, lsb) = of_source(source);
                (source, (self.values[register] >> lsb & 0xf) as usize)
            })
            .filter(|(_, group)| *group != 0)
            .collect();
        BridgeWindows::within(limits, windows, groups, own.ports).map_err(|error| refusal(&error, 0))
    }

    /// A window of the shadow tables; `None`: it is not valid.
    fn window(&self, n: usize) -> Result<Option<BridgeWindow>, CommitRefusal> {
        let value = |segment: Range<usize>| self.values[of_window(n, segment)];
        let control = BridgeWindowControl::from_bits(u128::from(value(bridge_window::CONTROL)));
        if !control.valid {
            return Ok(None);
        }
        let class = match control.line_class {
            BridgeWindowClass::Mc => Some(WindowClass::Mc),
            BridgeWindowClass::Mn => Some(WindowClass::Mn),
            BridgeWindowClass::Io => Some(WindowClass::Io),
            BridgeWindowClass::Cc => Some(WindowClass::Cc),
            BridgeWindowClass::Hp => Some(WindowClass::Hp),
            _ => None,
        };
        let granule = WINDOW_GRANULES.get(usize::from(control.granule.0)).copied();
        let ways = WINDOW_WAYS.get(usize::from(control.ways.0)).copied();
        let (Some(class), Some(granule), Some(ways)) = (class, granule, ways) else {
            return Err(CommitRefusal { fault: BridgeCommitFault::Code, at: n as u16 });
        };
        let rights = BridgeWindowRights::from_bits(u128::from(value(bridge_window::RIGHTS)));
        let may = |groups: u16, group: usize| groups >> group & 1 == 1;
        let ports = TARGETS.into_iter().flat_map(|segment| {
            let BridgeTargets { way_0, way_1, way_2, way_3 } = BridgeTargets::from_bits(u128::from(value(segment)));
            [way_0, way_1, way_2, way_3]
        });
        Ok(Some(BridgeWindow {
            base: value(bridge_window::BASE),
            size: value(bridge_window::SIZE),
            out_base: value(bridge_window::OUT_BASE),
            class,
            ports: ports.take(ways).map(usize::from).collect(),
            granule,
            rights: std::array::from_fn(|group| AccessRights {
                read: may(rights.may_read, group),
                write: may(rights.may_write, group),
                atomic: may(rights.may_atomic, group),
            }),
        }))
    }
}
