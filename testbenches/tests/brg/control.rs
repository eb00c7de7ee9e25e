//! Flush and invalidate of lines that nobody keeps coherent, by the registers of the control window (`bridge` §9.9).

use super::common::*;
use super::judge::{Event, ids};
use scalepool::bridge::cache::DataCacheConfig;
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::registers::ControlWindow;
use scalepool::bridge::window::{AccessRights, GROUPS, WindowClass};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::BTreeSet;

/// First address of the control window.
const CONTROL: u64 = BASE + SIZE;
const FLUSH: u64 = 1;
const INVALIDATE: u64 = 2;

fn bench(class: WindowClass) -> Bench {
    let data = DataCacheConfig { capacity_bytes: 1 << 20, ..SMALL };
    Bench::new(OutboundConfig {
        control: Some(ControlWindow {
            rights: [AccessRights::ALL; GROUPS],
            base: CONTROL,
            ports: 16,
            plain_ports: 16,
            first_host: 16,
            hairpin: None,
            io_from: 16,
        }),
        ..cached(class, data)
    })
}

/// The same where the group of the only source has these rights to the registers.
fn with_rights(rights: AccessRights) -> Bench {
    let config = cached(WindowClass::Mn, DataCacheConfig { capacity_bytes: 1 << 20, ..SMALL });
    let mut control = bench(WindowClass::Mn).bridge.control().expect("it has registers");
    control.rights[config.windows.group(SOURCE)] = rights;
    Bench::new(OutboundConfig { control: Some(control), ..config })
}

/// Groups that may not write start nothing, those that may not read see nothing, and both are told so (`bridge` §2).
#[test]
fn rights_of_groups_hold_for_registers() {
    for (read_allowed, write_allowed) in [(true, true), (true, false), (false, true), (false, false)] {
        let rights = AccessRights { read: read_allowed, write: write_allowed, atomic: false };
        let mut bench = with_rights(rights);
        bench.bring(BASE, 'D');
        let sent = bench.sent.len();
        let status = |is_allowed| if is_allowed { Status::OKAY } else { Status::ProtectionViolation };
        let started = bench.whole(Transfer { ..start(FLUSH, BASE, 64) });
        assert_eq!(rsp(&started).status, status(write_allowed), "{rights:?}");
        assert_eq!(bench.sent.len() > sent, write_allowed, "{rights:?}");
        let seen = bench.whole(read(CONTROL, 16));
        assert_eq!(rsp(&seen).status, status(read_allowed), "{rights:?}");
    }
}

/// A write of the first four registers.
fn start(op: u64, base: u64, length: u64) -> Transfer {
    let mut line = [0; 64];
    for (n, register) in [op, base, length, 1].into_iter().enumerate() {
        line[8 * n..][..8].copy_from_slice(&register.to_le_bytes());
    }
    let req = TlReq { cmd: ReqCmd::WriteFull, address: CONTROL, len: 15, ..TlReq::default() };
    tagged(transfer(req, &[line], None), 99)
}

/// Registers done, errors and lost.
fn told(bench: &mut Bench) -> [u64; 3] {
    let line = beats(&bench.whole(read(CONTROL, 16)))[0];
    [4, 5, 6].map(|n| u64::from_le_bytes(std::array::from_fn(|k| line[8 * n + k])))
}

/// Lines 0 and 4 are dirty, line 1 is valid, line 8 is dirty and outside of 512 bytes.
fn with_lines() -> Bench {
    let mut bench = bench(WindowClass::Mn);
    bench.bring(BASE, 'D');
    bench.bring(BASE + 64, 'V');
    bench.bring(BASE + 256, 'D');
    bench.bring(BASE + 512, 'D');
    bench
}

fn states(bench: &Bench) -> String {
    [0, 64, 256, 512].map(|offset| bench.state(BASE + offset)).iter().collect()
}

#[test]
fn brg_mng_01_p() {
    let mut bench = with_lines();
    bench.ask(start(FLUSH, BASE, 512));
    assert_eq!(rsp(&bench.responses[0]).status, Status::OKAY);
    assert_eq!(bench.labels(), ["MemWr Any/NoOp"; 2]);
    bench.answer(0);
    bench.ask(read(CONTROL, 16));
    let line = beats(&bench.responses.pop().expect("a response"))[0];
    assert_eq!(line[32], 0, "one Cmp is not there");
    bench.answer(0);
    assert_eq!((told(&mut bench), states(&bench)), ([1, 0, 0], "VVVD".to_owned()));
    assert_eq!((bench.memory[&OUT].bytes, bench.memory[&(OUT + 256)].bytes), ([0xd1; 64], [0xd1; 64]));
    assert!(!bench.memory.contains_key(&(OUT + 512)));
    assert_eq!((bench.bridge.cache_counts().flushed, bench.bridge.open()), (2, 0));
}

