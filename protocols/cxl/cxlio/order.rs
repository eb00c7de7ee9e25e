//! Which TLP may pass which at a place where TLPs wait (`fabric` §4.1).
//!
//! Modelled: the table of the sheet, cell by cell, with relaxed ordering and ordering by ID. Left out: PASIDs, which could tell two
//! requesters of one ID apart; the cell for bridges to conventional PCI, where a posted request has to be able to pass completions.

/// Rows and columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlpOrderKind {
    /// Memory writes and messages.
    Posted,
    /// Requests with a completion that carry no data.
    Read,
    /// Requests with a completion that carry data.
    NonPostedData,
    /// Completions.
    Completion,
}

impl TlpOrderKind {
    /// All, in the order of the rows.
    pub const ALL: [TlpOrderKind; 4] =
        [TlpOrderKind::Posted, TlpOrderKind::Read, TlpOrderKind::NonPostedData, TlpOrderKind::Completion];

    /// As the rows are called.
    pub const fn name(self) -> &'static str {
        match self {
            TlpOrderKind::Posted => "posted request",
            TlpOrderKind::Read => "read request",
            TlpOrderKind::NonPostedData => "non-posted request with data",
            TlpOrderKind::Completion => "completion",
        }
    }
}

/// What the order of a TLP depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlpOrder {
    /// Its row.
    pub kind: TlpOrderKind,
    /// Traffic class.
    pub tc: u8,
    /// It is unordered I/O, which has no order with anything (`fabric` ORD-1).
    pub is_unordered: bool,
    /// Relaxed ordering, RO.
    pub is_relaxed: bool,
    /// Ordering by ID, IDO.
    pub is_by_id: bool,
    /// Bus, device and function of the requester.
    pub requester: u16,
    /// Bus, device and function of the completer; 0 of a request.
    pub completer: u16,
    /// Names the transaction with the requester.
    pub tag: u16,
    /// Of a completion: it ends a write to I/O space or configuration space.
    pub ends_write: bool,
}

impl TlpOrder {
    /// A TLP of traffic class 0 without attributes.
    pub const fn new(kind: TlpOrderKind, requester: u16, tag: u16) -> TlpOrder {
        TlpOrder {
            kind,
            tc: 0,
            is_unordered: false,
            is_relaxed: false,
            is_by_id: false,
            requester,
            completer: 0,
            tag,
            ends_write: false,
        }
    }

    /// Whether nothing orders the two, whatever they are: different traffic classes, or unordered I/O (`fabric` ORD-1).
    pub const fn is_apart_from(&self, other: &TlpOrder) -> bool {
        self.tc != other.tc || self.is_unordered || other.is_unordered
    }
}

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpPassing {
    /// The later one stays behind.
    No,
    /// It may pass.
    May,
    /// It has to be able to pass, or a circle of waits can arise.
    Must,
}

/// Whether a later TLP may pass an earlier one (`fabric` §4.1). Where nothing orders the two it may, and where it has to be able to, that stays.
pub fn passing(later: &TlpOrder, earlier: &TlpOrder) -> TlpPassing {
    match in_class(later, earlier) {
        TlpPassing::No if later.is_apart_from(earlier) => TlpPassing::May,
        cell => cell,
    }
}

/// The table, for TLPs of one traffic class.
fn in_class(later: &TlpOrder, earlier: &TlpOrder) -> TlpPassing {
    use TlpOrderKind::{Completion, NonPostedData, Posted, Read};
    let may = |is_allowed| if is_allowed { TlpPassing::May } else { TlpPassing::No };
    let is_of_another = later.is_by_id && later.requester != earlier.requester;
    match (later.kind, earlier.kind) {
        // (a)
        (Posted | NonPostedData, Posted) => may(later.is_relaxed || is_of_another),
        // (c)
        (Read, Posted) => may(is_of_another),
        // (d)
        (Completion, Posted) => {
            may(later.is_relaxed || later.is_by_id && later.completer != earlier.requester || later.ends_write)
        }
        (Posted | Completion, Read | NonPostedData) => TlpPassing::Must,
        // (b)
        (Posted, Completion) => TlpPassing::May,
        (Read | NonPostedData, Read | NonPostedData | Completion) => TlpPassing::May,
        // (e)
        (Completion, Completion) => may((later.requester, later.tag) != (earlier.requester, earlier.tag)),
    }
}
