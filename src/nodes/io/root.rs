//! The root complex: it finds devices, through a switch too, makes them answer, and uses their memory-mapped registers.
//!
//! Modelled: the walk of [`super::walk`] with one configuration access at a time, retried while the device says that it is
//! not ready; then writes, reads and, if they are asked for, atomics of random lengths behind the BARs, as many at a time as the requester
//! allows, each read and each old value of an atomic checked against the bytes that were written, since the last walk if there were
//! several; the power management agent of the host beside both; accesses to memory of devices by unordered I/O (UIO), when the walk is over.
//! UIO that comes to the host is completed as Unsupported Request, as none of its memory is there for devices. Left out: software
//! latencies, interrupts, relaxed ordering.
//!
//! A walk through one cycle: everything that came is taken, completions end requests; requests whose time is up end too;
//! then the agent speaks and the next requests leave as far as there is room.
//!
//! In traces an access is the root of a tree: of a register of the configuration space with all its tries, or behind a BAR
//! with all TLPs that it takes. Messages of power management are trees of their own.

use super::held::{HeldByte, HeldBytes};
use super::tlps::{self, IoRequestNames};
use super::uio::{UioAccessConfig, UioAccessResult, UioAccesses};
use super::walk::{ConfigAccess, ConfigWalkResult, Log, Pause, Windows, enumerate, judge_layers};
use crate::PlacedViolation;
use crate::first_lines::LinesOfDevices;
use crate::latencies::Latencies;
use scalepool_endpoint::config_space::{ConfigSpace, registers as reg};
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{Happened, PmAgent, PmRequest};
use scalepool_endpoint::requester::{Done, RequestFailure, Requester};
use scalepool_endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Rng, Time};
use scalepool_link::io_ends::IoItem;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::dvsec::FlexBusStatus;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What the root complex leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct RootResult {
    /// What was found; `None`: the walk did not end.
    pub found: Option<ConfigWalkResult>,
    /// What the host's own port says of the link.
    pub status: FlexBusStatus,
    /// Configuration reads, writes and retries.
    pub config: [u64; 3],
    /// Memory writes, reads and atomics.
    pub memory: [u64; 3],
    /// Reads that ended by time-out, with UR, and with another status than success, where they may.
    pub failed: [u64; 3],
    /// Completions of requests that had ended by time-out, where they may.
    pub late: u64,
    /// Configuration requests that ended by time-out, and with another status than success; who asks whether a function is there
    /// and hears that none is has not failed.
    pub config_failed: [u64; 2],
    /// Bytes of finished memory writes and reads.
    pub bytes: u64,
    /// Request to answer, by transaction.
    pub latencies: Latencies,
    /// What it asked for by UIO; `None`: it asks for nothing.
    pub uio: Option<UioAccessResult>,
    /// Requests of UIO that came, and were completed as Unsupported Request.
    pub uio_refused: u64,
    /// What did not go as it should.
    pub events: Vec<EndpointEvent>,
    /// End-to-end checks that failed.
    pub broken: Vec<PlacedViolation>,
    /// The agents of both sides have met.
    pub pm_ready: bool,
    /// Resets that the device acknowledged and phases of a flush that it finished.
    pub power_answered: u64,
}

/// How the root complex is built.
pub struct RootConfig {
    /// Its place in traces and reports.
    pub place: String,
    /// Number of its link, for traces.
    pub link: u32,
    /// How TLPs are written on the link.
    pub form: TlpForm,
    /// Requester with its limit and time-out \[cycles\].
    pub requester: Requester,
    /// The host's power management agent.
    pub agent: PmAgent,
    /// Configuration space of the root port, after training.
    pub port: ConfigSpace,
    /// Addresses that it gives away.
    pub windows: Windows,
    /// Memory accesses after the walk.
    pub accesses: u64,
    /// Longest access \[bytes\].
    pub access_bytes: u64,
    /// One access in four is an atomic.
    pub has_atomics: bool,
    /// Cycles between a retry of a configuration access and the next try.
    pub retry_cycles: u64,
    /// What power management is asked for at the end.
    pub power: Option<PmRequest>,
    /// From which cycle on it asks for nothing, and in which it walks again, because its hierarchy is reset in between.
    pub rescan: Option<[u64; 2]>,
    /// Most switches one below the other that it may see; `None`: any number (`fabric` PID-4).
    pub edge_layers: Option<usize>,
    /// What memory behind BARs holds at first, by the serial numbers of their devices; zeros where nobody says it.
    pub behind: Arc<LinesOfDevices>,
    /// Accesses that end without data are counted, and are nothing wrong: links are lost while it runs, or rights are missing; of writes, which
    /// have no answer, nobody knows whether they were performed until a read shows it.
    pub may_fail: bool,
    /// What it asks for by UIO, and the requester for it.
    pub uio: Option<(UioAccessConfig, Requester)>,
}

