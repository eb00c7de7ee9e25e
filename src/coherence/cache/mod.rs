//! CXL.cache: device cache and home agent.

use scalepool_protocols::cxl::cxl256::code::GoState;

/// Letter of the state in a GO: S, E, I, Err or M; `?` for a reserved code.
pub(super) fn go_letter(rsp_data: u16) -> &'static str {
    match GoState((rsp_data & 15) as u8) {
        GoState::Shared => "S",
        GoState::Exclusive => "E",
        GoState::Invalid => "I",
        GoState::Error => "Err",
        GoState::Modified => "M",
        _ => "?",
    }
}
