//! `context_cxl-68b_<dir>`: breaks that the flits alone do not show; `[Context = ...]` says what has to be known.

use super::build::{control, fill, flipped, flits, protocol, put, put_at, put_last};
use super::flits::line_class;
use crate::legal::{self, plain, random_bits};
use crate::vectors::{CaseGroup, Context, StreamCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::control::{Control, Llcrd, Retry, RetryAck};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

/// The vectors of one direction.
pub fn vectors(dir: Dir, seed: u64) -> VectorSet {
    let path = format!("cxl68/context_cxl-68b_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let rng = &mut rng;
    let groups = vec![
        CaseGroup::new("all-data flit that is not due", early_all_data(dir, rng)),
        CaseGroup::new("protocol flit where an all-data flit is due", late_protocol(dir, rng)),
        CaseGroup::new("control flit inside a data run", control_in_run(dir, rng)),
        CaseGroup::new("MDH slot while MDH is disabled", mdh_off(dir, rng)),
        CaseGroup::new("protocol ID of a protocol that is not enabled", not_enabled(dir, rng)),
        CaseGroup::new("credit overflow: one message more than granted, each class", credit_overflow(dir, rng)),
        CaseGroup::new("RETRY.Ack that nobody asked for", vec![unexpected_ack()]),
    ];
    VectorSet {
        path,
        about: format!("breaks of cxl-68b, direction {}, that need the stated context to be seen", dir.name()),
        content: VectorContent::Cxl68(dir, groups),
    }
}

fn case(rule: &'static str, context: Context, units: Vec<Cxl68Unit>) -> StreamCase {
    StreamCase { context: Some(context), ..StreamCase::breaks(rule, units) }
}

/// A flit that leaves 1 to 3 chunks of a line owed; none for 0.
fn leaving(dir: Dir, owed: usize, rng: &mut Rng) -> Option<Cxl68Unit> {
    let class = line_class(dir);
    // A line that begins in slot 0, 1 or 2 leaves 1, 2 or 3 chunks.
    let at = put_at(owed.checked_sub(1)?, class, plain(class.def()))?;
    flits(dir, &[at], true, false, rng).first().copied()
}

/// The chunks are chosen so that the receiver, who reads a protocol flit, sees no message in slot 0.
fn early_all_data(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for owed in 0..4 {
        let mut units: Vec<Cxl68Unit> = leaving(dir, owed, rng).into_iter().collect();
        let n = units.len();
        // Bits 120 and up are no valid bit of any format, and the header bits below are 0.
        let slots = [random_bits(rng, 8) << 120, random_bits(rng, 128), random_bits(rng, 128), random_bits(rng, 128)];
        units.push(Cxl68Unit::from_slots(pid::CACHEMEM, &slots));
        cases.push(case("CXL68-FLT-02", Context::MeantAllData(n), units));
    }
    cases
}

/// A flit that leaves four chunks owed, and `meant` in the place of the all-data flit.
fn in_a_run(dir: Dir, meant: Cxl68Unit, rng: &mut Rng) -> Vec<Cxl68Unit> {
    let class = line_class(dir);
    let units = flits(dir, &[put_last(class, plain(class.def()))], true, false, rng);
    vec![units[0], meant]
}

fn late_protocol(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let class = if dir == Dir::Down { Class::M2sReq } else { Class::D2hReq };
    let request = flits(dir, &[put(class, legal::random(class.def(), rng))], false, false, rng)[0];
    let empty = protocol(&FlitHeader::from_bits(0), [0; 4]);
    let meant = [request, empty];
    meant.map(|m| case("CXL68-PCK-04", Context::MeantProtocol(1), in_a_run(dir, m, rng))).into()
}

fn control_in_run(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let frame = Control::RetryFrame(Retry { sub_type: 3, ..Retry::default() });
    let meant = [Control::LlcrdAcknowledge(Llcrd::default()), frame];
    meant.map(|m| case("CXL68-PCK-15", Context::MeantControl(1), in_a_run(dir, control(&m), rng))).into()
}

fn mdh_off(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for format in slot::all_formats().filter(|f| f.dir == dir && f.mdh) {
        let slot = usize::from(!format.is_header());
        let puts = fill(slot, format, &Class::ALL, rng);
        cases.push(case("CXL68-PCK-14", Context::MdhOff, flits(dir, &puts, true, false, rng)));
    }
    cases
}

fn not_enabled(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut payload = [0; 64];
    rng.fill_bytes(&mut payload);
    let io = Cxl68Unit::plain(pid::IO, &payload);
    let class = if dir == Dir::Down { Class::M2sReq } else { Class::D2hReq };
    let request = flits(dir, &[put(class, legal::random(class.def(), rng))], false, false, rng)[0];
    let half = |unit: &Cxl68Unit, byte: usize| flipped(unit, 8 * byte);
    vec![
        case("CXL68-PID-05", Context::IoOff, vec![io]),
        case("CXL68-PID-05", Context::CachememOff, vec![request]),
        case("CXL68-PID-06", Context::IoOff, vec![half(&io, 0)]),
        case("CXL68-PID-06", Context::IoOff, vec![half(&io, 1)]),
        case("CXL68-PID-06", Context::CachememOff, vec![half(&request, 0)]),
        case("CXL68-PID-06", Context::CachememOff, vec![half(&request, 1)]),
    ]
}

/// Four credits (the code of a power of two), five messages, one a flit.
fn credit_overflow(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    const GRANTED: usize = 4;
    let classes = Class::ALL.into_iter().filter(|c| c.dir() == dir);
    let overflow = |class: Class| {
        let mut units = Vec::new();
        for _ in 0..=GRANTED {
            units.extend(flits(dir, &[put(class, legal::random(class.def(), rng))], class.has_data(), false, rng));
        }
        case("CXL68-CRD-04", Context::Credits(class, GRANTED), units)
    };
    classes.map(overflow).collect()
}

fn unexpected_ack() -> StreamCase {
    let frame = control(&Control::RetryFrame(Retry { sub_type: 3, ..Retry::default() }));
    let ack = control(&Control::RetryAck(RetryAck { empty: true, ..RetryAck::default() }));
    let mut units = vec![frame; 5];
    units.push(ack);
    case("CXL68-LLR-15", Context::NoRequestOpen, units)
}
