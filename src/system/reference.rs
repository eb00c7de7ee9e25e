//! The names of ports in `between`: `host[i].cxl`, `switch.usp[0]`, with numbers or index variables.

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
    fn parse(text: &str) -> Option<Indexed> {
        let (name, index) = match text.split_once('[') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(']')?)),
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
        is_word(name).then(|| Indexed { name: name.to_owned(), index })
    }
}

impl PortRef {
    /// Reads `component.port`, each with or without an index; `None` for anything else.
    pub fn parse(text: &str) -> Option<PortRef> {
        let (component, port) = text.split_once('.')?;
        Some(PortRef { component: Indexed::parse(component)?, port: Indexed::parse(port)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports() {
        for text in ["host.cxl", "host[i].cxl", "host[12].port[k]", "a_1.b_2[0]"] {
            let port = PortRef::parse(text).expect("a port");
            assert_eq!(format!("{}.{}", port.component, port.port), text);
        }
        for text in
            ["host", "host.", ".cxl", "host[].cxl", "host[i.cxl", "Host.cxl", "host.cxl.rx", "host[-1].cxl", "h[1a].c"]
        {
            assert_eq!(PortRef::parse(text), None, "{text}");
        }
    }
}
