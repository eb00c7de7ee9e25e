//! CXL.io inside flits: the keys `tlps` and `dllp`, and the protocol `cxl-io`, a standard 256B link that carries nothing
//! but CXL.io and what every link carries (NOP, ALMP).
//!
//! Modelled: a TLP as `{"hex":..,"type":"MWr64","header":MESSAGE,"ohc":{"A":MESSAGE},"data":..,"trailer":..}`, with
//! `prefixes` (hex) and `pth` (MESSAGE) where there are some; a DLLP as `{"hex":..,"type":..,"message":MESSAGE}`, an empty
//! DLLP field as `{"hex":"00000000"}`. Left out: which bytes of a flit hold them (see the forms of the flits).
//!
//! * An OHC without settled fields is `{"hex":..}`.
//! * `tlps` lists everything without gap, NOPs of zeros at the end left out. A part of a TLP that straddles flits has
//!   `continues` (it began earlier) or `goes_on` (it ends later), and `hex` of the part; with the last part stand `whole`,
//!   the hex of all parts, and what it says. `unknown`: behind a DW that tells no size.
//! * Reading takes `hex` first, then `header` and the other parts over it. Without `hex` the presence bits, `length` and
//!   `ts` of the header follow from the parts, unless its fields give them. A part of a straddling TLP is its `hex`.

mod dllp;
mod flit;
mod tlp;

pub use dllp::{dllp_from_json, dllp_to_json};
pub use flit::{IoFlitDecoder, IoFlitEncoder, PROTOCOL};
pub use tlp::{tlp_from_json, tlps_from_json, tlps_to_json};
