//! Numbers by which agents tell one another apart, and sets of them.
//!
//! Modelled: ports of an agent, which are the numbers of the hosts or devices behind them, and sets of such numbers: who may hold
//! a line, whose answer is missing. Detail: a set of numbers below 64, as every search has, is one word; above that it is a
//! list of words, so that a device can track as many hosts as a fabric has ports. Left out: the identifiers on a wire, which
//! are those of a [`PeerRoute`](scalepool_protocols::cxl::message::PeerRoute), and their limits, which are those of the
//! agents (a CacheID has 4 bits).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Which link of an agent, 0 to [`MOST_PORTS`] - 1: a device has port 0, a home one port for each device or host below it.
pub type AgentPort = u16;

/// Most ports of an agent: a fabric tells its edge ports apart by SPID and DPID, which have 12 bits (`cxl-256b` §3.2).
pub const MOST_PORTS: usize = 1 << 12;

/// Members of an [`IdSet`] that one word holds.
const WORD: AgentPort = u64::BITS as AgentPort;

/// Members of a list that a person is shown.
const SHOWN: usize = 8;

/// A set of ports, or of agents by number. Equal sets are equal, hash alike and have one order, whatever was in them before.
#[derive(Clone, PartialEq, Eq)]
pub struct IdSet(IdWords);

#[derive(Clone, PartialEq, Eq)]
enum IdWords {
    /// Members 0 to 63, a bit each.
    One(u64),
    /// Member n is bit n % 64 of word n / 64. There are at least two words, and the last one is not 0.
    Many(Box<[u64]>),
}

impl IdSet {
    /// Nobody.
    pub const EMPTY: Self = Self::of_bits(0);

    /// Members 0 to 63, a bit each.
    pub const fn of_bits(bits: u64) -> Self {
        Self(IdWords::One(bits))
    }

    /// One member.
    pub fn one(id: AgentPort) -> Self {
        let mut set = Self::EMPTY;
        set.insert(id);
        set
    }

    fn words(&self) -> &[u64] {
        match &self.0 {
            IdWords::One(word) => std::slice::from_ref(word),
            IdWords::Many(words) => words,
        }
    }

    /// Of words from the lowest on, as many as are needed.
    fn of_words(words: &[u64]) -> Self {
        match words.iter().rposition(|word| *word != 0) {
            None => Self::EMPTY,
            Some(0) => Self::of_bits(words[0]),
            Some(last) => Self(IdWords::Many(words[..=last].into())),
        }
    }

    /// Whether it is a member.
    pub fn has(&self, id: AgentPort) -> bool {
        self.words().get(usize::from(id / WORD)).is_some_and(|word| word >> (id % WORD) & 1 == 1)
    }

    /// Adds a member.
    pub fn insert(&mut self, id: AgentPort) {
        let (at, bit) = (usize::from(id / WORD), 1 << (id % WORD));
        match &mut self.0 {
            IdWords::One(word) if at == 0 => *word |= bit,
            IdWords::Many(words) if at < words.len() => words[at] |= bit,
            _ => {
                let mut words = self.words().to_vec();
                words.resize(at + 1, 0);
                words[at] |= bit;
                self.0 = IdWords::Many(words.into());
            }
        }
    }

    /// Removes a member, if it is one.
    pub fn remove(&mut self, id: AgentPort) {
        match &mut self.0 {
            IdWords::One(word) if id < WORD => *word &= !(1 << id),
            IdWords::One(_) => {}
            IdWords::Many(words) => {
                if let Some(word) = words.get_mut(usize::from(id / WORD)) {
                    *word &= !(1 << (id % WORD));
                    if words.last() == Some(&0) {
                        *self = Self::of_words(self.words());
                    }
                }
            }
        }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, id: AgentPort) -> Self {
        self.insert(id);
        self
    }

    /// The same without one.
    #[must_use]
    pub fn without(mut self, id: AgentPort) -> Self {
        self.remove(id);
        self
    }

    /// Adds all members of another set.
    pub fn add_all(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (IdWords::One(own), IdWords::One(other)) => *own |= other,
            _ => {
                let mut words = vec![0; self.words().len().max(other.words().len())];
                for set in [&*self, other] {
                    words.iter_mut().zip(set.words()).for_each(|(word, more)| *word |= more);
                }
                *self = Self::of_words(&words);
            }
        }
    }

    /// Those members that are not in another set.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        if let (IdWords::One(own), IdWords::One(other)) = (&self.0, &other.0) {
            return Self::of_bits(own & !other);
        }
        let mut words = self.words().to_vec();
        words.iter_mut().zip(other.words()).for_each(|(word, gone)| *word &= !gone);
        Self::of_words(&words)
    }

    /// Whether it has a member of another set.
    pub fn meets(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).any(|(own, other)| own & other != 0)
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, IdWords::One(0))
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The lowest member.
    pub fn first(&self) -> Option<AgentPort> {
        self.iter().next()
    }

    /// Its members, the lowest first.
    pub fn iter(&self) -> Ids<'_> {
        Ids { words: self.words(), at: 0, left: self.words()[0] }
    }
}

impl Default for IdSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<AgentPort> for IdSet {
    fn from_iter<T: IntoIterator<Item = AgentPort>>(ids: T) -> Self {
        ids.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// As the numbers whose bits are the members: the highest member that one of two sets lacks decides.
impl Ord for IdSet {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, other) = (self.words(), other.words());
        own.len().cmp(&other.len()).then_with(|| own.iter().rev().cmp(other.iter().rev()))
    }
}

impl PartialOrd for IdSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One word for a set of one word: it goes into the fingerprint of every state of a search. No hash is the beginning of another.
impl Hash for IdSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            IdWords::One(word) if *word != u64::MAX => state.write_u64(*word),
            _ => {
                state.write_u64(u64::MAX);
                self.words().hash(state);
            }
        }
    }
}

/// Members of a set, the lowest first.
#[derive(Debug, Clone)]
pub struct Ids<'a> {
    words: &'a [u64],
    at: usize,
    left: u64,
}

impl Iterator for Ids<'_> {
    type Item = AgentPort;

    fn next(&mut self) -> Option<AgentPort> {
        while self.left == 0 {
            self.at += 1;
            self.left = *self.words.get(self.at)?;
        }
        let bit = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(self.at as AgentPort * WORD + bit as AgentPort)
    }
}

impl<'a> IntoIterator for &'a IdSet {
    type Item = AgentPort;
    type IntoIter = Ids<'a>;

    fn into_iter(self) -> Ids<'a> {
        self.iter()
    }
}

impl fmt::Debug for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// The lowest members, and how many there are besides.
impl IdSet {
    /// In words, such as `host 0` or `hosts 0, 2`.
    pub fn named(&self, what: &str) -> String {
        match self.len() {
            0 => format!("no {what}"),
            1 => format!("{what} {self}"),
            _ => format!("{what}s {self}"),
        }
    }
}

impl fmt::Display for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, id) in self.iter().take(SHOWN).enumerate() {
            write!(f, "{}{id}", if n > 0 { ", " } else { "" })?;
        }
        match self.len() {
            0 => f.write_str("none"),
            len if len > SHOWN => write!(f, " and {} more", len - SHOWN),
            _ => Ok(()),
        }
    }
}
