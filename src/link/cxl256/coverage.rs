//! Coverage of the CXL 256-byte codec: which rows of its tables a run has met.
//!
//! Modelled, for the flit format of the link: opcode by channel, slot format by kind of slot, credit code by group, kinds
//! of control slots. The bins come from the tables of the codec; none is written by hand. Left out: sequence numbers and
//! replay. An Empty slot, and a flit that a receiver would not use, count nowhere.

use crate::coverage::{self, CoverageGroup, Met};
use scalepool_protocols::cxl::cxl256::content::{Body256, Content256, ContentRead256};
use scalepool_protocols::cxl::cxl256::control::{self, ControlKind, KINDS};
use scalepool_protocols::cxl::cxl256::slot::{self, SlotKind};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256SlotRole};
use scalepool_protocols::cxl::cxl256::{Class, Mode, crd::Crd};
use scalepool_protocols::wire::{FieldDef, Wire};

/// Counters of all groups.
#[derive(Debug, Clone)]
pub struct Cxl256Coverage {
    mode: Mode,
    opcodes: CoverageGroup,
    opcode_fields: [Option<&'static FieldDef>; Class::COUNT],
    slots: CoverageGroup,
    credits: CoverageGroup,
    controls: CoverageGroup,
}

fn opcode_key(class: Class, code: u128) -> usize {
    class.index() * 32 + code as usize
}

/// Codes of a slot: 0 to 15 its format, then data and trailer.
const DATA: usize = 16;
const TRAILER: usize = 17;
const SLOT_CODES: usize = 18;

fn slot_key(kind: SlotKind, code: usize) -> usize {
    kind as usize * SLOT_CODES + code
}

fn credit_key(group: usize, code: u128) -> usize {
    group * 32 + code as usize
}

impl Cxl256Coverage {
    /// Nothing met.
    pub fn new(mode: Mode) -> Cxl256Coverage {
        let defs = Class::ALL.map(|c| c.def(mode.routing()));
        let opcode_fields = defs.map(|def| def.fields.iter().find(|f| f.name == "opcode"));
        let opcodes = Class::ALL.into_iter().flat_map(|class| {
            let codes = opcode_fields[class.index()].and_then(|f| f.codes).map_or(&[][..], |t| t.codes);
            let layout = defs[class.index()].name;
            codes.iter().map(move |c| (opcode_key(class, c.value), format!("{layout} {}", c.name)))
        });
        // One slot of each kind; without halves slot 8 is like slot 1.
        let kinds: &[usize] = if mode.is_lopt() { &[0, 1, 8] } else { &[0, 1] };
        let formats = kinds.iter().flat_map(|&n| slot::formats(mode, n));
        let formats = formats.map(|f| (slot_key(f.kind, f.code.into()), f.name.to_owned()));
        let data = [(slot_key(SlotKind::G, DATA), "G data"), (slot_key(SlotKind::G, TRAILER), "G trailer")];
        let data = data.into_iter().map(|(key, name)| (key, name.to_owned()));
        let credits = Crd::DEF.fields.iter().enumerate().flat_map(|(group, field)| {
            let codes = field.codes.map_or(&[][..], |t| t.codes);
            codes.iter().map(move |c| (credit_key(group, c.value), format!("{} {}", field.name, c.name)))
        });
        let controls = KINDS.iter().enumerate().map(|(n, kind)| (n, kind.name.to_owned()));
        Cxl256Coverage {
            mode,
            opcodes: CoverageGroup::new("opcode x channel", opcodes),
            opcode_fields,
            slots: CoverageGroup::new("slot format x kind of slot", formats.chain(data)),
            credits: CoverageGroup::new("credit code x group", credits),
            controls: CoverageGroup::new("control slot", controls),
        }
    }

    /// Counts what one cachemem flit meets.
    pub fn record(&mut self, decoded: &Cxl256DecodedFlit) {
        let (mut data, mut trailers) = (0, 0);
        for (n, role) in decoded.roles.iter().enumerate() {
            match role {
                Cxl256SlotRole::Control(Some(control)) => {
                    let bits = decoded.flit().slot(self.mode, n);
                    self.slots.hit(slot_key(self.mode.slot_kind(n), slot::code(bits).into()));
                    self.control(control);
                }
                Cxl256SlotRole::Data => data += 1,
                Cxl256SlotRole::Trailer => trailers += 1,
                Cxl256SlotRole::Format(_)
                | Cxl256SlotRole::Control(None)
                | Cxl256SlotRole::Reserved
                | Cxl256SlotRole::Unused => (),
            }
        }
        self.slots.hits(slot_key(SlotKind::G, DATA), data);
        self.slots.hits(slot_key(SlotKind::G, TRAILER), trailers);
        for of_slot in decoded.found.chunk_by(|a, b| a.slot == b.slot) {
            if let Cxl256SlotRole::Format(format) = decoded.roles[usize::from(of_slot[0].slot)] {
                self.slots.hit(slot_key(format.kind, format.code.into()));
            }
            of_slot.iter().for_each(|found| self.message(found.class, found.bits));
        }
        let crd = decoded.flit().crd().to_bits().unwrap_or(0);
        for (group, field) in Crd::DEF.fields.iter().enumerate() {
            self.credits.hit(credit_key(group, field.extract(crd)));
        }
    }

