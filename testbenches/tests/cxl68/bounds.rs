//! How tight the packer packs, against the least number of flits that any legal packing needs.
//!
//! The bound comes from an exhaustive search: a state is the chunks owed and the messages sent so far, a step is any
//! legal flit. The search knows slot formats from the oracle, per-flit maxima and rollover from the sheet (`cxl-68b` §5.1
//! to §5.3), and nothing of the packer.

use super::common::*;
use scalepool_oracle::cxl68_slots::{self, SlotOracle};
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::Cxl68Message;
use std::collections::BTreeSet;

/// Two classes of messages: A with a line of data, B without or with one.
#[derive(Debug, Clone, Copy)]
struct Mix {
    dir: Dir,
    classes: [Class; 2],
    mdh: bool,
}

/// Flits sent so far matter no more than: chunks owed, messages of each class left.
type State = (usize, usize, usize);

impl Mix {
    /// What one slot may hold: (A, B) counts, and whether an MDH slot it is.
    fn contents(&self, format: &SlotOracle) -> BTreeSet<(usize, usize)> {
        let mut all = BTreeSet::from([(0, 0)]);
        for place in format.places {
            let [a, b] = self.classes.map(|c| c.def().name == place.message);
            let more: Vec<_> = all.iter().map(|(x, y)| (x + usize::from(a), y + usize::from(b))).collect();
            all.extend(more);
        }
        let data = |(a, b): (usize, usize)| self.data_headers(a, b);
        all.retain(|c| *c == (0, 0) || if format.mdh { self.mdh && data(*c) >= 2 } else { data(*c) <= 1 });
        all
    }

    fn data_headers(&self, a: usize, b: usize) -> usize {
        let [x, y] = self.classes.map(|c| usize::from(c.has_data()));
        a * x + b * y
    }

    /// All states behind one more flit.
    fn next(&self, (owed, a, b): State, out: &mut BTreeSet<State>) {
        if owed > 3 {
            out.insert((owed - 4, a, b));
            return;
        }
        // Slot by slot: owed chunks, sent A and B, slots with data headers so far.
        let mut partial = BTreeSet::from([(owed, 0usize, 0usize, false)]);
        for n in 0..4 {
            let mut after = BTreeSet::new();
            for (owed, x, y, header) in partial {
                if n > 0 && owed > 0 {
                    after.insert((owed - 1, x, y, header));
                    continue;
                }
                let formats = cxl68_slots::slots().iter();
                for format in formats.filter(|f| f.dir == oracle_dir(self.dir) && f.generic == (n > 0)) {
                    for (p, q) in self.contents(format) {
                        let headers = self.data_headers(p, q);
                        let most = self.classes.map(|c| usize::from(c.max_per_flit()));
                        let fits = x + p <= most[0].min(a) && y + q <= most[1].min(b);
                        if fits && !(header && headers > 0) {
                            after.insert((owed + 4 * headers, x + p, y + q, header || headers > 0));
                        }
                    }
                }
            }
            partial = after;
        }
        out.extend(partial.into_iter().map(|(owed, x, y, _)| (owed, a - x, b - y)));
    }

    /// The least number of flits that carry `a` and `b` messages with all their data.
    fn fewest_flits(&self, a: usize, b: usize) -> usize {
        let mut front = BTreeSet::from([(0, a, b)]);
        let mut flits = 0;
        while !front.contains(&(0, 0, 0)) {
            let mut after = BTreeSet::new();
            front.iter().for_each(|state| self.next(*state, &mut after));
            front = after;
            flits += 1;
        }
        flits
    }

    /// What our packer needs when all messages wait at once.
    fn packer_flits(&self, a: usize, b: usize) -> usize {
        let config = Cxl68Config { mdh: self.mdh, ..config() };
        let n = |class: Class, count: usize| (0..count).map(move |k| message(class, k as u16));
        let waiting: Vec<Cxl68Message> = n(self.classes[0], a).chain(n(self.classes[1], b)).collect();
        let units = pack(self.dir, config, &waiting);
        read_as(self.dir, config, &units).assert_clean();
        units.len()
    }
}

const READS_UP: Mix = Mix { dir: Dir::Up, classes: [Class::S2mDrs, Class::S2mNdr], mdh: true };
const WRITES_DOWN: Mix = Mix { dir: Dir::Down, classes: [Class::M2sRwd, Class::M2sReq], mdh: true };

/// Saturated 64 B reads upstream with MDH: eight lines in nine flits, and no packing does better.
#[test]
fn eight_reads_in_nine_flits_with_mdh() {
    for groups in [1, 2, 5] {
        assert_eq!(READS_UP.packer_flits(8 * groups, 0), 9 * groups);
    }
    assert_eq!(READS_UP.fewest_flits(8, 0), 9);
    assert_eq!(READS_UP.fewest_flits(16, 0), 18);
    assert_eq!(READS_UP.packer_flits(8 * 100, 0), 9 * 100);
}

#[test]
fn four_reads_in_five_flits_without_mdh() {
    let mix = Mix { mdh: false, ..READS_UP };
    assert_eq!(mix.packer_flits(4 * 100, 0), 5 * 100);
    assert_eq!(mix.fewest_flits(4, 0), 5);
    assert_eq!(mix.fewest_flits(16, 0), 20);
}

/// Saturated 64 B writes downstream: one header a flit, MDH or not.
#[test]
fn four_writes_in_five_flits() {
    for mdh in [true, false] {
        let mix = Mix { mdh, ..WRITES_DOWN };
        assert_eq!(mix.packer_flits(4 * 100, 0), 5 * 100);
        assert_eq!(mix.fewest_flits(4, 0), 5);
        assert_eq!(mix.fewest_flits(16, 0), 20);
    }
}

/// Cache lines to and from a device: as reads, four headers in an MDH slot.
#[test]
fn cache_lines_with_and_without_mdh() {
    for (class, other) in [(Class::H2dData, Class::H2dRsp), (Class::D2hData, Class::D2hRsp)] {
        let mix = Mix { dir: class.dir(), classes: [class, other], mdh: true };
        // Four lines: header slot, 15 chunks in three all-data flits and three slots, one chunk over. 16 lines: 17 flits.
        let (ours, least) = (mix.packer_flits(16, 0), mix.fewest_flits(16, 0));
        println!("{}: 16 lines in {ours} flits, bound {least}", class.def().name);
        assert_eq!((ours, least), (17, 17));
        let single = Mix { mdh: false, ..mix };
        assert_eq!((single.packer_flits(16, 0), single.fewest_flits(16, 0)), (20, 20));
    }
}

/// The 2:1 mix of reads and writes of 64 B: downstream two requests and one write, upstream two read answers and one
/// completion. Our packer's flits beside the least possible, over a run long enough to hide both ends.
#[test]
fn two_reads_and_one_write() {
    let groups = 8;
    let mut table = String::new();
    for mdh in [true, false] {
        for (mix, a, b) in [(WRITES_DOWN, 1, 2), (READS_UP, 2, 1)] {
            let mix = Mix { mdh, ..mix };
            let (ours, least) = (mix.packer_flits(a * groups, b * groups), mix.fewest_flits(a * groups, b * groups));
            table += &format!("{} mdh {mdh}: {groups} groups in {ours} flits, bound {least}\n", mix.dir.name());
            assert!(ours >= least, "the search misses a legal packing: {table}");
        }
    }
    println!("{table}");
    insta::assert_snapshot!(table);
}
