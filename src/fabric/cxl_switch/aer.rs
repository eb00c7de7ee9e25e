//! Which bridges record an error of a downstream link, and what hosts and the fabric manager see of it (`fabric` MLD-8, ERR-5).
//!
//! A reference for tests and RTL; no switch of a running system uses it yet. The tests of FAB-MLD-08 and FAB-ERR-05 judge this
//! reference alone.
//!
//! Modelled: the errors of PCI Express advanced error reporting (AER) by the rows of the table of the sheet, mask and severity
//! of each vPPB, the header log, and the log of the fabric manager, to which the physical bridge of a multi-logical device
//! belongs. Detail: sets of errors without time and without bit positions. Left out: where the errors come from, as links here
//! repair or report them themselves, and the registers around the log.
//!
//! A walk: an error comes with the port, the logical device that it belongs to if there is one, and the header of its TLP. At a
//! port that is bound whole its own vPPB records it and nobody else. At a port of a multi-logical device the row of the error
//! says who does; where it belongs to no single vPPB hosts see a header of all ones. A masked error sets its status and is
//! reported to nobody.

use super::binding::Bindings;
use super::command::Vppb;
use scalepool_ordered::{OrderedMap, OrderedSet};

/// Who records an error of the link of a multi-logical device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AerOwner {
    /// Every vPPB that is bound there.
    EveryBound,
    /// The vPPB whose logical device generated it, or to which it went.
    ItsLogicalDevice,
    /// No vPPB: its bit is hardwired to 0.
    Nobody,
}

/// Declares the errors with who records them.
macro_rules! aer_errors {
    ($($(#[doc = $doc:literal])* $name:ident: $owner:ident, $correctable:literal;)*) => {
        /// An error of advanced error reporting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum AerError {
            $($(#[doc = $doc])* $name,)*
        }

        impl AerError {
            /// All of them, in the order of the sheet.
            pub const ALL: &[AerError] = &[$(AerError::$name),*];

            /// Who records it at the port of a multi-logical device (`fabric` MLD-8).
            pub const fn owner(self) -> AerOwner {
                match self {
                    $(AerError::$name => AerOwner::$owner,)*
                }
            }

            /// Whether it is correctable, so that traffic goes on undisturbed.
            pub const fn is_correctable(self) -> bool {
                match self {
                    $(AerError::$name => $correctable,)*
                }
            }
        }
    };
}

aer_errors! {
    /// Data link protocol error.
    DataLinkProtocol: EveryBound, false;
    /// Surprise down.
    SurpriseDown: EveryBound, false;
    /// Flow control protocol error.
    FlowControlProtocol: EveryBound, false;
    /// Receiver overflow.
    ReceiverOverflow: EveryBound, false;
    /// Malformed TLP.
    MalformedTlp: EveryBound, false;
    /// Unsupported request.
    UnsupportedRequest: EveryBound, false;
    /// Uncorrectable internal error.
    UncorrectableInternal: EveryBound, false;
    /// Bad TLP.
    BadTlp: EveryBound, true;
    /// Bad DLLP.
    BadDllp: EveryBound, true;
    /// Replay timer time-out.
    ReplayTimeout: EveryBound, true;
    /// Replay number rollover.
    ReplayRollover: EveryBound, true;
    /// Advisory non-fatal error.
    Advisory: EveryBound, true;
    /// Corrected internal error.
    CorrectedInternal: EveryBound, true;
    /// Header log overflow.
    HeaderLogOverflow: EveryBound, true;
    /// Completer abort.
    CompleterAbort: ItsLogicalDevice, false;
    /// Unexpected completion.
    UnexpectedCompletion: ItsLogicalDevice, false;
    /// Poisoned TLP received.
    PoisonedTlp: Nobody, false;
    /// ECRC error.
    Ecrc: Nobody, false;
    /// ACS violation.
    AcsViolation: Nobody, false;
    /// Multicast blocked TLP.
    McBlocked: Nobody, false;
    /// AtomicOp egress blocked.
    AtomicOpEgressBlocked: Nobody, false;
    /// TLP prefix blocked.
    PrefixBlocked: Nobody, false;
    /// Poisoned TLP egress blocked.
    PoisonedEgressBlocked: Nobody, false;
}

/// The message that a bridge sends to its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorMessage {
    /// ERR_COR.
    Correctable,
    /// ERR_NONFATAL.
    NonFatal,
    /// ERR_FATAL.
    Fatal,
}

/// The header of a TLP \[double words\].
pub type TlpHeader = [u32; 4];

/// What hosts see as the header of an error that belongs to no single vPPB.
pub const NO_HEADER: TlpHeader = [u32::MAX; 4];

/// What software has set in a bridge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AerSettings {
    /// Errors that are not reported.
    pub masked: OrderedSet<AerError>,
    /// Uncorrectable errors that are fatal.
    pub fatal: OrderedSet<AerError>,
}

/// What a bridge has recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AerLog {
    /// Errors whose status is set.
    pub status: OrderedSet<AerError>,
    /// Header of the first unmasked uncorrectable error.
    pub header: Option<TlpHeader>,
    /// Messages to the host, in order.
    pub sent: Vec<(AerError, ErrorMessage)>,
}

