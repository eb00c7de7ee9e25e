//! A description as a tree of values with their places, and the edits that `--set` makes to it.
//!
//! A walk: the text is parsed as TOML; every key and value keeps its line and column; an edit replaces one value, or
//! adds it, and says that it comes from the command line. What the keys mean is not known here.

use super::problem::{Problems, TextPlace};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Most bytes of a description.
pub const MAX_BYTES: u64 = 16 << 20;
/// Most tables and arrays inside one another.
const MAX_DEPTH: usize = 32;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentItem {
    /// Where the value stands.
    pub place: TextPlace,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A number, as it is written.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// An array.
    List(Vec<DocumentItem>),
    /// A table.
    Table(Table),
}

/// Keys with their values, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Key, where it stands, value.
    pub entries: Vec<(String, TextPlace, DocumentItem)>,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&DocumentItem> {
        self.entries.iter().find(|(name, ..)| name == key).map(|(.., item)| item)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut DocumentItem> {
        self.entries.iter_mut().find(|(name, ..)| name == key).map(|(.., item)| item)
    }

    /// Takes the value of a key out.
    pub fn take(&mut self, key: &str) -> Option<DocumentItem> {
        let at = self.entries.iter().position(|(name, ..)| name == key)?;
        Some(self.entries.remove(at).2)
    }

    /// Sets a key, over what is there.
    pub fn set(&mut self, key: &str, place: TextPlace, item: DocumentItem) {
        match self.entries.iter_mut().find(|(name, ..)| name == key) {
            Some(entry) => *entry = (key.to_owned(), place, item),
            None => self.entries.push((key.to_owned(), place, item)),
        }
    }

    /// Lays the entries of `over` over its own; tables are merged key by key.
    pub fn merge(&mut self, over: &Table) {
        for (key, place, item) in &over.entries {
            match (self.entries.iter_mut().find(|(name, ..)| name == key), &item.value) {
                (Some((.., DocumentItem { value: Value::Table(own), .. })), Value::Table(over)) => own.merge(over),
                _ => self.set(key, *place, item.clone()),
            }
        }
    }
}

impl DocumentItem {
    /// What it is, for messages.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("`{text}`"),
            Value::Number(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            Value::List(_) => "an array".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

/// Lines and columns of byte offsets.
struct LineStarts<'a> {
    /// Number of the file.
    file: u16,
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    fn of(file: u16, text: &'a str) -> LineStarts<'a> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        LineStarts { file, text, starts }
    }

    fn place(&self, offset: usize) -> TextPlace {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        TextPlace { file: self.file, line, column: before.chars().count() + 1 }
    }
}

/// Reads the file of a description.
///
/// # Errors
/// It cannot be read, is too large, or is no text.
pub fn read(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path).map(|m| if m.is_file() { m.len() } else { u64::MAX });
    match length {
        Err(error) => Err(format!("the file cannot be read: {error}")),
        Ok(u64::MAX) => Err("found no regular file, expected a description".to_owned()),
        Ok(length) if length > MAX_BYTES => {
            Err(format!("found {length} bytes, expected a description of at most {MAX_BYTES}"))
        }
        Ok(_) => match std::fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => {
                let offset = error.utf8_error().valid_up_to();
                Err(format!("found a byte at offset {offset} that is no UTF-8, expected text"))
            }
            Err(error) => Err(format!("the file cannot be read: {error}")),
        },
    }
}

/// Parses a description; `file` is its number in messages. Every place that is no TOML is a finding.
pub fn parse(file: u16, text: &str, problems: &mut Problems) -> Table {
    let lines = LineStarts::of(file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let place = lines.place(error.span().map_or(0, |span| span.start));
        problems.add(place, "", format!("the file is no TOML: {}", error.message()));
    }
    self::table(root.get_ref(), &lines, 0, problems)
}

fn table(from: &DeTable<'_>, lines: &LineStarts<'_>, depth: usize, problems: &mut Problems) -> Table {
    let mut entries: Vec<(usize, (String, TextPlace, DocumentItem))> = Vec::new();
    for (key, value) in from.iter() {
        let at = key.span().start;
        let place = lines.place(at);
        let item = DocumentItem {
            place: lines.place(value.span().start),
            value: self::value(value.get_ref(), place, lines, depth, problems),
        };
        entries.push((at, (key.get_ref().to_string(), place, item)));
    }
    // The parser sorts keys by name; the file has an order of its own.
    entries.sort_by_key(|(at, _)| *at);
    Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
}

