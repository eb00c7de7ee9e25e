//! Flits as digits, the way simulators print them.
//!
//! ```text
//! line    = [ label ] { word } [ comment ]
//! label   = [ "0x" ] digit { digit } ":"            an index or an address, passed over
//! word    = [ "0x" ] digit { digit | "_" }          words are parted by white space
//! comment = ( "//" | "#" ) { any character }
//! digit   = "0" .. "9" | "a" .. "f" | "A" .. "F"
//! ```
//!
//! The digits of all words are joined until a flit has its length, so a flit may go over several lines and several may
//! stand on one. A packet of NVLink has the length that its header states; a word does not go over its end, so a word that
//! is longer than the header states is the packet, and one that comes too early ends the packet before.
//!
//! With [`HexOrder::Byte0`] digits come as bytes do on the wire. With [`HexOrder::Msb`] a flit is one number whose last
//! two digits are byte 0, as `%h` prints a vector; each flit of an NVLink packet is a number of its own, the header
//! first.
//!
//! A line that cannot be read is refused with its place, together with what of a flit came before it. `x` and `z` keep
//! their place: the flit that holds one is refused, those behind it are read. So that digits that are missing do not spoil
//! all flits behind them, a line or word that has the digits of whole flits begins one, and what was left over is refused.

use super::FormError;
use scalepool_protocols::nvlink::{FLIT_BYTES, MAX_FLITS, NvlHeader};
use scalepool_protocols::wire::Wire;

/// Digits of an NVLink flit.
const NVL_DIGITS: usize = 2 * FLIT_BYTES;

/// Which byte of a flit its first digits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HexOrder {
    /// Byte 0.
    #[default]
    Byte0,
    /// The last byte: the most significant digit of one number comes first.
    Msb,
}

/// How many digits a flit has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Always as many.
    Fixed(usize),
    /// As the header states.
    OfHeader,
}

/// Reads lines of digits as one stream of flits.
#[derive(Debug, Clone)]
pub struct HexReader {
    length: Length,
    order: HexOrder,
    /// What there is of the next flit.
    begun: PartialUnit,
}

/// A part of a flit.
#[derive(Debug, Clone, Default)]
struct PartialUnit {
    /// Values of the digits.
    digits: Vec<u8>,
    /// Line and column of the first one, from 1.
    at: (u64, usize),
    /// The first digit that is `x` or `z`.
    unknown: Option<FormError>,
}

/// A word of a line.
struct Word {
    /// Its digits; `Err`: `x` or `z`.
    digits: Vec<Result<u8, char>>,
    /// Column of each digit, from 1.
    columns: Vec<usize>,
}

/// The bytes of a flit, or why there are none.
type FlitBytes = Result<Vec<u8>, FormError>;

impl HexReader {
    /// A reader of flits of `unit_bytes`, as `registry::PROTOCOLS` states it; `packets`: of packets of such flits.
    pub fn new(unit_bytes: usize, packets: bool, order: HexOrder) -> HexReader {
        let length = if packets { Length::OfHeader } else { Length::Fixed(2 * unit_bytes) };
        HexReader { length, order, begun: PartialUnit::default() }
    }

    /// Reads a line, `number` from 1: the flits that it completes and what it shows to be unreadable, in order.
    pub fn line(&mut self, number: u64, text: &str) -> Vec<FlitBytes> {
        let mut units = Vec::new();
        match words(text).and_then(|words| self.known(words)) {
            Ok(words) => self.words(number, words, &mut units),
            Err(error) => units.push(Err(self.refuse(number, error))),
        }
        units
    }

    /// A line that is no text: it is refused like one that cannot be read.
    pub fn refuse(&mut self, number: u64, mut error: FormError) -> FormError {
        if !self.begun.digits.is_empty() {
            let (line, column) = self.begun.at;
            let count = self.begun.digits.len();
            error.found = format!("{}, behind {count} digits of a flit from line {line}, column {column}", error.found);
        }
        self.begun = PartialUnit::default();
        error.in_line(number)
    }

    /// The end of the input.
    pub fn finish(&mut self) -> Vec<FlitBytes> {
        let mut units = Vec::new();
        self.leave(&mut units);
        units
    }

    /// Without `x` and `z` where the length of a flit stands in its own digits.
    fn known(&self, words: Vec<Word>) -> Result<Vec<Word>, FormError> {
        let unknown = words.iter().find_map(|word| word.unknown(0..word.digits.len()));
        match unknown.filter(|_| self.length == Length::OfHeader) {
            Some(error) => Err(error),
            None => Ok(words),
        }
    }

