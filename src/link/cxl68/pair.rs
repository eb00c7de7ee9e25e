//! A [`Pair`](crate::pair::Pair) of 68B ends, with a monitor beside each where a test wants it.

use super::end::{Cxl68End, EndConfig};
use super::monitor::{Monitor, MonitorConfig};
use crate::event::LinkEvent;
use crate::pair::{Beside, Pair as AnyPair};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68ConfigError;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// A link.
pub type Pair = AnyPair<Cxl68End, Monitors>;

/// Monitors of the host and of the device; without them nobody looks.
#[derive(Debug, Clone, Default)]
pub struct Monitors(Option<Box<[Monitor; 2]>>);

impl Monitors {
    /// A monitor beside each end, the host first. They count from the start, so from before the first flit clock.
    pub fn new(ends: [MonitorConfig; 2]) -> Monitors {
        Monitors(Some(Box::new(ends.map(Monitor::new))))
    }

    /// What the monitors of the host and of the device have seen since the last call.
    pub fn take_findings(&mut self) -> [Vec<LinkEvent>; 2] {
        match &mut self.0 {
            Some(monitors) => monitors.each_mut().map(Monitor::take_events),
            None => Default::default(),
        }
    }

    /// The run is over in flit clock `now_flits`.
    pub fn finish(&mut self, now_flits: u64) {
        self.all().for_each(|monitor| monitor.finish(now_flits));
    }

    /// The monitor of the end that transmits in a direction.
    fn of(&mut self, dir: Dir) -> Option<&mut Monitor> {
        self.0.as_mut().map(|monitors| &mut monitors[usize::from(dir == Dir::Up)])
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Monitor> {
        self.0.iter_mut().flat_map(|monitors| monitors.iter_mut())
    }
}

impl Beside<Cxl68Unit> for Monitors {
    fn sent(&mut self, dir: Dir, unit: &Cxl68Unit, now_flits: u64) {
        if let Some(monitor) = self.of(dir) {
            monitor.sent(unit, now_flits);
        }
    }

    fn received(&mut self, dir: Dir, unit: &Cxl68Unit, now_flits: u64) {
        if let Some(monitor) = self.of(dir.opposite()) {
            monitor.received(unit, now_flits);
        }
    }

    fn trained(&mut self) {
        self.all().for_each(Monitor::trained);
    }
}

impl Pair {
    /// A link whose wires take `latency_flits` (at least 1) and whose training takes `retrain_flits`.
    ///
    /// # Errors
    /// A choice of either end outside its range.
    pub fn new(
        host: EndConfig,
        device: EndConfig,
        latency_flits: u64,
        retrain_flits: u64,
    ) -> Result<Pair, Cxl68ConfigError> {
        Ok(Pair::of(Cxl68End::new(host)?, Cxl68End::new(device)?, latency_flits, retrain_flits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cxl68::{LinkEvent, Severity};
    use crate::fault::FaultyWire;
    use scalepool_kernel::Rng;
    use scalepool_protocols::cxl::cxl68::code::M2sRwdOpcode;
    use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
    use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq, M2sRwd, S2mDrs, S2mNdr};
    use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data};
    use scalepool_protocols::wire::Wire;

    fn request(tag: u16) -> Cxl68Message {
        Cxl68Message::new(Class::M2sReq, M2sReq { tag, ..M2sReq::default() }.to_bits().expect("fits"))
    }

    fn write(tag: u16) -> Cxl68Message {
        let bits = M2sRwd { tag, opcode: M2sRwdOpcode::MemWr, ..M2sRwd::default() }.to_bits().expect("fits");
        Cxl68Message::with_data(Class::M2sRwd, bits, Data::line([tag as u8; 64]))
    }

    fn answer(request: &Cxl68Message) -> Cxl68Message {
        if request.class == Class::M2sReq {
            let tag = M2sReq::from_bits(request.bits).tag;
            let bits = S2mDrs { tag, ..S2mDrs::default() }.to_bits().expect("fits");
            Cxl68Message::with_data(Class::S2mDrs, bits, Data::line([tag as u8; 64]))
        } else {
            let tag = M2sRwd::from_bits(request.bits).tag;
            Cxl68Message::new(Class::S2mNdr, S2mNdr { tag, ..S2mNdr::default() }.to_bits().expect("fits"))
        }
    }

    fn tag_of(m: &Cxl68Message) -> u16 {
        if m.class == Class::S2mDrs { S2mDrs::from_bits(m.bits).tag } else { S2mNdr::from_bits(m.bits).tag }
    }

    /// Requests through, answers back, in order a class, at several error rates.
    fn traffic(ber: f64, count: u16, seed: u64) -> Pair {
        let link = Cxl68Config { timeout_flits: 256, ..Cxl68Config::default() };
        let host = EndConfig::mem(Dir::Down, link, 64);
        let device = EndConfig::mem(Dir::Up, link, 64);
        let mut pair = Pair::new(host, device, 12, 100).expect("legal configuration");
        pair.wires.put(Dir::Down, FaultyWire::new(Vec::new(), ber, Rng::for_name(seed, "down")));
        pair.wires.put(Dir::Up, FaultyWire::new(Vec::new(), ber, Rng::for_name(seed, "up")));
        let (mut sent, mut next) = (0u16, [0u16; 2]);
        let mut done = 0;
        for _ in 0..4_000_000u64 {
            if done == count && pair.is_quiet() {
                break;
            }
            if sent < count && pair.host.waiting(Class::M2sReq) + pair.host.waiting(Class::M2sRwd) < 8 {
                let m = if sent % 3 == 0 { write(sent) } else { request(sent) };
                pair.host.send(m).expect("legal");
                sent += 1;
            }
            pair.step();
            while let Some(m) = pair.device.take() {
                pair.device.send(answer(&m)).expect("legal");
            }
            while let Some(m) = pair.host.take() {
                let class = usize::from(m.class == Class::S2mDrs);
                let tag = tag_of(&m);
                // Tags of a class rise; reads skip the writes and the other way round.
                assert!(tag >= next[class], "{ber}: tag {tag} after {}", next[class]);
                if let Some(d) = m.data {
                    assert_eq!(d.bytes, [tag as u8; 64]);
                }
                next[class] = tag + 1;
                done += 1;
            }
        }
        for (name, end) in [("host", &mut pair.host), ("device", &mut pair.device)] {
            let repaired = |e: &LinkEvent| matches!(e.severity, Severity::Corrected | Severity::Retrain);
            let events: Vec<_> = end.take_events().into_iter().filter(|e| !repaired(e)).collect();
            assert!(events.is_empty(), "{ber} {name}: {}", events[0]);
            assert!(end.is_quiet(), "{name} is quiet");
        }
        assert_eq!(done, count, "ber {ber}");
        pair
    }

    #[test]
    fn clean_link() {
        let pair = traffic(0.0, 5000, 1);
        assert_eq!(pair.host.stats().retries + pair.device.stats().retries, 0);
    }

    #[test]
    fn noisy_link() {
        for (seed, ber) in [(1, 1e-5), (2, 1e-4)] {
            let pair = traffic(ber, 20_000, seed);
            assert!(pair.host.stats().retries + pair.device.stats().retries > 0);
        }
    }
}
