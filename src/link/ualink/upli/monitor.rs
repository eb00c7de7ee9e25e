//! A passive reader of the wires that names broken rules.
//!
//! It drives nothing and shares no state with the models of the two ends. What it cannot see: that software has taken a port
//! out of isolation ([`Monitor::leave_isolation`] tells it), and the order at another place (see
//! [`OrderCheck`](super::OrderCheck)). It remembers the port of every region of 256 bytes that it saw.

use super::config::{TARGETS, UpliChannel, UpliConfig, UpliConfigError};
use super::convert;
use super::credit::UpliCreditPool;
use super::signals::{
    Cycle, DataWires, FromCompleter, FromOriginator, MAX_PORTS, RdWires, Returns, WrWires, control_is_even,
    data_is_even,
};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::upli::UpliReq;
use scalepool_protocols::wire::{At, Violation, Wire};

/// A broken rule; its place is the `valid` bit of the word concerned.
pub(super) fn broken(rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) -> Violation {
    let (found, expected) = (found.to_string(), expected.to_string());
    Violation { rule, at: At::Bits { lsb: 0, width: 1 }, found, expected, text: text.into() }
}

/// A request whose last response beat is still to come.
#[derive(Debug, Clone, Copy)]
struct MonitoredRequest {
    /// Beats of a read, 0 of a write.
    beats: usize,
    seen: u8,
    sent_at: u64,
}

/// Beats that must follow.
#[derive(Debug, Clone, Copy)]
struct Burst {
    /// Of a read response.
    tag: u16,
    pool: bool,
    vc: u8,
    next: u8,
    beats: usize,
}

/// What one port looks like.
#[derive(Debug, Clone, Default)]
struct PortView {
    /// By source and tag.
    open: OrderedMap<(u16, u16), MonitoredRequest>,
    data: Option<Burst>,
    read: Option<Burst>,
    isolated: bool,
}

/// Reads the wires of one UPLI.
#[derive(Debug, Clone)]
pub struct Monitor {
    config: UpliConfig,
    cycle: u64,
    credits: [UpliCreditPool; 4],
    ports: [PortView; MAX_PORTS],
    /// Port of each destination's regions.
    regions: OrderedMap<(u16, u64), u8>,
    found: Vec<Violation>,
}

impl Monitor {
    /// An interface on which nothing has happened.
    ///
    /// # Errors
    /// A configuration with which nothing can work.
    pub fn new(config: UpliConfig) -> Result<Monitor, UpliConfigError> {
        config.check()?;
        Ok(Monitor {
            config,
            cycle: 0,
            credits: Default::default(),
            ports: Default::default(),
            regions: OrderedMap::new(),
            found: Vec::new(),
        })
    }

    /// Requests without their last response beat.
    pub fn open_tags(&self) -> usize {
        self.ports.iter().map(|port| port.open.len()).sum()
    }

    /// Whether every credit of every channel is with its sender.
    pub fn credits_are_home(&self) -> bool {
        let home = |channel: UpliChannel, port: u8| {
            let (credits, most) = (&self.credits[channel.index()], self.config.credits[channel.index()].row());
            (0..TARGETS).all(|t| credits.left(port, t + 1 == TARGETS, t as u8) == most[t])
        };
        UpliChannel::ALL.into_iter().all(|channel| (0..self.config.ports).all(|port| home(channel, port)))
    }

    /// Nothing has happened up to a cycle: slots and deadlines go on from there.
    pub fn skip_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// Software has taken a port out of isolation.
    pub fn leave_isolation(&mut self, port: u8) {
        if let Some(port) = self.ports.get_mut(usize::from(port)) {
            port.isolated = false;
        }
    }

    /// Reads a cycle: the rules that it breaks.
    pub fn observe(&mut self, cycle: &Cycle) -> Vec<Violation> {
        self.requests(&cycle.originator);
        self.responses(&cycle.completer);
        self.watchdog();
        // Credits of a cycle can be spent from the next one on.
        self.credits(UpliChannel::Request, &cycle.completer.req_credits);
        self.credits(UpliChannel::OrigData, &cycle.completer.data_credits);
        self.credits(UpliChannel::RdRsp, &cycle.originator.rd_credits);
        self.credits(UpliChannel::WrRsp, &cycle.originator.wr_credits);
        let now = self.cycle;
        self.cycle += 1;
        let mut found = std::mem::take(&mut self.found);
        found.iter_mut().for_each(|v| v.text = format!("cycle {now}: {}", v.text));
        found
    }