/// What an open request is for.
enum Purpose {
    Config(ConfigAccess),
    /// A read or an atomic, and what it has to bring.
    Read {
        address: u64,
        expected: Vec<HeldByte>,
        is_atomic: bool,
    },
}

/// An access behind a BAR.
#[derive(Debug, Clone, Copy)]
struct BarAccess {
    kind: BarAccessKind,
    address: u64,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarAccessKind {
    Read,
    Write,
    Atomic(TlpAtomic),
}

struct RootRequest {
    purpose: Purpose,
    id: u64,
    /// The access that ends with it.
    access: u64,
    since: Time,
    since_cycle: u64,
    /// For a request that ends by time-out there is no completion to show.
    last: Vec<u8>,
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootPhase {
    Walk,
    Memory,
    Over,
}

/// The root complex.
pub struct Root {
    config: RootConfig,
    log: Log,
    /// The access that waits to be sent, and from which cycle on.
    next: Option<(ConfigAccess, u64)>,
    phase: RootPhase,
    bars: Vec<std::ops::Range<u64>>,
    accesses_left: u64,
    /// The access that waits to be sent, if it is due: its id and what it waits for.
    tried: Option<(u64, Option<Wait>)>,
    requests: IoRequestNames,
    /// The next access behind the BARs, drawn and not sent.
    drawn: Option<BarAccess>,
    /// What the devices must hold.
    held: HeldBytes,
    open: OrderedMap<u16, RootRequest>,
    rng: Rng,
    uio: Option<UioAccesses>,
    /// Completions of what came, which wait for room.
    answers: VecDeque<Tlp>,
    tx: Out<IoItem>,
    rx: In<IoItem>,
    tap: Tap,
    result: Arc<Mutex<RootResult>>,
    mine: RootResult,
    told: bool,
}

impl Root {
    /// A root complex with its channel ends, and random numbers of its own and of its UIO.
    pub fn new(
        mut config: RootConfig,
        tx: Out<IoItem>,
        rx: In<IoItem>,
        [rng, rng_of_uio]: [Rng; 2],
        tap: Tap,
        result: Arc<Mutex<RootResult>>,
    ) -> Root {
        let uio = config.uio.take().map(|(accesses, requester)| UioAccesses::new(accesses, requester, rng_of_uio));
        let mut root = Root {
            uio,
            answers: VecDeque::new(),
            accesses_left: config.accesses,
            requests: IoRequestNames::new(config.link),
            held: HeldBytes::new(config.may_fail),
            tried: None,
            config,
            log: Log::default(),
            next: None,
            phase: RootPhase::Walk,
            bars: Vec::new(),
            drawn: None,
            open: OrderedMap::new(),
            rng,
            tx,
            rx,
            tap,
            result,
            mine: RootResult::default(),
            told: false,
        };
        root.advance(0);
        root
    }

    /// Runs the walk up to its next access, or to its end.
    fn advance(&mut self, cycle: u64) {
        match enumerate(&mut self.log, &self.config.windows) {
            Err(Pause(access)) => self.next = Some((access, cycle)),
            Ok(found) => {
                self.bars.clone_from(&found.bars);
                let behind = |(number, bar)| (bar, self.config.behind.of(number));
                self.held.place(found.numbered_bars().map(behind).collect());
                let layers = self.config.edge_layers.and_then(|most| judge_layers(&found, most));
                for violation in found.broken.iter().chain(&layers) {
                    self.mine
                        .broken
                        .push(PlacedViolation { place: self.config.place.clone(), violation: violation.clone() });
                }
                if !self.config.may_fail {
                    for access in &found.unanswered {
                        let text = format!("the configuration {access} has failed");
                        self.broken("SIM-E2E-03", "no data".to_owned(), "data".to_owned(), text);
                    }
                }
                self.mine.found = Some(found);
                self.phase = RootPhase::Memory;
                // A second walk may find what this one did not.
                if self.bars.is_empty() && self.config.rescan.is_none() {
                    self.accesses_left = 0;
                }
            }
        }
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: String) {
        let violation = Violation { rule, at: At::Byte(0), found, expected, text };
        self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
    }

