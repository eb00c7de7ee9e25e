//! Who may `use` whom: between crates the manifests say it; here stand the layers inside `scalepool-protocols`, lowest
//! first (a layer uses only those before it), and the names that belong to some places alone.

use crate::tidy::tokens::{Token, tokens};
use crate::tidy::{assert_none, tree};

/// A folder of a package.
struct Layer {
    name: &'static str,
    /// Lower layers that it leaves alone all the same, and why.
    never: &'static [&'static str],
}

const fn layer(name: &'static str) -> Layer {
    Layer { name, never: &[] }
}

/// Package `scalepool-protocols`. The protocols know nothing of each other, only the registry knows all.
const PROTOCOLS: &[Layer] = &[
    layer("check"),
    Layer { name: "wire", never: &["check"] },
    layer("rules"),
    layer("cxl"),
    Layer { name: "ualink", never: &["cxl"] },
    Layer { name: "nvlink", never: &["cxl", "ualink"] },
    Layer { name: "bridge", never: &["check", "cxl", "ualink", "nvlink"] },
    Layer { name: "registers", never: &["ualink", "nvlink"] },
    Layer { name: "interfaces", never: &["check", "wire", "rules", "cxl", "ualink", "nvlink", "registers"] },
    layer("registry"),
];

/// Macros stand at the top of a package, wherever they are written: (name, layer).
const MACROS: &[(&str, &str)] = &[("layout", "wire"), ("frame", "wire"), ("wire_enum", "wire")];

/// The layer of a file and the modules it lies in, `["link", "cxl68", "retry"]`; `None` for `lib.rs` of a package, which
/// only names its modules.
fn modules_of<'a>(path: &'a str, folder: &str) -> Option<Vec<&'a str>> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut modules: Vec<_> = inner.split('/').collect();
    if modules.last() == Some(&"mod") {
        modules.pop();
    }
    (modules != ["lib"]).then_some(modules)
}

/// Every layer that a file names, with its line.
fn uses<'a>(source: &'a str, modules: &[&str]) -> Vec<(usize, &'a str)> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |t: &Token<'a>| t.text);
    let mut found = Vec::new();
    // Open braces: whether each belongs to a module inside the file.
    let mut braces = Vec::new();
    for at in 0..tokens.len() {
        match text(at) {
            "{" => braces.push(at >= 2 && text(at - 2) == "mod"),
            "}" => drop(braces.pop()),
            _ if at > 0 && text(at - 1) == "::" => {}
            "scalepool_protocols" => found.push((tokens[at].line, "protocols")),
            "crate" | "scalepool" | "super" | "self" if text(at + 1) == "::" => {
                let depth = modules.len() + braces.iter().filter(|b| **b).count();
                path(&tokens, at, depth, &mut found);
            }
            "crate" if text(at + 1) == "as" => found.push((tokens[at].line, "*")),
            _ => {}
        }
    }
    found
}

/// Follows the path or tree of paths at `at`, seen from a module `depth` levels under the top: notes what it names at the
/// top, answers where it ends.
fn path<'a>(tokens: &[Token<'a>], mut at: usize, mut depth: usize, found: &mut Vec<(usize, &'a str)>) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            "crate" | "scalepool" => depth = 0,
            "super" => depth = depth.saturating_sub(1),
            "self" => {}
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|t| t.text != "}") {
                    at = path(tokens, at, depth, found).max(at);
                    // `as name` and commas.
                    while tokens.get(at).is_some_and(|t| !["}", ",", "{"].contains(&t.text)) {
                        at += 1;
                    }
                    if tokens.get(at).is_some_and(|t| t.text != "}") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            // What is under the module where the path stands now is its own business unless that is the top.
            name if depth == 0 => {
                found.push((token.line, MACROS.iter().find(|(m, _)| *m == name).map_or(name, |(_, layer)| layer)));
                depth = usize::MAX;
            }
            _ => depth = usize::MAX,
        }
        if tokens.get(at + 1).is_none_or(|t| t.text != "::") {
            return at + 1;
        }
        at += 2;
    }
    at
}

/// What a file uses against the order.
fn against(order: &[Layer], modules: &[&str], file: &str, source: &str) -> Vec<String> {
    let own = modules[0];
    let Some(rank) = order.iter().position(|l| l.name == own) else {
        return vec![format!("{file}: found layer `{own}`, expected one of the list in tidy/layers.rs")];
    };
    let lower = &order[..rank];
    let allowed =
        |used: &str| used == own || lower.iter().any(|l| l.name == used) && !order[rank].never.contains(&used);
    uses(source, modules)
        .into_iter()
        .filter(|(_, used)| !allowed(used))
        .map(|(line, used)| format!("{file}:{line}: `{own}` uses `{used}`"))
        .collect()
}

/// Those that measure, and those whose tests wait no longer than a limit.
const TIMED: &[&str] = &[
    "src/cli/",
    "testbenches/benches/",
    "testbenches/tests/descriptions.rs",
    "testbenches/tests/ends.rs",
    "testbenches/tests/limits.rs",
];

