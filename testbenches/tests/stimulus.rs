//! Stimulus readers and generators, cache array and backing store.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scalepool::memory::cache::{Cache, CacheConfig, CacheConfigError, Victim};
use scalepool::memory::store::{Background, Store, StoredLine};
use scalepool::memory::{ALL_BYTES, LineBytes};
use scalepool::nodes::stimulus::{
    AlgorithmStep, LineAccess, LineRegion, MAX_ACCESS_BYTES, Mix, ProducerConsumer, StimulusAccess, StimulusFormat,
    StimulusOp, WriteStreams, alg1a, alg1b, alg2, line_accesses, parse_trace, read_trace, saturated,
};

fn sample_path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("stimulus/hash_list_matrix.lackey.gz")
}

fn sample_bytes() -> Vec<u8> {
    std::fs::read(sample_path()).unwrap()
}

fn parse(text: &str) -> Vec<StimulusAccess> {
    parse_trace("t", text.as_bytes(), None).unwrap()
}

fn error_of(bytes: &[u8], format: Option<StimulusFormat>) -> String {
    parse_trace("t", bytes, format).expect_err("the text is malformed").to_string()
}

fn access(op: StimulusOp, address: u64, size_bytes: u32) -> StimulusAccess {
    StimulusAccess { at_cycles: None, op, address, size_bytes }
}

// ---- reading ----

#[test]
fn lackey_lines_become_accesses_and_valgrinds_own_lines_go() {
    let text =
        "==41== Lackey\n--41-- verbose\n==41== \n\nI  0023C790,2\n L be80199c,4\n S BE801950,8\n M 1fff000d80,1\n";
    let expected = [
        access(StimulusOp::Ifetch, 0x23_c790, 2),
        access(StimulusOp::Load, 0xbe80_199c, 4),
        access(StimulusOp::Store, 0xbe80_1950, 8),
        access(StimulusOp::Modify, 0x1f_ff00_0d80, 1),
    ];
    assert_eq!(parse(text), expected);
    assert_eq!(parse(&text.replace('\n', "\r\n")), expected, "line ends of another system");
    assert_eq!(parse(text.trim_end()), expected, "no line end after the last line");
}

#[test]
fn csv_takes_every_spelling_it_documents() {
    let text = "# comment\n\nTime,rw,Address,Size_Bytes\n0,r,0x1000,64\n0 , READ , 4096 , 1\n7,w,0XfFf,4096\n  # more\n7,Write,18446744073709551615,1\n8,R,0,1\n9,W,0,1\n";
    let at = |cycles, op, address, size_bytes| StimulusAccess { at_cycles: Some(cycles), op, address, size_bytes };
    let expected = [
        at(0, StimulusOp::Load, 0x1000, 64),
        at(0, StimulusOp::Load, 4096, 1),
        at(7, StimulusOp::Store, 0xfff, 4096),
        at(7, StimulusOp::Store, u64::MAX, 1),
        at(8, StimulusOp::Load, 0, 1),
        at(9, StimulusOp::Store, 0, 1),
    ];
    assert_eq!(parse(text), expected);
    for header in ["cycle,op,address,size", "cycles,type,address,size", " time_cycles , read|write ,address,size"] {
        assert_eq!(parse(&format!("{header}\n0,r,0x1000,64\n")), expected[..1]);
    }
}

