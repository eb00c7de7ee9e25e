//! What stands between two ends of a link, such as a retimer, and does more to flits than to pass them on.
//!
//! Modelled: flits that come twice, in another order or never, and flits whose FEC was eaten: their bytes are whole and those of the FEC
//! are not, so that no later error is repaired anywhere. [`RetimerWatch`] compares what goes into a retimer with what comes out and sees all of
//! that in any protocol. [`RetimerSigns`] has the units that come to one end alone: it sees what numbers stated in full and checksums
//! show, in the 256B modes of CXL and in UALink. Left out: what a retimer does below flits. Wrong bits are no finding here, for a
//! line makes them too. What is lost while the place of the units is not known is left out as well.
//!
//! A walk: each unit that goes in waits in a queue. A unit that comes out is the one that is due, or that one with another FEC. Else
//! the units behind it say whether it came twice, two were swapped or some are lost. Units that were under way when the watch began, and
//! several units in a row that fit nothing, take none out of the queue: the watch looks for the place anew.

use super::liveness::with_commas;
use scalepool_protocols::check::fec256;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received, FLIT_BYTES, lopt};
use scalepool_protocols::wire::{At, Violation};
use std::collections::VecDeque;
use std::ops::Range;

/// Units in a row whose CRC fits and whose FEC does not, before the FEC is called eaten: noise in the six bytes of the FEC alone does
/// not hit so many. Basis: model.
pub const FEC_FLITS: u32 = 3;

/// Units that may be under way in a retimer. Basis: model.
const MOST_UNDER_WAY: usize = 4096;

/// Units that may be lost side by side and are still found to be. Basis: model.
const MOST_AHEAD: usize = 64;

/// Bytes of the FEC of a 256B flit (`cxl-256b` §1.2, §1.5).
fn fec_bytes(mode: Mode) -> Range<usize> {
    if mode.is_lopt() { lopt::FEC } else { fec256::PROTECTED_BYTES..FLIT_BYTES }
}

/// Units in a row that fit nothing, behind which the place in the queue counts as lost. Basis: model.
const MISSES: u32 = 4;

/// Units in a row that show the place: each differs from the others and stands in the queue once, so that units of a link at
/// rest, of which there are two kinds, show none. Basis: model.
const UNITS_OF_A_PLACE: usize = 3;

fn finding(rule: &'static str, found: String, expected: impl ToString, text: &str) -> Violation {
    Violation { rule, at: At::Message, found, expected: expected.to_string(), text: text.to_owned() }
}

fn doubled(what: String) -> Violation {
    let text =
        "a flit comes twice in a row, although nobody asked for it again: what is between the ends doubles flits";
    finding("LIV-DUP-01", what, "each flit once", text)
}

fn swapped(what: String) -> Violation {
    let text =
        "two flits come in the wrong order, although nothing was sent again: what is between the ends swaps flits";
    finding("LIV-SWP-01", what, "flits in the order in which they were sent", text)
}

fn fec_eaten(what: String) -> Violation {
    let text = "the bytes of flits are whole and their FEC is not theirs: what is between the ends eats the FEC, errors are repaired nowhere";
    finding("LIV-FEC-01", what, "the FEC of the flit", text)
}

/// Units behind which a doubt is settled at the latest. Basis: model.
const UNITS_OF_A_DOUBT: usize = 16;

/// A unit has come out that is not the one that was due.
#[derive(Debug, Clone)]
struct Doubt {
    /// It is the one before it again.
    is_copy: bool,
    /// It is a later one: units that should have come before it.
    ahead: Option<usize>,
    /// The unit, and those that came out since.
    came: Vec<Vec<u8>>,
}

/// Compares the units before a retimer with those behind it, in one direction.
#[derive(Debug, Clone)]
pub struct RetimerWatch {
    /// Bytes of the FEC in a unit, where there are some.
    fec: Option<Range<usize>>,
    /// Units that went in and have not come out, with their numbers from 0.
    under_way: VecDeque<(u64, Vec<u8>)>,
    /// Units that went in.
    count: u64,
    /// The unit that came out last.
    last: (u64, Vec<u8>),
    /// Units have come out since one that was too early.
    doubt: Option<Doubt>,
    place: UnitDue,
    /// Units in a row with another FEC, and the number of the first one.
    eaten: (u32, u64),
    fec_is_said: bool,
}

