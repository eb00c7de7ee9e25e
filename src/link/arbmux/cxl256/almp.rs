//! ALMPs as 256B flits (`cxl-256b` §6): what they say, made and read.
//!
//! Left out: number, CRC and FEC, which the link adds.

use super::l0p::{self, LinkWidth};
use super::state::State;
use crate::arbmux::state::{ArbMuxInstance, Ask, L1Level};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::almp::{ALMP_BYTES, Almp, L0P_CODE, L0p, VLSM_CODE, def};
use scalepool_protocols::cxl::cxl256::code::{FlitType, L0pWidth, VlsmState};
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, body_byte, standard};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::wire::{Violation, Wire};

/// What an ALMP says about a vLSM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// A Request.
    Request(Ask),
    /// A Status.
    Status(State),
}

impl Says {
    /// Everything that an ALMP can say.
    pub fn all() -> impl Iterator<Item = Says> {
        Ask::ALL.into_iter().map(Says::Request).chain(State::ALL.into_iter().map(Says::Status))
    }

    const fn is_request(self) -> bool {
        matches!(self, Says::Request(_))
    }

    /// Its code; with the request bit it says all.
    const fn code(self) -> VlsmState {
        match self {
            Says::Request(Ask::Active) | Says::Status(State::Active) => VlsmState::Active,
            Says::Request(Ask::L1(level)) | Says::Status(State::L1(level)) => match level {
                L1Level::L1_0 => VlsmState::L1_0,
                L1Level::L1_1 => VlsmState::L1_1,
                L1Level::L1_2 => VlsmState::L1_2,
                L1Level::L1_3 => VlsmState::L1_3,
            },
            Says::Request(Ask::L2) | Says::Status(State::L2) => VlsmState::L2,
            Says::Request(Ask::Deepest) => VlsmState::Dapm,
            Says::Status(State::Reset) => VlsmState::Reset,
            Says::Status(State::PmNak) => VlsmState::ActivePMNAK,
            Says::Status(State::Retrain) => VlsmState::Retrain,
        }
    }
}

/// What an ALMP says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlmpContent {
    /// About a vLSM.
    Vlsm(ArbMuxInstance, Says),
    /// About the width of the link.
    Width(l0p::Says),
}

const fn width_code(width: LinkWidth) -> L0pWidth {
    match width {
        LinkWidth::X1 => L0pWidth::X1,
        LinkWidth::X2 => L0pWidth::X2,
        LinkWidth::X4 => L0pWidth::X4,
        LinkWidth::X8 => L0pWidth::X8,
        LinkWidth::X16 => L0pWidth::X16,
    }
}

fn word(content: AlmpContent) -> u32 {
    let bits = match content {
        AlmpContent::Vlsm(instance, says) => {
            let (request, state) = (says.is_request(), says.code());
            Almp { request, state, instance_id: instance.code(), ..Almp::default() }.to_bits()
        }
        AlmpContent::Width(says) => {
            let (request, prio, width) = match says {
                l0p::Says::Request { width, priority } => (true, priority, width_code(width)),
                l0p::Says::Ack(width) => (false, false, width_code(width)),
                l0p::Says::Nak => (false, false, L0pWidth::NAK),
            };
            L0p { request, prio, width, ..L0p::default() }.to_bits()
        }
    };
    // Every code of ours fits its field.
    bits.unwrap_or_default() as u32
}

const ALMP: core::ops::Range<usize> = standard::HEADER.end..standard::HEADER.end + ALMP_BYTES;

/// The flit that says something.
pub fn flit(content: AlmpContent) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    let fits = flit.set_header(&FlitHeader { flit_type: FlitType::Almp, ..FlitHeader::default() });
    debug_assert!(fits.is_ok(), "a header of defaults fits");
    flit.0[ALMP].copy_from_slice(&word(content).to_le_bytes());
    flit
}

fn word_of(flit: &Cxl256Flit) -> u32 {
    flit.0[ALMP].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// Reads an ALMP; `None`: a code that says nothing (reserved, or in the wrong kind).
pub fn read(flit: &Cxl256Flit) -> Option<AlmpContent> {
    let word = u128::from(word_of(flit));
    let almp = Almp::from_bits(word);
    match almp.code {
        VLSM_CODE => {
            let instance = ArbMuxInstance::ALL.into_iter().find(|i| i.code() == almp.instance_id)?;
            let says = Says::all().find(|s| s.is_request() == almp.request && s.code() == almp.state)?;
            Some(AlmpContent::Vlsm(instance, says))
        }
        L0P_CODE => {
            let l0p = L0p::from_bits(word);
            let width = LinkWidth::ALL.into_iter().find(|&w| width_code(w) == l0p.width);
            let says = match (l0p.request, width) {
                (true, width) => l0p::Says::Request { width: width?, priority: l0p.prio },
                (false, Some(width)) => l0p::Says::Ack(width),
                (false, None) => (l0p.width == L0pWidth::NAK).then_some(l0p::Says::Nak)?,
            };
            (l0p.instance_id == L0p::default().instance_id).then_some(AlmpContent::Width(says))
        }
        _ => None,
    }
}

/// What the sender of an ALMP flit did against the rules of its bytes.
pub fn judge(flit: &Cxl256Flit, mode: Mode) -> Vec<Violation> {
    let mut found = Vec::new();
    let word = word_of(flit);
    def(word).check(word.into(), &mut found);
    let mut found: Vec<_> = found.into_iter().map(|v| v.in_unit(|bit| ALMP.start + bit as usize / 8)).collect();
    if let Some((k, byte)) = flit.body(mode).enumerate().skip(ALMP_BYTES).find(|&(_, byte)| byte != 0) {
        let (at, is) = (body_byte(mode, k), format!("{byte:#04x}"));
        found.push(Violation::at_byte("CXL256-ALM-01", at, is, 0, "a byte behind the four bytes of an ALMP is not 0"));
    }
    if found.is_empty() && read(flit).is_none() {
        let (is, text) = (format!("{word:#010x}"), "the ALMP has codes that no Request or Status has");
        found.push(Violation::at_byte("CXL256-ALM-02", ALMP.start, is, "a Request or Status of the table", text));
    }
    found
}
