//! Watches one end of a 256B link from outside: both directions are read, what the end sends is judged.
//!
//! Modelled: sequence numbers in order and where they are stated, the Prior bit, Acks and Naks of what has come alone, Naks
//! and replays as long as they must be, replayed flits as they were, the window, the handshake, INIT.Param first,
//! messages with credit; of what comes, what the end itself has to notice ([`Monitor::take_heard`]). Detail: the watched end may act on what has come in the same flit clock or at any later one.
//! Left out: timers, what only the inside of an end knows (why a replay begins), DLLPs and TLPs, which replays may change.
//!
//! A walk through one flit clock: [`Monitor::received`] follows the numbers of what comes, as the end must, and notes
//! what that allows it: credits, acknowledged numbers, Acks to send. [`Monitor::sent`] finds the number of a flit, stated or
//! implied, tells new payload from a replay and compares both with what is allowed.

mod health;

use super::cachemem::viral_found;
use super::end::EVEN_BODY;
use super::receiver::{NAK_FLITS, Receiver};
use crate::event::{LinkEvent, Severity, finding};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::Viral;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received, body_bytes, crc_parts};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::{self, is_payload};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256SlotRole, Unpacker};
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_protocols::cxl::cxlio::dllp::DLLP_BYTES;
use scalepool_protocols::wire::{Violation, Wire};

/// Stated numbers at the start of a replay (`cxl-256b` §9).
const REPLAY_STATES: u8 = 3;
/// Acks received and stated numbers sent before payload (`cxl-256b` §9).
const HANDSHAKE: (u32, u32) = (3, 9);

/// What the watched end has sent under a number.
type SentUnderNumber = Option<Cxl256Flit>;

/// The watcher of one end.
#[derive(Debug, Clone)]
pub struct Monitor {
    mode: Mode,
    /// Direction in which the end sends.
    dir: Dir,
    /// The link carries CXL.io alone, which initialises credits of its own.
    io_alone: bool,
    // What has come.
    /// One that takes implied numbers at their word and one that doubts them: the end may be either.
    receivers: [Receiver; 2],
    /// Number of the last payload that one of them has taken.
    taken: u16,
    received_at: Option<u64>,
    /// Even half that was good in a flit that was not, with the number of that flit, which was due.
    even: Option<(u16, Cxl256Flit)>,
    acks: u32,
    /// The highest number that the peer has acknowledged.
    acked: u16,
    /// The last Nak of the peer asked for one flit.
    selective: bool,
    incoming: Unpacker,
    peer_init: bool,
    spend: [u16; Class::COUNT],
    /// Credits that the end has given and its peer has not spent.
    given: [u32; Class::COUNT],
    viral_heard: bool,
    arrived: u64,
    heard: Vec<LinkEvent>,
    // What was sent.
    units: u64,
    sent_at: Option<u64>,
    /// Whether the flit before was payload; `None`: not known.
    before: Option<bool>,
    naks: u8,
    /// Number of the last Ack or Nak.
    told: u16,
    stated: u32,
    /// Number of the last payload; `None`: not known.
    last: Option<u16>,
    /// Highest number so far.
    newest: u16,
    /// Flits since it that were spoilt: each may have taken a number.
    spoilt: u16,
    kept: OrderedMap<u16, SentUnderNumber>,
    /// Flits of the replay so far, 0: none.
    replayed: u32,
    /// Flits that still have to state their number.
    to_state: u8,
    outgoing: Unpacker,
    /// Payload seen for the first time.
    first_copies: u64,
    init: bool,
    seen: Seen,
    events: Vec<LinkEvent>,
}

/// Figures of the watched end.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    bad: u64,
    repaired: u64,
    symbols: u64,
    naks_heard: u64,
    naks_sent: u64,
    replays: u64,
    replayed: u64,
    /// Messages that have come or were sent, by [`Class::index`].
    messages: [u64; Class::COUNT],
}

