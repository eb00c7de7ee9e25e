//! `flit_nvlink_<dir>`: every operation, lengths, address extensions, byte enables, credits and acknowledgements, random
//! traffic, wrong CRCs, and visible breaks. Basis of all of it: model (`nvlink` §6); it says nothing about a product.
//!
//! A packet here is what the other families call a flit: the unit of a stream; the `.hex` file has its flits one by one. Every case begins and ends with no payload
//! that a CRC has yet to cover, so each can be read on its own. Breaks that show as two rules in one packet (`len` of 18
//! and more, AE and BE in the wrong order) and rules over time are left out.

use super::legal;
use super::vectors::{CaseGroup, StreamCase, VectorContent, VectorSet};
use scalepool_forms::flit_nvl::PROTOCOL;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::stream::Packer;
use scalepool_protocols::nvlink::{
    Ae, Class, FLIT_BYTES, MAX_BE_DATA_FLITS, MAX_DATA_FLITS, NvlConfig, NvlHeader, Op, Packet, Vc,
};
use scalepool_protocols::wire::Wire;

type Case = StreamCase<Packet>;

/// The vectors of one direction; `4 * count` packets of random traffic.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let path = format!("nvlink/flit_{PROTOCOL}_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let s = &mut Sender { rng: &mut rng, packer: Packer::default() };
    let mut groups = vec![
        operations(s),
        lengths(s),
        extensions(s),
        enables(s),
        credits(s),
        traffic(s, 4 * count),
        wrong_headers(s),
        wrong_payloads(s),
        breaks(s),
    ];
    // A count of zero: no traffic.
    groups.retain(|g| g.cases.iter().any(|c| !c.units.is_empty()));
    VectorSet {
        path,
        about: format!(
            "packets of {PROTOCOL}, direction {}, 16 to 288 bytes, model profile NVL-M1, basis model: no product",
            dir.name()
        ),
        content: VectorContent::Nvlink(dir, groups),
    }
}

/// Sends one stream.
struct Sender<'a> {
    rng: &'a mut Rng,
    packer: Packer,
}

/// A header on the channel of its operation.
fn header(op: Op) -> NvlHeader {
    NvlHeader { op, vc: NvlConfig::default().vc_of(op).unwrap_or_default(), ..NvlHeader::default() }
}

/// Carries the CRC over a payload before it.
fn idle() -> Packet {
    bare(header(Op::IDLE))
}

/// A packet of a header alone, whatever it says.
fn bare(header: NvlHeader) -> Packet {
    // The fields of the generator's headers fit, and one flit is a packet.
    Packet::new(&[header.to_bits().unwrap_or_default()]).unwrap_or_else(|_| unreachable!("one flit is a packet"))
}

/// The packet with its header changed.
fn with(packet: &Packet, change: impl FnOnce(&mut NvlHeader)) -> Packet {
    let mut header = packet.header();
    change(&mut header);
    packet.with_header_bits(header.to_bits().unwrap_or_default())
}

/// Operations that are listed.
fn listed() -> impl Iterator<Item = Op> {
    Op::TABLE.codes.iter().map(|code| Op(code.value as u8))
}

impl Sender<'_> {
    fn bits(&mut self) -> u128 {
        legal::random_bits(self.rng, 128)
    }

    fn ae(&mut self) -> Ae {
        Ae { rsvd: 0, ..Ae::from_bits(self.bits()) }
    }

    /// A legal packet of its parts with random data.
    fn packet(&mut self, header: NvlHeader, ae: bool, be: bool, flits: usize) -> Packet {
        let mut data = vec![0; FLIT_BYTES * flits];
        self.rng.fill_bytes(&mut data);
        let (ae, be) = (ae.then(|| self.ae()), be.then(|| self.bits()));
        // The parts of the generator's packets go together.
        Packet::build(header, ae, be, &data).unwrap_or_else(|_| bare(header))
    }

    /// Sealed packets, and an IDLE behind a payload.
    fn stream(&mut self, packets: &[Packet]) -> Vec<Packet> {
        let mut sent: Vec<Packet> = packets.iter().map(|packet| self.packer.seal(packet)).collect();
        if packets.last().is_some_and(|packet| !packet.payload().is_empty()) {
            sent.push(self.packer.seal(&idle()));
        }
        sent
    }

    fn legal(&mut self, packet: Packet) -> Case {
        StreamCase::legal(self.stream(&[packet]))
    }
}

