//! Whole streams: random legal messages through the packer, read back by the codec and by the independent checker.

use super::common::*;
use proptest::prelude::*;
use scalepool_oracle::cxl68_stream::{FlitKind, StreamChecker};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_testbenches::legal::{Random, classes, legal_message};

/// A message to be, and the flits to pack before the next one comes.
#[derive(Debug, Clone)]
struct Step {
    class: usize,
    raw: u128,
    shape: u8,
    line_seed: u64,
    enables: u64,
    flits: u8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..5usize, any::<u128>(), any::<u8>(), any::<u64>(), any::<u64>(), 0..4u8).prop_map(
        |(class, raw, shape, line_seed, enables, flits)| Step { class, raw, shape, line_seed, enables, flits },
    );
    prop::collection::vec(step, 1..60)
}

fn sent(dir: Dir, step: &Step) -> Cxl68Message {
    let class = classes(dir).nth(step.class).expect("five classes a direction");
    let line = std::array::from_fn(|k| (step.line_seed.rotate_left(k as u32) ^ k as u64) as u8);
    legal_message(class, step.raw, step.shape, line, step.enables)
}

/// Packs the steps with so many credits a class that come back with every flit.
fn flits(dir: Dir, config: Cxl68Config, steps: &[Step], credits_a_flit: u16) -> (Vec<Cxl68Message>, Vec<Cxl68Unit>) {
    let mut packer = Packer::new(dir, config);
    let (mut messages, mut units) = (Vec::new(), Vec::new());
    let mut one = |packer: &mut Packer| match unit_of(&packer.pack(&mut [credits_a_flit; 10], 4)) {
        Some(unit) => units.push(unit),
        None => assert!(packer.is_empty(), "something waits, has credits and is not packed"),
    };
    for step in steps {
        let message = sent(dir, step);
        packer.push(&message).expect("a legal message is admitted");
        messages.push(message);
        (0..step.flits).for_each(|_| one(&mut packer));
    }
    while !packer.is_empty() {
        one(&mut packer);
    }
    (messages, units)
}

