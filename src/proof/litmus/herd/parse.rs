//! Reading a `.litmus` file.
//!
//! Modelled: the part of herd's language that [`super`] names. Detail: what is wrong is told with line and column, what was found
//! and what may stand there. Left out: instructions beside those of [`FORMS`].
//!
//! A walk: comments become blanks, so that places stay; the head and the initial values are read; each column of the program
//! becomes a [`Thread`], cell by cell; then the condition says what an outcome names.

use super::condition::Condition;
use super::thread::{Access, Fence, Register, Thread, ThreadModel};
use super::{Dialect, HerdTest, OutcomeTerm, Quantifier};
use crate::litmus::bridge::{BridgeAgents, atomic_of};
use crate::litmus::program::{Freedom, LitmusAgents, LitmusProgram};
use crate::stress::StressProtocol;
use scalepool_bridge::atomics::AtomicOperation;
use scalepool_coherence::thread::{AccessSet, MOST_ACCESSES, Term, ThreadAccess};
use scalepool_ordered::OrderedMap;

/// A file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}found {found}, expected {expected}", place = place(*.line, *.column))]
pub struct HerdError {
    /// Line of the file, from 1; 0: the program as a whole.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What was found.
    pub found: String,
    /// What may stand there.
    pub expected: String,
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}, column {column}: ") }
}

impl HerdError {
    pub(super) fn at(line: usize, column: usize, found: impl ToString, expected: impl ToString) -> Self {
        Self { line, column, found: found.to_string(), expected: expected.to_string() }
    }
}

type HerdParsed<T> = Result<T, HerdError>;

/// A piece of the file and where it begins.
#[derive(Debug, Clone, Copy)]
struct SourcePiece<'a> {
    file: &'a str,
    from: usize,
    to: usize,
}

impl<'a> SourcePiece<'a> {
    fn text(self) -> &'a str {
        &self.file[self.from..self.to]
    }

    fn part(self, from: usize, to: usize) -> Self {
        Self { from: self.from + from, to: self.from + to, ..self }
    }

    fn trimmed(self) -> Self {
        let text = self.text();
        let from = text.len() - text.trim_start().len();
        self.part(from, from + text.trim().len())
    }

    /// The pieces between separators.
    fn split(self, separator: char) -> Vec<Self> {
        let mut from = 0;
        let mut pieces = Vec::new();
        for (at, _) in self.text().match_indices(separator) {
            pieces.push(self.part(from, at));
            from = at + separator.len_utf8();
        }
        pieces.push(self.part(from, self.to - self.from));
        pieces
    }

    /// The first word and what follows.
    fn word(self) -> (Self, Self) {
        let piece = self.trimmed();
        let end = piece.text().find(char::is_whitespace).unwrap_or(piece.text().len());
        (piece.part(0, end), piece.part(end, piece.to - piece.from).trimmed())
    }

    fn is_empty(self) -> bool {
        self.text().trim().is_empty()
    }

    /// Refuses it.
    fn wrong<T>(self, expected: impl ToString) -> HerdParsed<T> {
        let before = &self.file[..self.from];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |text| text.chars().count()) + 1;
        // A long or many-lined piece is named by its beginning.
        let first = self.text().lines().next().unwrap_or_default();
        let shown: String = first.chars().take(40).collect();
        let found = if shown.trim().is_empty() { "nothing".to_owned() } else { format!("`{}`", shown.trim()) };
        Err(HerdError::at(line, column, found, expected))
    }
}

/// Whether a text is a `.litmus` file, by its first word; otherwise it is a case in TOML.
pub fn is_herd(text: &str) -> bool {
    let text = blanked(text);
    let first = text.split_whitespace().next();
    let is_name = |word: &str| Dialect::ALL.iter().any(|dialect| dialect.name().eq_ignore_ascii_case(word));
    first.is_some_and(is_name)
}

/// Comments `(* .. *)` as blanks: all lines and columns stay.
fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find("(*") {
        let to = rest[from..].find("*)").map_or(rest.len(), |at| from + at + 2);
        out.push_str(&rest[..from]);
        rest[from..to].chars().for_each(|letter| out.push(if letter == '\n' { '\n' } else { ' ' }));
        rest = &rest[to..];
    }
    out.push_str(rest);
    out
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A number, decimal or with 0x.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten(),
    }
}

/// A value of a line or a register.
fn value(piece: SourcePiece<'_>) -> HerdParsed<u32> {
    match number(piece.trimmed().text()) {
        Some(value) if value <= 255 => Ok(value),
        _ => piece.trimmed().wrong("a number from 0 to 255"),
    }
}

/// The register that a word names, however wide; `None`: it names none.
fn register(dialect: Dialect, word: &str) -> Option<String> {
    let digits = |text: &str, most: u32| number(text).filter(|n| *n <= most && !text.is_empty());
    match dialect {
        Dialect::X86 => {
            let letters = word.strip_prefix(['E', 'R'])?;
            ["AX", "BX", "CX", "DX", "SI", "DI"].contains(&letters).then(|| letters.to_owned())
        }
        Dialect::AArch64 => digits(word.strip_prefix(['W', 'X'])?, 30).map(|n| format!("X{n}")),
        Dialect::Lisa => {
            let word = word.to_ascii_lowercase();
            digits(word.strip_prefix('r')?, u32::MAX).map(|_| word)
        }
    }
}

