//! The fuzz targets on seeded bytes, so that they are known to build and to hold without a fuzzer.

use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::fuzzing;
use scalepool_testbenches::legal::{Random, random_message};

/// Streams of each kind; a fuzzer does more.
const STREAMS: u64 = 300;
/// Units in a stream.
const UNITS: usize = 32;

/// Units of a legal stream, header filled in, CRC right.
fn legal_stream(dir: Dir, random: &mut Random) -> Vec<u8> {
    let mut packer = Packer::new(dir, Cxl68Config::default());
    for _ in 0..UNITS {
        packer.push(random_message(random, dir)).expect("a legal message");
    }
    let mut bytes = Vec::new();
    let mut credits = [1000; 10];
    loop {
        let slots = match packer.pack(&mut credits, usize::MAX) {
            Packed::Nothing => return bytes,
            Packed::AllData(slots) => slots,
            Packed::Protocol(header, mut slots) => {
                slots[0] |= header.to_bits().expect("the packer's header fits");
                slots
            }
        };
        bytes.extend_from_slice(&Unit::from_slots(pid::CACHEMEM, &slots).0);
    }
}

#[test]
fn flit68_on_any_bytes() {
    let mut rng = Rng::for_name(1, "fuzzing.any");
    for n in 0..STREAMS {
        let mut bytes = vec![0; 1 + 68 * UNITS];
        rng.fill_bytes(&mut bytes);
        bytes[0] = n as u8;
        if n % 2 == 0 {
            bytes[1..].chunks_exact_mut(68).for_each(|unit| unit[..2].copy_from_slice(&pid::CACHEMEM.to_le_bytes()));
        }
        fuzzing::flit68(&bytes);
    }
}

#[test]
fn flit68_on_mutated_streams() {
    let (mut rng, mut random) = (Rng::for_name(1, "fuzzing.mutated"), Random::new(1));
    for n in 0..STREAMS {
        let dir = if n % 2 == 0 { Dir::Down } else { Dir::Up };
        let mut bytes = vec![n as u8 & 3];
        bytes.extend(legal_stream(dir, &mut random));
        for _ in 0..rng.below(20) {
            let bit = 8 + rng.below(8 * (bytes.len() as u64 - 1)) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        fuzzing::flit68(&bytes);
    }
}
