//! Whose turn it is: of the classes that wait, the one that was served longest ago goes first.
//!
//! Modelled: the order alone. It is kept as the number of the service that a class got last, so that serving one moves no other
//! and the first of those that wait, mostly one or two, is found without a look at the others. Left out: what may be served.

/// The order of so many classes. None has been served at first; they then stand in their order.
#[derive(Debug, Clone)]
pub(crate) struct Turn<const CLASSES: usize> {
    /// Number of the last service of each class, from 1 on.
    served_at: [u64; CLASSES],
    services: u64,
}

impl<const CLASSES: usize> Turn<CLASSES> {
    /// None has been served.
    pub const fn new() -> Turn<CLASSES> {
        Turn { served_at: [0; CLASSES], services: 0 }
    }

    /// Of some classes, bit n for class n, the one that was served longest ago.
    #[inline]
    pub fn first(&self, classes: u16) -> Option<usize> {
        let (mut left, mut first) = (classes, None);
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            left &= left - 1;
            let served_at = self.served_at[class];
            if first.is_none_or(|(_, earliest)| served_at < earliest) {
                first = Some((class, served_at));
            }
        }
        first.map(|(class, _)| class)
    }

    /// Some classes were served together; they keep their order.
    #[inline]
    pub fn serve(&mut self, classes: u16) {
        // One alone, as mostly, has no order to keep.
        if classes.is_power_of_two() {
            return self.serve_one(classes.trailing_zeros() as usize);
        }
        let mut left = classes;
        while let Some(class) = self.first(left) {
            left &= !(1 << class);
            self.serve_one(class);
        }
    }

    #[inline]
    fn serve_one(&mut self, class: usize) {
        self.services += 1;
        self.served_at[class] = self.services;
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    /// Against a list in which those that were served move to the end, whatever is served and whoever waits.
    #[test]
    fn those_that_were_served_go_behind_the_others_in_their_order() {
        let (mut turn, mut list) = (Turn::<6>::new(), [0, 1, 2, 3, 4, 5]);
        for n in 0..1u32 << 12 {
            let (served, waiting) = ((n * 37 % 64) as u16, (n / 64) as u16);
            turn.serve(served);
            list.sort_by_key(|class| served >> class & 1);
            let first = list.into_iter().find(|class| waiting >> class & 1 == 1);
            assert_eq!(turn.first(waiting), first, "{served:#b} {waiting:#b}");
        }
    }
}
