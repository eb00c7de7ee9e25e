//! TLPs in traces: which layout shows their header.

use scalepool_endpoint::tlp::{Tlp, TlpForm};
use scalepool_link::cxlio::{IoTlp, IoTlpForm};
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::flit_mode::{Base, FmCfg, FmCpl, FmMem32, FmMem64, FmMsg};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCfg, NfmCpl, NfmMem32, NfmMem64, NfmMsg, TlpShape};
use scalepool_protocols::wire::{LayoutDef, Wire};
use scalepool_trace::{Body, PlaceKind, RequestIdentifier, TransactionHandle};

const NON_FLIT: &[&LayoutDef] = &[NfmMem32::DEF, NfmMem64::DEF, NfmCfg::DEF, NfmCpl::DEF, NfmMsg::DEF];
const FLIT: &[&LayoutDef] = &[FmMem32::DEF, FmMem64::DEF, FmCfg::DEF, FmCpl::DEF, FmMsg::DEF];

/// What a place of TLPs shows in a wave.
pub const fn shows(form: TlpForm) -> PlaceKind {
    match form {
        TlpForm::NonFlit => PlaceKind::Messages(NON_FLIT),
        TlpForm::Flit | TlpForm::Pbr { .. } => PlaceKind::Messages(FLIT),
    }
}

/// The form as the link names it.
pub const fn wire_form(form: TlpForm) -> IoTlpForm {
    match form {
        TlpForm::NonFlit => IoTlpForm::NonFlit,
        TlpForm::Flit => IoTlpForm::Flit { pbr: false },
        TlpForm::Pbr { .. } => IoTlpForm::Flit { pbr: true },
    }
}

/// Names the requests of a host on their link, as both of its ends know them in traces.
#[derive(Debug, Clone, Copy)]
pub struct IoRequestNames {
    link: u32,
    posted: u16,
}

impl IoRequestNames {
    /// Of the link of this number.
    pub const fn new(link: u32) -> IoRequestNames {
        IoRequestNames { link, posted: 0 }
    }

    /// The next request; every one that passes is asked for, in order.
    pub fn handle(&mut self, request: &Tlp) -> TransactionHandle {
        self.handle_of(None, request)
    }

    /// The same on a link with several logical devices, whose hosts may have the same identifiers.
    pub fn handle_of(&mut self, ld: Option<u16>, request: &Tlp) -> TransactionHandle {
        // UIO has tags of its own, beside those of other requests.
        let of_uio = u32::from(request.uio_span().is_some()) << 31;
        let requester = u32::from(request.requester) | u32::from(ld.unwrap_or(0)) << 16 | of_uio;
        let (identifier, owner, value) = match request.is_non_posted() {
            true => (RequestIdentifier::IoTag, requester, request.tag),
            false => {
                self.posted = self.posted.wrapping_add(1);
                (RequestIdentifier::IoPosted, 0, self.posted)
            }
        };
        TransactionHandle { identifier, link: self.link, owner, value, address: 0 }
    }
}

/// First byte of the local prefix that carries an LD-ID (`cxl-io` §3.8).
const LD_PREFIX: u8 = FmType::VendorPrefix0.0;

/// The LD-ID in front of a TLP, and the TLP without it (`fabric` IOR-5).
pub fn without_ld(bytes: &[u8]) -> (Option<u16>, &[u8]) {
    match bytes {
        [LD_PREFIX, high, low, _, tlp @ ..] => (Some(u16::from_be_bytes([*high, *low])), tlp),
        tlp => (None, tlp),
    }
}

/// A TLP with an LD-ID in front, if it has one.
pub fn with_ld(ld: Option<u16>, mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some([high, low]) = ld.map(u16::to_be_bytes) {
        bytes.splice(0..0, [LD_PREFIX, high, low, 0]);
    }
    bytes
}

/// Header and data of a TLP as a record shows them.
pub fn body(bytes: &[u8], form: TlpForm) -> Body {
    let Ok(tlp) = IoTlp::new(wire_form(form), bytes.to_vec()) else { return Body::None };
    let layout = match form {
        TlpForm::NonFlit => TlpShape::of(tlp.code()).and_then(TlpShape::def),
        TlpForm::Flit | TlpForm::Pbr { .. } => Base::of(FmType(tlp.code())).and_then(Base::def),
    };
    let data = (!tlp.payload().is_empty()).then(|| tlp.payload().to_vec());
    layout.map_or(Body::None, |layout| Body::Message { layout, bits: tlp.header_bits(), data })
}
