//! A description and the settings that change it: what a user writes, before anything is known to fit.
//!
//! A walk: the file is read to a [`document`]; every `--set` edits it, by a short name of `[settings]` or by a whole path;
//! [`resolve`](super::resolve) makes a [`System`] of it, or says everything that is wrong.

use super::design::System;
use super::document::{self, DocumentItem, Table, Value, path_of};
use super::field::{Config, Field, FieldRange};
use super::generator::generator_kind;
use super::kind::{COMPONENTS, ComponentKind, LINKS, LinkKind};
use super::memory_map::WindowConfig;
use super::problem::{Problems, TextPlace};
use super::resolve::{ClockConfig, MOST, SystemConfig, resolve};
use std::path::{Path, PathBuf};

/// Most descriptions that one takes in, and most of them inside one another.
const MOST_PARTS: (usize, usize) = (1024, 16);

/// A description with its settings.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its file as messages name it, then the files of its parts; of a part none.
    pub(super) files: Vec<String>,
    /// Number of its own file.
    pub(super) file: u16,
    /// Folder to which its paths are relative.
    pub(super) folder: PathBuf,
    pub(super) root: Table,
    /// What its parts use, as their files have it.
    pub(super) parts: Vec<(String, Description)>,
    /// Edited paths, and the keys that the user gave for them.
    edits: Vec<(String, String)>,
}

/// Reads a description and those that it takes in.
struct Loader {
    problems: Problems,
    /// Files that are being read, from the first to that of the part.
    open: Vec<PathBuf>,
}

impl Loader {
    fn description(&mut self, file: u16, folder: PathBuf, text: &str) -> Description {
        let root = document::parse(file, text, &mut self.problems);
        let mut own = Description { files: Vec::new(), file, folder, root, parts: Vec::new(), edits: Vec::new() };
        let Some(DocumentItem { value: Value::Table(parts), .. }) = own.root.get("part").cloned() else { return own };
        for (name, place, item) in &parts.entries {
            if let Some(part) = self.part(name, *place, item, &own.folder) {
                own.parts.push((name.clone(), part));
            }
        }
        own
    }

    fn part(&mut self, name: &str, place: TextPlace, item: &DocumentItem, folder: &Path) -> Option<Description> {
        let key = format!("part.{name}");
        let Value::Table(table) = &item.value else {
            self.problems.add(item.place, key, format!("found {}, expected a table", item.shown()));
            return None;
        };
        let (key, place) = (format!("{key}.use"), table.get("use").map_or(place, |item| item.place));
        let Some(DocumentItem { value: Value::Text(used), .. }) = table.get("use") else {
            let found = table.get("use").map_or("no use".to_owned(), DocumentItem::shown);
            self.problems.add(place, key, format!("found {found}, expected the file of a description"));
            return None;
        };
        let path = folder.join(used);
        let text = match document::read(&path) {
            Ok(text) => text,
            Err(text) => {
                self.problems.add(place, key, format!("`{}`: {text}", path.display()));
                return None;
            }
        };
        let (most, deepest) = MOST_PARTS;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let refused = if self.open.contains(&real) {
            Some(format!("found `{}`, which is being read: a description cannot be a part of itself", path.display()))
        } else if self.open.len() > deepest {
            Some(format!("found parts more than {deepest} inside one another, expected at most that"))
        } else if self.problems.files.len() > most {
            Some(format!("found more than {most} parts, expected at most that"))
        } else {
            None
        };
        if let Some(text) = refused {
            self.problems.add(place, key, text);
            return None;
        }
        let file = self.problems.files.len() as u16;
        self.problems.files.push(path.display().to_string());
        self.open.push(real);
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let part = self.description(file, folder, &text);
        self.open.pop();
        Some(part)
    }
}

/// A short name of a setting, as `describe` lists it.
#[derive(Debug, Clone)]
pub struct Short {
    /// Name, `host.outstanding`.
    pub name: String,
    /// What it stands for, `component.host.outstanding`; all of them get the value.
    pub paths: Vec<String>,
    /// Value in the description.
    pub default: String,
    /// The field.
    pub field: Field,
}

impl Description {
    /// Reads a file, and those that it takes in.
    ///
    /// # Errors
    /// One cannot be read, or is no TOML.
    pub fn open(path: &Path) -> Result<Description, Problems> {
        let file = path.display().to_string();
        let text = document::read(path).map_err(|text| {
            let mut problems = Problems::of(&file);
            problems.add(TextPlace::start(0), "", text);
            problems
        })?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Description::load(&file, folder, &text, path.canonicalize().ok())
    }