/// Whether it is known which unit is due.
#[derive(Debug, Clone)]
enum UnitDue {
    /// No unit has come out. If nothing is under way, the first one that comes is the first one that goes in.
    Start,
    /// The first unit of the queue is due, and so many units in a row were not the one that was due.
    Known(u32),
    /// It is looked for: the units that came out last.
    Lost(VecDeque<Vec<u8>>),
}

impl RetimerWatch {
    /// Before the first unit; `mode` is that of 256B flits.
    pub fn new(mode: Option<Mode>) -> RetimerWatch {
        RetimerWatch {
            fec: mode.map(fec_bytes),
            under_way: VecDeque::new(),
            count: 0,
            last: (0, Vec::new()),
            doubt: None,
            place: UnitDue::Start,
            eaten: (0, 0),
            fec_is_said: false,
        }
    }

    /// A unit goes in.
    pub fn goes_in(&mut self, unit: &[u8]) {
        self.under_way.push_back((self.count, unit.to_vec()));
        self.count += 1;
        if self.under_way.len() > MOST_UNDER_WAY {
            self.under_way.pop_front();
        }
    }

    /// Whether only the bytes of the FEC differ.
    fn differs_in_fec(&self, sent: &[u8], came: &[u8]) -> bool {
        let Some(fec) = &self.fec else { return false };
        sent.len() == came.len()
            && sent.len() >= fec.end
            && sent != came
            && sent[..fec.start] == came[..fec.start]
            && sent[fec.end..] == came[fec.end..]
    }

    /// Whether a unit is one that went in, whatever became of its FEC.
    fn is(&self, sent: &[u8], came: &[u8]) -> bool {
        sent == came || self.differs_in_fec(sent, came)
    }

    /// Looks for the place with the unit that has come out last.
    fn look_for_place(&mut self, mut came: VecDeque<Vec<u8>>, unit: &[u8]) -> UnitDue {
        came.push_back(unit.to_vec());
        if came.len() > UNITS_OF_A_PLACE {
            came.pop_front();
        }
        let differ = came.iter().enumerate().all(|(n, unit)| came.iter().skip(n + 1).all(|other| other != unit));
        if came.len() < UNITS_OF_A_PLACE || !differ {
            return UnitDue::Lost(came);
        }
        let only_place = |unit: &Vec<u8>| {
            let mut places =
                self.under_way.iter().enumerate().filter(|(_, (_, sent))| self.is(sent, unit)).map(|(place, _)| place);
            places.next().filter(|_| places.next().is_none())
        };
        let places: Option<Vec<usize>> = came.iter().map(only_place).collect();
        match places.as_deref() {
            Some([first, .., last]) if places.iter().flatten().is_sorted() && last - first == UNITS_OF_A_PLACE - 1 => {
                let number = self.under_way[*last].0;
                self.under_way.drain(..=*last);
                self.last = (number, unit.to_vec());
                UnitDue::Known(0)
            }
            _ => UnitDue::Lost(came),
        }
    }

    /// A unit comes out: what is wrong.
    pub fn comes_out(&mut self, unit: &[u8]) -> Vec<Violation> {
        if let Some(doubt) = &mut self.doubt {
            doubt.came.push(unit.to_vec());
            return self.settle(false);
        }
        match std::mem::replace(&mut self.place, UnitDue::Known(0)) {
            UnitDue::Start if self.under_way.front().is_some_and(|(_, sent)| self.is(sent, unit)) => (),
            UnitDue::Start => {
                self.place = self.look_for_place(VecDeque::new(), unit);
                return Vec::new();
            }
            UnitDue::Lost(came) => {
                self.place = self.look_for_place(came, unit);
                return Vec::new();
            }
            known @ UnitDue::Known(_) => self.place = known,
        }
        let place = self.under_way.iter().take(MOST_AHEAD).position(|(_, sent)| sent == unit);
        let due = self.under_way.front().map(|(number, _)| *number);
        let fec = self.under_way.front().is_some_and(|(_, sent)| self.differs_in_fec(sent, unit));
        let mut found = Vec::new();
        let before = std::mem::take(&mut self.eaten);
        match place {
            Some(0) => self.place = UnitDue::Known(0),
            _ if fec => {
                self.place = UnitDue::Known(0);
                let first = if before.0 == 0 { due.unwrap_or_default() } else { before.1 };
                self.eaten = (before.0.saturating_add(1), first);
                // Noise in the bytes of the FEC alone is that of the line.
                if self.eaten.0 >= FEC_FLITS && !std::mem::replace(&mut self.fec_is_said, true) {
                    let first = with_commas(first);
                    found.push(fec_eaten(format!("another FEC behind the same bytes, from flit {first} on")));
                }
            }
            ahead if ahead.is_some() || self.last.1 == unit => {
                self.doubt = Some(Doubt { is_copy: self.last.1 == unit, ahead, came: vec![unit.to_vec()] });
                return found;
            }
            // A unit with wrong bits; of several in a row it is more likely that others are due.
            _ => match self.place {
                UnitDue::Known(misses) if misses + 1 < MISSES => self.place = UnitDue::Known(misses + 1),
                _ => {
                    self.place = UnitDue::Lost(VecDeque::new());
                    return found;
                }
            },
        }
        self.under_way.pop_front();
        self.last = (due.unwrap_or_default(), unit.to_vec());
        found
    }

