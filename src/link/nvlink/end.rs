//! One end of an NVLink: transmitter and receiver with their shared state.

use super::config::{Buffers, LinkConfig};
use super::credit::CreditBook;
use super::flit::NvlFlit;
use super::message::{LINK_RID, NvlMessage, NvlRefused};
use super::receiver::Receiver;
use super::transmitter::{NvlTransmitOutcome, Transmitter};
use crate::event::{LinkEvent, Severity};
use crate::health::{StateTimes, states};
use crate::hook::{Direction, HookPoint, Hooks, Passed};
use crate::line_time::{LineTimeParts, Use};
use scalepool_protocols::nvlink::check;
use scalepool_protocols::nvlink::stream::{AeMemory, NvlDecodedPacket};
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, NvlHeader, Op, Packet, Vc};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// Name of its packets in [`scalepool_protocols::registry::PROTOCOLS`].
pub(super) const PROTOCOL: &str = "nvlink";

/// Rules whose breach makes a packet worthless: reserved operation, lengths that do not fit.
const DROPPED: [&str; 3] = ["NVL-OPC-01", "NVL-PKT-01", "NVL-PKT-04"];

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Flits sent.
    pub sent_flits: u64,
    /// Packets sent that take identifiers, first copies.
    pub sent_packets: u64,
    /// Of them carriers of credits.
    pub carriers: u64,
    /// Packets sent again.
    pub replayed: u64,
    /// Flits of them.
    pub replayed_flits: u64,
    /// Replays begun.
    pub replays: u64,
    /// REPLAY_INIT sent.
    pub replay_inits: u64,
    /// Headers whose CRC did not fit.
    pub bad_headers: u64,
    /// Packets accepted.
    pub accepted: u64,
    /// Packets accepted and dropped, as they mean nothing.
    pub dropped: u64,
}

/// One end of the link.
#[derive(Debug, Clone)]
pub struct NvlEnd {
    config: LinkConfig,
    credits: CreditBook,
    receiver: Receiver,
    transmitter: Transmitter,
    queues: [VecDeque<NvlMessage>; Vc::COUNT],
    turn: usize,
    inboxes: [VecDeque<NvlMessage>; Vc::COUNT],
    /// Messages of each channel that its user has given to it and taken from it.
    messages: [[u64; 2]; Vc::COUNT],
    /// AE that the peer has, and that we have from it.
    ae_sent: AeMemory,
    ae_received: AeMemory,
    /// Payload of the last packet sent, which the next CRC covers.
    previous: Vec<u128>,
    /// Flits of the packet under way.
    under_way: VecDeque<u128>,
    acks_lost: bool,
    credits_held: bool,
    down: bool,
    received: u64,
    /// Flits that came behind the last good header.
    flits_since_good: u64,
    /// Identifier of the last flit of the packet that was accepted last.
    last_taken: u16,
    /// Packets accepted since they were asked for last, with the identifier of their last flit; `None`: nobody asks.
    taken: Option<Vec<(u16, Packet)>>,
    events: Vec<LinkEvent>,
    stats: Stats,
    /// What the flits of the last packet are for.
    uses: LineTimeParts,
    pub(super) times: StateTimes,
    hooks: Hooks,
}

/// Bits of a flit.
const FLIT_BITS: u32 = 8 * FLIT_BYTES as u32;

impl NvlEnd {
    /// An end after reset, with its receive buffers.
    pub fn new(config: LinkConfig, buffers: Buffers) -> NvlEnd {
        NvlEnd {
            config,
            credits: CreditBook::new(buffers),
            receiver: Receiver::new(config.codec),
            transmitter: Transmitter::default(),
            queues: Default::default(),
            turn: 0,
            inboxes: Default::default(),
            messages: Default::default(),
            ae_sent: AeMemory::default(),
            ae_received: AeMemory::default(),
            previous: Vec::new(),
            under_way: VecDeque::new(),
            acks_lost: false,
            credits_held: false,
            down: false,
            received: 0,
            flits_since_good: 0,
            last_taken: super::IDS - 1,
            taken: None,
            events: Vec::new(),
            stats: Stats::default(),
            uses: LineTimeParts::default(),
            times: StateTimes::new(&states::NVLINK),
            hooks: Hooks::default(),
        }
    }

