//! Requests, completions and what goes wrong with them (`cxl-io` §1, §3; general knowledge of PCI Express for splits).

use super::rig::{BARS, DEVICE, FORMS, ROOT, Rig, TIMEOUT, read_of, write_of};
use scalepool::endpoint::completer::CompleterConfig;
use scalepool::endpoint::config_space::registers;
use scalepool::endpoint::config_space::type3::Type3Config;
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool::endpoint::requester::{NotNow, RequestFailure, Requester, RequesterConfig, TAGS};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpError, TlpForm, TlpKind};
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxlio::ats::{AtsHeader, TRANSLATION_REQUEST};
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::flit_mode::FmMem64;
use scalepool_protocols::cxl::cxlio::non_flit_mode::NfmMem64;
use scalepool_protocols::wire::Wire;

#[test]
fn the_bytes_are_those_of_the_public_tool() {
    // `cxl-io` §8 and §3.5: reference TLPs of both modes.
    let cases: [(TlpForm, Tlp, &str); 6] = [
        (
            TlpForm::NonFlit,
            Tlp {
                tag: 0x15,
                ..Tlp::new(
                    TlpKind::MemWrite { address: 0x1234_5678, enables: Enables::all(1) },
                    0x0113,
                    vec![0xde, 0xad, 0xbe, 0xef],
                )
            },
            "40000001 0113150f 12345678 deadbeef",
        ),
        (
            TlpForm::NonFlit,
            Tlp {
                tag: 0x3a5,
                ..Tlp::new(
                    TlpKind::MemRead { address: 0x1234_5678_9ab0, dw: 16, enables: Enables::all(16) },
                    0x00ff,
                    vec![],
                )
            },
            "20880010 00ffa5ff 00001234 56789ab0",
        ),
        (
            TlpForm::NonFlit,
            Tlp {
                tag: 1,
                ..Tlp::new(TlpKind::ConfigRead { level: 0, target: 0x0500, register: 0x104, enables: 0xf }, 0, vec![])
            },
            "04000001 0000010f 05000104",
        ),
        (
            TlpForm::NonFlit,
            Tlp {
                tag: 1,
                ..Tlp::new(
                    TlpKind::Completion { completer: 0x0500, status: CplStatus::SC, byte_count: 4, lower_address: 0 },
                    0,
                    vec![0x98, 0x1e, 0, 0],
                )
            },
            "4a000001 05000004 00000100 981e0000",
        ),
        (
            TlpForm::Flit,
            Tlp {
                tag: 0x77,
                ..Tlp::new(
                    TlpKind::MemRead { address: 0x9000_2004, dw: 3, enables: Enables { first: 0xc, last: 1 } },
                    0x0402,
                    vec![],
                )
            },
            "03010003 04020077 90002004 0000001c",
        ),
        (
            TlpForm::Flit,
            Tlp {
                tag: 1,
                ..Tlp::new(
                    TlpKind::ConfigWrite { level: 0, target: 0x0708, register: 0x20, enables: 0xf },
                    0,
                    vec![0xf0, 0, 0, 0],
                )
            },
            "44010001 00000001 07080020 0000000f f0000000",
        ),
    ];
    for (form, tlp, bytes) in cases {
        let hex: String = tlp.encode(form).expect("fits").iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, bytes.replace(' ', ""));
        let expected = tlp.encode(form).expect("fits");
        assert_eq!(Tlp::decode(&expected, form).expect("our own bytes"), tlp);
    }
}