    /// Nothing comes out any more: what is wrong with the last units.
    pub fn finish(&mut self) -> Vec<Violation> {
        self.settle(true)
    }

    /// Whether a unit that was not due has come twice, was swapped with the one before it, or those before it are lost. Units
    /// are often alike, so those behind it decide: the reading that holds longest, of two the one that was named first.
    fn settle(&mut self, at_end: bool) -> Vec<Violation> {
        let Some(Doubt { is_copy, ahead, came }) = &self.doubt else { return Vec::new() };
        let sent = |place: usize| self.under_way.get(place).map(|(_, sent)| sent);
        let holds = |first: usize, place_of: &dyn Fn(usize) -> usize| {
            let rest = came.iter().enumerate().skip(first);
            first + rest.take_while(|(n, unit)| sent(place_of(*n)) == Some(unit)).count()
        };
        let as_doubled = if *is_copy { holds(1, &|n| n - 1) } else { 0 };
        let as_swapped = if *ahead == Some(1) { holds(0, &|n| [1, 0].get(n).copied().unwrap_or(n)) } else { 0 };
        let as_lost = ahead.map_or(0, |ahead| holds(0, &|n| ahead + n));
        let readings = [as_doubled, as_swapped, as_lost];
        let open = readings.iter().filter(|holds| **holds == came.len()).count();
        if open > 1 && !at_end && came.len() < UNITS_OF_A_DOUBT {
            return Vec::new();
        }
        let number = |place: usize| self.under_way.get(place).map_or(0, |(number, _)| *number);
        let read = readings.into_iter().max().unwrap_or(0).max(1);
        let (violation, gone) = if as_doubled == read {
            (doubled(format!("flit {} twice", with_commas(self.last.0))), read - 1)
        } else if as_swapped == read && read > 1 {
            let [early, late] = [1, 0].map(|place| with_commas(number(place)));
            (swapped(format!("flit {early} before flit {late}")), read)
        } else {
            let (first, ahead) = (with_commas(number(0)), ahead.unwrap_or(0));
            let what = match ahead {
                1 => format!("flit {first} lost"),
                _ => format!("{ahead} flits lost from flit {first} on"),
            };
            let text = "flits go in and never come out: what is between the ends loses flits";
            (finding("LIV-LST-01", what, "every flit", text), ahead + read)
        };
        self.place = UnitDue::Known(0);
        let last = gone.checked_sub(1).map_or(self.last.0, number);
        let Some(Doubt { mut came, .. }) = self.doubt.take() else { return Vec::new() };
        self.under_way.drain(..gone.min(self.under_way.len()));
        let rest = came.split_off(read);
        self.last = (last, came.pop().unwrap_or_default());
        let mut found = vec![violation];
        found.extend(rest.iter().flat_map(|unit| self.comes_out(unit)));
        found
    }
}

/// What a unit says of itself, as the end reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedUnit {
    /// Its number, where it carries payload and states the number in full.
    pub stated: Option<u16>,
    /// The number that was due, and the one behind it.
    pub due: [u16; 2],
    /// The end has asked for a replay, or may have.
    pub replay_asked: bool,
}

/// Signs of a retimer in what comes to one end.
#[derive(Debug, Clone, Default)]
pub struct RetimerSigns {
    last: Vec<u8>,
    /// The number that is missing, and the one that came in its place while no replay had been asked for.
    missing: Option<[u16; 2]>,
    /// Units that the end has sent since the last one came.
    sent_since: u32,
    /// Units in a row with an eaten FEC.
    eaten: u32,
}

