//! CXL.io over 68B units: TLPs and DLLPs framed in a byte stream, with LCRC and replay (`cxl-io` §1.4, §2, §5).
//!
//! A walk through one flit clock: [`Client::receive`] cuts the unit into packets; a TLP goes by its LCRC and number, a
//! DLLP by its CRC. [`Client::transmit`] fills 64 bytes, in this order: the rest of a packet that straddles, Nak, Ack,
//! flow control, TLPs of a replay, new TLPs, IDL. A unit of IDL alone goes only behind one that ended with a TLP.

use super::config::{IoConfig, IoConfigError, ReplayConfig};
use super::deframer::{DeframedItem, Deframer};
use super::port::{IoChannel, IoPort};
use super::sequence::{Heard, IoSequenceSender, Receiver, Verdict};
use super::tlp::IoTlpForm;
use crate::arbmux::cxl68::Client;
use crate::event::{Severity, finding};
use crate::line_time::{LineTimeParts, Stream, Use};
use scalepool_protocols::check::pcie;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES, UNIT_BYTES};
use scalepool_protocols::cxl::cxlio::code::{DllpType, FcType};
use scalepool_protocols::cxl::cxlio::dllp::{Dllp, DllpAckNak, DllpFc};
use scalepool_protocols::cxl::cxlio::framing::{self, EDB, Framed, IDL};
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// One end of CXL.io on a 68B link.
#[derive(Debug, Clone)]
pub struct NonFlitEnd {
    channel: IoChannel,
    replay: ReplayConfig,
    sender: IoSequenceSender,
    receiver: Receiver,
    deframer: Deframer,
    /// Bytes of packets that have begun.
    stream: VecDeque<u8>,
    /// What they are for.
    stream_uses: Stream,
    /// What the place of the last unit was used for.
    uses: LineTimeParts,
    /// The packet at the end of `stream` is a TLP.
    tail_is_tlp: bool,
    /// The last unit ended with a TLP: its receiver waits for what follows.
    owes_token: bool,
    /// Replays and trainings since a TLP or an acknowledgement came well.
    fruitless: u32,
    /// TLPs and acknowledgements that came well.
    progress: u64,
    /// New TLPs that go nullified before they go well: a fault.
    nullify: u32,
    train_wanted: bool,
    /// The link has come back; clocks begin with the next flit clock.
    resumed: bool,
    now: u64,
}

