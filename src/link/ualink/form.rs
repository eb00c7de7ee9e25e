//! The form in which the flits of an end go: with their bytes, or without.
//!
//! Modelled: where an end keeps what it packs. Left out: when a link may go without bytes, which is for whoever builds it.

use scalepool_protocols::ualink::content::{DlContent, TlContent};
use scalepool_protocols::ualink::flit::{DlFlit, Payload};
use scalepool_protocols::ualink::segment::{ContentPacker, Packer, SegmentSource};
use std::sync::Arc;

/// A flit that is not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptFlit {
    /// As it went for the first time; the peer may still have the same bytes.
    Bytes(Arc<DlFlit>),
    /// One without bytes. What it carries has moved to the peer; `Some`: a copy, for a peer that may not be up yet.
    Content(Option<Box<DlContent>>),
}

impl KeptFlit {
    /// What its bytes carry; without bytes, nothing.
    pub(super) fn payload(&self) -> Payload {
        match self {
            KeptFlit::Bytes(flit) => flit.payload(),
            KeptFlit::Content(_) => Payload::ZERO,
        }
    }
}

/// What a payload flit is to carry. It lives for one call, so a box for its bytes would cost an allocation a flit for nothing.
#[allow(clippy::large_enum_variant)]
pub(super) enum PackedPayload {
    /// With bytes.
    Bytes(Payload),
    /// Without; `None`: nothing is whole in it.
    Content(Option<Box<DlContent>>),
}

/// Cuts TL flits into DL flits.
#[derive(Debug, Clone)]
pub(super) enum FlitPacker {
    /// With bytes.
    Bytes(Box<Packer>),
    /// Without.
    Content(ContentPacker),
}

impl FlitPacker {
    /// One that has begun nothing.
    pub fn new(has_bytes: bool) -> FlitPacker {
        if has_bytes { FlitPacker::Bytes(Box::default()) } else { FlitPacker::Content(ContentPacker::default()) }
    }

    /// Sectors that are left of the TL flit before, 0 to 15.
    pub fn carry(&self) -> usize {
        match self {
            FlitPacker::Bytes(packer) => packer.carry(),
            FlitPacker::Content(packer) => packer.carry(),
        }
    }

    /// Takes the box of a payload without bytes that has been taken apart.
    pub fn reuse(&mut self, drained: Box<DlContent>) {
        if let FlitPacker::Content(packer) = self {
            packer.reuse(drained);
        }
    }

    /// What the next payload flit carries, and whether a message or a TL flit begins in it.
    pub fn pack(&mut self, source: &mut (impl SegmentSource + SegmentSource<TlContent>)) -> (PackedPayload, bool) {
        match self {
            FlitPacker::Bytes(packer) => {
                let payload = packer.pack(source);
                (PackedPayload::Bytes(payload), payload.headers != Payload::ZERO.headers)
            }
            FlitPacker::Content(packer) => {
                let (content, begins) = packer.pack(source);
                (PackedPayload::Content(content), begins)
            }
        }
    }
}