#[test]
fn what_is_no_tlp_is_refused() {
    let read = Tlp::new(read_of(0x1000, 4), ROOT, vec![]);
    for form in FORMS {
        let bytes = read.encode(form).expect("fits");
        for cut in 0..bytes.len() {
            assert!(Tlp::decode(&bytes[..cut], form).is_err(), "{form:?} {cut}");
        }
    }
    let refused = |tlp: &Tlp, form| tlp.encode(form).expect_err("does not fit");
    let wide = Tlp { tag: 0x400, ..read.clone() };
    assert_eq!(refused(&wide, TlpForm::NonFlit), TlpError::Tag { found: 0x400 });
    assert!(wide.encode(TlpForm::Flit).is_ok(), "14 bits in flit mode");
    let odd = Tlp::new(TlpKind::MemWrite { address: 0, enables: Enables::all(1) }, ROOT, vec![0; 5]);
    assert_eq!(refused(&odd, TlpForm::Flit), TlpError::Payload { found: 5 });
    assert_eq!(Tlp::decode(&[0x8e, 0, 0, 0], TlpForm::NonFlit), Err(TlpError::Type { found: 0x8e }));
    let other = Tlp::new(TlpKind::Other { type_code: 2 }, ROOT, vec![]);
    assert_eq!(refused(&other, TlpForm::NonFlit), TlpError::Type { found: 2 });
}

#[test]
fn random_writes_and_reads_of_any_alignment_keep_every_byte() {
    for (n, form) in FORMS.into_iter().enumerate() {
        let mut rig = Rig::enabled(form);
        let mut rng = Rng::from_seed(n as u64);
        let mut shadow = vec![0u8; 8192];
        for _ in 0..300 {
            let base = BARS[rng.below(2) as usize];
            // Both BARs have their own half of the shadow.
            let half = if base == BARS[0] { 0 } else { 4096 };
            let at = rng.below(4000) as usize;
            let bytes = 1 + rng.below((4096 - at as u64).min(700)) as usize;
            if rng.ratio(1, 2) {
                let mut data = vec![0; bytes];
                rng.fill_bytes(&mut data);
                rig.write(base + at as u64, &data, false);
                shadow[half + at..half + at + bytes].copy_from_slice(&data);
            } else {
                let (data, poison) = rig.read(base + at as u64, bytes);
                assert_eq!((data, poison), (shadow[half + at..half + at + bytes].to_vec(), false), "{at:#x} {bytes}");
            }
        }
        assert!(rig.events().is_empty());
    }
}

#[test]
fn completions_end_at_the_boundary_and_count_down() {
    for (boundary_bytes, payload_code) in [(64, 0u32), (128, 0), (64, 1), (128, 2)] {
        let completer = CompleterConfig { boundary_bytes, ..CompleterConfig::default() };
        let mut rig = Rig::with(TlpForm::Flit, &Type3Config::default(), completer, 8);
        rig.enable();
        rig.write_config((registers::PCIE_AT + registers::PCIE_DEVICE_CONTROL) as u16, payload_code << 5, 0xf);
        let payload = registers::payload_bytes(payload_code as u8);
        for (at, bytes) in [(0x3c, 1000), (0, 512), (0x7d, 600), (0x44, 4), (1, 1), (0xffc, 8)] {
            rig.send(read_of(BARS[0] + at, bytes), Vec::new());
            let parts = rig.up.clone();
            let mut left = bytes;
            for (n, part) in parts.iter().enumerate() {
                let TlpKind::Completion { byte_count, lower_address, .. } = part.kind else { panic!("{part:?}") };
                assert_eq!(byte_count, left);
                let from = BARS[0] + at + (bytes - left) as u64;
                assert_eq!(u64::from(lower_address), from & 0x7f);
                assert!(part.data.len() <= payload, "{} of {payload}", part.data.len());
                let end = (from & !3) + part.data.len() as u64;
                let last = n + 1 == parts.len();
                assert!(last || end.is_multiple_of(boundary_bytes), "{end:#x}");
                left = if last { 0 } else { left - (end - from) as usize };
            }
            let done = rig.settle();
            assert_eq!(done.len(), 1);
            assert_eq!(done[0].outcome.as_ref().map(Vec::len), Ok(bytes));
        }
        assert!(rig.events().is_empty());
    }
}

