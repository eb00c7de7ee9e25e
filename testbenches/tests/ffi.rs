//! The C ABI: the committed header is fresh, a C program and a C++ program use it, and no argument breaks it.

#[path = "ffi/c_programs.rs"]
mod c_programs;
#[path = "ffi/calls.rs"]
mod calls;
#[path = "ffi/dpi.rs"]
mod dpi;
#[path = "ffi/header.rs"]
mod header;
#[path = "ffi/hooks.rs"]
mod hooks;
#[path = "ffi/links.rs"]
mod links;
#[path = "ffi/rough.rs"]
mod rough;
#[path = "ffi/sims.rs"]
mod sims;
#[path = "ffi/steps.rs"]
mod steps;