/// The instructions of a dialect, as an error names them.
const FORMS: [&str; 3] = [
    "MOV [x],$n, MOV [x],REG, MOV REG,[x], MOV REG,$n, XCHG [x],REG, LOCK XADD [x],REG, LOCK INC [x] or MFENCE",
    "MOV, LDR, STR, LDAR, STLR, SWP, LDADD (both also with A, L or AL), LDXR, LDAXR, STXR, STLXR, EOR, ADD, DMB SY, DMB LD, DMB ST, CBZ or CBNZ with registers Wn and Xn",
    "r[] rN x, r[acquire] rN x, w[] x N, w[release] x N, rmw[] rN (mov N) x, rmw[] rN (add rN N) x, f[full], f[ld] or f[st]",
];

/// Names of locations in the order in which they come.
#[derive(Default)]
struct LocationNames {
    names: Vec<String>,
    initial: Vec<u8>,
}

impl LocationNames {
    fn find(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.initial.push(0);
            self.names.len() - 1
        })
    }
}

/// Most threads and locations.
const MOST: usize = 4;

/// Most operations and loads in the value of a register: each use of a register copies them.
const MOST_OPERATIONS: usize = 64;

/// Reads a file.
///
/// # Errors
/// What is not of the language, with its place.
pub fn parse(text: &str) -> HerdParsed<HerdTest> {
    let file = blanked(text);
    let whole = SourcePiece { file: &file, from: 0, to: file.len() };
    let (first, rest) = whole.word();
    let Some(dialect) = Dialect::ALL.into_iter().find(|d| d.name().eq_ignore_ascii_case(first.text())) else {
        return first.wrong("X86, AArch64 or LISA");
    };
    let end = rest.text().find('\n').unwrap_or(rest.text().len());
    let name = rest.part(0, end).trimmed().text().to_owned();
    let rest = rest.part(end, rest.to - rest.from);
    // A doc string may have any letter in it.
    let mut is_doc = false;
    let open = rest.text().char_indices().find(|(_, letter)| {
        is_doc ^= *letter == '"';
        *letter == '{' && !is_doc
    });
    let Some((open, _)) = open else { return rest.trimmed().wrong("initial values in { }") };
    let Some(close) = rest.text()[open..].find('}').map(|at| open + at) else {
        return rest.part(open, rest.to - rest.from).wrong("a } behind the initial values");
    };
    let mut head = HerdHead::default();
    let mut is_doc = false;
    for line in rest.part(0, open).split('\n').into_iter().map(SourcePiece::trimmed).filter(|line| !line.is_empty()) {
        // A doc string may take several lines.
        let was_doc = is_doc;
        is_doc ^= line.text().matches('"').count() % 2 == 1;
        if !was_doc && !line.text().starts_with('"') {
            head.line(dialect, line)?;
        }
    }
    let mut places = LocationNames::default();
    let mut registers = OrderedMap::new();
    for item in
        rest.part(open + 1, close).split(';').into_iter().map(SourcePiece::trimmed).filter(|item| !item.is_empty())
    {
        initial(dialect, item, &mut places, &mut registers)?;
    }
    let body = rest.part(close + 1, rest.to - rest.from);
    let (rows, tail) = rows(body)?;
    let count = rows[0].len();
    let mut orders = vec![[ThreadModel::Tso, ThreadModel::Arm, ThreadModel::Sc][dialect as usize]; count];
    if let Some((piece, given)) = head.orders {
        if given.len() != count {
            return piece.wrong(format!("an order for each of {count} threads"));
        }
        orders = given;
    }
    let mut threads = Vec::new();
    for (n, order) in orders.into_iter().enumerate() {
        let mut thread = Thread::new(order);
        thread.registers = registers.remove(&n).unwrap_or_default();
        column(dialect, &mut thread, rows[1..].iter().map(|row| row[n]), &mut places)?;
        threads.push(thread);
    }
    if let Some((n, _)) = registers.first_key_value() {
        return rest.part(open, close).wrong(format!("initial values of threads 0 to {}, not {n}", count - 1));
    }
    if places.names.is_empty() || places.names.len() > MOST {
        return body.trimmed().wrong(format!("1 to {MOST} locations, not {}", places.names.len()));
    }
    let (named, quantifier, condition, text) = claim(dialect, tail, &threads, &places)?;
    // Who owns a line of HDM for a store gives it up only behind that store, so a store exclusive could not fail there.
    let is_exclusive = threads.iter().flat_map(|thread| &thread.accesses).any(|access| access.exclusive.is_some());
    if let Some((piece, "hdm-d" | "hdm-db" | "bridge")) = head.protocol.filter(|_| is_exclusive) {
        return piece.wrong("cxl-cache, since a thread has exclusive accesses");
    }
    let program = LitmusProgram {
        name: name.clone(),
        threads: threads.iter().map(Thread::program).collect(),
        initial: places.initial,
        forbidden: None,
        freedom: Freedom::Copies,
    };
    let agents = match (head.protocol.map_or("cxl-cache", |(_, name)| name), head.protocol) {
        ("hdm-d", Some((piece, _))) if count != 2 => return piece.wrong("2 threads over hdm-d: a host and a device"),
        ("hdm-d", _) => LitmusAgents::Caching(StressProtocol::HdmD),
        ("hdm-db", _) => LitmusAgents::Caching(StressProtocol::HdmDb(count)),
        ("bridge", Some((piece, _))) => {
            if !program.threads.iter().all(|thread| updates_are_atomics(thread, &program.initial)) {
                return piece
                    .wrong("a protocol whose cores have caches: no atomic of a bridge does one of these updates");
            }
            LitmusAgents::Bridge(BridgeAgents::beside_a_host(count as u8 - 1))
        }
        _ => LitmusAgents::Caching(StressProtocol::Cache(count)),
    };
    Ok(HerdTest { name, dialect, agents, program, named, quantifier, condition, text })
}

