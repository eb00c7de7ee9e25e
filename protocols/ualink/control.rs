//! Control half-flits: which fields stand in their eight sectors, and what data they owe (`ualink` §9, §10).
//!
//! A field of four sectors stands at 0 or 4, one of two at an even sector, one of one anywhere; its type is in the top
//! bits of its highest sector. So the type in sector 3 of four decides first, then those of the pairs, then single ones,
//! and every pattern can be read.

use super::code::{CompressedCmd, FieldType, RdWr, ReqCmd};
use super::config::UalConfig;
use super::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use super::half::{HALF_SECTORS, Half};
use crate::wire::{LayoutDef, Violation, Wire};

/// Data half-flits of a beat of 64 bytes.
const BEAT_HALVES: usize = 2;

/// The layout of a kind of field, `None` for an undefined one.
pub fn def_of(kind: FieldType) -> Option<&'static LayoutDef> {
    Some(match kind {
        FieldType::FlowControl => TlFc::DEF,
        FieldType::Request => TlReq::DEF,
        FieldType::Response => TlRsp::DEF,
        FieldType::CompressedRequest => TlCreq::DEF,
        FieldType::CompressedSingle => TlCrspSingle::DEF,
        FieldType::CompressedMulti => TlCrspMulti::DEF,
        _ => return None,
    })
}

/// What follows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owed {
    /// Beats of 64 bytes, two data halves each.
    pub beats: usize,
    /// A byte-enable half follows the data.
    pub enables: bool,
}

impl Owed {
    /// Half-flits in all.
    pub const fn halves(self) -> usize {
        BEAT_HALVES * self.beats + self.enables as usize
    }
}

/// The credits that a request or response takes (`ualink` §11): one of its command class, and one of its data class for
/// each beat, both of the same pool or virtual channel. Byte enables take none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// A request; else a response.
    pub request: bool,
    /// From the pool; else from the virtual channel.
    pub pool: bool,
    /// Virtual channel, 0 to 3.
    pub vchan: u8,
    /// Data credits, one for each 64 bytes.
    pub beats: usize,
}

/// A field: its kind and its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlField {
    /// Credits; all zero is a NOP.
    FlowControl(TlFc),
    /// Request.
    Request(TlReq),
    /// Response.
    Response(TlRsp),
    /// Compressed request.
    CompressedRequest(TlCreq),
    /// Compressed read response of one beat.
    CompressedSingle(TlCrspSingle),
    /// Compressed write response, or read response of all beats.
    CompressedMulti(TlCrspMulti),
}

impl ControlField {
    /// Reads the bits of a kind; `None` for an undefined one.
    pub fn from_bits(kind: FieldType, bits: u128) -> Option<ControlField> {
        Some(match kind {
            FieldType::FlowControl => ControlField::FlowControl(TlFc::from_bits(bits)),
            FieldType::Request => ControlField::Request(TlReq::from_bits(bits)),
            FieldType::Response => ControlField::Response(TlRsp::from_bits(bits)),
            FieldType::CompressedRequest => ControlField::CompressedRequest(TlCreq::from_bits(bits)),
            FieldType::CompressedSingle => ControlField::CompressedSingle(TlCrspSingle::from_bits(bits)),
            FieldType::CompressedMulti => ControlField::CompressedMulti(TlCrspMulti::from_bits(bits)),
            _ => return None,
        })
    }

    /// Its bits.
    ///
    /// # Errors
    /// A part does not fit.
    pub fn to_bits(&self) -> Result<u128, crate::wire::FieldError> {
        match self {
            ControlField::FlowControl(f) => f.to_bits(),
            ControlField::Request(f) => f.to_bits(),
            ControlField::Response(f) => f.to_bits(),
            ControlField::CompressedRequest(f) => f.to_bits(),
            ControlField::CompressedSingle(f) => f.to_bits(),
            ControlField::CompressedMulti(f) => f.to_bits(),
        }
    }

