//! Small places for big programs, files that ask for too much, options that must mean something.

use scalepool::scenario::{self, Request};

fn set(list: &[(&str, &str)]) -> Vec<String> {
    list.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// A run that ends with nothing open and nothing broken.
fn ends(scenario: &str, seed: u64, set: &[String]) {
    let request = Request { scenario: scenario.into(), seed, threads: 1, set: set.to_vec(), ..Request::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|e| panic!("{scenario} {seed} {set:?}: {e}"));
    let broken: Vec<_> = report.violations.iter().map(|b| b.violation.to_string()).collect();
    assert!(broken.is_empty(), "{scenario} {seed} {set:?}: {broken:?}");
}

const PATTERNS: [&str; 6] = ["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// A clean copy of the host of HDM-D goes without a message, so none tells the core that its place is free.
#[test]
fn a_place_that_comes_free_without_a_message_is_used() {
    for pattern in PATTERNS {
        ends("bias-flip", 1, &set(&[("core.pattern", pattern), ("core.cache_lines", "1"), ("core.accesses", "300")]));
    }
    let walk = [("core.pattern", "walk"), ("core.lines", "100"), ("core.outstanding", "1"), ("core.accesses", "300")];
    ends("bias-flip", 1, &set(&walk));
}

/// The line of a younger access keeps its place while the access is open; behind it, it is a victim.
#[test]
fn a_place_that_an_access_leaves_is_used() {
    let window = [("core.cache_lines", "1"), ("core.outstanding", "64"), ("core.accesses", "200")];
    ends("cxl-cache-pair", 1, &set(&window));
    let two = [("core.lines", "2"), ("device.filter_ways", "16"), ("core.accesses", "50")];
    ends("snoop-filter-thrash", 1, &set(&[&window[..2], &two].concat()));
}

/// The corners of all four scenarios: one line and one place, tiny filters, windows from 1 to 64.
#[test]
fn no_corner_of_the_settings_stalls() {
    let wide = std::env::var_os("SCALEPOOL_SOAK").is_some();
    let (seeds, accesses) = if wide { (1..=8, "200") } else { (1..=1, "12") };
    let (lines, places, windows): (&[&str], &[&str], &[&str]) = match wide {
        true => (&["1", "2", "100"], &["1", "2"], &["1", "2", "64"]),
        false => (&["1", "2", "100"], &["1"], &["1", "64"]),
    };
    for seed in seeds {
        let few = (seed % 2 + 1).to_string();
        for &line in lines {
            for &place in places {
                for &window in windows {
                    for pattern in PATTERNS {
                        let common = set(&[
                            ("core.pattern", pattern),
                            ("core.lines", line),
                            ("core.cache_lines", place),
                            ("core.outstanding", window),
                            ("core.accesses", accesses),
                        ]);
                        let run =
                            |name, own: &[(&str, &str)]| ends(name, seed, &[common.clone(), set(own)].concat());
                        let modes: &[&str] = if wide { &["cxl-68b", "cxl-256b"] } else { &["cxl-68b"] };
                        for mode in modes {
                            run("bias-flip", &[("link.mode", mode)]);
                            run("cxl-cache-pair", &[("link.mode", mode), ("home.filter_lines", &few)]);
                        }
                        let filter = [("device.filter_sets", "1"), ("device.filter_ways", few.as_str())];
                        run("hdm-db-share", &[&filter[..1], &[("device.trackers", "1")]].concat());
                        run("snoop-filter-thrash", &[&filter[..], &[("hosts", "2")]].concat());
                    }
                }
            }
        }
    }
}
