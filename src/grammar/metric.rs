//! What components and links count: name, unit, meaning, and what a system makes of the counts of several of them.
//!
//! Each figure is declared once, by [`metrics!`] in the file of its kind. Summary, `--json`, comparisons
//! and `describe KIND` read that declaration. Left out: messages by layout, which the layouts themselves name, and spreads
//! of latencies.

/// What a system says where several components or links have a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Their sum.
    Sum,
    /// The largest one.
    Largest,
    /// The smallest one.
    Smallest,
    /// It is a state and no quantity: the system shows what all of them have, and nothing where they differ.
    Same,
}

impl Total {
    /// As reports and `describe` name it.
    pub const fn name(self) -> &'static str {
        match self {
            Total::Sum => "sum",
            Total::Largest => "largest",
            Total::Smallest => "smallest",
            Total::Same => "same",
        }
    }

    /// Of two figures; `None`: there is none.
    pub fn of(self, a: u64, b: u64) -> Option<u64> {
        match self {
            Total::Sum => Some(a.saturating_add(b)),
            Total::Largest => Some(a.max(b)),
            Total::Smallest => Some(a.min(b)),
            Total::Same => (a == b).then_some(a),
        }
    }
}

/// A figure that a component or a link has.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name in reports.
    pub name: &'static str,
    /// What one of it is.
    pub unit: &'static str,
    /// What a system says of it.
    pub total: Total,
    /// What it means.
    pub about: &'static str,
}

/// A figure and its value.
pub type MetricValue = (&'static Metric, u64);

/// Groups of figures that a kind can have, in the order of reports.
pub type Metrics = &'static [&'static [&'static Metric]];

/// Declares figures and the list of them:
///
/// ```text
/// metrics! {
///     /// What a host counts.
///     static METRICS {
///         READS = "reads" ["reads"] Sum, "lines read from memory";
///     }
/// }
/// ```
#[macro_export]
macro_rules! metrics {
    ($(#[$doc:meta])* $vis:vis static $all:ident {
        $($id:ident = $name:literal [$unit:literal] $total:ident, $about:literal;)*
    }) => {
        $(
            #[doc = concat!("Counts ", $about, ".")]
            $vis static $id: $crate::metric::Metric = $crate::metric::Metric {
                name: $name,
                unit: $unit,
                total: $crate::metric::Total::$total,
                about: $about,
            };
        )*
        $(#[$doc])*
        $vis static $all: &[&$crate::metric::Metric] = &[$(&$id),*];
    };
}

pub use crate::metrics;

metrics! {
    /// What every component has.
    pub static OF_COMPONENTS {
        BYTES = "bytes" ["bytes"] Sum, "data of completed reads and writes, from which goodput is computed";
        VIOLATIONS = "violations" ["violations"] Sum, "rules that were seen broken";
    }
}

metrics! {
    /// What every link has.
    pub static OF_LINKS {
        UNITS_DOWN = "flits down" ["flits"] Sum, "units that the end named first sent";
        UNITS_UP = "flits up" ["flits"] Sum, "units that the end named second sent";
        RETRIES = "retries" ["requests"] Sum, "times that a receiver asked for units again";
        DAMAGED = "damaged" ["flits"] Sum, "units that bit errors or faults damaged on the wire";
        CREDIT_STALLS = "credit stalls" ["flit clocks"] Sum, "flit clocks in which a message waited for a credit";
        LINK_VIOLATIONS = "violations" ["violations"] Sum, "rules that the ends saw broken";
    }
}

/// Adds counts to counts of a system, in the order in which names come first.
#[derive(Debug, Default)]
pub struct Totals(Vec<(&'static Metric, Option<u64>)>);

impl Totals {
    /// Adds those of a component or link.
    pub fn add(&mut self, counts: impl IntoIterator<Item = MetricValue>) {
        for (metric, n) in counts {
            match self.0.iter_mut().find(|(known, _)| known.name == metric.name) {
                Some((_, all)) => *all = all.and_then(|all| metric.total.of(all, n)),
                None => self.0.push((metric, Some(n))),
            }
        }
    }

    /// Those that the system has.
    pub fn counts(&self) -> impl Iterator<Item = MetricValue> {
        self.0.iter().filter_map(|(metric, n)| Some((*metric, (*n)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    metrics! {
        /// Figures of a test.
        static ALL {
            SUM = "a" ["things"] Sum, "things";
            MOST = "b" ["things"] Largest, "most things";
            LEAST = "c" ["things"] Smallest, "fewest things";
            STATE = "d" ["-"] Same, "a state";
            OTHER = "e" ["-"] Same, "another state";
        }
    }

    #[test]
    fn a_system_makes_of_each_figure_what_its_declaration_says() {
        let mut totals = Totals::default();
        totals.add(ALL.iter().map(|&metric| (metric, 3)));
        totals.add([(&SUM, 4), (&MOST, 4), (&LEAST, 4), (&STATE, 3), (&OTHER, 4)]);
        // Once two differ, a third one that equals the first changes nothing.
        totals.add([(&OTHER, 3)]);
        let shown: Vec<(&str, u64)> = totals.counts().map(|(metric, n)| (metric.name, n)).collect();
        assert_eq!(shown, [("a", 7), ("b", 4), ("c", 3), ("d", 3)]);
    }
}