    /// Takes a text; `file` is its name in messages, paths in it are relative to `folder`.
    ///
    /// # Errors
    /// It is no TOML, or that of one that it takes in.
    pub fn parse(file: &str, folder: PathBuf, text: &str) -> Result<Description, Problems> {
        Description::load(file, folder, text, None)
    }

    fn load(file: &str, folder: PathBuf, text: &str, real: Option<PathBuf>) -> Result<Description, Problems> {
        let mut loader = Loader { problems: Problems::of(file), open: real.into_iter().collect() };
        let mut description = loader.description(0, folder, text);
        description.files.clone_from(&loader.problems.files);
        loader.problems.none(description)
    }

    /// Takes `key=value`: the key is a short name of `[settings]` or a path such as `component.host[1].outstanding`.
    ///
    /// # Errors
    /// Another form, or a key that names nothing that can be set.
    pub fn set(&mut self, text: &str) -> Result<(), Problems> {
        let file = self.files[0].clone();
        let refused = |key: &str, text: String| {
            let mut problems = Problems::of(&file);
            problems.add(TextPlace::default(), key, text);
            problems
        };
        let Some((key, value)) = text.split_once('=') else {
            return Err(refused(&format!("`{text}`"), "expected key=value".to_owned()));
        };
        let (key, value) = (key.trim(), value.trim());
        let item = DocumentItem { place: TextPlace::default(), value: Value::Text(value.to_owned()) };
        self.assign(key, item).map_err(|text| refused(&format!("`{key}`"), text))
    }

    /// Gives a short name, or the field at a path, a value: all of its places, or none.
    ///
    /// # Errors
    /// What was expected in place of the key.
    pub(super) fn assign(&mut self, key: &str, item: DocumentItem) -> Result<(), String> {
        let shorts = self.shorts();
        let short = shorts.iter().find(|short| short.name == key);
        let paths = short.map_or(vec![key.to_owned()], |short| short.paths.clone());
        let known = |path: &String| path_of(path).filter(|_| self.is_value(path));
        let Some(parts) = paths.iter().map(known).collect::<Option<Vec<_>>>() else {
            if let Some(list) = paths.iter().find_map(|path| self.list_on(path)) {
                return Err(format!(
                    "found a list of tables, expected a single value: `{list}` is given in the file of a description"
                ));
            }
            let known = shorts.iter().map(|short| short.name.as_str()).collect::<Vec<_>>().join(", ");
            let expected = if known.is_empty() { "a path such as component.host.outstanding" } else { &known };
            return Err(format!("no such key; expected one of: {expected}"));
        };
        let mut root = self.root.clone();
        if !parts.into_iter().all(|parts| document::edit(&mut root, &in_set(parts), item.clone())) {
            return Err("found a value on the way to it, expected tables".to_owned());
        }
        self.root = root;
        self.edits.extend(paths.into_iter().map(|path| (path, key.to_owned())));
        Ok(())
    }

    /// The system that it describes.
    ///
    /// # Errors
    /// Everything that is wrong, in order of its places.
    pub fn resolve(&self) -> Result<System, Problems> {
        resolve(self).map_err(|mut problems| {
            // What the command line set is named as it was given there.
            for problem in problems.list.iter_mut().filter(|p| p.place.line == 0) {
                if let Some((_, given)) = self.edits.iter().rfind(|(path, _)| *path == problem.key) {
                    problem.key = given.clone();
                }
            }
            problems
        })
    }

    /// Its tables with what its presets bring: a value of a short name sets others that nobody has set.
    pub(super) fn with_presets(&self) -> Table {
        let (mut root, shorts) = (self.root.clone(), self.shorts());
        for (name, value, short, item) in self.presets() {
            let is_chosen = shorts.iter().any(|known| known.name == name && known.default == value);
            let Some(target) = shorts.iter().find(|known| known.name == short).filter(|_| is_chosen) else { continue };
            let is_edited = |path: &String| self.edits.iter().any(|(edited, _)| edited == path);
            if !target.paths.iter().any(is_edited) {
                for parts in target.paths.iter().filter_map(|path| path_of(path)) {
                    document::edit(&mut root, &in_set(parts), item.clone());
                }
            }
        }
        root
    }

    /// Entries of `[preset."NAME".VALUE]`: name and value of the choice, and what it brings.
    pub(super) fn presets(&self) -> impl Iterator<Item = (&str, &str, &str, &DocumentItem)> {
        fn entries(item: &DocumentItem) -> impl Iterator<Item = (&str, &DocumentItem)> {
            let table = match &item.value {
                Value::Table(table) => Some(table),
                _ => None,
            };
            table.into_iter().flat_map(|table| &table.entries).map(|(key, _, item)| (key.as_str(), item))
        }
        let names = self.root.get("preset").into_iter().flat_map(entries);
        let choices = names.flat_map(|(name, item)| entries(item).map(move |(value, item)| (name, value, item)));
        choices.flat_map(|(name, value, item)| entries(item).map(move |(short, item)| (name, value, short, item)))
    }

