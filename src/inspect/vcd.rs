//! Checks a value change dump before its reader gets it: for what would take that any amount of memory, and for what it ignores.
//!
//! Modelled: keywords, declarations, times. Left out: whether values fit their variables, which the reader says. A walk:
//! word by word through the file; the header gives the time unit and the widths, behind it each `#` is a time.
//!
//! Limits (basis: model): a word of [`MAX_WORD_BYTES`], [`MAX_DEPTH`] scopes in one another, [`MAX_WIDTH_BITS`] in a variable,
//! [`MAX_ALL_BITS`] in all of them. Times are whole, never fall, and end before 2^64 fs.

use scalepool_ordered::OrderedSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Longest word: a value of the widest variable.
const MAX_WORD_BYTES: usize = MAX_WIDTH_BITS as usize + 16;
/// Characters of an identifier in a message.
const MAX_SHOWN: usize = 40;
/// Deepest scope.
const MAX_DEPTH: u32 = 1000;
/// Bits of the widest variable, 128 kB.
const MAX_WIDTH_BITS: u64 = 1 << 20;
/// Bits of all variables, 32 MB.
const MAX_ALL_BITS: u64 = 1 << 28;

/// Reads all of it.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub(super) fn check(path: &Path) -> Result<(), String> {
    check_text(BufReader::with_capacity(1 << 16, File::open(path).map_err(|e| e.to_string())?))
}

fn check_text(text: impl BufRead) -> Result<(), String> {
    let mut words = VcdWords { text, line: 1, ended: false, word: Vec::new() };
    let result = Checker::default().all(&mut words);
    result.map_err(|fault| match fault {
        VcdFailure::Read(e) => e.to_string(),
        VcdFailure::Found(text) => format!("line {}: {text}", words.line),
    })
}

/// Keywords that cannot stand in a declaration.
const KEYWORDS: [&str; 8] =
    ["$comment", "$date", "$enddefinitions", "$scope", "$timescale", "$upscope", "$var", "$version"];

enum VcdFailure {
    /// The system cannot read on.
    Read(io::Error),
    /// What was found, what was expected.
    Found(String),
}

impl From<io::Error> for VcdFailure {
    fn from(e: io::Error) -> VcdFailure {
        VcdFailure::Read(e)
    }
}

fn found(what: impl std::fmt::Display, expected: impl std::fmt::Display) -> VcdFailure {
    VcdFailure::Found(format!("found {what}, expected {expected}"))
}

/// Words of a text, with the line of the last one.
struct VcdWords<R> {
    text: R,
    line: usize,
    /// The last word ended its line.
    ended: bool,
    word: Vec<u8>,
}

impl<R: BufRead> VcdWords<R> {
    /// Reads the next word into `word`; `false` at the end.
    fn advance(&mut self) -> Result<bool, VcdFailure> {
        self.word.clear();
        self.line += usize::from(std::mem::take(&mut self.ended));
        loop {
            let part = self.text.fill_buf()?;
            if part.is_empty() {
                return Ok(!self.word.is_empty());
            }
            let blanks = if self.word.is_empty() {
                let blanks = part.iter().take_while(|b| b.is_ascii_whitespace()).count();
                self.line += part[..blanks].iter().filter(|&&b| b == b'\n').count();
                blanks
            } else {
                0
            };
            let rest = &part[blanks..];
            let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            self.word.extend_from_slice(&rest[..length]);
            let end = rest.get(length).copied();
            self.ended = end == Some(b'\n');
            self.text.consume(blanks + length + usize::from(end.is_some()));
            if self.word.len() > MAX_WORD_BYTES {
                return Err(found("a longer word", format!("words of at most {MAX_WORD_BYTES} bytes")));
            }
            if end.is_some() && !self.word.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The next word, as text.
    fn next(&mut self) -> Result<Option<String>, VcdFailure> {
        Ok(if self.advance()? { Some(self.shown()) } else { None })
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.word).into_owned()
    }

    /// All words up to `$end`.
    fn words_to_end(&mut self) -> Result<Vec<String>, VcdFailure> {
        let mut all = Vec::new();
        while let Some(word) = self.next()? {
            if word == "$end" {
                return Ok(all);
            }
            // Declarations have at most five words that count.
            if all.len() < 8 {
                all.push(word);
            }
        }
        Err(found("the end of the file", "`$end`"))
    }

    /// The words of a declaration; the one at `code` is an identifier, which may be spelled as anything. A keyword among
    /// the others tells that `$end` is missing: a reader takes what follows for a part of this declaration.
    fn declaration(&mut self, code: Option<usize>) -> Result<Vec<String>, VcdFailure> {
        let all = self.words_to_end()?;
        let mut others = all.iter().enumerate().filter(|(at, _)| Some(*at) != code);
        match others.find(|(_, word)| KEYWORDS.contains(&word.as_str())) {
            Some((_, keyword)) => Err(found(format!("`{keyword}` in a declaration"), "`$end` before it")),
            None => Ok(all),
        }
    }
}

/// What has been seen.
#[derive(Default)]
struct Checker {
    /// Femtoseconds of one step of time.
    step_fs: Option<u64>,
    depth: u32,
    bits: u64,
    last: u64,
    /// Identifiers that were declared.
    codes: OrderedSet<Vec<u8>>,
    /// The declarations are over.
    in_body: bool,
}

impl Checker {
    fn all<R: BufRead>(mut self, words: &mut VcdWords<R>) -> Result<(), VcdFailure> {
        while words.advance()? {
            match words.word.first() {
                Some(b'#') => self.time(&words.shown()[1..])?,
                // The identifier of a value that is a word of its own may begin with anything.
                Some(b'b' | b'B' | b'r' | b'R' | b's' | b'S') if self.in_body => {
                    if !words.advance()? {
                        return Err(found("the end of the file", "the identifier of a value"));
                    }
                    self.known(&words.word)?;
                }
                Some(b'$') => self.keyword(words)?,
                Some(b'0' | b'1' | b'x' | b'X' | b'z' | b'Z') if self.in_body => self.known(&words.word[1..])?,
                _ => (),
            }
        }
        if self.in_body { Ok(()) } else { Err(found("the end of the file", "`$enddefinitions`")) }
    }

