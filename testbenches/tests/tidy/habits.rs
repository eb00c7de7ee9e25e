//! What a file of the repository may hold.

use crate::tidy::tokens::tokens;
use crate::tidy::{assert_none, tree};

/// Everything that may stand at the top.
const TOP: &[&str] = &[
    ".ci",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "docs",
    "golden",
    "protocols",
    "rustfmt.toml",
    "src",
    "testbenches",
    "waves",
];

/// Largest file under version control, in bytes; larger output goes to `target/`.
const MAX_FILE_BYTES: usize = 1_500_000;

/// Places that may be unsafe: the C ABI with the tests that call it, and one fast path behind a run-time check.
const UNSAFE: &[&str] = &["src/capi/", "testbenches/tests/ffi/", "protocols/check/simd.rs"];

/// Hosts that a link may name: where licences and the crates of the lock file have their home, the namespace of SVG, and the
/// dialect of JSON Schema.
const HOSTS: &[&str] = &["www.apache.org", "github.com", "www.w3.org", "json-schema.org"];

/// Crates that do real work here, as code spells them.
const CRATES: &[&str] = &["bitvec", "modular_bitfield", "crc", "nom", "serde", "clap", "insta", "proptest", "vcd"];

/// Text in which every `^` is struck out, so that this file does not hold what it looks for.
fn spelled(text: &str) -> String {
    text.replace('^', "")
}

/// Work that was left open, and calls that were forgotten.
fn unfinished(file: &str, source: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let texts: Vec<_> = tokens(source);
    for window in texts.windows(3) {
        let [a, b, c] = [window[0].text, window[1].text, window[2].text];
        if ["todo", "unimplemented", "dbg"].contains(&a) && b == "!" || [a, b, c] == ["#", "[", "ignore"] {
            findings.push(format!("{file}:{}: `{a}{b}{c}`", window[0].line));
        }
    }
    // In comments too; a fence that says so is a test that does not run.
    for word in ["FIX^ME", "XX^X", "TO^DO", "```ig^nore", "```rust,ig^nore"].map(spelled) {
        // Most files hold none of them.
        let lines = if source.contains(&word) { source } else { "" };
        for (at, line) in lines.lines().enumerate().filter(|(_, line)| has_word(line, &word)) {
            findings.push(format!("{file}:{}: `{word}` in `{}`", at + 1, line.trim()));
        }
    }
    findings
}

/// Whether a text holds a word that does not go on at either end.
fn has_word(text: &str, word: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(goes_on) && !text[at + word.len()..].starts_with(goes_on))
}