    fn broken(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.found.push(broken(rule, found, expected, text));
    }

    /// Codes and reserved bits of a word; `false` for one that no wires can carry.
    fn judge<W: Wire>(&mut self, word: &W) -> bool {
        match word.to_bits() {
            Ok(bits) => W::DEF.check(bits, &mut self.found),
            Err(error) => {
                self.broken("UAL-UPL-01", &error, "a value that fits its wires", "a value does not fit its UPLI signal")
            }
        }
        word.to_bits().is_ok()
    }

    /// Slot and credit of a word; its port, if there is one.
    fn word(&mut self, channel: UpliChannel, port: u8, pool: bool, vc: u8) -> Option<usize> {
        let slot = match channel {
            UpliChannel::Request | UpliChannel::OrigData => self.config.originator_slot(self.cycle),
            UpliChannel::RdRsp | UpliChannel::WrRsp => self.config.completer_slot(self.cycle),
        };
        if port != slot {
            self.broken(
                "UAL-UPL-10",
                format!("port {port}"),
                format!("port {slot}"),
                "a word is sent in the time slot of another port",
            );
        }
        if port >= self.config.ports {
            return None;
        }
        if !self.credits[channel.index()].spend(port, pool, vc, 1) {
            let target = if pool { "of the pool".to_owned() } else { format!("of channel {vc}") };
            let found = if self.credits[channel.index()].is_open(port) { "none" } else { "initial ones still to come" };
            self.broken(
                "UAL-UPL-15",
                found,
                format!("a credit {target}"),
                &format!("{channel:?}: a word is sent without a credit"),
            );
        }
        Some(usize::from(port))
    }

    fn requests(&mut self, wires: &FromOriginator) {
        // Beats that follow are judged before the request that may stand beside them.
        let slot = usize::from(self.config.originator_slot(self.cycle));
        let begun = self.ports[slot].data.is_some();
        if begun && !(wires.data.word.valid && usize::from(wires.data.word.port) == slot) {
            self.broken("UAL-UPL-11", "no beat", "the next beat", "a burst of originator data has a gap");
        }
        if begun && wires.data.word.valid {
            self.data(&wires.data);
        }
        let word = &wires.request.word;
        let starts = word.valid && self.request(word, begun, &wires.data);
        if !begun && wires.data.word.valid {
            if !starts {
                self.broken("UAL-UPL-11", "a beat", "no beat", "originator data is sent without a request");
            }
            self.data(&wires.data);
        }
    }

    /// Judges a request; whether its data begins in this cycle.
    fn request(&mut self, word: &UpliReq, begun: bool, data: &DataWires) -> bool {
        if !self.judge(word) {
            return false;
        }
        self.transfer(word);
        if !control_is_even(word) {
            self.broken("UAL-UPL-13", "odd", "even", "the control parity of a request is wrong");
        }
        let Some(p) = self.word(UpliChannel::Request, word.port, word.pool, word.vc) else { return false };
        if self.ports[p].isolated {
            self.broken("UAL-UPL-14", "a request", "no request", "a port in isolation sends a request");
        }
        let key = (word.dst, word.address / REGION_BYTES);
        let own = *self.regions.entry(key).or_insert(word.port);
        if own != word.port {
            let (found, expected) = (format!("port {}", word.port), format!("port {own}"));
            self.broken("UAL-UPL-07", found, expected, "requests to one block of 256 bytes use two ports");
        }
        let open = MonitoredRequest { beats: convert::read_beats(word), seen: 0, sent_at: self.cycle };
        if self.ports[p].open.insert((word.src, word.tag), open).is_some() {
            self.broken(
                "UAL-UPL-09",
                format!("tag {}", word.tag),
                "a free tag",
                "a tag is used again before its last response beat",
            );
        }
        let beats = convert::data_beats(word, &self.config.codec);
        if beats == 0 {
            return false;
        }
        let here = data.word.valid && data.word.port == word.port;
        if begun || !here {
            let found = if begun { "a beat of another request" } else { "no beat" };
            self.broken(
                "UAL-UPL-11",
                found,
                "the first beat",
                "a request is sent without its first data beat beside it",
            );
        }
        if !begun {
            self.ports[p].data = Some(Burst { tag: word.tag, pool: word.pool, vc: word.vc, next: 0, beats });
        }
        !begun
    }

