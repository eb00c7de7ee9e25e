//! What the outbound half on its clock does about CXL links that are lost ([`links`](crate::outbound::links)).
//!
//! Modelled: while a link is down nothing is taken from it and nothing is given to it; what waited to leave for requests that have ended does
//! not leave any more. Left out: messages of power management, which a port of CXL.io does not lose.
//!
//! A walk: a link goes down in cycle 500 with two reads under way, one of which stands in the last stage; the mark `link_lost` stands in the
//! trace, both end, and the second one is taken out of the stage. In cycle 700 the mark `link_back` stands there, and the data of the first one
//! come.

use super::{Bridge, tap_of};
use crate::outbound::table::ChildId;
use scalepool_coherence::clocked::outages::LinkChange;
use scalepool_kernel::Cx;
use scalepool_trace::{Body, RecordKind, Stamp};

impl Bridge {
    /// Links go down and come back that are due to.
    pub(super) fn follow_links(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(change) = self.links.next_at(at.cycle) {
            cx.progress();
            let name = match change {
                LinkChange::Down(_) => "link_lost",
                LinkChange::Up(_) => "link_back",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            match change {
                LinkChange::Up(port) => self.bridge.link_up(port),
                LinkChange::Down(port) => {
                    let ended = self.bridge.link_down(port, &mut self.out);
                    self.mine.lost_links += 1;
                    self.follow(at);
                    for id in &ended {
                        self.end_in_trace(*id, port, at);
                    }
                    self.take_back(port, &ended, at);
                }
            }
        }
    }

    /// The trace has a message of a child under way no longer.
    fn end_in_trace(&mut self, id: ChildId, port: usize, at: Stamp) {
        let traced = &mut self.traced[usize::from(id.entry)].children[usize::from(id.child)];
        let open = std::mem::take(traced);
        if open == 0 {
            return;
        }
        let tap = match port.checked_sub(self.cxl.len()) {
            Some(n) => self.io[n].tap(),
            None => tap_of((&mut self.tap, &mut self.owner), false),
        };
        tap.record(at, RecordKind::End, open, 0, || Body::Mark("link_lost"));
    }

    /// What waits to leave for children that have ended does not leave.
    fn take_back(&mut self, port: usize, ended: &[ChildId], at: Stamp) {
        if let Some(n) = port.checked_sub(self.cxl.len()) {
            for entry in self.io[n].take_back() {
                self.bridge.tlps_taken_back(entry, &mut self.out);
            }
            return self.follow(at);
        }
        for place in 0..self.sends[port].len() {
            let queue = std::mem::take(&mut self.sends[port][place]);
            for leaving in queue {
                let id = leaving.child().filter(|id| ended.contains(id));
                match id.filter(|id| self.bridge.may_be_taken_back(*id, &leaving.msg)) {
                    Some(id) => self.bridge.taken_back(id, &mut self.out),
                    None => self.sends[port][place].push_back(leaving),
                }
            }
        }
        self.follow(at);
    }
}
