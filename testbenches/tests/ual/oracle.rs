//! The codec against its second spelling (`oracle::ual_*`): bit for bit, both ways.

use super::common::*;
use scalepool_oracle::ual_flit::{self, Offer};
use scalepool_oracle::ual_messages;
use scalepool_protocols::registry;
use scalepool_protocols::ualink::flit::sector_byte;
use scalepool_protocols::ualink::message;
use scalepool_testbenches::legal::Random;

/// Zeros, ones, walking ones and zeros, random.
fn patterns(bits: u32) -> Vec<u128> {
    let all = u128::MAX >> (128 - bits);
    let mut random = Random::new(bits.into());
    let walking = (0..bits).flat_map(|bit| [1 << bit, all & !(1 << bit)]);
    [0, all].into_iter().chain(walking).chain((0..100).map(|_| random.wide() & all)).collect()
}

#[test]
fn fields_are_those_of_the_oracle() {
    for theirs in ual_messages::messages() {
        let def = registry::layout(theirs.name).expect("the registry has it");
        let fields: Vec<_> = def.fields.iter().map(|f| (f.name, f.lsb, f.width)).collect();
        assert_eq!((def.bits, fields), (theirs.bits, theirs.fields.to_vec()), "{}", def.name);
        for f in def.fields {
            assert_eq!(f.reserved, f.name.starts_with("rsvd") || f.name == "spare", "{}.{}", def.name, f.name);
            let lowest = match (def.name, f.name) {
                ("ualink.tl_req", "address") => 2,
                ("ualink.tl_creq", "address") => 6,
                _ => 0,
            };
            assert_eq!(f.address_lsb, lowest, "{}.{}", def.name, f.name);
        }
        for bits in patterns(def.bits) {
            let raw: Vec<u128> = theirs.fields.iter().map(|f| bits >> f.1 & (u128::MAX >> (128 - f.2))).collect();
            let bytes = (theirs.build)(&raw);
            assert_eq!(def.to_bytes(bits), bytes, "{} {bits:#x}", def.name);
            assert_eq!((theirs.read)(&bytes), raw);
            let built = def.fields.iter().zip(&raw).try_fold(0, |b, (f, raw)| f.insert(b, raw << f.address_lsb));
            assert_eq!(built, Ok(bits), "{}", def.name);
        }
    }
}

/// The layouts that the oracle does not spell are those of UPLI.
#[test]
fn the_oracle_spells_every_layout() {
    let names: Vec<_> = ual_messages::messages().iter().map(|m| m.name).collect();
    let ours = scalepool_protocols::ualink::LAYOUTS.iter().map(|def| def.name);
    let missing: Vec<_> = ours.filter(|name| !names.contains(name)).collect();
    assert!(missing.iter().all(|n| n.contains("upli") || n.contains("attr") || n.contains("iv")), "{missing:?}");
    assert!(message::MESSAGES.iter().all(|def| names.contains(&def.name)));
}

#[test]
fn the_map_is_that_of_the_oracle() {
    for sector in 0..157 {
        for byte in 0..4 {
            assert_eq!(sector_byte(sector, byte), ual_flit::offset(sector, byte), "S{sector}.B{byte}");
        }
    }
}

#[test]
fn the_crc_is_that_of_the_oracle() {
    let mut random = Random::new(5);
    let hot = (0..5120).step_by(97).map(|bit| {
        let mut flit = [0; 640];
        flit[bit / 8] = 1 << (bit % 8);
        flit
    });
    for bytes in hot.chain((0..64).map(|_| random.bytes())).chain([[0; 640], [0xff; 640]]) {
        let mut flit = DlFlit(bytes);
        flit.seal(&SHEET);
        assert_eq!(flit.0[636..], ual_flit::crc(&bytes));
    }
}

/// Random offers: the same bytes, and a receiver finds what was sent; more than 20,000 TL flits, with DL messages between
/// them and with carry-over of every length.
#[test]
fn packing_is_that_of_the_oracle() {
    let mut random = Random::new(6);
    let (mut total, mut carries) = (0, [0; 16]);
    for run in 0..70 {
        let (mut packer, mut left) = (segment::Packer::default(), Vec::new());
        let mut unpacker = segment::Unpacker::default();
        let (mut sent, mut got) = (Vec::new(), Vec::new());
        for n in 0..50 {
            let mut offers = Offers::default();
            let mut theirs: [Offer; 5] = Default::default();
            for (segment, offer) in theirs.iter_mut().enumerate() {
                if random.one_in(6) {
                    let word = random.bits() as u32;
                    offers.messages[segment] = Some(word);
                    offer.message = Some(word.to_le_bytes());
                }
                for moment in 0..2 {
                    if run % 3 == 0 || random.one_in(1 + run % 3) {
                        let mut flit = TlFlit { halves: [random.bytes(), random.bytes()], ..TlFlit::default() };
                        flit.set_indicators(random.below(4) as u8);
                        offers.tl[segment][moment] = Some(flit);
                        let bytes = std::array::from_fn(|k| flit.halves[k / 32][k % 32]);
                        offer.tl[moment] = Some((bytes, flit.message));
                    }
                }
            }
            let offered = offers;
            let payload = packer.pack(&mut offers);
            let header = explicit(n + 1);
            let ours = flit(header, &payload);
            let header_bits = header.to_bits().expect("it fits");
            let (expected, rest) = ual_flit::pack(header_bits, std::mem::take(&mut left), &theirs);
            left = rest;
            carries[left.len()] += 1;
            // The CRC has a test of its own.
            assert_eq!(ours.0[..636], expected[..636], "run {run}, flit {n}");

            // Those that were taken.
            for segment in 0..5 {
                for moment in 0..2 {
                    if offers.tl[segment][moment].is_none() {
                        sent.extend(offered.tl[segment][moment]);
                    }
                }
            }
            let read = unpacker.read(&ours.payload());
            assert_eq!(read.violations, [], "run {run}, flit {n}");
            got.extend(read.finished.iter().chain(&read.started).filter(|p| p.is_whole()).map(|p| p.flit));
        }
        sent.truncate(got.len());
        assert!(got.len() > 50 && sent == got, "run {run}: {} TL flits", got.len());
        total += got.len();
    }
    assert!(total >= 20_000 && carries.iter().all(|&n| n > 0), "{total} TL flits, carry-over {carries:?}");
}