/// Whether atomics of a bridge do all read-modify-writes of a thread. Sums begin at 0 there.
fn updates_are_atomics(thread: &[ThreadAccess], initial: &[u8]) -> bool {
    let mut updates = thread.iter().enumerate().filter(|(_, access)| access.is_rmw);
    updates.all(|(n, access)| match atomic_of(n, access, &|_| 0) {
        Some((AtomicOperation::Add, _)) => initial[access.line as usize] == 0,
        is_one => is_one.is_some(),
    })
}

/// What stands between the name and the initial values.
#[derive(Default)]
struct HerdHead<'a> {
    protocol: Option<(SourcePiece<'a>, &'static str)>,
    orders: Option<(SourcePiece<'a>, Vec<ThreadModel>)>,
}

impl<'a> HerdHead<'a> {
    /// A line with a key; those that are herd's own say nothing here.
    fn line(&mut self, dialect: Dialect, line: SourcePiece<'a>) -> HerdParsed<()> {
        let Some(at) = line.text().find('=').filter(|at| is_name(line.text()[..*at].trim())) else {
            return line.wrong("a doc string or Key=Value");
        };
        let given = line.part(at + 1, line.to - line.from).trimmed();
        match line.text()[..at].trim() {
            "Protocol" => {
                let known = ["cxl-cache", "hdm-db", "hdm-d", "bridge"].into_iter().find(|name| *name == given.text());
                let Some(name) = known else { return given.wrong("cxl-cache, hdm-db, hdm-d or bridge") };
                self.protocol = Some((given, name));
            }
            "Orders" if dialect == Dialect::Lisa => {
                let order = |word: SourcePiece<'_>| {
                    let known = ThreadModel::ALL.iter().find(|(name, _)| *name == word.trimmed().text());
                    known.map_or_else(|| word.trimmed().wrong("SC, TSO or ARM"), |(_, order)| Ok(*order))
                };
                self.orders = Some((given, given.split(',').into_iter().map(order).collect::<HerdParsed<_>>()?));
            }
            "Orders" => return line.wrong("Orders in a file of LISA alone"),
            _ => {}
        }
        Ok(())
    }
}

type Registers = OrderedMap<usize, OrderedMap<String, Register>>;

/// An initial value: of a location, or of a register of a thread, which may be the address of a location.
fn initial(
    dialect: Dialect,
    item: SourcePiece<'_>,
    places: &mut LocationNames,
    registers: &mut Registers,
) -> HerdParsed<()> {
    let (mut left, right) = match item.text().find('=') {
        Some(at) => (item.part(0, at).trimmed(), Some(item.part(at + 1, item.to - item.from).trimmed())),
        None => (item, None),
    };
    // A type in front says nothing.
    let (first, second) = left.word();
    if !second.is_empty() && is_name(first.text()) {
        left = second;
    }
    if let Some(at) = left.text().find(':') {
        let (thread, word) = (left.part(0, at).trimmed(), left.part(at + 1, left.to - left.from).trimmed());
        let Some(thread) = number(thread.text()).filter(|n| (*n as usize) < MOST) else {
            return thread.wrong(format!("a thread, 0 to {}", MOST - 1));
        };
        let Some(name) = register(dialect, word.text()) else {
            return word.wrong(format!("a register of {}", dialect.name()));
        };
        let Some(right) = right else { return Ok(()) };
        let target = right.text().trim_start_matches('&').trim_matches(['[', ']']);
        let held = match is_name(target) {
            true => Register::Address(places.find(target)),
            false => Register::Number(Term::Number(value(right)?), 0),
        };
        registers.entry(thread as usize).or_default().insert(name, held);
        return Ok(());
    }
    let name = left.text().trim_matches(['[', ']']);
    if !is_name(name) {
        return left.wrong("a location, or a register of a thread such as 0:X1");
    }
    let place = places.find(name);
    places.initial[place] = right.map(value).transpose()?.unwrap_or(0) as u8;
    Ok(())
}

