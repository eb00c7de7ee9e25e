//! Watches one end of an NVLink from outside: both directions are read, what the end sends is judged (`nvlink` §6.3).
//!
//! Modelled: CRC and content of every packet, identifiers, acknowledgements of what has come alone, the window, REPLAY_INIT and
//! replayed packets as they were, credits spent and given back. Detail: the watched end may act on what has come in the same
//! flit clock or at any later one. Left out: timers, what only the inside of an end knows (why a replay begins). Of what
//! comes, CRC and content are judged, and what the end itself has to notice: identifiers, acknowledgements, credits.
//!
//! A walk through one flit clock: [`Monitor::received`] follows the flits as the end must, and notes what they allow it:
//! packets to acknowledge, acknowledged ones, credits. [`Monitor::sent`] puts flits together to packets; a header is held
//! against the CRC and what it acknowledges, a whole numbered packet is the next of a replay, the same as before, or a new
//! one, which takes identifiers and credits.

mod health;
mod parts;

use self::parts::OpenParts;
use super::config::Buffers;
use super::credit::{CreditBook, NvlCreditCount};
use super::flit::NvlFlit;
use super::message::LINK_RID;
use super::receiver::Receiver;
use super::{IDS, LinkConfig, steps};
use crate::event::{LinkEvent, Severity};
use crate::hook::Direction;
use scalepool_protocols::nvlink::stream::{AeMemory, NvlDecodedPacket};
use scalepool_protocols::nvlink::{MAX_FLITS, NvlHeader, Op, Packet, Vc, check};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// Flits that may be unacknowledged (`nvlink` §6.3).
const WINDOW_FLITS: u16 = IDS / 2;

/// A numbered packet that the end has sent.
#[derive(Debug, Clone, Copy)]
struct NumberedPacket {
    first: u16,
    last: u16,
    packet: Packet,
}

/// The watcher of one end.
#[derive(Debug, Clone)]
pub struct Monitor {
    config: LinkConfig,
    // What has come.
    received: u64,
    receiver: Receiver,
    /// AE that the peer has put in force.
    ae_received: AeMemory,
    /// Identifier of the last flit of the packet that was counted last.
    counted: u16,
    /// Packets that may be acknowledged, by their last identifier.
    ends: VecDeque<u16>,
    /// The last acknowledgement that the end has stated.
    told: u16,
    // What was sent.
    units: u64,
    /// The packet under way, and flits of it still to come.
    open: Vec<u128>,
    owed: usize,
    /// Payload of the packet before, which the next CRC covers.
    covered: Vec<u128>,
    /// Behind a bad header nothing is known up to the next REPLAY_INIT.
    lost: bool,
    ae_sent: AeMemory,
    /// Of the last two windows: the end may replay what the peer has acknowledged meanwhile.
    numbered: VecDeque<NumberedPacket>,
    newest: u16,
    acked: u16,
    anything_acked: bool,
    /// REPLAY_INIT in a row, and such runs without an acknowledgement of anything new.
    inits: u8,
    tries: u8,
    /// First identifier that a replay sends next.
    replay: Option<u16>,
    /// Credits for the packet under way when it began: what comes behind its header is too late for it.
    at_header: NvlCreditCount,
    /// Credits of the end, and those that it has given to its peer.
    owned: CreditBook,
    given: CreditBook,
    parts: OpenParts,
    /// Credits of the peer, as `given`; what CREDIT_INIT said before it began again counts too, for the peer may have it.
    peer: CreditBook,
    seen: Seen,
    events: Vec<(Direction, LinkEvent)>,
    /// Packets that channels carry, each once, where they are asked for.
    packets: Option<Vec<(Direction, NvlDecodedPacket)>>,
}

/// Figures of the watched end.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    bad_headers: u64,
    replays: u64,
    replayed_flits: u64,
    /// Packets with credit by channel that have come and that were sent.
    packets: [[u64; Vc::COUNT]; 2],
}

