//! Files that a document names: each has to exist, and a name behind `::` has to stand in it. And links of the guide: each leads to a file of
//! `docs/`, of which `mdbook build docs` makes a book, and to a heading that is there.

use crate::tidy::{assert_none, tree};
use std::path::{Component, Path, PathBuf};

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

/// Where the links and pictures of a text in Markdown lead, with their lines; nothing of what stands in a fence or in a code span.
fn links(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut is_fenced) = (Vec::new(), false);
    for (n, line) in text.lines().enumerate() {
        is_fenced ^= line.starts_with("```");
        let prose = line.split('`').step_by(2).filter(|_| !is_fenced && !line.starts_with("```"));
        // A link whose text is a code span is cut by it, so that its end stands at the beginning of a part.
        for target in prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()) {
            found.push((n + 1, target));
        }
    }
    found
}

/// The anchor of a heading, as mdBook and the hosts of repositories make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A path without `.` and `..`; none if it leaves the folder.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir if plain.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// What is wrong with the links of a page of a book; `read` gives the text of a file of the book, none if it is not there.
fn wrong_links(page: &str, text: &str, read: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for (line, target) in links(text).into_iter().filter(|(_, target)| !target.contains("://")) {
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let folder = Path::new(page).parent().unwrap_or(Path::new(""));
        let file = if path.is_empty() { Some(PathBuf::from(page)) } else { plain(&folder.join(path)) };
        let Some(there) = file.and_then(|file| read(&file)) else {
            findings.push(format!("{page}:{line}: found a link to `{path}`, expected a file of the book"));
            continue;
        };
        let has = there.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
        if !heading.is_empty() && !has {
            findings.push(format!("{page}:{line}: found a link to `#{heading}`, expected a heading of {path}"));
        }
    }
    findings
}

#[test]
fn a_link_out_of_the_book_or_to_nothing_is_found() {
    let text = "[a](b.md#two-words), ![p](../pictures/p.png), [`c`](c.md), [d](../../x.md)\n```text\n[e](e.md)\n```\n[f](b.md#three)\n";
    let read = |path: &Path| match path.to_str() {
        Some("guide/b.md") => Some("## Two words\n".to_owned()),
        Some("pictures/p.png") => Some(String::new()),
        _ => None,
    };
    assert_eq!(
        wrong_links("guide/a.md", text, read),
        [
            "guide/a.md:1: found a link to `c.md`, expected a file of the book",
            "guide/a.md:1: found a link to `../../x.md`, expected a file of the book",
            "guide/a.md:5: found a link to `#three`, expected a heading of b.md",
        ]
    );
}

/// The book is the folder `docs/` by itself, so that a link that leaves it leads nowhere there.
#[test]
fn links_of_the_book_lead_to_pages_of_it() {
    let root = tree::root().join("docs");
    let read =
        |path: &Path| std::fs::read(root.join(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (mut findings, mut pages) = (Vec::new(), 0);
    for folder in ["", "guide", "reference"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of the book") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                let page = Path::new(folder).join(name);
                let text = read(&page).expect("a page");
                findings.extend(wrong_links(&page.to_string_lossy(), &text, read));
                pages += 1;
            }
        }
    }
    assert!(pages > 30, "found {pages} pages of the book");
    findings.sort();
    assert_none(&findings);
}

/// The source of a rule is a sheet that a reader does not have: the book says what each section that a rule names is about.
#[test]
fn the_book_has_every_section_that_a_rule_names() {
    let page = std::fs::read_to_string(tree::root().join("docs/guide/sources.md")).expect("the page of sources");
    let mut missing = Vec::new();
    for rule in scalepool_protocols::rules::all() {
        let mut sheet = "";
        for word in rule.source.split([' ', ';', ',']).filter(|word| !word.is_empty()) {
            let Some(section) = word.strip_prefix('§') else {
                sheet = word;
                continue;
            };
            let of_sheet = page.split("\n## ").find_map(|part| part.strip_prefix(sheet)?.strip_prefix('\n'));
            if !of_sheet.is_some_and(|rows| rows.contains(&format!("\n| §{section} |"))) {
                missing.push(format!("{}: found {sheet} §{section}, expected a row of docs/guide/sources.md", rule.id));
            }
        }
    }
    assert_none(&missing);
}
