//! Conservation, message by message: what an accelerator sends to another one is what that one gets.
//!
//! Modelled: for each source, destination and port the messages as order sees them, in a few bytes each. The promised order
//! is that of `ualink` §12. Left out: the data, which the originator checks.
//!
//! A walk: an accelerator enters a message when it goes to its port and when it comes from there; when the run is over both
//! lists of each source, destination and port are compared. Lists of all at once would take many times the room of the
//! logs, so sources are judged in groups, for which those logs are read that hold messages of theirs.

use crate::row_log::RowLog;
use scalepool_kernel::shared;
use scalepool_link::ualink::upli::{OrderCheck, Ordered, Ordering};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use std::ops::RangeInclusive;

/// Groups of sources that are judged one by one, about; each has to read what came anywhere.
const GROUPS: usize = 4;
/// Messages that are judged together however few there are in all.
const AT_ONCE: usize = 1 << 16;

/// Streams of [`Ordered::numbers`]: of responses, and of the requests of each virtual channel, whose number has 2 bits.
const STREAMS: u64 = 2 + 4;
/// Beats that a response may begin with.
const OFFSETS: u64 = 4;

/// Messages with their ports, in the order in which they passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageLog {
    rows: RowLog<5>,
    /// The first and the last of their sources.
    sources: Option<(u16, u16)>,
}

impl MessageLog {
    /// One has passed.
    pub fn add(&mut self, port: usize, message: Ordered) {
        let [.., region] = self.rows.last();
        // A response has no region: that of the row before takes no room.
        let [stream, src, dst, tag, offset, region] = message.numbers(region);
        // What next to never differs from the row before is one number.
        let kind = (port as u64 * OFFSETS + offset) * STREAMS + stream;
        self.rows.add([kind, src, dst, tag, region]);
        let (src, _) = message.pair();
        let (first, last) = self.sources.unwrap_or((src, src));
        self.sources = Some((first.min(src), last.max(src)));
    }

    /// Whether one of these sources may have sent one of them.
    fn may_be_from(&self, sources: &RangeInclusive<u16>) -> bool {
        self.sources.is_some_and(|(first, last)| first <= *sources.end() && last >= *sources.start())
    }

    /// How many have passed.
    fn count(&self) -> usize {
        self.rows.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Ordered)> + '_ {
        self.rows.rows().map(|[kind, src, dst, tag, region]| {
            let (stream, offset, port) = (kind % STREAMS, kind / STREAMS % OFFSETS, kind / STREAMS / OFFSETS);
            (port as usize, Ordered::of_numbers([stream, src, dst, tag, offset, region]))
        })
    }
}

impl FromIterator<(usize, Ordered)> for MessageLog {
    fn from_iter<I: IntoIterator<Item = (usize, Ordered)>>(all: I) -> MessageLog {
        let mut log = MessageLog::default();
        all.into_iter().for_each(|(port, message)| log.add(port, message));
        log
    }
}

/// Messages as an accelerator has seen them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UalLedger {
    /// Requests and answers that it has sent.
    pub sent: MessageLog,
    /// Requests and answers of others that have come.
    pub came: MessageLog,
}

impl UalLedger {
    /// It has sent one.
    pub fn sends(&mut self, port: usize, transfer: &Transfer) {
        Ordered::of(transfer).into_iter().for_each(|one| self.sent.add(port, one));
    }

    /// One has come.
    pub fn takes(&mut self, port: usize, transfer: &Transfer) {
        Ordered::of(transfer).into_iter().for_each(|one| self.came.add(port, one));
    }

    /// The logs that hold messages of such sources, with the places of their lists.
    fn logs(&self, sources: &RangeInclusive<u16>) -> impl Iterator<Item = (usize, &MessageLog)> {
        [(SENT, &self.sent), (CAME, &self.came)].into_iter().filter(|(_, log)| log.may_be_from(sources))
    }
}

/// Places of the lists of a flow.
const SENT: usize = 0;
const CAME: usize = 1;

/// What one source has sent to one destination over one port, and what has come.
type Flow = [Vec<Ordered>; 2];

/// The flows of one source, ascending by destination and port. A hash table of them all is one piece of memory, which with 256
/// accelerators came on top of the peak of the run: 38.7 MB resident became 40.5.
type FlowsOfSource = Vec<(u64, Flow)>;

fn flow_of(dst: u16, port: usize) -> u64 {
    u64::from(dst) << 32 | port as u64
}

/// Broken promises of a fabric: what came out twice or from nowhere, what passed an earlier one, and, where `all` have to
/// be there, what never came. Each source, destination and port by itself; nothing comes between those that are denied.
/// Groups of sources are judged on so many threads; that changes nothing in what is found.
pub fn conservation(
    ledgers: &[&UalLedger],
    ordering: Ordering,
    denied: &[(u16, u16)],
    all: bool,
    threads: usize,
) -> Vec<Violation> {
    let of_group = |sources: &RangeInclusive<u16>| judge(flows(ledgers, sources), ordering, denied, all);
    shared(&groups(ledgers), threads, of_group).concat()
}

