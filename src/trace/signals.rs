//! The signals of a wave: which variables every place has, and what a record does to them.
//!
//! Modelled: the tree of scopes, the same for every wave format and for the save files of a viewer. A place is a chain of
//! scopes, one a part of its dotted path. In it stand
//!
//! * `violations`, a count of the rules broken there;
//! * for flits, a scope `flit` and one scope a message, see [`super::flits`];
//! * for messages, one scope a layout;
//! * for values and figures, the signals themselves;
//! * for findings, `rule`, the last rule that was broken, by its name.
//!
//! The scope of a message has the name of its layout without the family (`m2s_req`). It holds `seq`, `raw` and one
//! variable a field, an address field as byte address with its low zero bits. **A variable holds its last value; `seq`
//! counts events**, so that the same message twice is two steps of `seq`. A variable that nothing has set is `x`, a
//! count starts at 0. Left out: marks, transaction ids and the bytes of data.

use std::io;

use scalepool_protocols::wire::{CodeTable, LayoutDef};

use super::flits::{self, FlitVars};
use super::state::SignalValues;
use super::{Body, FigureSignal, OpenError, PlaceKind, Places, Record, TraceFilter, rule_names};

/// Position of a variable in [`Signals::vars`].
pub(super) type VarId = usize;

/// Bits of a count of events; it wraps.
pub(super) const COUNT_BITS: u32 = 32;

/// Names of the values of a variable.
#[derive(Debug, Clone)]
pub struct Names {
    /// `<family>_<table>`, different for different tables.
    pub key: String,
    /// The rows.
    pub table: &'static CodeTable,
}

/// One variable.
#[derive(Debug, Clone)]
pub struct Var {
    /// Name within its scope.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// Starts at 0 and counts events.
    pub is_count: bool,
    /// Best read as a decimal number: counts and signals of a place.
    pub is_decimal: bool,
    /// Seldom wanted: raw bits, reserved fields, the valid bit.
    pub is_detail: bool,
    /// Names of its values, if it has some.
    pub names: Option<Names>,
}

/// One scope.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Name within its parent.
    pub name: String,
    /// Positions in [`Signals::scopes`].
    pub scopes: Vec<usize>,
    /// Positions in [`Signals::vars`].
    pub vars: Vec<usize>,
    /// Seldom wanted: headers, control slots, second and later messages of a unit.
    pub is_detail: bool,
}

/// A place that cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The path has no scope names.
    #[error("wave place: found path `{found}`, expected printable ASCII names joined by dots, without spaces")]
    Path {
        /// The path.
        found: String,
    },
    /// Nobody can take such flits apart.
    #[error(
        "wave place `{place}`: found flits of `{protocol}`, `{dir}`, expected protocol {} and `down` or `up`",
        flits::PROTOCOLS
    )]
    Flits {
        /// The place.
        place: String,
        /// Its protocol.
        protocol: &'static str,
        /// Its direction.
        dir: &'static str,
    },
    /// A signal has no bits or too many.
    #[error("wave place `{place}`: found signal `{signal}` of {width} bits, expected 1 to 64")]
    Width {
        /// The place.
        place: String,
        /// The signal.
        signal: &'static str,
        /// Its width.
        width: u32,
    },
}

/// The variables of a message.
#[derive(Debug, Clone)]
pub(super) struct MessageVars {
    layout: &'static LayoutDef,
    seq: VarId,
    raw: VarId,
    fields: Vec<VarId>,
}

impl MessageVars {
    /// Whether it is for this layout.
    pub(super) fn is(&self, layout: &LayoutDef) -> bool {
        self.layout.name == layout.name
    }

    /// Shows a message; bits above the layout are ignored.
    pub(super) fn show(&self, state: &mut SignalValues, bits: u128) {
        state.count(self.seq);
        state.set(self.raw, bits);
        for (field, var) in self.layout.fields.iter().zip(&self.fields) {
            state.set(*var, field.value(bits));
        }
    }
}

/// The variables of a place.
#[derive(Debug)]
struct ShownPlace {
    /// A count of broken rules, where they are told.
    violations: Option<VarId>,
    body: ShownBody,
}