fn value(from: &DeValue<'_>, at: TextPlace, lines: &LineStarts<'_>, depth: usize, problems: &mut Problems) -> Value {
    match from {
        DeValue::Array(_) | DeValue::Table(_) if depth == MAX_DEPTH => {
            problems.add(at, "", format!("found more than {MAX_DEPTH} tables and arrays inside one another"));
            Value::Text(String::new())
        }
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let prefix = match number.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            Value::Number(format!("{prefix}{}", number.as_str()))
        }
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Array(list) => {
            let item = |item: &toml::Spanned<DeValue<'_>>| {
                let place = lines.place(item.span().start);
                DocumentItem { place, value: self::value(item.get_ref(), place, lines, depth + 1, problems) }
            };
            Value::List(list.iter().map(item).collect())
        }
        DeValue::Table(inner) => Value::Table(table(inner, lines, depth + 1, problems)),
        DeValue::Datetime(_) => {
            problems.add(at, "", "found a date or a time, expected a string, a number, an array or a table");
            Value::Text(String::new())
        }
    }
}

/// A dotted path, with indices: `component.host[1].cache.size` has the parts `component`, `host`, `at`, `1`, `cache`, `size`.
pub fn path_of(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    for part in text.split('.') {
        let (name, index) = match part.split_once('[') {
            None => (part, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(']').filter(|n| n.parse::<usize>().is_ok())?)),
        };
        if name.is_empty() {
            return None;
        }
        parts.push(name.to_owned());
        parts.extend(index.into_iter().flat_map(|n| ["at".to_owned(), n.to_owned()]));
    }
    Some(parts)
}

/// Sets the value at a path, with the tables that lead there; `false`: something on the way is no table.
pub fn edit(root: &mut Table, path: &[String], item: DocumentItem) -> bool {
    let place = item.place;
    let Some((last, way)) = path.split_last() else { return false };
    let mut table = root;
    for part in way {
        if table.get(part).is_none() {
            table.set(part, place, DocumentItem { place, value: Value::Table(Table::default()) });
        }
        let Some((.., item)) = table.entries.iter_mut().find(|(name, ..)| name == part) else { return false };
        let Value::Table(inner) = &mut item.value else { return false };
        table = inner;
    }
    table.set(last, place, item);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Table, Problems> {
        let mut problems = Problems::of("f.toml");
        let table = parse(0, text, &mut problems);
        problems.none(table)
    }

    #[test]
    fn places_order_and_edits() {
        let text = "format = 1\n[b]\nz = \"1 ns\"\na = [1, 0x10]\n[a]\nx = { y = true }\n";
        let mut root = parsed(text).expect("it is TOML");
        let keys: Vec<&str> = root.entries.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["format", "b", "a"], "in the order of the file");
        let Some(DocumentItem { value: Value::Table(b), .. }) = root.get("b") else { panic!("b is a table") };
        assert_eq!(b.entries[0].1, TextPlace { file: 0, line: 3, column: 1 });
        assert_eq!(b.entries[0].2.place, TextPlace { file: 0, line: 3, column: 5 });
        let path = path_of("a.x.y").expect("a path");
        let off = || DocumentItem { place: TextPlace::default(), value: Value::Bool(false) };
        assert!(edit(&mut root, &path, off()));
        assert!(!edit(&mut root, &path_of("format.x").expect("a path"), off()));
        assert_eq!(path_of("link.hosts[12].ber").expect("a path").join("/"), "link/hosts/at/12/ber");
        for bad in ["", "a..b", "a[x].b", "a[1.b", ".a"] {
            assert_eq!(path_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_wrong_place_is_reported() {
        let wrong = parsed("a = 1\na = 2\nb = \n[c\n").expect_err("it is no TOML");
        assert!(wrong.list.len() >= 2, "{wrong}");
        assert!(wrong.to_string().starts_with("f.toml:2:1: the file is no TOML: "), "{wrong}");
        let nested = |open: &str, close: &str, n: usize| format!("a = {}1{}", open.repeat(n), close.repeat(n));
        for (open, close) in [("[", "]"), ("{ a = ", " }")] {
            assert!(parsed(&nested(open, close, MAX_DEPTH)).is_ok(), "{open}");
            // Beyond its own limit the parser says so itself.
            for n in [MAX_DEPTH + 1, 10_000] {
                let wrong = parsed(&nested(open, close, n)).expect_err("too deep").to_string();
                assert!(wrong.starts_with("f.toml:1:"), "{wrong}");
                assert!(n > MAX_DEPTH + 1 || wrong.contains("more than 32 tables and arrays"), "{wrong}");
            }
        }
        assert!(parsed("t = 2020-01-01\n").expect_err("a date").to_string().contains("a date"));
    }
}
