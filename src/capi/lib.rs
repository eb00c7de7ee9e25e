//! The C ABI: the codecs and the model for C, C++, SystemVerilog DPI and Python.
//!
//! Modelled: nothing of its own. Stateless calls ([`message`], [`check`]), flits as streams ([`stream`], [`parts`]), runs of
//! scenarios ([`sim`]), ends of links beside RTL ([`link`]) arbiters ([`arbiter`]) and bridges ([`bridge`]). The committed header `testbenches/c/scalepool.h` is
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
pub mod bridge;
pub mod bridge_bits;
mod call;
pub mod check;
pub mod interfaces;
pub mod link;
pub mod message;
pub mod parts;
pub mod rules;
pub mod sim;
pub mod status;
pub mod stream;
pub mod table;
pub mod version;

/// What the header says before its first declaration.
pub const HEADER: &str = "\
/* scalepool: bit-accurate, cycle-approximate model of CXL, UALink and NVLink-like links.
 *
 * This file is generated from src/capi by testbenches/tests/ffi.
 *
 * First call: a program calls sp_open(SP_ABI_VERSION) before anything else. Until then every other call returns
 * SP_ERR_VERSION.
 *
 * Status: 0 is SP_OK. A positive status is the outcome of a call that has done its work. A negative status is an error: the
 * call was refused and has changed nothing. After every status but SP_OK, sp_last_error gives the reason. Each thread has
 * its own last error.
 *
 * Pointers: a null pointer is never followed; where it has a meaning, the function says so. Any other pointer must point to
 * as many items as the length beside it says, or to one item if there is no length, and nobody else may use that memory
 * during the call. The library cannot detect a pointer that breaks this. The buffers of one call may overlap. Lengths
 * count items of the pointer's type.
 *
 * Input texts are UTF-8 with a length of at most 1 MiB and need no NUL: SP_TEXT(\"literal\") expands to both arguments.
 * Output texts end in a NUL, which their length does not count, so the buffer needs one byte more.
 *
 * Output buffers are passed as (buffer, capacity, length). The call always writes the length that is needed. If the
 * capacity is too small, or the buffer is null with capacity 0, the call returns SP_ERR_SHORT, and the item to be taken
 * stays queued.
 *
 * Messages and flits are bytes in wire order, byte 0 first. JSON objects have the form that the command line uses.
 *
 * Callbacks run inside calls with the same handle only, in the thread of that call. They have to return: no longjmp,
 * exception or panic may leave them. The library cannot detect a callback whose type is wrong.
 *
 * Handles are numbers, and 0 is never one. Only one thread may use a handle at a time; a call by another thread
 * returns SP_ERR_BUSY.
 */";

/// What the header says behind its includes.
pub const MACROS: &str = "
/* The text of a literal and its length, as two arguments. */
#define SP_TEXT(literal) (literal), (sizeof(literal) - 1)";
