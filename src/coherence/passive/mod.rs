//! Coherence judged from the messages of links alone, without a look into an agent: single writer, data value and order, for
//! a home or a device of anybody's making.
//!
//! Modelled: of each line, who may hold a copy, in which state at most, and which values the line has had while somebody
//! looked. A copy begins when its grant passes and ends when the answer or the request that gives it up passes. Detail: one
//! verdict a message; nothing is asked of the agents. The links are watched from their start, when nobody holds a copy: one
//! that was granted before looks like one that nobody granted. Left out: identifiers and answers of the wrong kind, which say
//! nothing about copies (a message that fits no request is passed over), and UIO.
//!
//! One monitor watches the links of one home of CXL.cache, or of one device with its hosts. Where on a link it looks makes no
//! difference to what it says: grants are seen before their effect and releases behind theirs, wherever the probe is. What an
//! agent nobody watches may do, such as a core of the host, is allowed: the value of a line is known only as long as somebody
//! watched holds a copy, unless [`PassiveConfig::all_writers_seen`] says that there are no others.
//!
//! A walk through one request: RdOwn passes, and the value that the line has now is the oldest that its data may have. The
//! snoop of the other holder passes, then its answer RspIFwdM, which ends its copy, and its data, which is the value of the
//! line from now on. GO-E passes: no other copy may be left. The data passes: it has to be the value of the line.

mod cache;
mod half;
mod hosts;
mod line;
mod mem;

pub use hosts::LinkHosts;

use crate::content::{CacheLine, LineAddr, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::mem::tables::{Copy4, HdmRegion};
use crate::message::{Dir, from_link};
use cache::CacheLinks;
use line::{PassiveLine, PossibleCopy};
use mem::MemLinks;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::Message;

/// What the monitor knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassiveConfig {
    /// Nobody writes the lines but the agents whose links are watched: values are known for ever. Not so where a host has
    /// cores that use the lines of its own home, or a device uses its memory.
    pub all_writers_seen: bool,
    /// Kind of the memory behind requests of CXL.mem.
    pub region: HdmRegion,
}

impl Default for PassiveConfig {
    fn default() -> Self {
        PassiveConfig { all_writers_seen: false, region: HdmRegion::HdmDb }
    }
}

/// One of those who hold copies: the peer behind a link with this CacheID, this logical device or this port of a fabric, in the role of a caching
/// device or of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PassiveHolder {
    link: usize,
    peer: u16,
    is_host: bool,
}

/// What all links of a home or a device know of its lines.
#[derive(Debug)]
struct PassiveLines {
    config: PassiveConfig,
    names: Vec<String>,
    lines: OrderedMap<LineAddr, PassiveLine>,
    events: Vec<CoherenceEvent>,
}

/// A monitor beside some links.
#[derive(Debug)]
pub struct PassiveMonitor {
    lines: PassiveLines,
    cache: CacheLinks,
    mem: MemLinks,
    hosts: LinkHosts,
}

impl PassiveMonitor {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: PassiveConfig, names: Vec<String>) -> PassiveMonitor {
        PassiveMonitor {
            lines: PassiveLines { config, names, lines: OrderedMap::new(), events: Vec::new() },
            cache: CacheLinks::default(),
            mem: MemLinks::default(),
            hosts: LinkHosts::default(),
        }
    }

    /// A message passes the probe of a link, an index into the names. Messages of all links come in the order of time. What
    /// is wrong with it.
    pub fn see(&mut self, link: usize, message: &Message) -> Vec<CoherenceEvent> {
        let msg = from_link(message);
        let of_link =
            if msg.class().is_mem() { self.hosts.host_of(link, message) } else { message.route().cache_id.into() };
        let peer = peer_of(message, of_link);
        if !msg.class().is_mem() {
            let enables = message.data().and_then(|data| data.byte_enables).unwrap_or(WHOLE_LINE);
            self.cache.see(&mut self.lines, PassiveHolder { link, peer, is_host: false }, &msg, enables);
        } else {
            self.mem.see(&mut self.lines, &mut self.cache, PassiveHolder { link, peer, is_host: true }, &msg);
        }
        std::mem::take(&mut self.lines.events)
    }

    /// Lines about which something is known.
    pub fn known_lines(&self) -> usize {
        self.lines.lines.len()
    }
}

/// The peer that a message concerns, among those behind its link: its port of a fabric, or its CacheID or logical device. Answers of
/// CXL.cache to the home name neither; their UQID does.
fn peer_of(message: &Message, of_link: u16) -> u16 {
    let (class, route) = (message.class(), message.route());
    // Of CXL.cache the device, of CXL.mem the host: who sends or who gets it.
    let port = if class.is_mem() == (class.dir() == Dir::Down) { route.spid } else { route.dpid };
    if port == 0 { of_link } else { port }
}

