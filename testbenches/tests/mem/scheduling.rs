//! The scheduler: order of commands, caps on starvation, page policies, write queue.

use super::rig::{A, B, Numbers, Op, line, one_channel, run};
use scalepool::memory::backend::{MemoryAccess, MemoryRequest};
use scalepool::memory::dram::channel::{DramAccess, DramChannel, DramLineRequest, DramPagePolicy, DramScheduling};
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::preset::{DramPreset, PRESETS};
use scalepool::memory::dram::{DramCommand, DramConfig, DramController, DramPlace};

fn ddr4() -> &'static DramPreset {
    &PRESETS[0]
}

fn request(token: u64, place: DramPlace, access: DramAccess, visible: u64) -> DramLineRequest {
    DramLineRequest { token, place, bursts: 1, line: token, access, visible }
}

/// Commands for requests of one channel without refresh.
fn commands(scheduling: DramScheduling, requests: &[DramLineRequest]) -> Vec<DramCommand> {
    let mut channel = DramChannel::new(0, ddr4(), scheduling, DramRefresh::Off, true);
    requests.iter().for_each(|request| channel.push(*request));
    channel.advance(1_000_000);
    channel.take_commands()
}

fn shown(commands: &[DramCommand]) -> Vec<(u64, Op, DramPlace)> {
    commands.iter().map(|c| (c.clock, c.operation, c.place)).collect()
}

fn row(row: u32, column: u32) -> DramPlace {
    DramPlace { row, column, ..A }
}

#[test]
fn mem_sch_01_p() {
    // An old miss and two younger hits at once: the older hit, then the miss, then the other hit when CCD_L has passed.
    let requests = [
        request(0, row(7, 0), DramAccess::Read, 0),
        request(1, B, DramAccess::Read, 100),
        request(2, row(7, 1), DramAccess::Read, 100),
        request(3, row(7, 2), DramAccess::Read, 100),
    ];
    let found = shown(&commands(DramScheduling::default(), &requests));
    assert_eq!(
        found[2..5],
        [(100, Op::Read, row(7, 1)), (101, Op::Act, DramPlace { column: 0, ..B }), (108, Op::Read, row(7, 2))]
    );
}

#[test]
fn mem_sch_01_n() {
    // With the ages of the hits exchanged, the decisions differ.
    let requests = [
        request(0, row(7, 0), DramAccess::Read, 0),
        request(1, B, DramAccess::Read, 100),
        request(2, row(7, 2), DramAccess::Read, 100),
        request(3, row(7, 1), DramAccess::Read, 100),
    ];
    assert_ne!(shown(&commands(DramScheduling::default(), &requests))[2], (100, Op::Read, row(7, 1)));
}

/// Column commands between the first activate and the first precharge.
fn before_close(commands: &[DramCommand]) -> usize {
    commands.iter().take_while(|c| c.operation != Op::Pre).filter(|c| c.operation.is_column()).count()
}

#[test]
fn mem_sch_02_p() {
    let requests = [
        request(0, row(7, 0), DramAccess::Read, 0),
        request(1, row(7, 1), DramAccess::Read, 0),
        request(2, row(7, 2), DramAccess::Read, 0),
        request(3, row(8, 0), DramAccess::Read, 0),
    ];
    assert_eq!(before_close(&commands(DramScheduling::default(), &requests)), 3);
}

#[test]
fn mem_sch_02_n() {
    // A row that is closed for the youngest while two wait.
    let early = [(0, Op::Act), (22, Op::Read), (52, Op::Pre)].map(|(clock, op)| super::rig::at(clock, op, A));
    assert_ne!(before_close(&early), 3);
}

/// So many hits that come one after the other, and one request for another row after the first.
fn hits_and_a_conflict(hits: u64) -> Vec<DramLineRequest> {
    let hit = |n: u64| request(n, row(7, n as u32), DramAccess::Read, 0);
    let mut all = vec![hit(0), request(1000, row(8, 0), DramAccess::Read, 0)];
    all.extend((1..hits).map(hit));
    all
}

#[test]
fn mem_sch_03_p() {
    for (hits, expected) in [(15, 15), (16, 16), (17, 16), (40, 16)] {
        assert_eq!(before_close(&commands(DramScheduling::default(), &hits_and_a_conflict(hits))), expected, "{hits}");
    }
}

#[test]
fn mem_sch_03_n() {
    let loose = DramScheduling { hit_cap: 17, ..DramScheduling::default() };
    assert_eq!(before_close(&commands(loose, &hits_and_a_conflict(40))), 17);
}

