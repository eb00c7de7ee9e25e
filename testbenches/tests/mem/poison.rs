//! What becomes of lines that a code corrects or loses, and the patrol (`memory §6.3`, `§6.4`).

use super::ecc::{fresh, store};
use scalepool::memory::ALL_BYTES;
use scalepool::memory::ecc::{EccScheme, EccStore, Patrol};
use std::ops::RangeInclusive;

/// A line with a flip that its code corrects, and one that it has lost.
fn damaged(scheme: EccScheme) -> EccStore {
    let mut memory = store(scheme);
    memory.flip(0x40, 9);
    [3, 70].iter().for_each(|bit| memory.flip(0x80, *bit));
    [3, 4, 70, 71].iter().for_each(|bit| memory.flip(0xc0, *bit));
    memory
}

#[test]
fn mem_psn_01_p() {
    let mut memory = damaged(EccScheme::Secded);
    for reads in 1..=2 {
        memory.account_read(0x40);
        let read = memory.read_line(0x40);
        assert_eq!((read.data, read.poison, memory.counts().corrected), (fresh(0x40), false, reads));
        assert_ne!(memory.cells(0x40).data, fresh(0x40), "the cells keep it");
    }
    assert!(memory.scrub(0x40), "the patrol writes it back");
    assert_eq!(memory.cells(0x40).data, fresh(0x40));
    memory.account_read(0x40);
    assert_eq!((memory.counts().corrected, memory.counts().scrub_corrected), (2, 1));
}

#[test]
fn mem_psn_01_n() {
    // Nobody counts what no code sees, and the data are wrong.
    let mut memory = damaged(EccScheme::None);
    memory.account_read(0x40);
    assert_eq!(memory.counts().corrected, 0);
    assert_ne!(memory.read_line(0x40).data, fresh(0x40));
}

#[test]
fn mem_psn_02_p() {
    for (scheme, lost) in [(EccScheme::Secded, 0xc0), (EccScheme::Symbol, 0x80)] {
        let mut memory = damaged(scheme);
        memory.account_read(lost);
        assert!(memory.read_line(lost).poison, "{scheme:?}");
        assert_eq!(memory.counts().lost, 1);
        memory.account_read(lost);
        assert_eq!(memory.counts().lost, 1, "a line is lost once");
    }
    let mut memory = store(EccScheme::Secded);
    memory.write_line(0x40, &[5; 64], ALL_BYTES, true);
    assert!(memory.read_line(0x40).poison, "poison that came by a write is stored");
    assert_eq!(memory.read_line(0x40).data, [5; 64]);
}

#[test]
fn mem_psn_02_n() {
    // Without a code the same line comes back clean and wrong.
    let memory = damaged(EccScheme::None);
    assert!(!memory.read_line(0xc0).poison && memory.read_line(0xc0).data != fresh(0xc0));
}

#[test]
fn mem_psn_03_p() {
    let mut memory = damaged(EccScheme::Secded);
    memory.write_line(0xc0, &[7; 64], 0xf, false);
    assert!(memory.read_line(0xc0).poison, "the part that was not written is still lost");
    assert_eq!((memory.read_line(0xc0).data[..4].to_vec(), memory.counts().lost), (vec![7; 4], 1), "it was read first");
    memory.write_line(0xc0, &[8; 64], ALL_BYTES, false);
    let read = memory.read_line(0xc0);
    assert_eq!((read.data, read.poison), ([8; 64], false));
}

#[test]
fn mem_psn_03_n() {
    // A partial write that did not read first would give the lost bytes good check bits.
    let mut memory = damaged(EccScheme::None);
    memory.write_line(0xc0, &[7; 64], 0xf0, false);
    assert!(!memory.read_line(0xc0).poison && memory.read_line(0xc0).data[0] != fresh(0xc0)[0]);
}

/// Lets a patrol go at every cycle up to an end; the lines with their cycles.
fn walk(patrol: Patrol, end: u64, is_busy: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
    walk_from(patrol, 0..=end, is_busy)
}

/// The same, with nothing let go before the first cycle.
fn walk_from(mut patrol: Patrol, cycles: RangeInclusive<u64>, is_busy: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
    let mut walked = Vec::new();
    for cycle in cycles {
        if let Some(address) = patrol.due(cycle, is_busy(cycle)) {
            walked.push((cycle, address));
            patrol.taken(cycle);
        }
    }
    walked
}

/// The rule that a patrol breaks by which a request of so many cycles may meet two lines.
fn delay_broken(walked: &[(u64, u64)], request_cycles: u64) -> Option<&'static str> {
    let is_near = |pair: &[(u64, u64)]| pair[1].0 - pair[0].0 < request_cycles;
    walked.windows(2).any(is_near).then_some("MEM-SCR-02")
}

#[test]
fn mem_scr_01_p() {
    let walked = walk(Patrol::new(100, 4), 600, |_| false);
    assert_eq!(walked, [(100, 0), (200, 0x40), (300, 0x80), (400, 0xc0), (500, 0), (600, 0x40)]);
    let mut memory = damaged(EccScheme::Secded);
    let written: Vec<bool> = walked.iter().map(|(_, address)| memory.scrub(*address)).collect();
    // Two flips in two words are two single flips.
    assert_eq!(written, [false, true, true, false, false, false]);
    let counts = memory.counts();
    assert_eq!((counts.scrubbed, counts.scrub_corrected, counts.scrub_lost, counts.lost), (6, 2, 1, 0));
    assert!(memory.read_line(0xc0).poison, "it is marked before anybody asks");
}

#[test]
fn mem_scr_01_n() {
    // A line that the patrol leaves out meets its second flip.
    let mut memory = damaged(EccScheme::Secded);
    let written = [0, 0x80, 0xc0].map(|address| memory.scrub(address));
    assert_eq!(written, [false, true, false]);
    memory.flip(0x40, 10);
    assert!(memory.read_line(0x40).poison);
}

#[test]
fn mem_scr_02_p() {
    // Beside requests a line waits for a whole interval; then one goes in each interval, so a request that takes less meets one at most.
    let walked = walk(Patrol::new(100, 4), 600, |_| true);
    assert_eq!(walked, [(200, 0), (300, 0x40), (400, 0x80), (500, 0xc0), (600, 0)]);
    assert_eq!(delay_broken(&walked, 100), None);
    let gaps = walk(Patrol::new(100, 4), 1000, |cycle| cycle < 450);
    assert_eq!(gaps.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>()[..4], [200, 300, 400, 450]);
}

/// A patrol that does not look at the requests makes up for what it has missed and keeps a request waiting line after line.
#[test]
fn mem_scr_02_n() {
    let late = |is_busy: bool| walk_from(Patrol::new(100, 8), 650..=700, |_| is_busy);
    assert_eq!(delay_broken(&late(true), 100), None, "one line, however late it is");
    assert_eq!(delay_broken(&late(false), 100), Some("MEM-SCR-02"));
    let greedy = walk(Patrol::new(100, 4), 600, |_| false);
    assert!(greedy.iter().any(|line| !walk(Patrol::new(100, 4), 600, |_| true).contains(line)), "it goes in front");
}