    // ---- what comes ----------------------------------------------------------------------------------------------

    fn take(&mut self, bytes: Vec<u8>, cx: &mut Cx, at: Stamp) {
        let tlp = match Tlp::decode(&bytes, self.config.form) {
            Ok(tlp) => tlp,
            Err(error) => {
                self.mine.events.push(error.into());
                return;
            }
        };
        match tlp.kind {
            TlpKind::Completion { .. } => {
                if let Some(open) = self.open.get_mut(&tlp.tag) {
                    open.last = bytes;
                }
                if let Some(done) = self.config.requester.receive(&tlp) {
                    self.end(done, cx, at);
                }
            }
            TlpKind::UioCompletion { .. } if self.uio.is_some() => {
                if let Some(uio) = &mut self.uio {
                    uio.receive(&tlp, bytes, &mut self.tap, at);
                    cx.progress();
                }
            }
            TlpKind::UioRead { .. } | TlpKind::UioWrite { .. } => {
                self.mine.uio_refused += 1;
                self.answers.extend(tlp.uio_ended(self.config.requester.id(), CplStatus::UR));
            }
            _ if self.config.agent.receive(&tlp, at.cycle) => {}
            _ => {
                let (requester, tag) = (tlp.requester, tlp.tag);
                let (status, text) = (CplStatus::UR, "the host serves no requests");
                self.mine.events.push(EndpointEvent::Refused { requester, tag, status, text });
            }
        }
    }

    fn end(&mut self, done: Done, cx: &mut Cx, at: Stamp) {
        let Some(open) = self.open.remove(&done.tag) else { return };
        let form = self.config.form;
        self.tap.record(at, RecordKind::End, open.id, 0, || tlps::body(&open.last, form));
        self.mine.latencies.add(at.cycle - open.since_cycle, at.t_fs - open.since.as_fs());
        let is_retried =
            matches!((&open.purpose, &done.outcome), (Purpose::Config(_), Err(RequestFailure::Status(CplStatus::CRS))));
        if !is_retried {
            self.tap.record(at, RecordKind::End, open.access, 0, || Body::None);
        }
        match (open.purpose, done.outcome) {
            (Purpose::Config(access), Err(RequestFailure::Status(CplStatus::CRS))) => {
                self.mine.config[2] += 1;
                self.tap.wait(at, open.access, Wait::Retry, 0);
                self.tried = Some((open.access, Some(Wait::Retry)));
                self.next = Some((access, at.cycle + self.config.retry_cycles));
            }
            (Purpose::Config(access), outcome) => {
                let is_question = access.write.is_none() && usize::from(access.register) == reg::VENDOR.start;
                match &outcome {
                    Ok(_) => (),
                    Err(RequestFailure::Timeout) => self.mine.config_failed[0] += 1,
                    Err(_) => self.mine.config_failed[1] += u64::from(!is_question),
                }
                let dw = outcome.ok().map(|data| data.first_chunk().map_or(0, |dw| u32::from_le_bytes(*dw)));
                self.log.answer(dw);
                self.advance(at.cycle);
            }
            (Purpose::Read { address, expected, is_atomic }, Ok(data)) => {
                self.mine.bytes += data.len() as u64;
                let is_right = |n: usize| data.get(n).is_some_and(|byte| expected[n].allows(*byte));
                let wrong = (0..expected.len()).find(|n| !is_right(*n));
                if wrong.is_some() || data.len() != expected.len() || done.poison {
                    let n = wrong.unwrap_or(0);
                    let found = data.get(n).map_or("nothing".to_owned(), |byte| format!("{byte:#04x}"));
                    let text = format!("byte {n} of {} at {address:#x} has a wrong value", expected.len());
                    self.broken("SIM-E2E-01", found, expected[n].to_string(), text);
                } else if !is_atomic {
                    // No write to these bytes was sent while it was open.
                    self.held.read(address, &data);
                }
            }
            (Purpose::Read { .. }, Err(failure)) if self.config.may_fail => {
                let n = match failure {
                    RequestFailure::Timeout => 0,
                    RequestFailure::Status(CplStatus::UR) => 1,
                    RequestFailure::Status(_) => 2,
                };
                self.mine.failed[n] += 1;
            }
            (Purpose::Read { address, .. }, Err(failure)) => {
                let (found, expected) = (failure.to_string(), "data".to_owned());
                self.broken("SIM-E2E-03", found, expected, format!("the read of {address:#x} has failed"));
            }
        }
        cx.progress();
    }

