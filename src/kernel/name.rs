//! The grammar of instance names: dotted lower-case paths with indices, `pod0.sw0.port[3].rx`.
//!
//! ```text
//! name    = segment *("." segment)
//! segment = letter *(letter / digit / "_") *("[" number "]")     letter: a-z, number: no leading zero
//! ```

use super::error::BuildError;

/// Checks `name` against the grammar.
///
/// # Errors
/// [`BuildError::Name`] with the byte at which the name leaves the grammar.
pub fn check_name(name: &str) -> Result<(), BuildError> {
    let bytes = name.as_bytes();
    let mut at = 0;
    loop {
        if !bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            return Err(bad(name, at, "a letter a-z"));
        }
        while bytes.get(at).is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_') {
            at += 1;
        }
        while bytes.get(at) == Some(&b'[') {
            let first = at + 1;
            at = first;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            if at == first || (bytes[first] == b'0' && at > first + 1) {
                return Err(bad(name, first, "a number without leading zeros"));
            }
            if bytes.get(at) != Some(&b']') {
                return Err(bad(name, at, "`]`"));
            }
            at += 1;
        }
        match bytes.get(at) {
            None => return Ok(()),
            Some(b'.') => at += 1,
            Some(_) => return Err(bad(name, at, "`.`, `[`, a letter a-z, a digit or `_`")),
        }
    }
}

fn bad(name: &str, at: usize, expected: &'static str) -> BuildError {
    let found = name.get(at..).and_then(|rest| rest.chars().next()).map_or("the end".into(), |c| format!("{c:?}"));
    BuildError::Name { name: name.into(), at, found, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_takes_paths_and_refuses_the_rest() {
        for good in ["a", "pod0.sw0.port[3].rx", "x_1", "m[0][12].y", "core[10]"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for (wrong, at) in [
            ("", 0),
            ("Pod0", 0),
            ("pod0.", 5),
            (".a", 0),
            ("a..b", 2),
            ("0a", 0),
            ("_a", 0),
            ("a[", 2),
            ("a[]", 2),
            ("a[03]", 2),
            ("a[3", 3),
            ("a[3]b", 4),
            ("a-b", 1),
            ("a.bC", 3),
            ("a\u{e9}", 1),
        ] {
            match check_name(wrong) {
                Err(BuildError::Name { at: found, .. }) => assert_eq!(found, at, "{wrong}"),
                other => panic!("{wrong}: {other:?}"),
            }
        }
    }
}