impl NonFlitEnd {
    /// An end that has just been told that its vLSM is Active.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn new(config: IoConfig, replay: ReplayConfig) -> Result<NonFlitEnd, IoConfigError> {
        config.check()?;
        replay.check()?;
        Ok(NonFlitEnd {
            sender: IoSequenceSender::new(&replay, &config),
            receiver: Receiver::new(&replay, &config),
            deframer: Deframer::default(),
            channel: IoChannel::new(config, IoTlpForm::NonFlit)?,
            replay,
            stream: VecDeque::new(),
            stream_uses: Stream::default(),
            uses: LineTimeParts::default(),
            tail_is_tlp: false,
            owes_token: false,
            fruitless: 0,
            progress: 0,
            nullify: 0,
            train_wanted: false,
            resumed: false,
            now: 0,
        })
    }

    /// A fault: the next so many new TLPs go nullified first, with a complemented LCRC and EDB, and then well.
    pub fn nullify(&mut self, tlps: u32) {
        self.nullify += tlps;
    }

    /// Replays and trainings in a row, without a good TLP or a new acknowledgement between them.
    pub fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// Good TLPs and new acknowledgements, all from the start: each ends the row of [`NonFlitEnd::fruitless`].
    pub fn progress(&self) -> u64 {
        self.progress
    }

    fn came_well(&mut self) {
        (self.fruitless, self.progress) = (0, self.progress + 1);
    }

    /// TLPs that wait for their Ack.
    pub fn unacknowledged(&self) -> usize {
        self.sender.unacknowledged()
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    fn put_dllp(&mut self, dllp: Dllp) {
        self.channel.stats.dllps_sent += 1;
        self.put(framing::frame_dllp(dllp), &LineTimeParts::all(Use::Control));
    }

    fn put(&mut self, bytes: impl IntoIterator<Item = u8>, parts: &LineTimeParts) {
        let before = self.stream.len();
        self.stream.extend(bytes);
        self.stream_uses.push(8 * (self.stream.len() - before) as u32, parts);
    }

    fn put_tlp(&mut self, number: u16, tlp: &[u8], parts: &LineTimeParts) {
        // Longer ones were refused.
        if let Some((token, lcrc)) = framing::frame_tlp(number, tlp) {
            self.put(token.iter().chain(tlp).chain(&lcrc).copied(), parts);
        }
    }

    /// A TLP that was spoilt on its way here, with the number that the next one will get: dropped by its receiver.
    fn put_nullified(&mut self, mut tlp: Vec<u8>) {
        tlp.last_mut().into_iter().for_each(|byte| *byte = !*byte);
        let number = self.sender.next_number();
        if let Some((token, _)) = framing::frame_tlp(number, &tlp) {
            let lcrc = pcie::lcrc_nullified(number, &tlp);
            self.put(token.into_iter().chain(tlp).chain(lcrc).chain(EDB), &LineTimeParts::all(Use::Replay));
        }
    }

    /// Puts the next packet into the stream. `None`: nothing to send; else whether it is a TLP.
    fn next_packet(&mut self, now: u64) -> Option<bool> {
        if let Some((seq, nak)) = self.receiver.due(now) {
            let dllp_type = if nak { DllpType::Nak } else { DllpType::Ack };
            *(if nak { &mut self.channel.stats.naks } else { &mut self.channel.stats.acks }) += 1;
            let bits = DllpAckNak { seq, dllp_type, ..DllpAckNak::default() }.to_bits().ok()?;
            self.put_dllp(Dllp((bits as u32).to_be_bytes()));
            return Some(false);
        }
        if let Some(dllp) = self.channel.next_dllp(now) {
            self.put_dllp(dllp);
            return Some(false);
        }
        if let Some((number, tlp)) = self.sender.next_replayed(now) {
            let tlp = tlp.to_vec();
            self.channel.stats.replayed += 1;
            self.put_tlp(number, &tlp, &LineTimeParts::all(Use::Replay));
            return Some(true);
        }
        if !self.sender.has_room() {
            return None;
        }
        let tlp = self.channel.next_tlp()?;
        let parts = LineTimeParts::all(Use::Headers).with(Use::Payload, 8 * tlp.payload().len() as u32);
        let tlp = tlp.into_bytes();
        let nullified = self.nullify > 0;
        if nullified {
            self.nullify -= 1;
            self.put_nullified(tlp.clone());
        }
        let number = self.sender.keep(tlp.clone(), now);
        self.put_tlp(number, &tlp, &parts);
        Some(true)
    }

    /// What the clock alone brings.
    fn tick(&mut self, now: u64) {
        self.now = now;
        if std::mem::take(&mut self.resumed) {
            self.sender.restart(now);
            self.receiver.restart(now);
            self.channel.restart_clocks(now);
        }
        self.channel.clock(now);
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn act_on(&mut self, heard: Heard) {
        match heard {
            Heard::Replay => {
                self.channel.stats.replays += 1;
                self.fruitless += 1;
            }
            Heard::Train => self.ask_for_training(),
            Heard::OutOfWindow => self.channel.stats.bad_acks += 1,
            Heard::Fine => (),
        }
    }

    fn ask_for_training(&mut self) {
        self.channel.stats.trainings += u64::from(!self.train_wanted);
        self.fruitless += u32::from(!self.train_wanted);
        self.train_wanted = true;
    }

    fn take_tlp(&mut self, bytes: &[u8], edb: bool, now: u64) {
        // Token and length were judged where it was cut out.
        let Ok(Some(framed)) = framing::unframe_tlp(bytes) else { return };
        match framed {
            Framed::Good(number, tlp) if !edb => match self.receiver.good(number, now) {
                Verdict::Take => {
                    self.came_well();
                    self.channel.arrived(tlp.to_vec());
                }
                Verdict::Duplicate => self.channel.stats.duplicates += 1,
                Verdict::Ahead => (),
            },
            Framed::Nullified(_) if edb => self.channel.stats.nullified += 1,
            Framed::Good(number, _) | Framed::Nullified(number) | Framed::BadLcrc(number) => {
                self.channel.stats.bad += 1;
                self.receiver.bad();
                let text = format!("the LCRC of TLP {number} does not match its bytes (EDB behind it: {edb})");
                let found = finding("CXLIO-LCR-01", "another LCRC", "the one of these bytes", &text);
                self.channel.event(Severity::Corrected, found);
            }
        }
    }

    fn take_dllp(&mut self, bytes: &[u8], now: u64) {
        let Ok((dllp, true)) = Dllp::from_framed(bytes) else {
            self.channel.stats.bad += 1;
            let found = finding(
                "CXLIO-DLL-04",
                format!("{bytes:02x?}"),
                "a CRC-16 that fits",
                "the CRC-16 of a DLLP does not match its bytes; the DLLP is dropped",
            );
            self.channel.event(Severity::Corrected, found);
            return;
        };
        let bits = dllp.bits();
        let fc = DllpFc::from_bits(bits);
        match DllpType(dllp.0[0]) {
            code @ (DllpType::Ack | DllpType::Nak) => {
                let before = self.sender.unacknowledged();
                let heard = self.sender.heard(DllpAckNak::from_bits(bits).seq, code == DllpType::Nak, now);
                if self.sender.unacknowledged() < before {
                    self.came_well();
                }
                self.act_on(heard);
            }
            _ if FcType(dllp.0[0] >> 4).name().is_some() => {
                if let Some(wrong) = self.channel.receive_flow(&fc, now) {
                    self.channel.protocol(wrong);
                }
            }
            DllpType::NOP => (),
            code if code.name().is_some() => self.channel.stats.dllps_dropped += 1,
            _ => {
                self.channel.stats.dllps_dropped += 1;
                let mut found = Vec::new();
                dllp.check(false, &mut found);
                found.into_iter().for_each(|violation| self.channel.protocol(violation));
            }
        }
    }
}

impl IoPort for NonFlitEnd {
    fn channel(&self) -> &IoChannel {
        &self.channel
    }

    fn channel_mut(&mut self) -> &mut IoChannel {
        &mut self.channel
    }
}

impl Client for NonFlitEnd {
    fn transmit(&mut self, now: u64) -> Option<Cxl68Unit> {
        self.tick(now);
        let heard = self.sender.clock(now);
        self.act_on(heard);
        while self.stream.len() < PAYLOAD_BYTES {
            let Some(is_tlp) = self.next_packet(now) else { break };
            self.tail_is_tlp = is_tlp;
        }
        let empty = match self.lacks_credit() {
            true => Use::Credits,
            false if self.channel.can_send() => Use::Replay,
            false => Use::Idle,
        };
        self.uses = LineTimeParts::all(empty);
        if self.stream.is_empty() && !self.owes_token {
            return None;
        }
        self.owes_token = self.stream.len() == PAYLOAD_BYTES && self.tail_is_tlp;
        let mut payload = [IDL; PAYLOAD_BYTES];
        let here = self.stream.len().min(PAYLOAD_BYTES);
        self.uses = LineTimeParts::all(empty).with(Use::Headers, 8 * (UNIT_BYTES - PAYLOAD_BYTES) as u32);
        self.stream_uses.take(8 * here as u32, &mut self.uses);
        payload.iter_mut().zip(self.stream.drain(..here)).for_each(|(to, from)| *to = from);
        self.channel.stats.flits += 1;
        Some(Cxl68Unit::plain(pid::IO, &payload))
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    fn receive(&mut self, unit: &Cxl68Unit, now: u64) {
        self.tick(now);
        for item in self.deframer.read(unit.payload()) {
            match item {
                DeframedItem::Tlp { framed, edb } => self.take_tlp(&framed, edb, now),
                DeframedItem::Dllp(bytes) => self.take_dllp(&bytes, now),
                DeframedItem::Lost(violation) => {
                    self.channel.stats.bad += 1;
                    self.channel.event(Severity::Retrain, violation);
                    self.ask_for_training();
                }
            }
        }
        self.channel.received += 1;
    }

    fn phy_down(&mut self) {
        self.stream.clear();
        self.stream_uses.clear();
        self.owes_token = false;
        self.deframer.restart();
        self.train_wanted = false;
    }

    fn phy_up(&mut self) {
        self.resumed = true;
    }

    fn link_reset(&mut self) {
        self.phy_down();
        self.channel.reset();
        self.sender = IoSequenceSender::new(&self.replay, &self.channel.config);
        self.receiver = Receiver::new(&self.replay, &self.channel.config);
        self.resumed = true;
    }

    fn is_quiet(&self) -> bool {
        self.channel.is_quiet(self.now)
            && self.stream.is_empty()
            && !self.owes_token
            && self.sender.unacknowledged() == 0
            && self.receiver.is_quiet()
    }

    fn take_retrain_request(&mut self) -> bool {
        std::mem::take(&mut self.train_wanted)
    }
}