/// Every malformed form: the text, and where, what and instead of what.
#[test]
fn malformed_lines_are_named_with_their_place() {
    let op = "`I  `, ` L `, ` S `, ` M ` or valgrind's `==pid==`";
    let hex = "a hexadecimal address below 2^64";
    let size = &*format!("a size of 1 to {MAX_ACCESS_BYTES} bytes");
    let time = "a time in host cycles, decimal, below 2^64";
    let read_write = "`r`, `read`, `w` or `write`";
    let address = "an address below 2^64, `0x` and hexadecimal or decimal";
    let any = "a line of lackey (`==pid==`, `I  `, ` L `, ` S `, ` M `) or of CSV (time,op,address,size)";
    let cases = [
        // lackey
        ("I  10,4\nX  10,4\n", "2:1", "`X`", op),
        ("I  10,4\n X 10,4\n", "2:1", "` X`", op),
        ("I  10,4\nI 10,4\n", "2:1", "`I`", op),
        ("I  10,4\n==pid== x\n", "2:1", "`==pid==`", op),
        ("I  10,4\nhello, world\n", "2:1", "`hello`", op),
        ("I  10,4\n L xyz,4\n", "2:4", "`xyz`", hex),
        ("I  10,4\n L\n", "2:1", "` L`", op),
        ("I  10,4\n L ,4\n", "2:4", "`,`", hex),
        ("I  10,4\n L 10000000000000000,4\n", "2:4", "`10000000000000000`", hex),
        ("I  10,4\n L 10 4\n", "2:6", "` 4`", "a comma"),
        ("I  10,4\n L 10\n", "2:6", "the end of the line", "a comma"),
        ("I  10,4\n L 10,\n", "2:7", "the end of the line", size),
        ("I  10,4\n L 10,0\n", "2:7", "`0`", size),
        ("I  10,4\n L 10,-4\n", "2:7", "`-4`", size),
        ("I  10,4\n L 10,4097\n", "2:7", "`4097`", size),
        ("I  10,4\n L 10,99999999999999999999\n", "2:7", "`99999999999999999999`", size),
        ("I  10,4\n L 10,4 \n", "2:8", "` `", "the end of the line"),
        ("I  10,4\n L 10,4,5\n", "2:8", "`,`", "the end of the line"),
        ("I  10,4\n S fffffffffffffffd,4\n", "2:4", "`fffffffffffffffd`", "an access that ends below 2^64"),
        // CSV
        ("0,r,0,4\nx,r,0,4\n", "2:1", "`x`", time),
        ("0,r,0,4\n-1,r,0,4\n", "2:1", "`-1`", time),
        ("0,r,0,4\n1.5,r,0,4\n", "2:2", "`.5`", "a comma"),
        ("0,r,0,4\n18446744073709551616,r,0,4\n", "2:1", "`18446744073709551616`", time),
        ("0,r,0,4\n1\n", "2:2", "the end of the line", "a comma"),
        ("0,r,0,4\n1,x,0,4\n", "2:3", "`x`", read_write),
        ("0,r,0,4\n1, ,0,4\n", "2:4", "`,`", read_write),
        ("0,r,0,4\n1,r,zz,4\n", "2:5", "`zz`", address),
        ("0,r,0,4\n1,r,0xzz,4\n", "2:5", "`0xzz`", address),
        ("0,r,0,4\n1,r,0x,4\n", "2:5", "`0x`", address),
        ("0,r,0,4\n1,r,ff,4\n", "2:5", "`ff`", address),
        ("0,r,0,4\n1,r,10ff,4\n", "2:7", "`ff`", "a comma"),
        ("0,r,0,4\n1,r,0x10000000000000000,4\n", "2:5", "`0x10000000000000000`", address),
        ("0,r,0,4\n1,r,18446744073709551616,4\n", "2:5", "`18446744073709551616`", address),
        ("0,r,0,4\n1, r, 18446744073709551615 ,2\n", "2:7", "`18446744073709551615`", "an access that ends below 2^64"),
        ("0,r,0,4\n1,r,0\n", "2:6", "the end of the line", "a comma"),
        ("0,r,0,4\n1,r,0,0\n", "2:7", "`0`", size),
        ("0,r,0,4\n1,r,0,0x40\n", "2:7", "`0x40`", size),
        ("0,r,0,4\n1,r,0,4097\n", "2:7", "`4097`", size),
        ("0,r,0,4\n1,r,0,4,5\n", "2:8", "`,`", "the end of the line"),
        ("9,r,0,4\n\n 8,r,0,4\n", "3:2", "`8`", "a time not before that of the access above"),
        ("time,op,address,size\ntime,op,address,size\n0,r,0,4", "2:1", "`time`", time),
        ("0,r,0,4\ntime,op,address,size\n", "2:1", "`time`", time),
        ("time_ns,op,address,size\n0,r,0,4\n", "1:1", "`time_ns`", "the column name `time`"),
        ("time,who,address,size\n0,r,0,4\n", "1:6", "`who`", "the column name `op`"),
        ("time,op,where,size\n0,r,0,4\n", "1:9", "`where`", "the column name `address`"),
        ("time,op,address,long\n0,r,0,4\n", "1:17", "`long`", "the column name `size`"),
        ("time,op,address\n0,r,0,4\n", "1:16", "the end of the line", "a comma"),
        ("time,op,address,size,x\n0,r,0,4\n", "1:21", "`,`", "the end of the line"),
        // neither
        ("\n\nhello world\n", "3:1", "`hello`", any),
        ("\u{feff}0,r,0,4\n", "1:1", "`\\u{feff}0`", any),
        ("abcdefghijklmnopqrstuvwxyz\n", "1:1", "`abcdefghijklmnopqrstuvwx..`", any),
    ];
    for (text, place, found, expected) in cases {
        let error = error_of(text.as_bytes(), None);
        assert_eq!(error, format!("t:{place}: found {found}, expected {expected}"), "{text:?}");
    }
}

#[test]
fn columns_count_characters() {
    let error = error_of("0,r,0,4\n1,é,0,4\n".as_bytes(), None);
    assert_eq!(error, "t:2:3: found `é`, expected `r`, `read`, `w` or `write`");
    let error = error_of(b"# \xc3\xa9\n# \xc3\xa9\xff", None);
    assert_eq!(error, "t:2:4: found byte 0xff, expected text in UTF-8");
}

