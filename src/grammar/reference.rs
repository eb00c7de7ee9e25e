//! The names of ports in `between`: `host[i].cxl`, `switch.usp[0]`, and of components, with numbers or index variables.

use std::fmt::{self, Display};

/// An index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// This one.
    Number(usize),
    /// All of them, one after the other; the same letter stands for the same number.
    Variable(String),
}

/// A name with or without an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// The name.
    pub name: String,
    /// Its index.
    pub index: Option<Index>,
}

/// A port of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortRef {
    /// The component.
    pub component: Indexed,
    /// The port.
    pub port: Indexed,
}

impl Display for Indexed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.index {
            None => f.write_str(&self.name),
            Some(Index::Number(n)) => write!(f, "{}[{n}]", self.name),
            Some(Index::Variable(v)) => write!(f, "{}[{v}]", self.name),
        }
    }
}

impl Indexed {
    /// Reads a name with or without an index; `None` for anything else.
    pub fn parse(text: &str) -> Option<Indexed> {
        let (name, index) = match text.strip_suffix(']').map(|text| text.rsplit_once('[')) {
            None => (text, None),
            Some(None) => return None,
            Some(Some((name, index))) => (name, Some(index)),
        };
        let is_word = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let index = match index {
            None => None,
            Some(text) if is_word(text) => Some(Index::Variable(text.to_owned())),
            Some(text) => Some(Index::Number(text.parse().ok()?)),
        };
        // An element of a part has the name of the part in front: `left[1].accel`.
        let is_part = |text: &str| is_word(text.split_once('[').map_or(text, |(name, _)| name));
        let is_sound = match name.rsplit_once('.') {
            None => is_word(name),
            Some((parts, name)) => is_word(name) && parts.split('.').all(is_part),
        };
        is_sound.then(|| Indexed { name: name.to_owned(), index })
    }
}

impl PortRef {
    /// Reads `component.port`, each with or without an index; `None` for anything else.
    pub fn parse(text: &str) -> Option<PortRef> {
        let (component, port) = text.rsplit_once('.')?;
        Some(PortRef { component: Indexed::parse(component)?, port: Indexed::parse(port)? })
    }

    /// The same port of a component that lies in an element of a part.
    pub fn under(self, element: &str) -> PortRef {
        let component = Indexed { name: format!("{element}.{}", self.component.name), ..self.component };
        PortRef { component, ..self }
    }

    /// Its index variables, each once.
    pub fn variables(&self) -> Vec<&str> {
        let mut variables = Vec::new();
        for indexed in [&self.component, &self.port] {
            match &indexed.index {
                Some(Index::Variable(name)) if !variables.contains(&name.as_str()) => variables.push(name.as_str()),
                _ => (),
            }
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports() {
        for text in ["host.cxl", "host[i].cxl", "host[12].port[k]", "a_1.b_2[0]", "left[1].inner.accel[i].port[0]"] {
            let port = PortRef::parse(text).expect("a port");
            assert_eq!(format!("{}.{}", port.component, port.port), text);
        }
        for text in [
            "host",
            "host.",
            ".cxl",
            "host[].cxl",
            "host[i.cxl",
            "Host.cxl",
            "host[-1].cxl",
            "h[1a].c",
            "h[1.c",
            ".a.b.c",
        ] {
            assert_eq!(PortRef::parse(text), None, "{text}");
        }
    }
}
