//! Vectors of the CXL fabric: decoders and their registers, tables, identifiers at edges and routes, which have no time.
//!
//! Modelled: what a decoder, a table of an edge port or a router answers to an address, a message or a destination, for benches of
//! such blocks. Detail: each answer is exact; registers of decoders and entries of routing tables are written. Left out: time.
//!
//! | file | a line is |
//! | --- | --- |
//! | `decoder_commits` | the registers of decoders as software writes and reads them, and where addresses lead in between |
//! | `decoder_walk` | a window over its targets, and addresses that walk from the root over a bridge to the device |
//! | `edge_ids` | an edge port with its tables, and messages of every class before and behind it, both ways |
//! | `routing_tables` | a switch whose routing tables are written, and the ports of DPIDs |
//! | `segment_tables` | a FAST or LDST table of an edge port, and the DPIDs of addresses |
//! | `topology_routes` | a router, where its ports lead, and the ports towards each node |
//!
//! A walk through one file: its configurations are walked, each with addresses at its edges and some at random; the model's
//! own decoders answer. The first line says what the file is. `testbenches/fabric/compare.py` holds every answer against a
//! spelling of the sheet.

mod decoder_commits;
mod decoder_walk;
mod edge_ids;
mod routing_tables;
mod segment_tables;
mod topology_routes;

use scalepool_fabric::cxl_switch::pbr::PbrPid;
use serde_json::{Value, json};

/// Version of the form of these files.
pub const FABRIC_FORMAT_VERSION: u32 = 1;
/// Seed of addresses at random.
const SEED: u64 = 1;

/// A file of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct FabricVectors {
    /// Name of the file without its extension.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Its cases.
    pub cases: Vec<Value>,
}

/// All files.
pub fn all() -> Vec<FabricVectors> {
    vec![
        decoder_commits::vectors(),
        decoder_walk::vectors(),
        edge_ids::vectors(),
        routing_tables::vectors(),
        segment_tables::vectors(),
        topology_routes::vectors(),
    ]
}

impl FabricVectors {
    /// The file: a line of what it is, then one line for each case.
    pub fn text(&self, model_version: &str) -> String {
        let head = json!({
            "format": FABRIC_FORMAT_VERSION, "model": model_version, "about": self.about, "cases": self.cases.len(),
        });
        self.cases.iter().fold(format!("{head}\n"), |text, case| text + &format!("{case}\n"))
    }
}

/// A PID for a table.
fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).unwrap_or_else(|e| unreachable!("a number of an edge port: {e}"))
}

/// An address, as these files write it.
fn hex(address: u64) -> Value {
    Value::String(format!("{address:#x}"))
}
