//! A link of two ends over a line with faults; the rules one by one stand in the conformance suite.

use super::client::Client;
use super::line::{LaneRate, UalLine, UalWidth};
use super::messages::TL_CHANNEL;
use super::{EndConfig, OnLine, Pair};
use crate::event::{LinkEvent, Severity};
use scalepool_kernel::Rng;
use scalepool_protocols::ualink::half::TlFlit;
use std::sync::Arc;

/// Counts TL flits up in their first bytes.
#[derive(Default)]
struct Counter {
    next: u64,
    last: u64,
    got: u64,
}

impl Client for Counter {
    fn transmit(&mut self, _now: u64) -> Option<TlFlit> {
        let mut flit = TlFlit::default();
        flit.halves[0][..8].copy_from_slice(&self.next.to_le_bytes());
        flit.halves[1] = [self.next as u8; 32];
        (self.next < self.last).then(|| {
            self.next += 1;
            flit
        })
    }

    fn receive(&mut self, flit: &TlFlit, _now: u64) {
        assert_eq!(flit.halves[0][..8], self.got.to_le_bytes(), "each once, in order");
        assert_eq!(flit.halves[1], [self.got as u8; 32]);
        self.got += 1;
    }

    fn link_down(&mut self) {}

    fn is_quiet(&self) -> bool {
        self.next == self.last
    }

    fn wakes_at(&self, _now: u64) -> Option<u64> {
        None
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

fn pair(each: u64) -> Pair<Counter> {
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 4 };
    let counter = || Counter { last: each, ..Counter::default() };
    Pair::new([EndConfig::accelerator(line, 1), EndConfig::switch_port(line, 7)], [counter(), counter()], 10)
}

#[test]
fn comes_up_and_keeps_the_sawtooth_of_a_saturated_packer() {
    let mut pair = pair(10_000);
    let mut sent = Vec::new();
    while !pair.is_quiet() {
        let before = pair.host.stats().tl_sent;
        pair.step();
        sent.push(pair.host.stats().tl_sent - before);
        assert!(pair.wires.now() < 3000, "it hangs");
    }
    assert!(pair.ends().into_iter().all(|e| e.client.got == 10_000 && e.messages.channels().is_online(TL_CHANNEL)));
    assert!(sent.windows(6).any(|w| w == [10, 10, 10, 10, 10, 9]));
    let events: Vec<LinkEvent> = pair.ends_mut().into_iter().flat_map(super::UalEnd::take_events).collect();
    assert_eq!(events, [], "nothing to report");
}

#[test]
fn bit_errors_lose_nothing() {
    for one_in in [5, 20, 200] {
        let mut rng = Rng::for_name(one_in, "line");
        let mut pair = pair(20_000);
        while !pair.is_quiet() {
            pair.step_with(&mut |_, _, flit| {
                Some(match flit {
                    OnLine::Flit(mut flit) if rng.below(one_in) == 0 => {
                        Arc::make_mut(&mut flit).0[rng.below(640) as usize] ^= 1 << rng.below(8);
                        OnLine::Flit(flit)
                    }
                    flit => flit,
                })
            });
            assert!(pair.wires.now() < 200_000, "it hangs");
        }
        let events: Vec<LinkEvent> = pair.ends_mut().into_iter().flat_map(super::UalEnd::take_events).collect();
        assert!(events.iter().all(|e| e.severity == Severity::Corrected), "{events:?}");
        assert!(pair.ends().into_iter().all(|e| e.client.got == 20_000));
    }
}

#[test]
fn the_uart_carries_bytes_and_is_reset() {
    let mut pair = pair(100);
    (0..1000).for_each(|n| pair.host.messages.uart().send(n));
    let mut got = Vec::new();
    for _ in 0..4000 {
        pair.step();
        got.extend(pair.device.messages.uart().take());
    }
    assert_eq!(got, (0..1000).collect::<Vec<u32>>());
    pair.host.messages.uart().start_reset();
    for _ in 0..200 {
        pair.step();
    }
    assert!(!pair.host.messages.uart().is_resetting() && pair.is_quiet());
    pair.host.messages.ask_device_id();
    pair.host.messages.ask_port_number();
    pair.host.messages.change_rate(20_000).expect("an accelerator");
    for _ in 0..400 {
        pair.step();
    }
    assert_eq!(pair.host.messages.peer().port, Some(Some(7)));
    assert_eq!(pair.host.messages.rates_50khz()[0], 20_000);
    assert_eq!(pair.device.messages.rates_50khz()[1], 20_000);
    let events: Vec<LinkEvent> = pair.ends_mut().into_iter().flat_map(super::UalEnd::take_events).collect();
    assert_eq!(events, []);
}