    /// Its layout.
    pub fn def(&self) -> &'static LayoutDef {
        match self {
            ControlField::FlowControl(_) => TlFc::DEF,
            ControlField::Request(_) => TlReq::DEF,
            ControlField::Response(_) => TlRsp::DEF,
            ControlField::CompressedRequest(_) => TlCreq::DEF,
            ControlField::CompressedSingle(_) => TlCrspSingle::DEF,
            ControlField::CompressedMulti(_) => TlCrspMulti::DEF,
        }
    }

    /// Sectors that it takes: 4, 2 or 1.
    pub fn sectors(&self) -> usize {
        const fn of(def: &LayoutDef) -> usize {
            def.bits as usize / 32
        }
        match self {
            ControlField::FlowControl(_) => const { of(TlFc::DEF) },
            ControlField::Request(_) => const { of(TlReq::DEF) },
            ControlField::Response(_) => const { of(TlRsp::DEF) },
            ControlField::CompressedRequest(_) => const { of(TlCreq::DEF) },
            ControlField::CompressedSingle(_) => const { of(TlCrspSingle::DEF) },
            ControlField::CompressedMulti(_) => const { of(TlCrspMulti::DEF) },
        }
    }

    /// Whether it is a request or a response.
    pub const fn is_transaction(&self) -> bool {
        !matches!(self, ControlField::FlowControl(_))
    }

    /// The credits that it takes; `None` for returned credits.
    pub fn credit(&self, config: &UalConfig) -> Option<Credit> {
        let (request, pool, vchan) = match self {
            ControlField::FlowControl(_) => return None,
            ControlField::Request(f) => (true, f.pool, f.vchan),
            ControlField::CompressedRequest(f) => (true, f.pool, f.vchan),
            ControlField::Response(f) => (false, f.pool, f.vchan),
            ControlField::CompressedSingle(f) => (false, f.pool, f.vchan),
            ControlField::CompressedMulti(f) => (false, f.pool, f.vchan),
        };
        Some(Credit { request, pool, vchan, beats: self.owed(config).beats })
    }

    /// The data that follows it. A reserved command owes none.
    pub fn owed(&self, config: &UalConfig) -> Owed {
        match self {
            ControlField::FlowControl(_) => Owed::default(),
            ControlField::Request(req) => match req.cmd {
                // One beat of operands whatever the length says.
                ReqCmd::AtomicR | ReqCmd::AtomicNR => Owed { beats: 1, enables: true },
                cmd if cmd.name().is_none() || !cmd.has_data() => Owed::default(),
                cmd => {
                    let enables = match cmd {
                        ReqCmd::WriteFull => false,
                        ReqCmd::WriteMessage => config.write_message_enables,
                        _ => true,
                    };
                    Owed { beats: usize::from(req.numbeats) + 1, enables }
                }
            },
            ControlField::CompressedRequest(req) => match req.cmd {
                CompressedCmd::Write => Owed { beats: usize::from(req.len) + 1, enables: true },
                CompressedCmd::WriteFull => Owed { beats: usize::from(req.len) + 1, enables: false },
                _ => Owed::default(),
            },
            ControlField::Response(TlRsp { rdwr, len, .. })
            | ControlField::CompressedMulti(TlCrspMulti { rdwr, len, .. }) => match *rdwr {
                RdWr::Read => Owed { beats: usize::from(*len) + 1, enables: false },
                _ => Owed::default(),
            },
            ControlField::CompressedSingle(_) => Owed { beats: 1, enables: false },
        }
    }
}

/// A field with its first sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// First sector, 0 to 7.
    pub sector: usize,
    /// The field.
    pub field: ControlField,
    /// Its bits.
    pub bits: u128,
}

/// A Control half, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Control {
    /// Its fields from sector 0 on; sectors of zeros are left out.
    pub fields: Vec<Placed>,
    /// What is wrong; places are bytes of the half.
    pub violations: Vec<Violation>,
}

/// Type in the top bits of a sector.
fn kind_at(half: &Half, sector: usize) -> FieldType {
    FieldType(half[4 * sector + 3] >> 4)
}

fn bits_at(half: &Half, sector: usize, sectors: usize) -> u128 {
    // A copy of a known length is a load; a fold over the bytes is a loop with shifts of 128 bits.
    let at = 4 * sector;
    match sectors {
        1 => u32::from_le_bytes(core::array::from_fn(|k| half[at + k])).into(),
        2 => u64::from_le_bytes(core::array::from_fn(|k| half[at + k])).into(),
        _ => u128::from_le_bytes(core::array::from_fn(|k| half[at + k])),
    }
}

