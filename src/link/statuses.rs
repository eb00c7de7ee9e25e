//! Statuses of a link beside its messages: what an end has to tell, and what its component has not heard yet.

use scalepool_protocols::cxl::link_status::LinkStatus;
use std::collections::VecDeque;

/// Those of one end.
#[derive(Debug, Clone, Default)]
pub struct LinkStatuses {
    /// A hot reset that has not left.
    is_reset_due: bool,
    heard: VecDeque<LinkStatus>,
}

impl LinkStatuses {
    /// Asks for a hot reset of the peer.
    pub fn ask_hot_reset(&mut self) {
        self.is_reset_due = true;
    }

    /// Whether a hot reset is to leave now; the request is taken.
    pub fn take_hot_reset(&mut self) -> bool {
        std::mem::take(&mut self.is_reset_due)
    }

    /// Notes what the peer has told. What repeats the last one that nobody has taken says nothing new.
    pub fn hear(&mut self, status: LinkStatus) {
        if self.heard.back() != Some(&status) {
            self.heard.push_back(status);
        }
    }

    /// The oldest status that has been heard.
    pub fn take_heard(&mut self) -> Option<LinkStatus> {
        self.heard.pop_front()
    }
}
