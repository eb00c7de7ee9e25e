//! Register blocks: what software sees of a part, for register models of other languages.
//!
//! Modelled: blocks of registers of 16, 32 and 64 bits with offsets, fields, codes, what software may do with a field, and its value after
//! reset where that is fixed. Offsets and fields come from the byte maps and layouts of [`crate::wire`]; a block says only what these do
//! not hold. Left out: side effects between registers, and where a block stands in an address space.
//!
//! A walk through one block: [`RegisterBlock::files`] are byte maps one behind the other, each once or as an array; [`RegisterFile::registers`]
//! cuts the segments of a map into registers and looks up each field in [`RegisterFile::uses`]. A field that does not stand there is
//! read-only. Reserved segments and fields are left out.

pub mod bridge;
pub mod cxl;

use crate::wire::{CodeTable, FieldDef, FrameDef, Segment};
use std::ops::Range;

/// All blocks.
pub fn blocks() -> impl Iterator<Item = &'static RegisterBlock> {
    cxl::BLOCKS.iter().copied().chain([&bridge::BRIDGE])
}

/// What software may do with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterAccess {
    /// It reads what never changes.
    Constant,
    /// It reads what hardware sets.
    ReadOnly,
    /// It reads and writes.
    ReadWrite,
    /// It reads and writes until a lock holds the field.
    Lockable,
    /// It reads, and a written 1 clears a bit.
    WriteOneClears,
    /// A written 1 starts something; it reads 0.
    Starts,
}

impl RegisterAccess {
    /// As documents call it.
    pub const fn name(self) -> &'static str {
        match self {
            RegisterAccess::Constant => "constant",
            RegisterAccess::ReadOnly => "read",
            RegisterAccess::ReadWrite => "read, write",
            RegisterAccess::Lockable => "read, write until locked",
            RegisterAccess::WriteOneClears => "read, write 1 to clear",
            RegisterAccess::Starts => "write 1 to start, reads 0",
        }
    }
}

/// Name of the only field of a register whose segment has no layout.
pub const WHOLE: &str = "value";

/// How software uses a field.
#[derive(Debug, Clone, Copy)]
pub struct FieldUse {
    /// Segment of the byte map, as it stands there.
    pub segment: &'static str,
    /// Field of its layout, or [`WHOLE`].
    pub field: &'static str,
    /// What software may do.
    pub access: RegisterAccess,
    /// Value after reset, `None` where that depends on the design.
    pub reset: Option<u64>,
}

/// A byte map in a block, once or as an array.
#[derive(Debug)]
pub struct RegisterFile {
    /// Name of the array, empty where the registers stand in the block itself.
    pub name: &'static str,
    /// The map.
    pub frame: &'static FrameDef,
    /// Where the first one begins in the block.
    pub at_byte: usize,
    /// How many there are.
    pub count: usize,
    /// Bytes from one to the next.
    pub stride_bytes: usize,
    /// Bytes of a register, 4 or 8; the last one of a segment may have fewer.
    pub register_bytes: usize,
    /// Fields that are not read-only, or have a fixed value after reset.
    pub uses: &'static [FieldUse],
}

/// A block of registers.
#[derive(Debug)]
pub struct RegisterBlock {
    /// Name, snake_case.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What stands in it, by offset.
    pub files: &'static [RegisterFile],
}

/// A register of 16, 32 or 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterDef {
    /// Name, snake_case, unique in its file.
    pub name: String,
    /// Offset in its file.
    pub at_byte: usize,
    /// Width: 16, 32 or 64.
    pub bits: u32,
    /// What it holds.
    pub doc: &'static str,
    /// Its fields, lowest first; bits between them are reserved.
    pub fields: Vec<RegisterField>,
}

/// A field of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterField {
    /// Name, snake_case.
    pub name: &'static str,
    /// Lowest bit in the register.
    pub lsb: u32,
    /// Width in bits.
    pub width: u32,
    /// What software may do.
    pub access: RegisterAccess,
    /// Value after reset, where that is fixed.
    pub reset: Option<u64>,
    /// Named codes, if it has some.
    pub codes: Option<&'static CodeTable>,
    /// What it holds.
    pub doc: &'static str,
}