impl Monitor {
    /// Beside an end that sends in a direction, from its first flit on; `selective`: it may ask for a single flit.
    pub fn new(mode: Mode, dir: Dir, selective: bool) -> Monitor {
        Monitor {
            mode,
            dir,
            io_alone: false,
            receivers: [false, true].map(|doubts| Receiver::new(selective, doubts)),
            taken: number::LAST,
            received_at: None,
            even: None,
            acks: 0,
            acked: number::LAST,
            selective: false,
            incoming: Unpacker::new(mode, dir.opposite()),
            peer_init: false,
            spend: [0; Class::COUNT],
            given: [0; Class::COUNT],
            viral_heard: false,
            arrived: 0,
            heard: Vec::new(),
            units: 0,
            sent_at: None,
            before: None,
            naks: 0,
            told: number::LAST,
            stated: 0,
            last: Some(number::LAST),
            newest: number::LAST,
            spoilt: 0,
            kept: OrderedMap::new(),
            replayed: 0,
            to_state: 0,
            outgoing: Unpacker::new(mode, dir),
            first_copies: 0,
            init: false,
            seen: Seen::default(),
            events: Vec::new(),
        }
    }

    /// The same where the link carries CXL.io alone: no INIT.Param is to be expected, and the link is up once numbers are agreed.
    #[must_use]
    pub fn of_io_alone(self, io_alone: bool) -> Monitor {
        Monitor { io_alone, ..self }
    }

    /// The link has been trained: numbers are agreed again and go on where they were.
    pub fn trained(&mut self) {
        self.receivers.iter_mut().for_each(Receiver::trained);
        (self.acks, self.stated, self.naks, self.to_state, self.replayed) = (0, 0, 0, 0, 0);
        (self.received_at, self.sent_at, self.before, self.last) = (None, None, None, None);
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    /// What the end has to notice of what came to it, since the last call; `unit` counts the flits that came before.
    pub fn take_heard(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.heard)
    }

    fn hears(&mut self, severity: Severity, violation: Violation) {
        self.heard.push(LinkEvent { severity, unit: self.arrived, violation });
    }

    fn broken(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        let violation = finding(rule, found, expected, text);
        self.events.push(LinkEvent { severity: Severity::Protocol, unit: self.units, violation });
    }

    // ---- what comes to the end -----------------------------------------------------------------------------------

    /// A flit has come to the end, and `received` is what FEC and CRC make of it. The flits that it takes now, as they came,
    /// each of a stream once, and those that carry no payload or cannot be used.
    pub fn received(&mut self, flit: &Cxl256Flit, received: &Cxl256Received, now_flits: u64) -> Vec<Cxl256Flit> {
        let taken = self.arrives(flit, received, now_flits);
        self.arrived += 1;
        taken
    }

    fn arrives(&mut self, flit: &Cxl256Flit, received: &Cxl256Received, now_flits: u64) -> Vec<Cxl256Flit> {
        if self.received_at.replace(now_flits).is_some_and(|at| at + 1 < now_flits) {
            self.receivers.iter_mut().for_each(Receiver::nops_left_out);
        }
        if !received.is_good() {
            self.seen.bad += 1;
            self.even_half(flit);
            self.receivers.iter_mut().for_each(Receiver::bad);
            return vec![*flit];
        }
        let symbols = received.fec.as_ref().map_or(0, |repairs| repairs.iter().count() as u64);
        self.seen.symbols += symbols;
        self.seen.repaired += u64::from(symbols > 0);
        let header = received.flit.header();
        self.seen.naks_heard += u64::from(is_nak(header.command));
        self.judge_header(&header);
        let zero = self.receivers.each_mut().map(|receiver| receiver.good(received.flit).is_err());
        if zero[0] {
            let found = finding("CXL256-RTY-01", 0, "1 to 1023", "sequence number of a payload flit");
            self.hears(Severity::Protocol, found);
        }
        let is_ack = header.command != ReplayCommand::Explicit;
        let window = number::steps(self.acked, self.newest) + self.spoilt;
        let fits = header.seq != 0 && number::steps(self.acked, header.seq) <= window;
        if is_ack && !fits {
            let text = "an acknowledged number";
            let expected = "one that is not acknowledged yet, or the last";
            self.hears(Severity::Protocol, finding("CXL256-RTY-04", header.seq, expected, text));
        }
        if is_ack && header.seq != 0 {
            self.acks += u32::from(header.command == ReplayCommand::Ack);
            if header.command != ReplayCommand::Ack {
                self.selective = header.command == ReplayCommand::NakSelective;
            }
            if fits {
                self.acked = header.seq;
            }
        }
        let due =
            self.receivers.each_mut().map(|receiver| std::iter::from_fn(|| receiver.next_due()).collect::<Vec<_>>());
        let mut taken = Vec::new();
        for (n, due) in due.into_iter().flatten() {
            // The other one has had it already.
            if n != number::next(self.taken) {
                continue;
            }
            self.taken = n;
            self.compare_even_half(n, &due);
            if due.header().flit_type == FlitType::Cachemem {
                let decoded = self.incoming.read(&due);
                self.peer_init |= has_init(&decoded);
                self.peer_says(&decoded, &due);
                self.refill(&due.crd());
            }
            // With what FEC has repaired, which is a finding too.
            taken.push(if due == received.flit { *flit } else { due });
        }
        if !is_payload(header.flit_type) {
            taken.push(*flit);
        }
        taken
    }

