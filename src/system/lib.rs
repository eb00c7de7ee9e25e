//! Systems as data: components, links between their ports, clocks, and the short names of their settings.
//!
//! Modelled: a system description in TOML is read together with the file position of every value, checked as a whole, and
//! built. Detail: this layer knows the kinds, ports and fields of components and links, but not their behaviour. Left out:
//! the routing of messages, except for the address windows of the [`memory_map`].
//!
//! A walk through one description: [`document`] reads the file. [`description`] applies the settings of the command line.
//! Each [`generator`] is expanded into components and links, and parts are included from their files. [`resolve`] looks up
//! every name, reads every table by the [`field`]s of its [`kind`] and connects the ports, or reports every error.
//! [`channels`] checks whether messages could wait for each other in a circle. [`build`] makes the wires, link ends and
//! components of the [`design::System`], with one partition for each component.
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
pub mod hierarchies;
mod io_times;
pub mod kind;
pub mod kinds;
pub mod measured;
pub mod memory_map;
pub mod neighbours;
mod outside;
mod part;
pub mod pbr_fabric;
pub mod resolve;
pub mod schema;

pub use scalepool_grammar::{document, field, metric, problem, quantity, reference};
