//! The grammar of system descriptions, independent of the hardware that they describe.
//!
//! Modelled: a TOML [`document`] that knows the position of every value; [`field`]s, each declared once with type,
//! default, unit, range and meaning; [`quantity`], numbers with units; [`mod@reference`]s to elements of arrays;
//! [`problem`]s, which are collected and reported with file and line; and [`metric`]s, the figures of a report. Left out:
//! the kinds of components and links, which `scalepool_system` defines.
//!
//! A walk through one value: the document stores the value with its line and column. The field that is declared for its
//! key parses the value as a quantity in the unit of the field and compares it with the range of the field. A value that
//! fails becomes a problem at that line and column.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod document;
pub mod field;
pub mod metric;
pub mod problem;
pub mod quantity;
pub mod reference;
