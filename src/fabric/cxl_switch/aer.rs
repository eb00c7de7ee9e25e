//! Which bridges record an error of a downstream link, and what hosts and the fabric manager see of it (`fabric` MLD-8, ERR-5).
//!
//! A running switch records the loss of a link with its device or without it, damage of a line that the link made good, a fatal error
//! inside the switch, and what is injected.
//!
//! Modelled: the errors of PCI Express advanced error reporting (AER) by the rows of the table of the sheet, mask and severity
//! of each vPPB, the header log, and the log of the fabric manager, to which the physical bridge of a multi-logical device
//! belongs. Detail: sets of errors without time and without bit positions. Left out: the registers around the log, of which a host would clear
//! a status; so each error counts as recorded and reported each time that it comes.
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
    ($($(#[doc = $doc:literal])* $name:ident: $owner:ident, $correctable:literal, $word:literal;)*) => {
        /// An error of advanced error reporting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum AerError {
            $($(#[doc = $doc])* $name,)*
        }

        impl AerError {
            /// All of them, in the order of the sheet.
            pub const ALL: &[AerError] = &[$(AerError::$name),*];

            /// Their names, in the same order.
            pub const NAMES: &[&str] = &[$($word),*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(AerError::$name => $word,)*
                }
            }

            /// Its name in traces, where a bridge of a host records it.
            pub const fn mark(self) -> &'static str {
                match self {
                    $(AerError::$name => concat!("aer-", $word),)*
                }
            }

            /// The error of a name.
            pub fn by_name(name: &str) -> Option<AerError> {
                AerError::ALL.iter().copied().find(|error| error.name() == name)
            }

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
    DataLinkProtocol: EveryBound, false, "data-link-protocol";
    /// Surprise down.
    SurpriseDown: EveryBound, false, "surprise-down";
    /// Flow control protocol error.
    FlowControlProtocol: EveryBound, false, "flow-control-protocol";
    /// Receiver overflow.
    ReceiverOverflow: EveryBound, false, "receiver-overflow";
    /// Malformed TLP.
    MalformedTlp: EveryBound, false, "malformed-tlp";
    /// Unsupported request.
    UnsupportedRequest: EveryBound, false, "unsupported-request";
    /// Uncorrectable internal error.
    UncorrectableInternal: EveryBound, false, "uncorrectable-internal";
    /// Bad TLP.
    BadTlp: EveryBound, true, "bad-tlp";
    /// Bad DLLP.
    BadDllp: EveryBound, true, "bad-dllp";
    /// Replay timer time-out.
    ReplayTimeout: EveryBound, true, "replay-timeout";
    /// Replay number rollover.
    ReplayRollover: EveryBound, true, "replay-rollover";
    /// Advisory non-fatal error.
    Advisory: EveryBound, true, "advisory";
    /// Corrected internal error.
    CorrectedInternal: EveryBound, true, "corrected-internal";
    /// Header log overflow.
    HeaderLogOverflow: EveryBound, true, "header-log-overflow";
    /// Completer abort.
    CompleterAbort: ItsLogicalDevice, false, "completer-abort";
    /// Unexpected completion.
    UnexpectedCompletion: ItsLogicalDevice, false, "unexpected-completion";
    /// Poisoned TLP received.
    PoisonedTlp: Nobody, false, "poisoned-tlp";
    /// ECRC error.
    Ecrc: Nobody, false, "ecrc";
    /// ACS violation.
    AcsViolation: Nobody, false, "acs-violation";
    /// Multicast blocked TLP.
    McBlocked: Nobody, false, "mc-blocked";
    /// AtomicOp egress blocked.
    AtomicOpEgressBlocked: Nobody, false, "atomic-op-egress-blocked";
    /// TLP prefix blocked.
    PrefixBlocked: Nobody, false, "prefix-blocked";
    /// Poisoned TLP egress blocked.
    PoisonedEgressBlocked: Nobody, false, "poisoned-egress-blocked";
}

/// What a bridge, or the fabric manager, has recorded of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AerRecord {
    /// The downstream port at which it came.
    pub port: usize,
    /// The vPPB whose bridge records it; `None`: the fabric manager.
    pub vppb: Option<Vppb>,
    /// The error.
    pub error: AerError,
    /// The message to the host; `None`: it is masked, or the manager's.
    pub message: Option<ErrorMessage>,
    /// The header as it is seen there.
    pub header: Option<TlpHeader>,
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

impl ErrorMessage {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorMessage::Correctable => "err_cor",
            ErrorMessage::NonFatal => "err_nonfatal",
            ErrorMessage::Fatal => "err_fatal",
        }
    }
}

/// The header of a TLP \[double words\].
pub type TlpHeader = [u32; 4];

/// What hosts see as the header of an error that belongs to no single vPPB.
pub const NO_HEADER: TlpHeader = [u32::MAX; 4];

/// Errors that are fatal before software sets severities: the default values of the Uncorrectable Error Severity register of PCI
/// Express, which the sheet does not list (`fabric` ERR-5: \[C\]).
pub const FATAL_BY_DEFAULT: [AerError; 6] = [
    AerError::DataLinkProtocol,
    AerError::SurpriseDown,
    AerError::FlowControlProtocol,
    AerError::ReceiverOverflow,
    AerError::MalformedTlp,
    AerError::UncorrectableInternal,
];

/// What software has set in a bridge. By default the severities are those of [`FATAL_BY_DEFAULT`], and nothing is masked: PCI Express
/// masks internal errors, advisory ones and overflows of the log until software wants them, and here it has done so (our choice).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AerSettings {
    /// Errors that are not reported.
    pub masked: OrderedSet<AerError>,
    /// Uncorrectable errors that are fatal.
    pub fatal: OrderedSet<AerError>,
}

impl Default for AerSettings {
    fn default() -> AerSettings {
        AerSettings { masked: OrderedSet::new(), fatal: FATAL_BY_DEFAULT.into_iter().collect() }
    }
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

    /// Records an error of the link of a downstream port; the records. `ld`: the logical device that generated or received it.
    pub fn record(
        &mut self,
        port: usize,
        error: AerError,
        ld: Option<u8>,
        header: Option<TlpHeader>,
        bindings: &Bindings,
    ) -> Vec<AerRecord> {
        let bound: Vec<(Vppb, Option<u8>)> =
            bindings.list().filter(|one| one.port == port).map(|one| ((one.vcs, one.vppb), one.ld)).collect();
        if let [(vppb, None)] = bound[..] {
            return vec![self.record_at(port, vppb, error, header)];
        }
        self.manager.push(ManagerError { port, error, header });
        let mut records = vec![AerRecord { port, vppb: None, error, message: None, header }];
        for (vppb, own) in bound {
            let seen = match error.owner() {
                AerOwner::EveryBound => header.map(|_| NO_HEADER),
                AerOwner::ItsLogicalDevice if own == ld => header,
                AerOwner::ItsLogicalDevice | AerOwner::Nobody => continue,
            };
            records.push(self.record_at(port, vppb, error, seen));
        }
        records
    }

    fn record_at(&mut self, port: usize, vppb: Vppb, error: AerError, header: Option<TlpHeader>) -> AerRecord {
        let settings = self.settings.get(&vppb).cloned().unwrap_or_default();
        let log = self.logs.entry(vppb).or_default();
        log.status.insert(error);
        if settings.masked.contains(&error) {
            return AerRecord { port, vppb: Some(vppb), error, message: None, header };
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
        AerRecord { port, vppb: Some(vppb), error, message: Some(message), header }
    }
}