/// Places of one machine, and words that do not belong to the project.
fn foreign(file: &str, text: &str) -> Vec<String> {
    let paths = ["/ro^ot", "/wo^rk", "/ho^me", "/Us^ers"].map(spelled);
    let words = ["assis^tant", "this ses^sion", "work^tree"].map(spelled);
    let mut findings = Vec::new();
    // Most files hold none of them: lines are looked at where there is something to be found.
    let whole = text.to_lowercase();
    if !text.contains("://")
        && !paths.iter().any(|path| text.contains(path))
        && !words.iter().any(|w| whole.contains(w))
    {
        return findings;
    }
    for (at, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        let begins = |path: &str| {
            line.match_indices(path).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-})/*".contains(c))
                    && !line[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        let path = paths.iter().find(|p| begins(p));
        let word = words.iter().find(|w| has_word(&lower, w));
        let host = hosts(line).into_iter().find(|h| !HOSTS.contains(&h.as_str()));
        for found in path.into_iter().chain(word).chain(host.as_ref()) {
            findings.push(format!("{file}:{}: `{found}` in `{}`", at + 1, line.trim()));
        }
    }
    findings
}

/// Hosts of the links in a line.
fn hosts(line: &str) -> Vec<String> {
    line.match_indices("://")
        .filter(|(at, _)| line[..*at].ends_with(|c: char| c.is_ascii_alphabetic()))
        .map(|(at, sign)| &line[at + sign.len()..])
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-').next().unwrap_or("").to_owned())
        .collect()
}

/// `unsafe` where it has no business.
fn unsafe_code(file: &str, source: &str) -> Vec<String> {
    if !source.contains("unsafe") || UNSAFE.iter().any(|place| file.starts_with(place)) {
        return Vec::new();
    }
    let words = tokens(source).into_iter().filter(|t| t.text == "unsafe");
    words.map(|t| format!("{file}:{}: `unsafe`, expected in {} alone", t.line, UNSAFE.join(", "))).collect()
}

/// Ends of names that tools leave behind.
const LEFTOVERS: &[&str] = &[".snap.new", ".orig", ".rej", ".pyc", "~"];

/// Name, size and line ends.
fn form(file: &str, bytes: &[u8]) -> Vec<String> {
    let mut findings = Vec::new();
    if LEFTOVERS.iter().any(|end| file.ends_with(end)) {
        findings.push(format!("{file}: a tool left it behind"));
    }
    if bytes.len() > MAX_FILE_BYTES {
        findings.push(format!("{file}: found {} bytes, expected at most {MAX_FILE_BYTES}", bytes.len()));
    }
    let is_text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    if is_text && bytes.contains(&b'\r') {
        findings.push(format!("{file}: found a carriage return, expected lines that end in a line feed"));
    }
    if is_text && !bytes.is_empty() && !bytes.ends_with(b"\n") {
        findings.push(format!("{file}: found no line end at the end"));
    }
    findings
}

/// A file of a library that does not say what it is.
fn undocumented(file: &str, source: &str) -> Option<String> {
    // Files of unit tests are part of the module that they test.
    let is_test = file.contains("/tests/") || file.ends_with("_tests.rs") || file.ends_with("/tests.rs");
    let begins = source.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"));
    (file.ends_with(".rs") && !is_test && !begins).then(|| format!("{file}: found no `//!` in the first line"))
}

/// Entries at the top that nobody planned.
fn at_the_top<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<_> = paths.filter_map(|p| p.split('/').next()).filter(|name| !TOP.contains(name)).collect();
    names.dedup();
    names.into_iter().map(|name| format!("{name}: not one of the names that may stand at the top")).collect()
}

/// Crates that no manifest names or no code uses.
fn idle_crates(manifests: &str, sources: &[&str]) -> Vec<String> {
    let declared =
        |name: &str| manifests.lines().any(|line| line.starts_with(&format!("{} =", name.replace('_', "-"))));
    let used = |name: &str| {
        let mut named = sources.iter().filter(|source| source.contains(name));
        named.any(|s| tokens(s).windows(2).any(|w| w[0].text == name && w[1].text == "::"))
    };
    let mut findings = Vec::new();
    for name in CRATES {
        if !declared(name) {
            findings.push(format!("{name}: in no Cargo.toml"));
        } else if !used(name) {
            findings.push(format!("{name}: in Cargo.toml, and no code uses it"));
        }
    }
    findings
}

/// Tests in the sources of a crate whose manifest switches tests of their kind off, as most do: to look for none takes the
/// compiler seconds a crate.
fn unheard(manifest: &str, sources: &[(&str, &str)]) -> Vec<String> {
    let begins_example = |text: &str| {
        let fences =
            text.lines().map(str::trim_start).filter(|line| line.starts_with("//")).filter_map(|line| {
                line.trim_start_matches('/').trim_start_matches('!').trim_start().strip_prefix("```")
            });
        fences.step_by(2).any(|word| word.is_empty() || word.starts_with("rust") || word.starts_with("should_panic"))
    };
    let has_test =
        |text: &str| tokens(text).windows(3).any(|w| [w[0].text, w[1].text, w[2].text] == ["#", "[", "test"]);
    let off = |line: &str, has: &dyn Fn(&str) -> bool| -> Vec<String> {
        let with = sources.iter().filter(|(_, text)| manifest.contains(line) && has(text));
        with.map(|(file, _)| format!("{file}: has a test that does not run: its manifest says `{}`", line.trim()))
            .collect()
    };
    [off("\ntest = false", &has_test), off("doctest = false", &begins_example)].concat()
}

#[test]
fn every_test_is_run() {
    let files = tree::files();
    let mut findings = Vec::new();
    for manifest in files.iter().filter(|f| f.path.starts_with("src/") && f.path.ends_with("/Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let of_crate = files.iter().filter(|f| f.path.starts_with(folder) && f.path.ends_with(".rs"));
        let sources: Vec<_> = of_crate.filter_map(|f| Some((f.path.as_str(), f.text()?))).collect();
        findings.extend(unheard(manifest.text().unwrap_or_default(), &sources));
    }
    assert_none(&findings);
}

#[test]
fn tests_that_do_not_run_are_found() {
    let example = [("a.rs", "//! ```\n//! f();\n//! ```\n")];
    let figure = [("a.rs", "//! ```text\n//! f\n//! ```\n")];
    let unit = [("a.rs", "#[test]\nfn f() {}\n")];
    for (manifest, found) in
        [("[lib]\ndoctest = false\n", [1, 0, 0]), ("[lib]\ntest = false\n", [0, 0, 1]), ("", [0; 3])]
    {
        let each = [&example, &figure, &unit].map(|sources| unheard(manifest, sources).len());
        assert_eq!(each, found, "{manifest}");
    }
}

#[test]
fn the_tree_holds_what_it_may() {
    let mut findings = Vec::new();
    let files = tree::files();
    for file in &files {
        findings.extend(form(&file.path, &file.bytes));
        let Some(text) = file.text() else { continue };
        findings.extend(foreign(&file.path, text));
        if file.path.ends_with(".rs") {
            findings.extend(unfinished(&file.path, text));
            findings.extend(unsafe_code(&file.path, text));
            findings.extend(undocumented(&file.path, text));
        }
    }
    findings.extend(at_the_top(files.iter().map(|f| f.path.as_str())));
    assert_none(&findings);
}

#[test]
fn the_tree_uses_its_crates() {
    let files = tree::files();
    let texts =
        |end: &str| -> Vec<&str> { files.iter().filter(|f| f.path.ends_with(end)).filter_map(|f| f.text()).collect() };
    assert_none(&idle_crates(&texts("Cargo.toml").join("\n"), &texts(".rs")));
}

#[test]
fn unfinished_work_is_found() {
    for bad in [
        "fn f() { to^do!() }",
        "unimpl^emented!(\"x\")",
        "d^bg!(x);",
        "#[ig^nore] fn f() {}",
        "#[ig^nore = \"slow\"]",
        "// FIX^ME later",
        "/// ```ig^nore",
    ] {
        assert_eq!(unfinished("a.rs", &spelled(bad)).len(), 1, "{bad}");
    }
    assert_none(&unfinished("a.rs", "fn ignore() { let todo = \"dbg!(x)\"; }"));
}

#[test]
fn foreign_places_and_words_are_found() {
    for bad in [
        "include!(\"/ro^ot/x.rs\")",
        "see /wo^rk/shared",
        "PATH=/ho^me/someone/bin",
        "the assis^tant wrote",
        "in this ses^sion",
        "index = \"https:^//mirror.example/simple\"",
        "sparse+https:^//index.example.org/",
    ] {
        assert_eq!(foreign("a.md", &spelled(bad)).len(), 1, "{bad}");
    }
    assert_none(&foreign("a.md", "../work/x ./root a/home /workspace wordwork https://github.com/x/y"));
}

#[test]
fn unsafe_code_is_found() {
    assert_eq!(unsafe_code("src/link/mod.rs", "fn f() { unsafe { g() } }").len(), 1);
    assert_none(&unsafe_code("src/link/mod.rs", "#![deny(unsafe_code)] // unsafe"));
    assert_none(&unsafe_code("protocols/check/simd.rs", "unsafe fn f() {}"));
}

#[test]
fn bad_forms_are_found() {
    assert_eq!(form("a.snap.new", b"x\n").len(), 1);
    assert_eq!(form("a", b"x\r\n").len(), 1);
    assert_eq!(form("a", b"x").len(), 1);
    assert_eq!(form("a", &vec![0; MAX_FILE_BYTES + 1]).len(), 1);
    assert_none(&form("a", b"\0\r"));
    assert_none(&form("a", b"x\n"));
}

#[test]
fn missing_docs_are_found() {
    assert!(undocumented("src/a.rs", "pub fn f() {}\n").is_some());
    assert_eq!(undocumented("src/a.rs", "//! A.\n"), None);
    assert_eq!(undocumented("src/kernel/tests/a.rs", "use super::*;\n"), None);
}

#[test]
fn unplanned_entries_are_found() {
    assert_eq!(at_the_top(["src/a.rs", "scratch/b", "scratch/c", "notes.txt"].into_iter()).len(), 2);
}

#[test]
fn idle_crates_are_found() {
    let manifest: String = CRATES.iter().map(|c| format!("{} = \"1\"\n", c.replace('_', "-"))).collect();
    let code: String = CRATES.iter().map(|c| format!("use {c}::x;\n")).collect();
    assert_none(&idle_crates(&manifest, &[&code]));
    assert_eq!(idle_crates(&manifest, &[&code.replace("use crc::x", "// crc::x")]).len(), 1);
    assert_eq!(idle_crates(&manifest.replace("nom =", "gnome ="), &[&code]).len(), 1);
}
