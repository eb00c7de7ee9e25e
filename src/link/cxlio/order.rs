//! Who may leave in front of whom, and the judge of who did.
//!
//! Modelled: the two policies of the sheet for waiting TLPs (`fabric` ORD-2), each a function of the later and the earlier TLP; and a judge
//! that compares every TLP that leaves in front of others, and every clock in which none leaves, with the table of the sheet
//! ([`passing`]). The judge asks no policy, so a wrong one is found. TLPs of UIO wait in queues of their own, with the
//! credits of their channel. Left out: PASIDs.

use super::queue::Queues;
use super::tlp::{IoCreditClass, IoTlp, IoTlpForm};
use crate::event::finding;
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::cxl::cxlio::flit_mode::{FmCpl, FmMem32};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32};
use scalepool_protocols::cxl::cxlio::order::{TlpOrder, TlpOrderKind, TlpPassing, passing};
use scalepool_protocols::wire::{Violation, Wire};

/// A policy for TLPs that wait.
#[derive(Debug, Clone, Copy)]
pub struct IoOrder {
    /// Its name in descriptions.
    pub name: &'static str,
    /// It passes only where it has to be able to (`fabric` ORD-2).
    pub is_strict: bool,
    /// Whether the first TLP, which came later, may leave in front of the second one.
    pub passes: fn(&TlpOrder, &TlpOrder) -> bool,
}

impl IoOrder {
    /// What has to be able to pass passes, nothing else (`fabric` ORD-2).
    pub const STRICT: IoOrder = IoOrder { name: "strict", is_strict: true, passes: passes_requests };
    /// Whatever may pass passes.
    pub const RELAXED: IoOrder = IoOrder { name: "relaxed", is_strict: false, passes: passes_all_it_may };
    /// Names of the policies.
    pub const NAMES: &'static [&'static str] = &[IoOrder::STRICT.name, IoOrder::RELAXED.name];

    /// The policy of a name.
    pub fn by_name(name: &str) -> Option<IoOrder> {
        [IoOrder::STRICT, IoOrder::RELAXED].into_iter().find(|one| one.name == name)
    }
}

impl Default for IoOrder {
    fn default() -> IoOrder {
        IoOrder::STRICT
    }
}

impl PartialEq for IoOrder {
    fn eq(&self, other: &IoOrder) -> bool {
        (self.name, self.is_strict) == (other.name, other.is_strict)
    }
}

impl Eq for IoOrder {}

/// Whether it is a request that somebody answers.
fn is_non_posted(one: &TlpOrder) -> bool {
    matches!(one.kind, TlpOrderKind::Read | TlpOrderKind::NonPostedData)
}

/// Posted requests and completions pass requests that wait for room at their completer.
fn passes_requests(later: &TlpOrder, earlier: &TlpOrder) -> bool {
    is_non_posted(earlier) && !is_non_posted(later)
}

/// Posted requests hold what has no leave to pass them, and completions of one transaction stay in order.
fn passes_all_it_may(later: &TlpOrder, earlier: &TlpOrder) -> bool {
    if later.is_apart_from(earlier) || is_non_posted(earlier) {
        return true;
    }
    if earlier.kind == TlpOrderKind::Completion {
        let is_of_one = (later.requester, later.tag) == (earlier.requester, earlier.tag);
        return later.kind != TlpOrderKind::Completion || !is_of_one;
    }
    match later.kind {
        TlpOrderKind::Completion => {
            later.is_relaxed || later.ends_write || later.is_by_id && later.completer != earlier.requester
        }
        TlpOrderKind::Read => later.is_by_id && later.requester != earlier.requester,
        TlpOrderKind::Posted | TlpOrderKind::NonPostedData => {
            later.is_relaxed || later.is_by_id && later.requester != earlier.requester
        }
    }
}

/// Rule that holds a TLP of a kind behind others.
const fn row_rule(kind: TlpOrderKind) -> &'static str {
    match kind {
        TlpOrderKind::Posted => "FAB-ORD-09",
        TlpOrderKind::Read => "FAB-ORD-10",
        TlpOrderKind::NonPostedData => "FAB-ORD-11",
        TlpOrderKind::Completion => "FAB-ORD-12",
    }
}