    /// [`Cxl256Coverage::record`] of a flit without bytes, as it was read.
    pub fn record_content(&mut self, flit: &Content256, read: &ContentRead256) {
        match &flit.body {
            Body256::Nothing => (),
            Body256::Control(bits) => {
                if let Some(control) = control::kind(*bits) {
                    self.slots.hit(slot_key(self.mode.slot_kind(0), slot::code(*bits).into()));
                    self.control(control);
                }
            }
            Body256::Slots(slots) => {
                for of_slot in slots.messages.chunk_by(|a, b| a.slot == b.slot) {
                    let format = of_slot[0].format;
                    self.slots.hit(slot_key(format.kind, format.code.into()));
                    of_slot.iter().for_each(|placed| self.message(placed.message.class, placed.message.bits));
                }
                self.slots.hits(slot_key(SlotKind::G, DATA), read.data.count_ones().into());
                self.slots.hits(slot_key(SlotKind::G, TRAILER), read.trailers.count_ones().into());
            }
        }
        let codes = [flit.crd.request.0, flit.crd.data.0, flit.crd.response.0];
        (0..).zip(codes).for_each(|(group, code)| self.credits.hit(credit_key(group, code.into())));
    }

    fn control(&mut self, control: &ControlKind) {
        if let Some(at) = KINDS.iter().position(|k| k.name == control.name) {
            self.controls.hit(at);
        }
    }

    #[inline]
    fn message(&mut self, class: Class, bits: u128) {
        if let Some(field) = self.opcode_fields[class.index()] {
            // In the low word, where opcodes stand, the bits are moved with less work.
            let code = match field.lsb + field.width <= u64::BITS {
                true => u128::from(bits as u64 >> field.lsb) & field.max_raw(),
                false => field.extract(bits),
            };
            self.opcodes.hit(opcode_key(class, code));
        }
    }

    fn groups(&self) -> [&CoverageGroup; 4] {
        [&self.opcodes, &self.slots, &self.credits, &self.controls]
    }

    /// Adds the counters of another run over the same flit format.
    pub fn merge(&mut self, other: &Cxl256Coverage) {
        let mine = [&mut self.opcodes, &mut self.slots, &mut self.credits, &mut self.controls];
        mine.into_iter().zip(other.groups()).for_each(|(group, theirs)| group.merge(theirs));
    }

    /// Each group with its bins met and its bins in all.
    pub fn summary(&self) -> impl Iterator<Item = (&'static str, usize, usize)> + '_ {
        self.groups().into_iter().map(CoverageGroup::summary)
    }

    /// How often the bins of each group were met.
    pub fn met(&self) -> Vec<Met> {
        self.groups().map(|group| group.met(self.mode.protocol())).into()
    }

    /// Bins never met, `group: bin`.
    pub fn holes(&self) -> Vec<String> {
        self.groups().into_iter().flat_map(CoverageGroup::holes).collect()
    }

    /// Text for people: each group with its share, then its bins with their counts.
    pub fn report(&self) -> String {
        coverage::report(self.groups())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::cxl::Dir;
    use scalepool_protocols::cxl::cxl256::code::FlitType;
    use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
    use scalepool_protocols::cxl::cxl256::header::FlitHeader;
    use scalepool_protocols::cxl::cxl256::stream::Unpacker;

    #[test]
    fn bins_are_the_rows_of_the_tables() {
        // 22 credit codes of requests, 21 of data and of responses; reserved bit 15 has no codes.
        let sizes = |mode| Cxl256Coverage::new(mode).groups().map(|g| g.summary().2);
        let [opcodes, slots, credits, controls] = sizes(Mode::Standard);
        assert_eq!((credits, controls), (64, KINDS.len()));
        assert_eq!(slots, slot::formats(Mode::Standard, 0).len() + slot::formats(Mode::Standard, 1).len() + 2);
        assert_eq!(sizes(Mode::LatencyOptimised)[1], slots + slot::formats(Mode::LatencyOptimised, 8).len());
        assert_eq!(sizes(Mode::Pbr)[0], opcodes, "routing changes no opcode");
    }

    #[test]
    fn a_flit_hits_its_bins_and_merging_adds() {
        let mut coverage = Cxl256Coverage::new(Mode::Standard);
        let mut flit = Cxl256Flit::ZERO;
        let header = FlitHeader { flit_type: FlitType::Cachemem, seq: 1, ..FlitHeader::default() };
        flit.set_header(&header).expect("it fits");
        // H4 with a valid MemRd: format 4, valid bit at 4, opcode 1 above it.
        flit.set_slot(Mode::Standard, 0, 4 | 0b11 << 4);
        flit.seal(Mode::Standard);
        let before = coverage.holes().len();
        coverage.record(&Unpacker::new(Mode::Standard, Dir::Down).read(&flit));
        // Opcode, one slot with a message, no credit in three groups.
        assert_eq!(coverage.holes().len(), before - 5);
        assert!(coverage.report().contains("1  cxl256.m2s_req MemRd"));
        let once = coverage.clone();
        coverage.merge(&once);
        assert!(coverage.report().contains("2  H4"));
    }
}
