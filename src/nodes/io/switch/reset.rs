//! The reset of one hierarchy as it crosses a fabric: messages on virtual links, no reset of an inter-switch link (`fabric` ISL-5).
//!
//! Modelled: a virtual downstream port asserts the reset (PERST# or hot reset), releases it after a while, and says so again every
//! 10 ms until the virtual upstream port has said that its link is up, ten times at most; then the fabric manager is told. Detail:
//! whole messages; their opcode is the first byte, which is our choice, since the sheet does not say where it stands. Left out: what a
//! device loses.
//!
//! A walk through one reset: assert reset, deassert, link up. The virtual upstream port resets its hierarchy with the first message,
//! and answers each of the second ones.

use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_protocols::cxl::cxlio::code::VdmCode;
use scalepool_protocols::cxl::cxlio::vdm;
use scalepool_protocols::wire::{At, Violation};

/// Most times that a release is said (`fabric` ISL-5).
pub const RELEASES: u8 = 10;
/// Time between two of them \[fs\] (`fabric` ISL-5).
pub const RELEASE_INTERVAL_FS: u64 = 10_000_000_000_000;
/// Routing of a message that ends at its receiver (`cxl-io` §1.2).
const ROUTING_LOCAL: u8 = 4;

/// A message of code 80h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkMessage {
    /// PERST# is asserted.
    AssertPerst = 0,
    /// A hot reset begins.
    AssertReset = 1,
    /// Either is over.
    Deassert = 3,
    /// The link of the virtual upstream port is up.
    LinkUp = 4,
}

impl LinkMessage {
    const ALL: [LinkMessage; 4] =
        [LinkMessage::AssertPerst, LinkMessage::AssertReset, LinkMessage::Deassert, LinkMessage::LinkUp];

    /// The message.
    pub fn tlp(self) -> Tlp {
        let (dw2, dw3) = vdm::words(VdmCode::Fabric80, 0);
        let kind = TlpKind::Message { routing: ROUTING_LOCAL, code: vdm::MESSAGE_CODE, dw2, dw3 };
        Tlp::new(kind, 0, vec![self as u8, 0, 0, 0])
    }

    /// Reads a message; `None`: another TLP.
    pub fn of(tlp: &Tlp) -> Option<LinkMessage> {
        let TlpKind::Message { code, dw2, dw3, .. } = tlp.kind else { return None };
        let is_own =
            code == vdm::MESSAGE_CODE && dw2 as u16 == vdm::VENDOR_ID && VdmCode(dw3 as u8) == VdmCode::Fabric80;
        let opcode = tlp.data.first().filter(|_| is_own)?;
        LinkMessage::ALL.into_iter().find(|message| *message as u8 == *opcode)
    }
}

/// What a virtual downstream port does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetAction {
    /// It sends a message.
    Send(LinkMessage),
    /// It has said the last release in vain, and tells the fabric manager.
    GiveUp,
}

/// A reset at the virtual downstream port where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VirtualReset {
    next: Option<LinkMessage>,
    due: u64,
    releases: u8,
    interval: u64,
}

impl VirtualReset {
    /// A reset that begins now with a message, and is held for so many cycles; releases are `interval` cycles apart.
    pub const fn new(assert: LinkMessage, now: u64, interval: u64) -> VirtualReset {
        VirtualReset { next: Some(assert), due: now, releases: 0, interval }
    }

    /// The cycle of the next action.
    pub const fn due(&self) -> u64 {
        self.due
    }

    /// The next action, if it is due; `hold` is how long the reset is asserted \[cycles\].
    pub fn act(&mut self, now: u64, hold: u64) -> Option<ResetAction> {
        if now < self.due {
            return None;
        }
        if let Some(assert) = self.next.take() {
            self.due = now.saturating_add(hold);
            return Some(ResetAction::Send(assert));
        }
        if self.releases == RELEASES {
            return Some(ResetAction::GiveUp);
        }
        self.releases += 1;
        self.due = now.saturating_add(self.interval);
        Some(ResetAction::Send(LinkMessage::Deassert))
    }
}

/// Judges the messages that come to a virtual upstream port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResetWatch {
    is_asserted: bool,
    releases: u8,
    last: u64,
}

impl ResetWatch {
    /// Takes the next message; releases have to be `interval` cycles apart, within `slack` of what a fabric delays.
    pub fn judge(&mut self, message: LinkMessage, now: u64, (interval, slack): (u64, u64)) -> Option<Violation> {
        let (found, expected) = match message {
            LinkMessage::AssertPerst | LinkMessage::AssertReset => {
                *self = ResetWatch { is_asserted: true, ..ResetWatch::default() };
                return None;
            }
            LinkMessage::LinkUp => ("link up from the side of the host", "assert or deassert"),
            LinkMessage::Deassert => {
                let (count, since) = (self.releases, now.saturating_sub(self.last));
                self.releases = self.releases.saturating_add(1);
                self.last = now;
                match count {
                    0 if !self.is_asserted => ("a release without a reset", "assert before deassert"),
                    RELEASES.. => ("an eleventh release", "ten at most"),
                    1.. if since + slack < interval => ("a release too soon", "10 ms from one to the next"),
                    _ => return None,
                }
            }
        };
        let text = "the reset of a hierarchy crosses a fabric in another order";
        let (found, expected) = (found.to_owned(), expected.to_owned());
        Some(Violation { rule: "FAB-ISL-05", at: At::Byte(0), found, expected, text: text.to_owned() })
    }
}
