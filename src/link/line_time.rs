//! Where the time of a line goes: every bit time of a direction has one use.
//!
//! Modelled: the account. A link end says with [`LineTimeParts`] what the flit clock of its last unit was used for, at
//! the point where the unit is made; its port adds it up in a [`LineTime`]. Left out: what the uses cost in latency.
//!
//! Invariant: the parts of a unit are its bits, none is counted twice. What is in no account, because an end at rest is not
//! asked, is idle.

/// What a bit time of a line is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Use {
    /// Nothing waited to be sent.
    #[default]
    Idle,
    /// Data of transactions, sent for the first time; whole slots, beats and data flits.
    Payload,
    /// Framing (headers, CRC, FEC), messages and headers of transactions, byte enables, tags.
    Headers,
    /// Places that stayed empty while something waited that did not fit.
    Packing,
    /// Places that stayed empty because what waited had no credit, or the peer's catch buffer takes no more (UALink).
    Credits,
    /// What the link needs for itself: bringing it up, credit returns, acknowledgements in flits of their own, power states, alignment.
    Control,
    /// Units that go again, requests for them, waiting for acknowledgements with a full replay buffer, training.
    Replay,
}

/// Number of uses.
pub const USES: usize = 7;

impl Use {
    /// All of them.
    pub const ALL: [Use; USES] =
        [Use::Idle, Use::Payload, Use::Headers, Use::Packing, Use::Credits, Use::Control, Use::Replay];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Use::Idle => "idle",
            Use::Payload => "payload",
            Use::Headers => "headers",
            Use::Packing => "packing",
            Use::Credits => "credits",
            Use::Control => "control",
            Use::Replay => "replay",
        }
    }
}

/// What the bits of one unit are for. Bits that are not named stayed empty, all for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineTimeParts {
    bits: [u32; USES],
    empty: Use,
}

impl LineTimeParts {
    /// A unit of which nothing is named yet: all of it has this use.
    pub const fn all(empty: Use) -> LineTimeParts {
        LineTimeParts { bits: [0; USES], empty }
    }

    /// The same with so many bits named.
    pub const fn with(mut self, of: Use, bits: u32) -> LineTimeParts {
        self.bits[of as usize] += bits;
        self
    }

    /// The same bits, with another reason for those that are not named.
    pub const fn and_empty(mut self, empty: Use) -> LineTimeParts {
        self.empty = empty;
        self
    }

    /// Why bits that are not named stayed empty.
    pub const fn empty(&self) -> Use {
        self.empty
    }
}

/// [`LineTimeParts`] of a unit of which headers and payload alone are named, as those of a 68B link: an account adds to
/// three sums instead of seven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlainParts {
    headers: u32,
    payload: u32,
    empty: Use,
}

impl PlainParts {
    /// A unit of which nothing is named yet: all of it has this use.
    pub const fn all(empty: Use) -> PlainParts {
        PlainParts { headers: 0, payload: 0, empty }
    }

    /// A unit with so many bits of each; the rest stayed empty for this reason.
    pub const fn named(headers: u32, payload: u32, empty: Use) -> PlainParts {
        PlainParts { headers, payload, empty }
    }
}

impl From<PlainParts> for LineTimeParts {
    fn from(plain: PlainParts) -> LineTimeParts {
        LineTimeParts::all(plain.empty).with(Use::Headers, plain.headers).with(Use::Payload, plain.payload)
    }
}

/// Uses of a stream of bits that is cut into units elsewhere than it was made.
#[derive(Debug, Clone, Default)]
pub struct Stream(std::collections::VecDeque<(Use, u32)>);

impl Stream {
    /// Puts a piece of so many bits behind what is there.
    #[inline]
    pub fn push(&mut self, bits: u32, parts: &LineTimeParts) {
        if bits > 0 && parts.bits[Use::Idle as usize] == 0 && parts.bits[Use::Payload as usize] >= bits {
            // Most pieces of a busy line are data alone.
            return self.put(Use::Payload, bits);
        }
        self.put_parts(bits, parts);
    }

    fn put_parts(&mut self, bits: u32, parts: &LineTimeParts) {
        let mut left = bits;
        for of in Use::ALL {
            let named = parts.bits[of as usize].min(left);
            left -= named;
            if named > 0 {
                self.put(of, named);
            }
        }
        if left > 0 {
            self.put(parts.empty, left);
        }
    }

    #[inline]
    fn put(&mut self, of: Use, bits: u32) {
        match self.0.back_mut() {
            Some(last) if last.0 == of => last.1 += bits,
            _ => self.0.push_back((of, bits)),
        }
    }

