//! Beats of data out of signals.

use super::InspectError;
use super::map::{Edge, Interface, SampleEdge, SignalLevel, UnitContent};
use super::stream::{Beat, StreamShape, UnitStream};
use super::wave::{Bit, OpenWave, SignalPart};
use scalepool_protocols::interfaces::ACTIVE;
use scalepool_protocols::wire::{At, Violation};

/// The signals of an interface.
pub(super) struct InterfaceSignals {
    clock: SignalPart,
    reset: Option<SignalPart>,
    valid: Vec<SignalPart>,
    ready: Option<SignalPart>,
    first: Option<SignalPart>,
    last: Option<SignalPart>,
    keep: Option<SignalPart>,
    grant: Option<SignalPart>,
    state: Option<SignalPart>,
    order: Option<Vec<usize>>,
    pub data: SignalPart,
    pub unit_bits: usize,
    pub holds: UnitContent,
}

impl InterfaceSignals {
    /// Finds them and reads their values.
    pub fn find(
        wave: &mut OpenWave,
        scope: Option<&str>,
        interface: &Interface,
        map: &str,
    ) -> Result<InterfaceSignals, InspectError> {
        let error =
            |key, text| InspectError::Signal { map: map.to_owned(), interface: interface.name.clone(), key, text };
        let find = |key, name: &str| {
            let name = scope.map_or(name.to_owned(), |scope| format!("{scope}.{name}"));
            wave.find(&name).map_err(|text| error(key, text))
        };
        let one_bit = |key, name: &str| match find(key, name)? {
            part if part.bits == 1 => Ok(part),
            part => Err(error(key, format!("found {} bits in `{}`, expected 1", part.bits, part.name))),
        };
        let control = |key, name: &Option<String>| name.as_deref().map(|name| one_bit(key, name)).transpose();
        let is_there = |name: &str| {
            let name = scope.map_or(name.to_owned(), |scope| format!("{scope}.{name}"));
            wave.is_there(&name)
        };
        let clock = interface.clock.as_deref();
        let clock = clock.ok_or_else(|| error("clock", "found none, expected a signal: this is a wave".into()))?;
        let names = interface.signal_names(is_there).map_err(|text| error("bus", text))?;
        if interface.order.is_some() && names.keep.is_some() {
            return Err(error("order", "found a value beside `keep`, expected one of them".into()));
        }
        let (unit_bits, holds) = interface.holds().map_err(|text| error("unit_bits", text))?;
        let signals = InterfaceSignals {
            clock: if interface.edge == Edge::Any { find("clock", clock)? } else { one_bit("clock", clock)? },
            reset: control("reset", &interface.reset)?,
            valid: names.valid.iter().map(|name| one_bit("valid", name)).collect::<Result<_, _>>()?,
            ready: control("ready", &names.ready)?,
            first: control("first", &interface.first)?,
            // One that the map does not name, beside a `first` that it does, says nothing new.
            last: control("last", &names.last.filter(|_| interface.first.is_none()))?,
            keep: names.keep.as_deref().map(|name| find("keep", name)).transpose()?,
            grant: control("bus", &names.grant)?,
            state: names.state.as_deref().map(|name| find("bus", name)).transpose()?,
            order: interface.order.clone(),
            data: find("data", &names.data)?,
            unit_bits,
            holds,
        };
        let bits = signals.data.bits;
        if bits > unit_bits || !bits.is_multiple_of(8) {
            let text =
                format!("found {bits} bits in `{}`, expected {unit_bits}, or less in whole bytes", signals.data.name);
            return Err(error("data", text));
        }
        if let Some(keep) = signals.keep.as_ref().filter(|keep| 8 * keep.bits != bits) {
            return Err(error("keep", format!("found {} bits in `{}`, expected {}", keep.bits, keep.name, bits / 8)));
        }
        if let Some(order) = &signals.order {
            let mut sorted = order.clone();
            scalepool_ordered::sort(&mut sorted);
            if !sorted.into_iter().eq(0..bits / 8) {
                return Err(error("order", format!("found {order:?}, expected each of 0 to {} once", bits / 8 - 1)));
            }
        }
        let InterfaceSignals { reset, ready, first, last, keep, grant, state, .. } = &signals;
        let options = [reset, ready, first, last, keep, grant, state];
        let mut parts = vec![&signals.clock, &signals.data];
        parts.extend(options.into_iter().flatten().chain(&signals.valid));
        wave.load(&parts)?;
        Ok(signals)
    }
}

