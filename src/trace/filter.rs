//! Which places and which times are written.

use super::Places;
use scalepool_ordered::OrderedSet;

/// A pattern over dotted paths.
///
/// `*` stands for any run of characters, dots included; every other character stands for itself. A pattern that matches
/// a path up to a dot takes everything below: `pod0.sw*` takes `pod0.sw3.port[1].rx`, `*.rx` takes every `rx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern; every text is one.
    pub fn new(pattern: &str) -> Glob {
        Glob(pattern.to_owned())
    }

    /// Whether it matches the path or a part of it that ends before a dot.
    pub fn matches(&self, path: &str) -> bool {
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| whole(self.0.as_bytes(), &path.as_bytes()[..end]))
    }
}

/// Whether a pattern matches a whole text: greedy, going back to the last star on a mismatch.
fn whole(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((star_p, star_t)) = star {
            star = Some((star_p, star_t + 1));
            p = star_p + 1;
            t = star_t + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// Places of a run at which somebody may look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WatchedPlaces {
    /// Any: nobody knows yet.
    #[default]
    All,
    /// Those that match one of the globs.
    Matching(Vec<Glob>),
}

impl WatchedPlaces {
    /// Whether nobody looks at any.
    pub fn is_nowhere(&self) -> bool {
        matches!(self, WatchedPlaces::Matching(globs) if globs.is_empty())
    }

    /// Whether somebody may look at a place.
    pub fn contains(&self, path: &str) -> bool {
        match self {
            WatchedPlaces::All => true,
            WatchedPlaces::Matching(globs) => globs.iter().any(|glob| glob.matches(path)),
        }
    }
}

/// Where a time stands to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before it.
    Before,
    /// In it.
    Within,
    /// Behind it.
    After,
}

/// A filter that lets nothing through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The window ends before it begins.
    #[error("trace window: found {from_fs} to {to_fs} fs, expected an end not before the start")]
    EmptyWindow {
        /// Start in femtoseconds.
        from_fs: u64,
        /// End in femtoseconds.
        to_fs: u64,
    },
    /// No place matches.
    #[error("trace scope: found no place for `{pattern}`, expected one of: {places}")]
    NoPlace {
        /// The pattern.
        pattern: String,
        /// The places there are.
        places: String,
    },
}

/// Scopes and a time window, for waves and JSON lines alike. `Default` lets everything through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFilter {
    scopes: Vec<Glob>,
    from_fs: u64,
    to_fs: u64,
}

impl Default for TraceFilter {
    fn default() -> TraceFilter {
        TraceFilter { scopes: Vec::new(), from_fs: 0, to_fs: u64::MAX }
    }
}

impl TraceFilter {
    /// Places that match one of the globs (all when there is none), times from `from_fs` to `to_fs`, both included.
    ///
    /// # Errors
    /// [`FilterError::EmptyWindow`].
    pub fn new(scopes: &[&str], from_fs: Option<u64>, to_fs: Option<u64>) -> Result<TraceFilter, FilterError> {
        let (from_fs, to_fs) = (from_fs.unwrap_or(0), to_fs.unwrap_or(u64::MAX));
        if to_fs < from_fs {
            return Err(FilterError::EmptyWindow { from_fs, to_fs });
        }
        Ok(TraceFilter { scopes: scopes.iter().map(|s| Glob::new(s)).collect(), from_fs, to_fs })
    }

    /// Which places are written, by ordinal.
    ///
    /// # Errors
    /// [`FilterError::NoPlace`] for a glob that matches none: a misspelt scope would give an empty file.
    pub fn select(&self, places: &Places) -> Result<Vec<bool>, FilterError> {
        for glob in &self.scopes {
            if !places.iter().any(|p| glob.matches(&p.path)) {
                // A path with flits and values is two places.
                let paths = places.iter().map(|p| p.path.as_str()).collect::<OrderedSet<_>>();
                let places = paths.into_iter().collect::<Vec<_>>().join(", ");
                return Err(FilterError::NoPlace { pattern: glob.0.clone(), places });
            }
        }
        let takes = |path: &str| self.scopes.is_empty() || self.scopes.iter().any(|g| g.matches(path));
        Ok(places.iter().map(|p| takes(&p.path)).collect())
    }

    /// Where a time stands.
    pub fn when(&self, t_fs: u64) -> When {
        match t_fs {
            t if t < self.from_fs => When::Before,
            t if t > self.to_fs => When::After,
            _ => When::Within,
        }
    }

    /// Start of the window in femtoseconds.
    pub fn from_fs(&self) -> u64 {
        self.from_fs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, path, matches) in [
            ("*", "a.b.c", true),
            ("a", "a.b.c", true),
            ("a.b", "a.b.c", true),
            ("a.b", "a.bb.c", false),
            ("b", "a.b.c", false),
            ("*.c", "a.b.c", true),
            ("*.c", "a.b.cc", false),
            ("a.*.c", "a.b.c", true),
            ("a*c", "a.b.c", true),
            ("*b*", "a.b.c", true),
            ("a.b.c.d", "a.b.c", false),
            ("pod0.sw*", "pod0.sw3.port[1].rx", true),
            ("*.port[1]", "pod0.sw3.port[1].rx", true),
            ("*.port[2]", "pod0.sw3.port[1].rx", false),
            ("*a*ab", "xaaab", true),
            ("", "a", false),
            ("**", "a", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), matches, "{pattern} on {path}");
        }
    }

    #[test]
    fn windows() {
        let filter = TraceFilter::new(&[], Some(10), Some(20)).unwrap();
        let found = [9, 10, 20, 21].map(|t| filter.when(t));
        assert_eq!(found, [When::Before, When::Within, When::Within, When::After]);
        let error = TraceFilter::new(&[], Some(2), Some(1)).unwrap_err().to_string();
        assert_eq!(error, "trace window: found 2 to 1 fs, expected an end not before the start");
    }
}
