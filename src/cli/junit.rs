//! Results as JUnit XML, which continuous integration shows.
//!
//! Modelled: one suite, a case for each thing that was judged, a failure for each broken rule of it, and as properties the seed and
//! the command that runs the same again. Left out: times and host, so that the same run gives the same bytes.

use scalepool_protocols::rules;
use std::env;
use std::fmt::Write;

/// A broken rule of a case.
pub(super) struct JunitFailure {
    /// Its id.
    pub rule: String,
    /// Where, what was found and what was expected.
    pub text: String,
}

/// Something that was judged.
pub(super) struct JunitCase {
    /// Its name.
    pub name: String,
    /// What it has broken; nothing: it passes.
    pub failures: Vec<JunitFailure>,
    /// Waived findings and remarks.
    pub remarks: Vec<String>,
}

/// The command that was given, as a shell takes it.
pub(super) fn rerun_line() -> String {
    let quoted = |word: String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words = env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("scalepool".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The file.
pub(super) fn file(suite: &str, seed: Option<u64>, rerun: &str, cases: &[JunitCase]) -> String {
    let failed = cases.iter().filter(|case| !case.failures.is_empty()).count();
    let tests = cases.len();
    let suite = escaped(suite);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "<testsuites tests=\"{tests}\" failures=\"{failed}\" errors=\"0\">");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">"
    );
    let _ = writeln!(out, "    <properties>");
    if let Some(seed) = seed {
        let _ = writeln!(out, "      <property name=\"seed\" value=\"{seed}\"/>");
    }
    let _ = writeln!(out, "      <property name=\"rerun\" value=\"{}\"/>", escaped(rerun));
    let _ = writeln!(out, "    </properties>");
    for case in cases {
        let name = escaped(&case.name);
        let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{name}\">");
        for failure in &case.failures {
            let meaning = rules::find(&failure.rule).map_or("", |rule| rule.text);
            let (rule, text) = (escaped(&failure.rule), escaped(&failure.text));
            let _ = writeln!(out, "      <failure type=\"{rule}\" message=\"{text}\">{}</failure>", escaped(meaning));
        }
        if !case.remarks.is_empty() {
            let remarks: Vec<String> = case.remarks.iter().map(|remark| escaped(remark)).collect();
            let _ = writeln!(out, "      <system-out>{}</system-out>", remarks.join("\n"));
        }
        let _ = writeln!(out, "    </testcase>");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A text in XML. Characters that XML 1.0 has no place for become `?`.
fn escaped(text: &str) -> String {
    let plain = |c: char| match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' => "&quot;".into(),
        '\n' | '\t' | '\r' => " ".into(),
        c if c.is_control() => "?".into(),
        c => c.to_string(),
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_by_hand() {
        let failure = JunitFailure { rule: "CXL68-CRC-01".into(), text: "5 ns: found \"1\", expected <2>".into() };
        let cases = [
            JunitCase { name: "tx".into(), failures: vec![failure], remarks: Vec::new() },
            JunitCase { name: "rx".into(), failures: Vec::new(), remarks: vec!["waived: a & b".into()] },
        ];
        let text = file("inspect w.vcd", Some(7), "scalepool inspect w.vcd", &cases);
        let meaning = rules::find("CXL68-CRC-01").expect("a rule").text;
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"2\" failures=\"1\" errors=\"0\">
  <testsuite name=\"inspect w.vcd\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">
    <properties>
      <property name=\"seed\" value=\"7\"/>
      <property name=\"rerun\" value=\"scalepool inspect w.vcd\"/>
    </properties>
    <testcase classname=\"inspect w.vcd\" name=\"tx\">
      <failure type=\"CXL68-CRC-01\" message=\"5 ns: found &quot;1&quot;, expected &lt;2&gt;\">{meaning}</failure>
    </testcase>
    <testcase classname=\"inspect w.vcd\" name=\"rx\">
      <system-out>waived: a &amp; b</system-out>
    </testcase>
  </testsuite>
</testsuites>
"
        );
        assert_eq!(text, expected);
    }
}
