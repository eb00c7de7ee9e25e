//! What accelerators can see of each other's mistakes: the checks of both ends of a transaction.
//!
//! Modelled: beats of a read response, their bytes and `Last`; destinations, regions and tags of requests. Left out: slots
//! and beats of UPLI in time.

use super::read::{Read, lines_of};
use scalepool_memory::LineBytes;
use scalepool_memory::spread::SpreadSet;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::{RdWr, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;

/// The answer to one request, as it comes together.
#[derive(Debug, Clone)]
pub struct UalReadAssembly {
    /// What has to be read; nothing for a write.
    expected: Read,
    /// Bit n: beat n has come.
    seen: u8,
}

impl UalReadAssembly {
    /// An answer of these beats, at most four.
    pub fn new(expected: Read) -> UalReadAssembly {
        UalReadAssembly { expected, seen: 0 }
    }

    /// One of which the beats `seen` have come, a bit each.
    pub fn of(expected: Read, seen: u8) -> UalReadAssembly {
        UalReadAssembly { expected, seen }
    }

    /// Beats that have come, a bit each.
    pub fn seen(&self) -> u8 {
        self.seen
    }

    /// Takes a response: whether the answer is finished, and what is wrong.
    pub fn take(&mut self, transfer: &Transfer) -> (bool, Vec<Violation>) {
        let ControlField::Response(rsp) = &transfer.field else { return (false, Vec::new()) };
        if rsp.rdwr == RdWr::Write {
            return (true, Vec::new());
        }
        let mut found = Vec::new();
        let first = if rsp.len == 0 { usize::from(rsp.offset) } else { 0 };
        if first == 0
            && self.seen == 0
            && self.expected.poisoned == transfer.poisoned
            && self.expected.data == transfer.data
        {
            // The rule: all that was asked for, as it was written.
            self.seen = ((1u16 << self.expected.beats()) - 1) as u8;
        } else {
            self.compare(transfer, first, &mut found);
        }
        let (seen, all) = (self.seen.count_ones() as usize, usize::from(self.expected.beats()));
        if rsp.last != (seen >= all) {
            let is = format!("{seen} of {all} beats, Last {}", u8::from(rsp.last));
            found.push(Violation::at_byte(
                "UAL-UPL-12",
                0,
                is,
                "Last with the final beat",
                "the beats of a read response are not complete",
            ));
        }
        (rsp.last || seen >= all, found)
    }

    /// Compares beats from one on with those that are expected.
    fn compare(&mut self, transfer: &Transfer, first: usize, found: &mut Vec<Violation>) {
        let mut expected = self.expected.lines(first);
        let is_refused = matches!(&transfer.field, ControlField::Response(rsp) if rsp.status != Status::OKAY);
        for (n, line) in lines_of(&transfer.data).enumerate() {
            let (beat, poison) = (first + n, transfer.poisoned >> n & 1 == 1);
            let bit = 1 << (beat & 7);
            match expected.next() {
                Some((data, poisoned)) if self.seen & bit == 0 => {
                    // What is known to be wrong is not compared.
                    // Neither is what was refused, which its status says.
                    if !is_refused && (poison != poisoned || !poison && line != data) {
                        let byte = (0..64).find(|&k| line[k] != data[k]).unwrap_or(0);
                        let of = |line: &LineBytes, poison| format!("{:#04x}, poison {}", line[byte], u8::from(poison));
                        let text = match poison && !poisoned {
                            // Nobody knows what it was: it is told, as what is wrong and seems right is not.
                            true => format!(
                                "beat {beat} of a read is poison that its writer did not write: its bytes were lost"
                            ),
                            false => format!("byte {byte} of beat {beat} of a read has a wrong value"),
                        };
                        let (is, want) = (of(&line, poison), of(&data, poisoned));
                        found.push(Violation::at_byte("SIM-E2E-01", byte, is, want, text));
                    }
                }
                _ => {
                    let beats = format!("beat {beat}");
                    found.push(Violation::at_byte(
                        "UAL-UPL-12",
                        0,
                        beats,
                        "each beat once",
                        "the beats of a read response are not complete",
                    ));
                }
            }
            self.seen |= bit;
        }
    }
}

/// What a completer knows of the requests of others.
#[derive(Debug, Clone, Default)]
pub struct CompleterWatch {
    own: u16,
    /// Port on which a source has used a region; empty where there is only one.
    regions: OrderedMap<(u16, u64), usize>,
    ports: usize,
    /// Tags in use of each port, with their sources.
    tags: Vec<SpreadSet<u32>>,
}

impl CompleterWatch {
    /// The completer of an accelerator with its number of ports.
    pub fn new(own: u16, ports: usize) -> CompleterWatch {
        CompleterWatch { own, ports, tags: vec![SpreadSet::default(); ports], ..CompleterWatch::default() }
    }

    /// A request comes by a port.
    pub fn request(&mut self, port: usize, req: &TlReq) -> Vec<Violation> {
        let mut found = Vec::new();
        if req.dst != self.own {
            let text = "a request has reached another accelerator than its destination";
            found.push(Violation::at_byte("UAL-SWI-01", 0, req.dst, self.own, text));
        }
        let region = req.address / REGION_BYTES;
        let known = if self.ports == 1 { port } else { *self.regions.entry((req.src, region)).or_insert(port) };
        if known != port {
            let (is, want) = (format!("port {port}"), format!("port {known}, as before"));
            let text = format!("requests of accelerator {} to block {region:#x} use more than one port", req.src);
            found.push(Violation::at_byte("UAL-UPL-07", 0, is, want, text));
        }
        if !self.tags[port].insert(tag_of(req.src, req.tag)) {
            let (is, text) = (format!("tag {:#x} again", req.tag), format!("a request of accelerator {}", req.src));
            found.push(Violation::at_byte("UAL-UPL-09", 0, is, "a tag that is not in use", text));
        }
        found
    }

    /// The last beat of the answer to a request leaves.
    pub fn answered(&mut self, port: usize, dst: u16, tag: u16) {
        self.tags[port].remove(&tag_of(dst, tag));
    }
}

/// A tag of a source, as one number.
fn tag_of(src: u16, tag: u16) -> u32 {
    u32::from(src) << 16 | u32::from(tag)
}
