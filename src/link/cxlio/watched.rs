//! TLPs of CXL.io that pass on a 68B link, for those who watch it (`cxl-io` §1.4, §5).
//!
//! Modelled: what the receiver of each direction takes, each TLP once: its LCRC fits, it is not nullified, and its number is the next one.
//! A TLP that is missing is waited for, because a replay brings it; what passes meanwhile in either direction is held back, since a request
//! and its answer may be on both sides of the gap. Where no replay brings it, the link is told once (`LIV-RTY-01`) and not followed any
//! more. Left out: DLLPs, so a Nak is not awaited: what a replay repeats has an old number. A unit whose tokens cannot be read is passed
//! over with the packets in it, and the next unit that begins with a token is read again: LCRC and number guard against bytes that only
//! look like a TLP. Training is not seen: where it cuts a TLP into two, the TLP that follows is taken for its rest, and a TLP is missing.
//!
//! A walk through one unit: the deframer cuts it into packets; a TLP that is whole goes by its LCRC and its number, and comes out as it stands
//! above the link, at once or when nothing is missing in front of it.

use super::deframer::{DeframedItem, Deframer};
use super::sequence::{SequencePlace, SequenceWatch};
use scalepool_protocols::cxl::cxl68::unit::PAYLOAD_BYTES;
use scalepool_protocols::cxl::cxlio::framing::{self, Framed};
use scalepool_protocols::wire::Violation;

/// Units of CXL.io of both directions behind a missing TLP after which no replay is awaited any more (our choice; a round trip has fewer).
const MOST_BEHIND_GAP: usize = 512;

/// The same where a capture ends: it may end in the middle of a replay, which has been told as missing before this.
const MOST_BEHIND_GAP_AT_END: usize = 128;

/// The reader of one direction.
#[derive(Debug, Clone, Default)]
struct FramedTlpReader {
    deframer: Deframer,
    numbers: SequenceWatch,
    /// A TLP is missing: a later one has come, or one whose LCRC does not fit.
    is_behind: bool,
}

impl FramedTlpReader {
    /// The TLPs that are known to be whole with this unit: one that ends it waits for the token behind it.
    fn read(&mut self, payload: &[u8; PAYLOAD_BYTES]) -> Vec<Vec<u8>> {
        if self.deframer.is_lost() {
            self.deframer.restart();
        }
        let mut whole = Vec::new();
        for item in self.deframer.read(payload) {
            let DeframedItem::Tlp { framed, edb: false } = item else { continue };
            match framing::unframe_tlp(&framed) {
                Ok(Some(Framed::Good(number, tlp))) => match self.numbers.place(number) {
                    SequencePlace::Next => {
                        self.is_behind = false;
                        whole.push(tlp.to_vec());
                    }
                    SequencePlace::Ahead => self.is_behind = true,
                    SequencePlace::Again => (),
                },
                Ok(Some(Framed::Nullified(_))) => (),
                _ => self.is_behind = true,
            }
        }
        whole
    }
}

/// The reader of a link; directions are 0 and 1.
#[derive(Debug, Clone, Default)]
pub struct FramedLinkReader {
    readers: [FramedTlpReader; 2],
    /// What passes while a TLP is missing: direction and bytes.
    held: Vec<(usize, Vec<u8>)>,
    /// Units of CXL.io that have passed since.
    behind_gap: usize,
    /// No replay has come.
    is_stopped: bool,
}

impl FramedLinkReader {
    /// Reads a unit of a direction: the TLPs that are due, each with its direction, and what is wrong with this direction.
    pub fn read(&mut self, way: usize, payload: &[u8; PAYLOAD_BYTES]) -> (Vec<(usize, Vec<u8>)>, Option<Violation>) {
        if self.is_stopped {
            return (Vec::new(), None);
        }
        let whole = self.readers[way].read(payload);
        self.held.extend(whole.into_iter().map(|bytes| (way, bytes)));
        if !self.readers.iter().any(|reader| reader.is_behind) {
            self.behind_gap = 0;
            return (std::mem::take(&mut self.held), None);
        }
        self.behind_gap += 1;
        if self.behind_gap <= MOST_BEHIND_GAP || !self.readers[way].is_behind {
            return (Vec::new(), None);
        }
        self.is_stopped = true;
        self.held.clear();
        let text =
            "a TLP is missing, and no replay has brought it; transactions of this link are not followed any more";
        (Vec::new(), Some(self.missing(way, text)))
    }

