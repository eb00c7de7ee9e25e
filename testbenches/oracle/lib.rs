//! Oracles: a second spelling of the wire formats, written from the specification sheets alone.
//!
//! Nothing here looks at the layouts of the model. Messages are declared with `modular-bitfield` (a position follows from
//! the widths before it), slots and streams are handled with `bitvec` (a position is an index into a bit string), so a
//! slip would have to be made twice, in two notations, to stay unseen. Test code: a value or a length that does not fit
//! its field is a mistake of the test and panics.
#![forbid(unsafe_code)]

pub mod bridge;
pub mod bridge_bar;
pub mod bridge_io;
pub mod cxl256_checks;
pub mod cxl256_flit;
pub mod cxl256_messages;
pub mod cxl256_slots;
pub mod cxl68_crc;
pub mod cxl68_messages;
pub mod cxl68_slots;
pub mod cxl68_stream;
pub mod hdm;
pub mod nvlink;
pub mod stack_distance;
pub mod ual_cache;
pub mod ual_flit;
pub mod ual_llr;
pub mod ual_messages;