#[test]
fn tags_are_given_out_in_turn_up_to_the_limit() {
    let mut requester = Requester::new(RequesterConfig { id: ROOT, outstanding: 1 << 20, timeout: 10 });
    let read = || Tlp::new(read_of(0x1000, 4), 0, vec![]);
    for tag in 0..TAGS {
        assert_eq!(requester.send(read(), 0).expect("room").tag, tag);
    }
    assert_eq!(requester.send(read(), 0), Err(NotNow::Full { open: 1024 }));
    let mut few = Requester::new(RequesterConfig { id: ROOT, outstanding: 2, timeout: 10 });
    let [first, _] = [few.send(read(), 0).expect("room"), few.send(read(), 0).expect("room")];
    assert_eq!(few.send(read(), 0), Err(NotNow::Full { open: 2 }));
    // A posted write needs no tag.
    let write = TlpKind::MemWrite { address: 0, enables: Enables::all(1) };
    assert!(few.send(Tlp::new(write, 0, vec![0; 4]), 0).is_ok());
    let status = TlpKind::Completion { completer: DEVICE, status: CplStatus::UR, byte_count: 4, lower_address: 0 };
    few.receive(&Tlp { tag: first.tag, ..Tlp::new(status, ROOT, vec![]) }).expect("its request is over");
    assert_eq!(few.send(read(), 0).expect("room").tag, 2, "the tag that is free the longest");
}

#[test]
fn parts_of_several_reads_may_come_between_each_other() {
    let mut rig = Rig::enabled(TlpForm::NonFlit);
    let data: Vec<u8> = (0..1024u32).map(|n| n as u8 ^ (n >> 8) as u8).collect();
    rig.write(BARS[0], &data, false);
    let tags: Vec<u16> = (0..4).map(|n| rig.send(read_of(BARS[0] + 256 * n + 3, 250), Vec::new()).tag).collect();
    // Each read in its own order, the reads mixed: sorted by their parts.
    let parts = std::mem::take(&mut rig.up);
    let mut by_tag: Vec<Vec<Tlp>> =
        tags.iter().map(|t| parts.iter().filter(|p| p.tag == *t).cloned().collect()).collect();
    while by_tag.iter().any(|q| !q.is_empty()) {
        for queue in by_tag.iter_mut().rev().filter(|q| !q.is_empty()) {
            rig.up.push(queue.remove(0));
        }
    }
    let done = rig.settle();
    assert_eq!(done.len(), 4);
    for end in done {
        let n = tags.iter().position(|t| *t == end.tag).expect("one of ours");
        assert_eq!(end.outcome, Ok(data[256 * n + 3..256 * n + 253].to_vec()));
    }
    assert!(rig.events().is_empty());
}

#[test]
fn a_part_out_of_order_is_unexpected_and_changes_nothing() {
    let mut rig = Rig::enabled(TlpForm::Flit);
    rig.send(read_of(BARS[0], 300), Vec::new());
    assert!(rig.up.len() > 2);
    rig.up.swap(0, 1);
    let again = rig.up[1].clone();
    assert!(rig.settle().is_empty(), "the read is still open");
    let events = rig.events();
    assert!(matches!(events[..], [EndpointEvent::UnexpectedCompletion { .. }, ..]), "{events:?}");
    assert_eq!(rig.requester.open(), 1);
    // The part that is due was taken, so it does not come twice.
    assert!(rig.requester.receive(&again).is_none());
}

/// The lower address counts in answers to memory reads alone: a device may leave anything there in that of a configuration read.
#[test]
fn the_lower_address_of_a_configuration_read_means_nothing() {
    for lower in 0..128 {
        let mut rig = Rig::enabled(TlpForm::Flit);
        let read = TlpKind::ConfigRead { level: 0, target: DEVICE, register: 0, enables: 0xf };
        rig.send(read, Vec::new());
        let TlpKind::Completion { lower_address, .. } = &mut rig.up[0].kind else { panic!("{:?}", rig.up) };
        *lower_address = lower;
        let answer = rig.up.remove(0);
        let data = answer.data.clone();
        let done = rig.requester.receive(&answer).expect("it ends the request");
        assert_eq!((done.outcome, rig.events()), (Ok(data), vec![]), "lower address {lower}");
    }
}

