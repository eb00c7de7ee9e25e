//! Packets that come at random, in an open or a closed loop.
//!
//! Modelled: in each cycle packets are made with the probability load / (flits of a packet x packets of a burst), as many at
//! once as a burst has. In a closed loop at most so many packets of a node are without an answer: while they are, the next one
//! waits and is made as soon as an answer has come. Left out: times between packets with other distributions.
//!
//! A walk: the cycle of the next burst is drawn when the one before it is made, so a node sleeps in between.

use super::pattern::TrafficPattern;
use scalepool_kernel::Rng;
use scalepool_ordered::OrderedMap;

/// How packets come.
#[derive(Debug, Clone)]
pub struct RandomTrafficConfig {
    /// Where they go.
    pub pattern: TrafficPattern,
    /// Nodes in all.
    pub nodes: u16,
    /// Flits that are made a cycle, 0 to 1.
    pub load: f64,
    /// Flits of each packet.
    pub packet_flits: u32,
    /// Packets that come at once.
    pub burst_packets: u32,
    /// Cycle from which on none are made.
    pub end_cycle: u64,
    /// In a closed loop: packets without an answer at most.
    pub outstanding: Option<u32>,
}

/// The packets of one node.
#[derive(Debug, Clone)]
pub struct RandomTraffic {
    config: RandomTrafficConfig,
    rng: Rng,
    /// A burst is made where a drawn number is below.
    threshold: u64,
    /// Cycle in which the next packet is made; `u64::MAX`: none.
    next_cycle: u64,
    /// Packets of the burst that are not made yet.
    burst_left: u32,
    /// Packets without an answer, and how often they are to come here until it is theirs: a packet to its own node comes first
    /// itself.
    open: OrderedMap<u64, u8>,
}

/// What came to a node in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// A packet that has to be answered.
    Request,
    /// The answer to an own packet.
    Answer,
}

impl RandomTraffic {
    /// Nothing made yet.
    pub fn new(config: RandomTrafficConfig, rng: Rng) -> RandomTraffic {
        let burst = f64::from(config.packet_flits) * f64::from(config.burst_packets.max(1));
        // The product with a power of two is exact and the cast saturates, so every machine has the same threshold.
        let threshold = (config.load / burst * 18_446_744_073_709_551_616.0) as u64;
        let mut traffic =
            RandomTraffic { config, rng, threshold, next_cycle: 0, burst_left: 0, open: OrderedMap::new() };
        traffic.begin_burst(0);
        traffic
    }

    /// The next burst, from this cycle on.
    fn begin_burst(&mut self, mut cycle: u64) {
        self.burst_left = self.config.burst_packets.max(1);
        while self.threshold > 0 && cycle < self.config.end_cycle {
            // A threshold that saturated stands for every cycle.
            if self.rng.next_u64() < self.threshold || self.threshold == u64::MAX {
                self.next_cycle = cycle;
                return;
            }
            cycle += 1;
        }
        self.next_cycle = u64::MAX;
    }

    fn is_full(&self) -> bool {
        self.config.outstanding.is_some_and(|most| self.open.len() >= most as usize)
    }

    /// Cycle in which the next packet is made; `u64::MAX` if none is, or not before an answer.
    pub fn next_cycle(&self) -> u64 {
        if self.is_full() { u64::MAX } else { self.next_cycle }
    }

    /// The packet that is made in this cycle or was before, and when; it gets the number of `id` and comes from the node `own`.
    pub fn take_due(&mut self, cycle: u64, own: u16, id: impl FnOnce() -> u64) -> Option<(u64, u64, u16)> {
        if self.next_cycle > cycle || self.is_full() {
            return None;
        }
        // A packet that waited for an answer is made now.
        let made = if self.config.outstanding.is_some() { cycle } else { self.next_cycle };
        if made >= self.config.end_cycle {
            self.next_cycle = u64::MAX;
            return None;
        }
        let target = self.config.pattern.draw(&mut self.rng, self.config.nodes);
        let id = id();
        if self.config.outstanding.is_some() {
            self.open.insert(id, if target == own { 2 } else { 1 });
        }
        self.burst_left -= 1;
        if self.burst_left == 0 {
            self.begin_burst(made + 1);
        }
        Some((made, id, target))
    }

    /// What a packet is that has come; `None` in an open loop.
    pub fn came(&mut self, id: u64) -> Option<Came> {
        self.config.outstanding?;
        match self.open.get_mut(&id) {
            Some(times) if *times > 1 => *times -= 1,
            Some(_) => {
                self.open.remove(&id);
                return Some(Came::Answer);
            }
            None => {}
        }
        Some(Came::Request)
    }

    /// Own packets without an answer.
    pub fn open(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(load: f64, burst_packets: u32, outstanding: Option<u32>) -> RandomTraffic {
        let config = RandomTrafficConfig {
            pattern: TrafficPattern::Fixed(1),
            nodes: 4,
            load,
            packet_flits: 2,
            burst_packets,
            end_cycle: 200_000,
            outstanding,
        };
        RandomTraffic::new(config, Rng::for_name(1, "a node"))
    }

    #[test]
    fn bursts_have_the_same_load() {
        for burst in [1, 8, 1_000] {
            let (mut source, mut made, mut last) = (traffic(0.5, burst, None), 0_u64, None);
            while source.next_cycle() != u64::MAX {
                let now = source.next_cycle();
                let (at, id, target) = source.take_due(now, 0, || made).expect("it is due");
                assert_eq!((at, id, target), (now, made, 1));
                assert!(made.is_multiple_of(burst.into()) || last == Some(at), "a burst comes at once");
                (made, last) = (made + 1, Some(at));
            }
            // 200,000 cycles, half a flit each, two flits a packet; five standard deviations of the number of bursts.
            let bursts = made as f64 / f64::from(burst);
            let expected = 50_000.0 / f64::from(burst);
            assert!((bursts - expected).abs() < 5.0 * expected.sqrt(), "{bursts} of {expected}");
        }
    }

    #[test]
    fn a_closed_loop_waits_for_answers() {
        let (mut source, mut ids) = (traffic(1.0, 1, Some(2)), 0..);
        let mut take = |source: &mut RandomTraffic, cycle, own| {
            source.take_due(cycle, own, || ids.next().expect("endless")).map(|(at, id, _)| (at, id))
        };
        let first = source.next_cycle();
        assert_eq!(take(&mut source, first, 0), Some((first, 0)));
        let second = source.next_cycle();
        assert_eq!(take(&mut source, second, 0), Some((second, 1)));
        assert_eq!((source.next_cycle(), source.open()), (u64::MAX, 2));
        assert_eq!(take(&mut source, second + 50, 0), None);
        assert_eq!(source.came(7), Some(Came::Request), "of another node");
        assert_eq!(source.came(1), Some(Came::Answer));
        assert_eq!(take(&mut source, second + 90, 1), Some((second + 90, 2)), "to itself");
        assert_eq!(source.came(2), Some(Came::Request));
        assert_eq!(source.came(2), Some(Came::Answer));
        assert_eq!(source.open(), 1);
    }
}