/// A flood of reads that never ends in which one write waits; the clock of its command, and the run.
fn write_in_a_flood(age_limit_clocks: u64) -> (u64, super::rig::Run) {
    let mut config = DramConfig { refresh: DramRefresh::Off, ..one_channel(ddr4()) };
    config.scheduling.age_limit_clocks = age_limit_clocks;
    let mut numbers = Numbers(3);
    let requests: Vec<(u64, MemoryRequest)> = (0..2600)
        .map(|n| (0, line(numbers.below(1 << 20), if n == 5 { MemoryAccess::Write } else { MemoryAccess::Read })))
        .collect();
    let run = run(&config, requests);
    (run.clocks(Op::Write)[0], run)
}

/// `memory §10`, M6, with the number that the catalogue gives it (c5) \[clocks\].
fn age_bound(preset: &DramPreset) -> u64 {
    let t = &preset.timing;
    2000 + 128 * u64::from(t.rc + t.cwl + t.bl + t.wtr_l) + 5 * u64::from(t.rfc_all)
}

#[test]
fn mem_sch_04_p() {
    let (clock, _) = write_in_a_flood(2000);
    // Closing a row, opening another one, and turning the bus.
    assert!((2000..2300).contains(&clock), "found {clock}");
}

#[test]
fn mem_sch_04_n() {
    let (clock, run) = write_in_a_flood(u64::MAX / 4);
    assert!(clock > run.clocks(Op::Read)[2500], "found {clock}: it waits for the end of the flood");
}

#[test]
fn mem_mon_06_p() {
    for preset in PRESETS {
        let config = one_channel(preset);
        let mut numbers = Numbers(4);
        let access = |n| if n == 0 { MemoryAccess::Write } else { MemoryAccess::Read };
        let requests: Vec<(u64, MemoryRequest)> =
            (0..1500).map(|_| (0, line(numbers.below(1 << 20), access(numbers.below(3))))).collect();
        let run = run(&config, requests);
        let oldest = run.times.iter().map(|(taken, done)| done - taken).max().unwrap_or(0);
        assert!(oldest < preset.fs(age_bound(preset)), "{}: {oldest} fs", preset.key);
    }
    assert!(write_in_a_flood(2000).0 < age_bound(ddr4()));
}

#[test]
fn mem_mon_06_n() {
    assert!(write_in_a_flood(u64::MAX / 4).0 > age_bound(ddr4()));
}

/// Commands for one read, and one after it.
fn policy(policy: DramPagePolicy, idle_close_clocks: u64, second: Option<u32>) -> Vec<(u64, Op)> {
    let scheduling = DramScheduling { policy, idle_close_clocks, ..DramScheduling::default() };
    let mut requests = vec![request(0, row(7, 0), DramAccess::Read, 0)];
    requests.extend(second.map(|column| request(1, row(7, column), DramAccess::Read, 0)));
    commands(scheduling, &requests).iter().map(|c| (c.clock, c.operation)).collect()
}

#[test]
fn mem_sch_05_p() {
    use DramPagePolicy::{Adaptive, Closed, Open};
    assert_eq!(policy(Open, 200, None), [(0, Op::Act), (22, Op::Read), (222, Op::Pre)]);
    assert_eq!(policy(Closed, 200, None), [(0, Op::Act), (22, Op::ReadPre)]);
    assert_eq!(policy(Adaptive, 200, None), [(0, Op::Act), (22, Op::ReadPre)]);
    assert_eq!(policy(Adaptive, 200, Some(1)), [(0, Op::Act), (22, Op::Read), (30, Op::ReadPre)]);
    // Closed: the second line opens the row again.
    assert_eq!(policy(Closed, 200, Some(1)).iter().filter(|(_, op)| *op == Op::Act).count(), 2);
    // A hit one clock before the end keeps the row, one a clock later finds it closed.
    for (visible, opened) in [(221, 1), (223, 2)] {
        let requests = [request(0, row(7, 0), DramAccess::Read, 0), request(1, row(7, 1), DramAccess::Read, visible)];
        let found = commands(DramScheduling::default(), &requests);
        assert_eq!(found.iter().filter(|c| c.operation == Op::Act).count(), opened, "{visible}");
    }
}

#[test]
fn mem_sch_05_n() {
    assert_ne!(policy(DramPagePolicy::Open, 201, None)[2], (222, Op::Pre));
}