    // ---- the user's side -----------------------------------------------------------------------------------------

    /// Queues a message on its channel.
    ///
    /// # Errors
    /// One that is no packet, belongs to the link itself or names no channel.
    pub fn send(&mut self, message: NvlMessage) -> Result<(), NvlRefused> {
        if let Some([given, _]) = self.messages.get_mut(usize::from(message.vc.0)) {
            *given += 1;
        }
        // With an AE it is as long as it can be.
        message.packet(true)?;
        let Some(message) = self.hooks_message((HookPoint::PackerIn, Direction::Tx), message) else { return Ok(()) };
        self.queues[usize::from(message.vc.0)].push_back(message);
        Ok(())
    }

    /// Takes hooks in the place of the present ones.
    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
    }

    /// Its hooks; those of the wire are asked by its port.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Shows a packet to the hooks of a point; `None`: it is gone.
    fn hooks_packet(&self, (point, way): (HookPoint, Direction), packet: Packet) -> Option<Packet> {
        if !self.hooks.watches(point, way) {
            return Some(packet);
        }
        let mut bytes: Vec<u8> = packet.bytes().collect();
        let passed = self.hooks.pass(point, way, PROTOCOL, &mut bytes);
        // Of the same length, so it is a packet unless its header says otherwise.
        (passed == Passed::On).then(|| Packet::from_bytes(&bytes).unwrap_or(packet))
    }

    /// The same with a message, as its packet with an AE. Other bytes that are no message are passed over.
    fn hooks_message(&self, at: (HookPoint, Direction), message: NvlMessage) -> Option<NvlMessage> {
        if !self.hooks.watches(at.0, at.1) {
            return Some(message);
        }
        let Ok(packet) = message.packet(true) else { return Some(message) };
        let shown = self.hooks_packet(at, packet)?;
        let found = NvlMessage::of(&shown, &shown.parts().ae.map_or(message.ae(), Ae::from_bits));
        Some(if found.packet(true).is_ok() { found } else { message })
    }

    /// Messages of a channel that wait.
    pub fn waiting(&self, vc: Vc) -> usize {
        self.queues.get(usize::from(vc.0)).map_or(0, VecDeque::len)
    }

    /// Messages of a channel that were accepted and not taken.
    pub fn received(&self, vc: Vc) -> usize {
        self.inboxes.get(usize::from(vc.0)).map_or(0, VecDeque::len)
    }

    /// Messages of a channel that its user has given to it, refused ones too, and that he has taken from it.
    pub fn messages(&self, vc: Vc) -> [u64; 2] {
        self.messages.get(usize::from(vc.0)).copied().unwrap_or_default()
    }

    /// Whether the next flit begins a packet.
    pub fn is_between_packets(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Takes the next message of a channel out of its buffer; its credits become due for return.
    pub fn take(&mut self, vc: Vc) -> Option<NvlMessage> {
        let message = self.inboxes.get_mut(usize::from(vc.0))?.pop_front()?;
        self.credits.freed(vc, message.data_flits());
        self.messages[usize::from(vc.0)][1] += 1;
        Some(message)
    }

    /// Hears the peer's acknowledgements or not (a fault input: they are lost).
    pub fn lose_acks(&mut self, lose: bool) {
        self.acks_lost = lose;
    }

    /// Holds back or releases the credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// What the end was built with.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    /// Keeps packets as they are accepted, for [`NvlEnd::take_packets`].
    pub fn keep_packets(&mut self) {
        self.taken.get_or_insert_default();
    }

    /// Packets accepted since the last call with the identifier of their last flit, those of the link too; none unless they
    /// are kept.
    pub fn take_packets(&mut self) -> Vec<(u16, Packet)> {
        self.taken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Flits that have come.
    pub fn received_flits(&self) -> u64 {
        self.received
    }

    /// The packet that waits longest of a channel: its data flits.
    pub fn next_data_flits(&self, vc: Vc) -> Option<u16> {
        self.queues.get(usize::from(vc.0))?.front().map(NvlMessage::data_flits)
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Credit book.
    pub fn credits(&self) -> &CreditBook {
        &self.credits
    }

    /// Receiving side.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Sending side.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// What has failed in a row: replays, or times of a replay in which no good header has come at all.
    pub fn fruitless(&self) -> u32 {
        let silent = self.flits_since_good / u64::from(self.config.timeout_flits.max(1));
        self.transmitter.fruitless().max(u32::try_from(silent).unwrap_or(u32::MAX))
    }

    /// What the flits of the packet are for that was begun last.
    pub fn uses(&self) -> LineTimeParts {
        self.uses
    }

    /// No message waits, is under way to the peer or stays here: what the link still does is for itself.
    pub fn is_done(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
            && self.inboxes.iter().all(VecDeque::is_empty)
            && self.under_way.is_empty()
            && self.credits.is_said()
            && self.transmitter.unacknowledged_flits() == 0
    }

    /// Too many replays have failed.
    pub fn is_down(&self) -> bool {
        self.down
    }

    /// Nothing waits, everything sent is acknowledged, no credit waits to be returned.
    pub fn is_quiet(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
            && self.inboxes.iter().all(VecDeque::is_empty)
            && self.under_way.is_empty()
            && self.credits.is_said()
            && (self.credits_held || !self.credits.is_pending())
            && self.transmitter.unacknowledged_flits() == 0
            && !self.transmitter.is_replaying()
            && !self.transmitter.awaits_answer()
            && self.receiver.is_quiet()
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn event(&mut self, severity: Severity, violation: Violation) {
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    fn protocol(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.event(Severity::Protocol, Violation::at_byte(rule, 0, found, expected, text));
    }

    /// Takes a flit off the wire.
    pub fn receive(&mut self, flit: &NvlFlit) {
        let mut bytes = flit.0;
        if !self.down && self.hooks.pass(HookPoint::ReplayIn, Direction::Rx, PROTOCOL, &mut bytes) == Passed::On {
            self.flit(&NvlFlit(bytes));
        }
        self.received += 1;
    }

    fn flit(&mut self, flit: &NvlFlit) {
        let heard = self.receiver.flit(flit.bits());
        for packet in heard.confirmed.iter().chain(&heard.single) {
            self.accepted(packet);
        }
        let is_good = heard.confirmed.is_some() || heard.single.is_some();
        self.flits_since_good = if is_good { 0 } else { self.flits_since_good + 1 };
        self.stats.bad_headers += u64::from(heard.bad);
        if heard.too_long {
            self.protocol(
                "NVL-PKT-01",
                "a header",
                "at most 17 flits behind it",
                "the header announces too many flits",
            );
        }
        if heard.ahead {
            let (found, next) = (NvlHeader::from_bits(flit.bits()).ackid, self.receiver.accepted() + 1);
            self.protocol("NVL-SEQ-01", found, next % super::IDS, "the first identifier of a replay is wrong");
        }
        if heard.goes_on {
            self.credits.may_begin_again();
        }
        if let Some(header) = heard.header.filter(|h| !h.op.is_numbered()) {
            self.hear_credits(&header);
            if header.len != 0 {
                self.protocol(
                    "NVL-PKT-04",
                    header.len,
                    0,
                    "a packet of the link layer announces flits behind its header",
                );
            }
        }
        if let Some(header) = heard.header.or(heard.idle) {
            self.acknowledged(&header);
        }
    }

    fn acknowledged(&mut self, header: &NvlHeader) {
        if self.acks_lost {
            return;
        }
        if !header.ackv {
            self.transmitter.no_ack();
            return;
        }
        let open_flits = self.transmitter.unacknowledged_flits();
        let outcome = self.transmitter.ack(header.ackid, &self.config);
        if self.transmitter.unacknowledged_flits() < open_flits {
            // CREDIT_INIT goes before all numbered packets that are open, so a repetition that a replay has begun is not needed.
            self.credits.part_was_heard();
        }
        if outcome == NvlTransmitOutcome::Wrong {
            self.protocol(
                "NVL-ACK-01",
                header.ackid,
                "the last flit of an open packet",
                "the acknowledgement names a flit that is not the last of an open packet",
            );
        }
        self.act_on(outcome);
    }

    fn hear_credits(&mut self, header: &NvlHeader) {
        let mut header = *header;
        if header.crh > 0 || header.crd > 0 {
            let [vc, headers, data_flits] = self.hooks.credits([header.crvc.0, header.crh, header.crd]);
            (header.crvc, header.crh, header.crd) = (Vc(vc), headers, data_flits);
        }
        let header = &header;
        if !self.credits.heard(header) {
            let found = format!("{} headers, {} data flits on {:?}", header.crh, header.crd, header.crvc);
            self.protocol("NVL-CRD-03", found, "at most what was used", "more credits are returned than were spent");
        }
    }

    /// A packet that counts.
    fn accepted(&mut self, packet: &Packet) {
        self.stats.accepted += 1;
        self.last_taken = (self.last_taken + packet.flits().len() as u16) % super::IDS;
        if let Some(taken) = &mut self.taken {
            taken.push((self.last_taken, *packet));
        }
        let header = packet.header();
        self.hear_credits(&header);
        self.credits.stays(self.credits.given_by_init());
        if header.op == Op::RSP_DONE && header.rid == LINK_RID {
            return;
        }
        self.hooks_packet((HookPoint::ReplayOut, Direction::Rx), *packet);
        self.hooks_packet((HookPoint::PackerIn, Direction::Rx), *packet);
        let ae = self.ae_received.update(packet);
        let decoded = NvlDecodedPacket { packet: *packet, covered_flits: 0, expected_crc: packet.crc(), ae };
        let broken = check::packet(&decoded, &self.config.codec).violations;
        let worthless = broken.iter().any(|v| DROPPED.contains(&v.rule));
        for violation in broken {
            self.event(Severity::Protocol, violation);
        }
        if worthless {
            self.stats.dropped += 1;
            return;
        }
        let message = NvlMessage::of(packet, &ae);
        if !self.credits.arrived(message.vc, message.data_flits()) {
            let found = format!("{:?} on {:?}", message.op, message.vc);
            self.protocol(
                "NVL-CRD-04",
                found,
                "a packet with credit",
                "a packet is received although its sender has no credits",
            );
        }
        let (vc, data_flits) = (message.vc, message.data_flits());
        match self.hooks_message((HookPoint::PackerOut, Direction::Rx), message).filter(|m| m.vc == vc) {
            Some(message) => self.inboxes[usize::from(vc.0)].push_back(message),
            // It was in a buffer, which is free again.
            None => self.credits.freed(vc, data_flits),
        }
    }

    fn act_on(&mut self, outcome: NvlTransmitOutcome) {
        match outcome {
            NvlTransmitOutcome::Replay => {
                self.stats.replays += 1;
                self.credits.say_again();
            }
            NvlTransmitOutcome::Down => {
                self.down = true;
                let tries = self.transmitter.tries();
                let text = "replays have made no progress; the link is down";
                self.event(Severity::Uncorrectable, Violation::at_byte("NVL-RPL-05", 0, tries, "progress", text));
            }
            NvlTransmitOutcome::Fine | NvlTransmitOutcome::Wrong => (),
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// The flit of this flit clock; a link always carries one.
    pub fn transmit(&mut self) -> NvlFlit {
        self.hooks.clock(self.stats.sent_flits);
        if !self.down {
            let outcome = self.transmitter.clock(&self.config);
            self.act_on(outcome);
        }
        let credits_waited = self.credits.have_waited(self.config.carrier_flits);
        if self.under_way.is_empty() {
            let packet = self.next_packet(credits_waited);
            let covered = std::mem::take(&mut self.previous);
            let sealed = packet.with_crc(self.config.codec.crc_of(&covered, packet.header_bits()));
            self.previous = sealed.payload().to_vec();
            self.under_way.extend(sealed.flits());
        }
        self.stats.sent_flits += 1;
        self.under_way.pop_front().unwrap_or_default().into()
    }

    fn holds_credits(&self) -> bool {
        self.credits_held || self.credits.is_pending() && self.hooks.holds_credits(1)
    }

    /// The packet that goes now, with everything but its CRC.
    fn next_packet(&mut self, credits_waited: bool) -> Packet {
        self.uses = LineTimeParts::all(Use::Replay);
        if self.down {
            return bare(&NvlHeader::default());
        }
        // An open payload is closed first, so that every copy of REPLAY_INIT stands alone.
        if self.transmitter.begins_replay() && !self.previous.is_empty() {
            return self.acknowledging(&bare(&NvlHeader::default()));
        }
        if let Some(ackid) = self.transmitter.next_init() {
            self.stats.replay_inits += 1;
            return bare(&NvlHeader { op: Op::REPLAY_INIT, ackid, ..NvlHeader::default() });
        }
        if let Some(header) = self.credits.next_init() {
            self.uses = LineTimeParts::all(Use::Control);
            return self.acknowledging(&bare(&header));
        }
        if let Some(packet) = self.transmitter.next_again() {
            self.stats.replayed += 1;
            self.stats.replayed_flits += packet.flits().len() as u64;
            // An IDLE flit takes the place of one that a hook drops.
            let again = self.hooks_packet((HookPoint::ReplayOut, Direction::Tx), packet);
            return self.acknowledging(&again.unwrap_or_else(|| bare(&NvlHeader::default())));
        }
        self.uses = LineTimeParts::all(self.waits_for());
        let new = match self.credits.waits_between_parts() {
            // The acknowledgement of a carrier says that the part has been heard.
            true => self.carrier(self.transmitter.unacknowledged_flits() == 0),
            false => self.next_message().or_else(|| self.carrier(credits_waited && !self.holds_credits())),
        };
        let Some(packet) = new else {
            // Nothing waits that may go, or a hook has dropped it.
            self.uses = LineTimeParts::all(self.uses.empty());
            return self.acknowledging(&bare(&NvlHeader::default()));
        };
        let mut header = packet.header();
        if !self.holds_credits() {
            self.credits.give_back(&mut header);
        }
        let packet = with_header(&packet, &header);
        let packet = self.hooks_packet((HookPoint::ReplayIn, Direction::Tx), packet).unwrap_or(packet);
        self.transmitter.keep(packet);
        self.stats.sent_packets += 1;
        self.acknowledging(&packet)
    }

    /// A numbered packet that says nothing but credits, if it is due and there is room.
    fn carrier(&mut self, is_due: bool) -> Option<Packet> {
        let goes = is_due && self.transmitter.has_room(1, &self.config);
        self.stats.carriers += u64::from(goes);
        if goes {
            self.uses = LineTimeParts::all(Use::Control);
        }
        let vc = self.config.codec.response_vc;
        goes.then(|| bare(&NvlHeader { op: Op::RSP_DONE, rid: LINK_RID, vc, ..NvlHeader::default() }))
    }

    /// What a flit clock is lost to in which no message goes.
    fn waits_for(&self) -> Use {
        let waiting = || self.queues.iter().filter_map(VecDeque::front);
        let has_room =
            |m: &NvlMessage| m.packet(true).is_ok_and(|p| self.transmitter.has_room(p.flits().len(), &self.config));
        match waiting().next() {
            None => Use::Idle,
            Some(_) if waiting().any(has_room) => Use::Credits,
            Some(_) => Use::Replay,
        }
    }

    /// The next message that has credit, the channels in turn.
    fn next_message(&mut self) -> Option<Packet> {
        for k in 0..Vc::COUNT {
            let at = (self.turn + k) % Vc::COUNT;
            let Some(message) = self.queues[at].front() else { continue };
            let with_ae = self.ae_sent.get(message.vc) != message.ae();
            let Ok(packet) = message.packet(with_ae) else { continue };
            if !self.transmitter.has_room(packet.flits().len(), &self.config) {
                continue;
            }
            if !self.credits.spend(message.vc, message.data_flits()) {
                continue;
            }
            self.ae_sent.update(&packet);
            self.uses =
                LineTimeParts::all(Use::Headers).with(Use::Payload, FLIT_BITS * u32::from(message.data_flits()));
            self.queues[at].pop_front();
            self.turn = (at + 1) % Vc::COUNT;
            return self.hooks_packet((HookPoint::PackerOut, Direction::Tx), packet);
        }
        None
    }

    /// The packet with the acknowledgement that is due.
    fn acknowledging(&mut self, packet: &Packet) -> Packet {
        let ack = self.receiver.ack();
        with_header(packet, &NvlHeader { ackv: ack.is_some(), ackid: ack.unwrap_or(0), ..packet.header() })
    }
}

/// A packet of one flit.
fn bare(header: &NvlHeader) -> Packet {
    let header = header.to_bits().expect("codes of a table and numbers below 4096");
    Packet::new(&[header]).expect("one flit")
}

fn with_header(packet: &Packet, header: &NvlHeader) -> Packet {
    packet.with_header_bits(header.to_bits().expect("fields of a header and numbers below 4096"))
}
