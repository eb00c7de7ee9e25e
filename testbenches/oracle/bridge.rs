//! Conversion of the bridge SoC from UALink to CXL by the tables of its sheet (`bridge` §2, §3, §4), in words and byte by byte.
//!
//! The flows without and with a cache, classes MC, MN and CC. Messages are the words that the tables print.

/// A UPLI request, as the tables look at it.
#[derive(Debug, Clone)]
pub struct UpliRequest {
    /// Command code.
    pub cmd: u8,
    /// Type of a Write Message.
    pub message: u8,
    /// ReqAttr.
    pub attr: u8,
    /// Byte address.
    pub address: u64,
    /// DWords.
    pub dwords: u64,
    /// Enabled bytes of the block of 256 bytes.
    pub enables: Vec<bool>,
}

/// What happens to one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineConversion {
    /// First byte of the line, a UALink address.
    pub line: u64,
    /// Bytes that are written, or that an atomic works on.
    pub bytes: Vec<u64>,
    /// Messages in their order, as `MemRd Invalid/SnpCur`; empty: none is sent.
    pub messages: Vec<&'static str>,
    /// Answers that end each of them, in any order.
    pub answers: Vec<Vec<&'static str>>,
}

/// What a request comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// `R` or `W`: the channel of the answer.
    pub channel: char,
    /// Beats of the answer on the read channel.
    pub beats: usize,
    /// Status if it is refused; `None`: its lines decide.
    pub refused: Option<u8>,
    /// Lines, ascending.
    pub lines: Vec<LineConversion>,
}

/// 4.2: commands by their class bits, where the table names no other channel.
fn channel(asked: &UpliRequest) -> char {
    match (asked.cmd, asked.message) {
        (0x30, _) | (0x2a, 2) => 'R',
        (cmd, _) if cmd & 0x30 == 0 => 'R',
        _ => 'W',
    }
}

/// 4.4: bytes of an element, or `None` where the operation has no such size.
fn element(attr: u8) -> Option<u64> {
    let bytes = [4, 8, 2, 1][usize::from(attr / 4 % 4)];
    let op = attr / 16 + 16 * (attr % 2);
    let known = match op {
        0..=9 => true,
        10 => bytes >= 2,
        11 | 12 => bytes >= 4,
        _ => false,
    };
    known.then_some(bytes)
}

/// Whether an atomic on these bytes of a line can be done.
fn atomic_is_legal(attr: u8, covered: u64, bytes: &[u64]) -> bool {
    let Some(size) = element(attr) else { return false };
    let elements: std::collections::BTreeSet<u64> = bytes.iter().map(|byte| byte / size).collect();
    let whole = elements.iter().all(|e| (e * size..(e + 1) * size).all(|byte| bytes.contains(&byte)));
    let is_swap = attr / 16 + 16 * (attr % 2) == 2;
    whole && covered.is_multiple_of(size) && (!is_swap || elements.len() == 1)
}

/// 4.1: messages of a line and the answers that end each.
fn row(class: &str, op: &str) -> (Vec<&'static str>, Vec<Vec<&'static str>>) {
    match (class, op) {
        ("MC", "read") => (vec!["MemRd Invalid/SnpCur"], vec![vec!["Cmp", "DRS"]]),
        ("MC", "full") => (vec!["MemInv Any/SnpInv", "MemWr Invalid/NoOp"], vec![vec!["Cmp-E"], vec!["Cmp"]]),
        ("MC", _) => (vec!["MemRd Any/SnpInv", "MemWr Invalid/NoOp"], vec![vec!["Cmp-E", "DRS"], vec!["Cmp"]]),
        ("MN", "read") => (vec!["MemRd NoOp/NoOp"], vec![vec!["DRS"]]),
        ("MN", "full") => (vec!["MemWr Any/NoOp"], vec![vec!["Cmp"]]),
        ("MN", "part") => (vec!["MemWrPtl Any/NoOp"], vec![vec!["Cmp"]]),
        ("CC", "read") => (vec!["RdCurr"], vec![vec!["Data"]]),
        ("CC", "full") => (vec!["WrCur", "Data"], vec![vec!["GO_WritePull"], vec![]]),
        ("CC", "part") => (vec!["WrInv", "Data"], vec![vec!["WritePull"], vec!["GO-I"]]),
        ("CC", _) => (vec!["RdOwn", "DirtyEvict", "Data"], vec![vec!["GO-E", "Data"], vec!["GO_WritePull"], vec![]]),
        _ => (vec![], vec![]),
    }
}

