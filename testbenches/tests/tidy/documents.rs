//! Files that a document names: each has to exist, and a name behind `::` has to stand in it.

use crate::tidy::{assert_none, tree};

/// First parts of the paths of this repository.
const TOPS: &[&str] = &["protocols/", "src/", "testbenches/", "golden/", "waves/", "docs/"];

/// Code spans of a text in Markdown, with their lines.
fn spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(n, line)| line.split('`').skip(1).step_by(2).map(move |span| (n + 1, span)))
}

/// Whether a word stands in a text by itself.
fn names(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == word)
}

/// What a document says of files that is not so; `read` gives the content of a file, a folder has none.
fn wrong(document: &str, exists: impl Fn(&str) -> bool, read: impl Fn(&str) -> String) -> Vec<String> {
    let mut findings = Vec::new();
    for (line, span) in spans(document).filter(|(_, span)| TOPS.iter().any(|top| span.starts_with(top))) {
        let (path, name) = span.split_once("::").map_or((span, None), |(path, name)| (path, Some(name)));
        if !exists(path) {
            findings.push(format!("line {line}: found `{path}`, expected a file or folder that exists"));
        } else if let Some(name) = name
            && !names(&read(path), name)
        {
            findings.push(format!("line {line}: found `{name}`, expected a name that stands in {path}"));
        }
    }
    findings
}

#[test]
fn a_file_or_name_that_is_not_there_is_found() {
    let document = "`src/lib.rs` and\n`src/gone.rs`, `src/lib.rs::send`, `src/lib.rs::lost`, `cargo test`";
    let findings = wrong(document, |path| path == "src/lib.rs", |_| "fn send() {} fn lost_one() {}".to_owned());
    assert_eq!(
        findings,
        [
            "line 2: found `src/gone.rs`, expected a file or folder that exists",
            "line 2: found `lost`, expected a name that stands in src/lib.rs",
        ]
    );
}

#[test]
fn the_tree_has_what_its_documents_name() {
    let root = tree::root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let document = read("docs/ARCHITECTURE.md");
    assert!(spans(&document).count() > 50, "docs/ARCHITECTURE.md names its files");
    assert_none(&wrong(&document, |path| root.join(path).exists(), read));
}

/// Each crate of the workspace has its row.
#[test]
fn the_tree_of_crates_is_that_of_the_architecture() {
    let root = tree::root();
    let document = std::fs::read_to_string(root.join("docs/ARCHITECTURE.md")).expect("it is there");
    let folders = std::fs::read_dir(root.join("src")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let missing = folders
        .filter(|folder| folder.join("Cargo.toml").exists())
        .map(|folder| format!("src/{}/", folder.file_name().and_then(|n| n.to_str()).unwrap_or_default()))
        .filter(|folder| !document.contains(&format!("| `{folder}` |")))
        .map(|folder| format!("{folder}: expected a row in docs/ARCHITECTURE.md"))
        .collect::<Vec<_>>();
    assert_none(&missing);
}
