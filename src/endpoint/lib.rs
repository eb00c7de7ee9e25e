//! Endpoints of CXL.io: who asks and who answers over TLPs.
//!
//! Modelled: [`tlp`], a TLP the same in every mode, and its bytes in each; [`requester`], tags and completions;
//! [`completer`], configuration space ([`config_space`]) and memory behind BARs; [`pm`], the power management messages of
//! CXL. Detail: every field of a header, every bit of the registers that a host needs to bring a Type 3 device up. Left
//! out: error reporting registers, interrupts, MLD addressing, ordering rules between kinds of TLP.
//!
//! Invariants: nothing here has a clock; whoever owns a part passes the time in. A TLP that breaks a rule is an
//! [`event::EndpointEvent`] and changes no other transaction. Every tag that was given out comes back by a completion
//! or by the time-out.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod completer;
pub mod config_space;
pub mod event;
pub mod pm;
pub mod requester;
pub mod tlp;
