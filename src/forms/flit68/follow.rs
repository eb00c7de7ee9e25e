//! A stream of which some units go again: the reader follows the retry of one direction (`cxl-68b` §7).
//!
//! Modelled: sequence numbers of retryable flits, the stream before each of them ([`Kept`]), RETRY.Ack, after which the stream
//! goes on at an older flit. Detail: it works at the output of a sender, where replays are seen, and behind the wire, where units are
//! damaged and what follows them is thrown away. Left out: whether a retry is due; that takes both directions, as a watcher of an end has them.
//!
//! A walk through one unit: a good retryable flit is the next one of the stream, and what was owed before it is kept under its
//! number. A bad one may have been retryable, so behind it every unit is judged by itself, by protocol ID and CRC alone. Five
//! Frames and a RETRY.Ack end that: the next flit has the number that the Ack names. A stream that does not begin with
//! INIT.Param has no numbers; nothing is followed there.

use super::Cxl68UnitDecoder;
use crate::follow::Kept;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check::Findings;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, RetryAck};
use scalepool_protocols::cxl::cxl68::pid::PidKind;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// Frames before a RETRY.Ack (`cxl-68b` §7.2).
const FRAMES: u8 = 5;
/// Rules that a unit breaks whatever stands before it.
const OF_ONE_UNIT: [&str; 2] = ["CXL68-CRC", "CXL68-PID"];

/// Reads the units of one direction of a link that retries.
#[derive(Debug, Clone)]
pub struct Follower {
    dir: Dir,
    config: Cxl68Config,
    decoder: Cxl68UnitDecoder,
    /// The stream before each flit of the retry buffer, by number, from INIT.Param on. `None`: nothing is followed.
    kept: Option<Kept<Cxl68UnitDecoder>>,
    /// Whether a retryable flit has been seen.
    begun: bool,
    /// Frames directly before.
    frames: u8,
    /// Units are thrown away until a RETRY.Ack.
    lost: bool,
}

impl Follower {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir) -> Follower {
        Follower::with_config(dir, Cxl68Config::default())
    }

    /// A stream of a link with other choices, of which nothing has been read.
    pub fn with_config(dir: Dir, config: Cxl68Config) -> Follower {
        let decoder = Cxl68UnitDecoder::with_config(dir, config);
        Follower { dir, config, decoder, kept: None, begun: false, frames: 0, lost: false }
    }

    /// Takes the next unit apart and judges it.
    pub fn read(&mut self, unit: &Cxl68Unit) -> (Cxl68DecodedUnit, Findings) {
        let before = self.decoder.clone();
        let (decoded, findings) = match self.lost {
            true => self.alone(unit),
            false => self.decoder.read(unit),
        };
        let ack = self.framed_ack(&decoded);
        if !self.lost {
            self.count(&decoded, before);
        }
        if let (Some(ack), Some(kept)) = (ack, &mut self.kept) {
            self.lost = false;
            kept.goes_on(usize::from(ack.eseq), &mut self.decoder);
        }
        (decoded, findings)
    }

    /// The RETRY.Ack that a unit is, behind its Frames. Outside of NORMAL it counts wherever it stands, and no more than four
    /// flits of data look like Frames.
    fn framed_ack(&mut self, decoded: &Cxl68DecodedUnit) -> Option<RetryAck> {
        let slot = decoded.unit.slot(0);
        // A protocol ID of which one byte is damaged counts as the other one says.
        let is_cachemem = decoded.pid.accept.is_some_and(|pid| pid.kind == PidKind::Cachemem);
        let is_retry = is_cachemem && decoded.crc_ok == Some(true) && slot & 1 == 1 && Control::static_bits_ok(slot);
        let framed = self.frames >= FRAMES;
        match Control::from_slot(slot) {
            Control::RetryFrame(_) if is_retry => self.frames = self.frames.saturating_add(1),
            Control::RetryAck(ack) if is_retry => {
                self.frames = 0;
                return framed.then_some(ack);
            }
            _ => self.frames = 0,
        }
        None
    }

    fn count(&mut self, decoded: &Cxl68DecodedUnit, before: Cxl68UnitDecoder) {
        let broken = match decoded.kind {
            Cxl68UnitKind::Control(_) => !Control::static_bits_ok(decoded.unit.slot(0)),
            _ => decoded.kind == Cxl68UnitKind::Dropped,
        };
        if broken || decoded.crc_ok == Some(false) {
            self.lost = self.kept.is_some();
            return;
        }
        match decoded.kind {
            Cxl68UnitKind::Control(control) if !control.is_retryable() => return,
            Cxl68UnitKind::Control(Control::InitParam(init)) if !self.begun => {
                let wrap = usize::from(init.wrap);
                self.kept = Some(Kept::new(0..=wrap, wrap + 1));
            }
            Cxl68UnitKind::Control(_) | Cxl68UnitKind::Protocol(_) | Cxl68UnitKind::AllData => (),
            Cxl68UnitKind::Almp | Cxl68UnitKind::Null | Cxl68UnitKind::Io | Cxl68UnitKind::Dropped => return,
        }
        self.begun = true;
        if let Some(kept) = &mut self.kept {
            kept.taken(before);
        }
    }

    /// A unit as the first of a stream, with what it breaks by itself.
    fn alone(&self, unit: &Cxl68Unit) -> (Cxl68DecodedUnit, Findings) {
        let (decoded, mut findings) = Cxl68UnitDecoder::with_config(self.dir, self.config).read(unit);
        findings.violations.retain(|violation| OF_ONE_UNIT.iter().any(|rules| violation.rule.starts_with(rules)));
        findings.lints.clear();
        (decoded, findings)
    }
}