#[test]
fn a_format_that_is_named_is_not_guessed() {
    let csv = "0,r,0,4\n";
    assert_eq!(parse_trace("t", csv.as_bytes(), Some(StimulusFormat::Csv)).unwrap(), parse(csv));
    let error = error_of(csv.as_bytes(), Some(StimulusFormat::Lackey));
    assert_eq!(error, "t:1:1: found `0`, expected `I  `, ` L `, ` S `, ` M ` or valgrind's `==pid==`");
    let error = error_of(b" L 10,4\n", Some(StimulusFormat::Csv));
    assert_eq!(error, "t:1:2: found `L`, expected the column name `time`");
    assert_eq!("lackey".parse(), Ok(StimulusFormat::Lackey));
    assert_eq!("csv".parse(), Ok(StimulusFormat::Csv));
    let error = "xml".parse::<StimulusFormat>().unwrap_err().to_string();
    assert_eq!(error, "trace format: found `xml`, expected `lackey` or `csv`");
}

#[test]
fn files_without_an_access_are_refused() {
    for text in ["", "\n \n", "==41== Lackey\n", "# nothing\n", "time,op,address,size\n"] {
        assert_eq!(error_of(text.as_bytes(), None), "t: found no access, expected at least one", "{text:?}");
    }
    let error = read_trace(Path::new("no-such-file"), None).unwrap_err().to_string();
    assert!(error.starts_with("no-such-file: cannot be read: "), "{error}");
}

#[test]
fn gzip_is_whole_or_refused() {
    let sample = sample_bytes();
    let accesses = parse_trace("t", &sample, None).unwrap();
    assert_eq!(read_trace(&sample_path(), Some(StimulusFormat::Lackey)).unwrap(), accesses);

    // In the header, in the data, before the checksum, within the length word.
    for len in [2, 9, 10, 1000, sample.len() / 2, sample.len() - 8, sample.len() - 1] {
        let error = error_of(&sample[..len], None);
        let expected = "t: found a gzip stream that is cut off, expected one that ends with its checksum";
        assert_eq!(error, expected, "cut to {len} bytes");
    }
    let mut wrong_checksum = sample.clone();
    wrong_checksum[sample.len() - 8] ^= 1;
    let damaged = error_of(&wrong_checksum, None);
    assert!(damaged.starts_with("t: found a damaged gzip stream ("), "{damaged}");
    assert!(damaged.ends_with("), expected whole gzip members and nothing else"), "{damaged}");
    let followed = error_of(&[&sample[..], b"something behind it"].concat(), None);
    assert!(followed.starts_with("t: found a damaged gzip stream ("), "{followed}");

    let twice = parse_trace("t", &[&sample[..], &sample[..]].concat(), None).unwrap();
    assert_eq!(twice, [&accesses[..], &accesses[..]].concat(), "two members are one text");
}

// ---- line accesses ----

fn line_access(cycle: u64, line_address: u64, offset: u8, len: u8, write: bool) -> LineAccess {
    LineAccess { cycle, line_address, offset, len, write }
}

#[test]
fn a_modify_loads_then_stores_in_one_cycle_and_ifetches_keep_their_cycle() {
    let trace = parse("I  1000,4\n M 2008,8\nI  1004,4\n S 203f,1\n");
    let data =
        [line_access(1, 0x2000, 8, 8, false), line_access(1, 0x2000, 8, 8, true), line_access(3, 0x2000, 63, 1, true)];
    assert_eq!(line_accesses(&trace, false).collect::<Vec<_>>(), data);
    let mut all = data.to_vec();
    all.insert(0, line_access(0, 0x1000, 0, 4, false));
    all.insert(3, line_access(2, 0x1000, 4, 4, false));
    assert_eq!(line_accesses(&trace, true).collect::<Vec<_>>(), all);
}

#[test]
fn an_access_over_a_line_end_is_one_access_a_line() {
    let trace = parse(" L 3e,4\n M 7c,8\n S 80,64\n L 81,128\n S fffffffffffffffe,2\n");
    let expected = [
        line_access(0, 0x00, 62, 2, false),
        line_access(0, 0x40, 0, 2, false),
        line_access(1, 0x40, 60, 4, false),
        line_access(1, 0x80, 0, 4, false),
        line_access(1, 0x40, 60, 4, true),
        line_access(1, 0x80, 0, 4, true),
        line_access(2, 0x80, 0, 64, true),
        line_access(3, 0x80, 1, 63, false),
        line_access(3, 0xc0, 0, 64, false),
        line_access(3, 0x100, 0, 1, false),
        line_access(4, 0xffff_ffff_ffff_ffc0, 62, 2, true),
    ];
    let mut accesses = line_accesses(&trace, true);
    for (n, expected) in expected.iter().enumerate() {
        assert_eq!(accesses.len(), 11 - n, "those that are left, within an access too");
        assert_eq!(accesses.next(), Some(*expected));
    }
    assert_eq!((accesses.len(), accesses.next()), (0, None));
    assert_eq!(expected[1].byte_enables(), 0b11);
    assert_eq!(expected[6].byte_enables(), ALL_BYTES);
    assert_eq!(expected[10].byte_enables(), 0b11 << 62);
}

