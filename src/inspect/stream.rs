//! Units out of beats, and what the decoder of their stream says, or the watcher of their link.

use super::declared::DeclaredRange;
use super::map::{Interface, UnitContent};
use super::waiver::WaivedFinding;
use super::wave::SignalPart;
use scalepool_forms::flit::{FlitAnswer, FlitDecoder};
use scalepool_forms::options::Options;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::nvlink::{FLIT_BYTES, MAX_FLITS, NvlHeader};
use scalepool_protocols::wire::{At, Findings, Violation, Wire};
use serde_json::Value;
use std::collections::VecDeque;

/// Data of one edge.
pub(super) struct Beat {
    pub t_fs: u64,
    pub cycle: u64,
    /// Whether it says that it is the first of a unit; `None` where nothing says so.
    pub first: Option<bool>,
    /// Whether it says that it is the last one of a unit; `None` where nothing says so.
    pub last: Option<bool>,
    pub bytes: Vec<u8>,
}

/// A broken rule, and where it is in the wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveViolation {
    /// Time of the beat \[fs\].
    pub t_fs: u64,
    /// Signal, with its bits.
    pub signal: String,
    /// The rule; a byte is one of the unit.
    pub violation: Violation,
}

/// A unit, or something that is none.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenUnit {
    /// Time of its last beat \[fs\].
    pub t_fs: u64,
    /// Edges of the clock before it.
    pub cycle: u64,
    /// Position in the map.
    pub interface: usize,
    /// Bytes of the unit, byte 0 first; those that the map says are not in the wave are completed.
    pub bytes: Vec<u8>,
    /// The flit object; `None` where there is no unit.
    pub form: Option<Value>,
    /// Rules that it breaks.
    pub broken: Vec<WaveViolation>,
    /// Legal, but not as tight as it could be.
    pub lints: Vec<WaveViolation>,
    /// Rules that it breaks, which the map waives or calls warnings.
    pub waived: Vec<WaivedFinding>,
}

/// A whole unit.
struct WaveUnit {
    /// Position among all that was seen.
    at: usize,
    beats_fs: Vec<u64>,
}

impl WaveUnit {
    /// Time of the last beat \[fs\].
    fn end_fs(&self) -> u64 {
        self.beats_fs.last().copied().unwrap_or_default()
    }
}

/// A reset of an interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamReset {
    /// Its first edge of the clock \[fs\].
    pub begins_fs: u64,
    /// Its last one \[fs\].
    pub ends_fs: u64,
    /// Units before it.
    pub units: usize,
}

/// What the watcher of a link says of the units of one interface.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    /// Whether each is next in its stream: not a replay, and not thrown away until one comes.
    pub in_stream: Vec<bool>,
    /// Broken rules with the number of the unit.
    pub broken: Vec<(usize, Violation)>,
    /// Broken rules where no unit has passed that they could be said of, with the time \[fs\].
    pub without_unit: Vec<(u64, Violation)>,
    /// The decoder of the stream judges the units as well: no watcher does.
    pub is_beside: bool,
}

impl Judged {
    /// Findings beside those of the decoder of a stream.
    pub fn beside(stream: &UnitStream) -> Judged {
        Judged { in_stream: vec![true; stream.count()], is_beside: true, ..Judged::default() }
    }
}

/// What the units of an interface are, and where they stand.
#[derive(Debug, Clone)]
pub(super) struct StreamShape {
    /// Bits of a unit, of NVLink those of a flit or of the longest packet.
    pub unit_bits: usize,
    /// What they hold of the unit of the protocol.
    pub holds: UnitContent,
    /// Name of the data in findings, its lowest bit, and bits of a beat.
    pub data: (String, usize, usize),
    /// How the design numbers the bits of that signal.
    pub declared: DeclaredRange,
    /// The data is a signal; else a finding names it without bits.
    pub has_signals: bool,
}