impl RegisterFile {
    /// The registers of the map, by offset.
    pub fn registers(&self) -> Vec<RegisterDef> {
        let segments = self.frame.segments.iter().filter(|segment| !segment.name.starts_with("RSVD"));
        segments.flat_map(|segment| self.cut(segment)).collect()
    }

    /// The bytes of the block that it takes.
    pub fn bytes(&self) -> Range<usize> {
        self.at_byte..self.at_byte + self.stride_bytes * self.count.saturating_sub(1) + self.frame.len_bytes
    }

    /// Registers of a segment: as wide as those of the file, the last one narrower where no more is left.
    fn cut(&self, segment: &'static Segment) -> Vec<RegisterDef> {
        let whole = self.register_bytes;
        let pieces = segment.len_bytes.div_ceil(whole);
        let piece = |n: usize| {
            let bits = 8 * (segment.len_bytes - whole * n).min(whole) as u32;
            let first = 8 * (whole * n) as u32;
            let name = segment.name.to_ascii_lowercase();
            let fields = match segment.layout {
                None => vec![self.field(segment, WHOLE, 0, bits, None, segment.doc)],
                Some(layout) => {
                    let of_piece = |field: &&FieldDef| !field.reserved && (first..first + bits).contains(&field.lsb);
                    let fields = layout.fields.iter().filter(of_piece);
                    let field =
                        |f: &'static FieldDef| self.field(segment, f.name, f.lsb - first, f.width, f.codes, f.doc);
                    fields.map(field).collect()
                }
            };
            RegisterDef {
                name: if pieces == 1 { name } else { format!("{name}_{n}") },
                at_byte: segment.at_byte + whole * n,
                bits,
                doc: segment.doc,
                fields,
            }
        };
        (0..pieces).map(piece).collect()
    }

    fn field(
        &self,
        segment: &Segment,
        name: &'static str,
        lsb: u32,
        width: u32,
        codes: Option<&'static CodeTable>,
        doc: &'static str,
    ) -> RegisterField {
        let used = self.uses.iter().find(|used| used.segment == segment.name && used.field == name);
        let (access, reset) = used.map_or((RegisterAccess::ReadOnly, None), |used| (used.access, used.reset));
        RegisterField { name, lsb, width, access, reset, codes, doc }
    }
}

impl RegisterBlock {
    /// Bytes of its widest registers.
    pub fn register_bytes(&self) -> usize {
        self.files.iter().map(|file| file.register_bytes).max().unwrap_or(0)
    }

    /// Length in bytes.
    pub fn len_bytes(&self) -> usize {
        self.files.iter().map(|file| file.bytes().end).max().unwrap_or(0)
    }

    /// What is wrong with the table, a text for each mistake: files that overlap or have no copy, registers of 8, 24, 40, 48 or 56 bits, uses of what is
    /// not there, fields that do not fit into one register, values that do not fit into a field.
    pub fn faults(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut end = 0;
        for file in self.files {
            let bytes = file.bytes();
            if bytes.start < end {
                found.push(format!(
                    "{}: {}: found byte {:#x}, expected {end:#x} or more",
                    self.name, file.frame.name, bytes.start
                ));
            }
            if file.stride_bytes < file.frame.len_bytes && file.count > 1 {
                found.push(format!("{}: {}: the copies overlap", self.name, file.frame.name));
            }
            end = bytes.end;
            found.extend(file.faults().into_iter().map(|text| format!("{}: {text}", self.name)));
        }
        found
    }
}

