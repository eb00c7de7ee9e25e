//! NVLink packets in a wave. Basis: model (NVL-M1).
//!
//! Modelled: packets with all of their flits, as they arrive and as the receiver takes them. The scope `flit` of a place
//! holds what arrives, good or not; a packet is there with its last flit:
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of packets |
//! | `raw` | up to 18 flits as they came, bit 8n+b is bit b of byte n; flits that did not come are 0 |
//! | `flits` | flits that came |
//! | `crc_ok` | whether the CRC of the header fits it and the payload of the packet before, as that came |
//! | `header.*` | the header, as a message |
//!
//! The scope `taken` holds packets that the receiver accepts, once and in order, which is behind the next header where they
//! have payload (`nvlink` §6.3), each part by its fields:
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of packets accepted |
//! | `number` | implicit identifier of the last flit |
//! | `data_flits` | flits of data, which are `data_0` and those that follow |
//! | `be` | byte enables, where `header.be` is set |
//! | `data_0` to `data_15` | data, bit 8n+b is bit b of byte n |
//!
//! Beside them stand the scopes `header` and `ae` of what is accepted; `ae` counts those that came. A header that is a whole
//! packet confirms the one before and is accepted with it: `taken_1` and `header_1` show a second packet of one time,
//! which has no payload. Left out: AE that stay in force.

use super::FlitVars;
use crate::signals::{MessageVars, SignalTree, VarId, short_name};
use crate::state::SignalValues;
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, MAX_DATA_FLITS, MAX_FLITS, NvlConfig, NvlHeader, Packet};
use scalepool_protocols::wire::Wire;

/// What a place shows and what it remembers.
#[derive(Debug)]
pub(super) struct NvlFlitVars {
    seq: VarId,
    raw: VarId,
    flits: VarId,
    crc_ok: VarId,
    arrived: MessageVars,
    taken: [VarId; 2],
    number: [VarId; 2],
    data_flits: VarId,
    be: VarId,
    data: Vec<VarId>,
    header: [MessageVars; 2],
    ae: MessageVars,
    /// Packets accepted since something arrived.
    at_once: usize,
    /// Payload of the packet that came last.
    previous: Vec<u128>,
}

impl NvlFlitVars {
    /// Declares the variables in the scope of a place.
    pub(super) fn declare(tree: &mut SignalTree, place: usize) -> NvlFlitVars {
        let flit = tree.scope(place, "flit");
        let [taken, second] = ["taken", "taken_1"].map(|name| tree.scope(place, name));
        let header = tree.message(place, short_name(NvlHeader::DEF), NvlHeader::DEF);
        NvlFlitVars {
            seq: tree.count(flit, "seq"),
            raw: tree.raw(flit, (8 * FLIT_BYTES * MAX_FLITS) as u32),
            flits: tree.decimal(flit, "flits", 5),
            crc_ok: tree.var(flit, "crc_ok", 1),
            arrived: tree.detail(flit, short_name(NvlHeader::DEF), NvlHeader::DEF),
            taken: [taken, second].map(|scope| tree.count(scope, "seq")),
            number: [taken, second].map(|scope| tree.decimal(scope, "number", 12)),
            data_flits: tree.decimal(taken, "data_flits", 5),
            be: tree.var(taken, "be", 8 * FLIT_BYTES as u32),
            data: (0..MAX_DATA_FLITS).map(|n| tree.var(taken, &format!("data_{n}"), 8 * FLIT_BYTES as u32)).collect(),
            header: [header, tree.detail(place, "header_1", NvlHeader::DEF)],
            ae: tree.message(place, short_name(Ae::DEF), Ae::DEF),
            at_once: 0,
            previous: Vec::new(),
        }
    }
}

fn flits_of(bytes: &[u8]) -> Vec<u128> {
    bytes.as_chunks::<FLIT_BYTES>().0.iter().map(|flit| u128::from_le_bytes(*flit)).collect()
}

impl FlitVars for NvlFlitVars {
    fn show(&mut self, state: &mut SignalValues, bytes: &[u8]) {
        let flits = flits_of(bytes);
        let Some((&header, payload)) = flits.split_first() else { return };
        let crc_ok = NvlConfig::default().crc_of(&self.previous, header) == NvlHeader::from_bits(header).crc;
        state.count(self.seq);
        state.set_bytes(self.raw, bytes);
        state.set(self.flits, flits.len() as u128);
        state.set(self.crc_ok, u128::from(crc_ok));
        self.arrived.show(state, header);
        self.previous = payload.to_vec();
        self.at_once = 0;
    }

    fn take(&mut self, state: &mut SignalValues, number: u16, bytes: &[u8]) {
        let Ok(packet) = Packet::from_bytes(bytes) else { return };
        let parts = packet.parts();
        let place = self.at_once.min(1);
        self.at_once += 1;
        state.count(self.taken[place]);
        state.set(self.number[place], number.into());
        self.header[place].show(state, packet.header_bits());
        if place == 1 {
            return;
        }
        state.set(self.data_flits, parts.data.len() as u128);
        if let Some(ae) = parts.ae {
            self.ae.show(state, ae);
        }
        if let Some(be) = parts.be {
            state.set(self.be, be);
        }
        for (var, flit) in self.data.iter().zip(parts.data) {
            state.set(*var, *flit);
        }
    }
}