/// The rows of the program, cell by cell, and what follows.
fn rows(body: SourcePiece<'_>) -> HerdParsed<(Vec<Vec<SourcePiece<'_>>>, SourcePiece<'_>)> {
    let mut rows: Vec<Vec<SourcePiece<'_>>> = Vec::new();
    let mut from = 0;
    loop {
        let rest = body.part(from, body.to - body.from).trimmed();
        let starts = |word: &str| rest.text().starts_with(word);
        if rest.is_empty() || ["locations", "exists", "~", "forall"].into_iter().any(starts) {
            if rows.is_empty() {
                return rest.wrong("a program that begins with P0 | P1 ;");
            }
            return Ok((rows, rest));
        }
        let Some(end) = rest.text().find(';') else { return rest.wrong("a row that ends with ;") };
        let cells: Vec<SourcePiece<'_>> = rest.part(0, end).split('|').into_iter().map(SourcePiece::trimmed).collect();
        let is_head = |(n, cell): (usize, &SourcePiece<'_>)| cell.text() == format!("P{n}");
        match rows.first() {
            None if !(2..=MOST).contains(&cells.len()) || !cells.iter().enumerate().all(is_head) => {
                return rest.part(0, end).wrong(format!("P0 | P1 ; for 2 to {MOST} threads"));
            }
            Some(first) if first.len() != cells.len() => {
                return rest.part(0, end).wrong(format!("{} cells", first.len()));
            }
            _ => rows.push(cells),
        }
        from = rest.from + end + 1 - body.from;
    }
}

/// Reads a column.
fn column<'a>(
    dialect: Dialect,
    thread: &mut Thread,
    cells: impl Iterator<Item = SourcePiece<'a>>,
    places: &mut LocationNames,
) -> HerdParsed<()> {
    let mut label: Option<SourcePiece<'a>> = None;
    for mut cell in cells {
        if let Some(awaited) = label {
            let named = cell.text().find(':').filter(|at| cell.text()[..*at].trim() == awaited.text());
            let Some(at) = named else {
                if cell.is_empty() {
                    continue;
                }
                return cell.wrong(format!("the label {}: right behind its branch", awaited.text()));
            };
            label = None;
            cell = cell.part(at + 1, cell.to - cell.from).trimmed();
        }
        if !cell.is_empty() {
            label = Instruction { dialect, cell, thread: &mut *thread, places: &mut *places }.read()?;
        }
    }
    match label {
        Some(label) => label.wrong("a label that follows"),
        None => Ok(()),
    }
}

/// A cell while it is read.
struct Instruction<'a, 't> {
    dialect: Dialect,
    cell: SourcePiece<'a>,
    thread: &'t mut Thread,
    places: &'t mut LocationNames,
}