    fn words(&mut self, number: u64, words: Vec<Word>, units: &mut Vec<FlitBytes>) {
        if self.begins(words.iter().map(|word| word.digits.len()).sum()) {
            self.leave(units);
        }
        for word in words {
            if self.begins(word.digits.len()) {
                self.leave(units);
            }
            let mut used = 0;
            while used < word.digits.len() {
                if self.begun.digits.is_empty() {
                    self.begun.at = (number, word.columns[used]);
                }
                let left = word.digits.len() - used;
                let take = match self.length {
                    Length::Fixed(digits) => left.min(digits - self.begun.digits.len()),
                    Length::OfHeader => left,
                };
                let taken = used..used + take;
                let known = word.digits[taken.clone()].iter().map(|digit| digit.unwrap_or(0));
                self.begun.digits.extend(known);
                if self.begun.unknown.is_none() {
                    self.begun.unknown = word.unknown(taken).map(|error| error.in_line(number));
                }
                used += take;
                if self.begun.digits.len() >= self.wanted() {
                    self.leave(units);
                }
            }
        }
    }

    /// Whether so many digits in one piece begin a flit, although another one has been begun.
    fn begins(&self, digits: usize) -> bool {
        let begun = self.begun.digits.len();
        begun > 0
            && digits > 0
            && match self.length {
                Length::Fixed(flit) => digits.is_multiple_of(flit),
                Length::OfHeader => begun >= NVL_DIGITS && begun + digits > self.wanted(),
            }
    }

    /// Digits of the flit that has been begun.
    fn wanted(&self) -> usize {
        match self.length {
            Length::Fixed(digits) => digits,
            Length::OfHeader => match self.begun.digits.get(..NVL_DIGITS) {
                None => NVL_DIGITS,
                Some(digits) => {
                    let bytes = self.bytes(digits);
                    let header = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                    let flits = 1 + usize::from(NvlHeader::from_bits(header).len);
                    // A number of flits that no packet has says nothing.
                    if flits <= MAX_FLITS { NVL_DIGITS * flits } else { NVL_DIGITS }
                }
            },
        }
    }

    /// Ends the flit that has been begun: as a whole one where its digits make one, else it is refused.
    fn leave(&mut self, units: &mut Vec<FlitBytes>) {
        let begun = std::mem::take(&mut self.begun);
        if begun.digits.is_empty() {
            return;
        }
        let is_whole = match self.length {
            Length::Fixed(digits) => begun.digits.len() == digits,
            // The decoder judges a packet that is not as long as its header states.
            Length::OfHeader => {
                begun.digits.len().is_multiple_of(NVL_DIGITS) && begun.digits.len() <= NVL_DIGITS * MAX_FLITS
            }
        };
        let (number, column) = begun.at;
        let found = format!("{} digits of a flit that begins here", begun.digits.len());
        let expected = match self.length {
            Length::Fixed(digits) => format!("{digits} digits, {} bytes", digits / 2),
            Length::OfHeader => format!("1 to {MAX_FLITS} flits of {NVL_DIGITS} digits"),
        };
        units.push(match begun.unknown {
            Some(error) => Err(error),
            None if !is_whole => Err(FormError::new(format!("column {column}"), found, expected).in_line(number)),
            None => Ok(self.bytes(&begun.digits)),
        });
    }

    /// The bytes of whole flits, byte 0 first.
    fn bytes(&self, digits: &[u8]) -> Vec<u8> {
        let (pairs, _) = digits.as_chunks::<2>();
        let mut bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        if self.order == HexOrder::Msb {
            let flit = match self.length {
                Length::Fixed(digits) => digits / 2,
                Length::OfHeader => FLIT_BYTES,
            };
            bytes.chunks_mut(flit).for_each(<[u8]>::reverse);
        }
        bytes
    }
}

impl Word {
    /// The first `x` or `z` of a part.
    fn unknown(&self, part: std::ops::Range<usize>) -> Option<FormError> {
        let n = part.into_iter().find(|&n| self.digits[n].is_err())?;
        let found = match self.digits[n] {
            Err(c @ ('x' | 'X')) => format!("`{c}`, an unknown value"),
            Err(c) => format!("`{c}`, an undriven value"),
            Ok(_) => return None,
        };
        Some(FormError::new(format!("column {}", self.columns[n]), found, "a hexadecimal digit"))
    }
}

/// The words of a line.
fn words(text: &str) -> Result<Vec<Word>, FormError> {
    let text = [text.find("//"), text.find('#')].into_iter().flatten().min().map_or(text, |end| &text[..end]);
    let characters: Vec<(usize, char)> = text.chars().enumerate().map(|(n, c)| (n + 1, c)).collect();
    let mut parts = characters.split(|(_, c)| c.is_whitespace()).filter(|part| !part.is_empty()).peekable();
    let mut words = Vec::new();
    if let Some(first) = parts.next() {
        words.extend(word(behind_label(first))?);
    }
    for part in parts {
        words.extend(word(part)?);
    }
    Ok(words)
}

