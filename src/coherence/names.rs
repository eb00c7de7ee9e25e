//! Names of what is open: CQID, UQID, Tag and BITag (`coherence` §1).
//!
//! A name travels in a field of so many bits, so there are so many names and no more: who finds none free waits. The
//! lowest free one is taken, so that equal sets of open requests have equal names whatever came before.

use smallvec::SmallVec;

/// CQIDs of a device: 12 bits.
pub const CQIDS: usize = 1 << 12;
/// UQIDs of a host: 12 bits.
pub const UQIDS: usize = 1 << 12;
/// Tags of a host towards one device: 16 bits.
pub const TAGS: usize = 1 << 16;
/// BITags of a device towards one host: 12 bits.
pub const BI_TAGS: usize = 1 << 12;

/// The lowest of the names 0 to `names - 1` (at most 65,536 of them) that is not `used`; `None` when all are.
pub fn lowest_free(names: usize, used: impl Iterator<Item = u16>) -> Option<u16> {
    // A bit for each name.
    let mut taken: SmallVec<[u64; 4]> = SmallVec::new();
    for name in used {
        let word = usize::from(name) / 64;
        if word >= taken.len() {
            taken.resize(word + 1, 0);
        }
        taken[word] |= 1 << (name % 64);
    }
    let word = taken.iter().position(|word| *word != u64::MAX).unwrap_or(taken.len());
    let name = word * 64 + taken.get(word).map_or(0, |word| word.trailing_ones() as usize);
    u16::try_from(name).ok().filter(|_| name < names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_name_is_taken_and_none_beyond_the_width() {
        assert_eq!(lowest_free(4, [].into_iter()), Some(0));
        assert_eq!(lowest_free(4, [0, 1, 3].into_iter()), Some(2));
        assert_eq!(lowest_free(4, [7, 1].into_iter()), Some(0));
        assert_eq!(lowest_free(4, 0..4), None);
        assert_eq!(lowest_free(TAGS, 0..u16::MAX), Some(u16::MAX));
        assert_eq!(lowest_free(TAGS, 0..=u16::MAX), None);
    }
}
