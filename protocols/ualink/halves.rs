//! Data halves of a transaction, in little room.
//!
//! Modelled: any bytes. Two kinds of them take no memory of their own. Halves whose words of 8 bytes count up by 8 are kept as
//! their first word: memory that nothing has written reads so (each word its own address) wherever a model wants to see
//! reads that went astray, and most data of a run are such. Halves that a [`HalfSource`] can make again, such as a generator
//! of random numbers, are kept as their position in it: what originators write is drawn from one. There are hundreds of
//! transactions under way for each accelerator, whose data would else lie in boxes of their own.
//!
//! A walk: a half comes; if its words go on counting there is one half more, else all that came before is written out, and the
//! half behind it. Whoever asks for bytes gets them, whatever the form.

use super::half::{HALF_BYTES, Half};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// Bytes of a word.
const WORD_BYTES: u64 = 8;
/// Words of a half.
const HALF_WORDS: u64 = HALF_BYTES as u64 / WORD_BYTES;

/// Gives so many halves from a position on.
type ReadHalves = dyn Fn(u32, usize) -> Vec<Half> + Send + Sync;

/// An endless row of halves that can be read again from any position that was given out.
pub struct HalfSource {
    number: u16,
    read: Box<ReadHalves>,
}

impl HalfSource {
    /// A source by its number among those of a run. `read` gives so many halves from a position on, which counts halves.
    pub fn new(number: u16, read: impl Fn(u32, usize) -> Vec<Half> + Send + Sync + 'static) -> HalfSource {
        HalfSource { number, read: Box::new(read) }
    }

    /// Its number among those of a run.
    pub fn number(&self) -> u16 {
        self.number
    }
}

impl Debug for HalfSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HalfSource").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Data halves, two a beat. Those with equal bytes are equal, whatever their form.
#[derive(Debug, Clone)]
pub struct Halves(Form);

#[derive(Debug, Clone)]
enum Form {
    /// Little-endian words that count up from `first` on.
    Counting { first: u64, count: u8 },
    /// Those of a source from a position on.
    Drawn { source: Arc<HalfSource>, position: u32, count: u8 },
    /// Any others.
    Any(Box<AnyHalves>),
}

/// Halves of any bytes, in a box of their own: transactions whose halves are of another form are a third smaller so.
#[derive(Debug, Clone)]
struct AnyHalves(Vec<Half>);

impl Form {
    fn any(halves: Vec<Half>) -> Form {
        Form::Any(Box::new(AnyHalves(halves)))
    }
}

/// A half whose words count up.
fn counting(first: u64) -> Half {
    let mut half = [0; HALF_BYTES];
    for (n, word) in half.as_chunks_mut().0.iter_mut().enumerate() {
        *word = first.wrapping_add(WORD_BYTES * n as u64).to_le_bytes();
    }
    half
}

/// First word of half `n` of those that count up from `first` on.
fn first_word(first: u64, n: usize) -> u64 {
    first.wrapping_add(WORD_BYTES * HALF_WORDS * n as u64)
}

impl PartialEq for Halves {
    fn eq(&self, other: &Halves) -> bool {
        match (&self.0, &other.0) {
            (Form::Counting { first, count }, Form::Counting { first: other, count: others }) => {
                count == others && (first == other || *count == 0)
            }
            (
                Form::Drawn { source, position, count },
                Form::Drawn { source: other_source, position: other, count: others },
            ) if Arc::ptr_eq(source, other_source) && position == other => count == others,
            _ => self.len() == other.len() && self.bytes() == other.bytes(),
        }
    }
}

impl Eq for Halves {}

impl Halves {
    /// None.
    pub const NONE: Halves = Halves(Form::Counting { first: 0, count: 0 });

    /// So many whose words count up from `first` on.
    pub fn counting(first: u64, count: u8) -> Halves {
        Halves(Form::Counting { first, count })
    }

    /// So many of a source from a position on.
    pub fn drawn(source: Arc<HalfSource>, position: u32, count: u8) -> Halves {
        Halves(Form::Drawn { source, position, count })
    }

    /// The source that makes them, and the position of the first one; `None`: they have another form.
    pub fn source(&self) -> Option<(&Arc<HalfSource>, u32)> {
        match &self.0 {
            Form::Drawn { source, position, .. } => Some((source, *position)),
            _ => None,
        }
    }

    /// The number of the source that makes them, and the position of the first one; `None`: they have another form.
    pub fn drawn_at(&self) -> Option<(u16, u32)> {
        self.source().map(|(source, position)| (source.number, position))
    }

    /// The word from which on they are kept as words that count up; `None`: they have another form.
    pub fn first_word(&self) -> Option<u64> {
        match self.0 {
            Form::Counting { first, .. } => Some(first),
            _ => None,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Counting { count, .. } | Form::Drawn { count, .. } => usize::from(*count),
            Form::Any(any) => any.0.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Half `n`. Of those that are drawn, [`Halves::bytes`] gives all for the price of one.
    pub fn get(&self, n: usize) -> Option<Half> {
        match &self.0 {
            Form::Counting { first, count } => (n < usize::from(*count)).then(|| counting(first_word(*first, n))),
            Form::Drawn { .. } => self.bytes().get(n).copied(),
            Form::Any(any) => any.0.get(n).copied(),
        }
    }

    /// All of them.
    pub fn bytes(&self) -> Cow<'_, [Half]> {
        match &self.0 {
            Form::Counting { first, count } => {
                Cow::Owned((0..usize::from(*count)).map(|n| counting(first_word(*first, n))).collect())
            }
            Form::Drawn { source, position, count } => Cow::Owned((source.read)(*position, usize::from(*count))),
            Form::Any(any) => Cow::Borrowed(&any.0),
        }
    }

    /// All of them, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Half> + use<> {
        self.to_vec().into_iter()
    }

