//! Class BR of the bridge SoC by its sheet (`bridge` §2, §3.2, §3.5, §4.4, §5.3, §5.4, §6.4 I2, §8.2, §8.3; `cxl-io` §1.3): what TLPs to a BAR
//! ask of accelerators, and what is completed, byte by byte.
//!
//! A request is a list of bytes, each wanted or not. Accesses come from sorting the bytes into blocks, completions from asking of each byte
//! whether a new completion begins with it.

/// What stands behind the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    Ualink,
    Nvlink,
}

/// Kinds of TLPs, as far as the rows of §5.3 tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    LockedRead,
    Write,
    FetchAdd,
    Swap,
    CompareSwap,
    /// UIO, reads and writes.
    Unordered,
    /// Cfg, Msg and IO: no accelerator hears of them.
    Local,
}

/// A TLP, as the tables look at it.
#[derive(Debug, Clone)]
pub struct BarTlp {
    pub kind: Kind,
    /// Byte address of its first DW.
    pub address: u64,
    /// DWs that it is about: of a read those to bring, of an atomic those of its operands.
    pub dw: u64,
    /// Enables of the first and of the last DW; of one DW the first ones alone.
    pub enables: (u8, u8),
    /// Payload in the order of addresses.
    pub data: Vec<u8>,
    /// EP.
    pub poison: bool,
    /// RO.
    pub relaxed: bool,
}

/// A window of class BR and what its source may do there.
#[derive(Debug, Clone)]
pub struct BarWindow {
    pub base: u64,
    pub size: u64,
    pub out_base: u64,
    /// Bytes in a row at one accelerator.
    pub granule: u64,
    pub accelerators: u64,
    pub may_read: bool,
    pub may_write: bool,
    /// The third right; an atomic needs all three.
    pub may_change: bool,
}

/// A request to an accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarAccess {
    pub accelerator: u64,
    pub address: u64,
    /// Whether each of its bytes is asked for; there are as many as it covers.
    pub enabled: Vec<bool>,
    /// UPLI command or NVL-M1 op.
    pub command: u8,
    /// ReqAttr of UALink; of an atomic of NVLink, the six attributes of the AE flit.
    pub attributes: u8,
    /// What is at each byte of a write, and operands of an atomic: its beat (UALink) or its payload (NVLink). Bytes without a meaning are 0.
    pub data: Vec<u8>,
    pub poison: bool,
}

/// Accesses in their order, and the status on which the request ends behind them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BarPlan {
    pub accesses: Vec<BarAccess>,
    pub refused: Option<u8>,
}

/// What an accelerator answers.
#[derive(Debug, Clone)]
pub struct BarAnswer {
    /// Status of §8.2.
    pub status: u8,
    /// All bytes of the access.
    pub data: Vec<u8>,
    /// Whether each of these is poisoned: lines of UALink, whole packets of NVLink.
    pub poison: Vec<bool>,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarCompletion {
    /// `SC`, `UR`, `CA`.
    pub status: &'static str,
    pub byte_count: u64,
    pub lower_address: u64,
    pub data: Vec<u8>,
    pub poison: bool,
}

/// UPLI commands and NVL-M1 ops of a read, a write and an atomic that brings the old value (§5.4).
const COMMANDS: [(u8, u8); 3] = [(0x03, 0x01), (0x28, 0x03), (0x30, 0x04)];

impl BarTlp {
    /// Address of each byte of its DWs, and whether it is enabled.
    fn bytes(&self) -> Vec<(u64, bool)> {
        let last = self.dw - 1;
        let is_enabled = |n: u64| match n / 4 {
            0 => self.enables.0 >> (n % 4) & 1 == 1,
            dw if dw == last => self.enables.1 >> (n % 4) & 1 == 1,
            _ => true,
        };
        (0..4 * self.dw).map(|n| (self.address + n, is_enabled(n))).collect()
    }

    /// Bytes of the value that an atomic works on.
    fn element(&self) -> u64 {
        if self.kind == Kind::CompareSwap { 2 * self.dw } else { 4 * self.dw }
    }
}

impl BarWindow {
    /// §2: the accelerator that has a byte, and its address there; the address stays as it is translated, it is not compacted.
    fn place(&self, at: u64) -> (u64, u64) {
        let offset = at - self.base;
        (offset / self.granule % self.accelerators, self.out_base + offset)
    }

