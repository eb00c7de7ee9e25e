//! Values of the variables of a wave, and which of them changed.

use super::signals::{Var, VarId};

/// Where the bits of a variable stand.
#[derive(Debug, Clone, Copy)]
struct Slot {
    first_word: usize,
    width: u32,
    /// `false` until something sets it: shown as `x`.
    known: bool,
    /// Was known when the changes were taken the last time.
    was_known: bool,
    /// Stands in the list of changes.
    changed: bool,
}

/// The values.
#[derive(Debug)]
pub(super) struct SignalValues {
    slots: Vec<Slot>,
    words: Vec<u64>,
    /// The words as they were when the changes were taken the last time: what is set twice in an instant may be as before.
    taken: Vec<u64>,
    changes: Vec<VarId>,
}

impl SignalValues {
    /// Counts at 0, everything else unknown.
    pub(super) fn new(vars: &[Var]) -> SignalValues {
        let mut first_word = 0;
        let slot = |var: &Var| {
            let slot =
                Slot { first_word, width: var.width, known: var.is_count, was_known: var.is_count, changed: false };
            first_word += var.width.div_ceil(64) as usize;
            slot
        };
        let slots = vars.iter().map(slot).collect();
        SignalValues { slots, words: vec![0; first_word], taken: vec![0; first_word], changes: Vec::new() }
    }

    /// Sets a variable; bits above its width are lost.
    pub(super) fn set(&mut self, var: VarId, value: u128) {
        self.set_words(var, |n| if n < 2 { (value >> (64 * n)) as u64 } else { 0 });
    }

    /// Sets a variable from bytes, byte 0 lowest; bytes above its width are lost, missing ones are 0.
    pub(super) fn set_bytes(&mut self, var: VarId, bytes: &[u8]) {
        self.set_words(var, |n| {
            let bytes = bytes.iter().skip(8 * n).take(8);
            bytes.rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
        });
    }

    /// Adds 1 to a variable of at most 64 bits; it wraps.
    pub(super) fn count(&mut self, var: VarId) {
        let count = self.words[self.slots[var].first_word].wrapping_add(1);
        self.set(var, count.into());
    }

    fn set_words(&mut self, var: VarId, word: impl Fn(usize) -> u64) {
        let slot = &mut self.slots[var];
        let n_words = slot.width.div_ceil(64) as usize;
        let mut differs = !slot.known;
        for n in 0..n_words {
            let bits = (slot.width as usize - 64 * n).min(64);
            let value = word(n) & (u64::MAX >> (64 - bits));
            let place = &mut self.words[slot.first_word + n];
            differs |= *place != value;
            *place = value;
        }
        slot.known = true;
        if differs && !slot.changed {
            slot.changed = true;
            self.changes.push(var);
        }
    }

    /// The words of a variable, lowest first; `None` when it is unknown.
    pub(super) fn words(&self, var: VarId) -> Option<&[u64]> {
        let slot = &self.slots[var];
        slot.known.then(|| &self.words[slot.first_word..slot.first_word + slot.width.div_ceil(64) as usize])
    }

    /// Width of a variable in bits.
    pub(super) fn width(&self, var: VarId) -> u32 {
        self.slots[var].width
    }

    /// Number of variables.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Takes the list of changes since the last call into `into`, in order of declaration.
    pub(super) fn take_changes(&mut self, into: &mut Vec<VarId>) {
        into.clear();
        std::mem::swap(&mut self.changes, into);
        into.sort_unstable();
        into.retain(|var| {
            let slot = &mut self.slots[*var];
            slot.changed = false;
            let of_it = slot.first_word..slot.first_word + slot.width.div_ceil(64) as usize;
            let (now, taken) = (&self.words[of_it.clone()], &mut self.taken[of_it]);
            let differs = !slot.was_known || now != &*taken;
            slot.was_known = true;
            taken.copy_from_slice(now);
            differs
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_as_before_at_the_end_of_an_instant_is_no_change() {
        let var = |width, is_count| Var {
            name: String::new(),
            width,
            is_count,
            is_decimal: false,
            is_detail: false,
            names: None,
        };
        let (mut state, mut changes) = (SignalValues::new(&[var(8, false), var(100, true)]), Vec::new());
        state.set(0, 0);
        state.set(1, 0);
        state.take_changes(&mut changes);
        assert_eq!(changes, [0], "it was unknown; a count is 0 from the start");
        state.set(0, 5);
        state.set(1, 1 << 99);
        state.set(0, 0);
        state.take_changes(&mut changes);
        assert_eq!(changes, [1]);
        state.set(0, 5);
        state.set(1, 0);
        state.take_changes(&mut changes);
        assert_eq!(changes, [0, 1]);
    }
}
