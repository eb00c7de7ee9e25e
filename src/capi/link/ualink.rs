//! What stands over a UALink end here: a transaction layer with its credits, or a queue of TL flits each way. What queued TL flits
//! say is the caller's business.

use scalepool::link::event::LinkEvent;
use scalepool::link::ualink::EndConfig;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::line::{LaneRate, UalLine, UalWidth};
use scalepool::link::ualink::tl::{TlConfig, TlCreditCounts};
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

/// The transaction layer of an end that sends in a direction, with so many receive buffers: for each of the two classes, and four times as many
/// for beats of their data, which is what a command may bring. No originator stands above, who would be told of a link that goes down.
pub fn tl_config(dir: Dir, buffers: Option<u16>) -> TlConfig {
    let of = match dir {
        Dir::Down => TlConfig::accelerator(),
        Dir::Up => TlConfig::switch_port(),
    };
    let buffers = buffers.map_or(of.buffers, |commands| TlCreditCounts::even([commands, 4 * commands], [0, 0]));
    TlConfig { buffers, isolates: false, strict_order: false, ..of }
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