/// What stands behind the label of the first characters of a line.
fn behind_label(part: &[(usize, char)]) -> &[(usize, char)] {
    match part.iter().position(|(_, c)| *c == ':') {
        Some(end) if end > 0 && behind_prefix(&part[..end]).iter().all(|(_, c)| c.is_ascii_hexdigit()) => {
            &part[end + 1..]
        }
        _ => part,
    }
}

/// What stands behind `0x`.
fn behind_prefix(part: &[(usize, char)]) -> &[(usize, char)] {
    match part {
        [(_, '0'), (_, 'x' | 'X'), digits @ ..] if !digits.is_empty() => digits,
        _ => part,
    }
}

/// The word of some characters; `None` where there are none.
fn word(part: &[(usize, char)]) -> Result<Option<Word>, FormError> {
    let mut word = Word { digits: Vec::new(), columns: Vec::new() };
    for &(column, c) in behind_prefix(part) {
        let digit = match (c, c.to_digit(16)) {
            (_, Some(digit)) => Ok(digit as u8),
            ('x' | 'X' | 'z' | 'Z', _) => Err(c),
            ('_', _) if !word.digits.is_empty() => continue,
            _ => {
                let expected = "hexadecimal digits, `_` between them, white space, `//` or `#`";
                return Err(FormError::new(format!("column {column}"), format!("{c:?}"), expected));
            }
        };
        word.digits.push(digit);
        word.columns.push(column);
    }
    Ok((!word.digits.is_empty()).then_some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of lines; errors as `line: text`.
    fn read(mut reader: HexReader, text: &str) -> Vec<Result<Vec<u8>, String>> {
        let mut units: Vec<_> = (1..).zip(text.lines()).flat_map(|(n, line)| reader.line(n, line)).collect();
        units.extend(reader.finish());
        units.into_iter().map(|u| u.map_err(|e| format!("{}: {e}", e.line.unwrap_or(0)))).collect()
    }

    /// Units of four bytes.
    fn four(text: &str) -> Vec<Result<Vec<u8>, String>> {
        read(HexReader::new(4, false, HexOrder::Byte0), text)
    }

    const A: [u8; 4] = [0x01, 0x23, 0x45, 0x67];
    const B: [u8; 4] = [0x89, 0xab, 0xcd, 0xef];

    #[test]
    fn what_simulators_print() {
        let texts = [
            "01234567\n89abcdef\n",
            "01234567\r\n\r\n\n  89ABCDEF",
            "0x01234567 0X89abcdef",
            "0123456789abcdef",
            "0123_4567 // one\n# 01234567\n// 89\n89_ab_cd_ef# two",
            "0: 01 23 45 67\n1:89 ab cd ef",
            "0x00: 0x0123 0x4567\n0x04: 0x89ab 0xcdef",
            "01\n234\n5\t67 8\n9abcde f\n",
            "0123\n456789\nabcdef",
            "a0:01234567//\n a4: 89abcdef",
        ];
        for text in texts {
            assert_eq!(four(text), [Ok(A.to_vec()), Ok(B.to_vec())], "{text:?}");
        }
        assert_eq!(four("\n// 0\n#\n"), []);
    }

    #[test]
    fn the_last_byte_first() {
        let msb = |text| read(HexReader::new(4, false, HexOrder::Msb), text);
        for text in ["67452301 efcdab89", "0x6745_2301efcdab\n89", "0: 6745\n   2301\n1: efcd\n   ab89"] {
            assert_eq!(msb(text), [Ok(A.to_vec()), Ok(B.to_vec())], "{text:?}");
        }
    }

    #[test]
    fn what_is_refused_and_what_is_read_behind_it() {
        let (a, b) = (|| Ok(A.to_vec()), || Ok(B.to_vec()));
        let no = |text: &str| Err(text.to_owned());
        let digits = "hexadecimal digits, `_` between them, white space, `//` or `#`";
        let rows = [
            (
                "01234567\n0123x567\n89abcdef",
                vec![a(), no("2: column 5: found `x`, an unknown value, expected a hexadecimal digit"), b()],
            ),
            (
                "01 2Z\n45 67\n89abcdef",
                vec![no("1: column 5: found `Z`, an undriven value, expected a hexadecimal digit"), b()],
            ),
            (
                "xx 0x\n01234567",
                vec![no("1: column 1: found `x`, an unknown value, expected a hexadecimal digit"), a()],
            ),
            ("0123456g\n01234567", vec![no(&format!("1: column 8: found 'g', expected {digits}")), a()]),
            (
                "0123\nat 12\n01234567",
                vec![
                    no(&format!(
                        "2: column 2: found 't', behind 4 digits of a flit from line 1, column 1, expected {digits}"
                    )),
                    a(),
                ],
            ),
            (
                " 012345\n89abcdef\n01234567",
                vec![
                    no("1: column 2: found 6 digits of a flit that begins here, expected 8 digits, 4 bytes"),
                    b(),
                    a(),
                ],
            ),
            (
                "0123456789\n89 ab cd ef",
                vec![
                    a(),
                    no("1: column 9: found 2 digits of a flit that begins here, expected 8 digits, 4 bytes"),
                    b(),
                ],
            ),
            (
                "01 23 89abcdef",
                vec![no("1: column 1: found 4 digits of a flit that begins here, expected 8 digits, 4 bytes"), b()],
            ),
            (
                "01234567 8",
                vec![a(), no("1: column 10: found 1 digits of a flit that begins here, expected 8 digits, 4 bytes")],
            ),
            ("_01234567", vec![no(&format!("1: column 1: found '_', expected {digits}"))]),
            ("0x_1234567", vec![no(&format!("1: column 3: found '_', expected {digits}"))]),
            ("q: 01234567", vec![no(&format!("1: column 1: found 'q', expected {digits}"))]),
            ("1: 2: 01234567", vec![no(&format!("1: column 5: found ':', expected {digits}"))]),
            (": 01234567", vec![no(&format!("1: column 1: found ':', expected {digits}"))]),
            ("01234567, 89abcdef", vec![no(&format!("1: column 9: found ',', expected {digits}"))]),
            ("é01234567", vec![no(&format!("1: column 1: found 'é', expected {digits}"))]),
            ("01 / 02", vec![no(&format!("1: column 4: found '/', expected {digits}"))]),
        ];
        for (text, units) in rows {
            assert_eq!(four(text), units, "{text:?}");
        }
    }

    /// A packet of `flits`, each of one repeated digit, whose header states `len`.
    fn packet(len: u8, flits: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = flits.iter().flat_map(|&digit| [digit << 4 | digit; FLIT_BYTES]).collect();
        let header = NvlHeader { len, ..NvlHeader::default() }.to_bits().unwrap().to_le_bytes();
        bytes[..FLIT_BYTES].copy_from_slice(&header);
        bytes
    }

    #[test]
    fn packets_end_where_their_header_says() {
        let hex = |bytes: &[u8]| crate::number::hex(bytes);
        let nvl = |text: &str| read(HexReader::new(FLIT_BYTES, true, HexOrder::Byte0), text);
        let (one, three) = (packet(0, &[0]), packet(2, &[0, 1, 2]));
        let both = [Ok(three.clone()), Ok(one.clone())];
        let (first, rest) = three.split_at(FLIT_BYTES);
        assert_eq!(nvl(&format!("{}\n{}", hex(&three), hex(&one))), both);
        assert_eq!(nvl(&format!("{} {}", hex(&three), hex(&one))), both);
        assert_eq!(nvl(&format!("{}\n{}\n\n{}\n{}", hex(first), hex(&rest[..8]), hex(&rest[8..]), hex(&one))), both);
        // A packet of another length than its header states is the decoder's to judge.
        let (long, short) = (packet(0, &[0, 1]), packet(2, &[0, 1]));
        assert_eq!(nvl(&format!("{} {}", hex(&long), hex(&three))), [Ok(long), Ok(three.clone())]);
        assert_eq!(nvl(&format!("{}\n{}", hex(&short), hex(&three))), [Ok(short.clone()), Ok(three.clone())]);
        assert_eq!(nvl(&hex(&short)), [Ok(short)]);
        let none = packet(31, &[0, 1]);
        assert_eq!(nvl(&hex(&none)), [Ok(none)]);
        // No whole flits.
        let text = format!("{}00 {}", hex(&one), hex(&three));
        let error = "1: column 1: found 34 digits of a flit that begins here, expected 1 to 18 flits of 32 digits";
        assert_eq!(nvl(&text), [Err(error.to_owned()), Ok(three.clone())]);
        // Whose length is not known.
        let unknown = format!("{}\nx{}\n{}", hex(first), &hex(&one)[1..], hex(&one));
        assert!(
            matches!(&nvl(&unknown)[..], [Err(e), Ok(last)] if *last == one && e.starts_with("2: column 1: found `x`"))
        );
    }

    #[test]
    fn each_flit_of_a_packet_is_a_number() {
        let three = packet(2, &[0, 1, 2]);
        let text: Vec<String> = three
            .chunks(FLIT_BYTES)
            .map(|flit| format!("{:032x}", u128::from_le_bytes(flit.try_into().unwrap())))
            .collect();
        assert_eq!(read(HexReader::new(FLIT_BYTES, true, HexOrder::Msb), &text.join("\n")), [Ok(three)]);
    }
}