#[test]
fn requests_that_nobody_serves_are_answered() {
    for form in FORMS {
        let mut rig = Rig::new(form);
        assert_eq!(rig.status(read_of(BARS[0], 4), vec![]), CplStatus::UR, "memory is not enabled");
        rig.enable();
        assert_eq!(rig.status(read_of(BARS[0], 4), vec![]), CplStatus::SC);
        assert_eq!(rig.status(read_of(0x5000_0000, 4), vec![]), CplStatus::UR);
        let end = BARS[0] + (64 << 10);
        assert_eq!(rig.status(read_of(end - 4, 8), vec![]), CplStatus::CA, "runs over the end");
        assert_eq!(rig.status(read_of(end - 4, 4), vec![]), CplStatus::SC);
        let config = |level, target| TlpKind::ConfigRead { level, target, register: 0, enables: 0xf };
        assert_eq!(rig.status(config(0, DEVICE | 1), vec![]), CplStatus::UR, "function 1");
        assert_eq!(rig.status(config(1, DEVICE), vec![]), CplStatus::UR, "nothing behind");
        assert_eq!(rig.events().len(), 5);
        // Writes that nobody takes vanish, and are told.
        rig.write(0x5000_0000, &[1; 4], false);
        rig.write(end - 4, &[1; 8], false);
        let refused: Vec<CplStatus> = rig
            .events()
            .iter()
            .filter_map(|e| if let EndpointEvent::Refused { status, .. } = e { Some(*status) } else { None })
            .collect();
        assert_eq!(refused, [CplStatus::UR, CplStatus::CA]);
    }
    // An I/O read of either mode: 3 DW, in flit mode with OHC-A2.
    for (form, bytes) in [
        (TlpForm::NonFlit, vec![0x02, 0, 0, 1, 0, 0, 9, 0xf, 0, 0, 0x10, 0]),
        (TlpForm::Flit, vec![0x02, 1, 0, 1, 0, 0, 0, 9, 0, 0, 0x10, 0, 0, 0, 0, 0xf]),
    ] {
        let tlp = Tlp::decode(&bytes, form).expect("an I/O read");
        assert_eq!((&tlp.kind, tlp.tag), (&TlpKind::Other { type_code: 2 }, 9));
        let answer = &Rig::enabled(form).completer.receive(&tlp)[0];
        assert!(matches!(answer.kind, TlpKind::Completion { status: CplStatus::UR, .. }));
        assert_eq!(answer.tag, 9);
    }
}

#[test]
fn a_device_that_is_not_ready_asks_for_a_retry() {
    let completer = CompleterConfig { not_ready: 2, ..CompleterConfig::default() };
    let mut rig = Rig::with(TlpForm::NonFlit, &Type3Config::default(), completer, 8);
    let read = || TlpKind::ConfigRead { level: 0, target: DEVICE, register: 0, enables: 0xf };
    let answers: Vec<CplStatus> = (0..3).map(|_| rig.status(read(), vec![])).collect();
    assert_eq!(answers, [CplStatus::CRS, CplStatus::CRS, CplStatus::SC]);
}

#[test]
fn the_device_answers_with_the_number_it_was_written_to() {
    let mut rig = Rig::new(TlpForm::NonFlit);
    rig.write_config(0x4, 0, 0x3);
    assert_eq!(rig.completer.id(), DEVICE);
    rig.send(TlpKind::ConfigRead { level: 0, target: DEVICE, register: 0, enables: 0xf }, vec![]);
    assert!(matches!(rig.up[0].kind, TlpKind::Completion { completer: DEVICE, .. }));
}

#[test]
fn a_request_of_no_byte_reads_one_and_writes_none() {
    let mut rig = Rig::enabled(TlpForm::Flit);
    rig.write(BARS[0], &[7; 4], false);
    let none = Enables { first: 0, last: 0 };
    let write = Tlp::new(TlpKind::MemWrite { address: BARS[0], enables: none }, ROOT, vec![9; 4]);
    assert!(rig.completer.receive(&write).is_empty());
    let done = rig.ask(TlpKind::MemRead { address: BARS[0], dw: 1, enables: none }, vec![]);
    assert_eq!(done.outcome, Ok(vec![7]));
}