    // ---- what goes -----------------------------------------------------------------------------------------------

    /// The access that is due; it begins with its first try.
    fn access(&mut self, name: &'static str, address: u64, at: Stamp) -> u64 {
        let (id, _) = *self.tried.get_or_insert_with(|| {
            let id = self.tap.new_id();
            self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
            (id, None)
        });
        id
    }

    /// The access that is due was sent, or waits for this.
    fn tells(&mut self, waits: Option<(Wait, u64)>, at: Stamp) {
        let Some((id, wait)) = self.tried else { return };
        match waits {
            Some((now, holder)) if wait != Some(now) => self.tap.wait(at, id, now, holder),
            None if wait.is_some() => self.tap.wait_over(at, id),
            _ => (),
        }
        self.tried = waits.map(|(now, _)| (id, Some(now)));
    }

    /// What a request without room for it waits for.
    fn lacks(&self, cx: &Cx) -> (Wait, u64) {
        (if self.tx.has_room(cx, 1) { Wait::Limit } else { Wait::Link }, 0)
    }

    /// Sends a TLP for an access if there is room for it; `false`: later.
    fn send(&mut self, tlp: Tlp, purpose: Option<Purpose>, access: u64, cx: &mut Cx, at: Stamp) -> bool {
        if !self.tx.has_room(cx, 1) {
            return false;
        }
        let Ok(tlp) = self.config.requester.send(tlp, at.cycle) else { return false };
        let bytes = match tlp.encode(self.config.form) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.mine.events.push(error.into());
                return true;
            }
        };
        let (id, form) = (self.tap.new_id(), self.config.form);
        let named = TransactionNaming::As(self.requests.handle(&tlp));
        self.tap.named(named, at, RecordKind::Begin, id, access, || tlps::body(&bytes, form));
        match purpose {
            Some(purpose) => {
                let open =
                    RootRequest { purpose, id, access, since: cx.now(), since_cycle: at.cycle, last: Vec::new() };
                self.open.insert(tlp.tag, open);
            }
            None => self.tap.record(at, RecordKind::End, id, 0, || Body::None),
        }
        // Room was asked for before.
        let _ = self.tx.push(cx, IoItem::Tlp(bytes));
        true
    }

    /// Sends completions of what came, as far as there is room.
    fn answer(&mut self, cx: &mut Cx) {
        while self.tx.has_room(cx, 1)
            && let Some(answer) = self.answers.pop_front()
        {
            match answer.encode(self.config.form) {
                // Room was asked for before.
                Ok(bytes) => {
                    let _ = self.tx.push(cx, IoItem::Tlp(bytes));
                }
                Err(error) => self.mine.events.push(error.into()),
            }
        }
    }

    /// Sends what it asks for by UIO, as far as there is room.
    fn ask_by_uio(&mut self, cx: &mut Cx, at: Stamp) {
        let Some(uio) = &mut self.uio else { return };
        uio.expire(&mut self.tap, at);
        while self.phase != RootPhase::Walk
            && self.tx.has_room(cx, 1)
            && let Some(bytes) = uio.next(cx.now(), &mut self.tap, at)
        {
            // Room was asked for before.
            let _ = self.tx.push(cx, IoItem::Tlp(bytes));
        }
    }

    /// Sends what the agent has to say.
    fn speak(&mut self, cx: &mut Cx, at: Stamp) {
        while self.tx.has_room(cx, 1)
            && let Some(message) = self.config.agent.next_message()
        {
            self.send(message, None, 0, cx, at);
        }
    }