    /// All of them.
    pub fn to_vec(&self) -> Vec<Half> {
        self.bytes().into_owned()
    }

    /// So many of them from one on, all of which are there.
    pub fn part(&self, from: u8, count: u8) -> Halves {
        debug_assert!(usize::from(from) + usize::from(count) <= self.len(), "they are there");
        let all = usize::from(from)..usize::from(from) + usize::from(count);
        match &self.0 {
            _ if count == 0 => Halves::NONE,
            Form::Counting { first, .. } => Halves::counting(first_word(*first, from.into()), count),
            Form::Drawn { source, position, .. } => Halves::drawn(source.clone(), position + u32::from(from), count),
            Form::Any(any) => any.0.get(all).unwrap_or_default().to_vec().into(),
        }
    }

    /// Adds one. If they take memory, it is enough for `room` of them, and no more: they may wait for long.
    pub fn push(&mut self, half: Half, room: usize) {
        if let Form::Counting { first, count } = &mut self.0 {
            let due = match *count {
                0 => half.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)),
                n => first_word(*first, n.into()),
            };
            if *count < u8::MAX && half == counting(due) {
                *first = if *count == 0 { due } else { *first };
                *count += 1;
                return;
            }
        }
        if let Form::Any(any) = &mut self.0 {
            any.0.push(half);
        } else {
            let mut halves = Vec::with_capacity(room.max(self.len() + 1));
            halves.extend_from_slice(&self.bytes());
            halves.push(half);
            self.0 = Form::any(halves);
        }
    }

    /// Keeps them as bytes, for whoever reads them one by one.
    pub fn keep_bytes(&mut self) {
        if !matches!(self.0, Form::Any(_)) {
            self.0 = Form::any(self.to_vec());
        }
    }

    /// Changes them.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Half>)) {
        let mut halves = self.to_vec();
        change(&mut halves);
        *self = halves.into();
    }
}

impl From<Vec<Half>> for Halves {
    fn from(all: Vec<Half>) -> Halves {
        let first = all.first().and_then(|half| half.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word));
        match u8::try_from(all.len()) {
            Ok(count) if all.iter().enumerate().all(|(n, half)| *half == counting(first_word(first, n))) => {
                Halves::counting(first, count)
            }
            _ => Halves(Form::any(all)),
        }
    }
}

impl FromIterator<Half> for Halves {
    fn from_iter<I: IntoIterator<Item = Half>>(all: I) -> Halves {
        all.into_iter().collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source 9, of which half `n` is full of its number.
    fn numbered() -> Arc<HalfSource> {
        Arc::new(HalfSource::new(9, |position, count| {
            (position..).take(count).map(|n| [n as u8; HALF_BYTES]).collect()
        }))
    }

    /// Halves of each form and the same as bytes are equal, part by part, and stay so when one is added.
    #[test]
    fn every_form_reads_as_its_bytes() {
        assert_eq!(size_of::<Halves>(), 16, "thousands of them wait in queues");
        let forms = [
            Halves::NONE,
            Halves::counting(u64::MAX - 40, 8),
            Halves::drawn(numbered(), 5, 8),
            Halves::drawn(numbered(), 0, 1),
        ];
        for form in &forms {
            let mut bytes = form.clone();
            bytes.keep_bytes();
            assert!(matches!(bytes.0, Form::Any(_)));
            assert_eq!((form, form.len()), (&bytes, bytes.len()));
            for n in 0..=form.len() {
                assert_eq!(form.get(n), bytes.get(n));
                let (from, count) = (n as u8, (form.len() - n) as u8);
                assert_eq!(form.part(from, count), bytes.part(from, count));
                assert_eq!(form.part(0, from).to_vec(), bytes.to_vec()[..n]);
            }
            let (mut more, mut longer) = (form.clone(), bytes.to_vec());
            more.push([0x5a; HALF_BYTES], 9);
            longer.push([0x5a; HALF_BYTES]);
            assert_eq!((more.to_vec(), &more == form), (longer, false));
        }
        assert_eq!(forms[2].part(3, 2).drawn_at(), Some((9, 8)));
        assert_ne!(forms[2], forms[2].part(0, 7));
        assert_ne!(forms[2].part(0, 7), forms[2].part(1, 7));
        assert_eq!(Halves::counting(7, 0), Halves::NONE, "no halves are equal wherever they would begin");
    }

    /// More halves than a count of 8 bits takes become bytes.
    #[test]
    fn any_number_of_halves_is_kept() {
        let all: Vec<Half> = (0..300).map(|n| counting(first_word(64, n))).collect();
        let mut pushed = Halves::NONE;
        all.iter().for_each(|half| pushed.push(*half, 0));
        assert_eq!((pushed.to_vec(), Halves::from(all.clone())), (all, pushed));
    }
}
