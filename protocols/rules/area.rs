//! Areas of rules: what the rules of an area are about, what usually breaks them, and what to look at then.
//!
//! An area is what the ids of its rules have in common, `CXL68-CRD` of `CXL68-CRD-04`. The texts stand in `areas.txt`, a line each;
//! they are experience and no part of a protocol.

/// What the rules of an area have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleArea {
    /// `FAMILY-AREA`.
    pub id: &'static str,
    /// What its rules are about.
    pub about: &'static str,
    /// What usually breaks them, and what to look at then.
    pub advice: RuleAdvice,
}

/// For whoever has broken a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleAdvice {
    /// What usually breaks rules of the area.
    pub cause: &'static str,
    /// What to look at.
    pub remedy: &'static str,
}

const TEXT: &str = include_str!("areas.txt");

/// All areas, in the order of their rules.
pub fn all() -> impl Iterator<Item = RuleArea> {
    TEXT.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut parts = line.split('|').map(str::trim);
        let (id, about) = (parts.next()?, parts.next()?);
        let advice = RuleAdvice { cause: parts.next()?, remedy: parts.next()? };
        Some(RuleArea { id, about, advice })
    })
}

/// The area of a rule.
pub fn of(rule: &str) -> Option<RuleArea> {
    let (area, _) = rule.rsplit_once('-')?;
    all().find(|one| one.id == area)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each rule has an area, each area rules, and no line is misread.
    #[test]
    fn every_rule_has_an_area() {
        let of_rules: BTreeSet<&str> =
            crate::rules::all().filter_map(|rule| Some(rule.id.rsplit_once('-')?.0)).collect();
        let areas: Vec<&str> = all().map(|area| area.id).collect();
        let differ: Vec<_> =
            areas.iter().copied().collect::<BTreeSet<_>>().symmetric_difference(&of_rules).copied().collect();
        assert!(differ.is_empty(), "areas without rules, or rules without an area: {differ:?}");
        assert_eq!(areas.len(), of_rules.len(), "an area stands twice");
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        for (line, area) in lines.zip(all()) {
            let parts = line.split('|').filter(|part| !part.trim().is_empty()).count();
            assert_eq!((parts, line.split('|').next().map(str::trim)), (4, Some(area.id)), "{line}");
        }
        assert_eq!(of("CXL68-CRD-04").map(|area| area.id), Some("CXL68-CRD"));
        assert!(of("nothing").is_none() && of("A-B-1").is_none());
    }
}
