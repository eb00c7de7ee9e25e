//! The C ABI: the codecs and the model for C, C++, SystemVerilog DPI and Python.
//!
//! Modelled: nothing of its own. Stateless calls ([`message`], [`check`]), flits as streams ([`stream`]), runs of
//! scenarios ([`sim`]), ends of links beside RTL ([`link`]) and arbiters ([`arbiter`]). The committed header `testbenches/c/scalepool.h` is
//! written from these files; its text on conventions is [`HEADER`]. Functions of the caller run inside calls of their handle
//! alone ([`link::hook`], [`sim`]).
//!
//! Invariants: no value of an argument, null included, makes a call unwind, abort or leak; a call that is refused (a
//! negative status) has changed nothing; handles are numbers, so a wrong one is an error; one handle, one thread at a time.
//!
//! `unsafe` stands here alone. In every exported function it means that the name is the only one of its kind in a program
//! (`sp_` is ours), and that the caller keeps the promise of [`HEADER`] on pointers.
//!
//! A walk through one call: the exported function wraps its pointers in a `Caller` and runs inside `call`, which catches
//! what unwinds; inputs are copied, places to write to are checked, the work is done in safe Rust, results are written.
#![allow(unsafe_code)]
// What every exported function asks for is said once, in `HEADER`.
#![allow(clippy::missing_safety_doc)]

pub mod arbiter;
mod call;
pub mod check;
pub mod link;
pub mod message;
pub mod sim;
pub mod status;
pub mod stream;
mod table;
pub mod version;

/// What the header says before its first declaration.
pub const HEADER: &str = "\
/* scalepool: bit-accurate, cycle-approximate model of CXL-over-XLink. Written from src/capi by testbenches/tests/ffi.
 *
 * First call: sp_open(SP_ABI_VERSION). Before it every other call answers SP_ERR_VERSION.
 *
 * Status: 0 is SP_OK, positive numbers are outcomes, negative ones are refusals, which have changed nothing. After every
 * status but SP_OK sp_last_error says more, for the calls of the same thread.
 *
 * Pointers: null is never followed; where it means something, it is said. A pointer that is not null must point to as many
 * items as stand beside it, or to one, and nobody else may use them during the call: an address of other memory is the
 * caller's fault and cannot be found out. Buffers of one call may overlap. Lengths count items of the pointer's type.
 *
 * Texts that go in are UTF-8 with a length, at most 1 MiB, and need no NUL: SP_TEXT(\"literal\") gives both arguments.
 * Texts that come out end in NUL; their length is written without it, so their buffer needs one byte more.
 *
 * Buffers that are filled come as (buffer, capacity, length): the length is always written. Too short a buffer, or null
 * with capacity 0, answers SP_ERR_SHORT, and what waited to be taken still waits.
 *
 * Bytes of messages and flits: byte 0 first, as they travel. JSON forms: those of the command line.
 *
 * Functions that go in are called inside calls of the same handle, in the thread of that call. They have to return: no
 * longjmp, exception or panic may leave them. A pointer of the wrong type is the caller's fault, as with addresses.
 *
 * Handles are numbers, 0 is never one. One handle, one thread at a time: others get SP_ERR_BUSY.
 */";

/// What the header says behind its includes.
pub const MACROS: &str = "
/* Text and length of a literal, two arguments. */
#define SP_TEXT(literal) (literal), (sizeof(literal) - 1)";
