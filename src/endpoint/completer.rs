//! A completer: configuration space, and memory behind BARs.
//!
//! Modelled: type 0 configuration requests to function 0, from which the device learns its bus and device number;
//! memory reads and writes of 32 and 64 bits with byte enables, and atomics, behind an enabled BAR; completions cut at the read
//! completion boundary, at the largest payload, and at boundaries where poison begins or ends; poison in both directions;
//! Unsupported Request for what nobody claims, Completer Abort for a request that runs over the end of its BAR, Request Retry
//! Status while the device is not ready; memory that UIO reaches by the decoder of the device, whose requests are performed whole or, as
//! Completer Abort, not at all (`fabric` UIO-03).
//! Detail: every field of a completion. Left out: ordering between queues (requests take effect in order of arrival), the
//! meaning of the registers behind the BARs, MLD and type 1 forwarding.
//!
//! A walk through one memory read: the address is looked up in the BARs; the bytes come from the store; the run from the
//! first to the last enabled byte is cut, first where the boundary or the payload ends, then in steps of that; each part
//! becomes a completion that says how many bytes are still to come, itself included.

use super::config_space::ConfigSpace;
use super::config_space::type3::MAX_BAR_BYTES;
use super::event::EndpointEvent;
use super::tlp::{Enables, Tlp, TlpAtomic, TlpKind, UioAnswer};
use scalepool_memory::store::Store;
use scalepool_memory::uio::UioRange;
use scalepool_memory::{LINE_BYTES, line_address};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;

/// How a completer is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleterConfig {
    /// Read completion boundary \[bytes\]: 64 or 128, completions end at multiples of it (general knowledge of PCIe).
    pub boundary_bytes: u64,
    /// Configuration requests that are answered with Request Retry Status after reset.
    pub not_ready: u32,
}

impl Default for CompleterConfig {
    fn default() -> CompleterConfig {
        CompleterConfig { boundary_bytes: 64, not_ready: 0 }
    }
}

/// The completer.
pub struct Completer {
    config: CompleterConfig,
    space: ConfigSpace,
    /// Bytes behind the BARs: each begins at a place of its own, so a device keeps its bytes when a BAR moves.
    store: Store,
    /// Bus, device and function, learnt from configuration writes; 0 before.
    id: u16,
    not_ready: u32,
    /// Memory that UIO reaches, as the decoder of the device says; `None`: it has none.
    uio: Option<UioRange>,
    events: Vec<EndpointEvent>,
}

/// Where memory that UIO reaches begins in the store, behind the BARs.
const UIO_AT: u64 = BAR_STRIDE * super::config_space::registers::BARS as u64;

/// Distance of the BARs in the store: that of the largest one.
const BAR_STRIDE: u64 = MAX_BAR_BYTES;

/// Where a memory request goes.
enum RequestTarget {
    /// Behind a BAR, at this address of the store.
    Store(u64),
    /// Nobody claims it.
    Nowhere,
    /// It begins behind a BAR and ends elsewhere.
    Across,
}

impl Completer {
    /// A device after reset.
    pub fn new(config: CompleterConfig, space: ConfigSpace, store: Store) -> Completer {
        Completer { config, space, store, id: 0, not_ready: config.not_ready, uio: None, events: Vec::new() }
    }

    /// The device with memory that UIO reaches.
    pub fn with_uio(self, uio: Option<UioRange>) -> Completer {
        Completer { uio, ..self }
    }

    /// Its configuration space.
    pub fn space(&self) -> &ConfigSpace {
        &self.space
    }

    /// Its configuration space, as the hardware of the device sees it.
    pub fn space_mut(&mut self) -> &mut ConfigSpace {
        &mut self.space
    }

