//! The case of the golden vectors that breaks a rule in flits or in a message, for whoever wants to see it.
//!
//! Modelled: the first case of a rule in the files of flits of a default set, and the legal flits around it; the first message that
//! breaks a rule by itself. Left out: breaks that need a context beside their flits.

use super::spec::{Spec, VectorSource};
use super::vectors::{CaseGroup, StreamCase, VectorContent};
use scalepool_forms::{flit_nvl, flit_ual};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::LayoutDef;

/// Flits that break a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakingCase {
    /// Protocol of the flits.
    pub protocol: &'static str,
    /// Their direction.
    pub dir: Dir,
    /// The vector file without extension, such as `cxl68/flit_cxl-68b_down`.
    pub file: String,
    /// Number of the case in the file (`Count`).
    pub count: usize,
    /// What the case shows.
    pub what: String,
    /// Legal flits of the file that may stand in front of the case; bytes of each, byte 0 first.
    pub before: Vec<Vec<u8>>,
    /// The flits of the case; of NVLink packets.
    pub units: Vec<Vec<u8>>,
}

/// A message that breaks a rule.
#[derive(Debug, Clone)]
pub struct BreakingMessage {
    /// Its layout.
    pub layout: &'static LayoutDef,
    /// Its bits.
    pub bits: u128,
    /// The vector file without extension, such as `cxl68/m2s_req`.
    pub file: String,
    /// Number of the case in the file (`Count`).
    pub count: usize,
    /// What the case shows.
    pub what: String,
}

/// Legal flits that stand in front of the case.
const BEFORE: usize = 3;

/// The first case of each rule, in the order of a default set, among the rules whose ids begin with a family or area; all for an empty
/// `prefix`.
pub fn breaking_cases(prefix: &str) -> OrderedMap<&'static str, BreakingCase> {
    let spec = Spec::default();
    let is_of_family = |source: &VectorSource| {
        let families: &[&str] = match source {
            VectorSource::Layout(_) | VectorSource::Context(_) | VectorSource::Retry(_) => &[],
            VectorSource::Flits(_) | VectorSource::Control(_) => &["CXL68-"],
            VectorSource::Flits256(..) => &["CXL256-", "CXLPBR-"],
            VectorSource::FlitsIo(_) => &["CXLIO-", "CXL256-"],
            VectorSource::FlitsUal(_) => &["UAL-"],
            VectorSource::PacketsNvl(_) => &["NVL-"],
        };
        families.iter().any(|family| prefix.starts_with(family) || family.starts_with(prefix))
    };
    let mut found = OrderedMap::new();
    for source in spec.sources().into_iter().filter(is_of_family) {
        let set = source.vectors(&spec);
        let cases = match &set.content {
            VectorContent::Messages(..) => Vec::new(),
            VectorContent::Cxl68(dir, groups) => cases_of(&set.path, groups, ("cxl-68b", *dir), |unit| unit.0.to_vec()),
            VectorContent::Flits256(stream, groups) => {
                cases_of(&set.path, groups, (stream.protocol, stream.dir), |flit| flit.0.to_vec())
            }
            VectorContent::Ualink(dir, groups) => {
                cases_of(&set.path, groups, (flit_ual::PROTOCOL, *dir), |flit| flit.0.to_vec())
            }
            VectorContent::Nvlink(dir, groups) => cases_of(&set.path, groups, (flit_nvl::PROTOCOL, *dir), |packet| {
                packet.flits().iter().flat_map(|flit| flit.to_le_bytes()).collect()
            }),
        };
        for (rule, case) in cases.into_iter().filter(|(rule, _)| rule.starts_with(prefix)) {
            if !found.contains_key(rule) {
                found.insert(rule, case);
            }
        }
    }
    found
}

/// The first message of each rule, in the order of a default set, among the rules whose ids begin with a family or area; all for an empty
/// `prefix`.
pub fn breaking_messages(prefix: &str) -> OrderedMap<&'static str, BreakingMessage> {
    let spec = Spec::default();
    let is_of_family = |source: &VectorSource| {
        let VectorSource::Layout(def) = source else { return false };
        let families: &[&str] = match def.family() {
            "cxl68" => &["CXL68-"],
            "cxl256" | "cxlpbr" => &["CXL256-", "CXLPBR-"],
            "cxlio" => &["CXLIO-"],
            "ualink" => &["UAL-"],
            _ => &["NVL-"],
        };
        families.iter().any(|family| prefix.starts_with(family) || family.starts_with(prefix))
    };
    let mut found = OrderedMap::new();
    for source in spec.sources().into_iter().filter(is_of_family) {
        let set = source.vectors(&spec);
        let VectorContent::Messages(layout, groups) = &set.content else { continue };
        let all = groups.iter().flat_map(|group| group.cases.iter().map(|case| (&group.what, case)));
        for (count, (what, case)) in all.enumerate() {
            let rule = case.rule.filter(|rule| rule.starts_with(prefix) && !found.contains_key(rule));
            let Some(rule) = rule else { continue };
            let (file, what) = (set.path.clone(), what.clone());
            found.insert(rule, BreakingMessage { layout, bits: case.bits, file, count, what });
        }
    }
    found
}

/// The first case of a file for each rule.
fn cases_of<U>(
    file: &str,
    groups: &[CaseGroup<StreamCase<U>>],
    (protocol, dir): (&'static str, Dir),
    bytes: impl Fn(&U) -> Vec<u8>,
) -> Vec<(&'static str, BreakingCase)> {
    let all = || groups.iter().flat_map(|group| group.cases.iter().map(|case| (group.what.as_str(), case)));
    // Cases of one flit begin and end with nothing open.
    let legal = all().filter(|(_, case)| case.rule.is_none() && case.units.len() == 1);
    let before: Vec<Vec<u8>> = legal.flat_map(|(_, case)| &case.units).take(BEFORE).map(&bytes).collect();
    let mut found: Vec<(&'static str, BreakingCase)> = Vec::new();
    for (count, (what, case)) in all().enumerate() {
        // What needs a context does not show in the flits alone.
        let rule = case.rule.filter(|_| case.context.is_none());
        let Some(rule) = rule.filter(|rule| found.iter().all(|(of, _)| of != rule)) else { continue };
        let (file, what, before) = (file.to_owned(), what.to_owned(), before.clone());
        let units = case.units.iter().map(&bytes).collect();
        found.push((rule, BreakingCase { protocol, dir, file, count, what, before, units }));
    }
    found
}
