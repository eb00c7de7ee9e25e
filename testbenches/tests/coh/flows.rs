//! Golden transaction traces: every flow as a chart, and the tables of the agents as a page, the same in every run.

use scalepool::proof::{docs, flows};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("flows")
}

/// Every flow follows its script, breaks no rule and ends idle; its charts are those in `testbenches/flows`.
/// `SCALEPOOL_BLESS=1` writes them.
#[test]
fn every_flow_is_as_it_was() {
    let bless = std::env::var_os("SCALEPOOL_BLESS").is_some();
    let all = || flows::all().into_iter().flat_map(|g| g.flows);
    let errors: Vec<_> = all().filter_map(|f| f.chart.err()).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let mut files = vec![("README.md".to_owned(), flows::markdown(true).unwrap_or_else(|e| panic!("{e}")))];
    files.push(("TABLES.md".to_owned(), docs::markdown()));
    for flow in all() {
        let chart = flow.chart.unwrap_or_else(|e| panic!("{e}"));
        files.push((format!("{}.svg", flow.name), chart.svg()));
    }
    if bless {
        fs::create_dir_all(folder()).expect("a folder");
    }
    for (name, text) in &files {
        let path = folder().join(name);
        if bless {
            fs::write(&path, text).expect("a file");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == *text, "{name} is not fresh; SCALEPOOL_BLESS=1 writes it");
    }
    let mut there: Vec<_> = fs::read_dir(folder())
        .expect("the folder")
        .map(|f| f.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    there.sort();
    let mut known: Vec<_> = files.into_iter().map(|(name, _)| name).collect();
    known.sort();
    assert_eq!(there, known, "files that no flow makes");
}
