//! Names of types: each stands in one crate, so that a search for it finds one thing. In a crate, modules of one kind
//! may have types of one name.
//!
//! Left out: benches and tests, types of an `impl` or a `trait`, and names that a macro puts together itself.

use crate::tidy::tokens::{Token, tokens};
use crate::tidy::{assert_none, tree};
use std::collections::BTreeMap;

/// What a type is declared with.
const DECLARES: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// The types that a file declares, public or not, with their lines; `pub Name: 4 bits` is one of `wire_enum!`, and `named!` makes one
/// of the first word in it.
fn types(source: &str) -> Vec<(&str, usize)> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |t: &Token<'_>| t.text);
    let is_name = |at: usize| text(at).starts_with(|c: char| c.is_ascii_uppercase());
    let mut found = Vec::new();
    // Whether the next brace begins the body of an `impl` or a `trait`, and of each open brace, whether it did.
    let (mut is_next, mut bodies) = (false, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if text(at) == "mod" && text(at + 1) == "tests" && text(at + 2) == "{" {
            at = behind(&tokens, at + 2);
            continue;
        }
        match text(at) {
            // What is an item stands behind another one; any other `impl` is a type.
            "impl" if at == 0 || ["}", ";", "{", "]", "unsafe"].contains(&text(at - 1)) => is_next = true,
            "trait" if is_name(at + 1) => is_next = true,
            "{" => bodies.push(std::mem::take(&mut is_next)),
            "}" => drop(bodies.pop()),
            _ => {}
        }
        let name = match text(at) {
            "type" if bodies.last() == Some(&true) => None,
            word if DECLARES.contains(&word) => Some(at + 1),
            "pub" if text(at + 2) == ":" && text(at + 4) == "bits" => Some(at + 1),
            "named" if text(at + 1) == "!" && text(at + 2) == "{" => Some(at + 3),
            _ => None,
        };
        found.extend(name.filter(|name| is_name(*name)).map(|name| (text(name), tokens[name].line)));
        at += 1;
    }
    found
}

/// The place behind the brace that closes the one at `open`.
fn behind(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The crate of a file: the innermost folder with a manifest, `""` for the one at the top. `None` for tests and benches.
fn crate_of<'a>(path: &str, crates: &[&'a str]) -> Option<&'a str> {
    let is_test = path.starts_with("testbenches/") || path.contains("/tests/") || path.ends_with("/tests.rs");
    let of_it = crates.iter().filter(|folder| path.starts_with(**folder)).max_by_key(|folder| folder.len());
    of_it.copied().filter(|_| !is_test && path.ends_with(".rs"))
}

/// Every type name that stands in two or more crates, with its places. The files are paths and texts.
fn twice(files: &[(&str, &str)]) -> Vec<String> {
    let crates: Vec<_> = files.iter().filter_map(|(path, _)| path.strip_suffix("Cargo.toml")).collect();
    let mut names: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for (path, source) in files {
        let Some(folder) = crate_of(path, &crates) else { continue };
        for (name, line) in types(source) {
            names.entry(name).or_default().push((folder, format!("{path}:{line}")));
        }
    }
    names.retain(|_, places| places.iter().any(|(folder, _)| *folder != places[0].0));
    let list = |places: Vec<(&str, String)>| places.into_iter().map(|(_, at)| at).collect::<Vec<_>>().join(", ");
    names.into_iter().map(|(name, places)| format!("`{name}` stands in two crates: {}", list(places))).collect()
}

#[test]
fn the_tree_has_each_type_name_in_one_crate() {
    let files = tree::files();
    let texts: Vec<_> = files.iter().filter_map(|f| Some((f.path.as_str(), f.text()?))).collect();
    let known = texts.iter().filter(|(path, _)| path.starts_with("src/")).map(|(_, text)| types(text).len());
    assert!(known.sum::<usize>() > 1500, "found few types, expected those of all crates");
    assert_none(&twice(&texts));
}

#[test]
fn a_name_in_two_crates_is_found() {
    let files = [
        ("Cargo.toml", ""),
        ("src/a/Cargo.toml", ""),
        ("src/a/shared/Cargo.toml", ""),
        ("testbenches/Cargo.toml", ""),
        ("src/a/lib.rs", "pub struct One;\npub enum Two {}\npub struct Own;"),
        ("src/a/other.rs", "pub struct Own;"),
        ("src/a/shared/lib.rs", "pub type One<T> = Vec<T>;"),
        ("src/lib.rs", "// One\ntrait Two {}"),
        ("testbenches/lib.rs", "pub struct Own;"),
        ("src/tests/own.rs", "pub struct Own;"),
    ];
    assert_eq!(
        twice(&files),
        [
            "`One` stands in two crates: src/a/lib.rs:1, src/a/shared/lib.rs:1",
            "`Two` stands in two crates: src/a/lib.rs:2, src/lib.rs:2",
        ]
    );
}

#[test]
fn what_declares_a_type_is_told_apart() {
    let source = "
        pub struct A; pub(crate) struct B; struct C; pub unsafe trait D { type V; } pub use e::E;
        impl F for A { type G = u8; } fn f() -> impl F { type W = u8; } mod tests { pub struct H; mod i { pub enum J {} } }
        wire_enum! { /// Kinds.
            pub K: 4 bits, rule \"L\" { M = 0 } }
        named! { /// States.
            N { O } }
        macro_rules! p { ($q:ident) => { pub struct $q { pub R: u8 } } }
        pub type S = u8; pub union T { u: u8 }";
    let names: Vec<_> = types(source).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["A", "B", "C", "D", "W", "K", "N", "S", "T"]);
}
