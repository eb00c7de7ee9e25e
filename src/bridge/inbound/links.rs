//! What the inbound half on its clock does about CXL links that are lost (`bridge` §8.1, §8.2).
//!
//! Modelled: what a host has asked over a link that goes down is lost with it: accelerators end what they have begun, writes take effect, and
//! the answers go nowhere; what stands in front of the port while the link is down is lost too. A host hears nothing, and ends its requests by
//! its own time-out. The sheet says this of UALinks alone; for CXL links it is our choice [D]. Left out: ports of the home, whose
//! messages wait for their link ([`scalepool_coherence::clocked::node`]).
//!
//! A walk: a write and a read are under way when the link goes down. The accelerator does the write, and gives what is read; both entries are
//! free, and nothing leaves. Another read comes to the port meanwhile and is dropped. When the link is back reads are answered again.

use super::module::{InboundModule, handle_of};
use scalepool_coherence::clocked::outages::LinkChange;
use scalepool_kernel::Cx;
use scalepool_trace::{Body, RecordKind, Stamp, TransactionNaming};

/// How traces call the end of a message that is lost.
pub(super) const LOST: &str = "lost_with_link";

impl InboundModule {
    /// Links of target ports go down and come back that are due to; what is lost meanwhile is dropped.
    pub(super) fn follow_links(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(change) = self.links.next_at(at.cycle) {
            cx.progress();
            let name = match change {
                LinkChange::Down(port) => {
                    self.lost_before[port] = at.cycle;
                    self.mine.lost_links += 1;
                    "link_lost"
                }
                LinkChange::Up(_) => "link_back",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
        }
        for port in (0..self.ports.len()).filter(|port| self.links.is_down(*port)).collect::<Vec<_>>() {
            self.show_full(port, false, cx, at);
            while let Some(message) = self.ports[port].rx.pop(cx) {
                self.mine.lost_messages += 1;
                let named = handle_of(self.ports[port].link, &message).map(TransactionNaming::By);
                let named = named.unwrap_or(TransactionNaming::Nowhere);
                self.tap.named(named, at, RecordKind::Mark, 0, 0, || Body::Mark(LOST));
                cx.progress();
            }
        }
    }

    /// Whether the message of an entry has come before the link of its port was lost last, so that no answer to it leaves.
    fn is_lost(&self, port: usize, entry: u16) -> bool {
        self.traced[usize::from(entry)].since_cycle < self.lost_before[port]
    }

    /// Answers end that nobody can hear.
    pub(super) fn drop_lost(&mut self, cx: &mut Cx, at: Stamp) {
        for port in 0..self.ports.len() {
            while let Some((due, entry)) = self.responses[port].front().copied()
                && due <= at.cycle
                && self.is_lost(port, entry)
            {
                self.responses[port].pop_front();
                self.mine.lost_messages += 1;
                self.end(entry, at, || Body::Mark(LOST));
                cx.progress();
            }
        }
    }
}
