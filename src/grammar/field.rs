//! Typed configurations: a struct whose fields are declared once, with unit, range, default and meaning.
//!
//! The macro `config!` makes the struct, the table of its fields, and the function that reads it from
//! a table of a description. Descriptions, `describe`, short names of settings and the JSON Schema all come from that
//! table.
//!
//! A walk through one field: its value is looked up in the table; without it the default stands, or nothing in a field that
//! has none, which is an `Option`; a number is read with
//! its unit and compared with the range; what does not fit is a finding, and the default stands so that reading goes on.

use super::document::{DocumentItem, Table, Value};
use super::problem::{Problems, TextPlace};
use super::quantity::{self, Unit};
use scalepool_forms::message::most_similar;
use std::fmt::{self, Display};

/// What a field takes.
#[derive(Debug, Clone, Copy)]
pub enum FieldRange {
    /// A whole number, both ends included.
    Int(u64, u64),
    /// One of these whole numbers.
    OneOf(&'static [u64]),
    /// A real number, both ends included.
    Real(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`, also `"on"` and `"off"`.
    Switch,
    /// A string; what it holds.
    Text(&'static str),
    /// An array of strings; what each of them is. A single string holds them with commas between.
    Texts(&'static str),
    /// A table with these fields.
    Table(fn() -> Vec<&'static Field>),
    /// An array of tables with these fields.
    Tables(fn() -> Vec<&'static Field>),
}

impl Display for FieldRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldRange::Int(low, high) => write!(f, "{low} to {high}"),
            FieldRange::OneOf(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
                f.write_str(&numbers.join(", "))
            }
            FieldRange::Real(low, high) => write!(f, "{low} to {high}"),
            FieldRange::Words(words) => f.write_str(&words.join(", ")),
            FieldRange::Switch => f.write_str("on, off"),
            FieldRange::Text(what) => f.write_str(what),
            FieldRange::Texts(what) => write!(f, "list of {what}"),
            FieldRange::Table(fields) => {
                let names: Vec<&str> = fields().iter().map(|field| field.name).collect();
                write!(f, "a table with {}", names.join(", "))
            }
            FieldRange::Tables(fields) => {
                let names: Vec<&str> = fields().iter().map(|field| field.name).collect();
                write!(f, "list of tables with {}", names.join(", "))
            }
        }
    }
}

/// Multiples of it are round sizes.
const ROUND_BYTES: u64 = 1 << 20;

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Key in its table.
    pub name: &'static str,
    /// Value when it is not given.
    pub default: &'static str,
    /// What a bare number means.
    pub unit: Unit,
    /// What it takes.
    pub range: FieldRange,
    /// What it is, with its source.
    pub doc: &'static str,
}

impl Field {
    /// What it expects, with its unit, for messages.
    pub fn expected(&self) -> String {
        let shown = |value: &u64| self.unit.shown(*value);
        match (self.range, self.unit) {
            (FieldRange::Int(low, high), Unit::Time) => format!("{} to {}", shown(&low), shown(&high)),
            (FieldRange::Int(low, high), Unit::Bytes) => {
                // A size just below a round one is told by that one too.
                let above =
                    high.checked_next_multiple_of(ROUND_BYTES).filter(|above| high > ROUND_BYTES && *above > high);
                let round = above.map(|above| format!(", which is {} B below {}", above - high, shown(&above)));
                format!("{} to {}{}", shown(&low), shown(&high), round.unwrap_or_default())
            }
            (FieldRange::Int(..) | FieldRange::OneOf(_) | FieldRange::Real(..), unit) if unit != Unit::Of("-") => {
                format!("{} [{}]", self.range, unit.name())
            }
            _ => self.range.to_string(),
        }
    }
}

/// A configuration that is read from a table.
pub trait Config: Sized {
    /// Its fields.
    fn fields() -> Vec<&'static Field>;

    /// Reads all of them.
    fn read(reader: &mut TableReader<'_>) -> Self;
}

/// A value that a field can have.
pub trait ReadField: Sized {
    /// Its value in the table of the reader.
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self;
}

/// Declares a configuration: `name: type = "default" [unit] in range, "meaning";` for each field. `with { part: Type }` in
/// front takes in the fields of other configurations, in the same table.
#[macro_export]
macro_rules! config {
    ($(#[$meta:meta])* pub struct $name:ident $(with { $($part:ident: $config:ty),* })? {
        $($field:ident: $type:ty = $default:literal [$unit:expr] in $range:expr, $doc:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(
                #[doc = "Fields of the same table."]
                pub $part: $config,
            )*)?
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl $crate::field::Config for $name {
            fn fields() -> Vec<&'static $crate::field::Field> {
                static OWN: &[$crate::field::Field] = &[
                    $($crate::field::Field {
                        name: stringify!($field), default: $default, unit: $unit, range: $range, doc: $doc,
                    },)*
                ];
                #[allow(unused_mut)]
                let mut fields: Vec<&'static $crate::field::Field> = Vec::new();
                $($(fields.extend(<$config as $crate::field::Config>::fields());)*)?
                fields.extend(OWN);
                fields
            }

            fn read(reader: &mut $crate::field::TableReader<'_>) -> Self {
                $name {
                    $($($part: <$config as $crate::field::Config>::read(reader),)*)?
                    $($field: reader.take(stringify!($field)),)*
                }
            }
        }

        impl $crate::field::ReadField for $name {
            fn taken(
                reader: &mut $crate::field::TableReader<'_>,
                field: &'static $crate::field::Field,
            ) -> Self {
                reader.table(field)
            }
        }
    };
}
pub use crate::config;

/// Reads one table of a description.
pub struct TableReader<'a> {
    fields: Vec<&'static Field>,
    table: &'a Table,
    /// Where the table stands.
    place: TextPlace,
    /// Path of the table.
    path: String,
    problems: &'a mut Problems,
    /// Every value as it is used: path and text.
    resolved: &'a mut Vec<(String, String)>,
}

/// Reads a configuration from a table; keys in `reserved` are somebody else's.
pub fn read<C: Config>(
    table: &Table,
    place: TextPlace,
    path: &str,
    reserved: &[&str],
    problems: &mut Problems,
    resolved: &mut Vec<(String, String)>,
) -> C {
    let fields = C::fields();
    let known = || fields.iter().map(|field| field.name).chain(reserved.iter().copied());
    for (key, place, _) in &table.entries {
        if !known().any(|name| name == key) {
            problems.add(*place, format!("{path}.{key}"), unknown("key", known()).of(key));
        }
    }
    C::read(&mut TableReader { fields, table, place, path: path.to_owned(), problems, resolved })
}

/// A configuration of which nothing is given.
pub fn defaults<C: Config>() -> C {
    read(&Table::default(), TextPlace::default(), "", &[], &mut Problems::default(), &mut Vec::new())
}

/// What to say of a name that nobody knows.
pub struct UnknownName<'a> {
    what: &'a str,
    known: Vec<&'a str>,
}

/// Of names of such a kind.
pub fn unknown<'a>(what: &'a str, known: impl Iterator<Item = &'a str>) -> UnknownName<'a> {
    UnknownName { what, known: known.collect() }
}

impl UnknownName<'_> {
    /// The text for a name.
    pub fn of(&self, found: &str) -> String {
        let UnknownName { what, known } = self;
        let near = most_similar(found, known.iter().copied());
        match near.first() {
            None => format!("found the {what} `{found}`, expected none"),
            Some(near) => {
                format!("found the {what} `{found}`, expected one of {}; the nearest is `{near}`", known.join(", "))
            }
        }
    }
}

impl TableReader<'_> {
    /// The value of a field, of any type.
    pub fn take<T: ReadField>(&mut self, name: &str) -> T {
        let field = self.fields.iter().find(|field| field.name == name).copied();
        T::taken(self, field.unwrap_or_else(|| unreachable!("`{name}` is declared")))
    }

    fn path(&self, field: &Field) -> String {
        format!("{}.{}", self.path, field.name)
    }

    fn refuse(&mut self, field: &Field, item: &DocumentItem, expected: &str) {
        let path = self.path(field);
        self.problems.add(item.place, path, format!("found {}, expected {expected}", item.shown()));
    }

    /// The given value, if there is one that `parse` can read; one that it refuses is a finding.
    fn given<T>(&mut self, field: &'static Field, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let item = self.table.get(field.name)?.clone();
        let text = match &item.value {
            Value::Text(text) | Value::Number(text) => Ok(text.clone()),
            Value::Bool(value) => Ok(if *value { "on" } else { "off" }.to_owned()),
            _ => Err(field.expected()),
        };
        match text.and_then(|text| parse(&text).map(|value| (value, text))) {
            Ok((value, text)) => {
                self.resolved.push((self.path(field), text));
                Some(value)
            }
            Err(expected) => {
                self.refuse(field, &item, &expected);
                None
            }
        }
    }

    /// The given value, or the default.
    fn value<T>(&mut self, field: &'static Field, parse: impl Fn(&str) -> Result<T, String>) -> T {
        self.given(field, &parse).unwrap_or_else(|| {
            self.resolved.push((self.path(field), field.default.to_owned()));
            parse(field.default).unwrap_or_else(|_| unreachable!("the default of `{}` is legal", field.name))
        })
    }

    fn int(&mut self, field: &'static Field) -> u64 {
        let value = self.value(field, |text| whole_number(field, text));
        self.respell(value);
        value
    }

    /// A number that has no default.
    fn optional_int(&mut self, field: &'static Field) -> Option<u64> {
        let value = self.given(field, |text| whole_number(field, text))?;
        self.respell(value);
        Some(value)
    }

    /// However the number was written, its value decides.
    fn respell(&mut self, value: u64) {
        if let Some((_, text)) = self.resolved.last_mut() {
            *text = value.to_string();
        }
    }

    /// Whether a field is given.
    fn has(&self, field: &Field) -> bool {
        self.table.get(field.name).is_some()
    }

    /// A table inside this one.
    pub fn table<C: Config>(&mut self, field: &'static Field) -> C {
        let empty = Table::default();
        let (table, place) = match self.table.get(field.name) {
            Some(DocumentItem { value: Value::Table(table), place }) => (table, *place),
            Some(item) => {
                let item = item.clone();
                self.refuse(field, &item, &field.expected());
                (&empty, self.place)
            }
            None => (&empty, self.place),
        };
        let path = self.path(field);
        read(table, place, &path, &[], self.problems, self.resolved)
    }
}

/// A number in the range of a field, or what was expected.
fn whole_number(field: &Field, text: &str) -> Result<u64, String> {
    match (quantity::parse(text, field.unit), field.range) {
        (Some(n), FieldRange::Int(low, high)) if (low..=high).contains(&n) => Ok(n),
        (Some(n), FieldRange::OneOf(numbers)) if numbers.contains(&n) => Ok(n),
        (Some(_), _) => Err(field.expected()),
        (None, _) if text.trim().starts_with(|c: char| c.is_ascii_digit()) => {
            Err(format!("{}: {}", field.expected(), field.unit.expected()))
        }
        (None, _) => Err(field.expected()),
    }
}

macro_rules! ints {
    ($($type:ty),*) => {
        $(impl ReadField for $type {
            fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
                let value = reader.int(field);
                <$type>::try_from(value).unwrap_or_else(|_| unreachable!("the range of `{}` fits its type", field.name))
            }
        }

        impl ReadField for Option<$type> {
            fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
                reader.optional_int(field).and_then(|value| <$type>::try_from(value).ok())
            }
        })*
    };
}
ints!(u8, u16, u32, u64, usize);

/// A table that may be left out as a whole.
impl<C: Config> ReadField for Option<C> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Option<C> {
        reader.has(field).then(|| reader.table(field))
    }
}

/// A table with its defaults, and whether it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct MaybeGiven<C> {
    /// What it says.
    pub config: C,
    /// Whether it stands in the description.
    pub is_given: bool,
}

impl<C: Config> ReadField for MaybeGiven<C> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> MaybeGiven<C> {
        MaybeGiven { is_given: reader.has(field), config: reader.table(field) }
    }
}

impl ReadField for f64 {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> f64 {
        reader.value(field, |text| match (text.replace('_', "").parse::<f64>(), field.range) {
            (Ok(x), FieldRange::Real(low, high)) if x >= low && x <= high => Ok(x),
            _ => Err(field.expected()),
        })
    }
}

impl ReadField for bool {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> bool {
        reader.value(field, |text| match text {
            "on" | "true" => Ok(true),
            "off" | "false" => Ok(false),
            _ => Err("true or false".to_owned()),
        })
    }
}

impl ReadField for String {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> String {
        reader.value(field, |text| word(field, text))
    }
}

/// A string that has no default.
impl ReadField for Option<String> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
        reader.given(field, |text| word(field, text))
    }
}

/// A string in the range of a field, or what was expected.
fn word(field: &Field, text: &str) -> Result<String, String> {
    match field.range {
        FieldRange::Words(words) if !words.contains(&text) => Err(field.expected()),
        _ => Ok(text.to_owned()),
    }
}

/// The strings that one holds, with commas between them and brackets around all.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    inner.split([',', ';']).map(|part| part.trim().trim_matches(['"', '\''])).filter(|part| !part.is_empty())
}

/// Strings, each with its place.
impl ReadField for Vec<(String, TextPlace)> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
        let given = reader.table.get(field.name).cloned();
        let list = match given {
            None => Vec::new(),
            Some(DocumentItem { value: Value::List(items), .. }) => {
                let mut list = Vec::new();
                for item in items {
                    match &item.value {
                        Value::Text(text) => list.push((text.clone(), item.place)),
                        _ => reader.refuse(field, &item, &format!("a string in the {}", field.expected())),
                    }
                }
                list
            }
            Some(DocumentItem { value: Value::Text(text), place }) => {
                elements(&text).map(|part| (part.to_owned(), place)).collect()
            }
            Some(item) => {
                reader.refuse(field, &item, &field.expected());
                Vec::new()
            }
        };
        let (path, texts): (_, Vec<&str>) = (reader.path(field), list.iter().map(|(text, _)| text.as_str()).collect());
        reader.resolved.push((path, texts.join(",")));
        list
    }
}

/// Strings that may be left out, which is not the same as a list of none.
impl ReadField for Option<Vec<(String, TextPlace)>> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
        let is_given = reader.has(field);
        let list = Vec::taken(reader, field);
        is_given.then_some(list)
    }
}

/// Tables, each with its place.
impl<C: Config> ReadField for Vec<(C, TextPlace)> {
    fn taken(reader: &mut TableReader<'_>, field: &'static Field) -> Self {
        let (path, mut list) = (reader.path(field), Vec::new());
        let items = match reader.table.get(field.name).cloned() {
            None => Vec::new(),
            Some(DocumentItem { value: Value::List(items), .. }) => items,
            Some(item) => {
                reader.refuse(field, &item, &field.expected());
                Vec::new()
            }
        };
        for item in &items {
            match &item.value {
                Value::Table(table) => {
                    let path = format!("{path}[{}]", list.len());
                    let own = read(table, item.place, &path, &[], reader.problems, reader.resolved);
                    list.push((own, item.place));
                }
                _ => reader.refuse(field, item, &format!("a table in the {}", field.expected())),
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    config! {
        /// A table inside.
        pub struct Inner {
            size: u64 = "32 KiB" [Unit::Bytes] in FieldRange::Int(0, 1 << 30), "size of it";
        }
    }

    config! {
        /// A configuration for the tests.
        pub struct Outer {
            depth: u32 = "4" [Unit::Of("entries")] in FieldRange::Int(1, 64), "entries that it holds";
            delay: u64 = "8 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "delay";
            rate: u64 = "32" [Unit::Rate] in FieldRange::OneOf(&[16, 32]), "rate";
            ber: f64 = "0" [Unit::Of("errors per bit")] in FieldRange::Real(0.0, 0.1), "bit error rate";
            fast: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "fast";
            order: String = "strict" [Unit::Of("-")] in FieldRange::Words(&["strict", "relaxed"]), "order";
            rule: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["first", "last"]), "rule";
            faults: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("faults"), "faults";
            inner: Inner = "" [Unit::Of("-")] in FieldRange::Table(Inner::fields), "the table inside";
            spare: Option<Inner> = "" [Unit::Of("-")] in FieldRange::Table(Inner::fields), "a table that may be left out";
            several: Vec<(Inner, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(Inner::fields), "tables";
        }
    }

    fn outer(text: &str) -> (Outer, String, Vec<(String, String)>) {
        let (mut problems, mut resolved) = (Problems::of("f.toml"), Vec::new());
        let table = document::parse(0, text, &mut problems);
        let outer = read(&table, TextPlace::start(0), "c", &["kind"], &mut problems, &mut resolved);
        (outer, problems.none(()).err().map(|p| p.to_string()).unwrap_or_default(), resolved)
    }

    #[test]
    fn defaults_and_values() {
        let (all, wrong, resolved) = outer("kind = \"x\"");
        assert_eq!(wrong, "");
        assert_eq!((all.depth, all.delay, all.rate, all.fast, all.inner.size), (4, 8_000_000, 32, true, 32768));
        assert!(resolved.contains(&("c.inner.size".to_owned(), "32768".to_owned())), "{resolved:?}");
        assert_eq!(all.spare, None);
        assert!(!resolved.iter().any(|(path, _)| path.starts_with("c.spare")), "what is left out decides nothing");
        assert!(all.rule.is_none() && !resolved.iter().any(|(path, _)| path == "c.rule"));
        let (given, wrong, resolved) = outer("rule = \"last\"");
        assert_eq!((given.rule.as_deref(), wrong.as_str()), (Some("last"), ""));
        assert!(resolved.contains(&("c.rule".to_owned(), "last".to_owned())), "{resolved:?}");
        assert_eq!(outer("rule = \"any\"").1, "f.toml:1:8: c.rule: found `any`, expected first, last");
        let (tables, wrong, resolved) = outer("several = [{ size = \"1 MiB\" }, {}]");
        assert_eq!(
            (tables.several.iter().map(|(inner, _)| inner.size).collect::<Vec<_>>(), wrong),
            (vec![1 << 20, 32768], String::new())
        );
        assert!(resolved.contains(&("c.several[0].size".to_owned(), "1048576".to_owned())), "{resolved:?}");
        assert_eq!(
            outer("several = [{ size = 2 }, 3, { sise = 4 }]").1,
            "f.toml:1:26: c.several: found 3, expected a table in the list of tables with size\n\
             f.toml:1:31: c.several[1].sise: found the key `sise`, expected one of size; the nearest is `size`"
        );
        assert_eq!(outer("several = 3").1, "f.toml:1:11: c.several: found 3, expected list of tables with size");
        assert_eq!(outer("spare = {}").0.spare, Some(Inner { size: 32768 }));
        let text = "depth = 64\ndelay = \"1 us\"\nfast = false\nber = 1e-3\nfaults = [\"a\", \"b\"]\ninner = { size = \"1 MiB\" }\norder = \"relaxed\"";
        let (all, wrong, _) = outer(text);
        assert_eq!(wrong, "");
        assert_eq!(
            (all.depth, all.delay, all.fast, all.ber, all.inner.size),
            (64, 1_000_000_000, false, 1e-3, 1 << 20)
        );
        assert_eq!(all.faults.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_place() {
        let text = "depth = 65\ndelay = \"1 MiB\"\nrate = 8\nber = 2\nfast = 3\norder = \"any\"\nfaults = 3\ninner = 4\ndepht = 4";
        let (all, wrong, _) = outer(text);
        let lines = [
            "f.toml:1:9: c.depth: found 65, expected 1 to 64 [entries]",
            "f.toml:2:9: c.delay: found `1 MiB`, expected 0 to 1.099511627776 ms: a number with one of the units fs, ps, ns, us, ms or s",
            "f.toml:3:8: c.rate: found 8, expected 16, 32 [GT/s per lane]",
            "f.toml:4:7: c.ber: found 2, expected 0 to 0.1 [errors per bit]",
            "f.toml:5:8: c.fast: found 3, expected true or false",
            "f.toml:6:9: c.order: found `any`, expected strict, relaxed",
            "f.toml:7:10: c.faults: found 3, expected list of faults",
            "f.toml:8:9: c.inner: found 4, expected a table with size",
            "f.toml:9:1: c.depht: found the key `depht`, expected one of depth, delay, rate, ber, fast, order, rule, faults, inner, spare, several, kind; the nearest is `depth`",
        ];
        assert_eq!(wrong, lines.join("\n"));
        assert_eq!(all.depth, 4, "reading goes on with the default");
    }
}
