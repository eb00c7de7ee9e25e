//! Rust text without comments and literals, cut into words and signs.
//!
//! Enough for the guards: an identifier or number is one token, `::` is one, every other sign is one of its own.

/// A word or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its line, from 1.
    pub line: usize,
}

/// Cuts a file.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped(rest, first);
        let len = if skipped > 0 {
            skipped
        } else if rest.starts_with("::") {
            2
        } else {
            word(rest).max(first.len_utf8())
        };
        if skipped == 0 {
            out.push(Token { text: &rest[..len], line });
        } else {
            line += rest.as_bytes()[..len].iter().filter(|&&byte| byte == b'\n').count();
        }
        rest = &rest[len..];
    }
    out
}

/// Bytes of the identifier or number that `rest` begins with.
fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// Bytes of white space, a comment, a string, a character or the sign of a lifetime that `rest` begins with; `first` is its
/// first character, by which nearly all is decided.
fn skipped(rest: &str, first: char) -> usize {
    let end = |found: Option<usize>| found.unwrap_or(rest.len());
    match first {
        c if c.is_whitespace() => end(rest.find(|c: char| !c.is_whitespace())),
        '/' if rest.starts_with("//") => end(rest.find('\n')),
        '/' if rest.starts_with("/*") => block_comment(rest),
        'r' | 'b' | 'c' => raw_string(rest).unwrap_or(0),
        '"' => quoted(rest, '"'),
        '\'' => {
            let mut chars = rest.chars().skip(1);
            match (chars.next(), chars.next()) {
                (Some('\\'), _) | (_, Some('\'')) => quoted(rest, '\''),
                _ => 1,
            }
        }
        _ => 0,
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        let here = &rest[at..];
        let step = match () {
            () if here.starts_with("/*") => (2, 1),
            () if here.starts_with("*/") => (2, -1),
            () => (here.chars().next().map_or(1, char::len_utf8), 0),
        };
        at += step.0;
        depth += step.1;
    }
    at
}

/// `r".."`, `r#".."#`, also with `b` or `c` before.
fn raw_string(rest: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|p| rest.strip_prefix(p))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let text = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let len = text.find(&close).map_or(text.len(), |at| at + close.len());
    Some(rest.len() - text.len() + len)
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[test]
fn comments_and_literals_vanish() {
    let source = "a /* b /* c */ d */ :: e // f\n\"g\\\" h\" i r#\"j \" k\"# 'l' '\\'' &'m n b\"o\" /// p\nq!(";
    let texts: Vec<_> = tokens(source).iter().map(|t| t.text).collect();
    assert_eq!(texts, ["a", "::", "e", "i", "&", "m", "n", "b", "q", "!", "("]);
    assert_eq!(tokens(source).last().map(|t| t.line), Some(3));
}
