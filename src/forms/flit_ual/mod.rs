//! Flits of UALink: `{"protocol":"ualink","dir":"down","index":0,"kind":"protocol",..,"hex":..}`.
//!
//! Modelled: every DL flit of 640 bytes as one object with the keys `protocol`, `dir`, `index`, `kind`, `header`,
//! `segments`, `messages`, `tl_flits`, `crc`, `violations` and `hex`, in this order. Left out: sequence numbers, replay and
//! credits as state (see `scalepool::link`).
//!
//! * `kind` is `protocol` with payload, `nop` without.
//! * `header`: sequence numbers that reading does not find are the first legal ones of a stream: 1 for payload and for a
//!   Replay Request, 511 for a NOP and an Ack.
//! * `segments` has for each segment that is not all zero `{"segment":0,"header":{..},"data":HEX}`: the fields of the
//!   segment header and the bytes of its sectors in order. With `header` it gives every byte but the CRC.
//! * `messages` lists the alternative sectors: messages, `{"uart":HEX}` for UART payload, `{"hex":HEX}` for a DWord of an
//!   unlisted class or type.
//! * `tl_flits` has each TL flit once, in the DL flit in which it starts: `{"segment":0,"place":0,"lower":HALF,
//!   "upper":HALF}`. A half is `{"kind":"control","messages":[MESSAGE..],"hex":HEX}`; other kinds are `data`, `poison`,
//!   `byte_enables`, `auth_tags`, `nop` and `message` (with its `type`). `"incomplete":true` stands with a TL flit whose
//!   rest never came; its halves have no kind.
//! * Reading takes `segments` where it stands; `messages` and `tl_flits` are then passed over. Without `segments` the flit
//!   is packed from `messages` and `tl_flits`, as early as they fit, behind what is left of the flit before; a half is then
//!   its `hex`, or the fields in its `messages` one behind the other, or zeros.
//! * `down` is the direction from an accelerator to a switch: the address cache has its rows by destination there and by
//!   source on the way `up`.
//!
//! A TL flit may go on in the next payload flit, so the answer to a flit whose last TL flit does waits for that one: a
//! walk through one line is [`UalFlitDecoder::read`], which gives all answers that are due now, and
//! [`UalFlitDecoder::finish`] at the end.

mod answers;
mod decode;
mod encode;
mod follow;

pub use answers::UalFlitAnswer;
pub use decode::UalFlitDecoder;
pub use encode::UalFlitEncoder;

use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::compress::CompressionRole;

/// Name on the command line and in objects.
pub const PROTOCOL: &str = "ualink";

/// Whose address cache a direction fills.
const fn role(dir: Dir) -> CompressionRole {
    match dir {
        Dir::Down => CompressionRole::ToSwitch,
        Dir::Up => CompressionRole::FromSwitch,
    }
}
