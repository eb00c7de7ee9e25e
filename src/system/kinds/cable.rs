//! What lies between the two ends of a link: a cable of some length and medium, with retimers.
//!
//! Modelled: the time that a unit takes over the medium and through the retimers, in addition to what a link states as the delay of its
//! wire. Detail: a constant in both directions. Left out: loss, and with it how long a medium may be at a rate; bit errors of the line
//! have a setting of their own. Retimers change nothing of what they pass on.
//!
//! A walk: a link asks for `Cable::delay_fs` once, when it is built.

use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::quantity::Unit;

/// A medium, and its delay a metre \[fs\]. General knowledge of the field (mark C): the inverse of the speed of light times the square
/// root of the permittivity, which is about 1.9 for twinaxial copper, 2.15 for fibre (index 1.468) and 4.2 for boards of glass and resin.
const MEDIA: [(&str, u64); 3] = [("copper", 4_600_000), ("fibre", 4_900_000), ("board", 6_800_000)];
const MEDIUM_NAMES: &[&str] = &[MEDIA[0].0, MEDIA[1].0, MEDIA[2].0];

config! {
    /// A cable.
    pub struct Cable {
        length: f64 = "0" [Unit::Of("m")] in FieldRange::Real(0.0, 100.0), "length of the cable, whose delay comes on top";
        medium: String = "copper" [Unit::Of("-")] in FieldRange::Words(MEDIUM_NAMES), "medium of `length`: copper (4.6 ns a metre), fibre (4.9 ns) or a board (6.8 ns)";
        retimers: u64 = "0" [Unit::Of("retimers")] in FieldRange::Int(0, 4), "retimers on the way";
        retimer: u64 = "60 ns" [Unit::Time] in FieldRange::Int(0, 200_000_000), "delay of each retimer (fabric §5, the limit)";
    }
}

impl Cable {
    /// Time over the cable and through the retimers \[fs\].
    pub(super) fn delay_fs(&self) -> u64 {
        self.over_length_fs() + self.retimers * self.retimer
    }

    /// The setting that delays most: of the cable, or one of the link's own with its delay \[fs\]; of several the last.
    pub(super) fn slowest<const N: usize>(&self, own: [(&'static str, u64); N]) -> &'static str {
        let of_cable = [("length", self.over_length_fs()), ("retimers", self.retimers * self.retimer)];
        of_cable.into_iter().chain(own).max_by_key(|(_, fs)| *fs).map_or("length", |(name, _)| name)
    }

    /// Says that a link takes longer one way than a protocol bears; `own` are its delays beside the cable.
    pub(super) fn too_long<const N: usize>(
        &self,
        own: [(&'static str, u64); N],
        (way_fs, most_fs): (u64, u64),
        why: &str,
    ) -> Option<ConfigFinding> {
        let [way, most] = [way_fs, most_fs].map(|fs| Unit::Time.shown(fs));
        let text = || format!("found {way} one way, expected at most {most}: {why}");
        (way_fs > most_fs).then(|| (self.slowest(own), text()))
    }

    fn over_length_fs(&self) -> u64 {
        let per_metre_fs = MEDIA.iter().find(|(name, _)| *name == self.medium).map_or(0, |(_, fs)| *fs);
        // A product below 2^53, rounded to the nearest femtosecond: the same on any machine.
        (self.length * per_metre_fs as f64).round() as u64
    }
}
