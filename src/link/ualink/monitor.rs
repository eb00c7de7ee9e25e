//! Watches one end of a UALink from outside: both directions are read, what the end sends is judged (`ualink` §5, §7 to §11).
//!
//! Modelled: CRC and content of every flit of a stream, flit headers in full often enough, numbers in order, Acks and Replay
//! Requests of what has come alone, replays that were asked for, with the payload as it was, the window; credits and catch
//! buffers of the transaction layer. Detail: the watched end may act on what has come in the same flit time or at any later
//! one; `reaction_flits` is how long it may go on before it begins a replay. Left out: timers, FEC groups. Of what comes, CRC and
//! content are judged, and what the end itself has to notice: numbers, Acks, Requests, credits, DL messages that do not fit,
//! payload before the link is up.
//!
//! A walk through one flit time: [`Monitor::received`] follows the numbers of what comes with a replay machine of its own,
//! and notes Acks, Requests and credits. [`Monitor::sent`] holds header, number and payload of a flit against what the end
//! has sent and heard; payload that is new goes through the decoder of its stream to the credit books. Control flits mean
//! that the link is down: both ends forget what was on its way.

mod health;

use super::end::{OnLine, head};
use super::messages::MessageMonitor;
use super::replay::{Head, Replay, ReplayConfig, ReplayStats, Says, UalFlitOutcome};
use super::tl::monitor::Books;
use crate::event::{LinkEvent, Severity, finding};
use crate::hook::Direction;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::{DlFlit, Payload, map};
use scalepool_protocols::ualink::sequence::{self, MOST_UNACKED, next, steps};
use scalepool_protocols::ualink::stream::{UalDecodedFlit, Unpacker};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// Flits behind which a number in full is due (`ualink` §7).
const EXPLICIT_FLITS: u8 = 7;
/// Copies of a Replay Request (`ualink` §7).
const REQUEST_COPIES: u8 = 3;
/// NOPs sent and flits received in a row before Up (`ualink` §8).
const BEFORE_UP: (u8, u8) = (10, 2);
/// Control flits in a row that end Up (`ualink` §8).
const CONTROL_ENDS: u8 = 4;
/// Payload that is kept: the window, and as much that was acknowledged while a replay of it began.
const KEPT_FLITS: usize = 2 * MOST_UNACKED as usize - 1;

/// What the monitor knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorConfig {
    /// Direction in which the end sends.
    pub dir: Dir,
    /// Choices of the codec.
    pub codec: UalConfig,
    /// Choices of the replay machine.
    pub replay: ReplayConfig,
    /// Flits that may still go before a replay that was asked for begins: depth of the pipeline, 0 for the model.
    pub reaction_flits: u64,
}

impl MonitorConfig {
    /// An end with the choices of the sheet, which reacts at once.
    pub fn new(dir: Dir) -> MonitorConfig {
        MonitorConfig { dir, codec: UalConfig::SHEET, replay: ReplayConfig::default(), reaction_flits: 0 }
    }
}

/// A number as a header says it: in full, or by its low bits alone.
fn on_wire(says: &Says, number: u16) -> String {
    match says {
        Says::Number { .. } => number.to_string(),
        Says::Ack { .. } | Says::Request { .. } => format!("low bits {}", number % 8),
    }
}

/// The watcher of one end.
#[derive(Debug, Clone)]
pub struct Monitor {
    config: MonitorConfig,
    received: u64,
    sent: u64,
    /// What both ends forget when the link is down; `None`: it is.
    up: Option<Session>,
    /// Payload has come too early, which was said.
    early: bool,
    /// Control flits that came in a row.
    control: u8,
    /// The flit that came before was spoilt on purpose.
    spoilt: bool,
    seen: Seen,
    events: Vec<(Direction, LinkEvent)>,
}

/// Figures of the watched end, over all times that it was up.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// DL flits that have come and that were sent.
    flits: [u64; 2],
    bad_crc: u64,
    bad_header: u64,
    /// Of the sessions that are over.
    before: ReplayStats,
    request_copies: u64,
    replays: u64,
    replayed: u64,
    downs: u64,
}

