//! Credits hop by hop, and messages that leave before all of them has come (`fabric` ORD-7, ORD-8).

use super::module::{bench, read, run_told};
use scalepool::fabric::cxl_switch::{CutThrough, HopCreditError, HopCredits, MessagePart, credits_at_rest};
use scalepool::link::cxl68::credit::CreditBook as CreditBook68;
use scalepool::link::cxl256::credit::CreditBook as CreditBook256;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::message::Class as Class68;
use scalepool_protocols::cxl::cxl256::Class as Class256;

/// Messages of a logical device that can leave with nothing coming back.
fn burst(way: &mut HopCredits, ld: u8) -> usize {
    (0..).take_while(|_| way.comes(ld).is_ok() && way.leaves(ld).is_ok()).count()
}

/// Shared by all logical devices, and with credits kept for each.
#[test]
fn fab_ord_07_p() {
    for (reserved, of_first) in [([0, 0, 0], 8), ([2, 2, 1], 5), ([0, 3, 0], 5), ([8, 0, 0], 8)] {
        let mut way = HopCredits::new(4, 8, &reserved).expect("the link has so many");
        assert_eq!(burst(&mut way, 0), of_first, "{reserved:?}");
        // One message of it waits, and the others have what is theirs.
        for (ld, kept) in (1..).zip(&reserved[1..]) {
            assert_eq!(burst(&mut way, ld), *kept as usize, "{reserved:?}");
        }
        let sent = of_first + (reserved[1] + reserved[2]) as usize;
        assert_eq!(way.judge(sent as u64), None);
        // A credit from below lets the next message leave, and that one returns a credit above.
        way.returned(0).expect("it was used");
        assert_eq!(way.judge(sent as u64), None);
        way.leaves(0).expect("there is a credit");
        assert_eq!(way.judge(sent as u64 + 1), None);
    }
}

/// Buffers of a port for four requests that are neither free nor granted when so many messages have come and so many of them were taken, in
/// 256B and in 68B flits.
fn held_behind(come: u16, taken: u16) -> [u16; 2] {
    let (of_256, of_68) = (Class256::M2sReq, Class68::M2sReq);
    let mut wide =
        CreditBook256::new([false; Class256::COUNT], std::array::from_fn(|i| u16::from(i == of_256.index()) * 4));
    let mut narrow =
        CreditBook68::new(Dir::Up, 10, [false; 10], std::array::from_fn(|i| u16::from(i == of_68.index()) * 4));
    wide.take();
    narrow.take();
    for _ in 0..come {
        assert_eq!((wide.arrived(of_256), narrow.arrived(of_68)), (true, true), "there are credits for four");
    }
    for _ in 0..taken {
        wide.freed(of_256);
        narrow.freed(of_68);
    }
    wide.take();
    narrow.take();
    [wide.held(of_256), narrow.held(of_68)]
}

/// What every run judges at the ports of its switches: a port gives back the credit of each message that it has passed on, and no
/// other one.
#[test]
fn credits_of_a_port_are_home_when_its_messages_have_left() {
    for (come, taken) in (0..=4).flat_map(|come| (0..=come).map(move |taken| (come, taken))) {
        for held in held_behind(come, taken) {
            assert_eq!(held, come - taken, "{come} came, {taken} were taken");
            let found = credits_at_rest("m2s_req", held).map(|violation| violation.rule);
            assert_eq!(found, (come > taken).then_some("FAB-ORD-07"), "{come} came, {taken} were taken");
        }
    }
}

