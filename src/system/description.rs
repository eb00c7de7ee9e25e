//! A description and the settings that change it: what a user writes, before anything is known to fit.
//!
//! A walk: the file is read to a [`document`]; every `--set` edits it, by a short name of `[settings]` or by a whole path;
//! [`resolve`](super::resolve) makes a [`System`] of it, or says everything that is wrong.

use super::design::System;
use super::document::{self, Item, Table, Value, path_of};
use super::field::{Config, Field, Range};
use super::generator::generator_kind;
use super::kind::{COMPONENTS, ComponentKind, LINKS, LinkKind};
use super::problem::{Place, Problems};
use super::resolve::{ClockConfig, MOST, SystemConfig, resolve};
use std::path::{Path, PathBuf};

/// A description with its settings.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its file, as messages name it.
    pub(super) file: String,
    /// Folder to which its paths are relative.
    pub(super) folder: PathBuf,
    pub(super) root: Table,
    /// Edited paths, and the keys that the user gave for them.
    edits: Vec<(String, String)>,
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
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is no TOML.
    pub fn open(path: &Path) -> Result<Description, Problems> {
        let text = document::read(path)?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Description::parse(&path.display().to_string(), folder, &text)
    }

    /// Takes a text; `file` is its name in messages, paths in it are relative to `folder`.
    ///
    /// # Errors
    /// It is no TOML.
    pub fn parse(file: &str, folder: PathBuf, text: &str) -> Result<Description, Problems> {
        let root = document::parse(file, text)?;
        Ok(Description { file: file.to_owned(), folder, root, edits: Vec::new() })
    }

    /// Takes `key=value`: the key is a short name of `[settings]` or a path such as `component.host[1].outstanding`.
    ///
    /// # Errors
    /// Another form, or a key that names nothing that can be set.
    pub fn set(&mut self, text: &str) -> Result<(), Problems> {
        let mut problems = Problems::of(&self.file);
        let Some((key, value)) = text.split_once('=') else {
            problems.add(Place::default(), format!("`{text}`"), "expected key=value");
            return Err(problems);
        };
        let (key, value) = (key.trim(), value.trim());
        let shorts = self.shorts();
        let short = shorts.iter().find(|short| short.name == key);
        let paths = short.map_or(vec![key.to_owned()], |short| short.paths.clone());
        let known = |path: &String| path_of(path).filter(|_| self.is_value(path));
        let Some(parts) = paths.iter().map(known).collect::<Option<Vec<_>>>() else {
            let known = shorts.iter().map(|short| short.name.as_str()).collect::<Vec<_>>().join(", ");
            let expected = if known.is_empty() { "a path such as component.host.outstanding" } else { &known };
            problems.add(Place::default(), format!("`{key}`"), format!("no such key; expected one of: {expected}"));
            return Err(problems);
        };
        for (path, parts) in paths.into_iter().zip(parts) {
            if !document::edit(&mut self.root, &parts, Value::Text(value.to_owned())) {
                problems.add(Place::default(), key, "found a value on the way to it, expected tables");
                return Err(problems);
            }
            self.edits.push((path, key.to_owned()));
        }
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

    /// Name of the system, and what it is.
    pub fn title(&self) -> (String, String) {
        let of = |key: &str| match self.table("system").and_then(|table| table.get(key)) {
            Some(Item { value: Value::Text(text), .. }) => text.clone(),
            _ => String::new(),
        };
        (of("name"), of("about"))
    }

    /// Short names of settings, in the order of the file, without those that lead nowhere.
    pub fn shorts(&self) -> Vec<Short> {
        let Some(table) = self.table("settings") else { return Vec::new() };
        let short = |(name, _, item): &(String, Place, Item)| {
            let paths = paths_of(item)?;
            let (field, default) = self.field_of(paths.first()?)?;
            Some(Short { name: name.clone(), paths, default, field })
        };
        table.entries.iter().filter_map(short).collect()
    }

    /// A table at the top.
    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        match self.root.get(name) {
            Some(Item { value: Value::Table(table), .. }) => Some(table),
            _ => None,
        }
    }

    /// Whether there is a field with one value at a path.
    pub(super) fn is_value(&self, path: &str) -> bool {
        self.field_of(path).is_some_and(|(field, _)| !matches!(field.range, Range::Table(_)))
    }

    /// The field at a path, and its value in the description.
    pub(super) fn field_of(&self, path: &str) -> Option<(Field, String)> {
        let parts = path_of(path)?;
        let [top, name, rest @ ..] = &parts[..] else { return None };
        if top == "system" {
            let field = SystemConfig::fields().into_iter().find(|field| field.name == name)?;
            return rest.is_empty().then(|| (*field, self.given(&parts, field)));
        }
        let Some(Item { value: Value::Table(own), .. }) = self.table(top)?.get(name) else { return None };
        let kind = match own.get("kind") {
            Some(Item { value: Value::Text(kind), .. }) => kind.as_str(),
            _ => "",
        };
        let rest = match rest {
            [at, _, rest @ ..] if at == "at" => rest,
            rest => rest,
        };
        if top == "link" && rest == ["kind"] {
            return Some((KIND_OF_LINK, kind.to_owned()));
        }
        if top == "component" && rest == ["count"] && own.get("count").is_some() {
            return Some((COUNT, self.given(&parts, &COUNT)));
        }
        let mut fields = match top.as_str() {
            "clock" => ClockConfig::fields(),
            "generator" => (generator_kind(kind)?.fields)(),
            "component" => (component_kind(kind)?.fields)(),
            "link" => (link_kind(kind)?.fields)(),
            _ => return None,
        };
        let (last, way) = rest.split_last()?;
        for part in way {
            let Range::Table(inner) = fields.iter().find(|field| field.name == part)?.range else { return None };
            fields = inner();
        }
        let field = fields.into_iter().find(|field| field.name == last)?;
        Some((*field, self.given(&parts, field)))
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
            Some(Value::List(items)) => items.iter().map(Item::shown).collect::<Vec<_>>().join(", "),
            Some(Value::Bool(value)) => if *value { "on" } else { "off" }.to_owned(),
            _ => field.default.to_owned(),
        }
    }
}

/// The kind of a link, as a field.
const KIND_OF_LINK: Field = Field {
    name: "kind",
    default: "",
    unit: super::quantity::Unit::Of("-"),
    range: Range::Text("kinds; several compare them"),
    doc: "kind of the link: its flit mode; other kinds have settings of their own",
};

/// The length of an array of components, as a field.
const COUNT: Field = Field {
    name: "count",
    default: "1",
    unit: super::quantity::Unit::Of("-"),
    range: Range::Int(1, MOST as u64),
    doc: "components of the array",
};

/// What an entry of `[settings]` stands for: a path, or several; `None` for anything else.
pub(super) fn paths_of(item: &Item) -> Option<Vec<String>> {
    let text = |item: &Item| match &item.value {
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