/// Since the end sends flits.
#[derive(Debug, Clone)]
struct Session {
    /// Payload may go and is taken.
    up: bool,
    // What has come.
    receiver: Replay<()>,
    flits_received: u8,
    incoming: Unpacker,
    /// The number that the peer has asked for, and how many flits the end had sent then.
    asked: Option<(u16, u64)>,
    /// Flits behind the start of a replay in which no request is heard.
    ignore: u8,
    acked: u16,
    // What was sent.
    flits_sent: u8,
    outgoing: Unpacker,
    /// The last Ack that the end has sent, and one that was wrong and is told once.
    told: u16,
    wrong: Option<u16>,
    /// Flits since the last number in full.
    commands: u8,
    /// Copies of a Replay Request that may go although nothing is missing any more.
    copies: u8,
    /// The flit before was spoilt on purpose.
    spoilt: bool,
    /// The end has given a number that it may not: its peer asks for what has not been sent.
    adrift: bool,
    /// Number of the last payload, and the highest one.
    last: u16,
    newest: u16,
    kept: VecDeque<(u16, Payload)>,
    books: Books,
    messages: MessageMonitor,
}

impl Session {
    fn new(config: &MonitorConfig) -> Session {
        let stream = |dir| {
            let role = if dir == Dir::Down { CompressionRole::ToSwitch } else { CompressionRole::FromSwitch };
            Unpacker::new(config.codec, role)
        };
        Session {
            up: false,
            receiver: Replay::new(config.replay),
            flits_received: 0,
            incoming: stream(config.dir.opposite()),
            asked: None,
            ignore: 0,
            acked: sequence::LAST,
            flits_sent: 0,
            outgoing: stream(config.dir),
            told: sequence::LAST,
            wrong: None,
            commands: 0,
            copies: 0,
            spoilt: false,
            adrift: false,
            last: sequence::LAST,
            newest: sequence::LAST,
            kept: VecDeque::new(),
            books: Books::new(config.codec),
            messages: MessageMonitor::new(config.dir),
        }
    }

    fn come_up(&mut self) {
        self.up |= self.flits_sent >= BEFORE_UP.0 && self.flits_received >= BEFORE_UP.1;
    }

    /// Acks and Requests of the peer.
    fn hear(&mut self, head: &Head, config: &MonitorConfig, sent: u64) {
        let open = steps(self.acked, self.newest);
        match head.says {
            Says::Ack { number, .. } if number != 0 && steps(self.acked, number) <= open => {
                self.acked = number;
                // What the peer has meanwhile need not go again.
                self.asked = self.asked.filter(|&(n, _)| (1..=MOST_UNACKED).contains(&steps(number, n)));
            }
            Says::Request { number, .. }
                if number != 0 && self.ignore == 0 && (1..=open).contains(&steps(self.acked, number)) =>
            {
                (self.asked, self.ignore) = (Some((number, sent)), config.replay.ignore_flits);
            }
            _ => (),
        }
    }

    /// The payload that was sent under a number.
    fn kept(&self, number: u16) -> Option<&Payload> {
        self.kept.iter().find(|(n, _)| *n == number).map(|(_, payload)| payload)
    }

    /// The number of a payload flit that is sent: the next one, or the first that the peer does not have.
    fn number(&self, says: &Says, payload: &Payload) -> u16 {
        match *says {
            Says::Number { number, .. } => number,
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                let due = sequence::from_low_bits(self.last, own_low, true);
                if due == next(self.last) {
                    return due;
                }
                let skipped = steps(self.last, self.acked).min(MOST_UNACKED);
                let behind = (1..=skipped + 1).map(|ahead| sequence::plus(self.last, ahead));
                let asked = self.asked.map(|(asked, _)| asked);
                let mut fits = behind.chain(asked);
                fits.find(|n| n % 8 == u16::from(own_low) && self.kept(*n) == Some(payload)).unwrap_or(due)
            }
        }
    }
}

impl Monitor {
    /// Beside an end, before its first flit.
    pub fn new(config: MonitorConfig) -> Monitor {
        Monitor {
            config,
            received: 0,
            sent: 0,
            up: None,
            early: false,
            control: 0,
            spoilt: false,
            seen: Seen::default(),
            events: Vec::new(),
        }
    }