    /// Name of the system, and what it is.
    pub fn title(&self) -> (String, String) {
        let of = |key: &str| match self.table("system").and_then(|table| table.get(key)) {
            Some(DocumentItem { value: Value::Text(text), .. }) => text.clone(),
            _ => String::new(),
        };
        (of("name"), of("about"))
    }

    /// Short names of settings, in the order of the file, without those that lead nowhere.
    pub fn shorts(&self) -> Vec<Short> {
        let Some(table) = self.table("settings") else { return Vec::new() };
        let short = |(name, _, item): &(String, TextPlace, DocumentItem)| {
            let paths = paths_of(item)?;
            let (mut field, default) = self.field_of(paths.first()?)?;
            // A value has to fit all of its paths.
            for (other, _) in paths[1..].iter().filter_map(|path| self.field_of(path)) {
                if let (FieldRange::Int(low, high), FieldRange::Int(least, most)) = (field.range, other.range) {
                    field.range = FieldRange::Int(low.max(least), high.min(most));
                }
            }
            Some(Short { name: name.clone(), paths, default, field })
        };
        table.entries.iter().filter_map(short).collect()
    }

    /// What a short name, or the field at a path, takes; `None`: there is no such key.
    pub fn range_of(&self, key: &str) -> Option<FieldRange> {
        let short = self.shorts().into_iter().find(|short| short.name == key);
        short.map(|short| short.field.range).or_else(|| self.field_of(key).map(|(field, _)| field.range))
    }

    /// The list of tables that a path names, or leads into.
    fn list_on(&self, path: &str) -> Option<String> {
        let is_list =
            |path: &&str| self.field_of(path).is_some_and(|(field, _)| matches!(field.range, FieldRange::Tables(_)));
        let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(n, _)| &path[..n]);
        ends.chain([path]).find(is_list).map(str::to_owned)
    }

    /// A table at the top.
    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        match self.root.get(name) {
            Some(DocumentItem { value: Value::Table(table), .. }) => Some(table),
            _ => None,
        }
    }

    /// Whether there is a field with one value at a path.
    pub(super) fn is_value(&self, path: &str) -> bool {
        self.field_of(path)
            .is_some_and(|(field, _)| !matches!(field.range, FieldRange::Table(_) | FieldRange::Tables(_)))
    }

    /// The field at a path, and its value in the description.
    pub(super) fn field_of(&self, path: &str) -> Option<(Field, String)> {
        let parts = path_of(path)?;
        let [top, name, rest @ ..] = &parts[..] else { return None };
        if top == "part" {
            return self.field_of_part(name, rest, &parts);
        }
        if top == "system" {
            let field = SystemConfig::fields().into_iter().find(|field| field.name == name)?;
            return rest.is_empty().then(|| (*field, self.given(&parts, field)));
        }
        let Some(DocumentItem { value: Value::Table(own), .. }) = self.table(top)?.get(name) else { return None };
        let kind = match own.get("kind") {
            Some(DocumentItem { value: Value::Text(kind), .. }) => kind.as_str(),
            _ => "",
        };
        let rest = match rest {
            [at, _, rest @ ..] if at == "at" => rest,
            rest => rest,
        };
        if top == "link" && rest == ["kind"] {
            return Some((kind_of_link(link_kind(kind)?), kind.to_owned()));
        }
        if top == "component" && rest == ["count"] && own.get("count").is_some() {
            return Some((COUNT, self.given(&parts, &COUNT)));
        }
        if top == "component" && rest == ["external"] {
            let range = FieldRange::Words(component_kind(kind)?.external);
            let field = Field { range, ..EXTERNAL };
            return Some((field, self.given(&parts, &field)));
        }
        let mut fields = match top.as_str() {
            "clock" => ClockConfig::fields(),
            "memory_map" => WindowConfig::fields(),
            "generator" => (generator_kind(kind)?.fields)(),
            "component" => (component_kind(kind)?.fields)(),
            "link" => (link_kind(kind)?.fields)(),
            _ => return None,
        };
        let (last, way) = rest.split_last()?;
        for part in way {
            let FieldRange::Table(inner) = fields.iter().find(|field| field.name == part)?.range else { return None };
            fields = inner();
        }
        let field = fields.into_iter().find(|field| field.name == last)?;
        Some((*field, self.given(&parts, field)))
    }

    /// The field that a short name or a path of a part stands for.
    fn field_of_part(&self, name: &str, rest: &[String], parts: &[String]) -> Option<(Field, String)> {
        let rest = match rest {
            [at, _, rest @ ..] if at == "at" => rest,
            rest => rest,
        };
        let key = spelled(rest);
        let (_, part) = self.parts.iter().find(|(known, _)| known == name)?;
        let short = part.shorts().into_iter().find(|short| short.name == key);
        let (field, default) = match short {
            Some(short) => (short.field, short.default),
            None => part.field_of(&key)?,
        };
        // What this description sets stands over what the file of the part says.
        let own = Field { default: "", ..field };
        let given = self.given(&in_set(parts.to_vec()), &own);
        Some((field, if given.is_empty() { default } else { given }))
    }

    /// The value at a path as it is written, or the default of its field.
    fn given(&self, parts: &[String], field: &Field) -> String {
        let mut value = self.root.get(&parts[0]).map(|item| &item.value);
        for part in &parts[1..] {
            value = match value {
                Some(Value::Table(table)) => table.get(part).map(|item| &item.value),
                _ => None,
            };
        }
        match value {
            Some(Value::Text(text) | Value::Number(text)) => text.clone(),
            Some(Value::List(items)) => items.iter().map(DocumentItem::shown).collect::<Vec<_>>().join(", "),
            Some(Value::Bool(value)) => if *value { "on" } else { "off" }.to_owned(),
            _ => field.default.to_owned(),
        }
    }
}

