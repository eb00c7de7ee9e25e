//! Entries by line, few and many, beside a map of the standard library.

use proptest::prelude::*;
use scalepool::coherence::content::LineAddr;
use scalepool::coherence::lines::{FEW, LineMap};
use scalepool::proof::explore::fingerprint::fingerprint;
use std::collections::BTreeMap;

/// An entry has gone when its value is 0, and is open when it is odd.
type Entry = (LineAddr, u8);

fn has_gone(entry: &Entry) -> bool {
    entry.1 == 0
}

fn is_open(entry: &Entry) -> bool {
    entry.1 % 2 == 1
}

proptest! {
    /// Whatever is added, worked on and removed, the entries are those of a map in its order; which are open is always known; and
    /// equal entries are equal whether they have ever been many or not.
    #[test]
    fn they_are_a_map(steps in prop::collection::vec((0..3 * FEW as u64, 0..6_u8), 0..200)) {
        let (mut lines, mut known) = (LineMap::<Entry>::default(), BTreeMap::new());
        for (line, value) in steps {
            let line = LineAddr(line);
            if value == 5 {
                lines.remove(line);
                known.remove(&line);
            } else {
                let at = lines.touch(line, |line| (line, 0));
                lines[at].1 = value;
                lines.settle(has_gone, is_open);
                known.insert(line, value);
                known.retain(|_, value| *value != 0);
            }
            prop_assert_eq!(lines.get(line).map(|e| e.1), known.get(&line).copied());
            prop_assert!(lines.open().filter(|e| is_open(e)).eq(lines.iter().filter(|e| is_open(e))));
            let first = lines.first_open(is_open).map(|at| lines[at]);
            prop_assert_eq!(first, lines.iter().find(|e| is_open(e)).copied());
        }
        prop_assert!(lines.iter().copied().eq(known.iter().map(|(line, value)| (*line, *value))));
        prop_assert_eq!((lines.len(), lines.is_empty()), (known.len(), known.is_empty()));
        let mut same = LineMap::<Entry>::default();
        for (line, value) in known.iter().rev() {
            let at = same.place(*line, |line| (line, *value));
            prop_assert_eq!(same[at].0, *line);
        }
        prop_assert_eq!(fingerprint(&lines), fingerprint(&same));
        prop_assert!(lines == same && lines.cmp(&same).is_eq());
        let mut seen: Vec<Entry> = lines.iter_mut().map(|entry| *entry).collect();
        seen.sort();
        prop_assert!(seen.into_iter().eq(known));
    }
}
