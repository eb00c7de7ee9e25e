//! TLPs in traces: which layout shows their header.

use scalepool_endpoint::tlp::{Form, Tlp};
use scalepool_link::cxlio::{Form as WireForm, Tlp as WireTlp};
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::flit_mode::{Base, FmCfg, FmCpl, FmMem32, FmMem64, FmMsg};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCfg, NfmCpl, NfmMem32, NfmMem64, NfmMsg, Shape};
use scalepool_protocols::wire::{LayoutDef, Wire};
use scalepool_trace::{Body, Handle, Identifier, PlaceKind};

const NON_FLIT: &[&LayoutDef] = &[NfmMem32::DEF, NfmMem64::DEF, NfmCfg::DEF, NfmCpl::DEF, NfmMsg::DEF];
const FLIT: &[&LayoutDef] = &[FmMem32::DEF, FmMem64::DEF, FmCfg::DEF, FmCpl::DEF, FmMsg::DEF];

/// What a place of TLPs shows in a wave.
pub const fn shows(form: Form) -> PlaceKind {
    match form {
        Form::NonFlit => PlaceKind::Messages(NON_FLIT),
        Form::Flit | Form::Pbr { .. } => PlaceKind::Messages(FLIT),
    }
}

/// The form as the link names it.
pub const fn wire_form(form: Form) -> WireForm {
    match form {
        Form::NonFlit => WireForm::NonFlit,
        Form::Flit => WireForm::Flit { pbr: false },
        Form::Pbr { .. } => WireForm::Flit { pbr: true },
    }
}

/// Names the requests of a host on their link, as both of its ends know them in traces.
#[derive(Debug, Clone, Copy)]
pub struct Requests {
    link: u32,
    posted: u16,
}

impl Requests {
    /// Of the link of this number.
    pub const fn new(link: u32) -> Requests {
        Requests { link, posted: 0 }
    }

    /// The next request; every one that passes is asked for, in order.
    pub fn handle(&mut self, request: &Tlp) -> Handle {
        let (identifier, owner, value) = match request.is_non_posted() {
            true => (Identifier::IoTag, request.requester.into(), request.tag),
            false => {
                self.posted = self.posted.wrapping_add(1);
                (Identifier::IoPosted, 0, self.posted)
            }
        };
        Handle { identifier, link: self.link, owner, value, address: 0 }
    }
}

/// Header and data of a TLP as a record shows them.
pub fn body(bytes: &[u8], form: Form) -> Body {
    let Ok(tlp) = WireTlp::new(wire_form(form), bytes.to_vec()) else { return Body::None };
    let layout = match form {
        Form::NonFlit => Shape::of(tlp.code()).and_then(Shape::def),
        Form::Flit | Form::Pbr { .. } => Base::of(FmType(tlp.code())).and_then(Base::def),
    };
    let data = (!tlp.payload().is_empty()).then(|| tlp.payload().to_vec());
    layout.map_or(Body::None, |layout| Body::Message { layout, bits: tlp.header_bits(), data })
}
