//! ALMPs as wire units (`cxl-68b` §8.1).
//!
//! Modelled: the DWORD and its four copies. Left out: the judgement of other bytes and of codes, which the codec makes.

use crate::arbmux::state::{ArbMuxInstance, Ask, L1Level, State};
use scalepool_protocols::cxl::cxl68::code::VlsmState;
use scalepool_protocols::cxl::cxl68::control::Almp;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
use scalepool_protocols::wire::Wire;

/// What an ALMP says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// A Request.
    Request(Ask),
    /// A Status.
    Status(State),
}

const fn level_code(level: L1Level) -> VlsmState {
    match level {
        L1Level::L1_0 => VlsmState::L1_0,
        L1Level::L1_1 => VlsmState::L1_1,
        L1Level::L1_2 => VlsmState::L1_2,
        L1Level::L1_3 => VlsmState::L1_3,
    }
}

impl Says {
    /// Its code; with the request bit it says all.
    const fn code(self) -> VlsmState {
        match self {
            Says::Request(Ask::Active) | Says::Status(State::Active) => VlsmState::Active,
            Says::Request(Ask::L1(level)) | Says::Status(State::L1(level)) => level_code(level),
            Says::Request(Ask::L2) | Says::Status(State::L2) => VlsmState::L2,
            Says::Request(Ask::Deepest) => VlsmState::Dapm,
            Says::Status(State::Reset) => VlsmState::Reset,
            Says::Status(State::Retrain) => VlsmState::Retrain,
        }
    }

    fn of_code(request: bool, code: VlsmState) -> Option<Says> {
        let requests = Ask::ALL.into_iter().map(Says::Request);
        let status = State::ALL.into_iter().map(Says::Status);
        requests.chain(status).find(|says| matches!(says, Says::Request(_)) == request && says.code() == code)
    }
}

/// Bytes of the DWORD.
const WORD_BYTES: usize = 4;
/// Copies of it.
const COPIES: usize = 4;

/// The unit that says something about a vLSM.
pub fn unit(instance: ArbMuxInstance, says: Says) -> Cxl68Unit {
    let request = matches!(says, Says::Request(_));
    let almp = Almp { request, state: says.code(), instance_id: instance.code(), ..Almp::default() };
    // Every code of ours fits its field.
    let word = almp.to_bits().unwrap_or_default() as u32;
    let mut payload = [0; PAYLOAD_BYTES];
    for copy in payload[..WORD_BYTES * COPIES].chunks_exact_mut(WORD_BYTES) {
        copy.copy_from_slice(&word.to_le_bytes());
    }
    Cxl68Unit::plain(pid::ALMP, &payload)
}

/// Whether the four copies agree; if not, the ALMP is corrupted.
pub fn copies_agree(unit: &Cxl68Unit) -> bool {
    let copies = &unit.payload()[..WORD_BYTES * COPIES];
    copies.chunks_exact(WORD_BYTES).all(|copy| copy == &copies[..WORD_BYTES])
}

/// Reads the first copy; `None`: a code that says nothing (reserved, or in the wrong kind).
pub fn read(unit: &Cxl68Unit) -> Option<(ArbMuxInstance, Says)> {
    let almp = Almp::from_bits(unit.slot(0) & u128::from(u32::MAX));
    if almp.code != Almp::default().code {
        return None;
    }
    let instance = ArbMuxInstance::ALL.into_iter().find(|i| i.code() == almp.instance_id)?;
    Some((instance, Says::of_code(almp.request, almp.state)?))
}