impl RetimerSigns {
    /// A 256B flit has come, of which FEC and CRC make `received`: whether its FEC was eaten, once a row.
    pub fn fec(&mut self, flit: &Cxl256Flit, received: &Cxl256Received, mode: Mode) -> Option<Violation> {
        // A receiver does not ask the FEC where both halves fit.
        let fec = if mode.is_lopt() { fec256::find_lopt(&flit.0) } else { received.fec };
        let is_eaten = fec.map_or(true, |repairs| !repairs.is_empty()) && flit.crc_ok(mode);
        self.eaten = if is_eaten { self.eaten.saturating_add(1) } else { 0 };
        (self.eaten == FEC_FLITS)
            .then(|| fec_eaten(format!("{FEC_FLITS} flits in a row with another FEC behind a CRC that fits")))
    }

    /// A good unit has come.
    pub fn good(&mut self, unit: &[u8], arrived: ArrivedUnit) -> Option<Violation> {
        let ArrivedUnit { stated, due: [due, behind], replay_asked } = arrived;
        // Nothing that the end says meanwhile can have an effect yet.
        let is_at_once = std::mem::take(&mut self.sent_since) <= 1;
        let is_copy = is_at_once && self.last == unit;
        unit.clone_into(&mut self.last);
        let missing = self.missing.take().filter(|_| is_at_once);
        let number = stated?;
        if replay_asked && missing.is_none() {
            return None;
        }
        if is_copy {
            return Some(doubled(format!("number {number} twice in a row")));
        }
        if let Some([late, early]) = missing.filter(|[late, _]| *late == number) {
            return Some(swapped(format!("number {early} before number {late}")));
        }
        self.missing = (!replay_asked && number == behind).then_some([due, behind]);
        None
    }

    /// A bad unit has come, or something that is none.
    pub fn bad(&mut self) {
        self.last.clear();
        self.missing = None;
    }

