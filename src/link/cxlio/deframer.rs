//! Cuts the byte stream of 68B CXL.io units into TLPs and DLLPs (`cxl-io` §5).
//!
//! Modelled: tokens that begin at every fourth byte, the rule of x16 links, whatever the width; packets that straddle
//! units; a TLP that is held until the token behind it is seen, in the next unit if it ends with its own, because EDB may
//! follow. Behind a token that cannot be read the place of the next one is not known: everything is dropped until
//! training.

use scalepool_protocols::cxl::cxl68::unit::PAYLOAD_BYTES;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::dllp::FRAMED_BYTES;
use scalepool_protocols::cxl::cxlio::framing::{self, FramingToken, IDL, StpFault};
use scalepool_protocols::wire::Violation;

/// Shortest framed TLP in DW: token, header of 3 DW, LCRC.
const SHORTEST_DW: u16 = 5;
/// First payload byte within a unit.
const PAYLOAD_AT: usize = 2;

/// A packet, or the end of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeframedItem {
    /// Start token, TLP and LCRC.
    Tlp {
        /// All of it.
        framed: Vec<u8>,
        /// EDB stands behind it.
        edb: bool,
    },
    /// A DLLP with its CRC.
    Dllp([u8; FRAMED_BYTES]),
    /// A token that cannot be read; nothing more comes until training.
    Lost(Violation),
}

/// What the next DW belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Token,
    /// A TLP of so many bytes.
    Tlp(usize),
    Dllp,
    Lost,
}

/// The byte stream of one direction.
#[derive(Debug, Clone, Default)]
pub struct Deframer {
    state: State,
    partial: Vec<u8>,
    /// A whole TLP whose next token has not been seen.
    held: Option<Vec<u8>>,
}

impl Deframer {
    /// After training a new stream begins; what was not whole is gone.
    pub fn restart(&mut self) {
        *self = Deframer::default();
    }

    /// Whether it waits for training.
    pub fn is_lost(&self) -> bool {
        self.state == State::Lost
    }

    /// The packets that are whole with this payload.
    pub fn read(&mut self, payload: &[u8; PAYLOAD_BYTES]) -> Vec<DeframedItem> {
        let mut items = Vec::new();
        for (n, dw) in payload.chunks_exact(DW_BYTES).enumerate() {
            if self.state == State::Lost {
                break;
            }
            let dw = dw.try_into().expect("chunks of four bytes");
            self.dw(dw, PAYLOAD_AT + DW_BYTES * n, &mut items);
        }
        items
    }

    fn release(&mut self, edb: bool, items: &mut Vec<DeframedItem>) {
        items.extend(self.held.take().map(|framed| DeframedItem::Tlp { framed, edb }));
    }

    fn dw(&mut self, dw: [u8; DW_BYTES], at: usize, items: &mut Vec<DeframedItem>) {
        match self.state {
            State::Token => self.token(dw, at, items),
            State::Tlp(bytes) => {
                self.partial.extend(dw);
                if self.partial.len() == bytes {
                    self.held = Some(std::mem::take(&mut self.partial));
                    self.state = State::Token;
                }
            }
            State::Dllp => {
                // Two bytes of the DLLP stand behind its token, four here.
                self.partial.extend(dw);
                if let Ok(dllp) = self.partial[..].try_into() {
                    items.push(DeframedItem::Dllp(dllp));
                }
                self.partial.clear();
                self.state = State::Token;
            }
            State::Lost => (),
        }
    }

    fn token(&mut self, dw: [u8; DW_BYTES], at: usize, items: &mut Vec<DeframedItem>) {
        let token = FramingToken::read(&dw);
        let edb = matches!(token, Ok(Some((FramingToken::Edb, _))));
        if edb && self.held.is_some() {
            self.release(true, items);
            return;
        }
        self.release(false, items);
        let lost = |rule, expected: &str, text: String| {
            DeframedItem::Lost(Violation::at_byte(rule, at, format!("{dw:02x?}"), expected, text))
        };
        let item = match token {
            Ok(Some((FramingToken::Idl, _))) if dw == [IDL; DW_BYTES] => return,
            Ok(Some((FramingToken::Idl, _))) => {
                lost("CXLIO-STP-04", "four IDL", "a token begins at a byte that is not a multiple of four".into())
            }
            Ok(Some((FramingToken::Sdp, _))) => {
                self.partial.extend(&dw[framing::SDP.len()..]);
                self.state = State::Dllp;
                return;
            }
            // The end of the data stream is told by the protocol ID here; the token says nothing more.
            Ok(Some((FramingToken::Eds, _))) => return,
            Ok(Some((FramingToken::Stp(stp), _))) if stp.length_dw >= SHORTEST_DW => {
                self.partial.extend(dw);
                self.state = State::Tlp(DW_BYTES * usize::from(stp.length_dw));
                return;
            }
            Ok(Some((FramingToken::Stp(_), _))) => {
                lost("CXLIO-STP-01", "at least 5 DW", "the start token announces too short a TLP".into())
            }
            Ok(Some((FramingToken::Edb, _))) => {
                lost("CXLIO-STP-02", "a TLP before it", "EDB received without a TLP before it".into())
            }
            Ok(None) => lost("CXLIO-STP-02", "STP, SDP, EDB, EDS or IDL", "these four bytes are not a token".into()),
            Err(fault @ StpFault::Token { .. }) => lost("CXLIO-STP-02", "STP, SDP, EDB, EDS or IDL", fault.to_string()),
            Err(fault) => lost("CXLIO-STP-01", "a length that its check bits confirm", fault.to_string()),
        };
        items.push(item);
        self.state = State::Lost;
    }
}
