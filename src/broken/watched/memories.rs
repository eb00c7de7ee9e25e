//! Watchers of memories that mirror each other, leave and come, and of pages that move between tiers.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `pool` | of memories 0 and 1, which mirror each other, and 2 by itself: `read ID RANGE`, `write ID RANGE BYTE`, `asked ID MEMORY BYTE`, `came ID MEMORY BYTE`, `answered ID BYTE`, `leaves MEMORY`, `left MEMORY managed` or `surprise`, `returned MEMORY`; a byte is that of the whole line, `bad` for poison, `-` for none; range 0 is mirrored, range 1 is that of memory 2 |
//! | `pool_manager` | of the same memories, of which 3 is absent: `insert MEMORY`, `remove MEMORY managed` or `surprise` |
//! | `pages` | of pages of two blocks, with a cache in front of tier 2: `placed PAGE FRAME`, `moves PAGE FRAME`, `blocks SOURCE PAGE`, `drained SOURCE PAGE`, `flushed PAGE`, `read PAGE BLOCK BYTE`, `written PAGE BLOCK BYTE`, `told SOURCE PAGE`, `switches SOURCE PAGE`, `moved PAGE`, `leaves FRAME`, `left FRAME`, `accesses PAGE FRAME`, `learned PAGE FRAME`, `answers PAGE`; a frame is `hbm:N`, `peer:N` or `tier2:N` |
//! | `preset` | `FIELD`, which is too small in a preset of DDR4 |
//! | `trace` | a line of a command trace of DDR4 |

use super::{CaseWatcher, Found, LineOutcome, MadeWatched};
use scalepool_memory::dram::{preset, trace};
use scalepool_nodes::cxl::pool::agent::{PoolAgent, PoolCommand, PoolOutput, RemovalOption};
use scalepool_nodes::cxl::pool::ranges::{MemorySet, PoolRange};
use scalepool_nodes::cxl::pool::watch::{PoolEvent, PoolFinding, PoolLine, PoolWatch};
use scalepool_nodes::tiers::copies::{COPY_BLOCK_BYTES, CopyLines};
use scalepool_nodes::tiers::frames::{Tier, TierFrame};
use scalepool_nodes::tiers::watch::{MigrationWatch, TierEvent};
use scalepool_protocols::cxl::message::Data;
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("pool", || Some(Box::new(PoolWatch::new(ranges(), (0..3).collect())))),
    ("pool_manager", || Some(Box::new(PoolManager(PoolAgent::new(ranges(), 4, MemorySet::one(3), 8))))),
    ("pages", || Some(Box::new(MigrationWatch::new(2 * COPY_BLOCK_BYTES, [4; 3], true)))),
    ("preset", || Some(Box::new(Preset))),
    ("trace", || Some(Box::new(Trace))),
];

const GIB: u64 = 1 << 30;

fn ranges() -> Vec<PoolRange> {
    let range =
        |base, memories: &[usize]| PoolRange { base, size: GIB, to: 0, memories: memories.iter().copied().collect() };
    vec![range(0, &[0, 1]), range(GIB, &[2])]
}

/// A rule that a watcher of a memory names.
fn named(rule: &'static str, found: String, expected: &str) -> Found {
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    Found::Violation(Violation { rule, at: At::Message, found, expected: expected.to_owned(), text })
}

fn of_pool(said: String, value: u64, finding: Option<PoolFinding>) -> Option<LineOutcome> {
    let found = finding.map(|PoolFinding { rule, found, expected }| named(rule, found, expected));
    Some(LineOutcome { said, value, found })
}

/// A line that has one byte everywhere.
fn line(word: &str) -> Option<Option<PoolLine>> {
    Some(match word {
        "-" => None,
        "bad" => Some((Data::line([0xff; 64]), true)),
        byte => Some((Data::line([byte.parse().ok()?; 64]), false)),
    })
}