/// The element at the end of a BAR can be compared and swapped, although both operands together are longer than what is left there; one
/// that begins behind the BAR is nobody's.
#[test]
fn an_atomic_reaches_the_last_element_of_a_bar() {
    let end = BARS[1] + Type3Config::default().bar_bytes[1];
    let number = |value: u64, size: usize| value.to_le_bytes()[..size].to_vec();
    for (form, size) in FORMS.into_iter().flat_map(|form| [(form, 4), (form, 8)]) {
        let mut rig = Rig::enabled(form);
        let at = end - size as u64;
        let atomic = |operation, address| TlpKind::Atomic { operation, address };
        for (operation, operands, old, new) in [
            (TlpAtomic::FetchAdd, vec![5], 0, 5),
            (TlpAtomic::Swap, vec![7], 5, 7),
            (TlpAtomic::CompareSwap, vec![7, 9], 7, 9),
            (TlpAtomic::CompareSwap, vec![7, 1], 9, 9),
        ] {
            let data = operands.into_iter().flat_map(|operand| number(operand, size)).collect();
            assert_eq!(
                rig.ask(atomic(operation, at), data).outcome,
                Ok(number(old, size)),
                "{operation:?} of {size} B"
            );
            assert_eq!(rig.read(at, size).0, number(new, size), "{operation:?} of {size} B");
        }
        assert_eq!(rig.status(atomic(TlpAtomic::CompareSwap, end), vec![0; 2 * size]), CplStatus::UR);
    }
}

#[test]
fn enables_of_every_span() {
    for skip in 0..4u64 {
        for bytes in 1..40usize {
            let (enables, dw) = Enables::span(0x100 + skip, bytes);
            let on: Vec<usize> = (0..4 * dw).filter(|&n| enables.has(n, dw)).collect();
            assert_eq!(on, (skip as usize..skip as usize + bytes).collect::<Vec<_>>());
            assert_eq!(enables.bounds(dw), (skip as usize, bytes));
        }
    }
}

#[test]
fn poison_of_a_write_stays_with_its_bytes() {
    for form in FORMS {
        let mut rig = Rig::enabled(form);
        rig.write(BARS[1] + 64, &[0x5a; 64], true);
        assert_eq!(rig.events(), [EndpointEvent::Poisoned { address: BARS[1] + 64 }]);
        // The mark stays with the bytes until all of them are written again.
        assert_eq!(rig.read(BARS[1] + 64, 64), (vec![0x5a; 64], true));
        rig.write(BARS[1] + 64, &[1; 8], false);
        assert!(rig.read(BARS[1] + 64, 64).1);
        assert_eq!(rig.read(BARS[1], 64), (vec![0; 64], false), "the neighbour is good");
        rig.write(BARS[1] + 64, &[2; 64], false);
        assert_eq!(rig.read(BARS[1] + 64, 64), (vec![2; 64], false));
    }
}