impl<'a> Instruction<'a, '_> {
    fn unknown<T>(&self) -> HerdParsed<T> {
        self.cell.wrong(FORMS[self.dialect as usize])
    }

    /// Reads it; gives the label of a branch, which has to come next.
    fn read(mut self) -> HerdParsed<Option<SourcePiece<'a>>> {
        let (mnemonic, rest) = self.cell.word();
        let mnemonic = mnemonic.text();
        let fence = match (self.dialect, mnemonic, rest.text()) {
            (Dialect::X86, "MFENCE", "") | (Dialect::AArch64, "DMB", "SY") | (Dialect::Lisa, "f[full]", "") => {
                Some(Fence::Full)
            }
            (Dialect::AArch64, "DMB", "LD") | (Dialect::Lisa, "f[ld]", "") => Some(Fence::Load),
            (Dialect::AArch64, "DMB", "ST") | (Dialect::Lisa, "f[st]", "") => Some(Fence::Store),
            _ => None,
        };
        if let Some(fence) = fence {
            self.thread.fences.push((fence, self.thread.accesses.len()));
            return Ok(None);
        }
        let operands = if self.dialect == Dialect::Lisa { words(rest) } else { operands(rest) };
        match (self.dialect, mnemonic, operands.as_slice()) {
            (Dialect::X86, "MOV", &[to, from]) => self.x86(to, from)?,
            (Dialect::X86, "XCHG", &[a, b]) => {
                let (at, register) = match (memory(a), memory(b)) {
                    (Some(at), None) => (at, b),
                    (None, Some(at)) => (at, a),
                    _ => return self.unknown(),
                };
                let operand = self.number_in(register)?;
                let access = plain(self.location(at)?);
                self.update(Some(register), access, Update::Swap, operand)?;
            }
            (Dialect::X86, "LOCK", _) => self.locked(rest)?,
            (Dialect::AArch64, "MOV", &[to, from]) if from.text().starts_with('#') => {
                let number = value(from.part(1, from.to - from.from))?;
                self.set(to, Term::Number(number), 0)?;
            }
            (Dialect::AArch64, "LDR" | "LDAR", &[to, at]) => {
                let (line, address) = self.address(at, mnemonic == "LDR")?;
                self.load(to, Access { acquire: mnemonic == "LDAR", address, ..plain(line) })?;
            }
            (Dialect::AArch64, "STR" | "STLR", &[from, at]) => {
                let (line, address) = self.address(at, mnemonic == "STR")?;
                let (term, data) = self.number_in(from)?;
                self.push(Access { release: mnemonic == "STLR", address, data, store: Some(term), ..plain(line) })?;
            }
            (Dialect::AArch64, "LDXR" | "LDAXR", &[to, at]) => {
                let (line, _) = self.address(at, false)?;
                self.load(to, Access { acquire: mnemonic == "LDAXR", ..plain(line) })?;
                self.thread.reserves = Some(self.thread.accesses.len() - 1);
            }
            (Dialect::AArch64, "STXR" | "STLXR", &[status, from, at]) => {
                self.store_exclusive(status, from, at, mnemonic == "STLXR")?;
            }
            (Dialect::AArch64, _, &[from, to, at]) if update_of(mnemonic).is_some() => {
                let Some((update, ordered)) = update_of(mnemonic) else { return self.unknown() };
                let (line, _) = self.address(at, false)?;
                let (acquire, release) = (ordered.contains('A'), ordered.contains('L'));
                let operand = self.number_in(from)?;
                self.update(Some(to), Access { acquire, release, ..plain(line) }, update, operand)?;
            }
            (Dialect::AArch64, "EOR", &[to, a, b]) => {
                let ((a, of_a), (b, of_b)) = (self.number_in(a)?, self.number_in(b)?);
                // The same term twice is 0 whatever it is; the dependency stays.
                let term = if a == b { Term::Number(0) } else { Term::Eor(Box::new(a), Box::new(b)) };
                self.set(to, term, of_a | of_b)?;
            }
            (Dialect::AArch64, "ADD", &[to, from, more]) if more.text().starts_with('#') => {
                let (term, loads) = self.number_in(from)?;
                let more = value(more.part(1, more.to - more.from))?;
                let term = match term {
                    Term::Number(number) => Term::Number(number.wrapping_add(more)),
                    term => Term::Add(Box::new(term), Box::new(Term::Number(more))),
                };
                self.set(to, term, loads)?;
            }
            (Dialect::AArch64, "CBZ" | "CBNZ", &[from, label]) if is_name(label.text()) => {
                let (_, loads) = self.number_in(from)?;
                self.thread.control |= loads;
                return Ok(Some(label));
            }
            (Dialect::Lisa, "r[]" | "r[acquire]", &[to, at]) => {
                let line = self.location(at)?;
                self.load(to, Access { acquire: mnemonic == "r[acquire]", ..plain(line) })?;
            }
            (Dialect::Lisa, "w[]" | "w[release]", &[at, from]) => {
                let line = self.location(at)?;
                let (term, data) = match register(self.dialect, from.text()) {
                    Some(_) => self.number_in(from)?,
                    None => (Term::Number(value(from)?), 0),
                };
                self.push(Access { release: mnemonic == "w[release]", data, store: Some(term), ..plain(line) })?;
            }
            (Dialect::Lisa, _, &[to, .., at]) if mnemonic.starts_with("rmw[") => {
                let access = plain(self.location(at)?);
                let (acquire, release) = match mnemonic {
                    "rmw[]" => (false, false),
                    "rmw[acquire]" => (true, false),
                    "rmw[release]" => (false, true),
                    "rmw[acquire,release]" => (true, true),
                    _ => return self.unknown(),
                };
                // What stands in brackets: the operation and what it takes.
                let (update, last) = match operands[1..operands.len() - 1] {
                    [op, last] if op.text() == "(mov" => (Update::Swap, last),
                    [op, own, last] if op.text() == "(add" && own.text() == to.text() => (Update::Add, last),
                    _ => return self.unknown(),
                };
                let Some(length) = last.text().strip_suffix(')').map(str::len) else { return self.unknown() };
                let last = last.part(0, length).trimmed();
                let operand = match register(self.dialect, last.text()) {
                    Some(_) => self.number_in(last)?,
                    None => (Term::Number(value(last)?), 0),
                };
                self.update(Some(to), Access { acquire, release, ..access }, update, operand)?;
            }
            _ => return self.unknown(),
        }
        Ok(None)
    }

    /// A store exclusive, behind the load exclusive of its location; `status` gets whether it has stored.
    fn store_exclusive(
        &mut self,
        status: SourcePiece<'a>,
        from: SourcePiece<'a>,
        at: SourcePiece<'a>,
        release: bool,
    ) -> HerdParsed<()> {
        let (line, _) = self.address(at, false)?;
        let (term, data) = self.number_in(from)?;
        let load = self.thread.reserves.take().filter(|load| self.thread.accesses[*load].line == line);
        if load.is_none() {
            return self.cell.wrong("a load exclusive of the location before it, and no other store to it between");
        }
        let number = self.push(Access { release, data, store: Some(term), exclusive: load, ..plain(line) })?;
        let name = self.name(status)?;
        self.thread.registers.insert(name, Register::Status(number));
        Ok(())
    }

    /// What stands behind LOCK.
    fn locked(&mut self, rest: SourcePiece<'a>) -> HerdParsed<()> {
        let (mnemonic, rest) = rest.word();
        match (mnemonic.text(), operands(rest).as_slice()) {
            ("INC", &[at]) => {
                let Some(at) = memory(at) else { return self.unknown() };
                let access = plain(self.location(at)?);
                self.update(None, access, Update::Add, (Term::Number(1), 0))
            }
            ("XADD", &[at, register]) => {
                let Some(at) = memory(at) else { return self.unknown() };
                let operand = self.number_in(register)?;
                let access = plain(self.location(at)?);
                self.update(Some(register), access, Update::Add, operand)
            }
            _ => self.unknown(),
        }
    }

    /// A read-modify-write; `to` gets the old value.
    fn update(
        &mut self,
        to: Option<SourcePiece<'a>>,
        access: Access,
        update: Update,
        (operand, data): (Term, AccessSet),
    ) -> HerdParsed<()> {
        let own = Term::Load(self.thread.accesses.len());
        let term = match update {
            Update::Swap => operand,
            Update::Add => Term::Add(Box::new(own.clone()), Box::new(operand)),
        };
        let number = self.push(Access { store: Some(term), is_rmw: true, data, ..access })?;
        to.map_or(Ok(()), |to| self.set(to, own, 1 << number))
    }

    /// A move of X86: which of the operands is memory says whether it loads or stores.
    fn x86(&mut self, to: SourcePiece<'a>, from: SourcePiece<'a>) -> HerdParsed<()> {
        let immediate =
            |piece: SourcePiece<'a>| piece.text().starts_with('$').then(|| piece.part(1, piece.to - piece.from));
        match (memory(to), memory(from), immediate(from)) {
            (Some(at), None, number) => {
                let line = self.location(at)?;
                let (term, data) = match number {
                    Some(number) => (Term::Number(value(number)?), 0),
                    None => self.number_in(from)?,
                };
                self.push(Access { data, store: Some(term), ..plain(line) }).map(drop)
            }
            (None, Some(at), _) => {
                let line = self.location(at)?;
                self.load(to, plain(line))
            }
            (None, None, Some(number)) => {
                let number = value(number)?;
                self.set(to, Term::Number(number), 0)
            }
            _ => self.unknown(),
        }
    }

    fn location(&mut self, piece: SourcePiece<'a>) -> HerdParsed<usize> {
        if !is_name(piece.text()) || register(self.dialect, piece.text()).is_some() {
            return piece.wrong("a location");
        }
        Ok(self.places.find(piece.text()))
    }

    /// The location behind `[Xm]` or `[Xm,Wk,SXTW]`, and the loads that the address depends on.
    fn address(&mut self, piece: SourcePiece<'a>, is_indexed: bool) -> HerdParsed<(usize, AccessSet)> {
        let expected = if is_indexed { "[Xm] or [Xm,Wk,SXTW]" } else { "[Xm]" };
        let inside = piece.text().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let Some(inside) = inside else { return piece.wrong(expected) };
        let parts: Vec<SourcePiece<'a>> =
            piece.part(1, 1 + inside.len()).split(',').into_iter().map(SourcePiece::trimmed).collect();
        let (pointer, index) = match parts[..] {
            [pointer] => (pointer, None),
            [pointer, index, extend] if is_indexed && extend.text() == "SXTW" => (pointer, Some(index)),
            _ => return piece.wrong(expected),
        };
        let held = register(self.dialect, pointer.text()).and_then(|name| self.thread.registers.get(&name).cloned());
        let Some(Register::Address(line)) = held else {
            return pointer.wrong("a register that holds the address of a location");
        };
        let Some(index) = index else { return Ok((line, 0)) };
        match self.number_in(index)? {
            (Term::Number(0), loads) => Ok((line, loads)),
            _ => index.wrong("an index that is 0 whatever was loaded, as behind EOR Wk,Wj,Wj"),
        }
    }

    /// The register that a word names.
    fn name(&mut self, piece: SourcePiece<'a>) -> HerdParsed<String> {
        let Some(name) = register(self.dialect, piece.text()) else {
            return piece.wrong(format!("a register of {}", self.dialect.name()));
        };
        self.thread.spelled.entry(name.clone()).or_insert_with(|| piece.text().to_owned());
        Ok(name)
    }

    /// The number in a register, and the loads it depends on; 0 where nothing was put.
    fn number_in(&mut self, piece: SourcePiece<'a>) -> HerdParsed<(Term, AccessSet)> {
        let name = self.name(piece)?;
        match self.thread.registers.get(&name) {
            None => Ok((Term::Number(0), 0)),
            Some(Register::Number(term, loads)) => Ok((term.clone(), *loads)),
            // What depends on a status is a question on which architectures differ.
            Some(Register::Status(_)) => piece.wrong("a register that holds no status of a store exclusive"),
            Some(Register::Address(_)) => piece.wrong("a register that holds a number, not an address"),
        }
    }

    fn set(&mut self, to: SourcePiece<'a>, term: Term, loads: AccessSet) -> HerdParsed<()> {
        if term.size() > MOST_OPERATIONS {
            return self.cell.wrong(format!("a value of at most {MOST_OPERATIONS} operations"));
        }
        let name = self.name(to)?;
        self.thread.registers.insert(name, Register::Number(term, loads));
        Ok(())
    }

    fn load(&mut self, to: SourcePiece<'a>, access: Access) -> HerdParsed<()> {
        let number = self.push(access)?;
        self.set(to, Term::Load(number), 1 << number)
    }

    /// One access more; gives its number.
    fn push(&mut self, access: Access) -> HerdParsed<usize> {
        let number = self.thread.accesses.len();
        if number == MOST_ACCESSES {
            return self.cell.wrong(format!("at most {MOST_ACCESSES} accesses in a thread"));
        }
        let is_store_between = |load: &usize| access.store.is_some() && self.thread.accesses[*load].line == access.line;
        self.thread.reserves = self.thread.reserves.filter(|load| !is_store_between(load));
        self.thread.accesses.push(Access { control: self.thread.control, ..access });
        Ok(number)
    }
}