    /// Size, alignment and attributes, as the transaction layer judges them.
    fn transfer(&mut self, word: &UpliReq) {
        let (address, len, attr, cmd) = (word.address, word.len, word.attr, word.cmd);
        if address % 4 != 0 {
            self.broken(
                "UAL-SIZ-03",
                format!("{address:#x}"),
                "a multiple of 4",
                "the address of a request is not a multiple of 4",
            );
        }
        let req = TlReq { address: address & !3, len, attr, cmd, ..TlReq::default() };
        let mut found = Vec::new();
        if let Ok(bits) = req.to_bits() {
            TlReq::DEF.check(bits, &mut found);
        }
        // The command has been judged with the word.
        self.found.extend(found.into_iter().filter(|v| v.rule != "UAL-UPL-02"));
    }

    fn data(&mut self, wires: &DataWires) {
        let word = &wires.word;
        if !self.judge(word) {
            return;
        }
        if !data_is_even(&wires.data, word.data_parity) {
            self.broken("UAL-UPL-13", "odd", "even", "the parity of originator data is wrong");
        }
        let Some(p) = self.word(UpliChannel::OrigData, word.port, word.pool, word.vc) else { return };
        let Some(burst) = self.ports[p].data else { return };
        let expected = (burst.next, usize::from(burst.next) + 1 == burst.beats, burst.pool, burst.vc);
        let found = (word.offset, word.last, word.pool, word.vc);
        if found != expected {
            let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
            self.broken(
                "UAL-UPL-11",
                found,
                expected,
                "offset, Last, Pool or VC of a beat of originator data is wrong",
            );
        }
        let next = burst.next + 1;
        self.ports[p].data = (usize::from(next) < burst.beats).then_some(Burst { next, ..burst });
    }

    fn responses(&mut self, wires: &FromCompleter) {
        let slot = usize::from(self.config.completer_slot(self.cycle));
        if let Some(burst) = self.ports[slot].read {
            let word = &wires.rd.word;
            if !(word.valid && usize::from(word.port) == slot && word.tag == burst.tag) {
                let expected = format!("beat {} of tag {}", burst.next, burst.tag);
                self.broken("UAL-UPL-12", "something else", expected, "a read response of all beats has a gap");
                self.ports[slot].read = None;
            }
        }
        if wires.rd.word.valid {
            self.read(&wires.rd);
        }
        if wires.wr.word.valid {
            self.write(&wires.wr);
        }
    }

    fn read(&mut self, wires: &RdWires) {
        let word = &wires.word;
        if !self.judge(word) {
            return;
        }
        if !data_is_even(&wires.data, word.data_parity) {
            self.broken("UAL-UPL-13", "odd", "even", "the parity of read data is wrong");
        }
        let Some(p) = self.word(UpliChannel::RdRsp, word.port, word.pool, word.vc) else { return };
        let beats = usize::from(word.numbeats) + 1;
        let burst = self.ports[p].read;
        let next = burst.map_or(if beats == 1 { word.offset } else { 0 }, |burst| burst.next);
        let of = burst.map_or(beats, |burst| burst.beats);
        if (word.offset, beats) != (next, of) {
            let (found, expected) = (format!("beat {} of {beats}", word.offset), format!("beat {next} of {of}"));
            self.broken("UAL-UPL-12", found, expected, "the beats of a response of all beats do not ascend");
        }
        let rest = Burst { tag: word.tag, pool: word.pool, vc: word.vc, next: next + 1, beats: of };
        let goes_on = of > 1 && usize::from(next) + 1 < of;
        self.ports[p].read = goes_on.then_some(rest);
        if self.ports[p].isolated {
            return;
        }
        let Some(mut open) = self.ports[p].open.get(&(word.dst, word.tag)).copied().filter(|open| open.beats > 0)
        else {
            self.stray(word.tag);
            return;
        };
        let bit = 1 << word.offset;
        if usize::from(word.offset) >= open.beats || open.seen & bit != 0 || of > 1 && of != open.beats {
            let (found, expected) = (format!("beat {} of {of}", word.offset), format!("each of {} once", open.beats));
            self.broken("UAL-UPL-12", found, expected, "a beat of a read response comes twice or does not exist");
        }
        open.seen |= bit;
        let all = open.seen.count_ones() as usize >= open.beats;
        if word.last != all {
            let (found, expected) = (format!("Last {}", word.last), format!("Last {all}"));
            self.broken("UAL-UPL-12", found, expected, "Last does not mark the final beat of the response");
        }
        if word.last || all {
            self.ports[p].open.remove(&(word.dst, word.tag));
        } else {
            self.ports[p].open.insert((word.dst, word.tag), open);
        }
    }