#[test]
fn csv_times_are_the_cycles() {
    let trace = parse("5,r,0,4\n5,w,64,4\n90,r,0,4\n");
    assert_eq!(line_accesses(&trace, false).map(|a| a.cycle).collect::<Vec<_>>(), [5, 5, 90]);
}

#[test]
fn accesses_made_by_hand_cannot_break_the_split() {
    let trace = [access(StimulusOp::Load, 7, 0), access(StimulusOp::Store, u64::MAX - 1, 4096)];
    let expected = [line_access(1, 0xffff_ffff_ffff_ffc0, 62, 2, true)];
    assert_eq!(line_accesses(&trace, true).collect::<Vec<_>>(), expected);
}

// ---- generated stimuli ----

#[test]
fn saturated_traffic_walks_its_region() {
    let region = LineRegion::new(0x1000, 4).unwrap();
    let of = |mix| saturated(mix, region, 6).map(|a| (a.op, a.address)).collect::<Vec<_>>();
    let addresses = [0x1000, 0x1040, 0x1080, 0x10c0, 0x1000, 0x1040];
    assert_eq!(of(Mix::Reads), addresses.map(|a| (StimulusOp::Load, a)));
    assert_eq!(of(Mix::Writes), addresses.map(|a| (StimulusOp::Store, a)));
    let stores = of(Mix::TwoToOne).iter().map(|(op, _)| *op == StimulusOp::Store).collect::<Vec<_>>();
    assert_eq!(stores, [false, false, true, false, false, true]);
    assert!(saturated(Mix::Reads, region, 6).all(|a| a.at_cycles == Some(0) && a.size_bytes == 64));

    let error = |base, lines| LineRegion::new(base, lines).unwrap_err().to_string();
    assert_eq!(error(0x20, 1), "stimulus: found base_address = 0x20, expected a multiple of 64");
    assert_eq!(error(0, 0), "stimulus: found lines = 0x0, expected at least 1, and an end within 2^64 bytes");
    assert!(LineRegion::new(0, 1 << 58).is_ok(), "the whole address space");
    assert_eq!(
        error(64, 1 << 58),
        "stimulus: found lines = 0x400000000000000, expected at least 1, and an end within 2^64 bytes"
    );
}

/// Runs the steps on a memory and gives the number of reads, and of those that did not give what they had to.
fn run(steps: &[AlgorithmStep], mut write: impl FnMut(&mut Store, u64, &LineBytes, u64)) -> (usize, usize) {
    let mut store = Store::new(Background::OwnAddress);
    let (mut reads, mut wrong) = (0, 0);
    for step in steps {
        match step {
            AlgorithmStep::Write { address, data, byte_enables } => write(&mut store, *address, data, *byte_enables),
            AlgorithmStep::Fence => (),
            AlgorithmStep::Read { address, expected, byte_mask } => {
                let found = store.read_line(*address).data;
                reads += 1;
                wrong += usize::from((0..64).any(|n| byte_mask >> n & 1 == 1 && found[n] != expected[n]));
            }
        }
    }
    (reads, wrong)
}

fn right(store: &mut Store, address: u64, data: &LineBytes, byte_enables: u64) {
    store.write_line(address, data, byte_enables, false);
}

#[test]
fn the_stress_algorithms_pass_on_a_memory_and_fail_on_a_broken_one() {
    let masked = WriteStreams { byte_mask: 0x00ff_0f0f_3333_5555, ..WriteStreams::default() };
    let rounds = ProducerConsumer::default();
    let all = [alg1a(&masked), alg1b(&masked), alg2(&rounds)].map(Result::unwrap);
    for (steps, reads) in all.iter().zip([2 * 2 * 16, 2 * 2 * 16, 4 * 18]) {
        assert_eq!(run(steps, right), (reads, 0));
        let writes = steps.iter().filter(|step| matches!(step, AlgorithmStep::Write { .. })).count();
        let mut left = writes;
        let loses_the_last = |store: &mut Store, address: u64, data: &LineBytes, byte_enables: u64| {
            left -= 1;
            if left > 0 {
                right(store, address, data, byte_enables);
            }
        };
        assert_ne!(run(steps, loses_the_last).1, 0);
    }
}

