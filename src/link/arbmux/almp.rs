//! ALMPs as wire units (`cxl-68b` §8.1).
//!
//! Modelled: the DWORD and its four copies. Left out: the judgement of other bytes and of codes, which the codec makes.

use super::state::{Ask, State};
use super::vlsm::Instance;
use scalepool_protocols::cxl::cxl68::control::Almp;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{PAYLOAD_BYTES, Unit};
use scalepool_protocols::wire::Wire;

/// What an ALMP says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// A Request.
    Request(Ask),
    /// A Status.
    Status(State),
}

/// Bytes of the DWORD.
const WORD_BYTES: usize = 4;
/// Copies of it.
const COPIES: usize = 4;

/// The unit that says something about a vLSM.
pub fn unit(instance: Instance, says: Says) -> Unit {
    let (request, state) = match says {
        Says::Request(ask) => (true, ask.code()),
        Says::Status(state) => (false, state.code()),
    };
    let almp = Almp { request, state, instance_id: instance.code(), ..Almp::default() };
    // Every code of ours fits its field.
    let word = almp.to_bits().unwrap_or_default() as u32;
    let mut payload = [0; PAYLOAD_BYTES];
    for copy in payload[..WORD_BYTES * COPIES].chunks_exact_mut(WORD_BYTES) {
        copy.copy_from_slice(&word.to_le_bytes());
    }
    Unit::plain(pid::ALMP, &payload)
}

/// Whether the four copies agree; if not, the ALMP is corrupted.
pub fn copies_agree(unit: &Unit) -> bool {
    let copies = &unit.payload()[..WORD_BYTES * COPIES];
    copies.chunks_exact(WORD_BYTES).all(|copy| copy == &copies[..WORD_BYTES])
}

/// Reads the first copy; `None`: a code that says nothing (reserved, or in the wrong kind).
pub fn read(unit: &Unit) -> Option<(Instance, Says)> {
    let almp = Almp::from_bits(unit.slot(0) & u128::from(u32::MAX));
    if almp.code != Almp::default().code {
        return None;
    }
    let instance = Instance::ALL.into_iter().find(|i| i.code() == almp.instance_id)?;
    let says =
        if almp.request { Says::Request(Ask::of_code(almp.state)?) } else { Says::Status(State::of_code(almp.state)?) };
    Some((instance, says))
}
