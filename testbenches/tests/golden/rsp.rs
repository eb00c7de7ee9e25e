//! Files of cases as text: what is read, and where each malformed form is refused.

use scalepool::golden::rsp::{RspCase, RspFile, RspValue, parse_rsp};

const GOOD: &str = "# header\n\n[Layout = a.b]\n\nCount = 0\ntag = 1f\nBytes = 1f\nRESULT = valid\n\n\
                    Count = 1\nFlit = 00\nRESULT = invalid\nRULE = CXL68-CRC-01\n";

#[test]
fn reads_groups_values_and_results() {
    let file = parse_rsp(GOOD).unwrap();
    assert_eq!(file.comments, ["header"]);
    let value = |line, key: &str, hex: &str| RspValue { line, key: key.into(), hex: hex.into() };
    let layout = vec![("Layout".to_owned(), "a.b".to_owned())];
    let first = vec![value(6, "tag", "1f"), value(7, "Bytes", "1f")];
    assert_eq!(file.cases[0], RspCase { line: 5, groups: layout.clone(), values: first, rule: None });
    let rule = Some("CXL68-CRC-01".to_owned());
    assert_eq!(file.cases[1], RspCase { line: 10, groups: layout, values: vec![value(11, "Flit", "00")], rule });
    assert_eq!(parse_rsp("").unwrap(), RspFile::default());
}

#[test]
fn every_malformed_form() {
    let rows = [
        ("?\n", "line 1, column 1: found `?`, expected `#`, `[` or a key"),
        ("[Layout]\n", "line 1, column 8: found `]`, expected ` = `"),
        ("[Layout = ]\n", "line 1, column 11: found `]`, expected a value"),
        ("[ = a]\n", "line 1, column 2: found ` `, expected a key"),
        ("[Layout = a\n", "line 1, column 12: found the end of the line, expected `]`"),
        ("[Layout = a] b\n", "line 1, column 13: found ` `, expected the end of the line"),
        ("Count=0\n", "line 1, column 6: found `=`, expected ` = `"),
        ("Count = x\n", "line 1, column 9: found `x`, expected a decimal number"),
        ("Count = 1\n", "line 1, column 1: found `Count = 1`, expected `Count = 0`"),
        ("tag = 0\n", "line 1, column 1: found `tag = 0`, expected `Count = 0`"),
        ("Count = 0\n\n", "line 2, column 1: found a blank line, expected `Key = hex`"),
        ("Count = 0\nRESULT = valid\n", "line 2, column 1: found `RESULT = valid`, expected `Key = hex`"),
        ("Count = 0\ntag = \n", "line 2, column 7: found the end of the line, expected lower-case hex digits"),
        ("Count = 0\ntag = 0F\n", "line 2, column 8: found `F`, expected the end of the line"),
        ("Count = 0\ntag = 0\r\n", "line 2, column 8: found `\\r`, expected the end of the line"),
        (
            "Count = 0\ntag = 0\nCount = 1\n",
            "line 3, column 1: found `Count = 1`, expected `Key = hex` or `RESULT = valid|invalid`",
        ),
        (
            "Count = 0\ntag = 0\n# a\n",
            "line 3, column 1: found `# a`, expected `Key = hex` or `RESULT = valid|invalid`",
        ),
        ("Count = 0\ntag = 0\nRESULT = good\n", "line 3, column 10: found `g`, expected `valid` or `invalid`"),
        ("Count = 0\ntag = 0\nRESULT = valid\nRULE = A\n", "line 4, column 1: found `RULE = A`, expected a blank line"),
        ("Count = 0\ntag = 0\nRESULT = invalid\n\n", "line 4, column 1: found a blank line, expected `RULE = id`"),
        ("Count = 0\ntag = 0\nRESULT = invalid\nRULE = a\n", "line 4, column 8: found `a`, expected a rule id"),
        ("Count = 0\ntag = 0\nRESULT = invalid\n", "line 4, column 1: found the end of the file, expected `RULE = id`"),
        ("Count = 0\ntag = 0\nRESULT = valid", "line 3, column 15: found the end of the file, expected a line end"),
        ("Count = 99999999999999999999\n", "line 1, column 9: found `9`, expected a decimal number"),
    ];
    for (text, error) in rows {
        assert_eq!(parse_rsp(text).map(|_| ()).unwrap_err().to_string(), error, "{text:?}");
    }
}