    /// §2: no window, then no right; the status of X that stands for it.
    fn refuses(&self, at: u64, kind: Kind) -> Option<u8> {
        let is_allowed = match kind {
            Kind::Read => self.may_read,
            Kind::Write => self.may_write,
            _ => self.may_read && self.may_write && self.may_change,
        };
        let is_inside = at >= self.base && at - self.base < self.size;
        (!is_inside).then_some(3).or((!is_allowed).then_some(6))
    }
}

fn command(link: Link, row: usize) -> u8 {
    if link == Link::Ualink { COMMANDS[row].0 } else { COMMANDS[row].1 }
}

/// Bytes from the first multiple of `unit` below the first of them to the next one behind the last.
fn rounded(bytes: &[(u64, bool)], unit: u64) -> std::ops::Range<u64> {
    bytes[0].0 / unit * unit..bytes[bytes.len() - 1].0 / unit * unit + unit
}

/// Bytes of each block of so many, the blocks ascending.
fn blocks(bytes: &[(u64, bool)], size: u64) -> Vec<Vec<(u64, bool)>> {
    bytes.chunk_by(|one, next| one.0 / size == next.0 / size).map(<[_]>::to_vec).collect()
}

/// A read of the bytes of one block.
fn read(window: &BarWindow, link: Link, bytes: &[(u64, bool)]) -> BarAccess {
    let unit = if link == Link::Ualink { 4 } else { 16 };
    let range = rounded(bytes, unit);
    // Enables of a read are those of its first and of its last DW; NVLink has none and brings what it is rounded to.
    let enabled: Vec<bool> = if link == Link::Ualink {
        bytes.iter().map(|(_, on)| *on).collect()
    } else {
        range.clone().map(|_| true).collect()
    };
    let code = |dw: &[bool]| (0..4).filter(|k| dw[*k]).map(|k| 1u8 << k).sum::<u8>();
    let attributes = match link {
        Link::Ualink if enabled.len() == 4 => code(&enabled),
        Link::Ualink => code(&enabled[..4]) + 16 * code(&enabled[enabled.len() - 4..]),
        Link::Nvlink => 0,
    };
    let (accelerator, address) = window.place(range.start);
    BarAccess { accelerator, address, enabled, command: command(link, 0), attributes, data: Vec::new(), poison: false }
}

/// Writes of the bytes of one block: one, but of NVLink two where enables are needed and both halves have any.
fn writes(window: &BarWindow, link: Link, tlp: &BarTlp, bytes: &[(u64, bool)]) -> Vec<BarAccess> {
    let unit = if link == Link::Ualink { 4 } else { 16 };
    let one = |bytes: &[(u64, bool)]| {
        let range = rounded(bytes, unit);
        let is_on = |at: u64| bytes.contains(&(at, true));
        let enabled: Vec<bool> = range.clone().map(is_on).collect();
        let value = |at: u64| if is_on(at) { tlp.data[(at - tlp.address) as usize] } else { 0 };
        let data = range.clone().map(value).collect();
        let (accelerator, address) = window.place(range.start);
        BarAccess { accelerator, address, enabled, command: command(link, 1), attributes: 0, data, poison: tlp.poison }
    };
    let whole = one(bytes);
    let parts = if link == Link::Ualink || whole.enabled.iter().all(|on| *on) {
        vec![whole]
    } else {
        blocks(bytes, 128).iter().map(|half| one(half)).collect()
    };
    parts.into_iter().filter(|part| part.enabled.contains(&true)).collect()
}

/// §4.4: an atomic on one element, named by the enables; operands of CAS are at the beginning, others in the lane of their element.
fn atomic(window: &BarWindow, link: Link, tlp: &BarTlp) -> BarAccess {
    let size = tlp.element();
    let covered = if link == Link::Ualink {
        tlp.address..tlp.address + size
    } else {
        tlp.address / 16 * 16..tlp.address / 16 * 16 + 16
    };
    let enabled = covered.clone().map(|at| at >= tlp.address && at < tlp.address + size).collect();
    let op = match tlp.kind {
        Kind::FetchAdd => 0,
        Kind::Swap => 1,
        _ => 2,
    };
    let of_size = if size == 4 { 0 } else { 1 };
    let attributes = if link == Link::Ualink { 16 * op + 4 * of_size } else { op + 16 * of_size };
    let (beat, bytes) = if link == Link::Ualink { (tlp.address / 64 * 64, 64) } else { (covered.start, 16) };
    let first = if tlp.kind == Kind::CompareSwap { 0 } else { (tlp.address - beat) as usize };
    let mut data = vec![0; bytes];
    data[first..first + tlp.data.len()].copy_from_slice(&tlp.data);
    let (accelerator, address) = window.place(covered.start);
    BarAccess { accelerator, address, enabled, command: command(link, 2), attributes, data, poison: tlp.poison }
}

/// What a TLP asks of accelerators.
pub fn told(window: &BarWindow, link: Link, tlp: &BarTlp) -> BarPlan {
    let mut plan = BarPlan::default();
    match tlp.kind {
        Kind::Local => (),
        Kind::LockedRead => plan.refused = Some(3),
        Kind::Unordered => plan.refused = Some(2),
        Kind::Read => {
            for block in blocks(&tlp.bytes(), 256) {
                plan.refused = window.refuses(block[0].0, tlp.kind);
                if plan.refused.is_some() {
                    break;
                }
                if block.iter().any(|(_, on)| *on) {
                    plan.accesses.push(read(window, link, &block));
                }
            }
        }
        Kind::Write => {
            for block in blocks(&tlp.bytes(), 256) {
                match window.refuses(block[0].0, tlp.kind) {
                    None => plan.accesses.extend(writes(window, link, tlp, &block)),
                    refused => plan.refused = plan.refused.or(refused),
                }
            }
        }
        Kind::FetchAdd | Kind::Swap | Kind::CompareSwap => {
            plan.refused = window.refuses(tlp.address, tlp.kind).or((tlp.element() > 8).then_some(2));
            if plan.refused.is_none() {
                plan.accesses.push(atomic(window, link, tlp));
            }
        }
    }
    plan
}

/// §8.2, the column of CXL.io.
fn status(of_x: u8) -> &'static str {
    match of_x {
        0 => "SC",
        3 => "UR",
        _ => "CA",
    }
}

