//! What descriptions of systems are written in, whatever hardware they describe.
//!
//! Modelled: a [`document`] in TOML in which every value has its place, [`field`]s that are declared once with type, default,
//! unit, range and meaning, [`quantity`] with its units, [`mod@reference`]s to elements of arrays, [`problem`]s that are gathered
//! and said with file and line, and [`metric`]s, the figures of a report. Left out: kinds of components and links, which
//! `scalepool_system` knows.
//!
//! A walk through one value: the document keeps it with its line and column; the field that is declared for its key reads it
//! as a quantity in its unit and holds it against its range; what does not fit becomes a problem at that place.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod document;
pub mod field;
pub mod metric;
pub mod problem;
pub mod quantity;
pub mod reference;
