//! Files of hex vectors as text: what is read, and where each malformed form is refused.

use scalepool::golden::hex::{HexFile, HexVector, parse_hex};

#[test]
fn reads_comments_and_vectors() {
    let file = parse_hex("// a\n//b\n00ff\n1234\n").unwrap();
    assert_eq!(file.comments, ["a", "b"]);
    let vector = |line, digits: &str| HexVector { line, digits: digits.into() };
    assert_eq!(file.vectors, [vector(3, "00ff"), vector(4, "1234")]);
    assert_eq!(parse_hex("").unwrap(), HexFile::default());
}

#[test]
fn every_malformed_form() {
    let rows = [
        ("0g\n", "line 1, column 2: found `g`, expected the end of the line"),
        ("g0\n", "line 1, column 1: found `g`, expected `//` or hex digits"),
        ("// a\n\n00\n", "line 2, column 1: found the end of the line, expected `//` or hex digits"),
        ("/ a\n", "line 1, column 1: found `/`, expected `//` or hex digits"),
        ("00\n000\n", "line 2, column 3: found 3 digits, expected 2"),
        ("000\n00\n", "line 2, column 3: found 2 digits, expected 3"),
        ("00\n0A\n", "line 2, column 2: found `A`, expected the end of the line"),
        ("00\r\n", "line 1, column 3: found `\\r`, expected the end of the line"),
        (" 00\n", "line 1, column 1: found ` `, expected `//` or hex digits"),
        ("00 01\n", "line 1, column 3: found ` `, expected the end of the line"),
        ("é0\n", "line 1, column 1: found `\\u{e9}`, expected `//` or hex digits"),
        ("// é\n00\n0", "line 3, column 2: found the end of the file, expected a line end"),
    ];
    for (text, error) in rows {
        assert_eq!(parse_hex(text).unwrap_err().to_string(), error, "{text:?}");
    }
}
