//! Reserved bits of messages that pass a switch, header by header (`fabric` CMR-3).

use scalepool::fabric::cxl_switch::{judge_reserved, kept_reserved};
use scalepool_protocols::cxl::message::{Class, MessageForm};

const FORMS: [MessageForm; 3] = [MessageForm::Cxl68, MessageForm::Hbr, MessageForm::Pbr];

/// All reserved bits of a class on a link of a form.
fn all_reserved(class: Class, form: MessageForm) -> u128 {
    let fields = form.layout(class).map_or(&[][..], |def| def.fields);
    fields.iter().filter(|field| field.reserved).fold(0, |all, field| all | field.max_raw() << field.lsb)
}

/// Single bits of a word.
fn single(bits: u128) -> impl Iterator<Item = u128> {
    (0..128).map(|place| 1 << place).filter(move |bit| bits & bit != 0)
}

/// The rule that breaks what comes and leaves.
fn broken(class: Class, forms: [MessageForm; 2], bits: [u128; 2]) -> Option<&'static str> {
    judge_reserved(class, forms, bits).map(|violation| violation.rule)
}

/// Each bit alone and all together, beside fields that are none of them, over every pair of links.
#[test]
fn fab_cmr_03_p() {
    for class in Class::ALL {
        for [from, to] in FORMS.into_iter().flat_map(|from| FORMS.map(|to| [from, to])) {
            let (own, other) = (all_reserved(class, from), all_reserved(class, to));
            let is_kept = from != MessageForm::Cxl68 && to != MessageForm::Cxl68;
            assert_eq!(kept_reserved(class, [from, to], u128::MAX), if is_kept { other } else { 0 }, "{class:?}");
            let mut seen = 0;
            for bit in single(own) {
                let left = kept_reserved(class, [from, to], bit | !own);
                assert_eq!(kept_reserved(class, [from, to], !own), 0, "fields are no reserved bits");
                assert_eq!((left.count_ones(), left & seen), (u32::from(is_kept), 0), "{class:?} {from:?} {to:?}");
                seen |= left;
                if to.layout(class).is_some() {
                    assert_eq!(broken(class, [from, to], [bit, left | !other]), None, "what is no reserved bit passes");
                }
                if is_kept {
                    assert_eq!(kept_reserved(class, [to, from], left), bit, "the way back is the same");
                }
            }
            assert!(is_kept <= (seen == other && seen != 0));
        }
    }
}

/// Kept toward 68B flits, created from them or from nothing, cleared or moved between links of 256B flits.
#[test]
fn fab_cmr_03_n() {
    let (class, found) = (Class::M2sReq, Some("FAB-CMR-03"));
    let bits = |form| single(all_reserved(class, form)).collect::<Vec<_>>();
    let [old, hbr, pbr] = FORMS.map(bits);
    use MessageForm::{Cxl68, Hbr, Pbr};
    for bit in 0..hbr.len() {
        assert_eq!(broken(class, [Hbr, Pbr], [hbr[bit], pbr[bit]]), None);
        assert_eq!(broken(class, [Hbr, Hbr], [hbr[bit], 0]), found, "cleared");
        assert_eq!(broken(class, [Hbr, Pbr], [hbr[bit], pbr[(bit + 1) % pbr.len()]]), found, "moved");
        assert_eq!(broken(class, [Cxl68, Hbr], [u128::MAX, hbr[bit]]), found, "created");
        assert_eq!(broken(class, [Pbr, Hbr], [0, hbr[bit]]), found, "created");
    }
    for bit in old {
        for from in FORMS {
            assert_eq!(broken(class, [from, Cxl68], [u128::MAX, bit]), found, "kept toward 68B flits");
        }
    }
}
