//! TLPs of CXL.io that pass in one direction of a 68B link, for those who watch it (`cxl-io` §1.4, §5).
//!
//! Modelled: what the receiver of the direction takes, each TLP once: its LCRC fits, it is not nullified, and its number is the next one.
//! Left out: DLLPs, so a Nak is not awaited: what a replay repeats has an old number. A unit whose tokens cannot be read is passed over with
//! the packets in it, and the next unit that begins with a token is read again: LCRC and number guard against bytes that only look like a
//! TLP. Training is not seen: where it cuts a TLP into two, the TLP that follows is taken for its rest, and later ones have numbers that do not
//! come next. So the reader is of use on links that do not train.
//!
//! A walk through one unit: the deframer cuts it into packets; a TLP that is whole goes by its LCRC and its number, and comes out as it stands
//! above the link.

use super::deframer::{DeframedItem, Deframer};
use super::sequence::SequenceWatch;
use scalepool_protocols::cxl::cxl68::unit::PAYLOAD_BYTES;
use scalepool_protocols::cxl::cxlio::framing::{self, Framed};

/// The reader of one direction.
#[derive(Debug, Clone, Default)]
pub struct FramedTlpReader {
    deframer: Deframer,
    numbers: SequenceWatch,
}

impl FramedTlpReader {
    /// The TLPs that are known to be whole with this unit: one that ends it waits for the token behind it.
    pub fn read(&mut self, payload: &[u8; PAYLOAD_BYTES]) -> Vec<Vec<u8>> {
        if self.deframer.is_lost() {
            self.deframer.restart();
        }
        let mut whole = Vec::new();
        for item in self.deframer.read(payload) {
            let DeframedItem::Tlp { framed, edb: false } = item else { continue };
            if let Ok(Some(Framed::Good(number, tlp))) = framing::unframe_tlp(&framed)
                && self.numbers.takes(number)
            {
                whole.push(tlp.to_vec());
            }
        }
        whole
    }
}
