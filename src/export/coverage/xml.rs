//! Coverage for other tools: the XML of cocotb-coverage, and UCIS XML.
//!
//! Modelled: in both, a protocol holds groups, a group holds bins with hits. cocotb-coverage: elements named after their scopes,
//! `abs_name`, `size`, `coverage`, `cover_percentage` (seen in files of cocotb-coverage 2.0), so that its `merge_coverage` adds them
//! to those of a test bench. UCIS: the interchange form of Accellera UCIS 1.0, chapter 9: one instance for each protocol, one covergroup
//! for each group. Left out: places in source files, of which there are none, and the date, which is a fixed one, so that the
//! same coverage gives the same bytes.

use super::{CoverageReport, CoveredGroup};
use std::fmt::Write;

/// A text as the value of an attribute. Characters that XML 1.0 has no place for become `?`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// A name as that of an element, and as a part of a dotted name.
fn element(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("g_{plain}") }
}

/// Protocols in the order in which groups name them, with their groups.
fn by_protocol(report: &CoverageReport) -> Vec<(&str, Vec<&CoveredGroup>)> {
    let mut all: Vec<(&str, Vec<&CoveredGroup>)> = Vec::new();
    for group in &report.groups {
        match all.iter_mut().find(|(protocol, _)| *protocol == group.protocol) {
            Some((_, groups)) => groups.push(group),
            None => all.push((&group.protocol, vec![group])),
        }
    }
    all
}

/// `size`, `coverage` and `cover_percentage` of an element.
fn measures(met: usize, of: usize) -> String {
    let percent = if of == 0 { 100.0 } else { met as f64 * 100.0 / of as f64 };
    format!("size=\"{of}\" coverage=\"{met}\" cover_percentage=\"{percent:.2}\"")
}

fn totals<'a>(groups: impl Iterator<Item = &'a CoveredGroup> + Clone) -> (usize, usize) {
    (groups.clone().map(CoveredGroup::met).sum(), groups.map(|group| group.bins.len()).sum())
}

/// The XML of cocotb-coverage.
pub fn cocotb(report: &CoverageReport) -> String {
    let mut out = String::new();
    let mut line = |depth: usize, text: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
    };
    let (met, of) = totals(report.groups.iter());
    line(0, format!("<top abs_name=\"top\" {}>", measures(met, of)));
    line(1, format!("<scalepool abs_name=\"top.scalepool\" {}>", measures(met, of)));
    for (protocol, groups) in by_protocol(report) {
        let (met, of) = totals(groups.iter().copied());
        let scope = element(protocol);
        line(2, format!("<{scope} abs_name=\"top.scalepool.{scope}\" {}>", measures(met, of)));
        for group in groups {
            let name = element(&group.name);
            let path = format!("top.scalepool.{scope}.{name}");
            let measured = measures(group.met(), group.bins.len());
            line(3, format!("<{name} abs_name=\"{path}\" {measured} weight=\"1\" at_least=\"1\">"));
            for (n, bin) in group.bins.iter().enumerate() {
                let (text, hits) = (escaped(&bin.name), bin.hits);
                line(4, format!("<bin{n} bin=\"{text}\" hits=\"{hits}\" abs_name=\"{path}.bin{n}\" />"));
            }
            line(3, format!("</{name}>"));
        }
        line(2, format!("</{scope}>"));
    }
    line(1, "</scalepool>".into());
    line(0, "</top>".into());
    out
}

/// Date of the history node: the form asks for one, and the same coverage has the same bytes.
const DATE: &str = "2000-01-01T00:00:00";

/// Largest count of a bin that readers take.
const MOST_HITS: u64 = i64::MAX as u64;

