//! Health of a link end: figures that every end fills from one table, and waits that never end.
//!
//! Modelled: the figures of [`figures::FIGURES`], as far as a protocol has them. An active end knows all of its own; the watcher
//! of an end knows what the units of both directions show. [`liveness`] tells what an end has waited for too long, and
//! [`retimer`] what stands between two ends and does more than to pass flits on. Left out: what happens below flits.
//!
//! Time is counted in flits: the flit clocks of whoever drives an active end. A watcher has no clock of its own; its time is the
//! number of flits of that direction which has carried more, or the flit clock of its caller where that is further.
//!
//! A walk: whoever drives an end calls [`StateTimes::pass`] with the states that the end was in since the last flit clock; at
//! any time [`LinkHealth`] is filled, figure by figure, and shown as [`LinkHealth::json`] or [`LinkHealth::rows`].

pub mod figures;
pub mod liveness;
pub mod retimer;
pub mod states;

pub use figures::{FIGURES, FigureShape, HealthFigure};
pub use states::{HealthStates, StateTimes};

use scalepool_forms::Object;
use serde_json::Value;

/// Value of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthValue {
    /// Of a count or level.
    Number(u64),
    /// Of a name.
    Name(&'static str),
    /// Of channels or states, by name.
    Each(Vec<(String, u64)>),
}

/// The figures of one end at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkHealth {
    values: Vec<(&'static HealthFigure, HealthValue)>,
}

impl LinkHealth {
    fn put(&mut self, figure: &'static HealthFigure, value: HealthValue) {
        debug_assert!(self.of(figure).is_none(), "{} is filled once", figure.name);
        self.values.push((figure, value));
    }

    /// Fills a count or level.
    pub fn number(&mut self, figure: &'static HealthFigure, value: impl Into<u64>) {
        debug_assert!(matches!(figure.shape, FigureShape::Count | FigureShape::Level), "{}", figure.name);
        self.put(figure, HealthValue::Number(value.into()));
    }

    /// Fills a name.
    pub fn name(&mut self, figure: &'static HealthFigure, name: &'static str) {
        debug_assert_eq!(figure.shape, FigureShape::Name, "{}", figure.name);
        self.put(figure, HealthValue::Name(name));
    }

    /// Fills a figure of channels or states.
    pub fn each(&mut self, figure: &'static HealthFigure, values: impl IntoIterator<Item = (impl Into<String>, u64)>) {
        debug_assert!(matches!(figure.shape, FigureShape::ByChannel | FigureShape::ByState), "{}", figure.name);
        let values = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        self.put(figure, HealthValue::Each(values));
    }

    /// The value of a figure; `None`: this end does not have it.
    pub fn of(&self, figure: &HealthFigure) -> Option<&HealthValue> {
        self.values.iter().find(|(of, _)| of.name == figure.name).map(|(_, value)| value)
    }

    /// The value of a count or level; 0 where this end does not have it.
    pub fn number_of(&self, figure: &HealthFigure) -> u64 {
        match self.of(figure) {
            Some(HealthValue::Number(value)) => *value,
            _ => 0,
        }
    }

    /// The figures that this end has, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static HealthFigure, &HealthValue)> {
        FIGURES.iter().filter_map(|&figure| Some((figure, self.of(figure)?)))
    }

    /// The figures as an object, in the order of the table.
    pub fn json(&self) -> Object {
        let value = |value: &HealthValue| match value {
            HealthValue::Number(number) => (*number).into(),
            HealthValue::Name(name) => (*name).into(),
            HealthValue::Each(each) => Value::Object(each.iter().map(|(k, n)| (k.clone(), (*n).into())).collect()),
        };
        self.iter().map(|(figure, of)| (figure.name.to_owned(), value(of))).collect()
    }

    /// The figures as rows of a table for people: name, value, unit. Channels and states that have 0 are left out.
    pub fn rows(&self) -> impl Iterator<Item = [String; 3]> {
        self.iter().map(|(figure, value)| {
            let value = match value {
                HealthValue::Number(number) => number.to_string(),
                HealthValue::Name(name) => (*name).to_owned(),
                HealthValue::Each(each) => {
                    let told = each.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}"));
                    let told = told.collect::<Vec<_>>().join(", ");
                    if told.is_empty() { "none".into() } else { told }
                }
            };
            let unit = if figure.unit == "-" { "" } else { figure.unit };
            [figure.name.to_owned(), value, unit.to_owned()]
        })
    }
}

/// Key of a channel in [`LinkHealth`]: the name of its layout without that of the family.
pub fn channel_key(layout: &str) -> &str {
    layout.split_once('.').map_or(layout, |(_, name)| name)
}

/// Name of a channel of CXL in texts, such as `M2S RwD`, from that of its layout.
pub fn channel_name(layout: &str) -> String {
    let key = channel_key(layout);
    let (way, kind) = key.split_once('_').unwrap_or((key, ""));
    let kind = match kind {
        "rwd" => "RwD".to_owned(),
        "ndr" | "drs" => kind.to_uppercase(),
        "bisnp" => "BISnp".to_owned(),
        "birsp" => "BIRsp".to_owned(),
        other => other[..1.min(other.len())].to_uppercase() + &other[1.min(other.len())..],
    };
    format!("{} {kind}", way.to_uppercase()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_distinct_names_and_all_columns() {
        for (n, figure) in FIGURES.iter().enumerate() {
            assert!(FIGURES[..n].iter().all(|other| other.name != figure.name), "{}", figure.name);
            let is_key = figure.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(is_key && !figure.unit.is_empty() && !figure.meaning.is_empty(), "{}", figure.name);
            assert!(figure.source.contains('§'), "{}", figure.name);
        }
    }

    #[test]
    fn channels_are_named_as_the_sheets_do() {
        let named = ["cxl68.m2s_req", "cxl256.m2s_rwd", "cxlpbr.s2m_ndr", "cxl256.m2s_birsp", "vc0"].map(channel_name);
        assert_eq!(named, ["M2S Req", "M2S RwD", "S2M NDR", "M2S BIRsp", "VC0"]);
        assert_eq!(channel_key("cxl68.m2s_req"), "m2s_req");
    }
}
