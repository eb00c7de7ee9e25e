//! Of each rule a short case that breaks it, as a few lines of text and as a wave, or why there is none.
//!
//! Modelled: flits and messages of the golden vectors (`vectors`, `messages`), runs in which a flit is changed on its way ([`runs`]),
//! bits that stand elsewhere than a layout says (`misplaced`), messages at the ports of a bridge (`bridge`, `conversions`), commands of a DRAM
//! (`dram`), messages at the ports of a switch (`switches`), what comes to watchers and tables of a fabric (`watched`), transfers of UALink
//! (`transfers`), flits against what both ends have agreed on (`agreed`), DL messages of UALink (`dl_messages`), the wires of a UPLI (`upli`), the signals of an interface below its flits (`signals`), ALMPs at a port (`vlsm`), messages of CXL.cache and
//! CXL.mem (`monitored`), writes to registers of HDM decoders (`decoders`), state machines, ends of links and decoders that
//! take one thing for another (`references`), and descriptions of systems (`descriptions`), each judged by what judges flits, messages, commands,
//! writes and descriptions of somebody else; and agents of coherence of which one is wrong (`agents`) or makes one wrong step (`missteps`), or
//! with one message between them that is changed (`altered`), judged by themselves and by the monitors of explorations, hops that hold
//! what must go on (`hops`), and tables of CacheIDs (`routes`). What fires first in a case is its rule.
//! Left out: rules that no such case breaks; `reasons.txt` says of each why nothing is shown, and the tests named `<rule>_n` break these
//! too.
//!
//! A case is input, and the model judges it as it judges everything else. Only of agents the fault is inside: what they do with their own
//! state no input can break.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agents;
mod agreed;
mod altered;
mod bridge;
mod case_file;
mod conversions;
mod decoders;
mod descriptions;
mod dl_messages;
mod dram;
mod error;
mod flits;
mod hops;
mod message_wave;
mod messages;
mod misplaced;
mod missteps;
mod monitored;
mod reason;
mod references;
mod routes;
pub mod runs;
mod signals;
mod switches;
mod timeline;
mod transfers;
mod upli;
mod vectors;
mod vlsm;
mod watched;

use case_file::CaseFile;
pub use error::CaseError;
use scalepool_golden::breaking::{BreakingCase, BreakingMessage, breaking_cases, breaking_messages};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::rules::Rule;
use scalepool_trace::{Hub, TimeAxis};
use std::path::{Path, PathBuf};
pub use timeline::CaseStep;

/// A case that breaks a rule, judged.
pub struct BrokenCase {
    /// What it is, in words.
    pub what: String,
    /// When the rule is broken \[fs\].
    pub t_fs: u64,
    /// What is found there.
    pub found: String,
    /// The last steps up to there, of agents all of them, in the order of time; the rule is broken at the last one.
    pub steps: Vec<CaseStep>,
    /// The records of its wave; none where nothing moves.
    pub records: Option<Hub>,
    /// Unit and end of its times.
    pub axis: TimeAxis,
}

/// Cases that stand in texts.
static CASE_FILES: [&CaseFile; 11] = [
    &agreed::FILE,
    &bridge::FILE,
    &decoders::FILE,
    &descriptions::FILE,
    &misplaced::FILE,
    &references::FILE,
    &signals::FILE,
    &switches::FILE,
    &transfers::FILE,
    &vlsm::FILE,
    &watched::FILE,
];

/// Cases that stand in a list of their module.
struct CaseList {
    rules: fn() -> Vec<&'static str>,
    case: fn(&str) -> Result<Option<BrokenCase>, CaseError>,
}

macro_rules! lists {
    ($($module:ident)*) => { [$(CaseList { rules: || $module::rules().collect(), case: $module::of }),*] };
}

static LISTS: [CaseList; 10] = lists![agents altered conversions dl_messages dram hops missteps monitored routes upli];

/// The cases of the rules whose ids begin with a prefix.
pub struct BrokenCases {
    /// Where runs have their temporary folders.
    folder: PathBuf,
    vectors: OrderedMap<&'static str, BreakingCase>,
    messages: OrderedMap<&'static str, BreakingMessage>,
    /// Rules that have one, in no order.
    rules: Vec<&'static str>,
}

impl BrokenCases {
    /// The cases of an id, an area or a family of rules; all for an empty `prefix`. Runs have temporary folders in `folder`.
    pub fn of(prefix: &str, folder: &Path) -> BrokenCases {
        let (vectors, messages) = (breaking_cases(prefix), breaking_messages(prefix));
        let mut rules: Vec<&'static str> = vectors
            .keys()
            .copied()
            .chain(runs::rules())
            .chain(CASE_FILES.into_iter().flat_map(CaseFile::rules))
            .chain(LISTS.iter().flat_map(|list| (list.rules)()))
            .collect();
        // Every other case goes before one of a message alone.
        let of_messages: Vec<&'static str> = messages.keys().copied().filter(|rule| !rules.contains(rule)).collect();
        rules.extend(of_messages);
        BrokenCases { folder: folder.to_owned(), vectors, messages, rules }
    }

    /// The rules that have one, in no order. Those of an id are more than it: all that begin so.
    pub fn rules(&self, prefix: &str) -> Vec<&'static str> {
        self.rules.iter().copied().filter(|rule| rule.starts_with(prefix)).collect()
    }

    /// Those of them whose cases have a wave.
    pub fn rules_with_waves(&self, prefix: &str) -> Vec<&'static str> {
        let without: Vec<&'static str> = descriptions::FILE.rules().collect();
        self.rules(prefix).into_iter().filter(|rule| !without.contains(rule)).collect()
    }

    /// The case of a rule; `None` where there is none.
    ///
    /// # Errors
    /// A case that cannot be made, or that does not break the rule first.
    pub fn find(&self, rule: &Rule) -> Result<Option<BrokenCase>, CaseError> {
        if let Some(case) = self.vectors.get(rule.id) {
            return vectors::judged(rule.id, case).map(Some);
        }
        if let Some(case) = runs::of(rule.id, &self.folder)? {
            return Ok(Some(case));
        }
        for file in CASE_FILES {
            if let Some(case) = file.case(rule.id)? {
                return Ok(Some(case));
            }
        }
        for list in &LISTS {
            if let Some(case) = (list.case)(rule.id)? {
                return Ok(Some(case));
            }
        }
        self.messages.get(rule.id).map(|message| messages::judged(rule.id, message)).transpose()
    }

    /// Why a rule has no case; `None` where it has one.
    pub fn reason(&self, rule: &Rule) -> Option<&'static str> {
        if self.rules(rule.id).is_empty() { reason::of(rule.id) } else { None }
    }
}

/// The reasons, each with the area or the rule that it is about.
pub fn reasons() -> impl Iterator<Item = (&'static str, &'static str)> {
    reason::lines()
}

/// The name of the test that breaks a rule, such as `cxl68_crc_01_n`.
pub fn breaking_test(rule: &Rule) -> String {
    format!("{}_n", rule.id.to_lowercase().replace('-', "_"))
}