    /// Events since the last call, with the direction concerned; `unit` counts what went that way.
    pub fn take_events(&mut self) -> Vec<(Direction, LinkEvent)> {
        std::mem::take(&mut self.events)
    }

    fn event(&mut self, way: Direction, violation: Violation) {
        self.event_of(way, Severity::Protocol, violation);
    }

    fn event_of(&mut self, way: Direction, severity: Severity, violation: Violation) {
        let unit = if way == Direction::Rx { self.received } else { self.sent };
        self.events.push((way, LinkEvent { severity, unit, violation }));
    }

    fn hears(&mut self, severity: Severity, rule: &'static str, found: &str, expected: &str, text: &str) {
        self.event_of(Direction::Rx, severity, finding(rule, found, expected, text));
    }

    /// Payload before the link is up, said once.
    fn too_early(&mut self, rule: &'static str, expected: &str, text: &str) {
        if !std::mem::replace(&mut self.early, true) {
            self.hears(Severity::Corrected, rule, "payload", expected, text);
        }
    }

    fn broken(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.event(Direction::Tx, Violation::at_byte(rule, map::FH.start, found, expected, text));
    }

    /// What a flit of a stream breaks by itself.
    fn content(&mut self, way: Direction, severity: Severity, decoded: &UalDecodedFlit) {
        let whole = decoded.finished.iter().chain(&decoded.tl);
        for violation in decoded.violations.iter().cloned().chain(whole.flat_map(|tl| tl.violations())) {
            self.event_of(way, severity, violation);
        }
    }

    // ---- what comes to the end -----------------------------------------------------------------------------------

    /// Something has come to the end in a flit time. Whether it is a flit that the end takes for its stream.
    pub fn received(&mut self, arrived: &OnLine) -> bool {
        debug_assert!(!matches!(arrived, OnLine::Content(..)), "an end that is watched has bytes");
        self.control = if matches!(arrived, OnLine::Flit(_)) { 0 } else { self.control.saturating_add(1) };
        if self.control > 0 {
            self.spoilt = false;
        } else if std::mem::take(&mut self.spoilt) {
            let text = "a flit behind one that was spoilt on purpose";
            self.hears(Severity::Protocol, "UAL-CRC-04", "a flit", "control flits", text);
        }
        self.seen.flits[0] += u64::from(matches!(arrived, OnLine::Flit(_)));
        let taken = match (arrived, self.up.take()) {
            (OnLine::Flit(flit), Some(mut session)) => {
                let taken = self.arrives(&mut session, flit);
                self.up = Some(session);
                taken
            }
            // Control flits that end the link are followed by the end's own.
            (OnLine::Content(..) | OnLine::Idle | OnLine::RemoteFault, Some(session)) => {
                if session.up && self.control == CONTROL_ENDS {
                    let text = "control flits in place of flits: the link leaves Up";
                    self.hears(Severity::Retrain, "UAL-LNK-05", "4 control flits", "DL flits", text);
                }
                self.up = Some(Session { flits_received: 0, ..session });
                false
            }
            (OnLine::Flit(flit), None) => {
                if flit.header().payload() {
                    let text = "payload comes while the link is down: it is dropped";
                    self.too_early("UAL-LNK-03", "control flits or NOP", text);
                }
                false
            }
            (_, None) => false,
        };
        self.received += 1;
        taken
    }

