//! Lines of CXL.cache that pass in two transfers of 32 B, each with a header (`cxl-68b` §2.7, §2.10, ChunkValid).

use crate::content::{CacheLine, LineContent, WHOLE_LINE};

/// The half of a line that has passed while the other one has not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineHalf(Option<(u64, CacheLine)>);

/// Byte enables of the lower half.
const LOWER: u64 = 0xffff_ffff;

impl LineHalf {
    /// Whether these bytes are one of the two halves.
    pub fn is_half(enables: u64) -> bool {
        enables == LOWER || enables == !LOWER
    }

    /// Some bytes pass: the whole line, if it is there now. Bytes with enables of another kind than a half are all that there are.
    pub fn join(&mut self, enables: u64, data: &CacheLine) -> Option<CacheLine> {
        if !Self::is_half(enables) {
            return Some(*data);
        }
        match self.0.take() {
            Some((other, mut line)) if other | enables == WHOLE_LINE => {
                let poison = line.poison || data.poison;
                line.merge(data, enables);
                Some(CacheLine { poison, ..line })
            }
            _ => {
                self.0 = Some((enables, *data));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_completes_a_line_whichever_it_is() {
        let (low, high) = (CacheLine::of([1; 64]), CacheLine { poison: true, ..CacheLine::of([2; 64]) });
        let mut whole = CacheLine { poison: true, ..low };
        whole.bytes[32..].fill(2);
        for parts in [[(LOWER, low), (!LOWER, high)], [(!LOWER, high), (LOWER, low)]] {
            let mut half = LineHalf::default();
            assert_eq!(half.join(parts[0].0, &parts[0].1), None);
            // The same half again is no line.
            assert_eq!(half.join(parts[0].0, &parts[0].1), None);
            assert_eq!(half.join(parts[1].0, &parts[1].1), Some(whole));
            assert_eq!(half.join(WHOLE_LINE, &low), Some(low));
        }
    }
}
