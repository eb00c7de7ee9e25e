//! A judge of a bridge with a conversion cache by what passes at its two sides, without a look inside (`bridge` §9).
//!
//! Modelled: for each line what the bridge may do with it, as its requests, the answers of devices, snoops and responses say; a rule that is
//! broken is told by its id. Left out: bytes, and what tables say row by row, which the oracle holds. A bridge that is wrong is a
//! log of a right one in which something stands elsewhere or is something else.
//!
//! A walk: MemRd Shared leaves for a line, Cmp-S and the data come, so the line is held and a read of it may be answered; a block of
//! its set that comes later has to find a way, so the line leaves by MemClnEvct, and its Cmp has to come first.

use super::common::{BASE, OUT, beats, rsp};
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::CacheLine;
use scalepool::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{
    BisnpOpcode, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::{BTreeMap, BTreeSet};

/// What passes at a bridge, in its order.
#[derive(Debug, Clone)]
pub enum Event {
    /// A request of an accelerator takes an entry.
    Asked(u16, Transfer),
    /// It is answered.
    Answered(u16, Transfer),
    /// A message leaves for a device.
    Sent(Msg<CacheLine>),
    /// A message of a device comes.
    Came(Msg<CacheLine>),
}

/// What the bridge has of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Copy {
    #[default]
    Nothing,
    /// Its bytes.
    Shared,
    /// The right to change them.
    Owned,
}

/// A line, by the messages about it.
#[derive(Debug, Clone, Default)]
struct Line {
    copy: Copy,
    is_dirty: bool,
    is_poisoned: bool,
    /// It is asked for by this Tag: NDR and DRS that are still to come.
    asking: Option<(u16, bool, bool)>,
    /// It is given back by this Tag.
    giving: Option<u16>,
    /// A snoop is not answered; whether nothing may keep its answer back.
    snooped: Option<(BisnpOpcode, bool)>,
    /// It was taken away while it was asked for.
    is_lost: bool,
}

/// The cache that is judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgedCache {
    pub class: WindowClass,
    pub sets: u64,
    pub ways: usize,
    /// First address of its registers.
    pub control: u64,
}

/// Lines of a block of 256 bytes.
const BLOCK_LINES: u64 = 4;

struct Judge {
    cache: JudgedCache,
    lines: BTreeMap<u64, Line>,
    open: BTreeMap<u16, Transfer>,
    /// Entries with lines of theirs for which devices have done what was asked.
    performed: BTreeSet<(u16, u64)>,
    /// Operation, first address and end of what the registers run.
    managed: (u64, u64, u64),
    found: Vec<(&'static str, String)>,
}

/// Rules that a log breaks, each with what was found.
pub fn broken(cache: JudgedCache, log: &[Event]) -> Vec<(&'static str, String)> {
    let (lines, open) = (BTreeMap::new(), BTreeMap::new());
    let mut judge = Judge { cache, lines, open, performed: BTreeSet::new(), managed: (0, 0, 0), found: Vec::new() };
    for event in log {
        if !matches!(event, Event::Sent(_)) {
            judge.nothing_waits();
        }
        match event {
            Event::Asked(entry, request) => judge.asked(*entry, request),
            Event::Answered(entry, response) => judge.answered(*entry, response),
            Event::Sent(msg) => judge.sent(msg),
            Event::Came(msg) => judge.came(msg),
        }
    }
    judge.nothing_waits();
    judge.found
}

/// The ids of these rules.
pub fn ids(cache: JudgedCache, log: &[Event]) -> BTreeSet<&'static str> {
    broken(cache, log).into_iter().map(|(rule, _)| rule).collect()
}

/// Rules that a right log breaks when it is changed.
pub fn changed(cache: JudgedCache, log: &[Event], change: impl FnOnce(&mut Vec<Event>)) -> BTreeSet<&'static str> {
    assert_eq!(broken(cache, log), [], "it is right as it is");
    let mut log = log.to_vec();
    change(&mut log);
    ids(cache, &log)
}

/// Where the last event is that is such a one.
pub fn last(log: &[Event], is_it: impl Fn(&Event) -> bool) -> usize {
    log.iter().rposition(is_it).expect("there is one")
}

fn req(request: &Transfer) -> TlReq {
    let ControlField::Request(req) = request.field else { panic!("a request: {request:?}") };
    req
}

/// Lines of CXL that a request touches, with the beat of each and whether all of its bytes are written; those of which a write enables no
/// byte are none.
fn touched(request: &Transfer) -> Vec<(u64, usize, bool)> {
    let req = req(request);
    let start = req.address + OUT - BASE;
    let (first, end) = (start, start + 4 * (u64::from(req.len) + 1));
    let whole = |line: u64| {
        let at = (line % 256 / 8) as usize;
        let is_enabled = request.enables.as_ref().is_none_or(|enables| enables[at..at + 8] == [0xff; 8]);
        req.cmd.has_data() && first <= line && line + 64 <= end && is_enabled && !req.cmd.is_atomic()
    };
    let is_enabled = |line: u64| {
        let at = (line % 256 / 8) as usize;
        request.enables.as_ref().is_none_or(|enables| enables[at..at + 8] != [0; 8])
    };
    let lines = (first / 64 * 64..end).step_by(64).enumerate().filter(|(_, line)| is_enabled(*line));
    lines.map(|(beat, line)| (line, beat, whole(line))).collect()
}