/// An error as the fabric manager sees it, with its true header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagerError {
    /// The downstream port.
    pub port: usize,
    /// The error.
    pub error: AerError,
    /// The header of the TLP, if there was one.
    pub header: Option<TlpHeader>,
}

/// The error logs of all bridges of downstream ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AerBridges {
    settings: OrderedMap<Vppb, AerSettings>,
    logs: OrderedMap<Vppb, AerLog>,
    manager: Vec<ManagerError>,
}

impl AerBridges {
    /// Sets masks and severities of a vPPB.
    pub fn set(&mut self, vppb: Vppb, settings: AerSettings) {
        self.settings.insert(vppb, settings);
    }

    /// What a vPPB has recorded.
    pub fn log(&self, vppb: Vppb) -> AerLog {
        self.logs.get(&vppb).cloned().unwrap_or_default()
    }

    /// What the fabric manager has recorded: errors of ports that it owns, those of multi-logical devices.
    pub fn manager(&self) -> &[ManagerError] {
        &self.manager
    }

    /// Records an error of the link of a downstream port. `ld`: the logical device that generated or received it.
    pub fn record(
        &mut self,
        port: usize,
        error: AerError,
        ld: Option<u8>,
        header: Option<TlpHeader>,
        bindings: &Bindings,
    ) {
        let bound: Vec<(Vppb, Option<u8>)> =
            bindings.list().filter(|one| one.port == port).map(|one| ((one.vcs, one.vppb), one.ld)).collect();
        if let [(vppb, None)] = bound[..] {
            return self.record_at(vppb, error, header);
        }
        self.manager.push(ManagerError { port, error, header });
        for (vppb, own) in bound {
            match error.owner() {
                AerOwner::EveryBound => self.record_at(vppb, error, header.map(|_| NO_HEADER)),
                AerOwner::ItsLogicalDevice if own == ld => self.record_at(vppb, error, header),
                AerOwner::ItsLogicalDevice | AerOwner::Nobody => (),
            }
        }
    }

    fn record_at(&mut self, vppb: Vppb, error: AerError, header: Option<TlpHeader>) {
        let settings = self.settings.get(&vppb).cloned().unwrap_or_default();
        let log = self.logs.entry(vppb).or_default();
        log.status.insert(error);
        if settings.masked.contains(&error) {
            return;
        }
        let message = match error.is_correctable() {
            true => ErrorMessage::Correctable,
            false if settings.fatal.contains(&error) => ErrorMessage::Fatal,
            false => ErrorMessage::NonFatal,
        };
        if !error.is_correctable() {
            log.header = log.header.or(header);
        }
        log.sent.push((error, message));
    }
}
