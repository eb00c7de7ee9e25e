//! `retry_cxl-68b_<dir>`: framed sequences, and replays as the side that resends puts them on the wire.
//!
//! A replay case holds everything the sender sends, undamaged: flits, the RETRY.Ack sequence, the flits from Eseq on
//! once more, bit for bit, then new flits. The damage that made the peer ask is the peer's and not shown. Replays begin
//! where no data is owed, so that a reader without retry history reads the case as one stream. No flit of a case has
//! been acknowledged before the replay. Left out: replays that begin inside a data run.

use super::build::control;
use super::flits::traffic;
use crate::vectors::{CaseGroup, Context, StreamCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, Retry, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// Flits of the retry buffer of the sender, so sequence numbers count modulo this (`cxl-68b` §7.1).
const BUFFER_FLITS: usize = 128;

/// Flits to resend; 0 is an empty replay, 21 the most that the smallest buffer of 22 holds (`cxl-68b` §7.1).
const DEPTHS: [usize; 7] = [0, 1, 2, 3, 5, 8, 21];

/// The vectors of one direction.
pub fn vectors(dir: Dir, seed: u64) -> VectorSet {
    let path = format!("cxl68/retry_cxl-68b_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let groups = vec![
        CaseGroup::new("initialisation: RETRY.Idle, INIT.Param, RETRY.Idle", initialisation()),
        CaseGroup::new("RETRY.Req sequences: Eseq, NUM_RETRY, NUM_PHY_REINIT; more Frames; Idle before", requests()),
        CaseGroup::new("replays from sequence 0 on, 0 to 21 flits deep", replays(dir, 0, &mut rng)),
        CaseGroup::new("replays over the wrap of the sequence number", replays(dir, 120, &mut rng)),
        CaseGroup::new("RETRY.Ack sequence before RETRY.Req sequence", vec![both()]),
        CaseGroup::new("viral in RETRY.Ack: whole device, logical device 3", vec![viral(0), viral(1 << 3)]),
        CaseGroup::new("Frame, Req and Ack outside a sequence: no effect", lone()),
    ];
    VectorSet {
        path,
        about: format!("retry of cxl-68b, flits that travel {}; LLR buffer of {BUFFER_FLITS} flits", dir.name()),
        content: VectorContent::Cxl68(dir, groups),
    }
}

/// RETRY.Frame (3) or RETRY.Idle (0).
fn plain(sub_type: u8) -> Cxl68Unit {
    let retry = Retry { sub_type, ..Retry::default() };
    control(&if sub_type == 0 { Control::RetryIdle(retry) } else { Control::RetryFrame(retry) })
}

/// Frames, then the flit that they announce.
fn framed(frames: u8, last: &Control) -> impl Iterator<Item = Cxl68Unit> {
    (0..frames).map(|_| plain(3)).chain([control(last)])
}

fn frames() -> u8 {
    Cxl68Config::default().frames_before_sequence
}

fn req(eseq: u8, num_retry: u8, num_phy_reinit: u8) -> Control {
    Control::RetryReq(RetryReq { eseq, num_retry, num_phy_reinit, ..RetryReq::default() })
}

fn init_param() -> Cxl68Unit {
    // The wrap value is the highest sequence number [D].
    let wrap = (BUFFER_FLITS - 1) as u8;
    control(&Control::InitParam(InitParam { version: Revision::V2_0.init_version(), wrap, ..InitParam::default() }))
}

fn initialisation() -> Vec<StreamCase> {
    vec![StreamCase::legal([plain(0), plain(0), init_param(), plain(0), plain(0)].into())]
}

fn requests() -> Vec<StreamCase> {
    let rows = [(0, 0, 0), (1, 0, 0), (127, 1, 0), (64, 9, 0), (5, 0, 1), (5, 10, 10), (255, 31, 31)];
    let mut cases: Vec<StreamCase> =
        rows.iter().map(|&(e, n, p)| StreamCase::legal(framed(frames(), &req(e, n, p)).collect())).collect();
    cases.push(StreamCase::legal(framed(frames() + 3, &req(2, 0, 0)).collect()));
    cases.push(StreamCase::legal([plain(0), plain(0)].into_iter().chain(framed(frames(), &req(2, 0, 0))).collect()));
    cases
}

/// One replay of each depth; the first retryable flit has the sequence number `first`.
fn replays(dir: Dir, first: usize, rng: &mut Rng) -> Vec<StreamCase> {
    let replay = |depth| {
        let mut units = if first == 0 { vec![init_param()] } else { Vec::new() };
        units.extend(retryable(dir, traffic(dir, depth + 4, rng)));
        let last = units.len();
        let from = start_of_replay(dir, &units, depth);
        let number = |n: usize| ((first + n) % BUFFER_FLITS) as u8;
        let ack = Control::RetryAck(RetryAck {
            empty: from == last,
            num_retry: (depth % 3) as u8,
            wr_ptr: number(last),
            eseq: number(from),
            num_free_buf: (BUFFER_FLITS - last) as u8,
            ..RetryAck::default()
        });
        let again = units[from..].to_vec();
        units.extend(framed(frames(), &ack));
        units.extend(again);
        units.extend(retryable(dir, traffic(dir, 2, rng)));
        StreamCase { context: Some(Context::FirstSequence(first as u8)), ..StreamCase::legal(units) }
    };
    DEPTHS.into_iter().map(replay).collect()
}

/// Without the flits that have no sequence number.
fn retryable(dir: Dir, units: Vec<Cxl68Unit>) -> Vec<Cxl68Unit> {
    let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
    units.into_iter().filter(|u| is_retryable(&reader.read(u).kind)).collect()
}

fn is_retryable(kind: &Cxl68UnitKind) -> bool {
    match kind {
        Cxl68UnitKind::Protocol(_) | Cxl68UnitKind::AllData => true,
        Cxl68UnitKind::Control(control) => control.is_retryable(),
        _ => false,
    }
}

/// Index of the flit, at least `depth` from the end, from which to resend: the last one before which nothing is owed.
fn start_of_replay(dir: Dir, units: &[Cxl68Unit], depth: usize) -> usize {
    let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
    let mut starts: Vec<usize> =
        units.iter().enumerate().filter_map(|(n, u)| (reader.read(u).rollover_before == 0).then_some(n)).collect();
    starts.push(units.len());
    starts.into_iter().rev().find(|&n| n + depth <= units.len()).unwrap_or(0)
}

fn both() -> StreamCase {
    let ack = Control::RetryAck(RetryAck { empty: true, num_free_buf: BUFFER_FLITS as u8, ..RetryAck::default() });
    StreamCase::legal(framed(frames(), &ack).chain(framed(frames(), &req(3, 0, 0))).collect())
}

fn viral(viral_ld_id: u16) -> StreamCase {
    let ack =
        RetryAck { empty: true, viral: true, viral_ld_id, num_free_buf: BUFFER_FLITS as u8, ..RetryAck::default() };
    StreamCase::legal(framed(frames(), &Control::RetryAck(ack)).collect())
}

fn lone() -> Vec<StreamCase> {
    let ack = Control::RetryAck(RetryAck::default());
    let short = frames() - 1;
    vec![
        StreamCase::legal(vec![plain(3)]),
        StreamCase::legal(framed(0, &req(1, 0, 0)).collect()),
        StreamCase::legal(framed(0, &ack).collect()),
        StreamCase::legal(framed(short, &req(1, 0, 0)).collect()),
        StreamCase::legal(framed(short, &ack).collect()),
    ]
}
