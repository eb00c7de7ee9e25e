//! What the fabric manager is told to do, how it ends, and why it is refused (`fabric` §1.2 to §1.4).
//!
//! Modelled: commands of the manager, and what happens to a switch without one; their options and their completions. Detail: values
//! without time. Left out: the mailbox, its opcodes beside the two of bindings, and return codes. A walk: a command is given at
//! its time; the [manager](super::manager) does it, and it ends with an event, or is refused with a reason and changes nothing.

use super::aer::{AerError, TlpHeader};
use super::binding::{BindingError, VppbBinding};
use super::committing::TableKind;
use super::plug::PlugAction;
use super::reset::ResetScope;
use super::violation;
use scalepool_protocols::wire::Violation;

/// A vPPB, identified by VCS and number.
pub type Vppb = (usize, usize);

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerCommand {
    /// Bind vPPB, opcode 5201h.
    Bind(VppbBinding),
    /// Unbind vPPB, opcode 5202h.
    Unbind {
        /// The vPPB.
        vppb: Vppb,
        /// How.
        option: UnbindOption,
    },
    /// Reset what is bound.
    Reset(ResetScope),
    /// Containment of the logical device of a vPPB (virtual DPC), by an error message of it or by software (`fabric` MLD-7).
    Contain {
        /// The vPPB.
        vppb: Vppb,
        /// Why.
        cause: ContainmentCause,
    },
    /// The trigger status of a containment is cleared.
    Uncontain(Vppb),
    /// No command of a mailbox: a port goes viral, or the switch does inside.
    Viral(ResetScope),
    /// No command of a mailbox: something happens to the device or the link of a downstream port.
    Plug(usize, PlugAction),
    /// No command of a mailbox: an error comes at a downstream port (`fabric` MLD-8, ERR-5).
    Error(PortError),
    /// No command of a mailbox: the host of a vPPB agrees to the removal of the device (`fabric` MLD-10).
    Ready(Vppb),
}

/// An error of the link of a downstream port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortError {
    /// The port.
    pub port: usize,
    /// The error.
    pub error: AerError,
    /// The logical device that generated or received it.
    pub ld: Option<u8>,
    /// The header of its TLP.
    pub header: Option<TlpHeader>,
}

/// What may trigger the containment of a logical device (`fabric` MLD-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainmentCause {
    /// ERR_FATAL of the logical device.
    FatalMessage,
    /// ERR_NONFATAL of the logical device.
    NonFatalMessage,
    /// Software writes the trigger.
    Software,
    /// An unmasked uncorrectable error of the link, without a message of the device: it triggers nothing.
    UncorrectableError,
}

impl ContainmentCause {
    /// Whether it triggers.
    pub const fn triggers(self) -> bool {
        !matches!(self, ContainmentCause::UncorrectableError)
    }
}

/// Option of an unbind command (`fabric` BND-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnbindOption {
    /// Code 0: wait for link down. Outstanding requests get their responses.
    WaitLinkDown,
    /// Code 1: act as a managed hot-remove. Outstanding requests get their responses.
    ManagedRemove,
    /// Code 2: act as a surprise hot-remove. Outstanding requests are lost.
    SurpriseRemove,
}

impl UnbindOption {
    /// The option of a code.
    ///
    /// # Errors
    /// Invalid input: a code that is not defined.
    pub fn of_code(code: u8) -> Result<UnbindOption, CommandError> {
        match code {
            0 => Ok(UnbindOption::WaitLinkDown),
            1 => Ok(UnbindOption::ManagedRemove),
            2 => Ok(UnbindOption::SurpriseRemove),
            found => Err(CommandError::Option { found }),
        }
    }
}

