//! Coverage of the CXL 68-byte codec: which rows of its tables a run has met.
//!
//! Modelled: opcode by channel, slot format by position and direction, chunks owed by kind of the next unit, credit code
//! by field and direction, kinds of control flits. The bins come from the tables of the codec; none is written by hand.
//! Left out: state machines of the link, coherence. A unit that a receiver would not use counts nowhere.
//!
//! A run calls [`Cxl68Coverage::record`] for every unit, merges its shards and asserts that [`Cxl68Coverage::holes`] is
//! empty.

use crate::coverage::{self, CoverageGroup, Met};
use crate::protocol::LinkProtocol;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::content::{Content68, Placed68};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::credit::CreditField;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind};
use scalepool_protocols::wire::FieldDef;

/// Most chunks that are owed behind a legal flit (`cxl-68b` §5.2: four headers of an MDH slot).
pub const MAX_LEGAL_ROLLOVER: usize = 16;

/// Counters of all groups.
#[derive(Debug, Clone)]
pub struct Cxl68Coverage {
    opcodes: CoverageGroup,
    opcode_fields: [Option<&'static FieldDef>; 10],
    slots: CoverageGroup,
    reserved_slots: CoverageGroup,
    rollovers: CoverageGroup,
    credits: CoverageGroup,
    controls: CoverageGroup,
}

const CREDIT_FIELDS: [(CreditField, &str); 3] =
    [(CreditField::Rsp, "RspCrd"), (CreditField::Req, "ReqCrd"), (CreditField::Data, "DataCrd")];

/// Kinds of the next unit: what the rollover decides, then what may stand at any rollover.
const NEXT: [&str; 6] = ["protocol", "control", "all-data", "almp", "null", "io"];

fn opcode_key(class: Class, code: u128) -> usize {
    class.index() * 32 + code as usize
}

fn slot_key(dir: Dir, slot: usize, code: u8) -> usize {
    (dir as usize * 4 + slot) * 8 + code as usize
}

fn rollover_key(rollover: usize, next: usize) -> usize {
    rollover * NEXT.len() + next
}

fn credit_key(dir: Dir, field: CreditField, code: u8) -> usize {
    (dir as usize * 3 + field as usize) * 16 + code as usize
}

impl Default for Cxl68Coverage {
    fn default() -> Self {
        let opcode_fields = Class::ALL.map(|c| c.def().fields.iter().find(|f| f.name == "opcode"));
        let opcodes = Class::ALL.into_iter().flat_map(|class| {
            let codes = opcode_fields[class.index()].and_then(|f| f.codes).map_or(&[][..], |t| t.codes);
            codes.iter().map(move |c| (opcode_key(class, c.value), format!("{} {}", class.def().name, c.name)))
        });
        let cells = || Dir::ALL.into_iter().flat_map(|dir| (0..4).map(move |slot| (dir, slot)));
        let slots = cells().flat_map(|(dir, slot)| {
            let rows = slot::formats(Revision::V2_0, dir, slot).iter();
            rows.map(move |f| (slot_key(dir, slot, f.code), format!("{} slot {slot} {}", dir.name(), f.name)))
        });
        let reserved_slots = cells().flat_map(|(dir, slot)| {
            let codes = (0..8).filter(move |&code| slot::format(Revision::V2_0, dir, slot, code).is_none());
            codes.map(move |code| (slot_key(dir, slot, code), format!("{} slot {slot} code {code}", dir.name())))
        });
        let rollovers = (0..=MAX_LEGAL_ROLLOVER).flat_map(|owed| {
            let next = (0..NEXT.len()).filter(move |&k| match k {
                0 | 1 => owed <= 3,
                2 => owed > 3,
                _ => true,
            });
            next.map(move |k| (rollover_key(owed, k), format!("{owed} owed, then {}", NEXT[k])))
        });
        let credits = Dir::ALL.into_iter().flat_map(|dir| {
            CREDIT_FIELDS.into_iter().flat_map(move |(field, name)| {
                (0..16).map(move |code| (credit_key(dir, field, code), format!("{} {name} {code:#x}", dir.name())))
            })
        });
        let controls = Control::NAMES.into_iter().map(str::to_owned).enumerate();
        Cxl68Coverage {
            opcodes: CoverageGroup::new("opcode x channel", opcodes),
            opcode_fields,
            slots: CoverageGroup::new("slot format x position x direction", slots),
            reserved_slots: CoverageGroup::new("reserved slot code x position x direction", reserved_slots),
            rollovers: CoverageGroup::new("chunks owed x next unit", rollovers),
            credits: CoverageGroup::new("credit code x field x direction", credits),
            controls: CoverageGroup::new("control flit", controls),
        }
    }
}

impl Cxl68Coverage {
    /// Nothing met.
    pub fn new() -> Cxl68Coverage {
        Cxl68Coverage::default()
    }

    /// Counts what one unit meets; a unit that a receiver would not use counts nowhere.
    pub fn record(&mut self, decoded: &Cxl68DecodedUnit) {
        if !decoded.is_good() {
            return;
        }
        let next = match &decoded.kind {
            Cxl68UnitKind::Protocol(header) => {
                self.header(decoded.dir, header);
                self.protocol(decoded);
                0
            }
            Cxl68UnitKind::Control(control) => {
                self.control(control);
                1
            }
            Cxl68UnitKind::AllData => 2,
            Cxl68UnitKind::Almp => 3,
            Cxl68UnitKind::Null => 4,
            Cxl68UnitKind::Io => 5,
            Cxl68UnitKind::Dropped => return,
        };
        self.rollovers.hit(rollover_key(decoded.rollover_before, next));
    }