#[test]
fn alg1a_is_the_sequence_of_the_book() {
    let streams =
        WriteStreams { start_address: 0x40, increment_bytes: 128, increments: 1, loops: 2, ..Default::default() };
    let mut shown: Vec<String> = Vec::new();
    for step in alg1a(&streams).unwrap() {
        shown.push(match step {
            AlgorithmStep::Write { address, data, .. } => format!("write {address:x} {}", data[0]),
            AlgorithmStep::Fence => "fence".to_owned(),
            AlgorithmStep::Read { address, expected, .. } => format!("read {address:x} {}", expected[60]),
        });
    }
    let expected = "write 40 1; write c0 2; write 1040 1; write 10c0 2; fence; \
                    read 40 1; read c0 2; read 1040 1; read 10c0 2; \
                    write 40 3; write c0 4; write 1040 3; write 10c0 4; fence; \
                    read 40 3; read c0 4; read 1040 3; read 10c0 4";
    assert_eq!(shown.join("; "), expected);
}

#[test]
fn alg1b_writes_the_bogus_pattern_first() {
    let steps = alg1b(&WriteStreams::default()).unwrap();
    let first_bytes = |step: &AlgorithmStep| match step {
        AlgorithmStep::Write { data, .. } => data[0],
        other => panic!("{other:?}"),
    };
    assert_eq!(steps[..6].iter().map(first_bytes).collect::<Vec<_>>(), [0xb0, 0xb0, 1, 0xb0, 0xb0, 2]);
    // A memory that keeps the first write of a line and loses the good one shows the bogus pattern.
    let mut written = std::collections::BTreeSet::new();
    let stuck = |store: &mut Store, address: u64, data: &LineBytes, byte_enables: u64| {
        if written.insert(address) {
            right(store, address, data, byte_enables);
        }
    };
    assert_eq!(run(&steps, stuck), (64, 64));
}