    /// A bad flit: its even half counts if it is good and due, and the end may have used it.
    fn even_half(&mut self, flit: &Cxl256Flit) {
        if !self.mode.is_lopt() || !crc_parts(self.mode)[0].fits(flit) {
            return;
        }
        let header = flit.header();
        let stated = header.command == ReplayCommand::Explicit && is_payload(header.flit_type);
        let sure = self.receivers.iter().all(|receiver| !receiver.is_in_doubt());
        if stated && sure && header.seq == number::next(self.taken) && self.even.is_none() {
            self.even = Some((header.seq, *flit));
        }
    }

    /// The flit has come well in the end.
    fn compare_even_half(&mut self, number: u16, flit: &Cxl256Flit) {
        let Some((_, even)) = self.even.take_if(|(of, _)| *of == number) else { return };
        if let Some(at) = EVEN_BODY.into_iter().find(|&at| even.0[at] != flit.0[at]) {
            let text = format!("byte {at} of an even half has changed in the replay, after the half was used");
            let (found, expected) = (format!("{:#04x}", flit.0[at]), format!("{:#04x}", even.0[at]));
            self.hears(Severity::Uncorrectable, finding("CXL256-LOP-04", found, expected, &text));
        }
    }

    /// The Prior bit and the length of a row of Naks, against the flits before.
    fn judge_header(&mut self, header: &FlitHeader) {
        // Both receivers see the same flits; one of them is asked.
        if !self.receivers[0].prior_fits(header) {
            let text = "the Prior bit against the flit before";
            self.hears(Severity::Protocol, finding("CXL256-HDR-02", header.prior, !header.prior, text));
        }
        if let Some(naks) = self.receivers[0].short_nak_run(header) {
            let text = "flits in a row with a Nak";
            self.hears(Severity::Protocol, finding("CXL256-RTY-06", naks, "at least 3", text));
        }
    }

    /// Viral, and messages against initialisation and credits.
    fn peer_says(&mut self, decoded: &Cxl256DecodedFlit, flit: &Cxl256Flit) {
        for (n, role) in decoded.roles.iter().enumerate() {
            let viral = matches!(role, Cxl256SlotRole::Control(Some(kind)) if kind.name == "Viral");
            if viral && !std::mem::replace(&mut self.viral_heard, true) {
                let logical_devices = Viral::from_bits(flit.slot(self.mode, n)).ld_ids;
                let found = viral_found(self.mode, logical_devices);
                let text = "the peer has declared viral";
                self.hears(Severity::Fatal, finding("CXL256-VIR-01", found, "no viral", text));
            }
        }
        let classes: Vec<Class> = decoded.messages().map(|(_, class, _)| class).collect();
        if !self.peer_init && !classes.is_empty() {
            let found = finding("CXL256-CTL-05", "a message", "INIT.Param", "a message before INIT.Param");
            self.hears(Severity::Uncorrectable, found);
            return;
        }
        for class in classes {
            self.seen.messages[class.index()] += 1;
            let given = &mut self.given[class.index()];
            let had = *given > 0;
            *given = given.saturating_sub(1);
            if !had {
                let found = class.def(self.mode.routing()).name;
                let text = "a message without credit";
                self.hears(Severity::Protocol, finding("CXL256-CRD-06", found, "a class with credits", text));
            }
        }
    }

