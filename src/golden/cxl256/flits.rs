//! `flit_cxl-256b_<dir>` and its siblings: traffic, every slot format, data, control, repairs, and breaks.

use super::content::{self, Cxl256Case};
use super::send::Cxl256Sender;
use super::{breaks, damage};
use crate::vectors::{CaseGroup, Stream256, StreamCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::{Mode, Routing};

/// The vectors of one direction of a mode; `count` flits of traffic.
pub fn vectors(mode: Mode, dir: Dir, seed: u64, count: u32) -> VectorSet {
    let (family, note) = match mode.routing() {
        Routing::Hbr => ("cxl256", ""),
        Routing::Pbr => ("cxlpbr", "; how sure each layout is stands in its own file"),
    };
    let protocol = mode.protocol();
    let path = format!("{family}/flit_{protocol}_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let s = &mut Cxl256Sender::new(mode, dir, &mut rng);
    let mut groups = vec![
        content::without_slots(s),
        content::traffic(s, count),
        content::every_format(s),
        content::data(s),
        content::controls(s),
        content::repairs(mode, || content::message_flit(s)),
    ];
    if mode == Mode::Standard {
        groups.push(content::credits(s));
    }
    groups.extend(wire(mode, || content::message_flit(s)));
    groups.extend(breaks::groups(s));
    groups.retain(|g| !g.cases.is_empty());
    VectorSet {
        path,
        about: format!("flits of {protocol}, direction {}, 256 bytes from the flit header on{note}", dir.name()),
        content: VectorContent::Flits256(Stream256 { protocol, mode, dir }, groups),
    }
}

/// Damage that the FEC does not repair; the good flit follows as the retry of the damaged one.
pub fn wire(mode: Mode, mut flit: impl FnMut() -> Cxl256Flit) -> Vec<CaseGroup<Cxl256Case>> {
    let mut group = |what: &str, rule: &'static str, damages: &[&dyn Fn(&Cxl256Flit) -> Cxl256Flit]| {
        let cases = damages.iter().map(|damaged| {
            let good = flit();
            StreamCase::breaks(rule, vec![damaged(&good), good])
        });
        CaseGroup::new(what, cases.collect())
    };
    // The same change in two bytes of a group looks like a wrong check byte.
    let two = |flit: &Cxl256Flit| damage::bytes(flit, &[(20, 0x11), (50, 0x11)]);
    if mode.is_lopt() {
        // With both CRCs good the FEC is not asked: something else is wrong besides.
        let hopeless = |flit: &Cxl256Flit| damage::bytes(&damage::hopeless(mode, flit), &[(33, 0x01)]);
        let spoilt = |flit: &Cxl256Flit| damage::bytes(&damage::misled(mode, flit, 30, 0x21), &[(200, 0x04)]);
        return vec![
            group(
                "CRC of the even half, then of the odd one",
                "CXL256-CRC-04",
                &[&|flit| damage::crc(mode, flit, 0), &|flit| damage::crc(mode, flit, 1), &two],
            ),
            group("two wrong FEC bytes that name no byte", "CXL256-FEC-02", &[&hopeless]),
            group("an even half that the FEC spoils", "CXL256-LOP-04", &[&spoilt]),
        ];
    }
    vec![
        group(
            "a wrong CRC; two wrong bytes of one group; a FEC that spoils a good byte",
            "CXL256-CRC-01",
            &[&|flit| damage::crc(mode, flit, 0), &two, &|flit| damage::misled(mode, flit, 30, 0x21)],
        ),
        group("two wrong FEC bytes that name no byte", "CXL256-FEC-02", &[&|flit| damage::hopeless(mode, flit)]),
    ]
}