#[test]
fn parameters_without_a_meaning_are_refused() {
    let good = WriteStreams::default();
    let mut errors: Vec<String> = Vec::new();
    let streams = [
        WriteStreams { sets: 1, ..good.clone() },
        WriteStreams { loops: 0, ..good.clone() },
        WriteStreams { byte_mask: 0, ..good.clone() },
        WriteStreams { start_address: 4, ..good.clone() },
        WriteStreams { increment_bytes: 32, ..good.clone() },
        WriteStreams { increment_bytes: 0, ..good.clone() },
        WriteStreams { increment_bytes: 1 << 63, ..good.clone() },
        WriteStreams { increments: 1 << 40, ..good.clone() },
        WriteStreams { set_offset_bytes: 100, ..good.clone() },
        WriteStreams { set_offset_bytes: 128, ..good.clone() },
        WriteStreams { set_offset_bytes: u64::MAX - 63, ..good.clone() },
        WriteStreams { loops: u64::MAX, ..good.clone() },
    ];
    errors.extend(streams.iter().map(|streams| alg1a(streams).unwrap_err().to_string()));
    let bogus = [
        WriteStreams { bogus_writes: 0, ..good.clone() },
        WriteStreams { bogus_pattern: 32, ..good.clone() },
        WriteStreams { bogus_pattern: 0, pattern: u32::MAX, ..good.clone() },
    ];
    errors.extend(bogus.iter().map(|streams| alg1b(streams).unwrap_err().to_string()));
    let rounds = ProducerConsumer::default();
    let producers = [
        ProducerConsumer { loops: 0, ..rounds.clone() },
        ProducerConsumer { flag_address: 1, ..rounds.clone() },
        ProducerConsumer { flag_address: 64, ..rounds.clone() },
        ProducerConsumer { loops: 1 << 16, ..rounds.clone() },
    ];
    errors.extend(producers.iter().map(|rounds| alg2(rounds).unwrap_err().to_string()));
    insta::assert_snapshot!(errors.join("\n"), @"
    stimulus: found sets = 0x1, expected at least 2
    stimulus: found loops = 0x0, expected at least 1
    stimulus: found byte_mask = 0x0, expected at least one byte
    stimulus: found start_address = 0x4, expected a multiple of 64
    stimulus: found increment_bytes = 0x20, expected a multiple of 64
    stimulus: found increment_bytes = 0x0, expected at least 64
    stimulus: found increments = 0xf, expected all addresses within 2^64 bytes
    stimulus: found steps = 0x10000000000, expected at most 2^20 steps in all
    stimulus: found set_offset_bytes = 0x64, expected a multiple of 64
    stimulus: found set_offset_bytes = 0x80, expected a distance at which no two sets share a line
    stimulus: found set_offset_bytes = 0xffffffffffffffc0, expected all addresses within 2^64 bytes
    stimulus: found steps = 0xffffffffffffffff, expected at most 2^20 steps in all
    stimulus: found bogus_writes = 0x0, expected at least 1
    stimulus: found bogus_pattern = 0x20, expected none of the good patterns
    stimulus: found bogus_pattern = 0x0, expected none of the good patterns
    stimulus: found loops = 0x0, expected at least 1
    stimulus: found flag_address = 0x1, expected a multiple of 64
    stimulus: found flag_address = 0x40, expected none of the data addresses
    stimulus: found steps = 0x240000, expected at most 2^20 steps in all
    ");
    assert!(alg1b(&WriteStreams { bogus_pattern: 33, ..good }).is_ok(), "the first value that is not a good pattern");
}

// ---- the sample ----

/// What one trace does to a cache, with data checked on the way.
#[derive(Debug, PartialEq, Eq)]
struct Traffic {
    lines: usize,
    line_accesses: u64,
    misses: u64,
    write_backs: u64,
    flushed: usize,
}

fn traffic(trace: &[StimulusAccess], ifetch: bool) -> Traffic {
    let mut cache = Cache::new(CacheConfig::default()).unwrap();
    let mut store = Store::new(Background::OwnAddress);
    // The same accesses on a memory without a cache: what every load has to give.
    let mut reference = Store::new(Background::OwnAddress);
    let mut seen = Traffic { lines: trace.len(), line_accesses: 0, misses: 0, write_backs: 0, flushed: 284 };
    let write_back =
        |store: &mut Store, line: &Victim| store.write_line(line.address, &line.data, line.dirty_bytes, false);
    for access in line_accesses(trace, ifetch) {
        seen.line_accesses += 1;
        let line = access.line_address;
        if cache.lookup(line).is_none() {
            seen.misses += 1;
            if let Some(victim) = cache.fill(line, &store.read_line(line).data).filter(Victim::is_dirty) {
                seen.write_backs += 1;
                write_back(&mut store, &victim);
            }
        }
        if access.write {
            let data = [seen.line_accesses as u8; 64];
            assert!(cache.write(line, &data, access.byte_enables()));
            reference.write_line(line, &data, access.byte_enables(), false);
        } else {
            assert_eq!(cache.read(line), Some(&reference.read_line(line).data));
        }
    }
    let left = cache.flush();
    seen.flushed = left.len();
    left.iter().for_each(|line| write_back(&mut store, line));
    for access in line_accesses(trace, ifetch) {
        assert_eq!(store.read_line(access.line_address), reference.read_line(access.line_address));
    }
    seen
}

#[test]
fn the_sample_trace_reaches_memory() {
    let trace = read_trace(&sample_path(), None).unwrap();
    let count = |op| trace.iter().filter(|access| access.op == op).count();
    let ops = [StimulusOp::Ifetch, StimulusOp::Load, StimulusOp::Store, StimulusOp::Modify].map(count);
    // README.md of the sample gives the same numbers.
    assert_eq!(ops, [211_507, 16_944, 16_539, 2_200]);
    let data = Traffic { lines: 247_190, line_accesses: 37_883, misses: 7_293, write_backs: 5_968, flushed: 284 };
    assert_eq!(traffic(&trace, false), data);
    let all = Traffic { line_accesses: 251_698, misses: 7_372, write_backs: 6_030, flushed: 282, ..data };
    assert_eq!(traffic(&trace, true), all);
}

// ---- cache ----

#[test]
fn cache_shapes_are_checked() {
    let shape = |capacity_bytes, ways| CacheConfig { capacity_bytes, ways };
    assert_eq!(CacheConfig::default().sets(), Ok(64));
    assert_eq!(shape(64, 1).sets(), Ok(1));
    assert_eq!(shape(3 * 64 * 16, 3).sets(), Ok(16), "any number of ways");
    let error = |capacity_bytes, ways| Cache::new(shape(capacity_bytes, ways)).err().unwrap().to_string();
    assert_eq!(error(32768, 0), "cache: found 0 ways, expected at least 1");
    assert_eq!(error(0, 8), "cache: found 0 bytes, expected a multiple of 512 (8 ways of 64 bytes), not 0");
    assert_eq!(error(32000, 8), "cache: found 32000 bytes, expected a multiple of 512 (8 ways of 64 bytes), not 0");
    assert_eq!(error(1536, 8), "cache: found 3 sets (1536 bytes in 8 ways), expected a power of two");
    assert_eq!(shape(1 << 31, 8).sets(), Err(CacheConfigError::TooLarge { capacity_bytes: 1 << 31 }));
    assert_eq!(error(1 << 31, 8), "cache: found 2147483648 bytes, expected at most 1073741824");
}

#[test]
fn the_least_recently_used_line_leaves_and_a_lookup_is_no_use() {
    let mut cache = Cache::new(CacheConfig { capacity_bytes: 128, ways: 2 }).unwrap();
    assert_eq!(cache.fill(0x00, &[1; 64]), None);
    assert_eq!(cache.fill(0x40, &[2; 64]), None);
    assert!(cache.read(0x00).is_some());
    assert!(cache.lookup(0x40).is_some(), "leaves the age as it is");
    assert!(!cache.write(0x80, &[9; 64], ALL_BYTES), "not held");
    assert_eq!(cache.fill(0x80, &[3; 64]), Some(Victim { address: 0x40, data: [2; 64], dirty_bytes: 0 }));
    assert!(cache.write(0x05, &[7; 64], 0b10), "any address of the line");
    assert_eq!(cache.fill(0x00, &[8; 64]), None, "already held");
    let mut mixed = [8; 64];
    mixed[1] = 7;
    assert_eq!(cache.lookup(0x3f), Some(&mixed), "a fill keeps dirty bytes");
    assert_eq!(cache.remove(0x80), Some(Victim { address: 0x80, data: [3; 64], dirty_bytes: 0 }));
    assert_eq!(cache.remove(0x80), None);
    assert_eq!(cache.flush(), [Victim { address: 0, data: mixed, dirty_bytes: 0b10 }]);
    assert_eq!(cache.lookup(0), None, "a flush empties the cache");
}

#[derive(Debug, Clone)]
enum CacheStep {
    Read(u64),
    Write(u64, u8, u64),
    Fill(u64, u8),
    Remove(u64),
    Flush,
}

/// The same cache written the slow way: a list of lines for each set, the most recently used one last.
struct NaiveCache {
    sets: u64,
    ways: usize,
    lines: BTreeMap<u64, Vec<Victim>>,
}

impl NaiveCache {
    fn take(&mut self, address: u64) -> (&mut Vec<Victim>, Option<Victim>) {
        let set = self.lines.entry(address / 64 % self.sets).or_default();
        let held = set.iter().position(|line| line.address == address / 64 * 64).map(|n| set.remove(n));
        (set, held)
    }

    fn read(&mut self, address: u64) -> Option<LineBytes> {
        let (set, held) = self.take(address);
        let held = held?;
        set.push(held.clone());
        Some(held.data)
    }

    fn write(&mut self, address: u64, data: u8, byte_enables: u64) -> bool {
        let (set, Some(mut held)) = self.take(address) else { return false };
        (0..64).filter(|n| byte_enables & (1 << n) != 0).for_each(|n| held.data[n] = data);
        held.dirty_bytes |= byte_enables;
        set.push(held);
        true
    }

    fn fill(&mut self, address: u64, data: u8) -> Option<Victim> {
        let ways = self.ways;
        let (set, held) = self.take(address);
        let mut line = held.unwrap_or(Victim { address: address / 64 * 64, data: [0; 64], dirty_bytes: 0 });
        (0..64).filter(|n| line.dirty_bytes & (1 << n) == 0).for_each(|n| line.data[n] = data);
        set.push(line);
        (set.len() > ways).then(|| set.remove(0))
    }

    fn flush(&mut self) -> Vec<Victim> {
        let all = std::mem::take(&mut self.lines).into_values().flatten();
        let dirty: BTreeMap<u64, Victim> =
            all.filter(|line| line.dirty_bytes != 0).map(|line| (line.address, line)).collect();
        dirty.into_values().collect()
    }
}

/// Addresses within few lines, so that sets fill up.
fn small_address() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..64 * 40, (0u64..64 * 40).prop_map(|low| u64::MAX - low)]
}