/// Where the value of a setting of a part stands: `part.left.link.ber` is the entry `link.ber` of `set`.
fn in_set(parts: Vec<String>) -> Vec<String> {
    let [top, name, rest @ ..] = &parts[..] else { return parts };
    if top != "part" {
        return parts;
    }
    let (element, rest) = match rest {
        [at, _, inner @ ..] if at == "at" => (&rest[..2], inner),
        rest => (&rest[..0], rest),
    };
    let mut path = vec![top.clone(), name.clone()];
    path.extend(element.iter().cloned());
    path.extend(["set".to_owned(), spelled(rest)]);
    path
}

/// The parts of a path as text again: the other way round of [`path_of`].
fn spelled(parts: &[String]) -> String {
    let mut text = String::new();
    let mut parts = parts.iter();
    while let Some(part) = parts.next() {
        match part.as_str() {
            "at" => text.push_str(&format!("[{}]", parts.next().map_or("", String::as_str))),
            _ if text.is_empty() => text.push_str(part),
            _ => text.push_str(&format!(".{part}")),
        }
    }
    text
}

/// The kind of a link, as a field.
const KIND_OF_LINK: Field = Field {
    name: "kind",
    default: "",
    unit: super::quantity::Unit::Of("-"),
    range: FieldRange::Text("kinds; several compare them"),
    doc: "kind of the link, which is its flit mode; each kind has its own settings",
};

/// The kind of a link, as a field: kinds of one protocol, with which their names begin, stand in each other's place.
fn kind_of_link(kind: &'static LinkKind) -> Field {
    let protocol = |name: &'static str| name.split('-').next();
    let is_other = |other: &&LinkKind| other.name != kind.name && protocol(other.name) == protocol(kind.name);
    match LINKS.iter().find(is_other) {
        Some(_) => KIND_OF_LINK,
        None => Field { range: FieldRange::Words(std::slice::from_ref(&kind.name)), doc: "protocol", ..KIND_OF_LINK },
    }
}

/// The length of an array of components, as a field.
const COUNT: Field = Field {
    name: "count",
    default: "1",
    unit: super::quantity::Unit::Of("-"),
    range: FieldRange::Int(1, MOST as u64),
    doc: "components of the array",
};

/// How a component is driven from outside, as a field; its kind says what it offers.
const EXTERNAL: Field = Field {
    name: "external",
    default: "",
    unit: super::quantity::Unit::Of("-"),
    range: FieldRange::Words(&[]),
    doc: "a caller stands for the component: flits = for its link ends too, messages = the model keeps its link ends",
};

/// What an entry of `[settings]` stands for: a path, or several; `None` for anything else.
pub(super) fn paths_of(item: &DocumentItem) -> Option<Vec<String>> {
    let text = |item: &DocumentItem| match &item.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    match &item.value {
        Value::List(items) if !items.is_empty() => items.iter().map(text).collect(),
        _ => text(item).map(|path| vec![path]),
    }
}

/// The kind of component of a name.
pub fn component_kind(name: &str) -> Option<&'static ComponentKind> {
    COMPONENTS.iter().find(|kind| kind.name == name)
}

/// The kind of link of a name.
pub fn link_kind(name: &str) -> Option<&'static LinkKind> {
    LINKS.iter().find(|kind| kind.name == name)
}