/// Judges the choice of one of the waiting TLPs, by its place, or of none, with a queue of this policy and TLPs that the peer has room for.
pub fn judge(
    order: &IoOrder,
    waiting: &Queues,
    chosen: Option<usize>,
    fits: impl Fn(&IoTlp) -> bool,
) -> Option<Violation> {
    let Some(n) = chosen else { return stuck(waiting, fits) };
    let later = waiting.order(n)?;
    (0..n).filter_map(|m| waiting.order(m)).find_map(|earlier| {
        let (rule, expected) = match passing(later, earlier) {
            TlpPassing::No => (row_rule(later.kind), "it to stay behind"),
            TlpPassing::May if order.is_strict => ("FAB-ORD-02", "it to pass only what it has to be able to pass"),
            _ => return None,
        };
        let found = format!("a {} in front of an earlier {}", later.kind.name(), earlier.kind.name());
        let text = format!(
            "the {} with tag {:#x} of requester {:#06x} left in front of that with tag {:#x} of {:#06x}",
            later.kind.name(),
            later.tag,
            later.requester,
            earlier.tag,
            earlier.requester
        );
        Some(finding(rule, found, expected, &text))
    })
}

/// A TLP that has room and has to be able to pass all in front of it, although nothing leaves.
fn stuck(waiting: &Queues, fits: impl Fn(&IoTlp) -> bool) -> Option<Violation> {
    let held = (0..waiting.count()).find(|n| {
        let Some(later) = waiting.order(*n).filter(|_| waiting.tlp(*n).is_some_and(&fits)) else { return false };
        // From the nearest on, as in `Queues::next`.
        (0..*n).rev().filter_map(|m| waiting.order(m)).all(|earlier| passing(later, earlier) == TlpPassing::Must)
    })?;
    let later = waiting.order(held)?;
    let rule = if later.kind == TlpOrderKind::Completion { "FAB-ORD-03" } else { row_rule(later.kind) };
    let found = format!("a {} behind {held} requests that wait for room", later.kind.name());
    Some(finding(rule, found, "it to pass them", "a TLP waits for requests that it has to be able to pass"))
}

impl IoTlp {
    /// What its order depends on.
    pub fn order(&self) -> TlpOrder {
        let kind = match self.kind() {
            IoCreditClass::Posted => TlpOrderKind::Posted,
            IoCreditClass::NonPosted if self.payload().is_empty() => TlpOrderKind::Read,
            IoCreditClass::NonPosted => TlpOrderKind::NonPostedData,
            IoCreditClass::Completion => TlpOrderKind::Completion,
        };
        // The first three DW of all requests have these fields at one place.
        let bits = self.header().iter().take(12).fold(0, |n, &byte| n << 8 | u128::from(byte));
        let is_completion = kind == TlpOrderKind::Completion;
        let is_without_data = self.payload().is_empty();
        match self.form() {
            IoTlpForm::NonFlit => {
                let (request, answer) = (NfmMem32::from_bits(bits), NfmCpl::from_bits(bits));
                let tag = |low: u8, bit_8, bit_9| u16::from(low) | u16::from(bit_8) << 8 | u16::from(bit_9) << 9;
                let (requester, completer, tag) = match is_completion {
                    true => (answer.requester, answer.completer, tag(answer.tag, answer.tag_8, answer.tag_9)),
                    false => (request.requester, 0, tag(request.tag, request.tag_8, request.tag_9)),
                };
                TlpOrder {
                    tc: request.tc,
                    is_relaxed: request.attr & 2 != 0,
                    is_by_id: request.attr_2,
                    completer,
                    ends_write: is_completion && is_without_data && answer.status == CplStatus::SC,
                    ..TlpOrder::new(kind, requester, tag)
                }
            }
            IoTlpForm::Flit { .. } => {
                let (request, answer) = (FmMem32::from_bits(bits), FmCpl::from_bits(bits));
                let (requester, completer, tag) = match is_completion {
                    true => (answer.requester, answer.completer, answer.tag),
                    false => (request.requester, 0, request.tag),
                };
                let code = FmType(self.code());
                let status = self.parts().map_or(CplStatus::SC, |parts| parts.completion().0);
                TlpOrder {
                    tc: request.tc,
                    is_unordered: self.is_uio(),
                    is_relaxed: request.attr & 2 != 0,
                    is_by_id: request.attr & 4 != 0,
                    completer,
                    ends_write: code == FmType::Cpl && status == CplStatus::SC,
                    ..TlpOrder::new(kind, requester, tag)
                }
            }
        }
    }
}
