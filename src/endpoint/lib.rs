//! Endpoints of CXL.io: requesters and completers that exchange TLPs.
//!
//! Modelled: [`tlp`], a TLP in a form common to all modes, and its bytes in each mode; [`requester`], with tags and
//! completions; [`completer`], with configuration space ([`config_space`]) and the memory behind BARs; [`pm`], the power
//! management messages of CXL. Detail: every field of a header, and every register bit that a host needs to bring up a
//! Type 3 device. Left out: error reporting registers, interrupts, MLD addressing, and ordering rules between kinds of
//! TLP.
//!
//! Invariants: nothing in this crate has a clock; the owner of a requester or completer passes the time to it. A TLP that
//! breaks a rule produces an [`event::EndpointEvent`] and changes no other transaction. Every allocated tag is freed by a
//! completion or by the completion time-out.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod completer;
pub mod config_space;
pub mod event;
pub mod pm;
pub mod requester;
pub mod tlp;