/// What is completed, with these answers to its accesses and payloads of at most `largest` bytes. Writes, messages and what is handled in the
/// bridge itself have none here.
pub fn completed(
    window: &BarWindow,
    link: Link,
    tlp: &BarTlp,
    answers: &[BarAnswer],
    largest: u64,
) -> Vec<BarCompletion> {
    let plan = told(window, link, tlp);
    let failed = answers.iter().map(|answer| answer.status).find(|status| *status != 0).or(plan.refused);
    match tlp.kind {
        Kind::Write | Kind::Local => return Vec::new(),
        Kind::Read | Kind::LockedRead | Kind::Unordered => (),
        _ if failed.is_none() => {
            let (access, answer) = (&plan.accesses[0], &answers[0]);
            let of_element = |list: &[u8]| -> Vec<u8> {
                list.iter().zip(&access.enabled).filter(|(_, on)| **on).map(|(byte, _)| *byte).collect()
            };
            let (data, poison) = (of_element(&answer.data), answer.poison.contains(&true));
            return vec![BarCompletion { status: "SC", byte_count: tlp.element(), lower_address: 0, data, poison }];
        }
        _ => (),
    }
    if tlp.kind != Kind::Read {
        // An atomic counts the bytes of its element, whatever comes of it; others count a DW.
        let byte_count = if matches!(tlp.kind, Kind::LockedRead | Kind::Unordered) { 4 } else { tlp.element() };
        let status = status(failed.expect("all others are refused"));
        return vec![BarCompletion { status, byte_count, lower_address: 0, data: Vec::new(), poison: false }];
    }

    // Bytes that are brought, in order, with their poison, up to the first block that failed.
    let bytes = tlp.bytes();
    let wanted = |from: u64| -> (u64, u64) {
        // First byte at or behind `from` that is enabled, and bytes from there to the last enabled one. Nothing is enabled in a read of no
        // byte: it counts as one.
        let on: Vec<u64> = bytes.iter().filter(|(at, on)| *on && *at >= from).map(|(at, _)| *at).collect();
        on.first().map_or((from, 1), |first| (*first, on[on.len() - 1] - first + 1))
    };
    let mut brought: Vec<(u64, u8, bool)> = Vec::new();
    let good = answers.iter().take_while(|answer| answer.status == 0).count();
    for (access, answer) in plan.accesses.iter().zip(&answers[..good]) {
        let start = access.address - window.out_base + window.base;
        for (n, byte) in answer.data.iter().enumerate() {
            let at = start + n as u64;
            if at >= tlp.address && at < tlp.address + 4 * tlp.dw {
                brought.push((at, *byte, answer.poison[n]));
            }
        }
    }
    if plan.accesses.is_empty() && plan.refused.is_none() {
        brought = bytes.iter().map(|(at, _)| (*at, 0, false)).collect();
    }

    let mut completions: Vec<BarCompletion> = Vec::new();
    for (n, (at, byte, poison)) in brought.iter().enumerate() {
        // A completion ends with its block, at multiples of the largest payload, which are boundaries of 64 bytes, and where poison begins
        // or ends. The sheet says neither that a block is cut at multiples nor that poison cuts; both are what keeps other bytes clean.
        let is_cut = n == 0 || at.is_multiple_of(largest.min(256)) || brought[n - 1].2 != *poison;
        if is_cut {
            let (first, byte_count) = wanted(*at);
            let (lower_address, data) = (first % 128, Vec::new());
            completions.push(BarCompletion { status: "SC", byte_count, lower_address, data, poison: *poison });
        }
        if let Some(open) = completions.last_mut() {
            open.data.push(*byte);
        }
    }
    if let Some(failed) = failed {
        let from = brought.last().map_or(tlp.address, |last| last.0 + 1);
        let (first, byte_count) = wanted(from);
        completions.push(BarCompletion {
            status: status(failed),
            byte_count,
            lower_address: first % 128,
            data: Vec::new(),
            poison: false,
        });
    }
    completions
}

/// §6.4 I2: whether a TLP waits for an earlier one of its requester, which is not over.
pub fn waits(later: &BarTlp, earlier: &BarTlp) -> bool {
    let of = |tlp: &BarTlp| -> Vec<u64> { tlp.bytes().iter().map(|(at, _)| at / 256).collect() };
    let has_common_block = of(later).iter().any(|block| of(earlier).contains(block));
    earlier.kind == Kind::Write && (later.kind != Kind::Write || !later.relaxed || has_common_block)
}
