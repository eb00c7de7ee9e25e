//! What an end has waited for too long: credits, acknowledgements, a replay, the peer's first word.
//!
//! Modelled: each wait of an end by its kind and channel, since the flit at which it began, until something that counts as progress.
//! A wait that lasts as long as the limit is a finding, once. Detail: the end says what it waits for behind every flit
//! clock. Left out: waits of an end for its own side, such as messages that nobody takes; those are waits of its peer.
//!
//! Not covered: an end of UALink that waits for an acknowledgement gives up by itself after 40,000 flit times (`ualink` §7) and
//! reports UAL-TXS-07, so there LIV-ACK-01 comes only with a lower limit. An end of UALink that has nothing to be acknowledged and
//! hears nothing any more stays up and waits for nobody; that the wire is silent, the layer below has to say. While a link trains
//! nobody waits, however long that takes.
//!
//! A walk through one flit clock: [`Liveness::begin`] takes the time; the end tells its waits, one call of
//! [`Liveness::waits`] each; [`Liveness::end`] forgets the waits that were not told and gives the findings.

use crate::event::{LinkEvent, Severity};
use crate::hook::Direction;
use scalepool_protocols::wire::{At, Violation};

/// How long an end may wait by default \[flits\]. The longest wait of a legal link with the values of the sheets: a CXL 68B end asks
/// 31 times for a replay with 4096 flits between (`cxl-68b` §7.3), 126,976 flits. Basis: model.
pub const LIVENESS_FLITS: u64 = 1 << 17;

/// Highest limit \[flits\].
pub const MOST_LIVENESS_FLITS: u64 = 1 << 32;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// A credit of a channel.
    Credit,
    /// An acknowledgement of flits that were sent.
    Acknowledgement,
    /// A replay that was asked for.
    Replay,
    /// That the link comes up.
    Up,
}

/// Something that one side of a link waits for, as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkWait<'a> {
    /// What it waits for.
    pub kind: WaitKind,
    /// Who has to act: [`Direction::Rx`], the peer, for which the end waits; [`Direction::Tx`], the end, for which its peer waits.
    pub by: Direction,
    /// The channel; empty where the kind has none.
    pub channel: &'a str,
    /// Messages or flits that wait; of a replay the number of the flit that is due.
    pub waiting: u64,
    /// Whether `waiting` counts messages that have passed since the start, because those that wait cannot be seen.
    pub is_passed: bool,
    /// Changes with progress: the wait begins anew.
    pub progress: u64,
}

/// How long anybody may wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LivenessLimits {
    /// In flits.
    pub flits: Option<u64>,
    /// In time \[fs\], where there is some.
    pub time_fs: Option<u64>,
}

/// Now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LivenessNow {
    /// Flit clock.
    pub flits: u64,
    /// Time \[fs\], 0 where there is none.
    pub time_fs: u64,
    /// Units that have come and that were sent.
    pub units: [u64; 2],
}

/// A wait that goes on.
#[derive(Debug, Clone)]
struct OpenWait {
    kind: WaitKind,
    by: Direction,
    channel: String,
    progress: u64,
    since: LivenessNow,
    /// The flit clock in which it was told last.
    told: u64,
    is_said: bool,
}

/// The waits of one link, as one of its ends or the watcher of one sees them.
#[derive(Debug, Clone)]
pub struct Liveness {
    limits: LivenessLimits,
    now: LivenessNow,
    round: u64,
    open: Vec<OpenWait>,
    events: Vec<(Direction, LinkEvent)>,
}

/// A number with commas between thousands, as texts have it.
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

impl Liveness {
    /// Nothing has been waited for.
    pub fn new(limits: LivenessLimits) -> Liveness {
        Liveness { limits, now: LivenessNow::default(), round: 0, open: Vec::new(), events: Vec::new() }
    }

    /// Whether anything is limited.
    pub fn is_on(&self) -> bool {
        self.limits != LivenessLimits::default()
    }

    /// The waits of this time follow.
    pub fn begin(&mut self, now: LivenessNow) {
        self.now = now;
        self.round += 1;
    }

    /// One side waits.
    pub fn waits(&mut self, wait: LinkWait<'_>) {
        let LinkWait { kind, by, channel, progress, .. } = wait;
        let found = self.open.iter().position(|o| o.kind == kind && o.by == by && o.channel == channel);
        let at = found.unwrap_or_else(|| {
            let (since, channel) = (self.now, channel.to_owned());
            self.open.push(OpenWait { kind, by, channel, progress, since, told: 0, is_said: false });
            self.open.len() - 1
        });
        let open = &mut self.open[at];
        open.told = self.round;
        if open.progress != progress {
            (open.progress, open.since, open.is_said) = (progress, self.now, false);
        }
        let flits = self.limits.flits.filter(|most| self.now.flits.saturating_sub(open.since.flits) >= *most);
        let time = self.limits.time_fs.filter(|most| self.now.time_fs.saturating_sub(open.since.time_fs) >= *most);
        let limit = match (flits, time) {
            (Some(flits), _) => format!("{} flits", with_commas(flits)),
            (None, Some(fs)) => format!("{} ns", with_commas(fs / 1_000_000)),
            (None, None) => return,
        };
        if !std::mem::replace(&mut open.is_said, true) {
            let place = usize::from(by == Direction::Tx);
            let (since, unit) = (open.since.units[place], self.now.units[place].saturating_sub(1));
            let violation = finding(&wait, since, &limit);
            self.events.push((by, LinkEvent { severity: Severity::Protocol, unit, violation }));
        }
    }