/// Names that belong to some places alone: (crate, type, or module of `std`; places that may use it; why).
const RESERVED: &[(&str, &[&str], &str)] = &[
    ("anyhow", &["src/cli/", "src/main.rs"], "libraries have typed errors"),
    ("clap", &["src/cli/"], "arguments are a matter of the command line"),
    ("indicatif", &["src/cli/"], "progress is a matter of the command line"),
    ("Instant", TIMED, "results do not depend on the time of day"),
    ("SystemTime", &[], "results do not depend on the time of day"),
    ("std::env", &["src/cli/", "src/main.rs", "testbenches/"], "results do not depend on the environment"),
    ("std::fs", &["src/", "testbenches/"], "codecs do no I/O"),
    ("std::io", &["src/", "testbenches/"], "codecs do no I/O"),
    ("std::net", &[], "nothing here needs a network"),
    (
        "std::thread",
        &["src/kernel/", "src/trace/hub.rs", "src/cli/", "src/proof/explore/", "testbenches/"],
        "threads are a matter of the scheduler and of the search",
    ),
];

/// What a file uses that belongs to others.
fn out_of_place(file: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let is_reserved = |text: &str| RESERVED.iter().any(|(name, ..)| *name == text);
    let words = tokens.iter().filter(|t| is_reserved(t.text));
    let mut named: Vec<(usize, String)> = words.map(|t| (t.line, t.text.to_owned())).collect();
    for at in 0..tokens.len().saturating_sub(2) {
        if tokens[at].text == "std" && tokens[at + 1].text == "::" {
            let mut found = Vec::new();
            path(&tokens, at + 2, 0, &mut found);
            named.extend(found.into_iter().map(|(line, module)| (line, format!("std::{module}"))));
        }
    }
    let mut findings = Vec::new();
    for (name, places, why) in RESERVED {
        if !places.iter().any(|p| file.starts_with(p)) {
            let here = named.iter().filter(|(_, n)| n == name);
            findings.extend(here.map(|(line, name)| format!("{file}:{line}: `{name}`, but {why}")));
        }
    }
    findings
}

fn source_of(file: &tree::File) -> &str {
    file.text().unwrap_or_else(|| panic!("{}: not UTF-8", file.path))
}

#[test]
fn the_tree_keeps_the_order() {
    let mut findings = Vec::new();
    for file in tree::files() {
        if let Some(modules) = modules_of(&file.path, "protocols") {
            findings.extend(against(PROTOCOLS, &modules, &file.path, source_of(&file)));
        }
        if file.path.ends_with(".rs") {
            findings.extend(out_of_place(&file.path, source_of(&file)));
        }
    }
    assert_none(&findings);
}

#[test]
fn the_lists_name_layers_that_come_before() {
    for (rank, layer) in PROTOCOLS.iter().enumerate() {
        for never in layer.never {
            assert!(PROTOCOLS[..rank].iter().any(|l| l.name == *never), "{} never uses {never}", layer.name);
        }
    }
}

#[test]
fn every_spelling_of_a_use_is_seen() {
    let modules = ["link", "cxl68", "retry"];
    for (source, expected) in [
        ("use crate::cli;", vec!["cli"]),
        ("use crate::cli::table::Table;", vec!["cli"]),
        ("use crate::{forms::{self, x}, cli as c, trace};", vec!["forms", "cli", "trace"]),
        ("use {crate::cli, std::io};", vec!["cli"]),
        ("fn f() { crate::cli::main() }", vec!["cli"]),
        ("use super::super::super::cli;", vec!["cli"]),
        ("use super::super::{super::cli, x};", vec!["cli"]),
        ("use super::super::cli;", vec![]),
        ("mod tests { use super::super::super::cli; }", vec![]),
        ("mod tests { use super::super::super::super::cli; } use super::super::super::x;", vec!["cli", "x"]),
        ("use self::super::super::super::cli;", vec!["cli"]),
        ("use crate::*;", vec!["*"]),
        ("use crate as all;", vec!["*"]),
        ("use scalepool_protocols::wire::Wire;", vec!["protocols"]),
        ("pub(crate) fn f() {} pub(super) fn g() {}", vec![]),
        ("use a::crate_like::cli; // crate::cli\n/* crate::cli */ const X: &str = \"crate::cli\";", vec![]),
        ("crate::layout! {}", vec!["wire"]),
    ] {
        let found: Vec<_> = uses(source, &modules).into_iter().map(|(_, used)| used).collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn a_use_against_the_order_is_found() {
    let bad = |path: &str, source| against(PROTOCOLS, &modules_of(path, "protocols").unwrap(), path, source).len();
    assert_eq!(bad("protocols/cxl/mod.rs", "use crate::{rules, wire};"), 0);
    assert_eq!(bad("protocols/cxl/mod.rs", "use crate::{rules, registry};"), 1);
    assert_eq!(bad("protocols/wire/mod.rs", "use crate::check::crc;"), 1);
    assert_eq!(bad("protocols/helpers/mod.rs", ""), 1);
    assert_eq!(bad("protocols/cxl/mod.rs", "use crate::registry;"), 1);
    assert_eq!(bad("protocols/nvlink/mod.rs", "use crate::cxl;"), 1);
}

#[test]
fn a_name_out_of_place_is_found() {
    assert_eq!(out_of_place("protocols/wire/mod.rs", "use std::fs;").len(), 1);
    assert_eq!(out_of_place("protocols/wire/mod.rs", "use std::{fmt, io::{self, Write}};").len(), 1);
    assert_eq!(out_of_place("src/link/mod.rs", "use anyhow::Result;").len(), 1);
    assert_eq!(out_of_place("src/kernel/mod.rs", "let t = Instant::now();").len(), 1);
    assert_eq!(out_of_place("src/cli/run.rs", "let t = Instant::now(); use anyhow::Result; use std::fs;").len(), 0);
}