/// Every operation with the least and the most data, and with random other fields.
fn operations(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for op in listed() {
        for most in [false, true] {
            let flits = match (op.has_data(), most) {
                (Some(true), true) => MAX_DATA_FLITS,
                (Some(true), false) => 1,
                _ => 0,
            };
            let own = NvlHeader { op, vc: header(op).vc, rsvd: 0, ..NvlHeader::from_bits(s.bits()) };
            let packet = s.packet(if most { own } else { header(op) }, false, false, flits);
            cases.push(s.legal(packet));
        }
    }
    CaseGroup::new("operations", cases)
}

/// Every number of data flits, packet behind packet: each CRC covers the payload before.
fn lengths(s: &mut Sender) -> CaseGroup<Case> {
    let packets: Vec<Packet> =
        (1..=MAX_DATA_FLITS).map(|flits| s.packet(header(Op::WRITE_POSTED), false, false, flits)).collect();
    CaseGroup::new("lengths", vec![StreamCase::legal(s.stream(&packets))])
}

/// An address extension on every operation that can have one, then the next packet of its channel without.
fn extensions(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for op in listed().filter(|op| op.class() != Some(Class::Link)) {
        let flits = usize::from(op.has_data() == Some(true));
        let own = NvlHeader { address: 0x3f_ffff_fff0, ..header(op) };
        let pair = [s.packet(own, true, false, flits), s.packet(own, false, false, flits)];
        cases.push(StreamCase::legal(s.stream(&pair)));
    }
    let longest = s.packet(header(Op::WRITE_POSTED), true, false, MAX_DATA_FLITS);
    cases.push(s.legal(longest));
    CaseGroup::new("address extensions, then the longest packet", cases)
}

/// Byte enables beside every length that can have them, without and with an address extension.
fn enables(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for flits in 1..=MAX_BE_DATA_FLITS {
        let packet = s.packet(header(Op::WRITE_NONPOSTED), flits % 2 == 0, true, flits);
        cases.push(s.legal(packet));
    }
    CaseGroup::new("byte enables", cases)
}

/// Credits of every channel, first ones and returned ones, and acknowledgements.
fn credits(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for vc in (0..Vc::COUNT).map(|vc| Vc(vc as u8)) {
        for (op, crh, crd) in [(Op::CREDIT_INIT, 15, 31), (Op::IDLE, 1, 16)] {
            cases.push(s.legal(bare(NvlHeader { crvc: vc, crh, crd, ..header(op) })));
        }
    }
    for ackid in [0, 1, 2048, 4095] {
        cases.push(s.legal(bare(NvlHeader { ackid, ackv: true, ..header(Op::IDLE) })));
        cases.push(s.legal(bare(NvlHeader { ackid, ..header(Op::REPLAY_INIT) })));
    }
    CaseGroup::new("credits, then acknowledgements and replays", cases)
}

/// Random operations, parts and fields in one stream.
fn traffic(s: &mut Sender, count: u32) -> CaseGroup<Case> {
    let ops: Vec<Op> = listed().collect();
    let mut packets = Vec::new();
    for _ in 0..count {
        let op = ops[s.rng.below(ops.len() as u64) as usize];
        let flits = if op.has_data() == Some(true) { 1 + s.rng.below(MAX_DATA_FLITS as u64) as usize } else { 0 };
        let ae = op.class() != Some(Class::Link) && s.rng.below(3) == 0;
        let be = (1..=MAX_BE_DATA_FLITS).contains(&flits) && s.rng.below(3) == 0;
        let own = NvlHeader { op, vc: header(op).vc, rsvd: 0, ..NvlHeader::from_bits(s.bits()) };
        packets.push(s.packet(own, ae, be, flits));
    }
    CaseGroup::new("random traffic", vec![StreamCase::legal(s.stream(&packets))])
}