/// What a read-modify-write makes of the old value and its operand.
#[derive(Debug, Clone, Copy)]
enum Update {
    /// The operand.
    Swap,
    /// The sum.
    Add,
}

/// The update of an AArch64 mnemonic, and the letters of its order.
fn update_of(mnemonic: &str) -> Option<(Update, &str)> {
    let known = [("SWP", Update::Swap), ("LDADD", Update::Add)].into_iter();
    let mut found = known.filter_map(|(name, update)| Some((update, mnemonic.strip_prefix(name)?)));
    found.find(|(_, ordered)| ["", "A", "L", "AL"].contains(ordered))
}

/// What stands in `[ ]`.
fn memory(piece: SourcePiece<'_>) -> Option<SourcePiece<'_>> {
    let inside = piece.text().strip_prefix('[')?.strip_suffix(']')?.len();
    Some(piece.part(1, 1 + inside).trimmed())
}

/// A load of a line without anything else.
fn plain(line: usize) -> Access {
    Access {
        line,
        store: None,
        is_rmw: false,
        exclusive: None,
        acquire: false,
        release: false,
        address: 0,
        data: 0,
        control: 0,
    }
}

/// Operands between commas that are in no brackets.
fn operands(rest: SourcePiece<'_>) -> Vec<SourcePiece<'_>> {
    let (mut depth, mut from, mut all) = (0_usize, 0, Vec::new());
    for (at, letter) in rest.text().char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(rest.part(from, at).trimmed());
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(rest.part(from, rest.to - rest.from).trimmed());
    all
}

/// Words between blanks.
fn words(mut rest: SourcePiece<'_>) -> Vec<SourcePiece<'_>> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (word, more) = rest.word();
        all.push(word);
        rest = more;
    }
    all
}

type Claim = (Vec<OutcomeTerm>, Quantifier, Condition, String);

/// `locations [..]` and the condition: what an outcome names, and what is said of the outcomes.
fn claim(dialect: Dialect, tail: SourcePiece<'_>, threads: &[Thread], places: &LocationNames) -> HerdParsed<Claim> {
    let mut reader = ConditionReader { dialect, threads, places, rest: tail, named: Vec::new() };
    if tail.text().starts_with("locations") {
        let list = tail.part("locations".len(), tail.to - tail.from).trimmed();
        let close = list.text().find(']').filter(|_| list.text().starts_with('['));
        let Some(close) = close else { return list.wrong("[x; 0:EAX;]") };
        for item in list.part(1, close).split(';').into_iter().map(SourcePiece::trimmed).filter(|item| !item.is_empty())
        {
            reader.place(item)?;
        }
        reader.rest = list.part(close + 1, list.to - list.from).trimmed();
    }
    let (word, rest) = reader.rest.word();
    let starts = |name: &str| word.text().starts_with(name);
    let (quantifier, from) = if starts("exists") {
        (Quantifier::Exists, reader.rest.part("exists".len(), reader.rest.to - reader.rest.from))
    } else if starts("forall") {
        (Quantifier::ForAll, reader.rest.part("forall".len(), reader.rest.to - reader.rest.from))
    } else if starts("~exists") {
        (Quantifier::NotExists, reader.rest.part("~exists".len(), reader.rest.to - reader.rest.from))
    } else if word.text() == "~" && rest.text().starts_with("exists") {
        (Quantifier::NotExists, rest.part("exists".len(), rest.to - rest.from))
    } else {
        return reader.rest.wrong("exists (..), ~exists (..) or forall (..)");
    };
    let text = from.text().split_whitespace().collect::<Vec<_>>().join(" ");
    reader.rest = from.trimmed();
    let condition = reader.any(0)?;
    if !reader.rest.is_empty() {
        return reader.rest.wrong("the end of the condition");
    }
    // Registers by thread and name, then locations.
    let named = reader.named;
    let key = |named: &OutcomeTerm| match named {
        OutcomeTerm::Register { thread, spelled, .. } => (0, *thread, spelled.clone()),
        OutcomeTerm::Line { name, .. } => (1, 0, name.clone()),
    };
    let mut order: Vec<usize> = (0..named.len()).collect();
    scalepool_ordered::sort_by_key(&mut order, |n| key(&named[*n]));
    let mut to = vec![0; named.len()];
    order.iter().enumerate().for_each(|(new, old)| to[*old] = new);
    let sorted = order.iter().map(|n| named[*n].clone()).collect();
    Ok((sorted, quantifier, condition.renamed(&to), text))
}

/// Reads a condition.
struct ConditionReader<'a, 't> {
    dialect: Dialect,
    threads: &'t [Thread],
    places: &'t LocationNames,
    rest: SourcePiece<'a>,
    /// What has been named so far.
    named: Vec<OutcomeTerm>,
}

/// Brackets within brackets.
const MOST_DEPTH: usize = 64;

impl<'a> ConditionReader<'a, '_> {
    /// Takes a sign, if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        let is_next = self.rest.text().starts_with(sign);
        if is_next {
            self.rest = self.rest.part(sign.len(), self.rest.to - self.rest.from).trimmed();
        }
        is_next
    }

    fn any(&mut self, depth: usize) -> HerdParsed<Condition> {
        let mut parts = vec![self.all(depth)?];
        while self.takes("\\/") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> HerdParsed<Condition> {
        let mut parts = vec![self.one(depth)?];
        while self.takes("/\\") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self, depth: usize) -> HerdParsed<Condition> {
        if depth > MOST_DEPTH {
            return self.rest.wrong(format!("at most {MOST_DEPTH} brackets within each other"));
        }
        let is_word = |text: &str, word: &str| {
            text.strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        };
        if self.takes("~") || is_word(self.rest.text(), "not") && self.takes("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes("(") {
            let inner = self.any(depth + 1)?;
            return if self.takes(")") { Ok(inner) } else { self.rest.wrong(")") };
        }
        for (word, known) in [("true", true), ("false", false)] {
            if is_word(self.rest.text(), word) && self.takes(word) {
                return Ok(Condition::Known(known));
            }
        }
        let end = self.rest.text().find(['/', '\\', '~', '(', ')']).unwrap_or(self.rest.text().len());
        let atom = self.rest.part(0, end).trimmed();
        let Some(at) = atom.text().find('=') else {
            return atom.wrong("an atom such as 0:EAX=1 or x=1");
        };
        let place = self.place(atom.part(0, at).trimmed())?;
        let given = atom.part(at + 1, atom.to - atom.from).trimmed();
        let Some(number) = number(given.text()) else { return given.wrong("a number") };
        self.rest = self.rest.part(end, self.rest.to - self.rest.from).trimmed();
        Ok(Condition::Equals(place, number))
    }

    /// The place of a register or location among what is named.
    fn place(&mut self, piece: SourcePiece<'a>) -> HerdParsed<usize> {
        let named = match piece.text().find(':') {
            Some(at) => {
                let (thread, word) = (piece.part(0, at).trimmed(), piece.part(at + 1, piece.to - piece.from).trimmed());
                let found = number(thread.text()).map(|n| n as usize).filter(|n| *n < self.threads.len());
                let Some(thread) = found else {
                    return thread.wrong(format!("a thread, 0 to {}", self.threads.len() - 1));
                };
                let Some(name) = register(self.dialect, word.text()) else {
                    return word.wrong(format!("a register of {}", self.dialect.name()));
                };
                let own = &self.threads[thread];
                let term = match own.registers.get(&name) {
                    None => Term::Number(0),
                    Some(Register::Number(term, _)) => term.clone(),
                    Some(Register::Status(access)) => Term::Load(*access),
                    Some(Register::Address(_)) => return word.wrong("a register that holds a number, not an address"),
                };
                let spelled = match self.dialect {
                    Dialect::AArch64 => name,
                    _ => own.spelled.get(&name).cloned().unwrap_or_else(|| word.text().to_owned()),
                };
                OutcomeTerm::Register { thread, spelled, term }
            }
            None => {
                let name = piece.text().trim_matches(['[', ']']).trim();
                let line = self.places.names.iter().position(|known| known == name);
                let Some(line) = line else { return piece.wrong("a location, or a register such as 0:EAX") };
                OutcomeTerm::Line { name: name.to_owned(), line }
            }
        };
        let known = self.named.iter().position(|other| *other == named);
        Ok(known.unwrap_or_else(|| {
            self.named.push(named);
            self.named.len() - 1
        }))
    }
}