impl InterfaceSignals {
    /// What the units of the interface are, and the signal that they stand in.
    pub fn shape(&self) -> StreamShape {
        let (unit_bits, holds) = (self.unit_bits, self.holds);
        StreamShape {
            unit_bits,
            holds,
            data: (self.data.name.clone(), self.data.lsb, self.data.bits),
            declared: self.data.declared,
            has_signals: true,
        }
    }

    /// Those that there are, as a viewer names them: clock, reset, handshake, data.
    pub fn shown(&self, wave: &OpenWave) -> Vec<String> {
        let InterfaceSignals { ready, first, last, keep, grant, state, data, .. } = self;
        let sides = [ready, first, last, keep, grant, state].map(Option::as_ref);
        let all = sides.into_iter().chain([Some(data)]);
        let handshake = [Some(&self.clock), self.reset.as_ref()].into_iter().flatten().chain(&self.valid);
        handshake.chain(all.flatten()).map(|part| wave.shown(part)).collect()
    }
}

/// Samples every edge of the clock into the stream; the number of edges outside of reset.
pub(super) fn beats(
    wave: &OpenWave,
    interface: &Interface,
    signals: &InterfaceSignals,
    stream: &mut UnitStream,
) -> u64 {
    let (mut edges, mut cycle) = (0, 0);
    // Where `last` is sampled: the beat before was the last one of its unit.
    let mut is_first = true;
    let mut rights = SendingRights::default();
    // The reset was 0 or 1 at the edge before.
    let mut knows_reset = false;
    let mut last_fs = 0;
    for position in edges_of(wave, interface, signals) {
        let t_fs = wave.t_fs(position);
        last_fs = t_fs;
        let number = cycle;
        cycle += 1;
        let beside = match interface.sample() {
            SampleEdge::Before => position.checked_sub(1),
            SampleEdge::After => Some(position),
        };
        // Nothing has a value before the first instant.
        let Some(beside) = beside else { continue };
        let level =
            |part: &SignalPart| wave.at(part, beside).and_then(|bits| bits.first().copied()).unwrap_or(Bit::Unknown);
        let active = if interface.reset_active == SignalLevel::High { Bit::One } else { Bit::Zero };
        if let Some(reset) = &signals.reset {
            let is_known = level(reset) != Bit::Unknown;
            if std::mem::replace(&mut knows_reset, is_known) && !is_known {
                stream.unknown(t_fs, number, reset, &[0]);
            }
        }
        // A reset that nobody drives yet is no time for flits either.
        if signals.reset.as_ref().is_some_and(|reset| [active, Bit::Unknown].contains(&level(reset))) {
            stream.restart(t_fs);
            rights = SendingRights { credits: Some(0), ..SendingRights::default() };
            is_first = true;
            continue;
        }
        edges += 1;
        stream.edge(t_fs, number);
        let values = |part: &SignalPart| wave.at(part, beside).unwrap_or_else(|| vec![Bit::Unknown; part.bits]);
        let offers = signals.valid.iter().all(|part| level(part) == Bit::One);
        if let Some(grant) = &signals.grant {
            let granted = level(grant);
            if granted == Bit::Unknown {
                stream.unknown(t_fs, number, grant, &[0]);
            }
            // A grant that is not known may have been one, so no beat behind it is told without need.
            if let Some(broken) = rights.credited(granted != Bit::Zero, offers) {
                stream.rule_of_bus(t_fs, number, grant, broken);
            }
        }
        if let Some(state) = &signals.state
            && let Some(broken) = rights.in_state(&values(state), offers)
        {
            stream.rule_of_bus(t_fs, number, state, broken);
        }
        let handshake = signals.valid.iter().chain(&signals.ready);
        let levels: Vec<(&SignalPart, Bit)> = handshake.map(|part| (part, level(part))).collect();
        if levels.iter().any(|(_, level)| *level == Bit::Zero) {
            continue;
        }
        if let Some((part, _)) = levels.iter().find(|(_, level)| *level == Bit::Unknown) {
            stream.unknown(t_fs, number, part, &[0]);
            continue;
        }
        let first = match signals.first.as_ref().map(|first| (first, level(first))) {
            None => signals.last.as_ref().map(|_| is_first),
            Some((first, Bit::Unknown)) => {
                stream.unknown(t_fs, number, first, &[0]);
                continue;
            }
            Some((_, level)) => Some(level == Bit::One),
        };
        let last = match signals.last.as_ref().map(|last| (last, level(last))) {
            None => None,
            Some((last, Bit::Unknown)) => {
                stream.unknown(t_fs, number, last, &[0]);
                is_first = true;
                continue;
            }
            Some((_, level)) => Some(level == Bit::One),
        };
        let kept = signals.keep.as_ref().map_or_else(|| vec![Bit::One; signals.data.bits / 8], values);
        // A beat of null bytes begins no unit.
        is_first = last == Some(true) || is_first && kept.iter().all(|bit| *bit == Bit::Zero);
        let bits = values(&signals.data);
        let is_kept = |n: &usize| kept[n / 8] != Bit::Zero;
        let unknown_kept: Vec<usize> = (0..kept.len()).filter(|&n| kept[n] == Bit::Unknown).collect();
        if let Some(keep) = signals.keep.as_ref().filter(|_| !unknown_kept.is_empty()) {
            stream.unknown(t_fs, number, keep, &unknown_kept);
            continue;
        }
        let unknown: Vec<usize> = (0..bits.len()).filter(is_kept).filter(|&n| bits[n] == Bit::Unknown).collect();
        if !unknown.is_empty() {
            stream.unknown(t_fs, number, &signals.data, &unknown);
            continue;
        }
        let byte = |eight: &[Bit]| eight.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit == Bit::One));
        // Null bytes may stand anywhere, and those around them are next to each other in the stream.
        let counts = bits.chunks(8).zip(&kept).filter(|(_, kept)| **kept == Bit::One);
        let found: Vec<u8> = counts.map(|(eight, _)| byte(eight)).collect();
        let bytes = match &signals.order {
            None => found,
            Some(order) => {
                let mut beat = vec![0; found.len()];
                order.iter().zip(found).for_each(|(&at, byte)| beat[at] = byte);
                beat
            }
        };
        stream.beat(Beat { t_fs, cycle: number, first, last, bytes });
    }
    if edges == 0 {
        let broken = Violation {
            rule: "SIM-WAV-05",
            at: At::Message,
            found: format!("{}, all of them in reset", counted(cycle, "edge")),
            expected: "an edge of the clock outside of reset".into(),
            text: "nothing was sampled, so nothing was judged".into(),
        };
        stream.rule_of_bus(last_fs, cycle, &signals.clock, broken);
    }
    stream.end();
    edges
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What lets whoever sends offer data on a bus with credits or states.
#[derive(Debug, Clone, Copy, Default)]
struct SendingRights {
    /// Credits that were granted, or may have been, and not spent; `None`: no reset was seen, so nobody knows.
    credits: Option<u64>,
    /// Data stood outside of Active at the edge before.
    outside: bool,
}