/// UCIS XML.
pub fn ucis(report: &CoverageReport) -> String {
    let mut out = String::new();
    let mut line = |depth: usize, text: String| {
        let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
    };
    let version = env!("CARGO_PKG_VERSION");
    line(0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".into());
    line(
        0,
        format!(
            "<UCIS xmlns:ucis=\"http://www.w3.org/2001/XMLSchema-instance\" writtenBy=\"scalepool {version}\" writtenTime=\"{DATE}\" ucisVersion=\"1.0\">"
        ),
    );
    line(1, "<sourceFiles fileName=\"scalepool\" id=\"1\"/>".into());
    for (n, source) in report.sources.iter().enumerate() {
        let name = escaped(source);
        line(
            1,
            format!(
                "<historyNodes historyNodeId=\"{n}\" logicalName=\"{name}\" physicalName=\"{name}\" kind=\"1\" testStatus=\"true\" \
                 date=\"{DATE}\" toolCategory=\"UCIS:simulator\" ucisVersion=\"1.0\" vendorId=\"scalepool\" vendorTool=\"scalepool\" \
                 vendorToolVersion=\"{version}\"/>"
            ),
        );
    }
    let id = "file=\"1\" line=\"1\" inlineCount=\"1\"";
    for (n, (protocol, groups)) in by_protocol(report).into_iter().enumerate() {
        let protocol = escaped(protocol);
        line(
            1,
            format!("<instanceCoverages name=\"{protocol}\" key=\"{n}\" instanceId=\"{n}\" moduleName=\"{protocol}\">"),
        );
        line(2, format!("<id {id}/>"));
        line(2, "<covergroupCoverage>".into());
        for (k, group) in groups.into_iter().enumerate() {
            let name = escaped(&group.name);
            line(3, format!("<cgInstance name=\"{name}\" key=\"{k}\">"));
            line(
                4,
                "<options weight=\"1\" goal=\"100\" at_least=\"1\" per_instance=\"true\" merge_instances=\"true\"/>"
                    .into(),
            );
            line(4, format!("<cgId cgName=\"{name}\" moduleName=\"{protocol}\">"));
            line(5, format!("<cginstSourceId {id}/>"));
            line(5, format!("<cgSourceId {id}/>"));
            line(4, "</cgId>".into());
            line(4, format!("<coverpoint name=\"{name}\" key=\"0\">"));
            line(
                5,
                "<options weight=\"1\" goal=\"100\" at_least=\"1\" auto_bin_max=\"64\" detect_overlap=\"false\"/>"
                    .into(),
            );
            for (b, bin) in group.bins.iter().enumerate() {
                line(5, format!("<coverpointBin name=\"{}\" type=\"bins\" key=\"{b}\">", escaped(&bin.name)));
                line(6, format!("<range from=\"{b}\" to=\"{b}\">"));
                line(7, format!("<contents coverageCount=\"{}\"/>", bin.hits.min(MOST_HITS)));
                line(6, "</range>".into());
                line(5, "</coverpointBin>".into());
            }
            line(4, "</coverpoint>".into());
            line(3, "</cgInstance>".into());
        }
        line(2, "</covergroupCoverage>".into());
        line(1, "</instanceCoverages>".into());
    }
    line(0, "</UCIS>".into());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> CoverageReport {
        let mut report = CoverageReport::of("run <a>, seed 1");
        report.add("cxl-68b", "opcode x channel", [("MemRd & \"more\"", 3), ("MemWr", 0)]);
        report.add("ualink", "field types", [("req", 1)]);
        report
    }

    #[test]
    fn cocotb_by_hand() {
        let expected = "\
<top abs_name=\"top\" size=\"3\" coverage=\"2\" cover_percentage=\"66.67\">
  <scalepool abs_name=\"top.scalepool\" size=\"3\" coverage=\"2\" cover_percentage=\"66.67\">
    <cxl_68b abs_name=\"top.scalepool.cxl_68b\" size=\"2\" coverage=\"1\" cover_percentage=\"50.00\">
      <opcode_x_channel abs_name=\"top.scalepool.cxl_68b.opcode_x_channel\" size=\"2\" coverage=\"1\" cover_percentage=\"50.00\" weight=\"1\" at_least=\"1\">
        <bin0 bin=\"MemRd &amp; &quot;more&quot;\" hits=\"3\" abs_name=\"top.scalepool.cxl_68b.opcode_x_channel.bin0\" />
        <bin1 bin=\"MemWr\" hits=\"0\" abs_name=\"top.scalepool.cxl_68b.opcode_x_channel.bin1\" />
      </opcode_x_channel>
    </cxl_68b>
    <ualink abs_name=\"top.scalepool.ualink\" size=\"1\" coverage=\"1\" cover_percentage=\"100.00\">
      <field_types abs_name=\"top.scalepool.ualink.field_types\" size=\"1\" coverage=\"1\" cover_percentage=\"100.00\" weight=\"1\" at_least=\"1\">
        <bin0 bin=\"req\" hits=\"1\" abs_name=\"top.scalepool.ualink.field_types.bin0\" />
      </field_types>
    </ualink>
  </scalepool>
</top>
";
        assert_eq!(cocotb(&small()), expected);
    }

    #[test]
    fn ucis_has_every_bin_with_its_count() {
        let text = ucis(&small());
        assert_eq!(text.matches("<coverpointBin").count(), 3);
        assert_eq!(text.matches("<covergroupCoverage>").count(), 2);
        assert!(text.contains("logicalName=\"run &lt;a&gt;, seed 1\""));
        assert!(text.contains("<contents coverageCount=\"3\"/>"));
        let mut huge = CoverageReport::of("x");
        huge.add("p", "g", [("b", u64::MAX)]);
        assert!(ucis(&huge).contains("coverageCount=\"9223372036854775807\""));
    }
}
