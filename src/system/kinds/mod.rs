//! The kinds of components and links, one file or folder each.
//!
//! A new kind is a file here and a line in [`kind::COMPONENTS`](super::kind::COMPONENTS) or
//! [`kind::LINKS`](super::kind::LINKS).

pub mod cxl_host;
pub mod cxl_links;
pub mod cxl_memory;