/// Reads a stream with codec and oracle flit by flit, and compares all that both say.
fn same_stream(
    dir: Dir,
    config: Cxl68Config,
    messages: &[Cxl68Message],
    units: &[Cxl68Unit],
) -> Result<(), TestCaseError> {
    let mut checker = StreamChecker::new(oracle_dir(dir), config.mdh);
    let read = read_as(dir, config, units);
    let mut arrived: Vec<(&'static str, u128)> = Vec::new();
    let mut transfers = Vec::new();
    for ((unit, decoded), findings) in units.iter().zip(&read.decoded).zip(&read.findings) {
        prop_assert!(findings.violations.is_empty() && findings.lints.is_empty(), "{findings:?}");
        let facts = checker.flit(&unit.0).map_err(TestCaseError::fail)?;
        let kind = match decoded.kind {
            Cxl68UnitKind::Protocol(_) => FlitKind::Protocol,
            Cxl68UnitKind::AllData => FlitKind::AllData,
            other => return Err(TestCaseError::fail(format!("a packer sends no {other:?}"))),
        };
        prop_assert_eq!(facts.kind, kind);
        prop_assert_eq!(
            (facts.rollover_before, facts.rollover_after),
            (decoded.rollover_before, decoded.rollover_after)
        );
        prop_assert!(facts.stray_slots.is_empty());
        let theirs: Vec<_> = facts.messages.iter().map(|m| (m.slot, m.name, m.raw)).collect();
        let ours: Vec<_> = decoded.messages().map(|(n, class, bits)| (n, class.def().name, bits)).collect();
        prop_assert_eq!(&theirs, &ours);
        arrived.extend(theirs.into_iter().map(|(_, name, raw)| (name, raw)));
        transfers.extend(facts.completed);
    }
    prop_assert!(checker.finish().is_ok());
    prop_assert_eq!(read.rollover, 0);
    for class in classes(dir) {
        let want = of_class(messages, class);
        prop_assert_eq!(&of_class(&read.delivered, class), &want, "{:?}: order and content", class);
        let theirs: Vec<u128> = arrived.iter().filter(|a| a.0 == class.def().name).map(|a| a.1).collect();
        prop_assert_eq!(theirs, want.iter().map(|m| m.bits).collect::<Vec<_>>());
        if class.has_data() {
            let mine: Vec<_> = transfers.iter().filter(|t| t.name == class.def().name).collect();
            prop_assert_eq!(mine.len(), want.len());
            for (m, t) in want.iter().zip(mine) {
                prop_assert!(same_transfer(m, t), "{:?} {:?}", m, t);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(random_cases(400, "tests/cxl68/streams.regressions"))]

    #[test]
    fn what_is_packed_arrives(
        steps in steps(), up in any::<bool>(), mdh in any::<bool>(), v1_1 in any::<bool>(), credits in 1..9u16,
    ) {
        let dir = if up { Dir::Up } else { Dir::Down };
        // The oracle has no forms of 1.1, which differ upstream alone.
        let revision = if v1_1 && !up { Revision::V1_1 } else { Revision::V2_0 };
        let config = Cxl68Config { mdh, revision, ..config() };
        let (mut messages, units) = flits(dir, config, &steps, credits);
        if revision == Revision::V1_1 {
            messages.iter_mut().for_each(|m| m.bits &= !m.class.reserved_in_1_1());
        }
        same_stream(dir, config, &messages, &units)?;
    }

    /// A flit that is lost to a bad CRC changes nothing: the stream goes on when it comes again.
    #[test]
    fn a_bad_flit_changes_no_state(steps in steps(), up in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0..512usize) {
        let dir = if up { Dir::Up } else { Dir::Down };
        let (messages, mut units) = flits(dir, config(), &steps, 8);
        let at = at.index(units.len());
        let mut bad = units[at];
        bad.0[2 + bit / 8] ^= 1 << (bit % 8);
        units.insert(at, bad);
        let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
        let mut delivered = Vec::new();
        for unit in &units {
            reader.read(unit);
            delivered.extend_from_slice(reader.delivered());
        }
        for class in classes(dir) {
            prop_assert_eq!(of_class(&delivered, class), of_class(&messages, class));
        }
    }
}

/// With plenty of work of all classes nobody starves: the flits between two messages of a class are bounded.
#[test]
fn no_class_starves() {
    for dir in Dir::ALL {
        let mut packer = Packer::new(dir, config());
        for n in 0..400 {
            for class in classes(dir) {
                packer.push(&message(class, n)).expect("legal");
            }
        }
        let mut since = [0usize; 10];
        // As long as every class waits.
        while classes(dir).all(|c| packer.waiting(c) > 0) {
            let before = classes(dir).map(|c| packer.waiting(c)).collect::<Vec<_>>();
            let packed = packer.pack(&mut PLENTY.clone(), 4);
            assert_ne!(packed, Packed::Nothing);
            for (class, before) in classes(dir).zip(before) {
                let i = class.index();
                since[i] = if packer.waiting(class) < before { 0 } else { since[i] + 1 };
                // One protocol flit a class of the direction, and an all-data flit or two between.
                assert!(since[i] <= 6, "{} waits for {} flits", class.def().name, since[i]);
            }
        }
    }
}

/// Without credits nothing is packed; each message takes one credit of its own class.
#[test]
fn a_message_takes_one_credit() {
    for class in Class::ALL {
        let mut packer = Packer::new(class.dir(), config());
        (0..5).for_each(|n| packer.push(&message(class, n)).expect("legal"));
        let mut credits = PLENTY;
        credits[class.index()] = 0;
        assert_eq!(packer.pack(&mut credits, 4), Packed::Nothing);
        credits[class.index()] = 3;
        while packer.pack(&mut credits, 4) != Packed::Nothing {}
        assert_eq!((packer.waiting(class), credits[class.index()]), (2, 0));
        assert!(Class::ALL.iter().filter(|c| **c != class).all(|c| credits[c.index()] == u16::MAX));
    }
}

/// Rules that both codec and oracle judge in one CXL.cachemem flit. The oracle leaves codes and reserved bits out, and
/// stops at the first break.
fn is_structural(rule: &str) -> bool {
    ["SLT-01", "HDR-03", "HDR-04", "CTL-02", "CTL-05"].iter().any(|r| rule.ends_with(r)) || rule.contains("-PCK-")
}

/// Random payloads with a fitting CRC: codec and oracle agree on which flits are well-formed and on what they hold.
#[test]
fn verdicts_on_random_flits_agree() {
    let mut random = Random::new(7);
    let (mut good, mut bad) = (0, 0);
    for round in 0..30_000 {
        let dir = Dir::ALL[round % 2];
        let mdh = round % 3 != 0;
        let config = Cxl68Config { mdh, ..config() };
        let mut slots: [u128; 4] = std::array::from_fn(|_| random.wide());
        // Thin the bits out, so that some flits hold few messages and are well-formed.
        for slot in &mut slots {
            for _ in 0..random.below(4) {
                *slot &= random.wide();
            }
        }
        let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &slots);
        let read = read_as(dir, config, &[unit]);
        let broken: Vec<_> = read.rules().into_iter().filter(|r| is_structural(r)).collect();
        let verdict = oracle(dir, mdh, &[unit]);
        match &verdict {
            Ok(facts) => {
                assert!(broken.is_empty(), "{unit:?}: {broken:?}, the oracle sees nothing");
                good += 1;
                assert_eq!(facts[0].rollover_after, read.rollover);
                if facts[0].kind == FlitKind::Protocol {
                    let ours: Vec<_> = read.decoded[0].messages().map(|(n, c, bits)| (n, c.def().name, bits)).collect();
                    let theirs: Vec<_> = facts[0].messages.iter().map(|m| (m.slot, m.name, m.raw)).collect();
                    assert_eq!(ours, theirs, "{unit:?}");
                }
            }
            Err(text) => {
                assert!(!broken.is_empty(), "{unit:?}: the oracle says {text}");
                bad += 1;
            }
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} well-formed, {bad} not");
}
