//! Conditions on outcomes: `exists (0:EAX=0 /\ (x=1 \/ ~(1:EBX=2)))`.

/// A condition; atoms name what an outcome has by its place there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::litmus) enum Condition {
    Known(bool),
    Equals(usize, u32),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    /// Whether it holds in an outcome.
    pub fn holds(&self, outcome: &[u32]) -> bool {
        match self {
            Condition::Known(known) => *known,
            Condition::Equals(place, value) => outcome.get(*place) == Some(value),
            Condition::Not(inner) => !inner.holds(outcome),
            Condition::All(parts) => parts.iter().all(|part| part.holds(outcome)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(outcome)),
        }
    }

    /// The same with places renamed.
    pub fn renamed(self, to: &[usize]) -> Self {
        let all = |parts: Vec<Condition>| parts.into_iter().map(|part| part.renamed(to)).collect();
        match self {
            Condition::Known(known) => Condition::Known(known),
            Condition::Equals(place, value) => Condition::Equals(to[place], value),
            Condition::Not(inner) => Condition::Not(Box::new(inner.renamed(to))),
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
        }
    }
}