/// The units of one interface.
pub(super) struct UnitStream {
    interface: usize,
    protocol: String,
    dir: Dir,
    options: Options,
    unit_bits: usize,
    holds: UnitContent,
    data: (String, usize, usize),
    declared: DeclaredRange,
    has_signals: bool,
    bytes: Vec<u8>,
    beats: Vec<(u64, u64)>,
    /// Beats are thrown away up to the next first one.
    lost: bool,
    /// The open packet may end at any beat.
    open_end: bool,
    units: Vec<WaveUnit>,
    /// Time of the first edge outside of reset \[fs\].
    first_edge_fs: Option<u64>,
    /// The last edge outside of reset: time \[fs\], edges of the clock before it.
    last_edge: (u64, u64),
    resets: Vec<StreamReset>,
    seen: Vec<SeenUnit>,
}

impl UnitStream {
    pub fn new(n: usize, interface: &Interface, shape: StreamShape) -> UnitStream {
        let StreamShape { unit_bits, holds, data, declared, has_signals } = shape;
        UnitStream {
            interface: n,
            protocol: interface.protocol.clone(),
            dir: interface.direction(),
            options: interface.agreed().unwrap_or_default(),
            unit_bits,
            holds,
            data,
            declared,
            has_signals,
            bytes: Vec::new(),
            beats: Vec::new(),
            lost: false,
            open_end: false,
            units: Vec::new(),
            first_edge_fs: None,
            last_edge: (0, 0),
            resets: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// An edge of the clock outside of reset, with the number of edges before it.
    pub fn edge(&mut self, t_fs: u64, cycle: u64) {
        self.first_edge_fs.get_or_insert(t_fs);
        self.last_edge = (t_fs, cycle);
    }

    /// A reset: nothing of what was before counts.
    pub fn restart(&mut self, t_fs: u64) {
        self.end_packet();
        // Every edge of a reset tells; one outside of it ends it.
        let units = self.units.len();
        let last_edge_fs = self.last_edge.0;
        match self.resets.last_mut().filter(|reset| reset.units == units && last_edge_fs <= reset.ends_fs) {
            Some(reset) => reset.ends_fs = t_fs,
            None => self.resets.push(StreamReset { begins_fs: t_fs, ends_fs: t_fs, units }),
        }
        self.bytes.clear();
        self.beats.clear();
        self.lost = false;
    }

    /// A value is needed and is not there.
    pub fn unknown(&mut self, t_fs: u64, cycle: u64, part: &SignalPart, bits: &[usize]) {
        let (Some(&first), Some(&last)) = (bits.first(), bits.last()) else { return };
        let (lsb, width) = ((part.lsb + first) as u32, (last - first + 1) as u32);
        let violation = Violation {
            rule: "SIM-WAV-01",
            at: At::Bits { lsb, width },
            found: format!("{} bits of x or z", bits.len()),
            expected: "0 or 1 in every bit".into(),
            text: "a sampled signal is not known".into(),
        };
        let bits = || format!("{}{}", part.name, part.declared.shown(lsb as usize, width as usize));
        let signal = if part.bits == 1 { part.name.clone() } else { bits() };
        self.none(t_fs, cycle, WaveViolation { t_fs, signal, violation });
        // The rest of the unit has lost its beginning.
        self.lost = !self.bytes.is_empty() || self.unit_beats() > 1;
        self.bytes.clear();
        self.beats.clear();
    }

    /// A rule of the bus itself, at one of its signals. What passes is taken all the same.
    pub fn rule_of_bus(&mut self, t_fs: u64, cycle: u64, part: &SignalPart, violation: Violation) {
        let bits = || format!("{}{}", part.name, part.declared.shown(part.lsb, part.bits));
        let signal = if part.bits == 1 { part.name.clone() } else { bits() };
        self.none(t_fs, cycle, WaveViolation { t_fs, signal, violation });
    }

    fn none(&mut self, t_fs: u64, cycle: u64, broken: WaveViolation) {
        let (interface, bytes) = (self.interface, Vec::new());
        let (lints, waived) = (Vec::new(), Vec::new());
        self.seen.push(SeenUnit { t_fs, cycle, interface, bytes, form: None, broken: vec![broken], lints, waived });
    }

    fn unit_beats(&self) -> usize {
        self.unit_bits.div_ceil(self.data.2)
    }

    /// Takes a beat.
    pub fn beat(&mut self, beat: Beat) {
        if beat.bytes.is_empty() {
            return self.end_here(&beat);
        }
        // Where the bus says what is first, a packet ends there, whatever its header says of its length.
        self.open_end = self.protocol == "nvlink" && beat.first.is_some();
        if self.open_end && beat.first == Some(true) && !self.bytes.is_empty() {
            self.unit();
        }
        match beat.first {
            Some(true) if !self.bytes.is_empty() => self.cut(&beat, "1", "0, the unit before lacks bytes"),
            Some(false) if self.bytes.is_empty() && !self.lost => {
                // Null bytes may stand between a whole unit and its `last`.
                let (found, expected) = match beat.last {
                    Some(_) => ("0 in `last` up to this beat", "1, the unit before is whole"),
                    None => ("0", "1, no unit is open"),
                };
                self.cut(&beat, found, expected);
                self.lost = true;
            }
            _ => (),
        }
        if self.lost && beat.first != Some(true) {
            // Without a signal that says where a unit begins, the next beat is taken for it.
            self.lost = beat.first.is_some();
            if self.lost {
                return;
            }
        }
        self.lost = false;
        self.bytes.extend_from_slice(&beat.bytes);
        self.beats.push((beat.t_fs, beat.cycle));
        let wanted = if self.open_end { FLIT_BYTES * MAX_FLITS } else { self.wanted_bytes() };
        if self.bytes.len() >= wanted {
            self.bytes.truncate(wanted);
            self.unit();
            return;
        }
        self.end_here(&beat);
    }

    /// A beat that leaves a unit open may say that it is the last one.
    fn end_here(&mut self, beat: &Beat) {
        if beat.last == Some(true) && !self.bytes.is_empty() {
            match self.open_end {
                true => self.unit(),
                false => self.cut(beat, "1 in `last`", "0, the unit lacks bytes"),
            }
        }
    }

    /// `first` or `last` is not what it should be; what is open is dropped.
    fn cut(&mut self, beat: &Beat, found: &str, expected: &str) {
        let (came, wanted) = (self.bytes.len(), self.wanted_bytes());
        let text = format!("a flit begins or ends in the wrong place: {came} of its {wanted} bytes have come");
        let violation = Violation::at_byte("SIM-WAV-02", came, found, expected, text);
        let signal = self.shown(self.data.1, self.data.2);
        self.none(beat.t_fs, beat.cycle, WaveViolation { t_fs: beat.t_fs, signal, violation });
        self.bytes.clear();
        self.beats.clear();
    }

    /// Bytes of the unit that is open, as far as it is known.
    fn wanted_bytes(&self) -> usize {
        if self.protocol != "nvlink" || self.bytes.len() < FLIT_BYTES {
            return self.unit_bits / 8;
        }
        let bits = self.bytes[..FLIT_BYTES].iter().rev().fold(0, |n, &b| n << 8 | u128::from(b));
        // A packet has at most 18 flits (nvlink §1); the length of a broken header is no reason to wait for more.
        FLIT_BYTES * (1 + usize::from(NvlHeader::from_bits(bits).len)).min(MAX_FLITS)
    }

    /// Nothing comes behind the open packet; it is whole if its header says so.
    fn end_packet(&mut self) {
        if self.open_end && !self.bytes.is_empty() && self.bytes.len() >= self.wanted_bytes() {
            self.unit();
        }
    }

    /// A unit is whole.
    fn unit(&mut self) {
        let found = std::mem::take(&mut self.bytes);
        let beats = std::mem::take(&mut self.beats);
        let bytes = match self.holds {
            UnitContent::Unit => found,
            UnitContent::FlitAndCrc => pid::CACHEMEM.to_le_bytes().into_iter().chain(found).collect(),
            UnitContent::Slots => {
                let slot = |n: usize| found[16 * n..16 * n + 16].iter().rev().fold(0, |s, &b| s << 8 | u128::from(b));
                Cxl68Unit::from_slots(pid::CACHEMEM, &[slot(0), slot(1), slot(2), slot(3)]).0.to_vec()
            }
        };
        let (t_fs, cycle) = beats.last().copied().unwrap_or_default();
        let (interface, lints, broken) = (self.interface, Vec::new(), Vec::new());
        self.units.push(WaveUnit { at: self.seen.len(), beats_fs: beats.iter().map(|b| b.0).collect() });
        let waived = Vec::new();
        self.seen.push(SeenUnit { t_fs, cycle, interface, bytes, form: None, broken, lints, waived });
    }

    // ---- behind the last beat ------------------------------------------------------------------------------------

    /// Whole units.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// Time of the last beat of a unit \[fs\]; 0 if there is none.
    pub fn unit_end_fs(&self, unit: usize) -> u64 {
        self.units.get(unit).map_or(0, WaveUnit::end_fs)
    }

    /// Direction of the units.
    pub fn dir(&self) -> Dir {
        self.dir
    }

    /// Number of the last unit that is whole at a time.
    pub fn last_at(&self, t_fs: u64) -> Option<usize> {
        self.units.partition_point(|unit| unit.end_fs() <= t_fs).checked_sub(1)
    }

    /// Time of the first edge outside of reset \[fs\].
    pub fn first_edge_fs(&self) -> Option<u64> {
        self.first_edge_fs
    }

    /// Time of the last edge outside of reset \[fs\]; 0 if there is none.
    pub fn last_edge_fs(&self) -> u64 {
        self.last_edge.0
    }

    /// The units in parts of so many bytes: time of the last beat \[fs\], number of the unit, bytes.
    pub fn parts(&self, part_bytes: usize) -> impl Iterator<Item = (u64, usize, &[u8])> {
        self.units.iter().enumerate().flat_map(move |(n, unit)| {
            let parts = self.seen[unit.at].bytes.chunks(part_bytes);
            let last = parts.len() - 1;
            parts.enumerate().map(move |(k, part)| {
                // What is not in the wave is completed in units of one part alone.
                let beat = if k == last { unit.beats_fs.len() } else { 8 * part_bytes * (k + 1) / self.data.2 };
                (unit.beats_fs.get(beat.saturating_sub(1)).copied().unwrap_or_default(), n, part)
            })
        })
    }

    /// The units: time of the last beat \[fs\], number of the unit, bytes.
    pub fn whole(&self) -> impl Iterator<Item = (u64, usize, &[u8])> {
        self.units.iter().enumerate().map(|(n, unit)| (unit.end_fs(), n, self.seen[unit.at].bytes.as_slice()))
    }

    /// Resets, in the order of time.
    pub fn resets(&self) -> &[StreamReset] {
        &self.resets
    }

    /// What the units say. Of a link the watcher judges them, else the decoder of the stream.
    fn decode(&mut self, judged: Option<&Judged>) {
        let mut begins = self.resets.iter().map(|reset| reset.units).peekable();
        // There is a decoder for every protocol that a checked map can name.
        let fresh = || FlitDecoder::following(&self.protocol, self.dir, &self.options).ok();
        let (mut decoder, mut waiting, mut answers) = (None, VecDeque::new(), Vec::new());
        let mut first = 0;
        for n in 0..self.units.len() {
            while begins.next_if(|begin| *begin == n).is_some() {
                answers.extend(settled(&mut waiting, decoder.take().flatten().map(|mut d: FlitDecoder| d.finish())));
                first = n;
            }
            let bytes = &self.seen[self.units[n].at].bytes;
            waiting.push_back((n, first));
            let now = decoder.get_or_insert_with(fresh).as_mut().map(|decoder| decoder.read(Ok(bytes)));
            answers.extend(settled(&mut waiting, now));
        }
        answers.extend(settled(&mut waiting, decoder.flatten().map(|mut d| d.finish())));
        for (n, first, answer) in answers {
            // Units have the length that their decoder asks for, so there is always an object.
            let Ok((mut form, Findings { violations, lints })) = answer else { continue };
            let placed =
                |all: Vec<Violation>| all.into_iter().map(|v| self.place(&self.units[n].beats_fs, v)).collect();
            let (broken, lints) = match judged {
                None => (placed(violations), placed(lints)),
                Some(judged) => {
                    form["index"] = (n - first).into();
                    let own = judged.broken.iter().filter(|(unit, _)| *unit == n).map(|(_, v)| v.clone());
                    let by_itself = violations.into_iter().filter(|_| judged.is_beside);
                    (
                        placed(by_itself.chain(own).collect()),
                        if judged.in_stream[n] { placed(lints) } else { Vec::new() },
                    )
                }
            };
            let seen = &mut self.seen[self.units[n].at];
            seen.form = Some(form);
            (seen.broken, seen.lints) = (broken, lints);
        }
    }

    /// Findings that no unit can carry stand at the data signal, each for itself.
    fn say_without_unit(&mut self, judged: &Judged) {
        for (t_fs, violation) in judged.without_unit.iter().cloned() {
            let signal = self.shown(self.data.1, self.data.2);
            self.none(t_fs, self.last_edge.1, WaveViolation { t_fs, signal, violation });
        }
    }

    /// The data, with its bits where it is a signal; a capture has none, and a finding says the byte itself.
    fn shown(&self, lsb: usize, bits: usize) -> String {
        let bits = || format!("{}{}", self.data.0, self.declared.shown(lsb, bits));
        if self.has_signals { bits() } else { self.data.0.clone() }
    }

    /// Where a byte of a unit is in the wave.
    fn place(&self, beats_fs: &[u64], violation: Violation) -> WaveViolation {
        let (_, lsb, bits) = &self.data;
        let not_there = if self.holds == UnitContent::Unit { 0 } else { size_of::<u16>() };
        let last_fs = beats_fs.last().copied().unwrap_or_default();
        let at = match violation.at {
            At::Byte(n) => n.checked_sub(not_there).map(|n| (8 * n / bits, 8 * n % bits)),
            At::Bits { .. } | At::Line(_) | At::Message => None,
        };
        match at.and_then(|(beat, bit)| Some((beats_fs.get(beat)?, bit))) {
            Some((&t_fs, bit)) => WaveViolation { t_fs, signal: self.shown(lsb + bit, 8), violation },
            None => WaveViolation { t_fs: last_fs, signal: self.shown(*lsb, *bits), violation },
        }
    }

    /// Nothing comes any more.
    pub fn end(&mut self) {
        self.end_packet();
    }

    /// All that was seen, and the beats of a unit that is not whole.
    pub fn finish(mut self, judged: Option<&Judged>) -> (Vec<SeenUnit>, usize) {
        self.decode(judged);
        judged.into_iter().for_each(|judged| self.say_without_unit(judged));
        (self.seen, self.beats.len())
    }
}

/// Answers come in the order of the units: number, the first one of its stream, answer.
fn settled(
    waiting: &mut VecDeque<(usize, usize)>,
    answers: Option<Vec<FlitAnswer>>,
) -> Vec<(usize, usize, FlitAnswer)> {
    let answers = answers.into_iter().flatten();
    answers.map_while(|answer| waiting.pop_front().map(|(n, first)| (n, first, answer))).collect()
}
