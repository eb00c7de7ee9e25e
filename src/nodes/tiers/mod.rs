//! Accelerators whose pages lie in tiers of memory: HBM of their own, HBM of a peer, and tier 2 behind a bridge.
//!
//! Modelled: page tables at the sources, a manager for each part of all pages, policies of placement, moves of pages in traffic, and a
//! copy engine that moves their bytes, all of it by requests on UALink or NVLink with real bytes; frames of tier 2 that [leave and come](leaving). Left out: address translation in hardware below
//! that of pages, and what an operating system would do besides. Every number is a choice of ours (choice c27 of the bridge rules).
//!
//! A walk through one access: its page is looked up in the [page table](table); if its place is not known, the [manager] is
//! asked; the request goes to the HBM, the peer or the bridge that has the [frame](frames); the manager counts it, and at the end of an
//! interval the [policy] may have the page moved by the [copy engine](copies), while a [watch] checks the rules of that.

pub mod accelerator;
pub mod caller;
pub mod copies;
pub mod frames;
pub mod leaving;
pub mod manager;
pub mod messages;
pub mod policy;
pub mod table;
pub mod traffic;
pub mod watch;