    fn refill(&mut self, crd: &Crd) {
        for (class, count) in crd.credits() {
            if class.dir() != self.dir {
                let found = class.def(self.mode.routing()).name;
                let text = "credits received for a channel that this end does not send";
                let found = finding("CXL256-CRD-04", found, "a channel of this end", text);
                self.hears(Severity::Corrected, found);
                continue;
            }
            let spend = &mut self.spend[class.index()];
            *spend = spend.saturating_add(count.into());
        }
    }

    // ---- what it sends -------------------------------------------------------------------------------------------

    /// The end has sent a flit, of which FEC and CRC make `received`. It is given back unless it is a replay.
    pub fn sent(&mut self, flit: &Cxl256Flit, received: &Cxl256Received, now_flits: u64) -> Vec<Cxl256Flit> {
        if self.sent_at.replace(now_flits).is_some_and(|at| at + 1 < now_flits) {
            self.before = Some(false);
        }
        let known = self.first_copies;
        if received.is_good() {
            self.good(&received.flit);
        } else {
            // Spoilt on purpose, or by a fault: what its header says cannot be used.
            (self.before, self.last, self.naks) = (None, None, 0);
            self.spoilt += 1;
        }
        self.units += 1;
        let again = received.is_good() && is_payload(received.flit.header().flit_type) && self.first_copies == known;
        if again { Vec::new() } else { vec![*flit] }
    }

    fn good(&mut self, flit: &Cxl256Flit) {
        let header = flit.header();
        let payload = is_payload(header.flit_type);
        if let Some(before) = self.before.replace(payload)
            && before != header.prior
        {
            self.broken(
                "CXL256-HDR-02",
                header.prior,
                before,
                "the Prior bit does not name the kind of the flit before",
            );
        }
        if header.command == ReplayCommand::Explicit {
            self.ends_naks();
            self.to_state = self.to_state.saturating_sub(1);
        } else {
            self.acknowledges(&header);
        }
        let stated = (header.command == ReplayCommand::Explicit).then_some(header.seq);
        match (payload, stated) {
            (true, _) => self.payload(flit, stated),
            // Of the last payload, or of the newest where a replay has ended early. 0 is IDLE.
            (false, Some(n)) if n != 0 && self.last.is_some_and(|last| n != last && n != self.newest) => {
                let expected = self.last.unwrap_or(self.newest);
                self.broken("CXL256-RTY-02", n, expected, "a NOP does not repeat the number of the last payload flit");
            }
            _ => (),
        }
        self.stated += u32::from(stated.is_some());
    }

    fn ends_naks(&mut self) {
        let naks = std::mem::take(&mut self.naks);
        if (1..NAK_FLITS).contains(&naks) {
            self.broken("CXL256-RTY-06", naks, "at least 3", "too few flits in a row carry the Nak");
        }
    }

    fn acknowledges(&mut self, header: &FlitHeader) {
        match header.command {
            ReplayCommand::Ack => self.ends_naks(),
            _ => {
                self.seen.naks_sent += u64::from(self.naks == 0);
                self.naks = self.naks.saturating_add(1);
            }
        }
        if self.to_state > 0 {
            self.to_state = 0;
            let text = "a flit at the start of a replay does not state its number";
            self.broken("CXL256-RTY-06", "an Ack or Nak", "three stated numbers", text);
        }
        let (n, good) = (header.seq, self.taken);
        if n == 0 || number::steps(self.told, n) > number::steps(self.told, good) {
            let expected = format!("{} to {good}", self.told);
            self.broken("CXL256-RTY-04", n, expected, "the Ack names a flit that has not come, or an old one");
        } else {
            self.told = n;
        }
    }

    fn payload(&mut self, flit: &Cxl256Flit, stated: Option<u16>) {
        let new = number::next(self.newest);
        let n = match stated {
            Some(n) => n,
            None => {
                let Some(last) = self.last else { return };
                let next = number::next(last);
                // Behind a flit that went again alone the stream goes on where it was.
                if self.selective && self.replayed == 1 && next != new && !self.same(next, flit) { new } else { next }
            }
        };
        // Numbers of spoilt flits may be left out here; they come in a replay.
        let ahead = number::steps(new, n);
        if n == 0 || ahead > self.spoilt && number::steps(n, self.newest) > number::WINDOW {
            self.broken("CXL256-RTY-01", n, new, "the sequence number is neither the next one nor one to be replayed");
            return;
        }
        let again = ahead > self.spoilt;
        if again {
            self.replays(n, flit);
        } else {
            for k in 0..ahead {
                self.kept.insert(number::plus(new, k), None);
            }
            (self.newest, self.spoilt, self.replayed) = (n, 0, 0);
        }
        self.last = Some(n);
        let first = !matches!(self.kept.get(&n), Some(Some(_)));
        if first {
            self.first_copy(n, flit);
        }
        while self.kept.len() > usize::from(number::WINDOW) + 1 {
            let oldest = self.kept.keys().copied().max_by_key(|&k| number::steps(k, self.newest));
            oldest.map(|oldest| self.kept.remove(&oldest));
        }
    }

