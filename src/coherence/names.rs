//! Names of what is open: CQID, UQID, Tag and BITag (`coherence` §1).
//!
//! A name travels in a field of so many bits, so there are so many names and no more: who finds none free waits. The
//! lowest free one is taken, so that equal sets of open requests have equal names whatever came before.

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
    let used: Vec<u16> = used.collect();
    // One of the first n + 1 names is free when n are used.
    let mut taken = vec![false; used.len() + 1];
    for name in used {
        if let Some(taken) = taken.get_mut(usize::from(name)) {
            *taken = true;
        }
    }
    taken.iter().position(|taken| !taken).filter(|name| *name < names).and_then(|name| u16::try_from(name).ok())
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