/// What becomes of a request to a window of a class (`MC`, `MN`, `CC`) in which its source has all rights.
pub fn told(class: &str, asked: &UpliRequest) -> Conversion {
    let first = asked.address % 256;
    let block = asked.address - first;
    let last = first + 4 * asked.dwords - 1;
    let inside: Vec<u64> = (first..=last).filter(|byte| *byte < 256).collect();
    let beats = (0..4).filter(|line| inside.iter().any(|byte| byte / 64 == *line)).count();
    let channel = channel(asked);
    let refused = |status| Conversion { channel, beats, refused: Some(status), lines: Vec::new() };
    let (is_write, is_atomic) = (matches!(asked.cmd, 0x28 | 0x29), matches!(asked.cmd, 0x30 | 0x32));
    if asked.cmd == 0x2a && asked.message <= 3 {
        return Conversion { channel, beats, refused: None, lines: Vec::new() };
    }
    if !(asked.cmd == 0x03 || is_write || is_atomic) || last > 255 {
        return refused(2);
    }
    if is_atomic && (beats != 1 || class == "MN") {
        return refused(2);
    }
    let mut lines = Vec::new();
    for line in 0..4 {
        let of_line: Vec<u64> = inside.iter().copied().filter(|byte| byte / 64 == line).collect();
        if of_line.is_empty() {
            continue;
        }
        let enabled = |byte: &&u64| asked.cmd == 0x29 || asked.enables[**byte as usize];
        let bytes: Vec<u64> = of_line.iter().filter(enabled).map(|byte| byte % 64).collect();
        if is_atomic && !atomic_is_legal(asked.attr, of_line.len() as u64, &bytes) {
            return refused(2);
        }
        let op = match asked.cmd {
            0x03 => "read",
            0x28 | 0x29 if bytes.len() == 64 => "full",
            0x28 | 0x29 => "part",
            _ => "atomic",
        };
        let (messages, answers) = if asked.cmd != 0x03 && bytes.is_empty() { (vec![], vec![]) } else { row(class, op) };
        let bytes = if asked.cmd == 0x03 { Vec::new() } else { bytes };
        lines.push(LineConversion { line: block + 64 * line, bytes, messages, answers });
    }
    Conversion { channel, beats, refused: None, lines }
}

/// 9.4: what an operation on a line of a class does in a state (`I`, `S`, `E`, `M`, `V`, `D`): the message, if one is sent, and the state
/// behind it. `grant` is what a device gives to one who shares: `S` or `E`.
pub fn cached(class: &str, op: &str, state: char, grant: char) -> (Option<&'static str>, char) {
    match (class, op, state) {
        (_, "read", 'S' | 'E' | 'M' | 'V' | 'D') => (None, state),
        ("MC", "read", _) => (Some("MemRd Shared/SnpData"), grant),
        ("MC", _, 'E' | 'M') => (None, 'M'),
        ("MC", "full", _) => (Some("MemInv Any/SnpInv"), 'M'),
        ("MC", _, _) => (Some("MemRd Any/SnpInv"), 'M'),
        ("CC", "read", _) => (Some("RdShared"), 'S'),
        ("CC", _, 'E' | 'M') => (None, 'M'),
        ("CC", "full", _) | ("CC", _, 'S') => (Some("RdOwnNoData"), 'M'),
        ("CC", _, _) => (Some("RdOwn"), 'M'),
        ("MN", "read", _) => (Some("MemRd NoOp/NoOp"), 'V'),
        ("MN", "part", 'I') => (Some("MemRd NoOp/NoOp"), 'D'),
        _ => (None, 'D'),
    }
}

/// 9.4: what a sector sends when it leaves.
pub fn evicted(state: char) -> Option<&'static str> {
    match state {
        'S' | 'E' => Some("MemClnEvct Invalid/NoOp"),
        'M' => Some("MemWr Invalid/NoOp"),
        'D' => Some("MemWr Any/NoOp"),
        _ => None,
    }
}

/// 9.4: the same of a line of a host.
pub fn evicted_to_host(state: char) -> &'static [&'static str] {
    match state {
        'S' | 'E' => &["CleanEvictNoData"],
        'M' => &["DirtyEvict", "Data"],
        _ => &[],
    }
}

