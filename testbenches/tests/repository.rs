//! The repository itself.
#![forbid(unsafe_code)]

mod bench;
mod meta;
mod tidy;
