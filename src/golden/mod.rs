//! Vector files: make, write, read, compare.

pub mod cxl68;
pub mod hex;
pub mod layouts;
pub mod legal;
mod lines;
pub mod rsp;
mod spec;
pub mod text;
mod vectors;

pub use lines::FormatError;
pub use spec::{DEFAULT_COUNT, DEFAULT_SEED, FORMAT_VERSION, MAX_COUNT, MAX_SEED, Source, Spec};
pub use vectors::{Content, Context, Group, MessageCase, StreamCase, VectorSet};
