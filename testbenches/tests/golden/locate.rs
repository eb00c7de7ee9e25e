//! Where a unit differs from what should stand in its place.

use scalepool::golden::locate::in_stream;
use scalepool::golden::{Spec, VectorContent, VectorSource};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::unit::map;

/// Every bit of every kind of flit has a name, and it names the byte in which the bit stands.
#[test]
fn every_bit_of_a_flit_is_named() {
    let spec = Spec { count: 1, ..Spec::default() };
    for source in [VectorSource::Flits(Dir::Down), VectorSource::Flits(Dir::Up), VectorSource::Control(Dir::Down)] {
        let VectorContent::Cxl68(dir, groups) = source.vectors(&spec).content else { unreachable!("a set of flits") };
        // The first case of each group and its last flit.
        for units in groups.iter().map(|g| &g.cases[g.cases.len() / 2].units) {
            let last = units[units.len() - 1];
            for bit in 0..8 * map::LEN {
                let mut found = last;
                found.0[bit / 8] ^= 1 << (bit % 8);
                let difference = in_stream(dir, units.iter(), &found).expect("they differ");
                assert!(difference.at.starts_with(&format!("byte {}, ", bit / 8)), "{difference:?}");
                assert_ne!(difference.found, difference.expected, "{}", difference.at);
            }
            assert_eq!(in_stream(dir, units.iter(), &last), None);
        }
    }
}