    fn send_config(&mut self, cx: &mut Cx, at: Stamp) {
        let Some((access, _)) = self.next.filter(|(_, from)| *from <= at.cycle) else { return };
        let ConfigAccess { target, register, write } = access;
        let name = if write.is_some() { "config_write" } else { "config_read" };
        let id = self.access(name, register.into(), at);
        // Type 1 goes on to a bus behind the one at the link.
        let level = u8::from(target >> 8 != u16::from(self.config.windows.bus));
        let (kind, data) = match write {
            None => (TlpKind::ConfigRead { level, target, register, enables: 0xf }, Vec::new()),
            Some((value, enables)) => {
                (TlpKind::ConfigWrite { level, target, register, enables }, value.to_le_bytes().to_vec())
            }
        };
        let waits = self.lacks(cx);
        if self.send(Tlp::new(kind, 0, data), Some(Purpose::Config(access)), id, cx, at) {
            self.tells(None, at);
            self.next = None;
            self.mine.config[usize::from(write.is_some())] += 1;
        } else {
            self.tells(Some(waits), at);
        }
    }

    /// Draws an access behind a BAR: kind, address, length. It does not cross 4 KiB, as no request may.
    fn draw(&mut self) -> BarAccess {
        let bar = &self.bars[self.rng.below(self.bars.len() as u64) as usize];
        let (start, bar_bytes) = (bar.start, bar.end - bar.start);
        let at = self.rng.below(bar_bytes.min(USED_BYTES));
        let room = PAGE_BYTES - at % PAGE_BYTES;
        let bytes = 1 + self.rng.below(self.config.access_bytes.min(room));
        let kind = if self.rng.ratio(1, 2) { BarAccessKind::Write } else { BarAccessKind::Read };
        if !self.config.has_atomics || !self.rng.ratio(1, 4) {
            return BarAccess { kind, address: start + at, bytes: bytes as usize };
        }
        let operations = [TlpAtomic::FetchAdd, TlpAtomic::Swap, TlpAtomic::CompareSwap];
        let operation = operations[self.rng.below(operations.len() as u64) as usize];
        let bytes = if self.rng.ratio(1, 2) { 4 } else { 8 };
        let address = start + at / bytes * bytes;
        BarAccess { kind: BarAccessKind::Atomic(operation), address, bytes: bytes as usize }
    }

    /// The operands of an atomic, of which a comparison is right every second time, and its element behind it, where that is known.
    fn operands(&mut self, operation: TlpAtomic, old: &[HeldByte]) -> (Vec<u8>, Option<Vec<u8>>) {
        let size = old.len();
        let mut data = vec![0; size * operation.operands()];
        self.rng.fill_bytes(&mut data);
        let known: Option<Vec<u8>> = old.iter().map(HeldByte::known).collect();
        if let (TlpAtomic::CompareSwap, Some(known)) = (operation, &known)
            && self.rng.ratio(1, 2)
        {
            data[..size].copy_from_slice(known);
        }
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        let new = known.map(|known| match operation {
            TlpAtomic::FetchAdd => number(&known).wrapping_add(number(&data)).to_le_bytes()[..size].to_vec(),
            TlpAtomic::Swap => data.clone(),
            TlpAtomic::CompareSwap if data[..size] == known => data[size..].to_vec(),
            TlpAtomic::CompareSwap => known,
        });
        (data, new)
    }