impl Judge {
    fn find(&mut self, rule: &'static str, found: String) {
        self.found.push((rule, found));
    }

    fn line(&mut self, address: u64) -> &mut Line {
        self.lines.entry(address).or_default()
    }

    /// A snoop of a line at rest is answered before anything else happens.
    fn nothing_waits(&mut self) {
        let waits = |line: &Line| line.snooped.is_some_and(|(_, at_rest)| at_rest);
        let late: Vec<u64> = self.lines.iter().filter(|(_, line)| waits(line)).map(|(address, _)| *address).collect();
        for address in late {
            self.line(address).snooped = None;
            self.find("BRG-TPL-04", format!("a snoop of {address:#x} waits"));
        }
    }

    fn asked(&mut self, entry: u16, request: &Transfer) {
        let address = req(request).address;
        if address >= self.cache.control && req(request).cmd.has_data() {
            let line = beats(request)[0];
            let register = |n: usize| u64::from_le_bytes(std::array::from_fn(|k| line[8 * n + k]));
            self.managed = (register(0), register(1), register(1).saturating_add(register(2)));
        }
        self.open.insert(entry, request.clone());
    }

    fn answered(&mut self, entry: u16, response: &Transfer) {
        let Some(request) = self.open.remove(&entry) else { return };
        if req(&request).address >= self.cache.control {
            return self.told(&request, response);
        }
        let is_read = !req(&request).cmd.has_data();
        for (address, beat, is_whole) in touched(&request) {
            let is_performed = self.performed.remove(&(entry, address));
            let needs_owner = !is_read && self.cache.class == WindowClass::Mc;
            let line = self.line(address);
            let has_right = if needs_owner { line.copy == Copy::Owned } else { line.copy != Copy::Nothing };
            let is_held = has_right && line.asking.is_none();
            let is_kept = is_read || needs_owner;
            let has_old_snoop = line.snooped.is_some() && line.is_dirty;
            let is_done = rsp(response).status == Status::OKAY;
            if is_done && !is_read && is_whole && !needs_owner {
                line.copy = Copy::Shared;
            }
            if is_done && !is_read && (is_held || !needs_owner) {
                line.is_poisoned = request.poisoned >> beat & 1 == 1 || line.is_poisoned && !is_whole;
                (line.is_dirty, line.is_lost) = (true, false);
            }
            if is_done && is_kept && !is_held && !is_performed {
                self.find("BRG-CHC-20", format!("{:?} of {address:#x} is answered", req(&request).cmd));
            } else if has_old_snoop && !is_read {
                self.find("BRG-RAC-10", format!("a store of {address:#x} passes a snoop"));
            }
        }
    }

    /// The registers are read: done says that every dirty line of the range is in memory.
    fn told(&mut self, request: &Transfer, response: &Transfer) {
        if req(request).cmd != ReqCmd::Read || beats(response)[0][32] == 0 {
            return;
        }
        let (op, base, end) = self.managed;
        let in_range = |address: &u64| (base..end).contains(&(address - OUT + BASE));
        let dirty = self.lines.iter().find(|(address, line)| op & 1 == 1 && line.is_dirty && in_range(address));
        if let Some(address) = dirty.map(|(address, _)| *address) {
            self.find("BRG-MNG-01", format!("done, and {address:#x} is dirty"));
        }
    }

