//! What passes at a link end by the codes of its protocol, in the form that `scalepool coverage` reads.
//!
//! A passive end counts the units of both directions that their receivers take; an active one of CXL counts what has come. Broken
//! rules are counted by their id; what the link repairs by itself is none.

use super::config::CapiEndConfig;
use super::event::CapiEvent;
use scalepool::export::coverage::CoverageReport;
use scalepool::link::coverage::Met;
use scalepool::link::event::Severity;
use scalepool::link::hook::Direction;
use scalepool::link::link_coverage::LinkCoverage;
use serde_json::Value;

/// Counts of one end.
pub struct EndCoverage {
    /// Of both directions, for a passive end.
    units: Option<LinkCoverage>,
    /// Of an active end before its last reset.
    earlier: Vec<Met>,
    broken: CoverageReport,
    source: String,
}

impl EndCoverage {
    /// Nothing has passed; `None` where the configuration does not ask for it.
    pub fn new(config: &CapiEndConfig) -> Option<EndCoverage> {
        let kind = if config.passive { "passive" } else { "active" };
        let source = format!("{kind} end, {} {}", config.protocol.name(), config.dir.name());
        let units = config.protocol.messages().filter(|_| config.passive).map(LinkCoverage::new);
        config.coverage.then(|| EndCoverage { units, earlier: Vec::new(), broken: CoverageReport::default(), source })
    }

    /// A unit that its receiver takes.
    pub fn unit(&mut self, config: &CapiEndConfig, way: Direction, unit: &[u8]) {
        let dir = if way == Direction::Tx { config.dir } else { config.dir.opposite() };
        if let Some(units) = &mut self.units {
            // Units were checked when they were driven.
            let _ = units.unit(dir, unit);
        }
    }

    /// Broken rules.
    pub fn events(&mut self, events: &[CapiEvent]) {
        let broken = events.iter().filter(|event| event.event.severity != Severity::Corrected);
        broken.for_each(|event| self.broken.add_broken(event.event.violation.rule, 1));
    }

    /// The end begins anew; `active` is what an active one had counted itself.
    pub fn restart(&mut self, active: &[Met]) {
        self.units.iter_mut().for_each(LinkCoverage::restart);
        if self.earlier.is_empty() {
            self.earlier = active.to_vec();
        } else {
            self.earlier.iter_mut().zip(active).for_each(|(earlier, met)| earlier.add(met));
        }
    }

    /// The form; `active` is what an active end has counted itself.
    pub fn json(&self, active: &[Met]) -> Value {
        let mut report = CoverageReport::of(self.source.clone());
        let of_units = self.units.as_ref().map(LinkCoverage::met).unwrap_or_default();
        for Met { protocol, group, bins } in self.earlier.iter().chain(active).chain(&of_units) {
            report.add(protocol, group, bins.iter().map(|(name, hits)| (name.as_str(), *hits)));
        }
        report.merge(&CoverageReport { sources: Vec::new(), ..self.broken.clone() });
        report.to_value()
    }
}