    /// Whether a flit says what the one that has been kept under this number says. Beside TLPs, which are the same, the DLLP of a
    /// flit of CXL.io may be another one.
    fn same(&self, n: u16, flit: &Cxl256Flit) -> bool {
        let said = |flit: &Cxl256Flit| {
            let flit_type = flit.header().flit_type;
            let dllp = if flit_type == FlitType::Io { DLLP_BYTES } else { 0 };
            (flit_type, flit.body(self.mode).take(body_bytes(self.mode) - dllp).collect::<Vec<u8>>())
        };
        matches!(self.kept.get(&n), Some(Some(kept)) if said(kept) == said(flit))
    }

    /// A number that was used before.
    fn replays(&mut self, n: u16, flit: &Cxl256Flit) {
        let goes_on = self.replayed > 0 && self.last.is_some_and(|last| number::next(last) == n);
        self.replayed = if goes_on { self.replayed + 1 } else { 1 };
        self.seen.replayed += 1;
        self.seen.replays += u64::from(!goes_on);
        if !goes_on {
            self.to_state = REPLAY_STATES - 1;
        }
        let known = matches!(self.kept.get(&n), Some(Some(_)));
        if known && !self.same(n, flit) {
            self.broken(
                "CXL256-RTY-16",
                format!("another flit as number {n}"),
                "the same flit",
                "a replayed flit differs from its first copy",
            );
        }
    }

    fn first_copy(&mut self, n: u16, flit: &Cxl256Flit) {
        self.first_copies += 1;
        if self.acks < HANDSHAKE.0 || self.stated < HANDSHAKE.1 {
            let found = format!("payload after {} Acks and {} stated numbers", self.acks, self.stated);
            self.broken(
                "CXL256-RTY-05",
                found,
                "3 Acks received and 9 numbers stated",
                "a payload flit is sent before the handshake is complete",
            );
        }
        let open = number::steps(self.acked, n);
        if open > number::WINDOW {
            self.broken("CXL256-RTY-07", open, "at most 511", "too many flits are sent without an acknowledgement");
        }
        self.kept.insert(n, Some(*flit));
        if flit.header().flit_type == FlitType::Cachemem {
            let decoded = self.outgoing.read(flit);
            for (class, count) in flit.crd().credits() {
                self.given[class.index()] += u32::from(count);
            }
            self.messages(&decoded);
            self.init |= has_init(&decoded);
        }
    }

    fn messages(&mut self, decoded: &Cxl256DecodedFlit) {
        let classes: Vec<Class> = decoded.messages().map(|(_, class, _)| class).collect();
        let up = self.init && self.peer_init;
        if !up && !classes.is_empty() {
            let text = "a message is sent before INIT.Param has gone both ways";
            self.broken("CXL256-CTL-05", "a message", "INIT.Param", text);
            return;
        }
        for class in classes {
            self.seen.messages[class.index()] += 1;
            let spend = &mut self.spend[class.index()];
            if *spend == 0 {
                let found = class.def(self.mode.routing()).name;
                self.broken("CXL256-CRD-06", found, "a class with credits", "a message is sent without a credit");
            } else {
                *spend -= 1;
            }
        }
    }
}

fn is_nak(command: ReplayCommand) -> bool {
    matches!(command, ReplayCommand::NakStandard | ReplayCommand::NakSelective)
}

fn has_init(decoded: &Cxl256DecodedFlit) -> bool {
    decoded.roles.iter().any(|role| matches!(role, Cxl256SlotRole::Control(Some(kind)) if kind.name == "INIT.Param"))
}
