//! Watchers of CXL.io in a fabric.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `first_contact` | `tlp SPID DPID`, a TLP that comes over an inter-switch link |
//! | `streams` | `down ready` or `idle`, `up ..`: a TLP of a stream leaves, and whether one of the other stream may leave too |
//! | `unroutable` | `on` or `off`, as `ur_on_unknown`, `first` or `later` switch, `completed` or `dropped` |
//! | `release` | a cycle is 1 ms: `assert CYCLE`, `deassert CYCLE`, `link-up CYCLE` |
//! | `prefixes` | `shared` or `single`, as the device of the link is, and the LD-ID in front of a TLP or `-` |
//! | `layers` | how many switches a host has found one below the other |
//! | `strict`, `relaxed` | by a policy: `waits KIND TAG`, kinds being `posted`, `read`, `write` and `completion`; `leaves TAG`, or `none`, with the kinds for which there is no room |
//! | `verdicts` | of a flit with one bit error: what the pattern says and what the bytes say, `good` or `bad` |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_link::bit_errors::judge_verdict;
use scalepool_link::cxlio::order::judge;
use scalepool_link::cxlio::queue::Queues;
use scalepool_link::cxlio::{IoCreditClass, IoOrder, IoTlp, IoTlpForm};
use scalepool_nodes::io::switch::fabric::{ContactWatch, EDGE_LAYERS, StreamWatch, judge_unroutable};
use scalepool_nodes::io::switch::judge_prefix;
use scalepool_nodes::io::switch::reset::{LinkMessage, ResetWatch};
use scalepool_nodes::io::walk::{ConfigWalkResult, judge_layers};
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32};
use scalepool_protocols::wire::Wire;

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("first_contact", || Some(Box::new(ContactWatch::default()))),
    ("streams", || Some(Box::new(StreamWatch::default()))),
    ("unroutable", || Some(Box::new(Unroutable))),
    ("release", || Some(Box::new(ResetWatch::default()))),
    ("prefixes", || Some(Box::new(Prefixes))),
    ("layers", || Some(Box::new(Layers))),
    ("strict", || Some(Box::new(WaitingTlps::new(IoOrder::STRICT)))),
    ("relaxed", || Some(Box::new(WaitingTlps::new(IoOrder::RELAXED)))),
    ("verdicts", || Some(Box::new(Verdicts))),
];

fn number(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

impl CaseWatcher for ContactWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let ["tlp", spid, dpid] = words else { return None };
        let pid = |text: &str| u16::try_from(number(text)?).ok();
        let header = Pth { spid: pid(spid)?, dpid: pid(dpid)?, ..Pth::default() };
        let said = format!("a TLP with SPID {spid} and DPID {dpid} comes over the link");
        LineOutcome::judged(said, number(dpid)?, self.judge(&header, None))
    }
}

impl CaseWatcher for StreamWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [way, other] = words else { return None };
        let stream = usize::from(*way == "down");
        let is_ready = *other == "ready";
        let of_other = if is_ready { "one of the other stream is ready" } else { "none of the other stream waits" };
        let said = format!("a TLP that goes {way} leaves, {of_other}");
        LineOutcome::judged(said, stream as u64, self.leaves(stream, is_ready))
    }
}

struct Unroutable;

impl CaseWatcher for Unroutable {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [option, place, end] = words else { return None };
        let is_completed = *end == "completed";
        let said = format!("a request without a way is {end} at the {place} switch, `ur_on_unknown` is {option}");
        let found = judge_unroutable(*option == "on", *place == "first", is_completed);
        LineOutcome::judged(said, is_completed.into(), found)
    }
}

impl CaseWatcher for ResetWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        /// From one release to the next, and what a fabric delays \[cycles of 1 ms\].
        const INTERVAL: (u64, u64) = (10, 1);
        let [word, cycle] = words else { return None };
        let message = match *word {
            "assert" => LinkMessage::AssertPerst,
            "deassert" => LinkMessage::Deassert,
            "link-up" => LinkMessage::LinkUp,
            _ => return None,
        };
        let now = number(cycle)?;
        LineOutcome::judged(
            format!("{word} comes to the virtual port at {cycle} ms"),
            now,
            self.judge(message, now, INTERVAL),
        )
    }
}

struct Prefixes;

