//! Habits of the repository that no compiler checks: who may use whom, which words are taken, what a file may not hold.
//!
//! Every guard is a function from text to findings, and has a test that it fires on a bad sample; the tests named
//! `the_tree_..` hold the repository against all of them.

mod documents;
mod habits;
mod layers;
mod names;
mod tokens;
mod tree;
mod words;

/// Fails with all findings, one a line.
#[track_caller]
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