    fn keyword<R: BufRead>(&mut self, words: &mut VcdWords<R>) -> Result<(), VcdFailure> {
        match &words.word[..] {
            b"$timescale" => self.timescale(&words.declaration(None)?.concat()),
            b"$var" => self.variable(&words.declaration(Some(2))?),
            b"$scope" => {
                words.declaration(None)?;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(found("a deeper scope", format!("at most {MAX_DEPTH} scopes in one another")));
                }
                Ok(())
            }
            b"$upscope" => {
                self.depth = self.depth.saturating_sub(1);
                words.declaration(None).map(drop)
            }
            b"$enddefinitions" => {
                self.in_body = true;
                words.declaration(None).map(drop)
            }
            b"$comment" | b"$date" | b"$version" => words.words_to_end().map(drop),
            _ => Ok(()),
        }
    }

    /// `1 ps`, with or without the blank.
    fn timescale(&mut self, text: &str) -> Result<(), VcdFailure> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let exponent = ["fs", "ps", "ns", "us", "ms", "s"].iter().position(|u| *u == unit);
        let (Some(exponent), Ok(number @ (1 | 10 | 100))) = (exponent, number.parse::<u64>()) else {
            return Err(found(format!("timescale `{text}`"), "1, 10 or 100 and fs, ps, ns, us, ms or s"));
        };
        let step_fs = number * 1000_u64.pow(exponent as u32);
        match self.step_fs.replace(step_fs).filter(|before| *before != step_fs) {
            Some(before) => Err(found(format!("timescale `{text}` behind one of {before} fs"), "one timescale")),
            None => Ok(()),
        }
    }

    /// The identifier of a value.
    fn known(&self, code: &[u8]) -> Result<(), VcdFailure> {
        if self.codes.contains(code) {
            return Ok(());
        }
        let code: String = String::from_utf8_lossy(code).escape_default().take(MAX_SHOWN).collect();
        Err(found(format!("a value of `{code}`"), "an identifier that a `$var` has declared"))
    }

    /// Kind, width, identifier, name.
    fn variable(&mut self, words: &[String]) -> Result<(), VcdFailure> {
        self.codes.extend(words.get(2).map(|code| code.clone().into_bytes()));
        let width = words.get(1).map_or("nothing", String::as_str);
        let name = words.get(3).map_or("", String::as_str);
        // Reals and strings have none that counts; some tools write 0.
        let bits = width.parse::<u64>().ok().filter(|bits| *bits <= MAX_WIDTH_BITS);
        let Some(bits) = bits else {
            return Err(found(format!("width `{width}` of `{name}`"), format!("at most {MAX_WIDTH_BITS} bits")));
        };
        self.bits += bits;
        if self.bits > MAX_ALL_BITS {
            return Err(found("wider variables", format!("at most {MAX_ALL_BITS} bits in all of them")));
        }
        Ok(())
    }

    fn time(&mut self, text: &str) -> Result<(), VcdFailure> {
        // Where there is no time unit, the reader says so.
        let step_fs = self.step_fs.unwrap_or(1);
        let last = u64::MAX / step_fs;
        let Some(time) = text.parse::<u64>().ok().filter(|time| *time <= last) else {
            return Err(found(format!("time `{text}`"), format!("a whole number up to {last}, before 2^64 fs")));
        };
        if time < self.last {
            return Err(found(format!("time {time} behind time {}", self.last), "times that never fall"));
        }
        self.last = time;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(header: &str, body: &str) -> Result<(), String> {
        let header = if header.is_empty() { "$timescale 1ps $end\n$var wire 1 ! clk $end" } else { header };
        check_text(format!("$date\n today $end\n{header}\n$enddefinitions $end\n{body}").as_bytes())
    }

    #[test]
    fn a_sound_file_passes() {
        let header = "$timescale 1ps $end\n$var wire 1 ! clk $end\n$var wire 3 #7 a $end\n$var real 64 $x b $end\n$var string 1 #-1 c $end";
        let body = "#0\n$dumpvars\n0!\nb101 #7\nr1.5 $x\nsa_b #-1\n$end\n$comment #-3 $end\n#5\n1!\n#5\n0!\n#18446744073709551\n";
        assert_eq!(with(header, body), Ok(()));
        assert_eq!(with("$timescale 1ps $end\n$var wire 1 $var clk $end", "#0\n1$var\n"), Ok(()));
        for scale in ["1 fs", "10\nns", "100 s"] {
            assert_eq!(with(&format!("$timescale {scale} $end"), "#0\n"), Ok(()), "{scale}");
        }
    }

    #[test]
    fn what_a_reader_passes_over_is_refused() {
        let refused = |header: &str, body: &str| with(header, body).expect_err("refused");
        assert_eq!(
            refused("", "#-1\n"),
            "line 6: found time `-1`, expected a whole number up to 18446744073709551, before 2^64 fs"
        );
        assert!(refused("", "#18446744073709552\n").contains("found time `18446744073709552`"));
        assert!(refused("", "#1.5\n").contains("found time `1.5`"));
        let unknown = "line 7: found a value of `ZZZ`, expected an identifier that a `$var` has declared";
        assert_eq!(refused("", "#0\nb0 ZZZ\n"), unknown);
        assert_eq!(refused("", "#0\n1ZZZ\n"), unknown);
        assert!(refused("", "#0\nb01").contains("found the end of the file, expected the identifier of a value"));
        assert!(check_text(&b"$timescale 1ps $end\n"[..]).is_err_and(|e| e.contains("expected `$enddefinitions`")));
        let twice = refused("$timescale 1ps $end\n$timescale 1ns $end", "");
        assert!(twice.contains("found timescale `1ns` behind one of 1000 fs, expected one timescale"), "{twice}");
        assert_eq!(refused("", "#7\n0!\n#6\n"), "line 8: found time 6 behind time 7, expected times that never fall");
        for scale in ["0 ps", "2 ps", "1 h", "ps", "18446744073709551616 ps"] {
            assert!(
                refused(&format!("$timescale {scale} $end"), "").contains("expected 1, 10 or 100 and fs"),
                "{scale}"
            );
        }
        let var = |width: &str| refused(&format!("$var wire {width} ! data $end"), "");
        assert_eq!(var("4294967295"), "line 3: found width `4294967295` of `data`, expected at most 1048576 bits");
        assert!(var("-1").contains("found width `-1`"));
        assert!(refused(&"$var wire 1048576 ! d $end\n".repeat(257), "").contains("268435456 bits in all of them"));
        assert!(refused(&"$scope module m $end\n".repeat(1001), "").contains("at most 1000 scopes"));
        let (scope, end) = ("$scope module m", "found the end of the file, expected `$end`");
        assert_eq!(check_text(scope.as_bytes()), Err(format!("line 1: {end}")));
        assert_eq!(refused(scope, ""), "line 4: found `$enddefinitions` in a declaration, expected `$end` before it");
        assert!(refused("$var wire 1 ! clk\n$var wire 1 # rst $end", "").contains("found `$var` in a declaration"));
        assert!(refused(&"x".repeat(MAX_WORD_BYTES + 1), "").contains("found a longer word"));
    }
}
