//! NVLink packets as a stream, and the same flits into one end of a link.

use super::{print, to_send};
use scalepool::forms::flit_nvl::{NvlPacketDecoder, NvlPacketEncoder, to_json};
use scalepool::link::nvlink::{Buffers, LinkConfig, NvlEnd, NvlFlit};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::stream::Packer;
use scalepool_protocols::nvlink::{FLIT_BYTES, NvlConfig, NvlHeader, Packet, Vc};
use scalepool_protocols::wire::Wire;

/// The bytes as one stream of packets: a header says how many flits follow it, as far as there are some; its CRC is made
/// right when the first byte has bit 1 set. Each packet goes through decoder, checks and JSON form and back to the same
/// flits, and flit by flit into an end that answers.
pub fn nvlink(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let dir = if choice & 1 == 0 { Dir::Down } else { Dir::Up };
    let (mut decoder, mut encoder) =
        (NvlPacketDecoder::default(), NvlPacketEncoder::new(NvlConfig::default(), Some(dir)));
    let mut packer = Packer::default();
    let mut end = NvlEnd::new(LinkConfig { timeout_flits: 20, ..LinkConfig::default() }, Buffers::default());
    let flits: Vec<u128> = stream.as_chunks::<FLIT_BYTES>().0.iter().map(|flit| u128::from_le_bytes(*flit)).collect();
    let mut rest = &flits[..];
    for n in 0u64.. {
        let Some(first) = rest.first() else { return };
        let flits = (1 + usize::from(NvlHeader::from_bits(*first).len)).clamp(1, rest.len().min(18));
        let (own, others) = rest.split_at(flits);
        rest = others;
        let Ok(mut packet) = Packet::new(own) else { return };
        if choice & 2 != 0 {
            packet = packer.seal(&packet);
        }
        let (decoded, findings) = decoder.read(&packet);
        print(&findings.violations);
        let form = to_json(&decoded, &findings, dir, n);
        let mut sent = form.clone();
        to_send(&mut sent);
        let again = encoder.encode(&sent).unwrap_or_else(|e| panic!("{sent} is refused: {e:?}"));
        assert_eq!((again.packet, again.form), (packet, form));
        for bits in packet.flits() {
            end.receive(&NvlFlit::from(*bits));
            end.transmit();
        }
        (0..8).for_each(|vc| drop(end.take(Vc(vc))));
        end.take_events().iter().for_each(|event| assert!(!event.to_string().is_empty()));
    }
}