/// Of a block one line of 64 bytes is poisoned: completions end where it begins and ends, and say so of it alone; byte counts and lower
/// addresses follow. Where completions may end at multiples of 128 bytes alone, its neighbour shares the mark.
#[test]
fn poison_of_a_line_leaves_clean_completions() {
    let parts = |boundary_bytes: u64, poisoned: &[u64], at: u64, bytes: usize| {
        let config = CompleterConfig { boundary_bytes, not_ready: 0 };
        let mut rig = Rig::with(TlpForm::Flit, &Type3Config::default(), config, 32);
        rig.enable();
        let control = (registers::PCIE_AT + registers::PCIE_DEVICE_CONTROL) as u16;
        rig.write_config(control, u32::from(registers::payload_code(256)) << 5, 0x1);
        for offset in poisoned {
            rig.completer.set_poison(1, *offset, true);
        }
        let ends = rig.read(BARS[1] + at, bytes);
        assert_eq!(ends, (vec![0; bytes], !poisoned.is_empty()), "whoever asks takes it");
        let answers = rig.completer.receive(&Tlp::new(read_of(BARS[1] + at, bytes), ROOT, Vec::new()));
        let part = |tlp: &Tlp| match tlp.kind {
            TlpKind::Completion { byte_count, lower_address, .. } => {
                (byte_count, lower_address, tlp.data.len(), tlp.poison)
            }
            _ => panic!("{tlp:?}"),
        };
        answers.iter().map(part).collect::<Vec<_>>()
    };
    assert_eq!(parts(64, &[], 0, 256), [(256, 0, 256, false)]);
    assert_eq!(parts(64, &[64], 0, 256), [(256, 0, 64, false), (192, 64, 64, true), (128, 0, 128, false)]);
    assert_eq!(parts(64, &[0, 64], 0, 256), [(256, 0, 128, true), (128, 0, 128, false)]);
    assert_eq!(parts(64, &[0, 64, 128, 192], 0, 256), [(256, 0, 256, true)]);
    assert_eq!(parts(64, &[64], 0x38, 80), [(80, 0x38, 8, false), (72, 64, 64, true), (8, 0, 8, false)]);
    assert_eq!(parts(128, &[64], 0, 256), [(256, 0, 128, true), (128, 0, 128, false)]);
}

#[test]
fn a_late_completion_meets_a_free_tag() {
    let mut rig = Rig::enabled(TlpForm::NonFlit);
    rig.send(read_of(BARS[0], 4), Vec::new());
    rig.now = TIMEOUT;
    assert_eq!(rig.requester.expire(rig.now).len(), 1);
    assert!(rig.settle().is_empty());
    let events = rig.events();
    assert!(
        matches!(events[..], [EndpointEvent::CompletionTimeout { .. }, EndpointEvent::LateCompletion { .. }]),
        "{events:?}"
    );
    assert_eq!(rig.read(BARS[0], 4), (vec![0; 4], false));
}

#[test]
fn no_bytes_make_an_endpoint_panic() {
    let mut rng = Rng::from_seed(14);
    let mut taken = 0;
    for form in FORMS {
        let mut rig = Rig::enabled(form);
        let mut agent = PmAgent::new(PmConfig::new(PmSide::Device));
        let good = [
            Tlp::new(read_of(BARS[0] + 5, 600), ROOT, vec![]),
            Tlp::new(write_of(BARS[1], &[1; 40]).0, ROOT, vec![1; 40]),
            Tlp::new(TlpKind::ConfigWrite { level: 0, target: DEVICE, register: 0x114, enables: 3 }, ROOT, vec![0; 4]),
            PmAgent::new(PmConfig::new(PmSide::Host)).next_message().expect("CREDIT_RTN"),
            Tlp::new(
                TlpKind::Completion { completer: DEVICE, status: CplStatus::SC, byte_count: 64, lower_address: 4 },
                ROOT,
                vec![2; 64],
            ),
        ];
        for n in 0..20_000 {
            let mut bytes = good[n % good.len()].encode(form).expect("fits");
            for _ in 0..rng.below(6) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            let Ok(tlp) = Tlp::decode(&bytes, form) else { continue };
            taken += 1;
            if !rig.requester.has_room() {
                rig.requester.expire(u64::MAX);
            }
            let open = rig.requester.send(Tlp::new(read_of(BARS[0], 64), 0, vec![]), 0);
            assert!(open.is_ok());
            for answer in rig.completer.receive(&tlp) {
                rig.travel(&answer);
            }
            rig.requester.receive(&tlp);
            agent.receive(&tlp, 0);
            agent.next_message();
            rig.events();
        }
    }
    assert!(taken > 20_000, "{taken}");
}