/// Sources that are judged together, ascending; all numbers are in one of them, since a message may come from nowhere. What
/// each has sent says how much there will be to judge.
fn groups(ledgers: &[&UalLedger]) -> Vec<RangeInclusive<u16>> {
    let mut of_source: OrderedMap<u16, usize> = OrderedMap::new();
    for UalLedger { sent, .. } in ledgers {
        if let Some((first, _)) = sent.sources {
            *of_source.entry(first).or_default() += 2 * sent.count();
        }
    }
    let at_once = AT_ONCE.max(of_source.values().sum::<usize>() / GROUPS);
    let (mut groups, mut start, mut count) = (Vec::new(), 0, 0);
    for (source, more) in of_source {
        if count > 0 && count + more > at_once {
            groups.push(start..=source - 1);
            (start, count) = (source, 0);
        }
        count += more;
    }
    groups.push(start..=u16::MAX);
    groups
}

/// Flows by source, ascending.
fn flows(ledgers: &[&UalLedger], sources: &RangeInclusive<u16>) -> Vec<(u16, FlowsOfSource)> {
    let logs = || ledgers.iter().flat_map(|ledger| ledger.logs(sources));
    let ends = |of: fn((u16, u16)) -> u16| logs().filter_map(move |(_, log)| log.sources.map(of));
    let first = ends(|(first, _)| first).min().unwrap_or(0).max(*sources.start());
    let last = ends(|(_, last)| last).max().unwrap_or(0).min(*sources.end());
    let mut flows: Vec<(u16, FlowsOfSource)> = (first..=last).map(|src| (src, FlowsOfSource::default())).collect();
    for (n, log) in logs() {
        for (port, one) in log.iter() {
            let (src, dst) = one.pair();
            let of_source = src.checked_sub(first).and_then(|at| flows.get_mut(usize::from(at)));
            if let Some((_, flows)) = of_source {
                let flow = flow_of(dst, port);
                // A message takes 90 instructions here; where the flows are a tree, 260.
                let at = flows.partition_point(|(other, _)| *other < flow);
                if flows.get(at).is_none_or(|(other, _)| *other != flow) {
                    flows.insert(at, (flow, Flow::default()));
                }
                flows[at].1[n].push(one);
            }
        }
    }
    flows
}

fn judge(flows: Vec<(u16, FlowsOfSource)>, ordering: Ordering, denied: &[(u16, u16)], all: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    let ascending =
        flows.into_iter().flat_map(|(src, flows)| flows.into_iter().map(move |(flow, lists)| (src, flow, lists)));
    for (src, flow, [sent, came]) in ascending {
        let (dst, port) = ((flow >> 32) as u16, flow as u32);
        let flow = || format!("from {src} to {dst} over port {port}");
        if denied.contains(&(src, dst)) {
            let text = format!("{} messages {} have come through although this pair is denied", came.len(), flow());
            found.extend(
                (!came.is_empty()).then(|| Violation::at_byte("UAL-SWI-02", 0, came.len(), "no message", text)),
            );
            continue;
        }
        let count = sent.len();
        let mut check = OrderCheck::of(ordering, sent);
        for (n, one) in came.into_iter().enumerate() {
            if let Some(mut violation) = check.arrived_one(one) {
                violation.text = format!("message {n} {}: {}", flow(), violation.text);
                found.push(violation);
            }
        }
        if all && check.under_way() > 0 {
            let (is, text) = (format!("{} of {count} missing", check.under_way()), format!("messages {}", flow()));
            found.push(Violation::at_byte("SIM-E2E-03", 0, is, "each message once", text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources, and messages of each: more than are judged at once.
    const SOURCES: u16 = 40;
    const EACH: u16 = 2000;

    /// What is lost is named wherever it is, in the order of sources.
    #[test]
    fn a_loss_is_found_in_each_group_of_sources() {
        let message = |src: u16, n: u16| (usize::from(n % 3), Ordered::request(src, SOURCES, n, 0, u64::from(n) << 8));
        // Each the last of its port, so that none passes it.
        let lost = [(0, EACH - 1), (13, EACH - 2), (SOURCES - 1, EACH - 3)];
        let all = || (0..SOURCES).flat_map(|src| (0..EACH).map(move |n| (src, n)));
        let ledgers: Vec<UalLedger> = (0..=SOURCES)
            .map(|own| UalLedger {
                sent: all().filter(|(src, _)| *src == own).map(|(src, n)| message(src, n)).collect(),
                came: all()
                    .filter(|one| own == SOURCES && !lost.contains(one))
                    .map(|(src, n)| message(src, n))
                    .collect(),
            })
            .collect();
        assert!(usize::from(SOURCES) * usize::from(EACH) > AT_ONCE);
        let ledgers: Vec<&UalLedger> = ledgers.iter().collect();
        assert!(conservation(&ledgers, Ordering::Strict, &[], false, 1).is_empty(), "the rest may be on its way");
        let found = conservation(&ledgers, Ordering::Strict, &[], true, 1);
        assert_eq!(conservation(&ledgers, Ordering::Strict, &[], true, 3), found, "on whatever threads");
        let texts: Vec<String> = found.iter().map(|v| format!("{}: {} {}", v.rule, v.text, v.found)).collect();
        let expected = lost.map(|(src, n)| {
            let port = n % 3;
            let count = (0..EACH).filter(|k| k % 3 == port).count();
            format!("SIM-E2E-03: messages from {src} to {SOURCES} over port {port} 1 of {count} missing")
        });
        assert_eq!(texts, expected);
    }
}