impl RegisterFile {
    fn faults(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.count == 0 {
            found.push(format!("{}: found no copy, expected at least one", self.frame.name));
        }
        for used in self.uses {
            let segment = self.frame.segments.iter().find(|segment| segment.name == used.segment);
            let is_there = segment.is_some_and(|segment| match segment.layout {
                None => used.field == WHOLE,
                Some(layout) => layout.fields.iter().any(|field| field.name == used.field && !field.reserved),
            });
            if !is_there {
                found.push(format!("{}: found no field {} of {}", self.frame.name, used.field, used.segment));
            }
        }
        for register in self.registers() {
            if !matches!(register.bits, 16 | 32 | 64) {
                let (name, bits) = (&register.name, register.bits);
                found.push(format!(
                    "{}: {name}: found a register of {bits} bits, expected 16, 32 or 64",
                    self.frame.name
                ));
            }
            for field in &register.fields {
                if field.lsb + field.width > register.bits {
                    found.push(format!("{}: {}: {} does not fit", self.frame.name, register.name, field.name));
                }
                if field.reset.is_some_and(|reset| reset.checked_shr(field.width).unwrap_or(0) != 0) {
                    found.push(format!(
                        "{}: {}: the reset of {} does not fit",
                        self.frame.name, register.name, field.name
                    ));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{odd, sample};

    // Of the constants of a map only some are used here.
    #[allow(dead_code)]
    mod model {
        use crate::{frame, layout};

        layout! {
            /// A word.
            pub struct Word: 16 bits = "model.word" {
                source: "none", basis: Model, rule: "CXLIO-DVS-01";
                /// Low.
                low: u8 = [0 +: 4];
                /// Reserved.
                rsvd: u8 = [4 +: 8], reserved;
                /// High.
                high: u8 = [12 +: 4];
            }
        }

        frame! {
            /// Two registers and a long one.
            pub mod sample: 12 bytes = "model.sample" {
                source: "none";
                /// A word.
                WORD = [0 +: 2] as Word;
                /// Reserved.
                RSVD = [2 +: 4];
                /// Six bytes.
                LONG = [6 +: 6];
            }
        }

        frame! {
            /// A register and a byte.
            pub mod odd: 5 bytes = "model.odd" {
                source: "none";
                /// Five bytes.
                FIVE = [0 +: 5];
            }
        }
    }

    const fn used(segment: &'static str, field: &'static str, reset: u64) -> FieldUse {
        FieldUse { segment, field, access: RegisterAccess::ReadWrite, reset: Some(reset) }
    }

    fn file(uses: &'static [FieldUse]) -> RegisterFile {
        RegisterFile {
            name: "",
            frame: &sample::FRAME,
            at_byte: 4,
            count: 2,
            stride_bytes: 16,
            register_bytes: 4,
            uses,
        }
    }

    #[test]
    fn a_map_is_cut_into_registers() {
        static USES: [FieldUse; 1] = [used("WORD", "high", 3)];
        let registers = file(&USES).registers();
        let names: Vec<_> = registers.iter().map(|r| (r.name.as_str(), r.at_byte, r.bits)).collect();
        assert_eq!(names, [("word", 0, 16), ("long_0", 6, 32), ("long_1", 10, 16)]);
        let fields: Vec<_> = registers[0].fields.iter().map(|f| (f.name, f.lsb, f.access, f.reset)).collect();
        let expected = [("low", 0, RegisterAccess::ReadOnly, None), ("high", 12, RegisterAccess::ReadWrite, Some(3))];
        assert_eq!(fields, expected);
        assert_eq!(file(&[]).bytes(), 4..32);
    }

    #[test]
    fn mistakes_of_a_table_are_found() {
        static FIELD: [FieldUse; 1] = [used("WORD", "rsvd", 0)];
        static RESET: [FieldUse; 1] = [used("WORD", "low", 16)];
        assert_eq!(file(&FIELD).faults(), ["model.sample: found no field rsvd of WORD"]);
        assert_eq!(file(&RESET).faults(), ["model.sample: word: the reset of low does not fit"]);
        let odd = RegisterFile {
            name: "",
            frame: &odd::FRAME,
            at_byte: 0,
            count: 0,
            stride_bytes: 8,
            register_bytes: 4,
            uses: &[],
        };
        let expected = [
            "model.odd: found no copy, expected at least one",
            "model.odd: five_1: found a register of 8 bits, expected 16, 32 or 64",
        ];
        assert_eq!(odd.faults(), expected);
        static FILES: [RegisterFile; 2] = [
            RegisterFile {
                name: "",
                frame: &sample::FRAME,
                at_byte: 0,
                count: 1,
                stride_bytes: 0,
                register_bytes: 4,
                uses: &[],
            },
            RegisterFile {
                name: "again",
                frame: &sample::FRAME,
                at_byte: 8,
                count: 2,
                stride_bytes: 8,
                register_bytes: 4,
                uses: &[],
            },
        ];
        let block = RegisterBlock { name: "block", doc: "", files: &FILES };
        assert_eq!(
            block.faults(),
            ["block: model.sample: found byte 0x8, expected 0xc or more", "block: model.sample: the copies overlap"]
        );
    }
}