    /// Takes so many bits off the front into the parts of a unit.
    pub fn take(&mut self, bits: u32, into: &mut LineTimeParts) {
        let mut left = bits;
        while left > 0
            && let Some(first) = self.0.front_mut()
        {
            let taken = first.1.min(left);
            *into = into.with(first.0, taken);
            (first.1, left) = (first.1 - taken, left - taken);
            if first.1 == 0 {
                self.0.pop_front();
            }
        }
    }

    /// Forgets what is there.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The account of a direction, in bit times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineTime {
    bits: [u64; USES],
}

impl LineTime {
    /// Adds a unit of so many bits.
    pub fn add(&mut self, bits: u64, parts: &LineTimeParts) {
        // No run has 2^64 bit times, so nothing wraps; without the checks of that a flit clock takes 34 instructions, not 55.
        let named = parts.bits.iter().fold(0u64, |sum, &part| sum.wrapping_add(part.into()));
        debug_assert!(named <= bits, "{parts:?} of {bits} bits");
        for (sum, part) in self.bits.iter_mut().zip(parts.bits) {
            *sum = sum.wrapping_add(part.into());
        }
        let empty = &mut self.bits[parts.empty as usize];
        *empty = empty.wrapping_add(bits.saturating_sub(named));
    }

    /// Adds a unit of so many bits with few names.
    #[inline]
    pub fn add_plain(&mut self, bits: u64, parts: PlainParts) {
        let (headers, payload) = (u64::from(parts.headers), u64::from(parts.payload));
        // As in `add`, nothing wraps.
        let named = headers.wrapping_add(payload);
        debug_assert!(named <= bits, "{parts:?} of {bits} bits");
        for (of, part) in [(Use::Headers, headers), (Use::Payload, payload), (parts.empty, bits.saturating_sub(named))]
        {
            let sum = &mut self.bits[of as usize];
            *sum = sum.wrapping_add(part);
        }
    }

    /// Adds another account.
    pub fn merge(&mut self, other: &LineTime) {
        self.bits.iter_mut().zip(other.bits).for_each(|(sum, part)| *sum += part);
    }

    /// Bit times of a use.
    pub fn of(&self, of: Use) -> u64 {
        self.bits[of as usize]
    }

    /// Bit times in the account.
    pub fn total(&self) -> u64 {
        self.bits.iter().sum()
    }

    /// The account of a line of so many bit times: what nothing was sent in is idle. How often an end at rest was asked all the
    /// same does not count.
    pub fn of_line(mut self, line_bits: u64) -> LineTime {
        self.bits[Use::Idle as usize] = 0;
        self.bits[Use::Idle as usize] = line_bits.saturating_sub(self.total());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_the_sum_of_its_parts_and_a_line_that_of_its_units() {
        let mut time = LineTime::default();
        time.add(544, &LineTimeParts::all(Use::Packing).with(Use::Payload, 256).with(Use::Headers, 64));
        time.add(544, &LineTimeParts::all(Use::Replay));
        assert_eq!(Use::ALL.map(|of| time.of(of)), [0, 256, 64, 224, 0, 0, 544]);
        assert_eq!(time.of_line(10 * 544).of(Use::Idle), 8 * 544);
        assert_eq!(time.of_line(10 * 544).total(), 10 * 544);
        let mut plain = LineTime::default();
        plain.add_plain(544, PlainParts::named(64, 256, Use::Packing));
        plain.add_plain(544, PlainParts::all(Use::Replay));
        assert_eq!(plain, time);
        assert_eq!(
            LineTimeParts::from(PlainParts::named(64, 256, Use::Packing)),
            LineTimeParts::all(Use::Packing).with(Use::Payload, 256).with(Use::Headers, 64)
        );
    }

    #[test]
    fn a_stream_keeps_its_bits_wherever_it_is_cut() {
        let mut stream = Stream::default();
        let piece = LineTimeParts::all(Use::Idle).with(Use::Payload, 200).with(Use::Headers, 100);
        (0..5).for_each(|_| stream.push(512, &piece));
        let mut time = LineTime::default();
        for _ in 0..8 {
            let mut unit = LineTimeParts::all(Use::Credits);
            stream.take(300, &mut unit);
            time.add(310, &unit);
        }
        assert_eq!(Use::ALL.map(|of| time.of(of)), [1060 - 160, 1000, 500, 0, 80, 0, 0]);
    }
}