impl CaseWatcher for PoolWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let number = |word: &&str| word.parse::<usize>().ok();
        let id = number(words.get(1)?)?;
        let bytes = |word: &str| match word {
            "-" => String::new(),
            "bad" => " with poison".to_owned(),
            byte => format!(" with bytes {byte}"),
        };
        let (said, event) = match words {
            ["read", _, range] => (
                format!("read {id} of range {range} is taken"),
                PoolEvent::Taken { id, range: number(range), is_read: true, written: None },
            ),
            ["write", _, range, byte] => (
                format!("write {id} of range {range} is taken{}", bytes(byte)),
                PoolEvent::Taken { id, range: number(range), is_read: false, written: line(byte)? },
            ),
            ["asked", _, memory, byte] => (
                format!("memory {memory} is asked for request {id}{}", bytes(byte)),
                PoolEvent::Asked { id, memory: number(memory)?, written: line(byte)? },
            ),
            ["came", _, memory, byte] => (
                format!("memory {memory} has answered request {id}{}", bytes(byte)),
                PoolEvent::Came { id, memory: number(memory)?, data: line(byte)? },
            ),
            ["answered", _, byte] => {
                (format!("request {id} is answered{}", bytes(byte)), PoolEvent::Answered { id, data: line(byte)? })
            }
            ["leaves", _] => (format!("memory {id} begins to leave"), PoolEvent::Leaves { memory: id }),
            ["left", _, how] => {
                (format!("memory {id} has left ({how})"), PoolEvent::Left { memory: id, option: removal(how)? })
            }
            ["returned", _] => (format!("memory {id} is there again"), PoolEvent::Returned { memory: id }),
            _ => return None,
        };
        of_pool(said, id as u64, self.see(event))
    }
}

fn removal(word: &str) -> Option<RemovalOption> {
    match word {
        "managed" => Some(RemovalOption::Managed),
        "surprise" => Some(RemovalOption::Surprise),
        _ => None,
    }
}

struct PoolManager(PoolAgent);

impl CaseWatcher for PoolManager {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let memory: usize = words.get(1)?.parse().ok().filter(|memory| *memory < 4)?;
        let (said, command) = match words {
            ["insert", _] => (format!("memory {memory} is plugged in"), PoolCommand::Insert(memory)),
            ["remove", _, how] => {
                (format!("memory {memory} is taken out ({how})"), PoolCommand::Remove(memory, removal(how)?))
            }
            _ => return None,
        };
        let mut out = PoolOutput::default();
        self.0.command(command, &mut out);
        let found = out.findings.into_iter().next().map(|finding| {
            let what = if words[0] == "insert" { "an insertion" } else { "a removal" };
            let found = format!("{what} of memory {memory}");
            PoolFinding { found, ..finding }
        });
        of_pool(said, memory as u64, found)
    }
}

fn frame(word: &str) -> Option<TierFrame> {
    let (tier, frame) = word.split_once(':')?;
    let tier = match tier {
        "hbm" => Tier::Hbm,
        "peer" => Tier::PeerHbm,
        "tier2" => Tier::Tier2,
        _ => return None,
    };
    Some(TierFrame { tier, frame: frame.parse().ok()? })
}

fn copied(byte: &str) -> Option<CopyLines> {
    let (byte, is_bad) = byte.strip_suffix('!').map_or((byte, false), |byte| (byte, true));
    Some(vec![([byte.parse().ok()?; 64], is_bad)])
}