    fn arrives(&mut self, session: &mut Session, flit: &DlFlit) -> bool {
        let header = flit.header();
        let expected = flit.expected_crc(&self.config.codec);
        let whole = flit.crc() == expected;
        self.seen.bad_crc += u64::from(!whole);
        self.seen.bad_header += u64::from(whole && !header.is_usable());
        let good = whole && header.is_usable();
        self.spoilt = flit.crc() == !expected;
        let was_up = session.up;
        session.messages.flit_received(session.receiver.is_waiting());
        session.flits_received = session.flits_received.saturating_add(1);
        session.come_up();
        session.ignore = session.ignore.saturating_sub(1);
        let taken = match good {
            true if header.payload() && !was_up => {
                self.too_early("UAL-LNK-06", "NOP", "payload before the link is up: it is dropped");
                return false;
            }
            true => {
                let head = head(&header);
                session.hear(&head, &self.config, self.sent);
                let received = session.receiver.receive(Some(head));
                let by_the_end = |violation: &Violation| session.adrift && violation.rule == "UAL-RXR-04";
                if let Some((severity, violation)) = received.found.filter(|(_, violation)| !by_the_end(violation)) {
                    self.event_of(Direction::Rx, severity, violation);
                }
                received.taken
            }
            false => {
                session.receiver.receive(None);
                UalFlitOutcome::Nop
            }
        };
        if session.receiver.is_waiting() {
            session.copies = REQUEST_COPIES;
        }
        if taken == UalFlitOutcome::Dropped {
            return false;
        }
        let decoded = session.incoming.read(flit);
        // A flit whose CRC does not fit may have been damaged under way.
        self.content(Direction::Rx, if whole { Severity::Protocol } else { Severity::Corrected }, &decoded);
        // What a damaged flit seems to hold comes again.
        let broken = if good { session.books.received(&decoded) } else { Vec::new() };
        broken.into_iter().for_each(|violation| self.event(Direction::Rx, violation));
        if good {
            for (severity, violation) in session.messages.received(&decoded.messages) {
                self.event_of(Direction::Rx, severity, violation);
            }
        }
        true
    }

    // ---- what it sends -------------------------------------------------------------------------------------------

    /// The end has sent something in a flit time. Whether it is a flit that goes on with its stream.
    pub fn sent(&mut self, on_line: &OnLine) -> bool {
        let taken = match on_line {
            OnLine::Flit(flit) => {
                self.seen.flits[1] += 1;
                self.early &= self.up.is_some();
                let mut session = self.up.take().unwrap_or_else(|| Session::new(&self.config));
                let taken = self.flit(&mut session, flit);
                self.up = Some(session);
                taken
            }
            OnLine::Content(..) | OnLine::Idle | OnLine::RemoteFault => {
                let over = self.up.take();
                self.early &= over.is_none();
                if let Some(session) = over {
                    self.seen.before.add(session.receiver.stats());
                    self.seen.downs += u64::from(session.up);
                }
                false
            }
        };
        self.sent += 1;
        taken
    }

    fn flit(&mut self, session: &mut Session, flit: &DlFlit) -> bool {
        if std::mem::take(&mut session.spoilt) {
            self.broken(
                "UAL-CRC-04",
                "a flit",
                "control flits",
                "a flit is sent behind one that was spoiled on purpose",
            );
        }
        let was_up = session.up;
        session.flits_sent = session.flits_sent.saturating_add(1);
        session.come_up();
        let header = flit.header();
        let expected = flit.expected_crc(&self.config.codec);
        if flit.crc() == !expected {
            session.spoilt = true;
            return false;
        }
        if flit.crc() != expected || !header.is_usable() || header.zero_number().is_some() {
            let decoded = session.outgoing.read(flit);
            self.content(Direction::Tx, Severity::Protocol, &decoded);
            return true;
        }
        let head = head(&header);
        self.says(session, &head.says);
        if !head.payload {
            self.nop(session, &head.says);
            let decoded = session.outgoing.read(flit);
            self.content(Direction::Tx, Severity::Protocol, &decoded);
            return true;
        }
        if !was_up {
            self.broken("UAL-LNK-06", "payload", "NOP", "payload is sent before the link is up");
        }
        let payload = flit.payload();
        let new = self.payload(session, &head.says, &payload);
        if new {
            let decoded = session.outgoing.read(flit);
            self.content(Direction::Tx, Severity::Protocol, &decoded);
            session.messages.sent(&decoded.messages);
            for violation in session.books.sent(&decoded) {
                self.event(Direction::Tx, violation);
            }
        }
        new
    }