/// Credits of the link below that are forwarded to the one above, and messages without a credit.
#[test]
fn fab_ord_07_n() {
    let mut way = HopCredits::new(2, 1, &[0]).expect("the link has so many");
    let broken = |way: &HopCredits, returned| way.judge(returned).map(|violation| violation.rule);
    way.comes(0).and(way.comes(0)).expect("there are two places");
    assert_eq!(way.comes(0), Err(HopCreditError::NoPlace { granted: 2 }));
    way.leaves(0).expect("there is a credit");
    assert_eq!(way.leaves(0), Err(HopCreditError::NoCredit { ld: 0 }));
    assert_eq!(broken(&way, 0), Some("FAB-ORD-07"), "a switch that waits for the link below returns too late");
    way.returned(0).expect("it was used");
    assert_eq!((broken(&way, 1), broken(&way, 2)), (None, Some("FAB-ORD-07")), "one forwards what it gets as well");
    assert_eq!(way.returned(0), Err(HopCreditError::Nothing { ld: 0 }));
    assert_eq!(way.leaves(1), Err(HopCreditError::Nothing { ld: 1 }));
    assert_eq!(HopCredits::new(2, 3, &[2, 2]), Err(HopCreditError::Reserved { reserved: 4, granted: 3 }));
}

fn part(is_last: bool, is_bad: bool) -> MessagePart {
    MessagePart { is_last, is_bad }
}

/// Each part of five can be the bad one, and leave behind each number of further parts.
#[test]
fn fab_ord_08_p() {
    const PARTS: usize = 5;
    for bad in (0..PARTS).map(Some).chain([None]) {
        for behind in 1..=PARTS {
            let mut way = CutThrough::default();
            let mut left = Vec::new();
            for n in 0..PARTS + behind {
                if n < PARTS {
                    way.comes(part(n + 1 == PARTS, bad == Some(n)));
                }
                if n + 1 >= behind
                    && let Some(next) = way.next()
                {
                    assert_eq!(way.leaves(next), None, "{bad:?} {behind}");
                    left.push(next);
                }
            }
            assert_eq!((left.len(), way), (PARTS, CutThrough::default()));
            assert_eq!(left[PARTS - 1], part(true, bad.is_some()), "{bad:?} {behind}");
            // Whoever looks at good parts alone would have taken those before the bad one.
            assert!(left.iter().skip_while(|one| !one.is_bad).all(|one| one.is_bad));
        }
    }
}

/// Poison comes late: the half that has left stays good where the end does not say so.
#[test]
fn fab_ord_08_n() {
    let half_left = || {
        let mut way = CutThrough::default();
        way.comes(part(false, false));
        assert_eq!(way.leaves(part(false, false)), None);
        way
    };
    let broken = |mut way: CutThrough, left| way.leaves(left).map(|violation| violation.rule);
    let mut poisoned = half_left();
    poisoned.comes(part(true, true));
    assert_eq!(broken(poisoned, part(true, true)), None);
    assert_eq!(broken(poisoned, part(true, false)), Some("FAB-ORD-08"), "poison is lost");
    assert_eq!(broken(poisoned, part(false, true)), Some("FAB-ORD-08"), "the end is lost");
    assert_eq!(broken(half_left(), part(true, true)), Some("FAB-ORD-08"), "nothing more has come");
    let mut whole = half_left();
    whole.comes(part(true, false));
    assert_eq!(broken(whole, part(true, true)), Some("FAB-ORD-08"), "a good message is made bad");
}

/// In a run, bad data leave a switch as bad, and good ones as good.
fn bad_data(is_poisoned: bool, mends: bool) -> Vec<&'static str> {
    let mut one = bench(1);
    (one.is_poisoned, one.mends) = (is_poisoned, mends);
    one.sends[0].extend((0..4).map(|n| (10 + 30 * u64::from(n), read(n, 0))));
    let (seen, _, result) = run_told(one);
    assert_eq!(seen[0].len(), 4, "all are answered");
    result.broken.iter().map(|violation| violation.rule).collect()
}

#[test]
fn fab_ord_08_p2() {
    assert_eq!([bad_data(true, false), bad_data(false, false)], [[""; 0]; 2]);
    assert_eq!(bad_data(false, true), [""; 0], "there is nothing to mend");
}

/// A switch that sends them on as good is seen with each message.
#[test]
fn fab_ord_08_n2() {
    assert_eq!(bad_data(true, true), ["FAB-ORD-08"; 4]);
}
