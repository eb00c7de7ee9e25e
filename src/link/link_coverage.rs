//! Coverage of what passes on a link of any protocol, from the units of both directions.
//!
//! Modelled: of CXL the groups of [`Cxl68Coverage`] and [`Cxl256Coverage`], the same that a run fills; of UALink and NVLink each
//! code of the headers, requests and responses. Left out: units of CXL.io. Whoever calls leaves out units that are repeated or
//! thrown away, so a bin counts what a receiver takes once.
//!
//! A walk through one unit: it goes to the reader of its direction, which takes out what it holds; each code that stands there
//! counts its bin. [`LinkCoverage::restart`] forgets what is under way, not the counts.

use super::coverage::{CoverageGroup, Met};
use super::cxl68::coverage::Cxl68Coverage;
use super::cxl256::coverage::Cxl256Coverage;
use super::protocol::LinkProtocol;
use scalepool_forms::FormError;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream as stream68;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::{Mode, stream as stream256};
use scalepool_protocols::nvlink::{FLIT_BYTES, NvlHeader};
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::ualink::header;
use scalepool_protocols::ualink::stream::Unpacker as UalUnpacker;
use scalepool_protocols::wire::{LayoutDef, Wire};

/// Codes of a field that count: 2^8 is more than any table of these protocols has.
const CODES: usize = 256;

/// Every code of every field that has names, of some layouts.
#[derive(Debug, Clone)]
struct CodeCoverage {
    layouts: Vec<&'static LayoutDef>,
    group: CoverageGroup,
}

/// Fields of a layout that have a place in [`code_key`].
const FIELDS: usize = 64;

fn code_key(layout: usize, field: usize, code: u128) -> usize {
    (layout * FIELDS + field) * CODES + code as usize
}

impl CodeCoverage {
    fn new(layouts: Vec<&'static LayoutDef>) -> CodeCoverage {
        let bins = layouts.iter().enumerate().flat_map(|(l, layout)| {
            layout.fields.iter().enumerate().flat_map(move |(f, field)| {
                let codes = field.codes.map_or(&[][..], |table| table.codes).iter();
                codes.map(move |code| {
                    (code_key(l, f, code.value), format!("{} {} {}", layout.name, field.name, code.name))
                })
            })
        });
        let group = CoverageGroup::new("code x field", bins);
        CodeCoverage { layouts, group }
    }

    fn record(&mut self, layout: &LayoutDef, bits: u128) {
        let Some(l) = self.layouts.iter().position(|known| known.name == layout.name) else { return };
        for (f, field) in layout.fields.iter().enumerate().filter(|(_, field)| field.codes.is_some()) {
            self.group.hit(code_key(l, f, field.extract(bits)));
        }
    }
}

/// What a protocol needs for it, [down, up].
#[derive(Debug)]
enum Readers {
    Cxl68(Box<(Cxl68Coverage, [stream68::Unpacker; 2])>),
    Cxl256(Mode, Box<(Cxl256Coverage, [stream256::Unpacker; 2])>),
    Ualink(Box<(CodeCoverage, [UalUnpacker; 2])>),
    /// Flits of the packet under way that are still to come.
    Nvlink(CodeCoverage, [usize; 2]),
}

/// Coverage of a link.
#[derive(Debug)]
pub struct LinkCoverage {
    protocol: LinkProtocol,
    readers: Readers,
}

const DIRS: [Dir; 2] = [Dir::Down, Dir::Up];

fn ualink_readers() -> [UalUnpacker; 2] {
    let roles = [CompressionRole::ToSwitch, CompressionRole::FromSwitch];
    roles.map(|role| UalUnpacker::new(UalConfig::default(), role))
}

impl LinkCoverage {
    /// Nothing met.
    pub fn new(protocol: LinkProtocol) -> LinkCoverage {
        let readers = match protocol {
            LinkProtocol::Cxl68 => {
                let unpack = |dir| stream68::Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
                Readers::Cxl68(Box::new((Cxl68Coverage::new(), DIRS.map(unpack))))
            }
            LinkProtocol::Cxl256(mode) => {
                let unpack = |dir| stream256::Unpacker::new(mode, dir);
                Readers::Cxl256(mode, Box::new((Cxl256Coverage::new(mode), DIRS.map(unpack))))
            }
            LinkProtocol::Ualink => {
                let headers = [header::ExplicitHeader::DEF, header::CommandHeader::DEF];
                let fields = [TlFc::DEF, TlReq::DEF, TlRsp::DEF, TlCreq::DEF, TlCrspSingle::DEF, TlCrspMulti::DEF];
                let layouts = headers.into_iter().chain(fields);
                Readers::Ualink(Box::new((CodeCoverage::new(layouts.collect()), ualink_readers())))
            }
            LinkProtocol::Nvlink => Readers::Nvlink(CodeCoverage::new(vec![NvlHeader::DEF]), [0; 2]),
        };
        LinkCoverage { protocol, readers }
    }