/// 9.5: how a snoop of a host is answered in a state: the answer, whether data comes with it, the state behind it.
pub fn snooped_by_host(snoop: &str, state: char) -> (&'static str, bool, char) {
    match (snoop, state) {
        ("SnpInv", 'S' | 'E') => ("RspIHitSE", false, 'I'),
        ("SnpInv", 'M') => ("RspIFwdM", true, 'I'),
        ("SnpData", 'S' | 'E') => ("RspSHitSE", false, 'S'),
        ("SnpData", 'M') => ("RspSFwdM", true, 'S'),
        ("SnpCur", 'S' | 'E') => ("RspVHitV", false, state),
        ("SnpCur", 'M') => ("RspVFwdV", true, 'M'),
        _ => ("RspIHitI", false, state),
    }
}

/// 9.5: how a back-invalidate snoop is answered in a state: the write back before it, the answer, the state behind it.
pub fn snooped(snoop: &str, state: char) -> (Option<&'static str>, &'static str, char) {
    match (snoop, state) {
        (_, 'I' | 'V' | 'D') => (None, "BIRspI", state),
        ("Inv", 'M') => (Some("MemWr Invalid/NoOp"), "BIRspI", 'I'),
        ("Inv", _) => (None, "BIRspI", 'I'),
        ("Data", 'M') => (Some("MemWr Shared/NoOp"), "BIRspS", 'S'),
        ("Data", _) => (None, "BIRspS", 'S'),
        (_, 'S') => (None, "BIRspS", 'S'),
        (_, 'M') => (Some("MemWr Any/NoOp"), "BIRspE", 'E'),
        _ => (None, "BIRspE", 'E'),
    }
}

/// What a message of CXL.mem to memory of accelerators comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundConversion {
    /// What the accelerator is asked: `Read`, `WriteFull`, `Write`.
    pub access: Option<&'static str>,
    /// The answer: `DRS`, `Cmp`, or none.
    pub answer: Option<&'static str>,
    /// It is one that such memory takes.
    pub is_legal: bool,
}

/// 5.2 with the table of HDM-H of `coherence` 3.2: an opcode, `Meta0`, `EMS` or `NoOp` as MetaField, a SnpType.
pub fn inbound(opcode: &str, field: &str, snoop: &str) -> InboundConversion {
    let fields: &[&str] = match opcode {
        "MemRd" | "MemInv" | "MemInvNT" => &["Meta0", "NoOp"],
        // Its field is reserved.
        "MemSpecRd" => &["Meta0", "EMS", "NoOp"],
        "MemWr" | "MemWrPtl" => &["Meta0"],
        "MemRdData" | "MemRdFill" => &["NoOp"],
        _ => &[],
    };
    let is_legal = fields.contains(&field) && snoop == "NoOp";
    let (access, answer) = match opcode {
        "MemRd" | "MemRdData" | "MemRdFill" => (Some("Read"), Some("DRS")),
        "MemWr" => (Some("WriteFull"), Some("Cmp")),
        "MemWrPtl" => (Some("Write"), Some("Cmp")),
        "MemSpecRd" => (None, None),
        _ => (None, Some("Cmp")),
    };
    InboundConversion { access: access.filter(|_| is_legal), answer, is_legal }
}

/// 8.2: what a status of an accelerator says of a read: opcode, whether it is poisoned, whether it is all ones.
pub fn status_of_read(status: u8) -> (&'static str, bool, bool) {
    match status {
        0 => ("MemData", false, false),
        3 => ("MemDataNXM", false, true),
        _ => ("MemData", true, true),
    }
}

/// 8.2: whether a write that ends with a status leaves its line unknown.
pub fn status_loses_write(status: u8) -> bool {
    !matches!(status, 0 | 3 | 6)
}

/// A request of NVLink, as the tables look at it.
#[derive(Debug, Clone)]
pub struct NvlinkRequest {
    /// Operation code.
    pub op: u8,
    /// Attributes of the AE.
    pub attr: u8,
    /// Byte address.
    pub address: u64,
    /// Units of 16 bytes, asked for or carried.
    pub units: u64,
    /// Enables of the bytes of the payload, if there is a BE flit.
    pub enables: Option<Vec<bool>>,
}

/// What such a request comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvlinkConversion {
    /// The answer if all is well; `None`: nobody is answered.
    pub answer: Option<&'static str>,
    /// Status if it is refused.
    pub refused: Option<u8>,
    /// Lines for which something is sent, ascending.
    pub lines: Vec<LineConversion>,
}