/// Registers that say done before the last Cmp are found. The edges of a range, to the byte; a range in which nothing is dirty is done at once; many lines are all written.
#[test]
fn brg_mng_01_n() {
    let is_done: fn(&[Event], Transfer) -> Transfer = |log, mut response| {
        let is_control = |field: &ControlField| matches!(field, ControlField::Request(req) if req.address == CONTROL);
        let is_of_registers = matches!(log.last(), Some(Event::Asked(_, request)) if is_control(&request.field));
        if is_of_registers && rsp(&response).rdwr == RdWr::Read {
            response.data.change(|halves| halves[1][0] = 1);
        }
        response
    };
    for (responds, found) in [(WrongBridge::NOTHING.responds, BTreeSet::new()), (is_done, ["BRG-MNG-01"].into())] {
        let mut bench = with_lines();
        bench.wrong.responds = responds;
        bench.ask(start(FLUSH, BASE, 512));
        bench.answer(0);
        bench.ask(read(CONTROL, 16));
        assert_eq!(ids(judged(WindowClass::Mn), &bench.log), found);
    }
    for (base, length, end) in [(63, 1, "VVDD"), (64, 192, "DVDD"), (64, 193, "DVVD"), (0, 0, "DVDD"), (511, 2, "DVDV")]
    {
        let mut bench = with_lines();
        bench.whole(start(FLUSH, BASE + base, length));
        assert_eq!((told(&mut bench)[0], states(&bench)), (1, end.to_owned()), "{base} {length}");
    }
    let mut bench = self::bench(WindowClass::Mn);
    (0..100).for_each(|n| _ = bench.whole(write_full(BASE + 256 * n, 4, n as u8)));
    bench.whole(start(FLUSH, 0, u64::MAX));
    assert_eq!((told(&mut bench)[0], bench.memory.len(), bench.bridge.open()), (1, 400, 0));
}

/// What is left of a flush says done only when a line is in memory that was on its way there before: it leaves for another block of its
/// set. An invalidate alone does not wait for it, and neither does a flush of other lines.
#[test]
fn a_flush_waits_for_a_line_that_leaves() {
    for (op, base, done) in [(FLUSH, 0, 0), (FLUSH | INVALIDATE, 0, 0), (INVALIDATE, 0, 1), (FLUSH, 256, 1)] {
        let mut bench = Bench::new(OutboundConfig {
            control: Some(ControlWindow {
                rights: [AccessRights::ALL; GROUPS],
                base: CONTROL,
                ports: 16,
                plain_ports: 16,
                first_host: 16,
                hairpin: None,
                io_from: 16,
            }),
            ..cached(WindowClass::Mn, SMALL)
        });
        bench.bring(BASE, 'D');
        bench.bring(BASE + 512, 'D');
        bench.ask(read(BASE + 1024, 16));
        assert_eq!((bench.labels(), bench.state(BASE)), (vec!["MemWr Any/NoOp".to_owned()], 'I'));
        bench.ask(start(op, BASE + base, 64));
        bench.responses.clear();
        let told_now = |bench: &mut Bench| {
            bench.ask(read(CONTROL, 16));
            beats(&bench.responses.pop().expect("a response"))[0][32]
        };
        assert_eq!(told_now(&mut bench), done, "{op} {base}");
        bench.finish(false);
        assert_eq!((told(&mut bench), bench.bridge.open()), ([1, 0, 0], 0));
        assert_eq!(bench.memory[&OUT].bytes, [0xd1; 64]);
    }
}

#[test]
fn brg_mng_02_p() {
    let mut bench = with_lines();
    bench.whole(start(INVALIDATE, BASE, 512));
    assert_eq!((told(&mut bench), states(&bench)), ([1, 0, 2], "IIID".to_owned()));
    assert!(bench.sent.is_empty() && bench.memory.is_empty());
    assert_eq!(beats(&bench.whole(read(BASE, 16))), [[0; 64]], "what was stored is lost");

    let mut bench = with_lines();
    bench.whole(start(FLUSH | INVALIDATE, BASE, 512));
    assert_eq!((told(&mut bench), states(&bench), bench.memory.len()), ([1, 0, 0], "IIID".to_owned(), 2));
}

/// Lines that a device keeps coherent are not touched; a range without a byte has no line, wherever in a line it lies.
#[test]
fn brg_mng_02_n() {
    for base in [0, 1, 32, 63, 320, 575] {
        let mut bench = with_lines();
        bench.whole(start(INVALIDATE, BASE + base, 0));
        assert_eq!((told(&mut bench), states(&bench)), ([1, 0, 0], "DVDD".to_owned()), "{base}");
    }
    for op in [FLUSH, INVALIDATE, FLUSH | INVALIDATE] {
        let mut bench = bench(WindowClass::Mc);
        bench.bring(BASE, 'M');
        bench.bring(BASE + 64, 'S');
        bench.whole(start(op, BASE, 512));
        assert_eq!((told(&mut bench), bench.state(BASE), bench.state(BASE + 64)), ([1, 0, 0], 'M', 'S'));
        assert!(bench.sent.is_empty());
    }
}

