//! Same seed, same bytes: report, trace and wave of every flit mode, whatever the mode of the kernel.
//!
//! The SHA-256 of every output is committed in `determinism.sha256`, so another machine, another build profile or another
//! folder that gives other bytes is seen. `SCALEPOOL_BLESS=1` rewrites the file.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, Modes, Scenario, ScenarioRequest};
use scalepool_protocols::check::{self, Simd};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Tests that switch the carry-less CRC off and on must not run beside each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A line of `determinism.cases`: a name, and scenario or description and arguments of `scalepool run`, which `setup/profiles.sh` gives to
/// the program in each build profile; `link.mode` picks the other expanders.
#[derive(Default)]
struct Case {
    name: String,
    scenario: String,
    stimulus: Option<PathBuf>,
    cycles: Option<u64>,
    set: Vec<String>,
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let mut words = line.split(' ');
        let mut word = || words.next().expect("a name and a scenario").to_owned();
        let mut case = Case { name: word(), scenario: word(), ..Case::default() };
        if case.scenario.ends_with(".toml") {
            case.scenario = root().join(&case.scenario).display().to_string();
        }
        while let (Some(option), Some(value)) = (words.next(), words.next()) {
            match option {
                "--stimulus" => case.stimulus = Some(root().join(value)),
                "--cycles" => case.cycles = Some(value.parse().expect("a number")),
                "--set" => case.set.push(value.to_owned()),
                _ => panic!("`{option}` is no option that this test knows"),
            }
        }
        case
    };
    include_str!("determinism.cases").lines().map(case).collect()
}

/// Names and bytes of everything that a run leaves.
type Outcome = Vec<(String, Vec<u8>)>;

fn outcome(case: &Case, threads: usize, modes: Modes, observed: bool, dir: &Path) -> Outcome {
    let file = |ending: &str| dir.join(format!("{}.{ending}", case.name));
    let outputs =
        Outputs { vcd: observed.then(|| file("vcd")), trace: observed.then(|| file("jsonl")), ..Outputs::default() };
    let request = ScenarioRequest {
        scenario: case.scenario.clone(),
        seed: 7,
        cycles: case.cycles,
        threads,
        stimulus: case.stimulus.clone(),
        set: case.set.clone(),
        outputs,
        modes,
        external: None,
        description: None,
    };
    let report = scenario::run(&request, &mut |_| ()).expect("the scenario runs");
    assert!(report.violations.is_empty(), "{}: {}", case.name, report.violations[0].violation);
    let mut outcome = vec![("report.json".to_owned(), serde_json::to_vec(&report.json()).expect("JSON"))];
    if observed {
        for ending in ["jsonl", "vcd", "gtkw"] {
            outcome.push((ending.to_owned(), std::fs::read(file(ending)).expect("the run wrote it")));
        }
    }
    outcome
}

fn hashes(case: &Case, outcome: &Outcome, into: &mut String) {
    for (what, bytes) in outcome {
        let hash = Sha256::digest(bytes).iter().fold(String::new(), |mut s, b| {
            let _ = write!(s, "{b:02x}");
            s
        });
        let _ = writeln!(into, "{hash}  {}.{what}", case.name);
    }
}

#[test]
fn every_flit_mode_has_a_case() {
    let texts: Vec<String> = cases().iter().flat_map(|case| case.set.clone()).collect();
    for mode in scenario::SCENARIOS.iter().filter_map(Scenario::mode).filter(|mode| *mode != "cxl-68b") {
        let short = mode.trim_start_matches("cxl-");
        assert!(texts.contains(&format!("link.mode={short}")), "{mode}");
    }
}

#[test]
fn every_mode_gives_the_same_bytes() {
    let _alone = ONE_AT_A_TIME.lock().expect("no test panics while it holds this");
    let mut list = String::new();
    for case in &cases() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let plain = outcome(case, 1, Modes::default(), true, dir.path());
        hashes(case, &plain, &mut list);
        let compare = |mode: &str, other: Outcome| {
            for ((what, a), (_, b)) in plain.iter().zip(&other) {
                // The tests are compiled plainly: a comparison of slices takes a tenth of one byte by byte.
                if a == b {
                    continue;
                }
                let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
                let near = |bytes: &[u8]| {
                    String::from_utf8_lossy(&bytes[at.saturating_sub(40)..(at + 40).min(bytes.len())]).into_owned()
                };
                panic!("{} {what}: {mode} differs at byte {at}: {} {}", case.name, near(a), near(b));
            }
        };
        // What differs, several at a time: a run of each choice alone would take twice as long, and finds no more.
        let elsewhere = tempfile::tempdir().expect("a second folder");
        let shuffled = |seed| Modes { shuffle: Some(seed), ..Modes::default() };
        let idle = Modes { evaluate_idle: true, ..shuffled(2) };
        for (mode, threads, modes, simd, folder) in [
            (
                "two threads in shuffled order in another folder, checksums by table",
                2,
                shuffled(1),
                Simd::Off,
                &elsewhere,
            ),
            ("idle modules evaluated in shuffled order, checksums without GFNI", 1, idle, Simd::Avx2, &dir),
        ] {
            check::use_simd(simd);
            let limited = outcome(case, threads, modes, true, folder.path());
            check::use_simd(Simd::All);
            compare(mode, limited);
        }
        compare("no observer", outcome(case, 1, Modes::default(), false, dir.path()));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/determinism.sha256");
    if std::env::var_os("SCALEPOOL_BLESS").is_some() {
        std::fs::write(&path, &list).expect("the list can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the list is committed");
    assert_eq!(committed, list, "outputs changed: look at why, then run again with SCALEPOOL_BLESS=1");
}