    /// Bus, device and function as learnt, 0 before.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Marks the 64 bytes around an offset of a BAR as poisoned or clears the mark (a fault input).
    pub fn set_poison(&mut self, bar: usize, offset: u64, poison: bool) {
        self.store.set_poison(bar as u64 * BAR_STRIDE + offset, poison);
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<EndpointEvent> {
        std::mem::take(&mut self.events)
    }

    /// Takes a request and answers with its completions in order; none for a posted one.
    pub fn receive(&mut self, tlp: &Tlp) -> Vec<Tlp> {
        match tlp.kind {
            TlpKind::ConfigRead { level: 0, target, register, .. } => match self.answers_config(target) {
                CplStatus::SC => vec![self.whole(tlp, self.space.read(register).to_le_bytes().to_vec())],
                status => vec![self.refuse(tlp, status, "configuration read")],
            },
            TlpKind::ConfigWrite { level: 0, target, register, enables } => match self.answers_config(target) {
                CplStatus::SC => {
                    self.id = target;
                    if let Some(&dw) = tlp.data.first_chunk() {
                        self.space.write(register, u32::from_le_bytes(dw), enables);
                    }
                    vec![self.whole(tlp, Vec::new())]
                }
                status => vec![self.refuse(tlp, status, "configuration write")],
            },
            TlpKind::MemRead { address, dw, enables } => match self.place(address, dw * DW_BYTES) {
                RequestTarget::Store(at) => self.read(tlp, at, dw, enables),
                RequestTarget::Nowhere => vec![self.refuse(tlp, CplStatus::UR, "no BAR claims the address")],
                RequestTarget::Across => vec![self.refuse(tlp, CplStatus::CA, "the read runs over the end of its BAR")],
            },
            TlpKind::MemWrite { address, enables } => {
                match self.place(address, tlp.data.len()) {
                    RequestTarget::Store(at) => self.write(tlp, address, at, enables),
                    RequestTarget::Nowhere => self.drop_posted(tlp, CplStatus::UR, "no BAR claims the address"),
                    RequestTarget::Across => {
                        self.drop_posted(tlp, CplStatus::CA, "the write runs over the end of its BAR")
                    }
                }
                Vec::new()
            }
            // Of both operands of a comparison it touches one element.
            TlpKind::Atomic { operation, address } => {
                match self.place(address, tlp.data.len() / operation.operands()) {
                    RequestTarget::Store(at) => self.atomic(tlp, operation, address, at),
                    RequestTarget::Nowhere => vec![self.refuse(tlp, CplStatus::UR, "no BAR claims the address")],
                    RequestTarget::Across => {
                        vec![self.refuse(tlp, CplStatus::CA, "the atomic runs over the end of its BAR")]
                    }
                }
            }
            TlpKind::ConfigRead { .. } | TlpKind::ConfigWrite { .. } => {
                vec![self.refuse(tlp, CplStatus::UR, "nothing is behind this device")]
            }
            TlpKind::Other { .. } => vec![self.refuse(tlp, CplStatus::UR, "a request that the device does not serve")],
            TlpKind::UioRead { address, enables, .. } | TlpKind::UioWrite { address, enables } => {
                self.uio(tlp, address, enables).into_iter().collect()
            }
            TlpKind::Completion { .. } | TlpKind::UioCompletion { .. } | TlpKind::Message { .. } => {
                self.drop_posted(tlp, CplStatus::UR, "no request of a completer");
                Vec::new()
            }
        }
    }

    /// A request of UIO: one completion, which has all data of a read.
    fn uio(&mut self, tlp: &Tlp, address: u64, enables: Enables) -> Option<Tlp> {
        let (_, bytes) = tlp.uio_span()?;
        let refusal = match &self.uio {
            None => Some((CplStatus::UR, "a request of UIO to a device without memory for it")),
            Some(range) if !range.takes(address, bytes) => {
                Some((CplStatus::CA, "a request of UIO that the decoder of the device does not take"))
            }
            Some(_) => None,
        };
        if let Some((status, text)) = refusal {
            self.drop_posted(tlp, status, text);
            return tlp.uio_ended(self.id, status);
        }
        let at = UIO_AT + address - self.uio.as_ref().map_or(0, |range| range.base);
        if let TlpKind::UioWrite { .. } = tlp.kind {
            self.write(tlp, address, at, enables);
            return tlp.uio_ended(self.id, CplStatus::SC);
        }
        let (first, byte_count) = enables.bounds(bytes as usize / DW_BYTES);
        let lower_address = ((address + first as u64) & 0x7f) as u8;
        let (of, completer, status) = (UioAnswer::Data, self.id, CplStatus::SC);
        let kind = TlpKind::UioCompletion { of, completer, status, byte_count, lower_address };
        let (data, poison) = self.bytes(at, bytes as usize);
        Some(Tlp { tag: tlp.tag, tc: tlp.tc, attr: tlp.attr, poison, ..Tlp::new(kind, tlp.requester, data) })
    }

    /// Whether a configuration request is served: function 0 alone, and not before the device is ready.
    fn answers_config(&mut self, target: u16) -> CplStatus {
        if target & 7 != 0 {
            return CplStatus::UR;
        }
        if self.not_ready > 0 {
            self.not_ready -= 1;
            return CplStatus::CRS;
        }
        CplStatus::SC
    }

    /// Where so many bytes from an address on are.
    fn place(&self, address: u64, bytes: usize) -> RequestTarget {
        if !self.space.memory_enabled() {
            return RequestTarget::Nowhere;
        }
        for bar in 0..super::config_space::registers::BARS {
            if let Some(range) = self.space.bar(bar).filter(|r| r.contains(&address)) {
                return match address.checked_add(bytes as u64).is_some_and(|end| end <= range.end) {
                    true => RequestTarget::Store(bar as u64 * BAR_STRIDE + (address - range.start)),
                    false => RequestTarget::Across,
                };
            }
        }
        RequestTarget::Nowhere
    }

    fn write(&mut self, tlp: &Tlp, address: u64, at: u64, enables: Enables) {
        if tlp.poison {
            self.events.push(EndpointEvent::Poisoned { address });
        }
        let dw = tlp.data.len() / DW_BYTES;
        let mut done = 0;
        while done < tlp.data.len() {
            let line = line_address(at + done as u64);
            let (mut bytes, mut enabled) = ([0; LINE_BYTES as usize], 0u64);
            let first = (at + done as u64 - line) as usize;
            let n = (LINE_BYTES as usize - first).min(tlp.data.len() - done);
            bytes[first..first + n].copy_from_slice(&tlp.data[done..done + n]);
            for k in (0..n).filter(|k| enables.has(done + k, dw)) {
                enabled |= 1 << (first + k);
            }
            if enabled != 0 {
                self.store.write_line(line, &bytes, enabled, tlp.poison);
            }
            done += n;
        }
    }

    /// An atomic on an element of 4 or 8 bytes: its completion has the value from before. What is known to be wrong stays as it is.
    fn atomic(&mut self, tlp: &Tlp, operation: TlpAtomic, address: u64, at: u64) -> Vec<Tlp> {
        let size = tlp.data.len() / operation.operands();
        if !matches!(size, 4 | 8) || !address.is_multiple_of(size as u64) {
            return vec![self.refuse(tlp, CplStatus::UR, "an atomic of a size that the device does not serve")];
        }
        let (old, poison) = self.bytes(at, size);
        let [first, second] = [&tlp.data[..size], &tlp.data[tlp.data.len() - size..]];
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        let new = match operation {
            TlpAtomic::FetchAdd => number(&old).wrapping_add(number(first)),
            TlpAtomic::CompareSwap if old != first => number(&old),
            TlpAtomic::Swap | TlpAtomic::CompareSwap => number(second),
        };
        if !poison {
            let (line, from) = (line_address(at), (at - line_address(at)) as usize);
            let mut bytes = [0; LINE_BYTES as usize];
            bytes[from..from + size].copy_from_slice(&new.to_le_bytes()[..size]);
            self.store.write_line(line, &bytes, (u64::MAX >> (64 - size)) << from, tlp.poison);
        }
        let completion = self.completion(tlp, CplStatus::SC, size, 0);
        vec![Tlp { data: old, poison, ..completion }]
    }

    fn read(&self, tlp: &Tlp, at: u64, dw: usize, enables: Enables) -> Vec<Tlp> {
        let all = dw * DW_BYTES;
        let (first, count) = enables.bounds(dw);
        let payload = self.space.max_payload_bytes() as u64;
        let mut parts = Vec::new();
        let mut from = 0;
        while from < all {
            let begin = at + from as u64;
            // A completion that does not end the request ends at a boundary, and is as long as the payload allows.
            let longest = begin + payload - begin % self.config.boundary_bytes;
            let end = longest.min(at + all as u64);
            let to = (self.alike(begin, end) - at) as usize;
            let begins = first.max(from);
            // Enables that leave the end out are refused by no rule of the model; what is left then is one byte.
            let count = (first + count).saturating_sub(begins).max(1);
            let (data, poison) = self.bytes(begin, to - from);
            parts.push(Tlp {
                poison,
                data,
                ..self.completion(tlp, CplStatus::SC, count, ((at + begins as u64) & 0x7f) as u8)
            });
            from = to;
        }
        parts
    }

    /// Where a completion from `begin` on ends that would end at `end` at the latest: the poison mark is one for all of its bytes, so that
    /// it goes as far as all parts between two boundaries are poisoned, or none is (`bridge` §8.3).
    fn alike(&self, begin: u64, end: u64) -> u64 {
        let step = self.config.boundary_bytes;
        let poisoned = |from: u64, to: u64| self.bytes(from, (to - from) as usize).1;
        if !poisoned(begin, end) {
            return end;
        }
        let behind = |at: u64| (at + step - at % step).min(end);
        let mut to = behind(begin);
        let is_poisoned = poisoned(begin, to);
        while to < end && poisoned(to, behind(to)) == is_poisoned {
            to = behind(to);
        }
        to
    }

    /// Bytes of the store, and whether any of their lines is poisoned.
    fn bytes(&self, from: u64, n: usize) -> (Vec<u8>, bool) {
        let (mut bytes, mut poison) = (Vec::with_capacity(n), false);
        let end = from + n as u64;
        let mut line_at = line_address(from);
        while line_at < end {
            let line = self.store.read_line(line_at);
            poison |= line.poison;
            let first = from.saturating_sub(line_at) as usize;
            let last = (end - line_at).min(LINE_BYTES) as usize;
            bytes.extend(&line.data[first..last]);
            line_at += LINE_BYTES;
        }
        (bytes, poison)
    }

    fn completion(&self, request: &Tlp, status: CplStatus, byte_count: usize, lower_address: u8) -> Tlp {
        let kind = TlpKind::Completion { completer: self.id, status, byte_count, lower_address };
        Tlp { tag: request.tag, tc: request.tc, attr: request.attr, ..Tlp::new(kind, request.requester, Vec::new()) }
    }

    /// The one completion of a configuration request: a DW, or nothing.
    fn whole(&self, request: &Tlp, data: Vec<u8>) -> Tlp {
        Tlp { data, ..self.completion(request, CplStatus::SC, DW_BYTES, 0) }
    }

    fn refuse(&mut self, request: &Tlp, status: CplStatus, text: &'static str) -> Tlp {
        self.drop_posted(request, status, text);
        self.completion(request, status, DW_BYTES, 0)
    }

    fn drop_posted(&mut self, request: &Tlp, status: CplStatus, text: &'static str) {
        let (requester, tag) = (request.requester, request.tag);
        self.events.push(EndpointEvent::Refused { requester, tag, status, text });
    }
}