impl CaseWatcher for MigrationWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let page = |word: &str| word.parse::<u32>().ok();
        let source = |word: &str| word.parse::<u16>().ok();
        let frames = |word: &str| page(word).map(|first| (first, first + 1));
        let (said, event) = match words {
            ["placed", one, to] => (format!("page {one} is placed in {to}"), TierEvent::Placed(page(one)?, frame(to)?)),
            ["moves", one, to] => {
                (format!("page {one} begins to move to {to}"), TierEvent::Moves(page(one)?, frame(to)?))
            }
            ["blocks", who, one] => {
                (format!("source {who} is to block page {one}"), TierEvent::Blocks(source(who)?, page(one)?))
            }
            ["drained", who, one] => {
                (format!("source {who} has blocked page {one}"), TierEvent::Drained(source(who)?, page(one)?))
            }
            ["flushed", one] => (format!("the cache holds nothing of page {one}"), TierEvent::Flushed(page(one)?)),
            ["read", one, block, byte] => (
                format!("block {block} of page {one} is read: {byte}"),
                TierEvent::CopyRead(page(one)?, block.parse().ok()?, copied(byte)?),
            ),
            ["written", one, block, byte] => (
                format!("block {block} of page {one} is written: {byte}"),
                TierEvent::CopyWrite(page(one)?, block.parse().ok()?, copied(byte)?),
            ),
            ["told", who, one] => {
                (format!("source {who} is told where page {one} lies"), TierEvent::Answers(source(who)?, page(one)?))
            }
            ["switches", who, one] => (
                format!("source {who} is told the new place of page {one}"),
                TierEvent::Switches(source(who)?, page(one)?),
            ),
            ["moved", one] => (format!("the move of page {one} is over"), TierEvent::Moved(page(one)?)),
            ["leaves", one] => {
                let (first, end) = frames(one)?;
                (format!("frame {one} of tier 2 leaves"), TierEvent::Leaves(first, end))
            }
            ["left", one] => {
                let (first, end) = frames(one)?;
                (format!("frame {one} of tier 2 has left"), TierEvent::Left(first, end))
            }
            ["accesses", one, at] => {
                (format!("an access to page {one} in {at}"), TierEvent::Accesses(page(one)?, frame(at)?))
            }
            ["learned", one, at] => {
                (format!("the source learns that page {one} lies in {at}"), TierEvent::Learned(page(one)?, frame(at)?))
            }
            ["answers", one] => (format!("the source has blocked page {one}"), TierEvent::AnswersBlock(page(one)?)),
            _ => return None,
        };
        let finding = self.see(event);
        let found = finding.map(|finding| named(finding.rule, in_words(&finding.found), finding.expected));
        Some(LineOutcome { said, value: 0, found })
    }
}

/// Frames as the lines have them, and not as the values of a program.
fn in_words(found: &str) -> String {
    let found = found.replace("TierFrame { tier: ", "").replace(", frame: ", ":").replace(" }", "");
    let found = found.replace("PeerHbm", "peer").replace("Hbm", "hbm").replace("Tier2", "tier2");
    found.replace("Some(", "").replace("None", "none").replace(')', "")
}

struct Preset;

impl CaseWatcher for Preset {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [field] = words else { return None };
        let mut one = *preset::find("ddr4_3200aa")?;
        match *field {
            "rc" => one.timing.rc -= 1,
            "faw" => one.timing.faw = one.timing.rrd_s - 1,
            "refi" => one.timing.refi = one.timing.rfc_all,
            "cl" => one.timing.cl = 0,
            _ => return None,
        }
        let said = format!("a preset of DDR4-3200 whose {field} is too small");
        let problem = one.check().into_iter().find(|(of, _)| of == field);
        let found = problem.map(|(_, text)| {
            let (found, expected) = text.split_once(", expected ").unwrap_or((&text, "a preset that can be"));
            named("MEM-PRE-09", format!("{field}: {}", found.trim_start_matches("found ")), expected)
        });
        Some(LineOutcome { said, value: 0, found })
    }
}

struct Trace;

impl CaseWatcher for Trace {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let line = words.join(" ");
        let read = trace::read_line(&line, preset::find("ddr4_3200aa")?);
        let found = read.err().map(|text| {
            let text = text.to_string();
            let (found, expected) = text.split_once(", expected ").unwrap_or((&text, "a command"));
            named("MEM-TRC-01", found.trim_start_matches("found ").to_owned(), expected)
        });
        Some(LineOutcome { said: line, value: 0, found })
    }
}
