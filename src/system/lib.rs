//! Systems as data: components, links between their ports, clocks, and the short names of their settings.
//!
//! Modelled: a description in TOML is read with the place of every value, checked as a whole, and built. Detail: what
//! components and links do is their own business; this layer knows their kinds, ports and fields. Left out: how messages
//! find their way, but for the windows of the [`memory_map`].
//!
//! A walk through one description: [`document`] reads the file; [`description`] applies the settings of the command line;
//! a [`generator`] writes out what it
//! stands for, and parts are taken in; [`resolve`] looks every name up, reads every table by the [`field`]s of its [`kind`] and joins the ports, or says all that is
//! wrong; [`channels`] judges whether messages can wait for each other in a circle; [`build`] makes wires, link ends and components of the [`design::System`], a partition for each component.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bench;
pub mod build;
pub mod builtin;
pub mod channels;
pub mod coherence;
pub mod description;
pub mod design;
pub mod draw;
pub mod generator;
pub mod kind;
pub mod kinds;
pub mod measured;
pub mod memory_map;
pub mod neighbours;
mod outside;
mod part;
pub mod resolve;
pub mod schema;

pub use scalepool_grammar::{document, field, metric, problem, quantity, reference};