    /// The end has sent a unit.
    pub fn sends(&mut self) {
        self.sent_since = self.sent_since.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(sent: &[u8], came: &[u8]) -> Vec<String> {
        let mut watch = RetimerWatch::new(None);
        sent.iter().for_each(|&unit| watch.goes_in(&[unit; 4]));
        let mut found: Vec<Violation> = came.iter().flat_map(|&unit| watch.comes_out(&[unit; 4])).collect();
        found.extend(watch.finish());
        found.iter().map(|v| format!("{}: {}", v.rule, v.found)).collect()
    }

    #[test]
    fn what_comes_out_is_held_against_what_went_in() {
        assert_eq!(rules(&[1, 2, 2, 3], &[1, 2, 2, 3]), [""; 0]);
        assert_eq!(rules(&[1, 2, 3, 4], &[1, 2, 2, 3, 4]), ["LIV-DUP-01: flit 1 twice"]);
        assert_eq!(rules(&[1, 2, 3, 4], &[1, 3, 2, 4]), ["LIV-SWP-01: flit 2 before flit 1"]);
        assert_eq!(rules(&[1, 2, 3, 4, 5], &[1, 4, 5]), ["LIV-LST-01: 2 flits lost from flit 1 on"]);
        // Units that are alike: three of a kind and one of another, over and over, as those of a link at rest.
        let at_rest: Vec<u8> = (0..40).map(|n| if n % 4 == 3 { 2 } else { 1 }).collect();
        let without =
            |at: usize| at_rest.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, &u)| u).collect::<Vec<_>>();
        assert_eq!(rules(&at_rest, &without(9)), ["LIV-LST-01: flit 10 lost"], "the last one of those that are alike");
        assert_eq!(rules(&at_rest, &without(11)), ["LIV-LST-01: flit 11 lost"]);
        let mut other = at_rest.clone();
        other.swap(10, 11);
        assert_eq!(rules(&at_rest, &other), ["LIV-SWP-01: flit 11 before flit 10"]);
        // Wrong bits are those of the line.
        assert_eq!(rules(&[1, 2, 3, 4], &[1, 9, 3, 4]), [""; 0]);
    }

    /// What is found where units go in while others are under way.
    fn rules_under_way(sent: &[u8], came: &[u8]) -> Vec<String> {
        let mut watch = RetimerWatch::new(None);
        let mut found = Vec::new();
        for n in 0..sent.len().max(came.len()) {
            sent.get(n).iter().for_each(|&&unit| watch.goes_in(&[unit; 4]));
            found.extend(came.get(n).iter().flat_map(|&&unit| watch.comes_out(&[unit; 4])));
        }
        found.extend(watch.finish());
        found.iter().map(|v| format!("{}: {}", v.rule, v.found)).collect()
    }

    #[test]
    fn units_that_were_under_way_before_hide_nothing() {
        let sent: Vec<u8> = (0..60).collect();
        let without = |first: u8, lost: u8| -> Vec<u8> {
            let before = 200..200 + first;
            before.chain((0..60).filter(|unit| *unit != lost)).collect()
        };
        assert_eq!(rules_under_way(&sent, &without(10, 99)), [""; 0]);
        for under_way in [1, 2, 3, 10, 40] {
            assert_eq!(
                rules_under_way(&sent, &without(under_way, 30)),
                ["LIV-LST-01: flit 30 lost"],
                "{under_way} under way"
            );
        }
        // The same behind wrong bits in many units, and behind a gap that is too long to be seen as one.
        let mut noisy = without(10, 50);
        noisy[20..33].iter_mut().for_each(|unit| *unit ^= 0x80);
        assert_eq!(rules_under_way(&sent, &noisy), ["LIV-LST-01: flit 50 lost"]);
        let sent: Vec<u8> = (0..250).collect();
        let gap: Vec<u8> = (0..250).filter(|unit| !(20..120).contains(unit) && *unit != 200).collect();
        let delayed: Vec<u8> = [255; 101].into_iter().chain(gap).collect();
        assert_eq!(rules_under_way(&sent, &delayed), ["LIV-LST-01: flit 200 lost"]);
        // Of units at rest nobody can say which one comes.
        let at_rest: Vec<u8> = (0..40).map(|n| if n % 4 == 3 { 2 } else { 1 }).collect();
        assert_eq!(rules_under_way(&at_rest, &[&[2, 2][..], &at_rest[1..]].concat()), [""; 0]);
    }

    #[test]
    fn noise_in_the_bytes_of_a_fec_is_not_an_eaten_one() {
        let mode = Mode::Standard;
        let found = |eaten: &[usize]| {
            let mut watch = RetimerWatch::new(Some(mode));
            let unit = |n: usize| vec![n as u8; FLIT_BYTES];
            let rules = (0..12).flat_map(|n| {
                watch.goes_in(&unit(n));
                let mut came = unit(n);
                came[fec_bytes(mode).start] ^= u8::from(eaten.contains(&n));
                watch.comes_out(&came)
            });
            rules.map(|v| format!("{}: {}", v.rule, v.found)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[4]), [""; 0]);
        assert_eq!(found(&[0, 1, 3, 4, 7]), [""; 0]);
        let said = |first: usize| format!("LIV-FEC-01: another FEC behind the same bytes, from flit {first} on");
        assert_eq!(found(&[4, 5, 6]), [said(4)]);
        assert_eq!(found(&[0, 1, 2, 3, 4, 8, 9, 10, 11]), [said(0)]);
    }

    #[test]
    fn a_replay_that_was_asked_for_is_no_sign() {
        let unit = |number: u16, due: u16, replay_asked| {
            (vec![number as u8; 8], ArrivedUnit { stated: Some(number), due: [due, due + 1], replay_asked })
        };
        let found = |units: &[(Vec<u8>, ArrivedUnit)]| {
            let mut signs = RetimerSigns::default();
            units.iter().filter_map(|(bytes, arrived)| signs.good(bytes, *arrived)).map(|v| v.rule).collect::<Vec<_>>()
        };
        assert_eq!(found(&[unit(1, 1, false), unit(2, 2, false), unit(3, 3, false)]), [""; 0]);
        assert_eq!(found(&[unit(1, 1, false), unit(1, 2, false), unit(2, 2, false)]), ["LIV-DUP-01"]);
        assert_eq!(found(&[unit(1, 1, false), unit(3, 2, false), unit(2, 2, true), unit(4, 3, true)]), ["LIV-SWP-01"]);
        assert_eq!(found(&[unit(2, 1, false), unit(3, 1, true), unit(1, 1, true), unit(2, 2, false)]), [""; 0]);
    }
}
