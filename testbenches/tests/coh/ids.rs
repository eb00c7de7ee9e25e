//! Sets of ports and agents, beside sets of the standard library.

use proptest::prelude::*;
use scalepool::coherence::ids::{AgentPort, IdSet, MOST_PORTS};
use scalepool::proof::explore::fingerprint::fingerprint;
use std::cmp::Ordering;
use std::collections::BTreeSet;

type Known = BTreeSet<AgentPort>;

fn id() -> impl Strategy<Value = AgentPort> {
    prop_oneof![0..64_u16, 60..70_u16, 0..MOST_PORTS as AgentPort, Just(MOST_PORTS as AgentPort), Just(AgentPort::MAX)]
}

fn ids() -> impl Strategy<Value = Vec<AgentPort>> {
    prop::collection::vec(id(), 0..40)
}

proptest! {
    /// Every operation does what it does to a set of the standard library; how a set came about is not in it.
    #[test]
    fn it_is_a_set(steps in prop::collection::vec((any::<bool>(), id()), 0..60), other in ids()) {
        let (mut set, mut known) = (IdSet::EMPTY, Known::new());
        for (adds, id) in steps {
            if adds {
                set.insert(id);
                known.insert(id);
            } else {
                set.remove(id);
                known.remove(&id);
            }
            prop_assert_eq!(set.has(id), adds);
        }
        prop_assert!(set.iter().eq(known.iter().copied()));
        prop_assert_eq!((set.len(), set.is_empty(), set.first()), (known.len(), known.is_empty(), known.first().copied()));
        let same: IdSet = known.iter().copied().collect();
        prop_assert_eq!(fingerprint(&set), fingerprint(&same));
        prop_assert_eq!(set.cmp(&same), Ordering::Equal);
        prop_assert_eq!(&set, &same);
        let (more, of_more): (IdSet, Known) = (other.iter().copied().collect(), other.into_iter().collect());
        prop_assert!(set.minus(&more).iter().eq(known.difference(&of_more).copied()));
        prop_assert_eq!(set.meets(&more), !known.is_disjoint(&of_more));
        prop_assert_eq!(set == more, known == of_more);
        prop_assert_eq!(set.cmp(&more), known.iter().rev().cmp(of_more.iter().rev()));
        set.add_all(&more);
        prop_assert!(set.iter().eq(known.union(&of_more).copied()));
        prop_assert_eq!(set.minus(&set), IdSet::EMPTY);
    }
}

#[test]
fn a_set_of_bits_has_their_numbers() {
    let shown = |bits| IdSet::of_bits(bits).to_string();
    assert_eq!(
        (shown(0), shown(0b1010), shown(0x3ff)),
        ("none".into(), "1, 3".into(), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more".into())
    );
    assert_ne!(fingerprint(&IdSet::of_bits(u64::MAX)), fingerprint(&IdSet::of_bits(u64::MAX).with(64)));
    assert_eq!(std::mem::size_of::<IdSet>(), 16);
}