    /// `Err`: what the access has to wait for, and for which transaction.
    fn send_memory(
        &mut self,
        BarAccess { kind, address, bytes }: BarAccess,
        cx: &mut Cx,
        at: Stamp,
    ) -> Result<(), (Wait, u64)> {
        let name = match kind {
            BarAccessKind::Read => "read",
            BarAccessKind::Write => "write",
            BarAccessKind::Atomic(_) => "atomic",
        };
        let id = self.access(name, address, at);
        if !self.has_room_for(bytes, cx) {
            return Err((Wait::Link, 0));
        }
        // A write may pass a read on the link, and two requests with a completion each other; where one of them changes bytes of the other
        // it waits.
        let overlaps = |open: &RootRequest| match &open.purpose {
            Purpose::Read { address: from, expected, is_atomic } => {
                (kind != BarAccessKind::Read || *is_atomic)
                    && address < from + expected.len() as u64
                    && *from < address + bytes as u64
            }
            Purpose::Config(_) => false,
        };
        if let Some(open) = self.open.values().find(|open| overlaps(open)) {
            return Err((Wait::Line, open.id));
        }
        if kind == BarAccessKind::Read {
            let (enables, dw) = Enables::span(address, bytes);
            let kind = TlpKind::MemRead { address: address & !3, dw, enables };
            let expected = self.held.of(address, bytes);
            let read = Purpose::Read { address, expected, is_atomic: false };
            let waits = self.lacks(cx);
            let sent = self.send(Tlp::new(kind, 0, Vec::new()), Some(read), id, cx, at);
            self.mine.memory[1] += u64::from(sent);
            return if sent { Ok(()) } else { Err(waits) };
        }
        if let BarAccessKind::Atomic(operation) = kind {
            let waits = self.lacks(cx);
            // Its operands are drawn when it leaves.
            if !self.config.requester.has_room() || !self.tx.has_room(cx, 1) {
                return Err(waits);
            }
            let expected = self.held.of(address, bytes);
            let (data, new) = self.operands(operation, &expected);
            let atomic = Purpose::Read { address, expected, is_atomic: true };
            let kind = TlpKind::Atomic { operation, address };
            if !self.send(Tlp::new(kind, 0, data), Some(atomic), id, cx, at) {
                return Err(waits);
            }
            self.mine.memory[2] += 1;
            match new {
                Some(new) => self.held.write(address, &new),
                // Bytes that were not known are not known behind it either.
                None => self.held.forget(address, bytes),
            }
            return Ok(());
        }
        let mut data = vec![0; bytes];
        self.rng.fill_bytes(&mut data);
        self.held.write(address, &data);
        // As many writes as the largest payload makes of it.
        let payload = self.mine.found.as_ref().map_or(128, |f| f.max_payload_bytes);
        let skip = (address % DW_BYTES as u64) as usize;
        let first = (payload - skip).min(bytes);
        let parts = std::iter::once(&data[..first]).chain(data[first..].chunks(payload));
        let mut from = address;
        for part in parts {
            let (enables, dw) = Enables::span(from, part.len());
            let skip = (from % DW_BYTES as u64) as usize;
            let mut dws = vec![0; dw * DW_BYTES];
            dws[skip..skip + part.len()].copy_from_slice(part);
            let kind = TlpKind::MemWrite { address: from & !3, enables };
            self.send(Tlp::new(kind, 0, dws), None, id, cx, at);
            from += part.len() as u64;
        }
        self.mine.memory[0] += 1;
        self.mine.bytes += bytes as u64;
        Ok(())
    }

    /// Whether an access of this length finds room for all its TLPs.
    fn has_room_for(&self, bytes: usize, cx: &Cx) -> bool {
        let payload = self.mine.found.as_ref().map_or(128, |f| f.max_payload_bytes);
        self.tx.has_room(cx, bytes.div_ceil(payload) + 1)
    }

    /// Whether it waits until its hierarchy was reset; when that is over, it walks again.
    fn is_resting(&mut self, at: Stamp) -> bool {
        let Some([from, until]) = self.config.rescan.filter(|[from, _]| *from <= at.cycle) else { return false };
        if at.cycle >= until.max(from) && self.open.is_empty() {
            self.config.rescan = None;
            self.log = Log::default();
            self.bars.clear();
            self.drawn = None;
            // Writes that were on their way when the reset came are lost, and devices may get other addresses now.
            self.held.forget_all();
            (self.phase, self.tried) = (RootPhase::Walk, None);
            self.advance(at.cycle);
        }
        true
    }

    fn memory(&mut self, cx: &mut Cx, at: Stamp) {
        loop {
            // An access that waits to be sent is sent before it rests.
            if self.drawn.is_none() && self.is_resting(at) || self.accesses_left == 0 || self.bars.is_empty() {
                return;
            }
            let access = match self.drawn.take() {
                Some(access) => access,
                None => self.draw(),
            };
            let sent = self.send_memory(access, cx, at);
            let id = self.tried.map_or(0, |(id, _)| id);
            self.tells(sent.err(), at);
            if sent.is_err() {
                self.drawn = Some(access);
                return;
            }
            if access.kind == BarAccessKind::Write {
                // Its requests are posted.
                self.tap.record(at, RecordKind::End, id, 0, || Body::None);
            }
            self.accesses_left -= 1;
        }
    }

