//! Who records an error of a downstream link (`fabric` MLD-8, ERR-5).

use scalepool::fabric::cxl_switch::aer::{
    AerBridges, AerError, AerLog, AerOwner, AerSettings, ErrorMessage, ManagerError, NO_HEADER, TlpHeader,
};
use scalepool::fabric::cxl_switch::{Bindings, VppbBinding};
use scalepool::ordered::OrderedSet;

const HEADER: TlpHeader = [0x4a00_0001, 2, 3, 4];
/// vPPBs of the logical devices 0 to 2 of port 0, and of port 1, which is bound whole.
const VPPBS: [(usize, usize); 4] = [(0, 0), (1, 0), (2, 0), (0, 1)];

fn bindings() -> Bindings {
    let mut bindings = Bindings::new(3, 2, 3);
    for (n, (vcs, vppb)) in VPPBS.into_iter().enumerate() {
        let (port, ld) = if n < 3 { (0, Some(n as u8)) } else { (1, None) };
        bindings.bind(VppbBinding { vcs, vppb, port, ld }).expect("it is free");
    }
    bindings
}

/// Logs of all vPPBs after an error of a port, which logical device 1 generated or received.
fn logs(port: usize, error: AerError, settings: &AerSettings) -> ([AerLog; 4], AerBridges) {
    let mut bridges = AerBridges::default();
    VPPBS.iter().for_each(|vppb| bridges.set(*vppb, settings.clone()));
    bridges.record(port, error, (port == 0).then_some(1), Some(HEADER), &bindings());
    (VPPBS.map(|vppb| bridges.log(vppb)), bridges)
}

/// Which vPPBs have recorded it.
fn recorded(port: usize, error: AerError) -> [bool; 4] {
    let (logs, _) = logs(port, error, &AerSettings::default());
    logs.map(|log| {
        assert_eq!(log.status.is_empty(), log.sent.is_empty());
        log.status.contains(&error)
    })
}

/// The rows of the table.
pub const EVERY: [AerError; 14] = [
    AerError::DataLinkProtocol,
    AerError::SurpriseDown,
    AerError::FlowControlProtocol,
    AerError::ReceiverOverflow,
    AerError::MalformedTlp,
    AerError::UnsupportedRequest,
    AerError::UncorrectableInternal,
    AerError::BadTlp,
    AerError::BadDllp,
    AerError::ReplayTimeout,
    AerError::ReplayRollover,
    AerError::Advisory,
    AerError::CorrectedInternal,
    AerError::HeaderLogOverflow,
];
/// Severities of PCI Express before software sets them.
const FATAL: [AerError; 6] = [
    AerError::DataLinkProtocol,
    AerError::SurpriseDown,
    AerError::FlowControlProtocol,
    AerError::ReceiverOverflow,
    AerError::MalformedTlp,
    AerError::UncorrectableInternal,
];
pub const ITS_OWN: [AerError; 2] = [AerError::CompleterAbort, AerError::UnexpectedCompletion];

#[test]
fn fab_mld_08_p() {
    for error in AerError::ALL {
        let expected = match (EVERY.contains(error), ITS_OWN.contains(error)) {
            (true, _) => [true, true, true, false],
            (_, true) => [false, true, false, false],
            _ => [false; 4],
        };
        assert_eq!(recorded(0, *error), expected, "{error:?}");
        let (logs, bridges) = logs(0, *error, &AerSettings::default());
        // The manager, to which the physical bridge belongs, has the true header; hosts have it where it is theirs.
        assert_eq!(bridges.manager(), [ManagerError { port: 0, error: *error, header: Some(HEADER) }]);
        let header = |log: &AerLog| (!error.is_correctable() && !log.status.is_empty()).then_some(log.header);
        let seen = if ITS_OWN.contains(error) { HEADER } else { NO_HEADER };
        assert!(logs.iter().filter_map(header).all(|header| header == Some(seen)), "{error:?}");
    }
}

/// Masks and severities are those of each vPPB, and what is recorded elsewhere is seen.
#[test]
fn fab_mld_08_n() {
    let mut bridges = AerBridges::default();
    let error = AerError::MalformedTlp;
    bridges.set(VPPBS[0], AerSettings { masked: OrderedSet::from_iter([error]), ..AerSettings::default() });
    bridges.set(VPPBS[1], AerSettings { fatal: OrderedSet::from_iter([error]), ..AerSettings::default() });
    bridges.set(VPPBS[2], AerSettings { fatal: OrderedSet::new(), ..AerSettings::default() });
    bridges.record(0, error, None, Some(HEADER), &bindings());
    let logs = VPPBS.map(|vppb| bridges.log(vppb));
    assert!(logs[0].status.contains(&error) && logs[0].sent.is_empty() && logs[0].header.is_none(), "{:?}", logs[0]);
    assert_eq!(logs[1].sent, [(error, ErrorMessage::Fatal)]);
    assert_eq!(logs[2].sent, [(error, ErrorMessage::NonFatal)]);
    let by_owner = |owner| AerError::ALL.iter().filter(|error| error.owner() == owner).count();
    assert_eq!([AerOwner::EveryBound, AerOwner::ItsLogicalDevice, AerOwner::Nobody].map(by_owner), [14, 2, 7]);
}

/// The bridge of the port alone, with its header, and nothing for the manager; a correctable one is told as such.
#[test]
fn fab_err_05_p() {
    for error in AerError::ALL {
        assert_eq!(recorded(1, *error), [false, false, false, true], "{error:?}");
        let (logs, bridges) = logs(1, *error, &AerSettings::default());
        assert_eq!(bridges.manager(), []);
        let (message, header) = match error.is_correctable() {
            true => (ErrorMessage::Correctable, None),
            false if FATAL.contains(error) => (ErrorMessage::Fatal, Some(HEADER)),
            false => (ErrorMessage::NonFatal, Some(HEADER)),
        };
        assert_eq!((&logs[3].sent[..], logs[3].header), (&[(*error, message)][..], header), "{error:?}");
    }
}

/// A port that nothing is bound to belongs to the manager: no host records its errors.
#[test]
fn fab_err_05_n() {
    assert_eq!(recorded(2, AerError::SurpriseDown), [false; 4]);
    assert_ne!(recorded(0, AerError::SurpriseDown), recorded(1, AerError::SurpriseDown));
}
