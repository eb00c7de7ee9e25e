//! The built program: its subcommands, a run, its limits, and the README with the guide.
#![forbid(unsafe_code)]

mod broken;
mod cli;
mod limits;
mod readme;
mod run;