/// 4.3 with 3.1, 3.2 and 4.4: what becomes of a READ (1), WRITE_POSTED (2), WRITE_NONPOSTED (3), ATOMIC_RETURN (4) or ATOMIC_POSTED (5) to
/// a window of a class in which its source has all rights.
pub fn told_nvlink(class: &str, asked: &NvlinkRequest) -> NvlinkConversion {
    let answer = match asked.op {
        1 | 4 => Some("RSP_DATA"),
        3 => Some("RSP_DONE"),
        _ => None,
    };
    let (is_read, is_atomic) = (asked.op == 1, matches!(asked.op, 4 | 5));
    let (start, bytes) = (asked.address % 256, 16 * asked.units);
    let refused = NvlinkConversion { answer, refused: Some(2), lines: Vec::new() };
    if start + bytes > 256 || is_atomic && (class == "MN" || asked.enables.is_none()) {
        return refused;
    }
    let enabled = |n: u64| asked.enables.as_ref().is_none_or(|enables| enables.get(n as usize) == Some(&true));
    let mut lines: Vec<LineConversion> = Vec::new();
    for n in 0..bytes {
        let line = (asked.address + n) / 64 * 64;
        if lines.last().is_none_or(|last| last.line != line) {
            lines.push(LineConversion { line, bytes: Vec::new(), messages: Vec::new(), answers: Vec::new() });
        }
        if !is_read && enabled(n) {
            lines.last_mut().expect("it is there").bytes.push((asked.address + n) % 64);
        }
    }
    // Operation in the low bits, size above, as 4.4 numbers them.
    let attr = asked.attr % 16 * 16 + asked.attr / 16 % 4 * 4;
    if is_atomic && (lines.len() != 1 || !atomic_is_legal(attr, bytes, &lines[0].bytes)) {
        return refused;
    }
    for line in &mut lines {
        let op = match line.bytes.len() {
            _ if is_read => "read",
            _ if is_atomic => "atomic",
            64 => "full",
            _ => "part",
        };
        if is_read || !line.bytes.is_empty() {
            (line.messages, line.answers) = row(class, op);
        }
    }
    lines.retain(|line| !line.messages.is_empty());
    NvlinkConversion { answer, refused: None, lines }
}

/// The record of a line at the home of exported memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportRecord {
    /// Nobody holds it.
    I,
    /// These share it, ascending.
    S(Vec<u16>),
    /// It may be changed there.
    A(u16),
}

/// What a message of CXL.mem to exported memory comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportConversion {
    /// Back-invalidate snoop and who gets it, ascending.
    pub recall: Option<(&'static str, Vec<u16>)>,
    /// What the accelerator is asked: `Read`, `WriteFull`, `Write`.
    pub access: Option<&'static str>,
    /// Answers, in any order: `DRS`, `Cmp`, `Cmp-S`, `Cmp-E`, `Ack`.
    pub answers: Vec<&'static str>,
    /// The record behind it. Under BISnpData an owner keeps S, under BISnpCur what it has.
    pub record: ExportRecord,
    /// It stands in a row.
    pub is_legal: bool,
}