impl SendingRights {
    /// An edge of a bus with credits. A credit can be spent from the edge behind its grant on.
    fn credited(&mut self, granted: bool, is_beat: bool) -> Option<Violation> {
        let credits = self.credits?;
        let spent = u64::from(is_beat && credits > 0);
        self.credits = Some(credits - spent + u64::from(granted));
        (is_beat && credits == 0).then(|| Violation {
            rule: "SIM-WAV-03",
            at: At::Message,
            found: "a beat, and 0 credits".into(),
            expected: "a credit that was granted at an edge before".into(),
            text: "a beat of data passes without a credit".into(),
        })
    }

    /// An edge of a bus with states: data that stays outside of Active is told once.
    fn in_state(&mut self, state: &[Bit], offers: bool) -> Option<Violation> {
        let digit = |bit: &Bit| match bit {
            Bit::Zero => '0',
            Bit::One => '1',
            Bit::Unknown => 'x',
        };
        let digits: String = state.iter().rev().map(digit).collect();
        let is_active = u64::from_str_radix(&digits, 2) == Ok(ACTIVE);
        let before = std::mem::replace(&mut self.outside, offers && !is_active);
        (self.outside && !before).then(|| Violation {
            rule: "SIM-WAV-04",
            at: At::Message,
            found: format!("data in state {digits}"),
            expected: format!("state {ACTIVE}, Active"),
            text: "data is offered outside of the state Active".into(),
        })
    }
}

/// Positions of the edges. The first value of a clock is no edge.
fn edges_of(wave: &OpenWave, interface: &Interface, signals: &InterfaceSignals) -> Vec<u32> {
    let to = match interface.edge {
        Edge::Rising => Some(Bit::One),
        Edge::Falling => Some(Bit::Zero),
        Edge::Any => None,
    };
    let changes = wave.changes(&signals.clock);
    let is_edge = |pair: &&[(u32, Bit)]| match to {
        None => true,
        Some(to) => pair[0].1 != to && pair[1].1 == to,
    };
    let mut positions: Vec<u32> = changes.windows(2).filter(is_edge).map(|pair| pair[1].0).collect();
    if to.is_none() {
        // Several changes in one instant are one: only its last values are seen.
        positions.dedup();
    }
    positions
}
