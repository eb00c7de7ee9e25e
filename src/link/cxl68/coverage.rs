//! Coverage of the CXL 68-byte codec: which rows of its tables a run has met.
//!
//! Modelled: opcode by channel, slot format by position and direction, chunks owed by kind of the next unit, credit code
//! by field and direction, kinds of control flits. The bins come from the tables of the codec; none is written by hand.
//! Left out: state machines of the link, coherence. A unit that a receiver would not use counts nowhere.
//!
//! A run calls [`Coverage::record`] for every unit, merges its shards and asserts that [`Coverage::holes`] is empty.

use crate::coverage::{self, Group, Met};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::credit::CreditField;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Decoded, Kind, Role};
use scalepool_protocols::wire::FieldDef;

/// Most chunks that are owed behind a legal flit (`cxl-68b` §5.2: four headers of an MDH slot).
pub const MAX_LEGAL_ROLLOVER: usize = 16;

/// Counters of all groups.
#[derive(Debug, Clone)]
pub struct Coverage {
    opcodes: Group,
    opcode_fields: [Option<&'static FieldDef>; 10],
    slots: Group,
    reserved_slots: Group,
    rollovers: Group,
    credits: Group,
    controls: Group,
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

impl Default for Coverage {
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
        Coverage {
            opcodes: Group::new("opcode x channel", opcodes),
            opcode_fields,
            slots: Group::new("slot format x position x direction", slots),
            reserved_slots: Group::new("reserved slot code x position x direction", reserved_slots),
            rollovers: Group::new("chunks owed x next unit", rollovers),
            credits: Group::new("credit code x field x direction", credits),
            controls: Group::new("control flit", controls),
        }
    }
}

impl Coverage {
    /// Nothing met.
    pub fn new() -> Coverage {
        Coverage::default()
    }

    /// Counts what one unit meets; a unit that a receiver would not use counts nowhere.
    pub fn record(&mut self, decoded: &Decoded) {
        if !decoded.is_good() {
            return;
        }
        let next = match &decoded.kind {
            Kind::Protocol(header) => {
                self.header(decoded.dir, header);
                self.protocol(decoded);
                0
            }
            Kind::Control(control) => {
                if let Some(kind) = Control::NAMES.iter().position(|n| *n == control.name()) {
                    self.controls.hit(kind);
                }
                1
            }
            Kind::AllData => 2,
            Kind::Almp => 3,
            Kind::Null => 4,
            Kind::Io => 5,
            Kind::Dropped => return,
        };
        self.rollovers.hit(rollover_key(decoded.rollover_before, next));
    }

    fn header(&mut self, dir: Dir, header: &FlitHeader) {
        self.credits.hit(credit_key(dir, CreditField::Rsp, header.rsp_crd));
        self.credits.hit(credit_key(dir, CreditField::Req, header.req_crd));
        self.credits.hit(credit_key(dir, CreditField::Data, header.data_crd));
    }

    fn protocol(&mut self, decoded: &Decoded) {
        for (n, role) in decoded.roles.iter().enumerate() {
            match role {
                Role::Format(format) => self.slots.hit(slot_key(decoded.dir, n, format.code)),
                Role::Data | Role::ByteEnables => self.slots.hit(slot_key(decoded.dir, n, 0)),
                Role::Reserved(code) => self.reserved_slots.hit(slot_key(decoded.dir, n, *code)),
                Role::Opaque => (),
            }
        }
        decoded.messages().for_each(|(_, class, bits)| {
            if let Some(field) = self.opcode_fields[class.index()] {
                self.opcodes.hit(opcode_key(class, field.extract(bits)));
            }
        });
    }

    fn groups(&self) -> [&Group; 6] {
        [&self.opcodes, &self.slots, &self.reserved_slots, &self.rollovers, &self.credits, &self.controls]
    }

    /// Adds the counters of another run.
    pub fn merge(&mut self, other: &Coverage) {
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
        self.groups().into_iter().map(Group::summary)
    }

    /// Which bins of each group were met.
    pub fn met(&self) -> Vec<Met> {
        self.groups().into_iter().map(Group::met).collect()
    }

    /// Bins never met, `group: bin`.
    pub fn holes(&self) -> Vec<String> {
        self.groups().into_iter().flat_map(Group::holes).collect()
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
    use scalepool_protocols::cxl::cxl68::unit::Unit;

    #[test]
    fn bins_are_the_rows_of_the_tables() {
        let sizes = Coverage::new().groups().map(|g| g.summary().2);
        // 7+2+3+2+15+7+3+8 opcodes; 7+3*6 and 7+3*7 slots; 1+3*2 and 1+3 reserved; 4*2+13+17*3; 96; 9.
        assert_eq!(sizes, [47, 53, 11, 72, 96, 9]);
    }

    #[test]
    fn a_unit_hits_its_bins_and_merging_adds() {
        let mut coverage = Coverage::new();
        let mut reader = Unpacker::new(Dir::Down, Revision::V2_0, Enabled::ALL);
        // Up to slot 3: MemRd in H5, format code 5 at bit 5, opcode 1 behind the valid bit at 32.
        let unit = Unit::from_slots(pid::CACHEMEM, &[5 << 5 | 0b11 << 32, 0, 0, 0]);
        coverage.record(&reader.read(&unit));
        let all = Coverage::new().holes().len();
        // Opcode, four slots, rollover 0, three credit codes 0.
        assert_eq!(coverage.holes().len(), all - 9);
        assert!(coverage.report().contains("1  cxl68.m2s_req MemRd"));
        let once = coverage.clone();
        coverage.merge(&once);
        assert!(coverage.report().contains("2  down slot 0 H5"));
    }

    #[test]
    fn a_bad_unit_hits_nothing() {
        let mut coverage = Coverage::new();
        let mut reader = Unpacker::new(Dir::Down, Revision::V2_0, Enabled::ALL);
        let mut unit = Unit::from_slots(pid::CACHEMEM, &[0; 4]);
        unit.set_tail(1);
        coverage.record(&reader.read(&unit));
        assert_eq!(coverage.holes(), Coverage::new().holes());
    }
}