#[test]
fn cxlio_ats_01_p() {
    // The bit and nothing else, in both modes: the last byte of the header, bit 3.
    for address in [0, 0x7fff_f000_0000_0000u64, 0x1234_5000] {
        let nfm = NfmMem64 { at: TRANSLATION_REQUEST, address, ..NfmMem64::default() };
        let fm = FmMem64 { at: TRANSLATION_REQUEST, address, ..FmMem64::default() };
        let difference = |a: Vec<u8>, b: Vec<u8>| a.iter().zip(&b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
        let mut only = vec![0; 16];
        only[15] = 0x08;
        let bytes = |bits| NfmMem64::DEF.to_bytes(bits);
        let set = nfm.with_cxl_source(true);
        assert_eq!(difference(bytes(set.to_bits().unwrap()), bytes(nfm.to_bits().unwrap())), only);
        assert_eq!((set.cxl_source(), set.with_cxl_source(false).cxl_source()), (Some(true), Some(false)));
        let set = fm.with_cxl_source(true);
        let bytes = |bits| FmMem64::DEF.to_bytes(bits);
        assert_eq!(difference(bytes(set.to_bits().unwrap()), bytes(fm.to_bits().unwrap())), only);
        assert_eq!((set.cxl_source(), set.with_cxl_source(false).cxl_source()), (Some(true), Some(false)));
    }
}

#[test]
fn cxlio_ats_01_n() {
    // Every other bit of the header leaves it 0, or makes the request something else.
    let request = NfmMem64 { at: TRANSLATION_REQUEST, ..NfmMem64::default() }.to_bits().unwrap();
    for bit in (0..128).filter(|bit| *bit != 3) {
        let source = NfmMem64::from_bits(request ^ 1 << bit).cxl_source();
        assert_ne!(source, Some(true), "bit {bit}");
        assert_eq!(source.is_none(), (106..108).contains(&bit), "bit {bit}");
    }
    assert_eq!(NfmMem64 { address: 8, ..NfmMem64::default() }.cxl_source(), None, "an address, no flag");
}

/// How a read ends: its status, the time-out, or good bytes with their poison mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadEnds {
    Status(CplStatus),
    TimedOut,
    Bytes { poison: bool },
}

/// A read for each cause: the target refuses what it understood, nobody claims it, nobody answers, the data are bad, and nothing.
fn ends_of_causes(form: TlpForm) -> [ReadEnds; 5] {
    let mut rig = Rig::enabled(form);
    rig.write(BARS[1], &[5; 64], true);
    let refused = rig.status(read_of(BARS[0] + (64 << 10) - 4, 8), vec![]);
    let unclaimed = rig.status(read_of(0x5000_0000, 4), vec![]);
    let [bad, good] = [BARS[1], BARS[0]].map(|address| ReadEnds::Bytes { poison: rig.read(address, 4).1 });
    rig.swallow = Some(0);
    rig.send(read_of(BARS[0], 4), vec![]);
    assert!(rig.settle().is_empty());
    rig.now = TIMEOUT;
    let expired = rig.requester.expire(rig.now);
    assert!(matches!(&expired[..], [done] if done.outcome == Err(RequestFailure::Timeout)), "{expired:?}");
    [ReadEnds::Status(refused), ReadEnds::Status(unclaimed), ReadEnds::TimedOut, bad, good]
}

/// Completer Abort, Unsupported Request, completion time-out and EP, each by its cause (`fabric` ERR-2).
#[test]
fn fab_err_02_p() {
    for form in FORMS {
        let expected = [
            ReadEnds::Status(CplStatus::CA),
            ReadEnds::Status(CplStatus::UR),
            ReadEnds::TimedOut,
            ReadEnds::Bytes { poison: true },
            ReadEnds::Bytes { poison: false },
        ];
        assert_eq!(ends_of_causes(form), expected);
    }
}

/// No two causes end alike, so one that is told as another is seen.
#[test]
fn fab_err_02_n() {
    for form in FORMS {
        let ends = ends_of_causes(form);
        for (n, one) in ends.iter().enumerate() {
            assert!(!ends[n + 1..].contains(one), "{one:?}");
        }
    }
}