fn cache_step() -> impl Strategy<Value = CacheStep> {
    prop_oneof![
        4 => small_address().prop_map(CacheStep::Read),
        4 => (small_address(), any::<u8>(), any::<u64>()).prop_map(|(a, d, m)| CacheStep::Write(a, d, m)),
        6 => (small_address(), any::<u8>()).prop_map(|(a, d)| CacheStep::Fill(a, d)),
        1 => small_address().prop_map(CacheStep::Remove),
        1 => Just(CacheStep::Flush),
    ]
}

fn fixed_seed() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(fixed_seed())]

    #[test]
    fn the_cache_equals_the_naive_one(
        sets_log2 in 0u32..4,
        ways in 1u32..5,
        steps in prop::collection::vec(cache_step(), 1..300),
    ) {
        let sets = 1u64 << sets_log2;
        let mut cache = Cache::new(CacheConfig { capacity_bytes: sets * u64::from(ways) * 64, ways }).unwrap();
        let mut naive = NaiveCache { sets, ways: ways as usize, lines: BTreeMap::new() };
        for step in steps {
            match step {
                CacheStep::Read(a) => prop_assert_eq!(cache.read(a).copied(), naive.read(a)),
                CacheStep::Write(a, d, m) => prop_assert_eq!(cache.write(a, &[d; 64], m), naive.write(a, d, m)),
                CacheStep::Fill(a, d) => prop_assert_eq!(cache.fill(a, &[d; 64]), naive.fill(a, d)),
                CacheStep::Remove(a) => prop_assert_eq!(cache.remove(a), naive.take(a).1),
                CacheStep::Flush => prop_assert_eq!(cache.flush(), naive.flush()),
            }
        }
        prop_assert_eq!(cache.flush(), naive.flush());
    }

    /// Against one map entry a byte.
    #[test]
    fn the_store_equals_a_map_of_bytes(
        writes in prop::collection::vec((small_address(), any::<u8>(), any::<u64>()), 1..60),
    ) {
        let mut store = Store::new(Background::OwnAddress);
        let mut bytes: BTreeMap<u64, u8> = BTreeMap::new();
        for &(address, data, byte_enables) in &writes {
            store.write_line(address, &[data; 64], byte_enables, false);
            for n in (0..64).filter(|n| byte_enables & (1 << n) != 0) {
                bytes.insert(address / 64 * 64 + n, data);
            }
        }
        for &(address, ..) in &writes {
            let line = store.read_line(address);
            for (byte_address, found) in (address / 64 * 64..=address | 63).zip(line.data) {
                let background = (byte_address & !7).to_le_bytes()[(byte_address % 8) as usize];
                prop_assert_eq!(found, *bytes.get(&byte_address).unwrap_or(&background));
            }
        }
    }

    /// Text that is almost a trace: an error or accesses, never a panic.
    #[test]
    fn no_text_breaks_the_readers(text in "([ILSM=#0-9a-fx,rw \n\t]|\\PC){0,80}", csv in any::<bool>()) {
        let format = if csv { StimulusFormat::Csv } else { StimulusFormat::Lackey };
        for format in [None, Some(format)] {
            if let Err(error) = parse_trace("t", text.as_bytes(), format) {
                prop_assert!(error.to_string().starts_with("t:"));
            }
        }
    }

    /// The parts of an access are its bytes, in order, each in one line.
    #[test]
    fn line_accesses_cover_the_access(address in any::<u64>(), size_bytes in 1..=MAX_ACCESS_BYTES) {
        prop_assume!(address.checked_add(u64::from(size_bytes) - 1).is_some());
        let mut next = Some(address);
        for part in line_accesses(&[access(StimulusOp::Load, address, size_bytes)], false) {
            prop_assert_eq!(part.line_address % 64, 0);
            prop_assert!(part.len >= 1 && part.offset + part.len <= 64);
            prop_assert_eq!(part.byte_enables().count_ones(), u32::from(part.len));
            prop_assert_eq!(part.byte_enables().trailing_zeros(), u32::from(part.offset));
            prop_assert_eq!(Some(part.line_address + u64::from(part.offset)), next);
            next = next.and_then(|at| at.checked_add(u64::from(part.len)));
        }
        prop_assert_eq!(next, address.checked_add(u64::from(size_bytes)));
    }
}

