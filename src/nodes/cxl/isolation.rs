//! Time-out and isolation of CXL.mem at a root port (`fabric` §1.9).
//!
//! Modelled: the enable bits and the status bits of CXL.mem, what a time-out and a link that goes down do, how requests end at an
//! isolated port, and how isolation ends. Detail: events, without time: the host has the timers of its requests. What a root
//! port answers to snoops of an isolated CXL.cache ([`IsolatedLine`], [`IsolatedSnoop`]) is a reference for tests and RTL: no host of a
//! running system uses it yet, and the tests of FAB-ISO-04 judge this reference alone. Left out: ERR_COR and interrupts; a reference of
//! the registers is in [`isolation_registers`](super::isolation_registers).
//!
//! A walk: a request times out, and ends; with isolation on time-out the port is isolated, so that all others end too and new
//! ones end at once. Software clears the status when none is open; once the link has been down in between, the port is used
//! again.

/// How a request ends at an isolated port, or when it has timed out (`fabric` ISO-3, ISO-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolatedAnswer {
    /// A read: poisoned data, the synchronous error.
    PoisonedData,
    /// A write: a completion, as if it had been done.
    Completion,
}

impl IsolatedAnswer {
    /// Of a read or a write.
    pub const fn of(is_write: bool) -> IsolatedAnswer {
        if is_write { IsolatedAnswer::Completion } else { IsolatedAnswer::PoisonedData }
    }
}

/// What the root port knows of a line when a snoop of it would go to an isolated device (`fabric` ISO-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolatedLine {
    /// The device may own it exclusively, modified or not.
    MaybeOwned,
    /// The device has at most a shared copy.
    SharedOrInvalid,
    /// The device owes its data, as a WritePull is open.
    OpenWritePull,
}

/// What the root port answers in the place of an isolated device of CXL.cache (`fabric` ISO-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolatedSnoop {
    /// The data are lost: the line is poisoned, and the device has it no more.
    Poisoned,
    /// The device counts as having no copy, and memory has the data.
    Invalid,
}

impl IsolatedSnoop {
    /// The answer for a line.
    pub const fn of(line: IsolatedLine) -> IsolatedSnoop {
        match line {
            IsolatedLine::MaybeOwned | IsolatedLine::OpenWritePull => IsolatedSnoop::Poisoned,
            IsolatedLine::SharedOrInvalid => IsolatedSnoop::Invalid,
        }
    }
}

/// Enable bits of CXL.mem in the control register (`fabric` §1.9, 8h); all are 0 after reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IsolationControl {
    /// Bit 16: a time-out isolates the port.
    pub on_timeout: bool,
    /// Bit 17: link down isolates the port.
    pub on_link_down: bool,
}

/// Status bits of CXL.mem (`fabric` §1.9, Ch).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IsolationStatus {
    /// Bit 0: a request has timed out.
    pub timed_out: bool,
    /// Bit 8: the port is isolated.
    pub isolated: bool,
    /// Bit 9: link down has isolated it.
    pub by_link_down: bool,
}

/// Why the status is not cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("found {open} open requests, expected none: the root port is busy (fabric ISO-5)")]
pub struct PortBusy {
    /// Requests that have not ended.
    pub open: usize,
}

/// A root port with the capability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootPortIsolation {
    control: IsolationControl,
    status: IsolationStatus,
    /// The link has not been down since the port was isolated.
    awaits_link_down: bool,
}

impl RootPortIsolation {
    /// A port with these enable bits.
    pub fn new(control: IsolationControl) -> RootPortIsolation {
        RootPortIsolation { control, ..RootPortIsolation::default() }
    }

    /// Its status.
    pub fn status(&self) -> IsolationStatus {
        self.status
    }

    /// A request has timed out. Whether this isolates the port, so that all others end too.
    pub fn timed_out(&mut self) -> bool {
        self.status.timed_out = true;
        let isolates = self.control.on_timeout && !self.is_isolated();
        if isolates {
            self.status.isolated = true;
            self.awaits_link_down = true;
        }
        isolates
    }

    /// The link has gone down. Whether this isolates the port.
    pub fn link_down(&mut self) -> bool {
        let was_isolated = self.is_isolated();
        self.awaits_link_down = false;
        if self.control.on_link_down {
            self.status.isolated = true;
            self.status.by_link_down = true;
        }
        self.control.on_link_down && !was_isolated
    }

    /// Software clears all status bits while so many requests are open at the port.
    ///
    /// # Errors
    /// Requests are open; the status stays as it is.
    pub fn clear(&mut self, open: usize) -> Result<(), PortBusy> {
        if open > 0 {
            return Err(PortBusy { open });
        }
        self.status = IsolationStatus::default();
        Ok(())
    }

    /// Whether requests end at the port, without a message on the link.
    pub fn is_isolated(&self) -> bool {
        self.status.isolated || self.awaits_link_down
    }

    /// How a request ends that begins now; `None`: it goes to the link.
    pub fn answer(&self, is_write: bool) -> Option<IsolatedAnswer> {
        self.is_isolated().then(|| IsolatedAnswer::of(is_write))
    }
}
