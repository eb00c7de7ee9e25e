//! Answers in the order of the questions, each when it is complete.

use super::decode::to_json;
use crate::FormError;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::stream::UalDecodedFlit;
use scalepool_protocols::wire::Findings;
use serde_json::Value;
use std::collections::VecDeque;

/// The object of a flit and what is wrong with it, or why a line could not be read.
pub type UalFlitAnswer = Result<(Value, Findings), FormError>;

/// Most flits that are kept back. Behind so many NOPs the first one is answered without the rest of its TL flit, which is
/// then shown in the flit that brings it.
const MOST_KEPT: usize = 4096;

/// A flit with its place in the stream.
#[derive(Debug, Clone)]
struct AnsweredFlit {
    dir: Dir,
    index: u64,
    decoded: UalDecodedFlit,
    /// Its last TL flit goes on.
    waits: bool,
}

/// Flits and errors that have not been answered.
#[derive(Debug, Clone, Default)]
pub struct Answers(VecDeque<Result<AnsweredFlit, FormError>>);

impl Answers {
    /// The next flit of a stream.
    pub fn flit(&mut self, dir: Dir, index: u64, mut decoded: UalDecodedFlit) -> Vec<UalFlitAnswer> {
        let good = decoded.is_good();
        // A flit that is not used shows what it would have finished nowhere: it comes again.
        if let Some(finished) = decoded.finished.take().filter(|_| good) {
            let waiting = self.0.iter_mut().flatten().find(|entry| entry.waits && entry.dir == dir);
            match waiting.map(|entry| (entry.decoded.tl.last_mut(), &mut entry.waits)) {
                Some((Some(last), waits)) => {
                    *last = finished;
                    *waits = false;
                }
                _ => decoded.tl.insert(0, finished),
            }
        }
        let waits = good && decoded.goes_on();
        self.0.push_back(Ok(AnsweredFlit { dir, index, decoded, waits }));
        if self.0.len() > MOST_KEPT
            && let Some(Ok(first)) = self.0.front_mut()
        {
            first.waits = false;
        }
        self.due()
    }

    /// A flit whose place in the stream is not known.
    pub fn alone(&mut self, dir: Dir, index: u64, decoded: UalDecodedFlit) -> Vec<UalFlitAnswer> {
        self.0.push_back(Ok(AnsweredFlit { dir, index, decoded, waits: false }));
        self.due()
    }

    /// The stream goes on at another place: what waits is answered as it is.
    pub fn abandon(&mut self) {
        self.0.iter_mut().flatten().for_each(|entry| entry.waits = false);
    }

    /// A line that could not be read.
    pub fn error(&mut self, error: FormError) -> Vec<UalFlitAnswer> {
        self.0.push_back(Err(error));
        self.due()
    }

    /// The end: what waits is answered as it is.
    pub fn finish(&mut self) -> Vec<UalFlitAnswer> {
        self.abandon();
        self.due()
    }

    fn due(&mut self) -> Vec<UalFlitAnswer> {
        let count = self.0.iter().take_while(|entry| !entry.as_ref().is_ok_and(|e| e.waits)).count();
        self.0.drain(..count).map(|entry| entry.map(|e| to_json(&e.decoded, e.dir, e.index))).collect()
    }
}
