//! Why nothing is shown of a rule that no flits, messages or commands of somebody else can break.
//!
//! The texts stand in `reasons.txt`, a line for an area or for a rule; that of a rule goes first.

const TEXT: &str = include_str!("reasons.txt");

/// What each line is about, an area or a rule, and the reason.
pub(super) fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('|')).map(|(of, reason)| (of.trim(), reason.trim()))
}

/// The reason of a rule or of its area.
pub(super) fn of(rule: &str) -> Option<&'static str> {
    let of_area = rule.rsplit_once('-').map(|(area, _)| area);
    let found = |of: &str| lines().find(|(about, _)| *about == of).map(|(_, reason)| reason);
    found(rule).or_else(|| of_area.and_then(found))
}
