//! Units made by hand, and faults that a CRC does not see.

use scalepool::link::cxl68::fault::{Fault, FaultyWire};
use scalepool::link::wires::SentUnit;
use scalepool_protocols::check::crc16;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::{Almp, Control, InitParam, Llcrd};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES, UNIT_BYTES};
use scalepool_protocols::wire::Wire;

/// A unit whose slot 0 is a control slot, with a good CRC.
pub fn control_slot(slot: u128) -> Cxl68Unit {
    Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0])
}

/// A control flit.
pub fn control(control: Control) -> Cxl68Unit {
    control_slot(control.to_slot().expect("fields fit"))
}

/// A control flit with all fields at their default.
pub fn named(name: &str) -> Cxl68Unit {
    control(Control::by_name(name).expect("a listed name"))
}

/// LLCRD with credit codes in the order Rsp, Req, Data and acknowledgements.
pub fn llcrd([rsp_crd, req_crd, data_crd]: [u8; 3], acks: u8) -> Cxl68Unit {
    let mut llcrd = Llcrd { rsp_crd, req_crd, data_crd, ..Llcrd::default() };
    llcrd.set_full_ack(acks);
    control(Control::LlcrdAcknowledge(llcrd))
}

/// INIT.Param of a 2.0 link with a wrap value.
pub fn init_param(wrap: u8) -> Cxl68Unit {
    control(Control::InitParam(InitParam { version: 2, wrap, ..InitParam::default() }))
}

/// A protocol flit: the codes come from the format names, every message goes to the first free place of its class in the
/// slot of its format.
pub fn protocol(dir: Dir, mut header: FlitHeader, formats: &[(usize, &str)], messages: &[(Class, u128)]) -> Cxl68Unit {
    let mut slots = [0; 4];
    let mut left = messages.to_vec();
    for &(n, name) in formats {
        let format = slot::formats(Revision::V2_0, dir, n).iter().find(|f| f.name == name).expect("a format");
        header.set_slot(n, format.code);
        for place in format.places() {
            if let Some(k) = left.iter().position(|m| m.0 == place.class) {
                slots[n] = place.insert(slots[n], left.remove(k).1);
            }
        }
    }
    assert!(left.is_empty(), "messages without a place");
    slots[0] |= header.to_bits().expect("fits");
    Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
}

/// A legal ALMP.
pub fn almp() -> Cxl68Unit {
    let word = Almp::default().to_bits().expect("fits") as u32 | 1 << 16 | 2 << 24 | 1 << 23;
    let mut payload = [0; PAYLOAD_BYTES];
    for copy in payload[..16].chunks_exact_mut(4) {
        copy.copy_from_slice(&word.to_le_bytes());
    }
    Cxl68Unit::plain(pid::ALMP, &payload)
}

/// A wire with listed faults.
pub fn wire(faults: Vec<Fault>) -> FaultyWire {
    FaultyWire::new(faults, 0.0, scalepool::kernel::Rng::from_seed(1))
}

/// Flips of bits of the payload (bit 0 is flit bit 0) of one unit.
pub fn flips(unit: u64, bits: impl IntoIterator<Item = u16>) -> Vec<Fault> {
    bits.into_iter().map(|bit| Fault::Flip { unit, bit: 16 + bit }).collect()
}

/// The same, and the flips of the CRC that hide them: the CRC is linear, so that of the flipped bits alone does.
pub fn forged(unit: u64, bits: &[u16]) -> Vec<Fault> {
    let mut payload = [0; PAYLOAD_BYTES];
    for &bit in bits {
        payload[usize::from(bit) / 8] ^= 1 << (bit % 8);
    }
    let crc = crc16::cxl68(&payload);
    let tail = 8 * (UNIT_BYTES as u16 - 2);
    let of_crc = (0..16).filter(|bit| crc >> bit & 1 == 1).map(|bit| Fault::Flip { unit, bit: tail + bit });
    flips(unit, bits.iter().copied()).into_iter().chain(of_crc).collect()
}

/// What was sent in a direction, taken apart. Only for a stream without replay.
pub fn sent(log: &[SentUnit<Cxl68Unit>], dir: Dir) -> Vec<Cxl68DecodedUnit> {
    let mut unpacker = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
    log.iter().filter(|s| s.dir == dir).map(|s| unpacker.read(&s.unit)).collect()
}

/// Whether a unit is a RETRY flit.
pub fn is_retry(decoded: &Cxl68DecodedUnit) -> bool {
    matches!(&decoded.kind, Cxl68UnitKind::Control(c) if !c.is_retryable())
}

/// Number of the first unit of a direction for which something holds.
pub fn first(log: &[SentUnit<Cxl68Unit>], dir: Dir, holds: impl Fn(&Cxl68DecodedUnit) -> bool) -> u64 {
    sent(log, dir).iter().position(holds).expect("there is one") as u64
}
