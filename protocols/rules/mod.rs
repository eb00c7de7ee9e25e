//! The rule table: one row a protocol rule. The same id stands in findings, events, vectors and test names.
//!
//! A number is never reused; a withdrawn rule keeps its row. The conformance suite holds two tests for every row, one
//! that obeys (`<rule>_p`) and one that breaks it (`<rule>_n`), and fails when a row has none.

pub mod area;
pub mod brg;
pub mod coh;
pub mod coh_mem;
pub mod coh_system;
pub mod cxl256;
pub mod cxl68;
pub mod cxlio;
pub mod fab_arb;
pub mod fab_hbr;
pub mod fab_io;
pub mod fab_net;
pub mod fab_pbr;
pub mod fab_qos;
pub mod liv;
pub mod mem;
pub mod nvl;
pub mod sim;
pub mod txn;
pub mod ual;

/// One protocol rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// `FAMILY-AREA-NN`.
    pub id: &'static str,
    /// Fact sheet and section.
    pub source: &'static str,
    /// Marked \[D\] in the sheet: our own documented choice.
    pub choice: bool,
    /// The rule in short.
    pub text: &'static str,
}

/// All rules, family by family.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        cxl68::RULES,
        cxl256::RULES,
        cxlio::RULES,
        ual::RULES,
        nvl::RULES,
        coh::RULES,
        coh_mem::RULES,
        coh_system::RULES,
        fab_arb::RULES,
        fab_hbr::RULES,
        fab_io::RULES,
        fab_net::RULES,
        fab_pbr::RULES,
        fab_qos::RULES,
        brg::RULES,
        mem::RULES,
        txn::RULES,
        liv::RULES,
        sim::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The row of an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|r| r.id == id)
}