// ---- store ----

#[test]
fn unwritten_bytes_read_as_the_background() {
    let zero = Store::new(Background::default()).read_line(0x1234);
    assert_eq!(zero, StoredLine { data: [0; 64], poison: false });
    let own = Store::new(Background::OwnAddress).read_line(0xffff_ffff_ffff_ffff).data;
    assert_eq!(own[..8], 0xffff_ffff_ffff_ffc0_u64.to_le_bytes());
    assert_eq!(own[56..], 0xffff_ffff_ffff_fff8_u64.to_le_bytes());
}

#[test]
fn poison_stays_until_all_bytes_are_written() {
    let mut store = Store::new(Background::Zero);
    store.write_line(0x40, &[1; 64], 0b1, true);
    store.set_poison(0x1_0000, true);
    assert_eq!(store.poisoned_lines().collect::<Vec<_>>(), [0x40, 0x1_0000]);
    store.write_line(0x40, &[2; 64], ALL_BYTES - 1, false);
    let line = store.read_line(0x40);
    assert!(line.poison, "a partial write keeps it");
    assert_eq!(line.data[..2], [1, 2], "and merges its bytes");
    assert!(!store.read_line(0x00).poison && !store.read_line(0x80).poison, "one line only");
    store.write_line(0x40, &[3; 64], ALL_BYTES, false);
    assert_eq!(store.read_line(0x40), StoredLine { data: [3; 64], poison: false });
    store.write_line(0x40, &[3; 64], ALL_BYTES, true);
    assert!(store.read_line(0x40).poison, "a poisoned write marks");
    store.set_poison(0x40, false);
    store.set_poison(0x1_0000, false);
    assert_eq!(store.poisoned_lines().count(), 0);
}
