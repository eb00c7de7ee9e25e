//! Watchers of a line of 68B units: the order of units and ordered sets in blocks, protocol IDs, registers of a capability.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `blocks` | of x16 with sync headers: `unit KIND` or `unit KIND eds`, kinds being `io`, `mem`, `null` and `almp`; `set`, an ordered set behind the block that the last unit ends in; `end`, behind which the blocks are judged |
//! | `ids` | of a link without CXL.io: `ID`, the two bytes of an ID as a number |
//! | `dvsec` | `VENDOR ID LENGTH` of the header of a DVSEC |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_protocols::cxl::cxl68::lanes::{Block, Cxl68Width, block_bytes, read_blocks};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PIDS, PidKind};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
use scalepool_protocols::cxl::cxlio::dvsec::{DvsecHeader, check_header};
use scalepool_protocols::wire::Violation;

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("blocks", || Some(Box::new(Line { width: Cxl68Width::new(16)?, bytes: Vec::new(), sets: Vec::new() }))),
    ("ids", || Some(Box::new(ProtocolIds))),
    ("dvsec", || Some(Box::new(Dvsec))),
];

/// Units on their way, and blocks behind which an ordered set stands, as counts of blocks.
struct Line {
    width: Cxl68Width,
    bytes: Vec<u8>,
    sets: Vec<usize>,
}

impl CaseWatcher for Line {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let size = block_bytes(self.width);
        let seen = |said: String, value: usize, found| LineOutcome::judged(said, value as u64, found);
        let (kind, is_last) = match words {
            ["unit", kind] => (*kind, false),
            ["unit", kind, "eds"] => (*kind, true),
            ["set"] => {
                self.sets.push(self.bytes.len().div_ceil(size));
                let block = self.sets.len();
                return seen(format!("an ordered set behind block {}", self.sets[block - 1]), block, None);
            }
            ["end"] => {
                self.bytes.resize(self.bytes.len().next_multiple_of(size), 0);
                let mut blocks = Vec::new();
                for (n, data) in self.bytes.chunks(size).enumerate() {
                    blocks.push(Block::Data(data.to_vec()));
                    blocks.extend(self.sets.contains(&(n + 1)).then_some(Block::OrderedSet));
                }
                let read = read_blocks(&blocks, self.width, false);
                let found = read.violations.into_iter().next();
                return seen("the last block ends".to_owned(), blocks.len(), found);
            }
            _ => return None,
        };
        let of = match kind {
            "io" => PidKind::Io,
            "mem" => PidKind::Cachemem,
            "null" => PidKind::Null,
            "almp" => PidKind::Almp,
            _ => return None,
        };
        let id = PIDS.iter().find(|row| row.kind == of && row.eds == is_last)?.id();
        let first = self.bytes.len();
        self.bytes.extend(Cxl68Unit::plain(id, &[0; PAYLOAD_BYTES]).0);
        let (first_block, last_block) = (first / size + 1, (self.bytes.len() - 1) / size + 1);
        let place = match first_block == last_block {
            true => format!("block {last_block}"),
            false => format!("blocks {first_block} and {last_block}"),
        };
        let announces = if is_last { " with implied EDS" } else { "" };
        seen(format!("a {kind} unit{announces} in {place}"), self.bytes.len(), None)
    }
}

/// A receiver of a link on which CXL.io is not enabled.
struct ProtocolIds;

impl CaseWatcher for ProtocolIds {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [text] = words else { return None };
        let id = scalepool_forms::number::parse(text).and_then(|value| u16::try_from(value).ok())?;
        let log = pid::receive(id, Enabled { io: false, cachemem: true }).log;
        let found =
            log.map(|log| Violation::at_byte(log.rule(), 0, format!("{id:#06x}"), "an ID of CXL.cachemem", log.text()));
        LineOutcome::judged(format!("a unit with the ID {id:#06x}"), id.into(), found)
    }
}

/// A header in configuration space.
struct Dvsec;

impl CaseWatcher for Dvsec {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [vendor, id, length] = words else { return None };
        let number = |text: &str| scalepool_forms::number::parse(text).and_then(|value| u16::try_from(value).ok());
        let (vendor, dvsec_id, length_bytes) = (number(vendor)?, number(id)?, number(length)?);
        let header = DvsecHeader { vendor, dvsec_id, length_bytes, ..DvsecHeader::default() };
        let said = format!("a DVSEC of vendor {vendor:#06x} with ID {dvsec_id:#x} and {length_bytes} bytes");
        LineOutcome::judged(said, length_bytes.into(), check_header(&header).into_iter().next())
    }
}