/// Reads a Control half.
pub fn read(half: &Half) -> Control {
    let mut control = Control::default();
    control.read(half);
    control
}

impl Control {
    /// Adds what a Control half holds.
    pub(super) fn read(&mut self, half: &Half) {
        for four in [0, 4] {
            if kind_at(half, four + 3) == FieldType::Request {
                self.field(half, four, 4);
                continue;
            }
            for two in [four, four + 2] {
                if bits_at(half, two, 2) == 0 {
                    // Two flow-control fields that say nothing: most sectors behind the last field.
                    continue;
                }
                let kind = kind_at(half, two + 1);
                if [FieldType::Response, FieldType::CompressedRequest].contains(&kind) {
                    self.field(half, two, 2);
                } else {
                    self.single(half, two);
                    self.single(half, two + 1);
                }
            }
        }
    }

    /// A sector on its own: only fields of one sector may stand there.
    fn single(&mut self, half: &Half, sector: usize) {
        match kind_at(half, sector) {
            FieldType::FlowControl | FieldType::CompressedSingle | FieldType::CompressedMulti => {
                self.field(half, sector, 1);
            }
            kind if kind.name().is_some() => self.violations.push(Violation::at_byte(
                "UAL-TLF-02",
                4 * sector,
                format!("a {kind:?} that ends in sector {sector}"),
                if kind == FieldType::Request { "its end in sector 3 or 7" } else { "its end in an odd sector" },
                "a field is not allowed at this position",
            )),
            kind => self.violations.push(Violation::at_byte(
                "UAL-TLF-03",
                4 * sector,
                format!("type {}", kind.0),
                "a type from 0 to 5",
                format!("the field that ends in sector {sector} has an undefined type"),
            )),
        }
    }

    fn field(&mut self, half: &Half, sector: usize, sectors: usize) {
        let bits = bits_at(half, sector, sectors);
        if bits == 0 {
            return;
        }
        let Some(field) = ControlField::from_bits(kind_at(half, sector + sectors - 1), bits) else { return };
        let known = self.violations.len();
        field.def().check(bits, &mut self.violations);
        if self.violations.len() > known {
            for violation in self.violations.split_off(known) {
                self.violations.push(violation.in_unit(|bit| 4 * sector + bit as usize / 8));
            }
        }
        if self.fields.is_empty() {
            self.fields.reserve_exact(HALF_SECTORS);
        }
        self.fields.push(Placed { sector, field, bits });
    }

    /// Requests and responses.
    pub fn transactions(&self) -> usize {
        self.fields.iter().filter(|p| p.field.is_transaction()).count()
    }
}

/// Fills a Control half from sector 0 upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    half: Half,
    next: usize,
    end: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Writer { half: [0; 32], next: 0, end: HALF_SECTORS }
    }
}

impl Writer {
    /// Puts a field behind those before it, at the next place where it may stand; `false` when there is no room.
    ///
    /// # Errors
    /// A part of the field does not fit.
    pub fn put(&mut self, field: &ControlField) -> Result<bool, crate::wire::FieldError> {
        let (sectors, bits) = (field.sectors(), field.to_bits()?);
        let fits = self.take(sectors);
        if fits {
            self.write(self.next - sectors, sectors, bits);
        }
        Ok(fits)
    }

    /// Takes the place of a field of so many sectors and writes nothing; `false` when there is no room.
    pub fn take(&mut self, sectors: usize) -> bool {
        let at = self.next.next_multiple_of(sectors);
        let fits = at + sectors <= self.end;
        if fits {
            self.next = at + sectors;
        }
        fits
    }

    /// Puts credits into the last sector.
    ///
    /// # Errors
    /// A part of the field does not fit.
    pub fn put_last(&mut self, credits: &TlFc) -> Result<bool, crate::wire::FieldError> {
        if self.next >= self.end {
            return Ok(false);
        }
        let bits = credits.to_bits()?;
        self.end -= 1;
        self.write(self.end, 1, bits);
        Ok(true)
    }

    fn write(&mut self, at: usize, sectors: usize, bits: u128) {
        self.half[4 * at..4 * (at + sectors)].copy_from_slice(&bits.to_le_bytes()[..4 * sectors]);
    }

    /// The half.
    pub const fn half(&self) -> Half {
        self.half
    }
}
