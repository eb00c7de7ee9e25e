//! Lines that come in two transfers of 32 B, each with a header (`cxl-68b` §1.5, §2.7, §2.8 and §2.10).
//!
//! A CXL.cache header says which half it brings (ChunkValid). A DRS has no such bit: the first one of a tag brings the lower half, since
//! requests of the model name the start of a line, and the second one the upper half \[D\].
//!
//! Modelled: agents and switches of the model work on lines of 64 B, so the two halves of a line are one message for them, when both are
//! there. Detail: the header is that of the second half; one poisoned half poisons the line. Left out: a half alone, which is kept
//! until the other one comes; the transaction stays open.
//!
//! A walk through one line: the first half is taken from its buffer, and its credit goes back; the second one completes it.

use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl68::packable::Packable;
use scalepool_protocols::cxl::cxl68::stream::Size;
use scalepool_protocols::cxl::message::{Data, Message};

/// Bytes of half a line, and the byte enables of the lower one.
const HALF_BYTES: usize = 32;
const LOWER: u64 = 0xffff_ffff;

/// Whose line it is: class, identifier and logical device.
type DataOwner = (usize, u16, u8);

/// Halves whose other half has not come.
#[derive(Debug, Clone, Default)]
pub(super) struct LineHalves(OrderedMap<DataOwner, Message>);

/// Whether a message carries half a line.
#[inline]
pub(super) fn is_half<M: Packable>(message: &M) -> bool {
    message.payload().is_some_and(|payload| payload.size != Size::Line)
}

/// Data and poison of a message with a line that may come in halves.
fn parts(message: &mut Message) -> Option<(&mut Data, &mut bool)> {
    match message {
        Message::S2mDrs(header, data) => Some((data, &mut header.poison)),
        Message::H2dData(header, data) => Some((data, &mut header.poison)),
        Message::D2hData(header, data) => Some((data, &mut header.poison)),
        _ => None,
    }
}

impl LineHalves {
    /// A half has come: the whole line if the other half was there. A half of CXL.cache that comes twice is none of a line, so the first
    /// of them goes on as it is, and who gets it judges it.
    pub(super) fn join(&mut self, mut message: Message) -> Option<Message> {
        let ld_id = if let Message::S2mDrs(header, _) = &message { Some(header.ld_id) } else { None };
        let owner: DataOwner = (message.class().index(), message.identifier().1, ld_id.unwrap_or(0));
        let Some(mut first) = self.0.remove(&owner) else {
            self.0.insert(owner, message);
            return None;
        };
        let (Some((own, is_poisoned)), Some((other, other_is_poisoned))) = (parts(&mut message), parts(&mut first))
        else {
            return Some(message);
        };
        if ld_id.is_some() {
            own.line.copy_within(..HALF_BYTES, HALF_BYTES);
        } else if own.byte_enables == other.byte_enables {
            self.0.insert(owner, message);
            return Some(first);
        }
        let half = if other.byte_enables == Some(LOWER) { 0..HALF_BYTES } else { HALF_BYTES..2 * HALF_BYTES };
        own.line[half.clone()].copy_from_slice(&other.line[half]);
        own.byte_enables = None;
        *is_poisoned |= *other_is_poisoned;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::cxl::message::{H2dData, S2mDrs};

    fn of_cache(cqid: u16, value: u8, enables: u64, poison: bool) -> Message {
        let data = Data { byte_enables: Some(enables), ..Data::line([value; 64]) };
        Message::H2dData(H2dData { cqid, poison, ..H2dData::default() }, data)
    }

    fn of_mem(tag: u16, value: u8) -> Message {
        let data = Data { byte_enables: Some(LOWER), ..Data::line([value; 64]) };
        Message::S2mDrs(S2mDrs { tag, ..S2mDrs::default() }, data)
    }

    #[test]
    fn two_halves_of_one_identifier_are_a_line_in_any_order_and_among_others() {
        for (first, second) in [(LOWER, !LOWER), (!LOWER, LOWER)] {
            let mut halves = LineHalves::default();
            assert_eq!(halves.join(of_cache(1, 1, first, true)), None);
            assert_eq!(halves.join(of_cache(2, 2, first, false)), None);
            assert_eq!(halves.join(of_mem(1, 9)), None);
            let Some(Message::H2dData(header, data)) = halves.join(of_cache(1, 3, second, false)) else {
                panic!("a line")
            };
            assert_eq!((header.cqid, header.poison, data.byte_enables), (1, true, None));
            let of = |n: usize| if first >> n & 1 == 1 { 1 } else { 3 };
            assert!(data.line.iter().enumerate().all(|(n, byte)| *byte == of(n)));
        }
    }

    #[test]
    fn the_second_answer_of_a_tag_is_the_upper_half() {
        let mut halves = LineHalves::default();
        assert_eq!(halves.join(of_mem(1, 1)), None);
        let Some(Message::S2mDrs(_, data)) = halves.join(of_mem(1, 2)) else { panic!("a line") };
        assert_eq!((data.line[..32].to_vec(), data.line[32..].to_vec()), (vec![1; 32], vec![2; 32]));
    }

    #[test]
    fn the_same_half_twice_is_handed_on_once() {
        let mut halves = LineHalves::default();
        assert_eq!(halves.join(of_cache(1, 1, LOWER, false)), None);
        assert_eq!(halves.join(of_cache(1, 2, LOWER, false)), Some(of_cache(1, 1, LOWER, false)));
    }
}