impl PassiveLines {
    fn say(
        &mut self,
        rule: &'static str,
        line: LineAddr,
        at: PassiveHolder,
        found: String,
        expected: impl Into<String>,
    ) {
        let at = self.name(at);
        self.events.push(CoherenceEvent::new(rule, line, at, found, expected));
    }

    fn name(&self, holder: PassiveHolder) -> String {
        let link = self.names.get(holder.link).map_or("?", String::as_str);
        match (holder.peer, holder.is_host) {
            (0, _) => link.to_owned(),
            (peer, false) => format!("{link}, device {peer}"),
            (peer, true) => format!("{link}, host {peer}"),
        }
    }

    fn line(&mut self, line: LineAddr) -> &mut PassiveLine {
        self.lines.entry(line).or_default()
    }

    fn held(&self, line: LineAddr, holder: PassiveHolder) -> PossibleCopy {
        self.lines.get(&line).and_then(|l| l.holders.get(&holder)).copied().unwrap_or_default()
    }

    /// Says what somebody holds now. When nobody is left who would have to be asked before a write, the value is not known
    /// any more.
    fn hold(&mut self, line: LineAddr, holder: PassiveHolder, held: PossibleCopy) {
        let all_writers_seen = self.config.all_writers_seen;
        let known = self.line(line);
        if held == PossibleCopy::default() {
            known.holders.remove(&holder);
        } else {
            known.holders.insert(holder, held);
        }
        if !known.is_held() && !all_writers_seen {
            known.values.push(None);
        }
        if known.is_unknown() {
            self.lines.remove(&line);
        }
    }

    /// A value that the line has from now on.
    fn changed(&mut self, line: LineAddr, value: Option<CacheLine>) {
        let all_writers_seen = self.config.all_writers_seen;
        let known = self.line(line);
        known.values.push(value);
        if !known.is_held() && !all_writers_seen {
            known.values.push(None);
        }
    }

    /// A copy in this state is granted, or is there for the moment of a write: V1.
    fn check_alone(&mut self, line: LineAddr, holder: PassiveHolder, granted: Copy4, what: &str) {
        let Some(known) = self.lines.get(&line) else { return };
        let least = if granted == Copy4::S { Copy4::E } else { Copy4::S };
        let counts = |other: &PassiveHolder, held: &PossibleCopy| {
            // Of HDM-D the host keeps its own cache in order.
            *other != holder && other.is_host == holder.is_host && !held.leaving && held.most >= least
        };
        let others = known.holders.iter().filter(|(other, held)| counts(other, held));
        let others: Vec<(PassiveHolder, Copy4)> = others.map(|(other, held)| (*other, held.most)).collect();
        for (other, most) in others {
            let found = format!("{what} while {} may hold {}", self.name(other), most.letter());
            let expected = match granted {
                Copy4::S => "no copy in E or M",
                _ => "no other copy",
            };
            self.say("COH-INV-01", line, holder, found, expected);
        }
    }

    /// A read of the line begins: its data may have any value from now on. Gives the mark to end it with.
    fn read_begins(&mut self, line: LineAddr) -> u64 {
        self.line(line).values.read_begins()
    }

    /// The data of a read that began at `mark`, for a copy that stays (`kept`) or for one use.
    fn check_read(&mut self, line: LineAddr, holder: PassiveHolder, mark: u64, kept: bool, value: &CacheLine) {
        let all_writers_seen = self.config.all_writers_seen;
        let known = self.line(line);
        let wrong = if kept { known.values.is_not_last(value) } else { known.values.is_none_since(mark, value) };
        if let Some(last) = wrong {
            self.differs(line, holder, value, &last);
        } else if known.values.last().is_none() && (kept || all_writers_seen && known.values.is_last(mark)) {
            known.values.push((!value.poison).then_some(*value));
        }
    }

    /// A value that is not what the line has.
    fn differs(&mut self, line: LineAddr, holder: PassiveHolder, value: &CacheLine, last: &CacheLine) {
        let (rule, expected) = crate::monitor::misled(value, last)
            .map_or_else(|| ("COH-INV-02", format!("the last value, {last}")), |(rule, text)| (rule, text.to_owned()));
        self.say(rule, line, holder, format!("data {value}"), expected);
    }

    /// A read has ended, or nobody will tell how.
    fn read_ends(&mut self, line: LineAddr) {
        let Some(known) = self.lines.get_mut(&line) else { return };
        known.values.read_ends();
        if known.is_unknown() {
            self.lines.remove(&line);
        }
    }
}