/// One wrong bit in a header that covers itself alone; the packet is dropped and sent again.
fn wrong_headers(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for bit in (0..128).step_by(31).chain([102, 103, 127]) {
        let packet = s.packet(header(Op::READ), false, false, 0);
        let good = s.packer.seal(&packet);
        let bad = good.with_header_bits(good.header_bits() ^ 1 << bit);
        cases.push(StreamCase::breaks("NVL-CRC-01", vec![bad, good]));
    }
    CaseGroup::new("one wrong bit in a header", cases)
}

/// A header whose CRC covers a payload with one other bit, then one that covers what was received.
fn wrong_payloads(s: &mut Sender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for (n, bit) in (0..8).zip([0, 1, 31, 63, 64, 95, 126, 127]) {
        let packet = s.packet(header(Op::RSP_DATA), n % 2 == 0, false, 1 + n);
        let sent = s.packer.seal(&packet);
        let mut meant = sent;
        meant.payload_mut()[n] ^= 1 << bit;
        let crc = NvlConfig::default().crc_of(meant.payload(), idle().header_bits());
        cases.push(StreamCase::breaks("NVL-CRC-02", vec![sent, idle().with_crc(crc), s.packer.seal(&idle())]));
    }
    CaseGroup::new("one wrong bit in a payload", cases)
}

/// Breaks that one packet with a good CRC shows.
fn breaks(s: &mut Sender) -> CaseGroup<Case> {
    let mut broken = Vec::new();
    for op in (0..64).step_by(5).map(Op).filter(|op| op.class().is_none()) {
        broken.push(("NVL-OPC-01", bare(NvlHeader { op, ..NvlHeader::default() })));
    }
    for op in [Op::READ, Op::WRITE_POSTED, Op::RSP_DATA, Op::FLUSH] {
        let own = header(op);
        let packet = s.packet(own, false, false, usize::from(op.has_data() == Some(true)));
        for vc in [Vc(own.vc.0 ^ 1), Vc(own.vc.0 ^ 7)] {
            broken.push(("NVL-OPC-02", with(&packet, |header| header.vc = vc)));
        }
    }
    for rsvd in 1..4 {
        broken.push(("NVL-HDR-01", with(&idle(), |header| header.rsvd = rsvd)));
    }
    for bit in [0, 31, 63] {
        let mut packet = s.packet(header(Op::READ), true, false, 0);
        packet.payload_mut()[0] |= 1 << bit;
        broken.push(("NVL-HDR-02", packet));
    }
    for flits in [MAX_BE_DATA_FLITS + 1, MAX_DATA_FLITS - 1] {
        // The first data flit becomes the byte enables of the others.
        let packet = s.packet(header(Op::WRITE_POSTED), false, false, flits + 1);
        let change = |header: &mut NvlHeader| (header.be, header.size) = (true, flits as u8 - 1);
        broken.push(("NVL-PKT-03", with(&packet, change)));
    }
    let two = s.packet(header(Op::WRITE_POSTED), false, false, 2);
    for (len, size) in [(1, 1), (3, 1), (2, 0), (2, 2)] {
        broken.push(("NVL-PKT-04", with(&two, |header| (header.len, header.size) = (len, size))));
    }
    let more = s.packet(header(Op::RSP_DATA), false, false, 1);
    broken.push(("NVL-PKT-04", with(&more, |header| (header.op, header.size) = (Op::RSP_DONE, 0))));
    let extended = s.packet(header(Op::READ), true, false, 0);
    broken.push(("NVL-PKT-04", with(&extended, |own| (own.op, own.vc) = (Op::IDLE, header(Op::IDLE).vc))));
    let cases = broken.into_iter().map(|(rule, packet)| StreamCase::breaks(rule, s.stream(&[packet])));
    CaseGroup::new("breaks that one packet shows", cases.collect())
}