/// An access to the range waits for the end of the operation, others do not; a store that was under way is flushed too.
#[test]
fn brg_mng_03_p() {
    let mut bench = with_lines();
    bench.ask(write_part(BASE + 128, 1, 7));
    assert_eq!(bench.labels(), ["MemRd NoOp/NoOp"]);
    bench.ask(start(FLUSH, BASE, 512));
    bench.ask(tagged(read(BASE + 256, 16), 1));
    bench.ask(tagged(read(BASE + 512, 16), 2));
    let answered = |bench: &Bench| bench.responses.iter().map(|response| rsp(response).tag).collect::<Vec<_>>();
    assert_eq!(answered(&bench), [99, 2]);
    bench.finish(false);
    assert_eq!(answered(&bench), [99, 2, 0, 1]);
    assert_eq!((bench.memory[&(OUT + 128)].bytes[0], bench.state(BASE + 128), bench.bridge.open()), (7, 'V', 0));
}

/// What is no access to a register: other commands, more than a line, an operation without a name, a start while one runs.
#[test]
fn brg_mng_03_n() {
    let mut bench = with_lines();
    assert_eq!(rsp(&bench.whole(add(ReqCmd::AtomicR, CONTROL, 1))).status, Status::TargetAbort);
    assert_eq!(rsp(&bench.whole(read(CONTROL, 32))).status, Status::TargetAbort);
    assert_eq!(beats(&bench.whole(read(CONTROL + 4032, 16))), [[0; 64]]);
    assert_eq!(rsp(&bench.whole(read(CONTROL + 4096, 16))).status, Status::DecodeError);
    bench.whole(start(0, BASE, 512));
    assert_eq!(told(&mut bench), [1, 1, 0]);
    bench.ask(start(FLUSH, BASE, 512));
    bench.ask(tagged(start(INVALIDATE, BASE, 512), 98));
    bench.finish(false);
    assert_eq!((told(&mut bench), states(&bench)), ([1, 2, 0], "VVVD".to_owned()));
    assert_eq!(bench.bridge.buffers_free(), 64);
}

/// A write that is known to be wrong changes no register and starts nothing; it is counted, and the next one finds everything as it was.
#[test]
fn a_poisoned_write_starts_no_operation() {
    let mut bench = with_lines();
    let before = beats(&bench.whole(read(CONTROL, 16)))[0];
    let mut wrong = start(INVALIDATE, BASE, 512);
    wrong.poisoned = 1;
    assert_eq!(rsp(&bench.whole(wrong)).status, Status::OKAY);
    assert_eq!((told(&mut bench), states(&bench)), ([1, 1, 0], "DVDD".to_owned()));
    let after = beats(&bench.whole(read(CONTROL, 16)))[0];
    assert_eq!((&before[..40], &before[48..]), (&after[..40], &after[48..]), "the count of errors alone");
    bench.whole(start(FLUSH, BASE, 512));
    assert_eq!((told(&mut bench), states(&bench)), ([1, 1, 0], "VVVD".to_owned()));
}

/// Of two managers that start an operation at once the second one is refused, reads the range of the first one in the registers, and so knows that
/// the end is not that of its own; its next start is taken.
#[test]
fn a_second_manager_sees_whose_operation_runs() {
    let mut bench = with_lines();
    let of_other = |mut request: Transfer| {
        change(&mut request, |req| (req.src, req.tag) = (SOURCE + 1, 7));
        request
    };
    let registers = |bench: &mut Bench| {
        bench.ask(of_other(read(CONTROL, 16)));
        let line = beats(&bench.responses.pop().expect("a response"))[0];
        [0, 1, 2, 4, 5].map(|n| u64::from_le_bytes(std::array::from_fn(|k| line[8 * n + k])))
    };
    bench.ask(start(FLUSH, BASE, 256));
    bench.ask(of_other(start(FLUSH | INVALIDATE, BASE + 512, 64)));
    bench.responses.clear();
    assert_eq!(registers(&mut bench), [FLUSH, BASE, 256, 0, 1], "of the first one, and it runs");
    bench.finish(false);
    assert_eq!((registers(&mut bench), states(&bench)), ([FLUSH, BASE, 256, 1, 1], "VVDD".to_owned()));
    bench.ask(of_other(start(FLUSH | INVALIDATE, BASE + 512, 64)));
    bench.finish(false);
    bench.responses.clear();
    let own = [FLUSH | INVALIDATE, BASE + 512, 64, 1, 1];
    assert_eq!((registers(&mut bench), states(&bench)), (own, "VVDI".to_owned()));
}