#[derive(Debug)]
enum ShownBody {
    Flits(Box<dyn FlitVars>),
    Messages(Vec<MessageVars>),
    Values(Vec<(&'static str, VarId)>),
    Figures(Vec<VarId>),
    /// Name of the last broken rule.
    Findings(VarId),
}

/// The tree of scopes and variables, and what each place knows of its past.
#[derive(Debug)]
pub struct Signals {
    tree: SignalTree,
    /// By ordinal; `None` where the filter takes it away.
    places: Vec<Option<ShownPlace>>,
}

/// Scopes and variables; scope 0 is the root, which has no name and no variables.
#[derive(Debug)]
pub(super) struct SignalTree {
    scopes: Vec<Scope>,
    vars: Vec<Var>,
}

impl SignalTree {
    /// The scope of a name in another, made if it is not there.
    pub(super) fn scope(&mut self, parent: usize, name: &str) -> usize {
        let there = self.scopes[parent].scopes.iter().find(|&&s| self.scopes[s].name == name);
        there.copied().unwrap_or_else(|| {
            self.scopes.push(Scope { name: name.to_owned(), ..Scope::default() });
            let new = self.scopes.len() - 1;
            self.scopes[parent].scopes.push(new);
            new
        })
    }

    /// The variable of a name in a scope, made if it is not there; declared twice, it gets the larger width.
    pub(super) fn var(&mut self, scope: usize, name: &str, width: u32) -> VarId {
        if let Some(&var) = self.scopes[scope].vars.iter().find(|&&v| self.vars[v].name == name) {
            self.vars[var].width = self.vars[var].width.max(width);
            return var;
        }
        let name = name.to_owned();
        self.vars.push(Var { name, width, is_count: false, is_decimal: false, is_detail: false, names: None });
        self.scopes[scope].vars.push(self.vars.len() - 1);
        self.vars.len() - 1
    }

    /// The undecoded bits of a scope.
    pub(super) fn raw(&mut self, scope: usize, width: u32) -> VarId {
        let var = self.var(scope, "raw", width);
        self.vars[var].is_detail = true;
        var
    }

    /// A variable that is read as a decimal number.
    pub(super) fn decimal(&mut self, scope: usize, name: &str, width: u32) -> VarId {
        let var = self.var(scope, name, width);
        self.vars[var].is_decimal = true;
        var
    }

    /// A variable that counts.
    pub(super) fn count(&mut self, scope: usize, name: &str) -> VarId {
        let var = self.decimal(scope, name, COUNT_BITS);
        self.vars[var].is_count = true;
        var
    }

    /// A variable whose values have names.
    pub(super) fn named(&mut self, scope: usize, name: &str, family: &str, table: &'static CodeTable) -> VarId {
        let var = self.var(scope, name, table.width);
        self.vars[var].names = Some(Names { key: format!("{family}_{}", table.name), table });
        var
    }

    /// The scope of a message that is seldom wanted, and its variables.
    pub(super) fn detail(&mut self, parent: usize, name: &str, layout: &'static LayoutDef) -> MessageVars {
        let scope = self.scope(parent, name);
        self.scopes[scope].is_detail = true;
        self.message(parent, name, layout)
    }

    /// The scope of a message and its variables.
    pub(super) fn message(&mut self, parent: usize, name: &str, layout: &'static LayoutDef) -> MessageVars {
        let scope = self.scope(parent, name);
        let seq = self.count(scope, "seq");
        let raw = self.raw(scope, layout.bits);
        let fields = layout.fields.iter().map(|f| {
            let var = match f.codes {
                Some(table) => self.named(scope, f.name, layout.family(), table),
                None => self.var(scope, f.name, f.width + f.address_lsb),
            };
            self.vars[var].is_detail = f.reserved || f.name == "valid";
            var
        });
        MessageVars { layout, seq, raw, fields: fields.collect() }
    }
}

/// `m2s_req` of `cxl68.m2s_req`.
pub(super) fn short_name(layout: &LayoutDef) -> &'static str {
    layout.name.split_once('.').map_or(layout.name, |(_, name)| name)
}

impl Signals {
    /// Declares the variables of all places that the filter takes.
    ///
    /// # Errors
    /// The filter takes no place, or a place cannot be shown.
    pub fn new(places: &Places, filter: &TraceFilter) -> Result<Signals, OpenError> {
        let mut tree = SignalTree { scopes: vec![Scope::default()], vars: Vec::new() };
        let taken = filter.select(places)?;
        let shown = places.iter().zip(taken).map(|(place, taken)| {
            taken.then(|| show(&mut tree, &place.path, &place.kind)).transpose().map_err(OpenError::from)
        });
        let places = shown.collect::<Result<_, _>>()?;
        Ok(Signals { tree, places })
    }

    /// All scopes; the first one is the root.
    pub fn scopes(&self) -> &[Scope] {
        &self.tree.scopes
    }