/// 5.1: a message of `req`, one of several holders, with `Any`, `Shared`, `Invalid` or `NoOp` as MetaValue, whose line has a record.
pub fn exported(
    (opcode, meta, snoop): (&str, &str, &str),
    req: u16,
    before: &ExportRecord,
    is_single: bool,
) -> ExportConversion {
    use ExportRecord::{A, I, S};
    let others: Vec<u16> = match before {
        I => Vec::new(),
        S(all) => all.iter().copied().filter(|holder| *holder != req).collect(),
        A(owner) => [*owner].into_iter().filter(|holder| *holder != req).collect(),
    };
    let other_owner = matches!(before, A(owner) if *owner != req);
    let shared = |mut all: Vec<u16>| {
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { I } else { S(all) }
    };
    let plus_req = || shared(others.iter().copied().chain([req]).collect());
    let minus_req = || match before {
        A(owner) if *owner == req => I,
        S(_) => shared(others.clone()),
        same => same.clone(),
    };
    let inv = |on: bool| (on && !others.is_empty()).then(|| ("BISnpInv", others.clone()));
    let owner = |name| other_owner.then(|| (name, others.clone()));
    let row = |recall, access, answers: &[&'static str], record| ExportConversion {
        recall,
        access,
        answers: answers.to_vec(),
        record,
        is_legal: true,
    };
    let forgets = |kept: ExportRecord, gone: ExportRecord| if meta == "Invalid" { gone } else { kept };
    let read = Some("Read");
    match (opcode, meta, snoop) {
        ("MemRd", "Any", "SnpInv") => row(inv(true), read, &["DRS", "Cmp-E"], A(req)),
        ("MemRd", "Shared", "SnpData") => row(owner("BISnpData"), read, &["DRS", "Cmp-S"], plus_req()),
        // Its MetaValue means nothing.
        ("MemRdData", _, "SnpData") if others.is_empty() => row(None, read, &["DRS", "Cmp-E"], A(req)),
        ("MemRdData", _, "SnpData") => row(owner("BISnpData"), read, &["DRS", "Cmp-S"], plus_req()),
        ("MemRd", "Invalid" | "NoOp", "SnpCur") => {
            row(owner("BISnpCur"), read, &["DRS", "Cmp"], forgets(before.clone(), minus_req()))
        }
        ("MemRd", "Invalid" | "NoOp", "SnpInv") => {
            let held = if matches!(before, A(o) if *o == req) || matches!(before, S(all) if all.contains(&req)) {
                before.clone()
            } else {
                I
            };
            let alone = match held {
                S(_) => S(vec![req]),
                other => other,
            };
            row(inv(true), read, &["DRS", "Cmp"], forgets(alone, I))
        }
        ("MemRd", "NoOp", "NoOp") => row(None, read, &["DRS", "Cmp"], before.clone()),
        ("MemInv" | "MemInvNT", "Any", "SnpInv") => row(inv(true), None, &["Cmp-E"], A(req)),
        ("MemInv" | "MemInvNT", "Shared", "SnpData") => row(owner("BISnpData"), None, &["Cmp-S"], plus_req()),
        ("MemInv" | "MemInvNT", "Invalid" | "NoOp", "SnpInv") => {
            let held = match before {
                A(o) if *o == req => before.clone(),
                S(all) if all.contains(&req) => S(vec![req]),
                _ => I,
            };
            row(inv(true), None, &["Cmp"], forgets(held, I))
        }
        ("MemClnEvct", "Invalid", "NoOp") => row(None, None, &["Cmp"], minus_req()),
        // Nobody waits for it. Its meta fields are reserved, its SnpType is NoOp (`coherence` 3.2).
        ("MemSpecRd", _, snoop) => {
            ExportConversion { is_legal: snoop == "NoOp", ..row(None, None, &[], before.clone()) }
        }
        ("MemWr" | "MemWrPtl", "Any" | "Shared" | "Invalid", "NoOp") if *before == A(req) => {
            let access = if opcode == "MemWr" { "WriteFull" } else { "Write" };
            let after = match meta {
                "Any" => A(req),
                "Shared" => S(vec![req]),
                _ => I,
            };
            row(None, Some(access), &["Cmp"], after)
        }
        ("MemWr" | "MemWrPtl", "Invalid", "SnpInv") if is_single => {
            let access = if opcode == "MemWr" { "WriteFull" } else { "Write" };
            row(None, Some(access), &["Cmp"], I)
        }
        ("BIConflict", ..) => row(None, None, &["Ack"], before.clone()),
        _ => {
            let reads = ["MemRd", "MemRdData", "MemRdFill"].contains(&opcode);
            let answers = if reads { vec!["DRS", "Cmp"] } else { vec!["Cmp"] };
            ExportConversion { recall: None, access: None, answers, record: before.clone(), is_legal: false }
        }
    }
}

/// What an access of an accelerator to exported memory of its own cluster comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HairpinConversion {
    /// Back-invalidate snoop and who gets it, ascending.
    pub recall: Option<(&'static str, Vec<u16>)>,
    /// What the accelerator is asked whose line it is: `Read`, `WriteFull`, `Write`, `AtomicR`, `AtomicNR`.
    pub access: &'static str,
    /// The record behind it.
    pub record: ExportRecord,
}

/// 5.1, below the table: an access that the accelerator is asked by this name, of one who is no holder, to a line that has a record.
pub fn hairpin(access: &'static str, before: &ExportRecord) -> HairpinConversion {
    // A read is that row of the table; nobody has this number.
    let read = exported(("MemRd", "Invalid", "SnpCur"), u16::MAX, before, false);
    let holders = match before {
        ExportRecord::I => Vec::new(),
        ExportRecord::S(all) => all.clone(),
        ExportRecord::A(owner) => vec![*owner],
    };
    match access {
        "Read" => HairpinConversion { recall: read.recall, access, record: read.record },
        _ => HairpinConversion {
            recall: (!holders.is_empty()).then_some(("BISnpInv", holders)),
            access,
            record: ExportRecord::I,
        },
    }
}
