//! NVLink GPUs with the programs that they run, model profile NVL-M1. Basis: model, no product.
//!
//! Modelled: requests over ganged links, answers, memory with real bytes, collectives, litmus programs of order. Left out:
//! switches (see [`scalepool_fabric`]). A walk through one write: the [`program`] asks for it; the [`gpu`] chooses the link by the
//! block of the address and gives it a number; the peer's GPU checks link and number, and writes its memory.

pub mod collective;
pub mod completer;
pub mod gpu;
pub mod ledger;
pub mod link_group;
pub mod litmus;
pub mod memory;
pub mod program;
pub mod traffic;