    /// Everything is found, used and answered, and the agents have met.
    fn is_finished(&self) -> bool {
        self.phase == RootPhase::Memory
            && self.config.rescan.is_none()
            && self.accesses_left == 0
            && self.open.is_empty()
            && self.uio.as_ref().is_none_or(UioAccesses::is_over)
            && self.config.agent.is_ready()
            && self.config.agent.is_quiet()
    }
}

/// Bytes of a BAR that are used.
pub const USED_BYTES: u64 = 64 << 10;
/// No request crosses a boundary of 4 KiB (general knowledge of PCI Express).
const PAGE_BYTES: u64 = 4096;

impl Module for Root {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(item) = self.rx.pop(cx) {
            match item {
                IoItem::Tlp(bytes) => self.take(bytes, cx, at),
                IoItem::Error(error) => self.config.port.note(error),
                IoItem::Done => {}
            }
        }
        for done in self.config.requester.expire(at.cycle) {
            self.end(done, cx, at);
        }
        self.config.agent.expire(at.cycle);
        self.speak(cx, at);
        self.answer(cx);
        self.ask_by_uio(cx, at);
        match self.phase {
            RootPhase::Walk => self.send_config(cx, at),
            RootPhase::Memory => {
                self.memory(cx, at);
                if self.phase == RootPhase::Walk {
                    self.send_config(cx, at);
                }
            }
            RootPhase::Over => {}
        }
        for event in self.config.requester.take_events() {
            match event {
                // Counted with its request.
                EndpointEvent::CompletionTimeout { .. } if self.config.may_fail => (),
                EndpointEvent::LateCompletion { .. } if self.config.may_fail => self.mine.late += 1,
                event => self.mine.events.push(event),
            }
        }
        self.mine.events.extend(self.config.agent.take_events());
        let answered = |h: &Happened| matches!(h, Happened::ResetAcknowledged | Happened::FlushAnswered(_));
        self.mine.power_answered += self.config.agent.take_happened().iter().filter(|h| answered(h)).count() as u64;
        if !self.told && self.is_finished() {
            match self.config.power.take() {
                Some(ask) => {
                    self.config.agent.ask(ask, at.cycle);
                    self.speak(cx, at);
                }
                None if self.tx.push(cx, IoItem::Done).is_ok() => (self.told, self.phase) = (true, RootPhase::Over),
                None => {}
            }
        }
        // Timers: the next try of a configuration access, the time-outs of the oldest requests. Room in the channel and
        // what comes wake the module without them.
        let retry = self.next.map(|(_, from)| from).filter(|from| *from > at.cycle);
        let timeout = self.config.requester.oldest().map(|(_, since)| since + self.config.requester.timeout());
        let rescan = self.config.rescan.iter().flatten().copied().find(|cycle| *cycle > at.cycle);
        let uio = self.uio.as_ref().and_then(|uio| uio.due(at.cycle));
        match retry.into_iter().chain(timeout).chain(rescan).chain(uio).chain(self.config.agent.due()).min() {
            Some(cycle) => Next::In(cycle.saturating_sub(at.cycle).max(1)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        if let Some((tag, open)) = self.open.iter().min_by_key(|(_, o)| o.since) {
            let what = match &open.purpose {
                Purpose::Config(access) => format!("configuration {access}"),
                Purpose::Read { address, .. } => format!("read of {address:#x}"),
            };
            let n = self.open.len();
            return Err(Pending::new(format!("{n} requests open, oldest: {what}, tag {tag:#x}"), open.since));
        }
        if let Some(pending) = self.uio.as_ref().and_then(UioAccesses::pending) {
            return Err(pending);
        }
        match self.told {
            true => Ok(()),
            false => Err(Pending::new("the device is not found and used yet", Time::ZERO)),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = RootResult {
            status: self.config.port.flex_bus_status(),
            pm_ready: self.config.agent.is_ready(),
            uio: self.uio.as_ref().map(UioAccesses::result),
            ..self.mine.clone()
        };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.len() as u64);
        visit("accesses_left", self.accesses_left);
    }
}