    /// A unit that its receiver takes.
    ///
    /// # Errors
    /// Bytes of another length than that of a unit.
    pub fn unit(&mut self, dir: Dir, unit: &[u8]) -> Result<(), FormError> {
        let n = dir as usize;
        let wrong = || {
            let expected = format!("{} bytes", self.protocol.unit_bytes());
            FormError::new("unit", format!("{} bytes", unit.len()), expected)
        };
        match &mut self.readers {
            Readers::Cxl68(parts) => {
                let (coverage, readers) = &mut **parts;
                let unit = Cxl68Unit(unit.try_into().map_err(|_| wrong())?);
                coverage.record(&readers[n].read(&unit));
            }
            Readers::Cxl256(mode, parts) => {
                let (coverage, readers) = &mut **parts;
                let flit = Cxl256Flit::from_bytes(unit).map_err(|_| wrong())?;
                // What the FEC repairs is taken as repaired.
                let received = flit.receive(*mode);
                if received.is_good() && received.flit.header().flit_type == FlitType::Cachemem {
                    coverage.record(&readers[n].read(&received.flit));
                }
            }
            // Control flits of one byte hold nothing.
            Readers::Ualink(..) if unit.len() == 1 => {}
            Readers::Ualink(parts) => {
                let (coverage, readers) = &mut **parts;
                let flit = DlFlit::from_bytes(unit).map_err(|_| wrong())?;
                let decoded = readers[n].read(&flit);
                if decoded.is_good() {
                    coverage.record(decoded.header.def(), flit.header_bits().into());
                    let reads = decoded.finished.into_iter().chain(decoded.tl).filter_map(|item| item.read);
                    for transfer in reads.flat_map(|read| read.delivered) {
                        // A field that was read has bits.
                        if let Ok(bits) = transfer.field.to_bits() {
                            coverage.record(transfer.field.def(), bits);
                        }
                    }
                }
            }
            Readers::Nvlink(coverage, owed) => {
                for flit in unit.chunks(FLIT_BYTES) {
                    let flit = flit.try_into().map_err(|_| wrong())?;
                    let bits = u128::from_le_bytes(flit);
                    if owed[n] == 0 {
                        coverage.record(NvlHeader::DEF, bits);
                        owed[n] = usize::from(NvlHeader::from_bits(bits).len);
                    } else {
                        owed[n] -= 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// What was under way is lost: a reset, or the end of a link.
    pub fn restart(&mut self) {
        let fresh = LinkCoverage::new(self.protocol);
        match (&mut self.readers, fresh.readers) {
            (Readers::Cxl68(parts), Readers::Cxl68(fresh)) => parts.1 = fresh.1,
            (Readers::Cxl256(_, parts), Readers::Cxl256(_, fresh)) => parts.1 = fresh.1,
            (Readers::Ualink(parts), Readers::Ualink(fresh)) => parts.1 = fresh.1,
            (Readers::Nvlink(_, owed), Readers::Nvlink(_, fresh)) => *owed = fresh,
            _ => {}
        }
    }

    /// How often each bin was met.
    pub fn met(&self) -> Vec<Met> {
        match &self.readers {
            Readers::Cxl68(parts) => parts.0.met(),
            Readers::Cxl256(_, parts) => parts.0.met(),
            Readers::Ualink(parts) => vec![parts.0.group.met(self.protocol.name())],
            Readers::Nvlink(coverage, _) => vec![coverage.group.met(self.protocol.name())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::cxl::cxl68::pid;

    fn hits(coverage: &LinkCoverage, group: &str, bin: &str) -> u64 {
        let groups = coverage.met();
        let group = groups.iter().find(|met| met.group == group).expect("a group");
        group.bins.iter().find(|(name, _)| name == bin).expect("a bin").1
    }

    #[test]
    fn a_read_and_its_direction() {
        let mut coverage = LinkCoverage::new(LinkProtocol::Cxl68);
        // MemRd in H5: format code 5 at bit 5, opcode 1 behind the valid bit at 32.
        let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &[5 << 5 | 0b11 << 32, 0, 0, 0]);
        coverage.unit(Dir::Down, &unit.0).expect("a unit");
        coverage.unit(Dir::Down, &unit.0).expect("a unit");
        assert_eq!(hits(&coverage, "opcode x channel", "cxl68.m2s_req MemRd"), 2);
        coverage.restart();
        assert_eq!(hits(&coverage, "opcode x channel", "cxl68.m2s_req MemRd"), 2);
        assert!(coverage.unit(Dir::Up, &unit.0[1..]).is_err());
    }

    #[test]
    fn data_of_a_packet_is_no_header() {
        let mut coverage = LinkCoverage::new(LinkProtocol::Nvlink);
        // WRITE_POSTED is looked up by its name; `len` is 1 at bit 15.
        let table =
            NvlHeader::DEF.fields.iter().find(|field| field.name == "op").and_then(|op| op.codes).expect("codes");
        let (code, name) = (table.codes[2].value, table.codes[2].name);
        let header = (code << 97 | 1 << 15).to_le_bytes();
        for flit in [header, [0xff; 16], header, [0; 16]] {
            coverage.unit(Dir::Up, &flit).expect("a flit");
        }
        assert_eq!(hits(&coverage, "code x field", &format!("nvlink.header op {name}")), 2);
        let all: u64 = coverage.met()[0].bins.iter().map(|(_, hits)| hits).sum();
        // Operation, channel and channel of credits of two headers.
        assert_eq!(all, 6);
    }
}