    fn sent(&mut self, msg: &Msg<CacheLine>) {
        match *msg {
            Msg::M2sReq { opcode: M2sReqOpcode::MemClnEvct, line, tag, .. } => {
                let line = self.line(line.address());
                (line.copy, line.giving) = (Copy::Nothing, Some(tag));
            }
            Msg::M2sReq { opcode, meta_field, snp, line, tag, .. } => {
                let has_ndr = meta_field == MetaField::Meta0State;
                self.asks(line.address(), (tag, has_ndr, opcode == M2sReqOpcode::MemRd), snp);
            }
            Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, .. } => (),
            Msg::M2sRwd { meta, line, tag, data, .. } => {
                let (address, is_coherent) = (line.address(), self.cache.class == WindowClass::Mc);
                let line = self.line(address);
                let lacks_poison = line.is_dirty && line.is_poisoned && !data.poison;
                line.giving = Some(tag);
                line.copy = match meta {
                    MetaValue::Invalid if is_coherent => Copy::Nothing,
                    MetaValue::Shared => Copy::Shared,
                    _ => line.copy,
                };
                if lacks_poison {
                    self.find("BRG-SNP-08", format!("{address:#x} is written back without its poison"));
                }
            }
            Msg::M2sBirsp { low_addr, .. } => {
                let is_it = |(address, line): &(&u64, &mut Line)| {
                    *address / 64 % 4 == u64::from(low_addr) && line.snooped.is_some()
                };
                let Some((_, line)) = self.lines.iter_mut().find(is_it) else { return };
                let (opcode, _) = line.snooped.take().unwrap_or((BisnpOpcode::BISnpInv, false));
                match opcode {
                    BisnpOpcode::BISnpInv => {
                        line.is_lost = line.asking.is_some() && line.copy != Copy::Nothing;
                        line.copy = Copy::Nothing;
                    }
                    BisnpOpcode::BISnpData if line.copy != Copy::Nothing => line.copy = Copy::Shared,
                    _ => (),
                }
            }
            _ => (),
        }
    }

    /// A line is asked for.
    fn asks(&mut self, address: u64, asking: (u16, bool, bool), snp: SnpType) {
        let JudgedCache { class, sets, ways, .. } = self.cache;
        let block = |address: u64| address / 64 / BLOCK_LINES;
        let in_set = |other: u64| block(other) % sets == block(address) % sets;
        let in_use = |line: &Line| line.copy != Copy::Nothing || line.asking.is_some() || line.giving.is_some();
        let used = self.lines.iter().filter(|(other, line)| in_set(**other) && in_use(line));
        let mut blocks: BTreeSet<u64> = used.map(|(other, _)| block(*other)).collect();
        blocks.insert(block(address));
        // What passes by the cache takes no way.
        let passes_by = snp == SnpType::SnpCur;
        let line = self.line(address);
        let rule = if line.giving.is_some() {
            Some("BRG-RAC-09")
        } else if line.snooped.is_some() && line.asking.is_none() && line.copy == Copy::Shared {
            Some("BRG-RAC-10")
        } else if passes_by && line.copy != Copy::Nothing {
            Some("BRG-CHC-18")
        } else if line.is_lost && line.copy == Copy::Owned {
            Some("BRG-RAC-05")
        } else if class == WindowClass::Mc && !passes_by && blocks.len() > ways {
            Some("BRG-CHC-19")
        } else {
            None
        };
        line.asking = Some(asking);
        if let Some(rule) = rule {
            self.find(rule, format!("{address:#x} is asked for"));
        }
    }

    fn came(&mut self, msg: &Msg<CacheLine>) {
        match *msg {
            Msg::S2mBisnp { opcode, line, .. } => {
                let busy: Vec<u64> = self.open.values().flat_map(touched).map(|(line, ..)| line).collect();
                let address = line.address();
                let line = self.line(address);
                let is_dirty = line.is_dirty && line.copy == Copy::Owned;
                let at_rest = line.giving.is_none() && !is_dirty && !busy.contains(&address);
                line.snooped = Some((opcode, at_rest));
            }
            Msg::S2mNdr { opcode: NdrOpcode::BIConflictAck, .. } => (),
            Msg::S2mNdr { opcode, tag, .. } => {
                let given = self.lines.values_mut().find(|line| line.giving == Some(tag));
                if let Some(line) = given {
                    (line.giving, line.is_dirty) = (None, false);
                    return;
                }
                let grant = |line: &mut Line| {
                    line.copy = match opcode {
                        NdrOpcode::CmpE => Copy::Owned,
                        NdrOpcode::CmpS => Copy::Shared,
                        _ => line.copy,
                    };
                };
                self.advance(tag, |(tag, _, drs)| (tag, false, drs), grant);
            }
            Msg::S2mDrs { opcode, tag, data, .. } => {
                let is_nxm = opcode == DrsOpcode::MemDataNXM;
                let is_plain = self.cache.class == WindowClass::Mn;
                let fill = |line: &mut Line| {
                    line.is_poisoned = data.poison;
                    if is_plain && !is_nxm {
                        line.copy = Copy::Shared;
                    }
                };
                self.advance(tag, |(tag, ndr, _)| (tag, ndr && !is_nxm, false), fill);
            }
            _ => (),
        }
    }

    /// An answer for a line that is asked for; behind the last one the open requests of the line may be answered.
    fn advance(&mut self, tag: u16, left: impl Fn((u16, bool, bool)) -> (u16, bool, bool), change: impl Fn(&mut Line)) {
        let asked = |(_, line): &(&u64, &mut Line)| line.asking.is_some_and(|asking| asking.0 == tag);
        let Some((address, line)) = self.lines.iter_mut().find(asked) else { return };
        let address = *address;
        change(line);
        line.asking = line.asking.map(left);
        if line.asking.is_some_and(|(_, ndr, drs)| !ndr && !drs) {
            line.asking = None;
            let of_line = |request: &&Transfer| touched(request).iter().any(|(line, ..)| *line == address);
            let open = self.open.iter().filter(|(_, request)| of_line(request));
            self.performed.extend(open.map(|(entry, _)| (*entry, address)).collect::<Vec<_>>());
        }
    }
}
