//! The 256-byte flits, all three modes, against their second spelling (`oracle::cxl256_*`): bit for bit, both ways.

mod checks;
mod common;
mod flits;
mod messages;
mod slots;
