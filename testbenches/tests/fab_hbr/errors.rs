//! Three failures of a request, and what the host sees of each (`fabric` §1.8).

use super::module::{bench, read, run, write};
use scalepool::fabric::cxl_switch::{ManagerCommand, TimedCommand, UnbindOption};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Data, M2sRwd, Message};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fails {
    Nothing,
    /// No decoder holds the address.
    NotDecoded,
    /// The data are poisoned, those of the device or those of the write.
    BadData,
    /// The port is gone, with the request on its way.
    CannotComplete,
}

/// What a host sees of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// No answer.
    Silence,
    /// A completion of a write.
    Completion,
    /// Data: as MemDataNXM or not, poisoned or not, all ones or not.
    Data { nxm: bool, poison: bool, ones: bool },
}

/// A request with a failure: what the host sees, and whether the device got a write with poisoned data, or with good data.
fn ends(fails: Fails, is_write: bool) -> (Sees, [bool; 2]) {
    let mut one = bench(1);
    let address = if fails == Fails::NotDecoded { 5 << 30 } else { 0 };
    let request = match write(7) {
        Message::M2sRwd(header, data) if is_write => {
            let poison = fails == Fails::BadData;
            Message::M2sRwd(M2sRwd { address, poison, ..header }, Data { ..data })
        }
        _ => read(7, address),
    };
    one.is_poisoned = fails == Fails::BadData;
    one.sends[0].push((10, request));
    if fails == Fails::CannotComplete {
        let command = ManagerCommand::Unbind { vppb: (0, 0), option: UnbindOption::SurpriseRemove };
        one.commands = vec![TimedCommand { at_cycle: 40, command }];
    }
    let (seen, _) = run(one);
    let sees = match seen[0].first() {
        None => Sees::Silence,
        Some((_, Message::S2mDrs(header, data))) => Sees::Data {
            nxm: header.opcode == DrsOpcode::MemDataNXM,
            poison: header.poison,
            ones: data.line == [0xff; 64],
        },
        Some(_) => Sees::Completion,
    };
    assert!(seen[0].len() <= 1, "{fails:?}: one answer at most");
    let written = |poisoned: bool| {
        seen[1].iter().any(|(_, message)| matches!(message, Message::M2sRwd(header, _) if header.poison == poisoned))
    };
    (sees, [written(true), written(false)])
}

const GOOD: Sees = Sees::Data { nxm: false, poison: false, ones: false };

#[test]
fn fab_err_01_p() {
    let unmapped = Sees::Data { nxm: true, poison: false, ones: true };
    let poisoned = Sees::Data { nxm: false, poison: true, ones: false };
    for (fails, of_read, of_write, written) in [
        (Fails::Nothing, GOOD, Sees::Completion, [false, true]),
        (Fails::NotDecoded, unmapped, Sees::Completion, [false, false]),
        (Fails::BadData, poisoned, Sees::Completion, [true, false]),
        (Fails::CannotComplete, Sees::Silence, Sees::Silence, [false, true]),
    ] {
        assert_eq!(ends(fails, false), (of_read, [false; 2]), "{fails:?}");
        assert_eq!(ends(fails, true), (of_write, written), "{fails:?}");
    }
}

/// No failure ends like another one, so a switch that swaps two of them is seen by what reaches host and device.
#[test]
fn fab_err_01_n() {
    let all = [Fails::Nothing, Fails::NotDecoded, Fails::BadData, Fails::CannotComplete];
    for (n, one) in all.into_iter().enumerate() {
        for other in &all[n + 1..] {
            assert_ne!(ends(one, false), ends(*other, false), "reads: {one:?} and {other:?}");
            assert_ne!(ends(one, true), ends(*other, true), "writes: {one:?} and {other:?}");
        }
    }
}