impl Monitor {
    /// Beside an end, from its first flit on.
    pub fn new(config: LinkConfig) -> Monitor {
        let book = CreditBook::new(Buffers::of_default_channels(0, 0));
        Monitor {
            received: 0,
            receiver: Receiver::new(config.codec),
            ae_received: AeMemory::default(),
            counted: IDS - 1,
            ends: VecDeque::new(),
            told: IDS - 1,
            units: 0,
            open: Vec::new(),
            owed: 0,
            covered: Vec::new(),
            lost: false,
            ae_sent: AeMemory::default(),
            numbered: VecDeque::new(),
            newest: IDS - 1,
            acked: IDS - 1,
            anything_acked: false,
            inits: 0,
            tries: 0,
            replay: None,
            at_header: NvlCreditCount::default(),
            owned: book.clone(),
            given: book.clone(),
            parts: OpenParts::default(),
            peer: book,
            seen: Seen::default(),
            events: Vec::new(),
            packets: None,
            config,
        }
    }

    /// The same, and it keeps the packets that channels carry for [`Monitor::take_packets`].
    pub fn with_packets(self) -> Monitor {
        Monitor { packets: Some(Vec::new()), ..self }
    }

    /// Packets that have come whole or were sent since the last call, replayed ones once.
    pub fn take_packets(&mut self) -> Vec<(Direction, NvlDecodedPacket)> {
        self.packets.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Events since the last call, with the direction concerned; `unit` counts its flits.
    pub fn take_events(&mut self) -> Vec<(Direction, LinkEvent)> {
        std::mem::take(&mut self.events)
    }

    fn event(&mut self, way: Direction, violation: Violation) {
        self.event_of(way, Severity::Protocol, violation);
    }

    fn event_of(&mut self, way: Direction, severity: Severity, violation: Violation) {
        let unit = match way {
            Direction::Rx => self.received,
            Direction::Tx => self.units,
        };
        self.events.push((way, LinkEvent { severity, unit, violation }));
    }

    /// The peer has broken a rule.
    fn hears(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.event(Direction::Rx, Violation::at_byte(rule, 0, found, expected, text));
    }

    fn broken(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.event(Direction::Tx, Violation::at_byte(rule, 0, found, expected, text));
    }

    /// What one packet with a good CRC breaks by itself.
    fn content(&mut self, way: Direction, packet: &Packet) {
        let memory = if way == Direction::Rx { &mut self.ae_received } else { &mut self.ae_sent };
        let ae = memory.update(packet);
        let decoded = NvlDecodedPacket { packet: *packet, covered_flits: 0, expected_crc: packet.crc(), ae };
        for violation in check::packet(&decoded, &self.config.codec).violations {
            self.event(way, violation);
        }
        let header = packet.header();
        if let Some(packets) = self.packets.as_mut().filter(|_| header.op.is_numbered() && !is_carrier(&header)) {
            packets.push((way, decoded));
        }
    }

    /// A header whose CRC does not fit.
    fn bad_crc(&mut self, way: Direction, header: u128, covered: &[u128]) {
        let [found, expected] = [NvlHeader::from_bits(header).crc, self.config.codec.crc_of(covered, header)];
        let [found, expected] = [found, expected].map(|crc| format!("{crc:#09x}"));
        let rule = if covered.is_empty() { "NVL-CRC-01" } else { "NVL-CRC-02" };
        let text = format!("the CRC does not match {} flits of the packet before and the header", covered.len());
        // What comes may have been damaged under way.
        let severity = if way == Direction::Rx { Severity::Corrected } else { Severity::Protocol };
        self.event_of(way, severity, Violation::at_byte(rule, 12, found, expected, text));
    }

    // ---- what comes to the end -----------------------------------------------------------------------------------

    /// A flit has come to the end. Whether it is part of the stream: not, while the end waits for a REPLAY_INIT.
    pub fn received(&mut self, flit: &NvlFlit) -> bool {
        let bits = flit.bits();
        let covered = self.receiver.payload().to_vec();
        let in_stream = !self.receiver.is_hunting();
        let heard = self.receiver.flit(bits);
        for packet in heard.confirmed.iter().chain(&heard.single) {
            self.arrived(packet);
        }
        if heard.bad {
            self.seen.bad_headers += 1;
            self.bad_crc(Direction::Rx, bits, &covered);
        }
        if heard.too_long {
            let (found, text) = (NvlHeader::from_bits(bits).len, "the header announces too many flits");
            self.event(Direction::Rx, Violation::at_byte("NVL-PKT-01", 1, found, "at most 17", text));
        }
        if heard.ahead {
            let (found, next) = (NvlHeader::from_bits(bits).ackid, (self.receiver.accepted() + 1) % IDS);
            self.hears("NVL-SEQ-01", found, next, "first identifier of a replay");
        }
        if heard.goes_on {
            self.owned.may_begin_again();
        }
        if let Some(header) = heard.header.filter(|header| !header.op.is_numbered()) {
            self.credited(&header);
            if header.len != 0 {
                self.hears("NVL-PKT-04", header.len, 0, "nothing follows a packet of the link");
            }
            if let Ok(packet) = Packet::new(&[bits]) {
                self.content(Direction::Rx, &packet);
            }
        }
        if let Some(header) = heard.header.or(heard.idle).filter(|header| header.ackv) {
            self.acknowledged(header.ackid);
        }
        self.received += 1;
        in_stream || !self.receiver.is_hunting()
    }

    /// A packet that the end takes.
    fn arrived(&mut self, packet: &Packet) {
        self.counted = (self.counted + packet.flits().len() as u16) % IDS;
        self.ends.push_back(self.counted);
        let header = packet.header();
        self.credited(&header);
        self.owned.stays(self.owned.given_by_init());
        self.content(Direction::Rx, packet);
        if !is_carrier(&header) {
            let data_flits = data_flits(packet);
            let has = self.peer.available(header.vc);
            if has.headers == 0 || has.data_flits < u64::from(data_flits) {
                let found = format!("{:?} on {:?}", header.op, header.vc);
                self.hears("NVL-CRD-04", found, "a packet with credit", "a packet without credit");
            }
            self.seen.packets[0][usize::from(header.vc.0) % Vc::COUNT] += 1;
            self.given.charge(header.vc, data_flits);
            self.peer.charge(header.vc, data_flits);
        }
    }

    /// Credits that come back to the end.
    fn credited(&mut self, header: &NvlHeader) {
        if !self.owned.heard(header) {
            let found = format!("{} headers, {} data flits on {:?}", header.crh, header.crd, header.crvc);
            self.hears("NVL-CRD-03", found, "at most what was used", "credits that came back");
        }
    }

    fn acknowledged(&mut self, id: u16) {
        let new = steps(self.acked, id);
        if new == 0 {
            return;
        }
        let within = new <= steps(self.acked, self.newest);
        if !within || !self.numbered.iter().any(|packet| packet.last == id) {
            let expected = "the last flit of an open packet";
            self.hears("NVL-ACK-01", id, expected, "an acknowledged identifier");
        }
        if within {
            (self.acked, self.anything_acked, self.tries) = (id, true, 0);
            self.parts.acknowledged(id).into_iter().for_each(|given| self.given.stays(given));
        }
    }

    // ---- what it sends -------------------------------------------------------------------------------------------

    /// The end has sent a flit. Whether its header, if it is one, fits the stream.
    pub fn sent(&mut self, flit: &NvlFlit) -> bool {
        let bits = flit.bits();
        if self.owed > 0 {
            self.open.push(bits);
            self.owed -= 1;
        } else {
            self.header(bits);
        }
        if self.owed == 0 && !self.open.is_empty() {
            let flits = std::mem::take(&mut self.open);
            if let Ok(packet) = Packet::new(&flits) {
                self.whole(&packet);
            }
        }
        self.units += 1;
        !self.lost
    }

    fn header(&mut self, bits: u128) {
        let header = NvlHeader::from_bits(bits);
        let covered = std::mem::take(&mut self.covered);
        if self.config.codec.crc_of(&covered, bits) != header.crc {
            if !std::mem::replace(&mut self.lost, true) {
                self.bad_crc(Direction::Tx, bits, &covered);
            }
            return;
        }
        if usize::from(header.len) >= MAX_FLITS {
            let text = "the header announces too many flits";
            self.event(Direction::Tx, Violation::at_byte("NVL-PKT-01", 1, header.len, "at most 17", text));
            self.lost = true;
            return;
        }
        if header.op == Op::REPLAY_INIT {
            self.begins_replay(&header);
        } else {
            if (1..self.config.replay_inits).contains(&std::mem::take(&mut self.inits)) {
                let expected = format!("{} in a row", self.config.replay_inits);
                self.broken(
                    "NVL-RPL-03",
                    "fewer REPLAY_INIT",
                    expected,
                    "a replay begins with too few REPLAY_INIT packets",
                );
            }
            if self.lost {
                return;
            }
            if header.ackv {
                self.acknowledges(header.ackid);
            }
        }
        self.at_header = self.owned.available(header.vc);
        self.open.push(bits);
        self.owed = header.len.into();
    }

    fn acknowledges(&mut self, id: u16) {
        if id == self.told {
            return;
        }
        let Some(at) = self.ends.iter().position(|&end| end == id) else {
            let expected = format!("{}, or the last flit of a packet up to {}", self.told, self.counted);
            self.broken("NVL-ACK-01", id, expected, "the acknowledgement names a flit that has not come");
            // Said once.
            self.told = id;
            return;
        };
        self.ends.drain(..=at);
        self.told = id;
    }

    fn begins_replay(&mut self, header: &NvlHeader) {
        self.lost = false;
        self.inits = self.inits.saturating_add(1);
        if self.inits > 1 && self.replay == Some(header.ackid) {
            return;
        }
        self.seen.replays += 1;
        self.tries = self.tries.saturating_add(1);
        if self.tries == self.config.replay_tries + 1 {
            let expected = format!("at most {} replays", self.config.replay_tries);
            self.broken("NVL-RPL-05", self.tries, expected, "replays have made no progress; the link is down");
        }
        let oldest = (self.acked + 1) % IDS;
        // One that is behind crossed the acknowledgement on its way.
        if (1..WINDOW_FLITS).contains(&steps(oldest, header.ackid)) {
            self.broken("NVL-RPL-03", header.ackid, oldest, "the replay does not begin with the oldest flit");
        }
        // CREDIT_INIT that no acknowledged packet has followed may come again.
        self.given.may_begin_again();
        self.replay = Some(header.ackid);
    }

    fn whole(&mut self, packet: &Packet) {
        self.covered = packet.payload().to_vec();
        let header = packet.header();
        if header.op.is_numbered() {
            self.numbered(packet);
        } else {
            self.content(Direction::Tx, packet);
            self.gives_back(&header);
        }
    }

    fn gives_back(&mut self, header: &NvlHeader) {
        self.peer.heard(header);
        if !self.given.heard(header) && (header.crh > 0 || header.crd > 0) {
            let found = format!("{} headers, {} data flits on {:?}", header.crh, header.crd, header.crvc);
            self.broken("NVL-CRD-03", found, "at most what was used", "more credits are returned than were spent");
        }
    }

    fn numbered(&mut self, packet: &Packet) {
        if let Some(next) = self.replay.take() {
            let mut rest = self.numbered.iter().skip_while(|old| old.first != next);
            // What was acknowledged meanwhile need not go again.
            let acked = |old: &NumberedPacket| steps(old.last, self.acked) < WINDOW_FLITS;
            let due = rest.next().copied();
            let found =
                due.into_iter().chain(rest.take_while(|old| acked(old) || due.is_some_and(|due| acked(&due))).copied());
            match (found.into_iter().find(|old| is_same(&old.packet, packet)), due) {
                (Some(old), _) => {
                    self.seen.replayed_flits += packet.flits().len() as u64;
                    self.goes_on_behind(old.last);
                    return;
                }
                (None, Some(due)) if !acked(&due) => {
                    let [expected, found] = difference(&due.packet, packet);
                    let expected = format!("{expected}, as flits {} to {}", due.first, due.last);
                    self.broken("NVL-RPL-03", found, expected, "a replayed packet differs from its first copy");
                    self.goes_on_behind(due.last);
                    return;
                }
                _ => (),
            }
        }
        self.new_packet(packet);
    }

    fn goes_on_behind(&mut self, last: u16) {
        self.replay = (last != self.newest).then_some((last + 1) % IDS);
    }

    /// It takes identifiers and credits.
    fn new_packet(&mut self, packet: &Packet) {
        self.content(Direction::Tx, packet);
        let header = packet.header();
        let first = (self.newest + 1) % IDS;
        self.newest = (self.newest + packet.flits().len() as u16) % IDS;
        self.numbered.push_back(NumberedPacket { first, last: self.newest, packet: *packet });
        self.parts.sent(self.newest, self.given.given_by_init());
        while self.numbered.front().is_some_and(|old| steps(old.last, self.newest) > WINDOW_FLITS + MAX_FLITS as u16) {
            self.numbered.pop_front();
        }
        let open = steps(self.acked, self.newest);
        if open > WINDOW_FLITS {
            self.broken("NVL-ACK-02", open, "at most 2048", "too many flits are sent without an acknowledgement");
        }
        self.gives_back(&header);
        let data_flits = data_flits(packet);
        if is_carrier(&header) {
            return;
        }
        self.seen.packets[1][usize::from(header.vc.0) % Vc::COUNT] += 1;
        self.owned.charge(header.vc, data_flits);
        let has = self.at_header;
        if has.headers == 0 || has.data_flits < u64::from(data_flits) {
            let found = format!("{:?} on {:?} with {data_flits} data flits", header.op, header.vc);
            let expected = format!("at most {} headers, {} data flits", has.headers, has.data_flits);
            self.broken("NVL-CRD-04", found, expected, "a packet is sent without credits");
        }
    }
}

/// An RSP_DONE of the link itself: it takes no credit.
fn is_carrier(header: &NvlHeader) -> bool {
    header.op == Op::RSP_DONE && header.rid == LINK_RID || usize::from(header.vc.0) >= Vc::COUNT
}

fn data_flits(packet: &Packet) -> u16 {
    packet.parts().data.len() as u16
}

/// The same but for acknowledgement and CRC.
fn is_same(old: &Packet, new: &Packet) -> bool {
    plain(old) == plain(new) && old.payload() == new.payload()
}

/// The header without what the link fills in.
fn plain(packet: &Packet) -> NvlHeader {
    NvlHeader { crc: 0, ackv: false, ackid: 0, ..packet.header() }
}

/// The first thing in which two packets differ, as it is in each of them.
fn difference(old: &Packet, new: &Packet) -> [String; 2] {
    let both = [old, new];
    let headers = both.map(|packet| plain(packet).to_bits().unwrap_or_default());
    let names = both.map(|packet| format!("{:?}", packet.header().op));
    let field = NvlHeader::DEF.fields.iter().find(|field| field.value(headers[0]) != field.value(headers[1]));
    let values = match field {
        Some(field) => headers.map(|bits| format!("{} {:#x}", field.name, field.value(bits))),
        None => {
            let length = old.payload().len().max(new.payload().len());
            let flit = (0..length).find(|&n| old.payload().get(n) != new.payload().get(n)).unwrap_or(0);
            both.map(|packet| match packet.payload().get(flit) {
                Some(bits) => format!("{bits:#034x} in flit {} behind its header", flit + 1),
                None => format!("{} flits behind its header", packet.payload().len()),
            })
        }
    };
    std::array::from_fn(|n| format!("{} with {}", names[n], values[n]))
}