/// A command with its time of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedCommand {
    /// Cycle of the switch in which the command starts.
    pub at_cycle: u64,
    /// The command.
    pub command: ManagerCommand,
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Invalid input.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// Invalid input: an option that is not defined.
    #[error("found unbind option {found}, expected 0, 1 or 2 (fabric BND-4)")]
    Option {
        /// The code that was given.
        found: u8,
    },
    /// Busy: responses to the previous host are still outstanding.
    #[error("found port {port} with {due} answers due to the host before, expected none (fabric BND-6)")]
    Late {
        /// The port.
        port: usize,
        /// Number of outstanding responses.
        due: u64,
    },
    /// Busy: an unbind or a reset of the vPPB, or of the port, has not ended.
    #[error("found an unbind or a reset of vPPB {1} of VCS {0} under way, expected none (fabric BND-7)", .vppb.0, .vppb.1)]
    Busy {
        /// The vPPB that is being unbound or reset.
        vppb: Vppb,
    },
    /// Invalid input: containment of what is no logical device.
    #[error("found vPPB {1} of VCS {0}, which is not bound to a logical device, expected one that is (fabric MLD-7)", .vppb.0, .vppb.1)]
    NoLogicalDevice {
        /// The vPPB.
        vppb: Vppb,
    },
    /// Invalid input: the end of a containment of what is not contained.
    #[error("found vPPB {1} of VCS {0}, which is not contained, expected one that is (fabric MLD-7)", .vppb.0, .vppb.1)]
    NotContained {
        /// The vPPB.
        vppb: Vppb,
    },
    /// Invalid input: a port that goes viral and is part of no hierarchy where viral is enabled.
    #[error("found {found} going viral, expected a port of a hierarchy, with viral enabled at its vPPB (fabric VIR-1)")]
    NoHierarchy {
        /// What was to go viral.
        found: ResetScope,
    },
    /// The link of the port is down.
    #[error("found a link at port {port} that is down, expected one that is up (fabric BND-8)")]
    LinkDown {
        /// The port.
        port: usize,
    },
    /// The port has no device.
    #[error("found no device at port {port}, expected one (fabric BND-8)")]
    NoDevice {
        /// The port.
        port: usize,
    },
    /// Invalid input: a logical device where there are none.
    #[error("found LD {found} at port {port}, expected none: the port has no logical devices (fabric BND-7)")]
    NotShared {
        /// The port.
        port: usize,
        /// The number that was given.
        found: u8,
    },
    /// Invalid input: a logical device that the device does not have.
    #[error("found LD {found} at port {port}, expected 0 to {} (fabric BND-7)", .count - 1)]
    NoLd {
        /// The port.
        port: usize,
        /// The number that was given.
        found: u8,
        /// How many it has.
        count: u8,
    },
    /// The port has a device.
    #[error("found a device at port {port}, expected none (fabric BND-8)")]
    Device {
        /// The port.
        port: usize,
    },
    /// Nobody can agree to a removal.
    #[error(
        "found no vPPB that is bound to port {port}, expected one whose host can agree to a removal (fabric MLD-10)"
    )]
    NoHost {
        /// The port.
        port: usize,
    },
    /// A removal awaits its hosts already.
    #[error("found a removal at port {port} that awaits its hosts, expected none (fabric MLD-10)")]
    RemovalUnderWay {
        /// The port.
        port: usize,
    },
    /// No removal awaits the host of the vPPB.
    #[error("found vPPB {1} of VCS {0}, whose host no removal awaits, expected one that sees the attention button (fabric MLD-10)", .vppb.0, .vppb.1)]
    NotAwaited {
        /// The vPPB.
        vppb: Vppb,
    },
    /// Invalid input: a reset that covers nothing.
    #[error("found a reset of {found}, where nothing is bound, expected one of a bound vPPB (fabric §1.4)")]
    Nothing {
        /// What was to be reset.
        found: ResetScope,
    },
}

impl CommandError {
    /// The finding of a run in which it comes.
    pub fn violation(&self) -> Violation {
        let said = self.to_string();
        let (found, expected) = said.split_once(", expected ").unwrap_or((&said, "a command that can be done"));
        let found = found.strip_prefix("found ").unwrap_or(found);
        violation("FAB-BND-07", found, expected, "a command of the fabric manager is refused, and changes nothing")
    }
}

/// What the fabric manager is told: how a command has ended, and what has happened without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerEvent {
    /// A vPPB is bound.
    Bound(VppbBinding),
    /// A vPPB has been unbound; the number counts the messages of the vPPB that were flushed.
    Unbound(VppbBinding, u64),
    /// A vPPB has been reset; the number counts its messages that were flushed.
    Reset(VppbBinding, u64),
    /// The reset of a vPPB is over, and it is used again.
    Released(VppbBinding),
    /// The link of a vPPB that stays bound has gone down; the number counts its messages that were flushed.
    Lost(VppbBinding, u64),
    /// The logical device of a vPPB is contained, of which the manager is told; the number counts its messages that were
    /// flushed.
    Contained(VppbBinding, u64),
    /// The containment of a vPPB is over: by command its traffic goes on, by a reset or an unbind it ends with what was bound (our
    /// choice, the sheet names the cleared trigger status alone).
    Uncontained(Vppb),
    /// The hierarchy of an upstream port has gone viral.
    Viral(usize),
    /// A conventional reset has ended viral of a hierarchy.
    ViralOver(usize),
    /// The command was refused and changed nothing.
    Refused(ManagerCommand, CommandError),
    /// A table of a hierarchy is committed, and used from here on.
    Committed(usize, TableKind),
    /// The commit of a table of a hierarchy has ended as an error: the table is not used.
    CommitFailed(usize, TableKind),
    /// A message came at a downstream port, counted from 0, with an LD-ID that is bound to no vPPB, and is dropped (`fabric` MLD-5).
    /// Late answers of what has been unbound are none of these.
    UnknownLd(usize, u8),
    /// The routing tables lead around links that were lost (`fabric` ISL-7).
    Rerouted,
}
