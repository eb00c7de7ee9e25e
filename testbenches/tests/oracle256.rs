//! The 256-byte flits, all three modes, against their second spelling (`oracle::cxl256_*`): bit for bit, both ways.
#![forbid(unsafe_code)]

mod oracle256 {
    mod checks;
    mod common;
    mod flits;
    mod messages;
    mod slots;
}