impl CaseWatcher for Prefixes {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [link, ld] = words else { return None };
        let is_shared = *link == "shared";
        let device = if is_shared { "several logical devices" } else { "one logical device" };
        let ld_id = if *ld == "-" { None } else { Some(u16::try_from(number(ld)?).ok()?) };
        let said = match ld_id {
            Some(ld) => format!("a TLP with LD-ID {ld} comes on the link of a device with {device}"),
            None => format!("a TLP without an LD-ID comes on the link of a device with {device}"),
        };
        LineOutcome::judged(said, ld_id.map_or(0, |ld| u64::from(ld) + 1), judge_prefix(is_shared, ld_id))
    }
}

struct Layers;

impl CaseWatcher for Layers {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [count] = words else { return None };
        let layers = number(count)? as usize;
        let mut found = ConfigWalkResult::default();
        found.layers = layers;
        LineOutcome::judged(
            format!("a host finds {count} switches one below the other"),
            layers as u64,
            judge_layers(&found, EDGE_LAYERS),
        )
    }
}

/// TLPs that wait for a link, by a policy.
struct WaitingTlps {
    order: IoOrder,
    queues: Queues,
}

impl WaitingTlps {
    fn new(order: IoOrder) -> WaitingTlps {
        WaitingTlps { order, queues: Queues::new(order) }
    }
}

/// A TLP of 4 bytes of a kind.
fn tlp(kind: &str, tag: u8) -> Option<IoTlp> {
    let request = NfmMem32 { length: 1, tag, first_be: 0xf, ..NfmMem32::default() };
    let [bits, length] = match kind {
        "posted" => [NfmMem32 { fmt: 2, ..request }.to_bits().ok()?, 16],
        "read" => [request.to_bits().ok()?, 12],
        // A configuration write has the form of a 32-bit request, with type 4.
        "write" => [NfmMem32 { fmt: 2, ..request }.to_bits().ok()?, 16],
        "completion" => [NfmCpl { fmt: 2, length: 1, tag, byte_count: 4, ..NfmCpl::default() }.to_bits().ok()?, 16],
        _ => return None,
    };
    /// Bytes of a header.
    const HEADER: usize = 12;
    let mut bytes = (0..HEADER).map(|n| (bits >> (8 * (HEADER - 1 - n))) as u8).collect::<Vec<_>>();
    if kind == "write" {
        bytes[0] = 0x44;
    }
    bytes.resize(length as usize, 0);
    IoTlp::new(IoTlpForm::NonFlit, bytes).ok()
}

impl CaseWatcher for WaitingTlps {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        match words {
            ["waits", kind, tag] => {
                let number = u8::try_from(number(tag)?).ok()?;
                self.queues.push(tlp(kind, number)?);
                LineOutcome::judged(format!("a {kind} with tag {tag} waits"), number.into(), None)
            }
            ["leaves", tag, full @ ..] => {
                let tagged = |n: &usize| self.queues.order(*n).map(|order| u64::from(order.tag)) == number(tag);
                let chosen = if *tag == "none" { None } else { Some((0..self.queues.count()).find(tagged)?) };
                let fits = |tlp: &IoTlp| {
                    let kind = match tlp.kind() {
                        IoCreditClass::Posted => "posted",
                        IoCreditClass::NonPosted => "non-posted",
                        IoCreditClass::Completion => "completion",
                    };
                    !full.contains(&kind)
                };
                let found = judge(&self.order, &self.queues, chosen, fits);
                let room =
                    if full.is_empty() { String::new() } else { format!(", without room for {}", full.join(", ")) };
                let what = chosen.map_or("nothing leaves".to_owned(), |_| format!("tag {tag} leaves"));
                LineOutcome::judged(format!("{what}{room}"), 0, found)
            }
            _ => None,
        }
    }
}

struct Verdicts;

impl CaseWatcher for Verdicts {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [pattern, bytes] = words else { return None };
        let found = judge_verdict(&FlitVerdict(pattern), &FlitVerdict(bytes));
        LineOutcome::judged(format!("the pattern of the errors says {pattern}, the bytes say {bytes}"), 0, found)
    }
}

/// Said of a flit.
#[derive(PartialEq)]
struct FlitVerdict<'a>(&'a str);

impl std::fmt::Debug for FlitVerdict<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
