//! A [`Pair`](crate::pair::Pair) of UALink ends. The host is the end that sends down.

use super::client::Client;
use super::config::EndConfig;
use super::end::UalEnd;
use super::state::State;
use crate::pair::Pair as AnyPair;
use crate::port::LinkEnd;

/// A link.
pub type Pair<C> = AnyPair<UalEnd<C>>;

impl<C: Client + Send + 'static> Pair<C> {
    /// A link without fault whose line takes `latency_flits` flit times, at least 1.
    pub fn new(configs: [EndConfig; 2], clients: [C; 2], latency_flits: u64) -> Pair<C> {
        let [a, b] = clients;
        let mut pair = Pair::of(UalEnd::new(configs[0], a), UalEnd::new(configs[1], b), latency_flits, 0);
        pair.ends_mut().into_iter().for_each(UalEnd::phy_up);
        pair
    }

    /// Both ends are up.
    pub fn is_up(&self) -> bool {
        self.ends().into_iter().all(|end| end.state() == State::Up)
    }
}
