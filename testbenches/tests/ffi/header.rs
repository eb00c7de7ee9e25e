//! `testbenches/c/scalepool.h` is what cbindgen writes from `src/capi`. `SCALEPOOL_BLESS=1` writes it anew.

use crate::root;
use std::fs;
use std::path::Path;

/// Sources of the header, in the order of its parts.
const SOURCES: [&str; 13] = [
    "version",
    "status",
    "message",
    "check",
    "rules",
    "interfaces",
    "stream",
    "parts",
    "sim/mod",
    "link/mod",
    "arbiter",
    "bridge",
    "bridge_bits",
];

fn fresh() -> String {
    let root = root();
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        header: Some(scalepool_capi::HEADER.into()),
        after_includes: Some(scalepool_capi::MACROS.into()),
        include_guard: Some("SCALEPOOL_H".into()),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        cpp_compat: true,
        usize_is_size_t: true,
        style: cbindgen::Style::Type,
        line_length: 120,
        documentation_style: cbindgen::DocumentationStyle::C99,
        sort_by: cbindgen::SortKey::None,
        export: cbindgen::ExportConfig {
            rename: [
                ("SpNumber", "sp_number"),
                ("SpLayout", "sp_layout"),
                ("SpField", "sp_field"),
                ("SpEvent", "sp_event"),
                ("SpLinkStatus", "sp_link_status"),
                ("SpHook", "sp_hook"),
                ("SpLog", "sp_log"),
                ("SpPlacement", "sp_placement"),
            ]
            .map(|(rust, c)| (rust.to_owned(), c.to_owned()))
            .into(),
            ..cbindgen::ExportConfig::default()
        },
        ..cbindgen::Config::default()
    };
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join("src/capi").join(source).with_extension("rs"));
    }
    let mut header = Vec::new();
    builder.generate().expect("the sources of the header parse").write(&mut header);
    String::from_utf8(header).expect("the header is text")
}

#[test]
fn the_committed_header_is_fresh() {
    let path = root().join("testbenches/c/scalepool.h");
    let fresh = fresh();
    if std::env::var_os("SCALEPOOL_BLESS").is_some() {
        fs::write(&path, &fresh).expect("the header can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let first = fresh.lines().zip(committed.lines()).position(|(a, b)| a != b);
    assert!(fresh == committed, "line {:?} differs; SCALEPOOL_BLESS=1 writes the header anew", first.map(|n| n + 1));
}

/// What is exported and what is declared are the same names.
#[test]
fn every_exported_function_is_in_the_header() {
    let folder = root().join("src/capi");
    let header = fresh();
    let files = |folder: &Path| fs::read_dir(folder).expect("the sources are there").flatten();
    let mut found = 0;
    for entry in ["", "link", "sim"].iter().flat_map(|part| files(&folder.join(part))) {
        let Ok(source) = fs::read_to_string(entry.path()) else { continue };
        for part in source.split("#[unsafe(no_mangle)]").skip(1) {
            let name = part.split("fn ").nth(1).and_then(|p| p.split('(').next()).unwrap_or("?");
            assert!(header.contains(&format!("{name}(")), "{name}: not in the header");
            found += 1;
        }
    }
    assert!(found > 40, "found {found} functions");
}
