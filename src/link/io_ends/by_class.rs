//! Messages of CXL.mem beside CXL.io at a switch, which takes each class apart.
//!
//! Left out: viral and hot resets beside CXL.io, which nobody tells there.

use super::{HasIo, IoEnd};
use crate::classes::ByClass;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Message};

impl<E: HasIo> ByClass for IoEnd<E> {
    fn has_received(&self) -> bool {
        self.end.has_received()
    }

    fn take_class(&mut self, class: Class) -> Option<Message> {
        let message = self.end.take_class(class)?;
        self.answered();
        Some(message)
    }

    fn waits(&self, class: Class) -> usize {
        self.end.waits(class)
    }

    fn damaged(&self) -> u64 {
        self.end.damaged()
    }

    fn tell(&mut self, _: LinkStatus) {}

    fn take_heard(&mut self) -> Option<LinkStatus> {
        None
    }
}
