//! The transaction layer over a UALink end here: a queue of TL flits each way. What they say is the caller's business.

use scalepool::link::event::LinkEvent;
use scalepool::link::ualink::EndConfig;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::line::{LaneRate, UalLine, UalWidth};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::half::TlFlit;
use std::collections::VecDeque;

/// TL flits that wait.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// To be sent.
    pub out: VecDeque<TlFlit>,
    /// Received and not taken.
    pub inbox: VecDeque<TlFlit>,
}

impl Client for Queue {
    fn transmit(&mut self, _: u64) -> Option<TlFlit> {
        self.out.pop_front()
    }

    fn receive(&mut self, flit: &TlFlit, _: u64) {
        self.inbox.push_back(*flit);
    }

    fn link_down(&mut self) {
        self.out.clear();
    }

    fn is_quiet(&self) -> bool {
        self.out.is_empty() && self.inbox.is_empty()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        (!self.out.is_empty()).then_some(now_flits + 1)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

/// An accelerator sends down, a switch up; the line is that of a whole station (`ualink` §1: four lanes of 200G) with
/// `interleave` code words, 1, 2 or 4.
pub fn end_config(dir: Dir, interleave: u8) -> EndConfig {
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave };
    match dir {
        Dir::Down => EndConfig::accelerator(line, 0),
        Dir::Up => EndConfig::switch_port(line, 0),
    }
}
