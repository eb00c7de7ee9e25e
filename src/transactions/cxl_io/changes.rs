//! The time in which a value is uncertain: from the request that changes it to the completion of that request.

use scalepool_ordered::OrderedMap;

/// The changes of one thing.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// Requests and completions so far.
    seen: u64,
    /// Requests without their completion.
    open: u64,
}

/// The changes of things with a name.
#[derive(Debug)]
pub(super) struct Changes<K>(OrderedMap<K, Count>);

impl<K> Default for Changes<K> {
    fn default() -> Changes<K> {
        Changes(OrderedMap::new())
    }
}

impl<K: Ord + Copy> Changes<K> {
    /// A request passes that changes this.
    pub fn begin(&mut self, of: K) {
        let count = self.0.entry(of).or_default();
        count.seen += 1;
        count.open += 1;
    }

    /// The completion of such a request passes.
    pub fn end(&mut self, of: K) {
        let count = self.0.entry(of).or_default();
        count.seen += 1;
        count.open = count.open.saturating_sub(1);
    }

    /// What a read of this that passes now remembers; `None` while this may be changing.
    pub fn now(&self, of: K) -> Option<u64> {
        let count = self.0.get(&of).copied().unwrap_or_default();
        (count.open == 0).then_some(count.seen)
    }

    /// Whether nothing has changed since a read remembered `then`: what it brings is what others bring.
    pub fn none_since(&self, of: K, then: Option<u64>) -> bool {
        then.is_some() && self.now(of) == then
    }
}