/// A full queue of each; whether each column command writes.
fn drained(scheduling: DramScheduling) -> Vec<bool> {
    let all = (0..64).flat_map(|n| {
        let place = DramPlace { group: n % 4, bank: n / 4 % 4, row: 1, column: n / 16, ..A };
        let read = DramPlace { row: 2, ..place };
        let (n, read_token) = (u64::from(n), 100 + u64::from(n));
        [request(n, place, DramAccess::Write, 0), request(read_token, read, DramAccess::Read, 0)]
    });
    let commands = commands(scheduling, &all.collect::<Vec<_>>());
    commands.iter().filter(|c| c.operation.is_column()).map(|c| c.operation.is_write()).collect()
}

#[test]
fn mem_sch_06_p() {
    // From 64 down to 16, then all reads, then the rest, as no read waits.
    let expected = [vec![true; 48], vec![false; 64], vec![true; 16]].concat();
    assert_eq!(drained(DramScheduling::default()), expected);
    // A batch of 16 goes on when a read comes; one of fewer ends.
    for (writes, before_read) in [(20, 16), (8, 1)] {
        let write = |n: u64| request(n, DramPlace { column: n as u32, ..A }, DramAccess::Write, 0);
        let mut all: Vec<DramLineRequest> = (0..writes).map(write).collect();
        all.push(request(100, B, DramAccess::Read, 17));
        let found = commands(DramScheduling::default(), &all);
        let columns = found.iter().filter(|c| c.operation.is_column());
        let before = columns.take_while(|c| c.operation.is_write()).count();
        assert!(before <= before_read && before >= before_read - 1, "{writes}: {before} before the read");
    }
}

#[test]
fn mem_sch_06_n() {
    let wrong = DramScheduling { drain_low_percent: 50, ..DramScheduling::default() };
    assert_eq!(drained(wrong)[..33].iter().filter(|is_write| **is_write).count(), 32);
}

/// A write of a line, then a read of a line; forwarded reads, and reads that went to the device.
fn write_then_read(access: MemoryAccess, read: u64) -> (u64, usize) {
    let requests = [(0, line(5, access)), (0, line(read, MemoryAccess::Read))];
    let run = run(&one_channel(ddr4()), requests);
    (run.counts.forwarded, run.clocks(Op::Read).len())
}

#[test]
fn mem_sch_07_p() {
    assert_eq!(write_then_read(MemoryAccess::Write, 5), (1, 0));
    // A part of a line is merged with what is read.
    assert_eq!(write_then_read(MemoryAccess::Modify, 5), (0, 1));
}

#[test]
fn mem_sch_07_n() {
    assert_eq!(write_then_read(MemoryAccess::Write, 6), (0, 1), "another line is read");
}

/// Requests of one kind that a memory takes at once, and whether it takes one of the other kind then.
fn taken(access: MemoryAccess, other: MemoryAccess) -> (usize, bool) {
    let config = DramConfig { ..one_channel(ddr4()) };
    let mut memory = DramController::new(&config).expect("a memory");
    let taken = (0..100).take_while(|n| {
        let request = line(*n, access);
        memory.has_room(&request) && memory.push(0, &request) == *n
    });
    (taken.count(), memory.has_room(&line(0, other)))
}

#[test]
fn mem_sch_09_p() {
    assert_eq!(taken(MemoryAccess::Read, MemoryAccess::Write), (64, true));
    assert_eq!(taken(MemoryAccess::Write, MemoryAccess::Read), (64, true));
    // More wait outside, and `run` sees that each is answered.
    assert_eq!(run(&one_channel(ddr4()), (0..300).map(|n| (0, line(n * 999, MemoryAccess::Write)))).times.len(), 300);
}

#[test]
fn mem_sch_09_n() {
    assert_eq!(taken(MemoryAccess::Read, MemoryAccess::Read), (64, false), "the 65th is not taken");
}

fn write_latency_fs(front_fs: u64) -> u64 {
    let run = run(&DramConfig { front_fs, ..one_channel(ddr4()) }, [(0, line(5, MemoryAccess::Write))]);
    run.times[0].1 - run.times[0].0
}

#[test]
fn mem_sch_10_p() {
    assert_eq!(write_latency_fs(10_000_000), 20_000_000);
    // A read after it sees it: it is answered from the queue, and not before the write.
    let both = run(&one_channel(ddr4()), [(0, line(5, MemoryAccess::Write)), (0, line(5, MemoryAccess::Read))]);
    assert!(both.counts.forwarded == 1 && both.times[1].1 >= both.times[0].1);
}

#[test]
fn mem_sch_10_n() {
    let device = ddr4().fs(u64::from(ddr4().timing.cwl + ddr4().timing.bl));
    assert_ne!(write_latency_fs(10_000_000), 20_000_000 + device);
    assert_ne!(write_latency_fs(0), 20_000_000);
}
