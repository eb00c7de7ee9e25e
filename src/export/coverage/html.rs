//! Coverage as one page without scripts: a table of groups, each opened to its bins, holes first in sight.

use super::CoverageReport;
use super::xml::escaped;
use scalepool_protocols::rules;
use std::fmt::Write;

const STYLE: &str = "\
body { font: 14px/1.4 system-ui, sans-serif; color: #1c2430; margin: 24px; max-width: 70em; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: 2px 10px 2px 0; border-bottom: 1px solid #e1e5ea; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; padding: 4px 0; }
meter { width: 12em; vertical-align: middle; }
tr.hole td { background: #fde7e5; }
";

/// The page.
pub fn page(report: &CoverageReport) -> String {
    let mut out = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Coverage</title>\n",
    );
    // Writing to a String cannot fail.
    let _ = writeln!(out, "<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Coverage</h1>");
    let (met, of) = report.groups.iter().fold((0, 0), |(met, of), group| (met + group.met(), of + group.bins.len()));
    let _ = writeln!(out, "<p>{met} of {of} bins in {} groups were met.</p>", report.groups.len());
    let _ = writeln!(out, "<h2>Runs</h2>\n<ul>");
    for source in &report.sources {
        let _ = writeln!(out, "<li>{}</li>", escaped(source));
    }
    let _ = writeln!(out, "</ul>\n<h2>Groups</h2>");
    for group in &report.groups {
        let (met, of) = (group.met(), group.bins.len());
        let name = format!("{}: {}", escaped(&group.protocol), escaped(&group.name));
        let meter = format!("<meter min=\"0\" max=\"{}\" value=\"{met}\"></meter>", of.max(1));
        let _ = writeln!(out, "<details>\n<summary>{meter} {name}: {met} of {of}</summary>\n<table>");
        let _ = writeln!(out, "<tr><th>bin</th><th class=\"number\">hits</th></tr>");
        let (holes, hit): (Vec<_>, Vec<_>) = group.bins.iter().partition(|bin| bin.hits == 0);
        for bin in holes.into_iter().chain(hit) {
            let class = if bin.hits == 0 { " class=\"hole\"" } else { "" };
            let name = escaped(&bin.name);
            let _ = writeln!(out, "<tr{class}><td>{name}</td><td class=\"number\">{}</td></tr>", bin.hits);
        }
        let _ = writeln!(out, "</table>\n</details>");
    }
    let _ = writeln!(
        out,
        "<h2>Broken rules</h2>\n<table>\n<tr><th>rule</th><th>text</th><th class=\"number\">times</th></tr>"
    );
    for (rule, times) in &report.broken {
        let text = rules::find(rule).map_or("", |rule| rule.text);
        let (rule, text) = (escaped(rule), escaped(text));
        let _ = writeln!(out, "<tr><td>{rule}</td><td>{text}</td><td class=\"number\">{times}</td></tr>");
    }
    out.push_str("</table>\n</body>\n</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_come_first_and_nothing_ends_a_tag() {
        let mut report = CoverageReport::of("<script>");
        report.add("cxl-68b", "g", [("met <b>", 3), ("hole", 0)]);
        let page = page(&report);
        assert!(!page.contains("<script>") && !page.contains("met <b>"));
        let at = |text: &str| page.find(text).expect("it is there");
        assert!(at("hole</td>") < at("met &lt;b&gt;</td>"));
        assert!(page.contains("1 of 2 bins in 1 groups were met."));
    }
}