    /// [`Cxl68Coverage::record`] of a unit without bytes; `rollover_before`: chunks owed before it.
    pub fn record_content(&mut self, dir: Dir, content: &Content68, rollover_before: usize) {
        let next = match content {
            Content68::Protocol(header, messages) => {
                self.header(dir, header);
                // Slots with owed chunks have code 0, which is that of data.
                (0..4).for_each(|n| self.slots.hit(slot_key(dir, n, header.slot(n))));
                for Placed68 { place, message, .. } in messages.iter() {
                    message
                        .opcode()
                        .into_iter()
                        .for_each(|code| self.opcodes.hit(opcode_key(place.class, code.into())));
                }
                0
            }
            Content68::Control(control) => {
                self.control(control);
                1
            }
            Content68::AllData => 2,
        };
        self.rollovers.hit(rollover_key(rollover_before, next));
    }

    fn control(&mut self, control: &Control) {
        if let Some(kind) = Control::NAMES.iter().position(|n| *n == control.name()) {
            self.controls.hit(kind);
        }
    }

    fn message(&mut self, class: Class, bits: u128) {
        if let Some(field) = self.opcode_fields[class.index()] {
            self.opcodes.hit(opcode_key(class, field.extract(bits)));
        }
    }

    fn header(&mut self, dir: Dir, header: &FlitHeader) {
        self.credits.hit(credit_key(dir, CreditField::Rsp, header.rsp_crd));
        self.credits.hit(credit_key(dir, CreditField::Req, header.req_crd));
        self.credits.hit(credit_key(dir, CreditField::Data, header.data_crd));
    }

    fn protocol(&mut self, decoded: &Cxl68DecodedUnit) {
        for (n, role) in decoded.roles.iter().enumerate() {
            match role {
                Cxl68SlotRole::Format(format) => self.slots.hit(slot_key(decoded.dir, n, format.code)),
                Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables => self.slots.hit(slot_key(decoded.dir, n, 0)),
                Cxl68SlotRole::Reserved(code) => self.reserved_slots.hit(slot_key(decoded.dir, n, *code)),
                Cxl68SlotRole::Opaque => (),
            }
        }
        decoded.messages().for_each(|(_, class, bits)| self.message(class, bits));
    }

    fn groups(&self) -> [&CoverageGroup; 6] {
        [&self.opcodes, &self.slots, &self.reserved_slots, &self.rollovers, &self.credits, &self.controls]
    }

    /// Adds the counters of another run.
    pub fn merge(&mut self, other: &Cxl68Coverage) {
        let mine = [
            &mut self.opcodes,
            &mut self.slots,
            &mut self.reserved_slots,
            &mut self.rollovers,
            &mut self.credits,
            &mut self.controls,
        ];
        mine.into_iter().zip(other.groups()).for_each(|(group, theirs)| group.merge(theirs));
    }

    /// Each group with its bins met and its bins in all.
    pub fn summary(&self) -> impl Iterator<Item = (&'static str, usize, usize)> + '_ {
        self.groups().into_iter().map(CoverageGroup::summary)
    }

    /// How often the bins of each group were met.
    pub fn met(&self) -> Vec<Met> {
        self.groups().map(|group| group.met(LinkProtocol::Cxl68.name())).into()
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
    use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
    use scalepool_protocols::cxl::cxl68::stream::Unpacker;
    use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

    #[test]
    fn bins_are_the_rows_of_the_tables() {
        let sizes = Cxl68Coverage::new().groups().map(|g| g.summary().2);
        // 7+2+3+2+15+7+3+8 opcodes; 7+3*6 and 7+3*7 slots; 1+3*2 and 1+3 reserved; 4*2+13+17*3; 96; 9.
        assert_eq!(sizes, [47, 53, 11, 72, 96, 9]);
    }

    #[test]
    fn a_unit_hits_its_bins_and_merging_adds() {
        let mut coverage = Cxl68Coverage::new();
        let mut reader = Unpacker::new(Dir::Down, Revision::V2_0, Enabled::ALL);
        // Up to slot 3: MemRd in H5, format code 5 at bit 5, opcode 1 behind the valid bit at 32.
        let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &[5 << 5 | 0b11 << 32, 0, 0, 0]);
        coverage.record(&reader.read(&unit));
        let all = Cxl68Coverage::new().holes().len();
        // Opcode, four slots, rollover 0, three credit codes 0.
        assert_eq!(coverage.holes().len(), all - 9);
        assert!(coverage.report().contains("1  cxl68.m2s_req MemRd"));
        let once = coverage.clone();
        coverage.merge(&once);
        assert!(coverage.report().contains("2  down slot 0 H5"));
    }

    #[test]
    fn a_bad_unit_hits_nothing() {
        let mut coverage = Cxl68Coverage::new();
        let mut reader = Unpacker::new(Dir::Down, Revision::V2_0, Enabled::ALL);
        let mut unit = Cxl68Unit::from_slots(pid::CACHEMEM, &[0; 4]);
        unit.set_tail(1);
        coverage.record(&reader.read(&unit));
        assert_eq!(coverage.holes(), Cxl68Coverage::new().holes());
    }
}
