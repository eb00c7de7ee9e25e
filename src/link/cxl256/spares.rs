//! Lists for the messages of flits without bytes, which are used again.
//!
//! Modelled: nothing. A list travels with its flit from the end that fills it to the end that takes its messages. Where more
//! flits with messages go one way than the other, one end has too many lists and the other too few, so all ends of a thread have
//! one store: with a store for each end, four flits of `pbr-rack` in ten asked for new memory, and a flit took 250 instructions
//! more. Which list a flit gets shows nowhere.

use scalepool_protocols::cxl::cxl256::content::Placed256;
use std::cell::RefCell;

/// Empty lists that have memory.
pub(super) struct SpareLists;

thread_local! {
    static LISTS: RefCell<Vec<Vec<Placed256>>> = const { RefCell::new(Vec::new()) };
}

/// Lists that a thread keeps: enough for the flits on the way in a fabric of some thousand links.
const MOST: usize = 16_384;

impl SpareLists {
    /// An empty list, with memory if there is one.
    #[inline]
    pub fn take() -> Vec<Placed256> {
        LISTS.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    /// Keeps a list for its memory.
    #[inline]
    pub fn give(mut list: Vec<Placed256>) {
        if list.capacity() == 0 {
            return;
        }
        list.clear();
        LISTS.with_borrow_mut(|lists| {
            if lists.len() < MOST {
                lists.push(list);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_empty_with_its_memory() {
        assert_eq!(SpareLists::take().capacity(), 0);
        SpareLists::give(Vec::new());
        SpareLists::give(Vec::with_capacity(5));
        assert_eq!(SpareLists::take().capacity(), 5);
        assert_eq!(SpareLists::take().capacity(), 0);
    }
}