    fn write(&mut self, wires: &WrWires) {
        let word = &wires.word;
        if !self.judge(word) {
            return;
        }
        if !control_is_even(word) {
            self.broken("UAL-UPL-13", "odd", "even", "the control parity of a write response is wrong");
        }
        let Some(p) = self.word(UpliChannel::WrRsp, word.port, word.pool, word.vc) else { return };
        if word.status == Status::ISOLATE {
            self.isolate(p);
        }
        if self.ports[p].isolated {
            return;
        }
        if self.ports[p].open.get(&(word.dst, word.tag)).is_none_or(|open| open.beats > 0) {
            self.stray(word.tag);
        } else {
            self.ports[p].open.remove(&(word.dst, word.tag));
        }
    }

    fn stray(&mut self, tag: u16) {
        self.broken(
            "UAL-UPL-09",
            format!("tag {tag}"),
            "a tag that waits for it",
            "a response is sent that nobody waits for",
        );
    }

    /// The originator answers its own requests from now on.
    fn isolate(&mut self, p: usize) {
        self.ports[p].isolated = true;
        self.ports[p].open.clear();
    }

    /// A request that waits too long: for want of credits, which only the originator can give, or of an answer.
    fn watchdog(&mut self) {
        for p in 0..usize::from(self.config.ports) {
            let late = |open: &&MonitoredRequest| self.cycle - open.sent_at >= self.config.watchdog_cycles;
            let Some(open) = self.ports[p].open.values().find(late) else { continue };
            let channel = if open.beats > 0 { UpliChannel::RdRsp } else { UpliChannel::WrRsp };
            let left = |t: usize| self.credits[channel.index()].left(p as u8, t + 1 == TARGETS, t as u8);
            let starved = (0..TARGETS).all(|t| left(t) == 0);
            let expected = format!("an answer in {} cycles", self.config.watchdog_cycles);
            if starved {
                self.broken(
                    "UAL-UPL-08",
                    "no credit for responses",
                    expected,
                    "responses are blocked for want of credits",
                );
            } else {
                self.broken("UAL-UPL-14", "no answer", expected, "a request is never answered");
            }
            self.isolate(p);
        }
    }

    fn credits(&mut self, channel: UpliChannel, returns: &Returns) {
        let ports = usize::from(self.config.ports);
        if returns[ports..].iter().any(|word| word.valid) {
            self.broken(
                "UAL-UPL-15",
                "a return",
                "no return",
                &format!("{channel:?}: credits are returned for a port that does not exist"),
            );
        }
        let most = self.config.credits[channel.index()].row();
        for (port, word) in returns.iter().enumerate().take(ports) {
            let was = self.credits[channel.index()].is_open(port as u8);
            if was && !word.init_done {
                self.broken(
                    "UAL-UPL-15",
                    "InitDone 0",
                    "InitDone 1",
                    &format!("{channel:?}: InitDone falls after it was set"),
                );
            }
        }
        self.credits[channel.index()].take_returns(returns);
        for port in 0..ports {
            let credits = &self.credits[channel.index()];
            let over = (0..TARGETS).find(|&t| credits.left(port as u8, t + 1 == TARGETS, t as u8) > most[t]);
            if let Some(t) = over {
                let (found, expected) = (format!("more than {}", most[t]), format!("at most {}", most[t]));
                self.broken(
                    "UAL-UPL-15",
                    found,
                    expected,
                    &format!("{channel:?}: more credits are given than there are buffers"),
                );
            }
        }
    }
}