    /// All variables, in order of declaration.
    pub fn vars(&self) -> &[Var] {
        &self.tree.vars
    }

    /// Does to the variables what a record says. A body that is not of its place's kind shows nothing.
    ///
    /// # Errors
    /// A signal or a layout that the place does not have.
    pub(super) fn apply(&mut self, state: &mut SignalValues, places: &Places, r: &Record) -> io::Result<()> {
        let Some(Some(shown)) = self.places.get_mut(r.ordinal as usize) else { return Ok(()) };
        let unknown = |kind: &str, found: &str, expected: Vec<&str>| {
            let (place, expected) = (places.path(r.ordinal), expected.join(", "));
            let text = format!("wave place `{place}`: found {kind} `{found}`, expected one of: {expected}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        };
        match (&mut shown.body, r.body.without_vppb()) {
            (body, Body::Violation(violation)) => {
                shown.violations.into_iter().for_each(|count| state.count(count));
                if let ShownBody::Findings(rule) = body {
                    state.set(*rule, rule_names::code_of(violation.rule).into());
                }
            }
            (ShownBody::Figures(all), Body::Figure { signal, value }) => match all.get(*signal) {
                Some(var) => state.set(*var, (*value).into()),
                None => return unknown("figure", &signal.to_string(), vec![&format!("0 to {}", all.len())]),
            },
            (ShownBody::Flits(flits), Body::Flit { bytes, .. }) => flits.show(state, bytes),
            (ShownBody::Flits(flits), Body::Taken { number, bytes }) => flits.take(state, *number, bytes),
            (ShownBody::Messages(all), Body::Message { layout, bits, .. }) => match all.iter().find(|m| m.is(layout)) {
                Some(message) => message.show(state, *bits),
                None => return unknown("layout", layout.name, all.iter().map(|m| m.layout.name).collect()),
            },
            (ShownBody::Values(all), Body::Value { signal, value }) => {
                match all.iter().find(|(name, _)| name == signal) {
                    Some((_, var)) => state.set(*var, (*value).into()),
                    None => return unknown("signal", signal, all.iter().map(|(name, _)| *name).collect()),
                }
            }
            _ => (),
        }
        Ok(())
    }
}

fn show(tree: &mut SignalTree, path: &str, kind: &PlaceKind) -> Result<ShownPlace, PlaceError> {
    if !path.split('.').all(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic())) {
        return Err(PlaceError::Path { found: path.to_owned() });
    }
    let scope = path.split('.').fold(0, |parent, name| tree.scope(parent, name));
    let place = || path.to_owned();
    let body = match kind {
        &PlaceKind::Flits { protocol, dir } => {
            let flits = flits::declare(tree, scope, protocol, dir);
            ShownBody::Flits(flits.ok_or_else(|| PlaceError::Flits { place: place(), protocol, dir })?)
        }
        PlaceKind::Messages(layouts) => {
            ShownBody::Messages(layouts.iter().map(|layout| tree.message(scope, short_name(layout), layout)).collect())
        }
        PlaceKind::Values(signals) => {
            if let Some(&(signal, width)) = signals.iter().find(|(_, width)| !(1..=64).contains(width)) {
                return Err(PlaceError::Width { place: place(), signal, width });
            }
            ShownBody::Values(signals.iter().map(|&(name, width)| (name, tree.decimal(scope, name, width))).collect())
        }
        PlaceKind::Figures(signals) => {
            ShownBody::Figures(signals.iter().map(|signal| figure(tree, scope, signal)).collect())
        }
        PlaceKind::Findings => {
            let rule = tree.named(scope, "rule", "scalepool", rule_names::table());
            // It starts as `none`.
            tree.vars[rule].is_count = true;
            ShownBody::Findings(rule)
        }
    };
    if matches!(body, ShownBody::Figures(_)) {
        return Ok(ShownPlace { violations: None, body });
    }
    Ok(ShownPlace { violations: Some(tree.count(scope, "violations")), body })
}

/// The variable of a figure; each dot in its name opens a scope. One of more than 64 bits has the lowest of them.
fn figure(tree: &mut SignalTree, place: usize, signal: &FigureSignal) -> VarId {
    let (path, name) = signal.name.rsplit_once('.').unwrap_or(("", &signal.name));
    let scope = path.split('.').filter(|part| !part.is_empty()).fold(place, |scope, part| tree.scope(scope, part));
    match signal.names {
        Some((family, table)) => tree.named(scope, name, family, table),
        None => tree.decimal(scope, name, signal.width.clamp(1, 64)),
    }
}