    /// A TLP of a direction that no replay has brought.
    fn missing(&self, way: usize, text: &str) -> Violation {
        let next = self.readers[way].numbers.next();
        let found = format!("no TLP {next} in {} units behind where it is missing", self.behind_gap);
        Violation::at_byte("LIV-RTY-01", 0, found, "a replay of it", text)
    }

    /// The capture ends: a TLP that has been missing for so long that a replay should have begun, and its direction.
    pub fn end(&self) -> Option<(usize, Violation)> {
        let way = self.readers.iter().position(|reader| reader.is_behind)?;
        let text =
            "a TLP is missing, and no replay has brought it up to the end; transactions behind it are not judged";
        let is_told = !self.is_stopped && self.behind_gap > MOST_BEHIND_GAP_AT_END;
        is_told.then(|| (way, self.missing(way, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units with these TLPs of 3 DW, one a unit, with the number `number` and the byte `byte` everywhere.
    fn unit(number: u16, byte: u8) -> [u8; PAYLOAD_BYTES] {
        let tlp = [byte & 0x1f; 12];
        let (token, lcrc) = framing::frame_tlp(number, &tlp).expect("a TLP");
        let mut payload = [0; PAYLOAD_BYTES];
        let framed = [&token[..], &tlp, &lcrc].concat();
        payload[..framed.len()].copy_from_slice(&framed);
        payload
    }

    fn numbers(read: (Vec<(usize, Vec<u8>)>, Option<Violation>)) -> Vec<(usize, u8)> {
        assert_eq!(read.1, None);
        read.0.into_iter().map(|(way, tlp)| (way, tlp[0])).collect()
    }

    #[test]
    fn a_replay_brings_what_is_missing_and_what_waited_behind_it() {
        let mut reader = FramedLinkReader::default();
        assert_eq!(numbers(reader.read(0, &unit(0, 1))), [(0, 1)]);
        let mut damaged = unit(1, 2);
        damaged[8] ^= 1;
        assert_eq!(numbers(reader.read(0, &damaged)), []);
        // A later one of this direction is not taken, one of the other direction waits.
        assert_eq!(numbers(reader.read(0, &unit(2, 3))), []);
        assert_eq!(numbers(reader.read(1, &unit(0, 4))), []);
        assert_eq!(numbers(reader.read(0, &unit(1, 2))), [(1, 4), (0, 2)]);
        assert_eq!(numbers(reader.read(0, &unit(2, 3))), [(0, 3)]);
        assert_eq!(numbers(reader.read(0, &unit(2, 3))), [], "it has passed before");
    }

    #[test]
    fn a_tlp_that_no_replay_brings_is_told_once() {
        let mut reader = FramedLinkReader::default();
        reader.read(0, &unit(0, 1));
        let mut told = Vec::new();
        for number in 0..2000 {
            let (taken, missing) = reader.read(0, &unit(2 + number, 5));
            assert_eq!(taken, []);
            told.extend(missing.map(|violation| (number, violation.rule)));
        }
        assert_eq!(told, [(512, "LIV-RTY-01")]);
        assert!(reader.end().is_none(), "it has been told");
    }

    #[test]
    fn a_capture_that_ends_behind_a_missing_tlp_says_so() {
        for (units, is_told) in [(0, false), (128, false), (129, true)] {
            let mut reader = FramedLinkReader::default();
            reader.read(0, &unit(0, 1));
            (0..units).for_each(|number| drop(reader.read(0, &unit(2 + number, 5))));
            let told = reader.end();
            assert_eq!(
                told.as_ref().map(|(way, violation)| (*way, violation.rule)),
                is_told.then_some((0, "LIV-RTY-01"))
            );
        }
    }
}