    /// Number in full, Ack or Request.
    fn says(&mut self, session: &mut Session, says: &Says) {
        let come = session.receiver.last_taken();
        let untold = steps(session.told, come);
        match *says {
            Says::Number { .. } => {
                session.commands = 0;
                return;
            }
            Says::Ack { number, .. } if steps(session.told, number) > untold && session.wrong == Some(number) => (),
            Says::Ack { number, .. } if steps(session.told, number) > untold => {
                session.wrong = Some(number);
                let expected = format!("{} to {come}", session.told);
                self.broken("UAL-RXR-06", number, expected, "an Ack names a flit that has not come, or an old one");
            }
            Says::Ack { number, .. } => session.told = number,
            Says::Request { number, .. } => {
                self.seen.request_copies += 1;
                let allowed = session.receiver.is_waiting() || session.copies > 0;
                session.copies = session.copies.saturating_sub(1);
                if !allowed {
                    let text = "a Replay Request is sent although no flit has come out of order";
                    self.broken("UAL-RXR-08", number, "an Ack", text);
                } else if steps(next(session.told), number) > untold {
                    let expected = format!("{} to {}", next(session.told), next(come));
                    self.broken("UAL-TXS-05", number, expected, "a Replay Request does not ask for the missing flit");
                }
            }
        }
        session.commands = session.commands.saturating_add(1);
        if session.commands == EXPLICIT_FLITS {
            self.broken(
                "UAL-TXS-02",
                session.commands,
                "at most 6",
                "too many flits in a row do not state their number in full",
            );
        }
    }

    /// A NOP repeats the last number.
    fn nop(&mut self, session: &Session, says: &Says) {
        let known = [session.newest, session.last];
        let (found, fits) = match *says {
            Says::Number { number, .. } => (number, known.contains(&number)),
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                (own_low.into(), known.map(|n| n % 8).contains(&own_low.into()))
            }
        };
        if !fits {
            self.broken(
                "UAL-SEQ-02",
                on_wire(says, found),
                on_wire(says, session.newest),
                "a NOP does not repeat the number of the last payload flit",
            );
        }
    }

    /// Payload, new or sent before. Whether it is new.
    fn payload(&mut self, session: &mut Session, says: &Says, payload: &Payload) -> bool {
        let number = session.number(says, payload);
        let marked = matches!(says, Says::Number { replayed: true, .. });
        let in_full = matches!(says, Says::Number { .. });
        let ahead = steps(session.last, number);
        let known = session.kept(number).copied();
        if number == 0 {
            return false;
        }
        let Some(known) = known else {
            if number != next(session.newest) {
                let text = "the sequence number is neither the next one nor one to be replayed";
                self.broken("UAL-SEQ-01", on_wire(says, number), on_wire(says, next(session.newest)), text);
                session.adrift = true;
                session.kept.clear();
            } else if let Some((asked, at)) = session.asked
                && self.sent > at + self.config.reaction_flits
            {
                self.broken("UAL-RXR-04", number, asked, "new payload is sent although a replay was asked for");
                session.asked = None;
            }
            if marked {
                self.broken("UAL-TXS-04", "op 1", "op 0", "new payload is marked as replayed");
            }
            (session.last, session.newest) = (number, number);
            let open = steps(session.acked, number);
            if open > MOST_UNACKED {
                self.broken("UAL-SEQ-03", open, "at most 255", "too much payload is sent without an acknowledgement");
            }
            session.kept.push_back((number, *payload));
            session.receiver.follow_sent(());
            if session.kept.len() > KEPT_FLITS {
                session.kept.pop_front();
            }
            return true;
        };
        self.seen.replayed += 1;
        self.seen.replays += u64::from(ahead != 1);
        let asked = session.asked.is_some_and(|(asked, _)| asked == number);
        let skips =
            ahead <= steps(session.last, session.acked) + 1 && steps(session.last, session.acked) <= MOST_UNACKED;
        if asked {
            session.asked = None;
            if !in_full {
                self.broken(
                    "UAL-TXS-01",
                    "a command",
                    "a number in full",
                    "the first flit of a replay does not state its number in full",
                );
            }
        } else if ahead != 1 && !skips {
            self.broken("UAL-RXR-04", number, next(session.last), "a replay is sent that was not asked for");
            session.adrift = true;
        }
        if in_full && !marked {
            self.broken("UAL-TXS-04", "op 0", "op 1", "a replayed flit is not marked as replayed");
        }
        if known != *payload {
            self.broken(
                "UAL-TXS-06",
                "other payload",
                "the same payload",
                "a replayed flit differs from its first copy",
            );
        }
        session.last = number;
        false
    }
}