    /// Waits that were not told are over. The findings, with the direction that they concern.
    pub fn end(&mut self) -> Vec<(Direction, LinkEvent)> {
        self.open.retain(|open| open.told == self.round);
        std::mem::take(&mut self.events)
    }

    /// The link begins anew.
    pub fn restart(&mut self) {
        self.open.clear();
    }
}

/// What is said of a wait that has lasted too long.
fn finding(wait: &LinkWait<'_>, since: u64, limit: &str) -> Violation {
    let LinkWait { kind, by, channel, waiting, is_passed, .. } = *wait;
    let (since, number) = (with_commas(since), with_commas(waiting));
    let (to_act, other) = match by {
        Direction::Rx => ("the peer", "the end"),
        Direction::Tx => ("the end", "its peer"),
    };
    let (rule, found, expected, text) = match kind {
        WaitKind::Credit => {
            let verb = match (is_passed, by) {
                (false, _) => "wait",
                (true, Direction::Rx) => "sent",
                (true, Direction::Tx) => "have come",
            };
            let found = format!("{number} {channel} {verb}, 0 {channel} credits since flit {since}");
            let text = format!(
                "{other} can send no {channel}: {to_act} does not give credits back, its buffers stay full or the credits were lost"
            );
            ("LIV-CRD-01", found, format!("a credit within {limit}"), text)
        }
        WaitKind::Acknowledgement => {
            let found = format!("{number} flits not acknowledged, no acknowledgement since flit {since}");
            let text =
                format!("{to_act} does not acknowledge what has come: the retry buffer of {other} never becomes free");
            ("LIV-ACK-01", found, format!("an acknowledgement within {limit}"), text)
        }
        WaitKind::Replay => {
            let found = format!("flit number {waiting} asked for again, not come since flit {since}");
            let text = format!(
                "the retry never ends: {to_act} does not replay what {other} asks for, or the request never arrives"
            );
            ("LIV-RTY-01", found, format!("the replay within {limit}"), text)
        }
        WaitKind::Up => {
            let found = format!("the link is not up, no progress since flit {since}");
            let text = format!("initialisation never ends: what {to_act} has to send first does not come");
            ("LIV-INI-01", found, format!("initialisation within {limit}"), text)
        }
    };
    Violation { rule, at: At::Message, found, expected, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(waiting: u64, progress: u64) -> LinkWait<'static> {
        let (kind, by, channel) = (WaitKind::Credit, Direction::Rx, "M2S Req");
        LinkWait { kind, by, channel, waiting, is_passed: false, progress }
    }

    fn step(live: &mut Liveness, flits: u64, told: Option<LinkWait<'_>>) -> Vec<String> {
        live.begin(LivenessNow { flits, time_fs: 0, units: [4_700 + flits, flits] });
        told.into_iter().for_each(|wait| live.waits(wait));
        live.end().into_iter().map(|(_, event)| event.violation.found).collect()
    }

    #[test]
    fn a_wait_is_said_once_when_the_limit_is_reached() {
        let mut live = Liveness::new(LivenessLimits { flits: Some(10), time_fs: None });
        for flits in 11..21 {
            assert!(step(&mut live, flits, Some(wait(12, 0))).is_empty(), "{flits}");
        }
        let said = step(&mut live, 21, Some(wait(12, 0)));
        assert_eq!(said, ["12 M2S Req wait, 0 M2S Req credits since flit 4,711"]);
        assert!((22..90).all(|flits| step(&mut live, flits, Some(wait(13, 0))).is_empty()));
        // Progress and a wait that is over begin the time anew.
        assert!((90..100).all(|flits| step(&mut live, flits, Some(wait(13, 1))).is_empty()));
        assert!(step(&mut live, 100, None).is_empty());
        assert!((101..111).all(|flits| step(&mut live, flits, Some(wait(13, 1))).is_empty()));
        assert_eq!(step(&mut live, 111, Some(wait(13, 1))).len(), 1);
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1_000, 4_711, 131_072, u64::MAX].map(with_commas);
        assert_eq!(shown, ["0", "999", "1,000", "4,711", "131,072", "18,446,744,073,709,551,615"]);
    }
}
