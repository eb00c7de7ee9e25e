//! What the tests share: packets built part by part, and what the codec makes of them.

pub use scalepool_protocols::nvlink::check;
pub use scalepool_protocols::nvlink::stream::{Packer, Unpacker};
pub use scalepool_protocols::nvlink::{Ae, Class, NvlConfig, NvlHeader, Op, Packet, PacketError, Vc};
pub use scalepool_protocols::wire::Wire;
pub use scalepool_testbenches::legal::Random;

/// Every operation of the sheet, `nvlink` §6.1: code, name, data, channel.
pub const OPERATIONS: [(u8, &str, bool, Option<Vc>); 14] = [
    (0x00, "IDLE", false, None),
    (0x01, "READ", false, Some(Vc(0))),
    (0x02, "WRITE_POSTED", true, Some(Vc(6))),
    (0x03, "WRITE_NONPOSTED", true, Some(Vc(0))),
    (0x04, "ATOMIC_RETURN", true, Some(Vc(0))),
    (0x05, "ATOMIC_POSTED", true, Some(Vc(6))),
    (0x06, "FLUSH", false, Some(Vc(0))),
    (0x07, "MULTICAST_WRITE", true, Some(Vc(6))),
    (0x08, "REDUCE_READ", false, Some(Vc(0))),
    (0x10, "RSP_DATA", true, Some(Vc(5))),
    (0x11, "RSP_DONE", false, Some(Vc(5))),
    (0x12, "RSP_ERROR", false, Some(Vc(5))),
    (0x3e, "REPLAY_INIT", false, None),
    (0x3f, "CREDIT_INIT", false, None),
];

/// A header on the channel of its operation.
pub fn header(op: Op) -> NvlHeader {
    NvlHeader { op, vc: NvlConfig::default().vc_of(op).unwrap_or_default(), ..NvlHeader::default() }
}

/// Data flits that are told apart by their first byte.
pub fn data(flits: usize) -> Vec<u8> {
    (0..16 * flits).map(|n| if n % 16 == 0 { n as u8 / 16 + 1 } else { n as u8 }).collect()
}

/// A legal packet with so many data flits.
pub fn packet(op: Op, flits: usize) -> Packet {
    Packet::build(header(op), None, None, &data(flits)).expect("a legal packet")
}

/// The packet with its header changed, then sealed as the first of a stream.
pub fn changed(packet: &Packet, change: impl FnOnce(&mut NvlHeader)) -> Packet {
    let mut header = packet.header();
    change(&mut header);
    first(&packet.with_header_bits(header.to_bits().expect("the fields fit")))
}

/// Sealed as the first packet of a stream.
pub fn first(packet: &Packet) -> Packet {
    Packer::default().seal(packet)
}

/// Rules that a packet breaks as the first of a stream.
pub fn rules(packet: &Packet) -> Vec<&'static str> {
    rules_with(packet, NvlConfig::default())
}

/// The same under other choices.
pub fn rules_with(packet: &Packet, config: NvlConfig) -> Vec<&'static str> {
    let mut unpacker = Unpacker::new(config);
    let decoded = unpacker.read(packet);
    check::packet(&decoded, &config).violations.iter().map(|v| v.rule).collect()
}

/// A random legal packet with a payload as long as it likes.
pub fn random_packet(random: &mut Random) -> Packet {
    let (code, _, has_data, _) = OPERATIONS[random.below(OPERATIONS.len())];
    let op = Op(code);
    let flits = if has_data { 1 + random.below(16) } else { 0 };
    let raw = NvlHeader::from_bits(random.wide());
    let own = NvlHeader { op, vc: header(op).vc, rsvd: 0, ..raw };
    let link = op.class() == Some(Class::Link);
    let ae = (!link && random.one_in(3)).then(|| Ae { rsvd: 0, ..Ae::from_bits(random.wide()) });
    let be = ((1..=8).contains(&flits) && random.one_in(3)).then(|| random.wide());
    let bytes: Vec<u8> = (0..16 * flits).map(|_| random.bits() as u8).collect();
    Packet::build(own, ae, be, &bytes).expect("a legal packet")
}
