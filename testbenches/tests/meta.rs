//! The suite itself: every rule of the table has its two tests, every test of a rule names one that exists, and no source
//! names a rule that is not in the table.

use scalepool_protocols::rules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All Rust sources below a folder, in a fixed order, without what the build makes.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target") {
                found.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of all functions behind a `#[test]` line, and of those in the rows of a `rule_tests!` table.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in sources(&package().join("tests")) {
        let text = read(&path);
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line != "#[test]" {
                let row = line.split(' ').take_while(|word| rule_of_test(word).is_some());
                names.extend(row.map(str::to_owned));
                continue;
            }
            let rest = lines.by_ref().find_map(|l| l.strip_prefix("fn "));
            if let Some((name, _)) = rest.and_then(|r| r.split_once('(')) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// The rule and the letter of a test name `<family>_<area>_<number>_<p or n><digits>`, e.g. `CXL68-CRC-01` and `n`.
fn rule_of_test(name: &str) -> Option<(String, char)> {
    let parts: Vec<&str> = name.split('_').collect();
    let &[family, area, number, side] = parts.as_slice() else { return None };
    let letter = side.chars().next().filter(|c| ['p', 'n'].contains(c))?;
    let is_number = |s: &str| s.chars().all(|c| c.is_ascii_digit());
    let shape = area.len() == 3 && number.len() == 2 && is_number(number) && is_number(&side[1..]);
    shape.then(|| (format!("{family}-{area}-{number}").to_uppercase(), letter))
}

/// Every `FAMILY-AAA-NN` of a text whose family is one of the table's.
fn ids(text: &str) -> BTreeSet<String> {
    let families: BTreeSet<&str> = rules::all().filter_map(|r| r.id.split('-').next()).collect();
    let mut found = BTreeSet::new();
    for family in families {
        for (at, _) in text.match_indices(&format!("{family}-")) {
            let inside_a_word = text[..at].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
            let Some(rest) = text.as_bytes().get(at + family.len() + 1..at + family.len() + 7) else { continue };
            let area = rest[..3].iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            if !inside_a_word && area && rest[3] == b'-' && rest[4..].iter().all(u8::is_ascii_digit) {
                found.insert(format!("{family}-{}", String::from_utf8_lossy(rest)));
            }
        }
    }
    found
}

#[test]
fn the_table_has_every_id_once_and_in_shape() {
    let mut seen = BTreeSet::new();
    for rule in rules::all() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
        assert_eq!(ids(rule.id), BTreeSet::from([rule.id.to_owned()]), "{} is no FAMILY-AAA-NN", rule.id);
        assert!(!rule.source.is_empty() && !rule.text.is_empty(), "{}", rule.id);
        assert_eq!(rules::find(rule.id).map(|r| r.text), Some(rule.text));
    }
}

#[test]
fn every_rule_has_a_test_that_obeys_and_one_that_breaks() {
    let mut sides: BTreeMap<String, BTreeSet<char>> = BTreeMap::new();
    for (rule, side) in tests().iter().filter_map(|name| rule_of_test(name)) {
        sides.entry(rule).or_default().insert(side);
    }
    let missing: Vec<String> = rules::all()
        .flat_map(|rule| ['p', 'n'].map(|side| (rule.id, side)))
        .filter(|(id, side)| !sides.get(*id).is_some_and(|s| s.contains(side)))
        .map(|(id, side)| format!("{}_{side}", id.to_lowercase().replace('-', "_")))
        .collect();
    assert!(missing.is_empty(), "{} tests are missing:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn every_test_of_a_rule_names_one_of_the_table() {
    let families: BTreeSet<String> =
        rules::all().filter_map(|r| r.id.split('-').next()).map(str::to_lowercase).collect();
    let unknown: Vec<String> = tests()
        .into_iter()
        .filter(|name| match rule_of_test(name) {
            Some((rule, _)) => rules::find(&rule).is_none(),
            // A name that begins like a rule's and has another shape is a slip.
            None => families.iter().any(|f| name.starts_with(&format!("{f}_"))),
        })
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_rule_that_a_source_names_is_in_the_table() {
    let root = package().join("..");
    let mut unknown = Vec::new();
    for folder in ["protocols", "src", "testbenches"] {
        for path in sources(&root.join(folder)) {
            let missing = ids(&read(&path)).into_iter().filter(|id| rules::find(id).is_none());
            unknown.extend(missing.map(|id| format!("{id} in {folder}: {}", path.display())));
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn names_and_ids_are_taken_apart() {
    assert_eq!(rule_of_test("cxl68_crc_01_n"), Some(("CXL68-CRC-01".into(), 'n')));
    assert_eq!(rule_of_test("cxl68_crc_01_p12"), Some(("CXL68-CRC-01".into(), 'p')));
    for other in ["cxl68_crc_01", "cxl68_crc_1_p", "cxl68_crc_01_x", "cxl68_crc_01_p_more", "eight_reads"] {
        assert_eq!(rule_of_test(other), None, "{other}");
    }
    let ids_of = |text: &str| ids(text).into_iter().collect::<Vec<_>>();
    assert_eq!(
        ids_of(concat!("see CXL68", "-PCK-10, CXL68", "-ZZZ-99.")),
        ["CXL68-PCK-10".to_owned(), concat!("CXL68", "-ZZZ-99").into()]
    );
    assert!(ids_of("CXL68-crc-01 CXL68-CRC-1 XCXL68-CRC-01").is_empty());
}
