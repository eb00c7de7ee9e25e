//! What must not pass what (`ualink` §12), for an originator that chooses and for a checker of two places.

use super::config::Ordering;
use super::monitor::broken;
use scalepool_protocols::ualink::code::RdWr;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// What order looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Requests { vc: u8, region: u64 },
    ReadResponses,
    WriteResponses,
}

/// A transaction as order sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered {
    stream: Stream,
    src: u16,
    dst: u16,
    tag: u16,
    offset: u8,
}

impl Ordered {
    /// Of an uncompressed request or response; `None` for anything else.
    pub fn of(transfer: &Transfer) -> Option<Ordered> {
        Some(match &transfer.field {
            ControlField::Request(req) => Ordered::request(req.src, req.dst, req.tag, req.vchan, req.address),
            ControlField::Response(rsp) => Ordered::response(rsp),
            _ => return None,
        })
    }

    /// Of a request.
    pub fn request(src: u16, dst: u16, tag: u16, vc: u8, address: u64) -> Ordered {
        let stream = Stream::Requests { vc, region: address / REGION_BYTES };
        Ordered { stream, src, dst, tag, offset: 0 }
    }

    /// Of a response.
    pub fn response(rsp: &TlRsp) -> Ordered {
        let stream = if rsp.rdwr == RdWr::Read { Stream::ReadResponses } else { Stream::WriteResponses };
        Ordered { stream, src: rsp.src, dst: rsp.dst, tag: rsp.tag, offset: rsp.offset }
    }

    /// Source and destination.
    pub fn pair(&self) -> (u16, u16) {
        (self.src, self.dst)
    }

    /// The same as numbers, for a record: stream, source, destination, tag, offset, region. A response has no region; the
    /// record has this one in its place.
    pub fn numbers(&self, region: u64) -> [u64; 6] {
        let (stream, region) = match self.stream {
            Stream::ReadResponses => (0, region),
            Stream::WriteResponses => (1, region),
            Stream::Requests { vc, region } => (2 + u64::from(vc), region),
        };
        [stream, self.src.into(), self.dst.into(), self.tag.into(), self.offset.into(), region]
    }

    /// Of the numbers of a record.
    pub fn of_numbers([stream, src, dst, tag, offset, region]: [u64; 6]) -> Ordered {
        let stream = match stream {
            0 => Stream::ReadResponses,
            1 => Stream::WriteResponses,
            vc => Stream::Requests { vc: (vc - 2) as u8, region },
        };
        Ordered { stream, src: src as u16, dst: dst as u16, tag: tag as u16, offset: offset as u8 }
    }

    /// Whether `self`, the later one, may arrive before `earlier`.
    pub fn may_pass(&self, earlier: &Ordered, ordering: Ordering) -> bool {
        if (self.src, self.dst) != (earlier.src, earlier.dst) {
            return true;
        }
        match (self.stream, earlier.stream, ordering) {
            (Stream::Requests { .. }, Stream::Requests { .. }, Ordering::Strict) => false,
            (Stream::Requests { .. }, Stream::Requests { .. }, Ordering::Default) => self.stream != earlier.stream,
            (mine, other, Ordering::Strict) => mine != other,
            (_, _, Ordering::Default) => true,
        }
    }
}

/// Compares what one place saw with what a later place sees.
#[derive(Debug, Clone)]
pub struct OrderCheck {
    ordering: Ordering,
    /// Sent, not arrived.
    under_way: VecDeque<Ordered>,
}

impl OrderCheck {
    /// Nothing is under way.
    pub fn new(ordering: Ordering) -> OrderCheck {
        OrderCheck { ordering, under_way: VecDeque::new() }
    }

    /// The first place has seen these.
    pub fn of(ordering: Ordering, sent: Vec<Ordered>) -> OrderCheck {
        OrderCheck { ordering, under_way: sent.into() }
    }

    /// Transactions that have not arrived.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// The first place has seen it.
    pub fn sent(&mut self, transfer: &Transfer) {
        self.under_way.extend(Ordered::of(transfer));
    }

    /// The later place has seen it: what is wrong about that. One that was never sent breaks UAL-UPL-09.
    pub fn arrived(&mut self, transfer: &Transfer) -> Option<Violation> {
        self.arrived_one(Ordered::of(transfer)?)
    }

    /// As [`OrderCheck::arrived`].
    pub fn arrived_one(&mut self, this: Ordered) -> Option<Violation> {
        let Some(at) = self.under_way.iter().position(|one| *one == this) else {
            return Some(broken(
                "UAL-UPL-09",
                format!("tag {}", this.tag),
                "a tag that is under way",
                "a transaction comes out that nobody has sent",
            ));
        };
        self.under_way.remove(at);
        let passed = self.under_way.iter().take(at).find(|earlier| !this.may_pass(earlier, self.ordering))?;
        let rule = match self.ordering {
            Ordering::Default => "UAL-UPL-05",
            Ordering::Strict => "UAL-UPL-06",
        };
        let (found, expected) = (format!("tag {}", this.tag), format!("tag {} first", passed.tag));
        Some(broken(rule, found, expected, "a transaction has passed an earlier one of its stream"))
    }
}
