//! Registers of HDM decoders: sequences of writes and reads of software, commits among them, and where addresses lead in between.
//!
//! Modelled: devices and bridges with every number of decoders; every code of ways and granularity; each reason of a refusal, with and
//! without lock; locked registers; decoders that are written while they are in use, ended and committed anew (`fabric` §2.1, HDM-1 to
//! HDM-4); and sequences at random over few values, so that they meet. Left out: UIO, the time of a commit.
//!
//! A walk through one case: a script writes and looks, and the model's registers answer; after each control register that was written,
//! it is read.

use super::{FabricVectors, SEED, hex};
use scalepool_fabric::hdm_registers::{DecoderOwner, HdmDecoderRegisters, HdmTarget};
use scalepool_kernel::Rng;
use scalepool_memory::decoder::WINDOW_STEP_BYTES as STEP;
use scalepool_protocols::cxl::hdm_decoder::{
    DECODER_STRIDE, DECODERS_AT, HdmCapability, HdmDecoderCount, hdm_bridge_decoder as bridge,
    hdm_device_decoder as device, hdm_head,
};
use scalepool_protocols::wire::Wire;
use serde_json::{Value, json};

/// Sequences at random of each owner.
const RANDOM_CASES: usize = 24;
/// Steps of such a sequence.
const RANDOM_STEPS: usize = 60;

pub(super) fn vectors() -> FabricVectors {
    let mut cases = Vec::new();
    for owner in DecoderOwner::ALL {
        cases.extend(counts(owner));
        cases.extend(codes(owner));
        cases.extend(capabilities(owner));
        cases.extend([
            order(owner),
            neighbours(owner),
            overlaps(owner),
            wraps(owner),
            lock(owner),
            in_use(owner),
            reserved(owner),
        ]);
        let mut rng = Rng::for_name(SEED, &format!("decoder_commits.{}", owner.name()));
        cases.extend((0..RANDOM_CASES).map(|_| random(owner, &mut rng)));
    }
    cases.extend([threes(), skips(), disabled()]);
    cases.extend(targets());
    FabricVectors {
        name: "decoder_commits",
        about: "HDM decoders: registers as software writes and reads them, commits, and where addresses lead in between",
        cases,
    }
}

/// Everything that the capability can say, with so many decoders.
fn capable(owner: DecoderOwner, decoder_count: HdmDecoderCount) -> HdmCapability {
    let is_device = owner == DecoderOwner::Device;
    HdmCapability {
        decoder_count,
        target_count: if is_device { 0 } else { 8 },
        interleave_11_8: true,
        interleave_14_12: true,
        ways_3_6_12: is_device,
        ways_16: is_device,
        ..HdmCapability::default()
    }
}

/// Bits of the control register, by hand: vectors write what the library refuses to make.
const LOCK: u32 = 1 << 8;
const COMMIT: u32 = 1 << 9;
/// Ports 0 to 7, that of way 0 in the lowest byte.
const PORTS: u64 = 0x0706_0504_0302_0100;

/// The registers of a decoder.
#[derive(Clone, Copy)]
struct Raw {
    base: u64,
    size: u64,
    /// Ports of a bridge, skip of a device.
    last: u64,
    control: u32,
}

impl Raw {
    /// One way over so many steps of 256 MiB, without lock.
    fn of(owner: DecoderOwner, base_steps: u64, size_steps: u64) -> Raw {
        let last = if owner == DecoderOwner::Bridge { PORTS } else { 0 };
        Raw { base: base_steps * STEP, size: size_steps * STEP, last, control: COMMIT }
    }

    fn with(self, control: u32) -> Raw {
        Raw { control: self.control | control, ..self }
    }

    /// Ways and granularity by their codes.
    fn coded(self, ways: u32, granularity: u32) -> Raw {
        self.with(ways << 4 | granularity)
    }
}

/// Software at work.
struct Script {
    registers: HdmDecoderRegisters,
    capability: u32,
    shows: String,
    steps: Vec<Value>,
}

impl Script {
    /// A part after reset; the decoders of a device are enabled.
    fn new(owner: DecoderOwner, capability: HdmCapability, shows: impl Into<String>) -> Script {
        let mut script = Script::after_reset(owner, capability, shows);
        if owner == DecoderOwner::Device {
            script.write(hdm_head::GLOBAL_CONTROL.start, 1 << 1);
        }
        script
    }

    fn after_reset(owner: DecoderOwner, capability: HdmCapability, shows: impl Into<String>) -> Script {
        let capability = capability.to_bits().unwrap_or_else(|e| unreachable!("a capability of this file: {e}")) as u32;
        let registers = HdmDecoderRegisters::new(owner, capability)
            .unwrap_or_else(|e| unreachable!("a capability of this file: {e}"));
        let mut script = Script { registers, capability, shows: shows.into(), steps: Vec::new() };
        script.read(hdm_head::CAPABILITY.start);
        script
    }

    fn write(&mut self, offset: usize, value: u32) {
        self.registers.write(offset, value).unwrap_or_else(|e| unreachable!("an offset of this file: {e}"));
        self.steps.push(json!({ "write": hex(offset as u64), "value": hex(value.into()) }));
    }

    fn read(&mut self, offset: usize) -> u32 {
        let value = self.registers.read(offset).unwrap_or_else(|e| unreachable!("an offset of this file: {e}"));
        self.steps.push(json!({ "read": hex(offset as u64), "value": hex(value.into()) }));
        value
    }

    fn look(&mut self, address: u64) {
        let mut step = json!({ "address": hex(address), "decoder": null });
        if let Some(hit) = self.registers.look_up(address) {
            step["decoder"] = json!(hit.decoder);
            match hit.target {
                HdmTarget::Port(port) => step["port"] = json!(port),
                HdmTarget::Device(address) => step["device_address"] = hex(address),
            }
        }
        self.steps.push(step);
    }

    /// Writes the registers of a decoder, control last, and reads that.
    fn set(&mut self, n: usize, raw: &Raw) {
        for (register, value) in [
            (device::BASE_LOW, raw.base),
            (device::BASE_HIGH, raw.base >> 32),
            (device::SIZE_LOW, raw.size),
            (device::SIZE_HIGH, raw.size >> 32),
            (bridge::TARGETS_LOW, raw.last),
            (bridge::TARGETS_HIGH, raw.last >> 32),
            (device::CONTROL, raw.control.into()),
        ] {
            self.write(at(n, register.start), value as u32);
        }
        self.read(at(n, device::CONTROL.start));
    }

    /// Writes the control register with Commit as 0, and reads it.
    fn end(&mut self, n: usize) {
        let control = self.read(at(n, device::CONTROL.start));
        self.write(at(n, device::CONTROL.start), control & !COMMIT);
        self.read(at(n, device::CONTROL.start));
    }

    /// Looks at the edges of a decoder, and at chunks of its beginning.
    fn walk(&mut self, raw: &Raw) {
        let chunk = 256 << (raw.control & 0xf).min(6);
        self.look(raw.base.wrapping_sub(1));
        self.look(raw.base.wrapping_add(raw.size));
        self.look(raw.base.wrapping_add(raw.size).wrapping_sub(1));
        for n in [0, 1, 2, 3, 5, 7, 11, 13, 17] {
            self.look(raw.base.wrapping_add(n * chunk + n));
        }
    }

    fn case(self) -> Value {
        json!({
            "owner": self.registers.owner().name(), "capability": hex(self.capability.into()), "shows": self.shows,
            "steps": self.steps,
        })
    }
}

/// Offset of a register of a decoder.
fn at(decoder: usize, register: usize) -> usize {
    DECODERS_AT + DECODER_STRIDE * decoder + register
}

/// Every number of decoders, all committed in order with lock, and then in use.
fn counts(owner: DecoderOwner) -> Vec<Value> {
    let last = if owner == DecoderOwner::Device { HdmDecoderCount::Decoders10 } else { HdmDecoderCount::Decoders32 };
    let case = |code| {
        let mut script = Script::new(owner, capable(owner, code), format!("decoders of code {}, all in use", code.0));
        let decoders: Vec<Raw> =
            (0..script.registers.count() as u64).map(|n| Raw::of(owner, 16 + 2 * n, 1 + n % 2).with(LOCK)).collect();
        decoders.iter().enumerate().for_each(|(n, raw)| script.set(n, raw));
        for raw in &decoders {
            script.look(raw.base);
            script.look(raw.base + raw.size);
        }
        script.case()
    };
    (0..=last.0).map(HdmDecoderCount).map(case).collect()
}

/// Every code of ways with every code of granularity, those that are refused too.
fn codes(owner: DecoderOwner) -> Vec<Value> {
    let case = |ways: u32| {
        let shows = format!("ways of code {ways} with every granularity");
        let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders1), shows);
        for granularity in 0..16 {
            let raw = Raw::of(owner, 24, 48).coded(ways, granularity);
            script.set(0, &raw);
            script.walk(&raw);
            script.end(0);
            script.look(raw.base);
        }
        script.case()
    };
    (0..16).map(case).collect()
}

/// Each part of the capability left out, and each number of targets.
fn capabilities(owner: DecoderOwner) -> Vec<Value> {
    let whole = capable(owner, HdmDecoderCount::Decoders1);
    let mut changed = vec![
        ("no interleaving by address bits 11 to 8", HdmCapability { interleave_11_8: false, ..whole }),
        ("no interleaving by address bits 14 to 12", HdmCapability { interleave_14_12: false, ..whole }),
    ];
    match owner {
        DecoderOwner::Device => changed.extend([
            ("no 3, 6 and 12 ways", HdmCapability { ways_3_6_12: false, ..whole }),
            ("no 16 ways", HdmCapability { ways_16: false, ..whole }),
        ]),
        DecoderOwner::Bridge => changed.extend([
            ("1 target", HdmCapability { target_count: 1, ..whole }),
            ("2 targets", HdmCapability { target_count: 2, ..whole }),
            ("4 targets", HdmCapability { target_count: 4, ..whole }),
        ]),
    }
    let case = |(shows, capability): (&str, HdmCapability)| {
        let mut script = Script::new(owner, capability, shows);
        for ways in [0, 1, 2, 3, 4, 8, 9, 10] {
            for granularity in [0, 3, 4, 6] {
                let raw = Raw::of(owner, 24, 48).coded(ways, granularity);
                script.set(0, &raw);
                script.look(raw.base + (256 << granularity) + 1);
                script.end(0);
            }
        }
        script.case()
    };
    changed.into_iter().map(case).collect()
}

/// Bases below the end of the decoder before, and decoders that are left out (HDM-2), with lock and without.
fn order(owner: DecoderOwner) -> Value {
    let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders4), "order of decoders");
    let below = Raw::of(owner, 2, 1);
    for lock in [LOCK, 0] {
        // The decoder before is not committed.
        script.set(1, &Raw::of(owner, 40, 1).with(lock));
        script.look(40 * STEP);
        script.end(1);
    }
    script.set(0, &Raw::of(owner, 16, 4));
    for lock in [LOCK, 0] {
        script.set(1, &below.with(lock));
        script.look(below.base);
        script.end(1);
    }
    // Side by side is in order; a decoder of size 0 is, too, and hits nothing.
    script.set(1, &Raw::of(owner, 20, 0).with(LOCK));
    script.set(2, &Raw::of(owner, 20, 2).with(LOCK));
    script.look(20 * STEP - 1);
    script.look(20 * STEP);
    // The end of the one below leaves those above in use.
    script.end(0);
    script.look(16 * STEP);
    script.look(20 * STEP);
    script.case()
}

/// A base below the end of a decoder that is not the one before, which order does not ask about (HDM-2).
fn neighbours(owner: DecoderOwner) -> Value {
    let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders4), "order of neighbours alone");
    script.set(0, &Raw::of(owner, 32, 4));
    script.set(1, &Raw::of(owner, 16, 4));
    script.set(2, &Raw::of(owner, 20, 2).with(LOCK));
    script.set(3, &Raw::of(owner, 21, 1).with(LOCK));
    for steps in [16, 20, 22, 32] {
        script.look(steps * STEP);
    }
    script.case()
}

/// Overlaps with any committed decoder, which are refused with lock and without (HDM-4).
fn overlaps(owner: DecoderOwner) -> Value {
    let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders4), "decoders that overlap");
    script.set(0, &Raw::of(owner, 32, 4));
    script.set(1, &Raw::of(owner, 16, 4));
    for (base, size) in [(35, 1), (31, 2), (19, 13), (20, 12), (16, 0), (12, 5), (36, 1), (12, 4)] {
        let raw = Raw::of(owner, base, size);
        script.set(2, &raw);
        script.walk(&raw);
        script.end(2);
    }
    script.case()
}

/// Ranges up to 2^64 and around it.
fn wraps(owner: DecoderOwner) -> Value {
    let mut script =
        Script::new(owner, capable(owner, HdmDecoderCount::Decoders2), "ranges at the end of the addresses");
    let steps = (u64::MAX / STEP) + 1;
    for (base, size) in [(steps - 1, 2), (steps - 2, 3), (steps - 1, 1), (0, steps - 1)] {
        for lock in [0, LOCK] {
            let raw = Raw::of(owner, base, size).with(lock);
            script.set(0, &raw);
            for address in [raw.base, raw.base.wrapping_add(raw.size), u64::MAX, 0] {
                script.look(address);
            }
            script.end(0);
        }
    }
    script.case()
}

/// What a locked decoder takes: nothing.
fn lock(owner: DecoderOwner) -> Value {
    let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders2), "a locked decoder");
    let raw = Raw::of(owner, 16, 4).with(LOCK);
    script.set(0, &raw);
    script.set(0, &Raw { last: 0, ..Raw::of(owner, 64, 8).coded(1, 2) });
    (0..8).for_each(|register| {
        script.read(at(0, 4 * register));
    });
    script.end(0);
    script.walk(&raw);
    script.look(64 * STEP);
    // A decoder whose commit with lock has failed is not locked.
    script.set(1, &Raw::of(owner, 2, 1).with(LOCK));
    script.set(1, &Raw::of(owner, 24, 1).with(LOCK));
    script.end(1);
    script.set(1, &Raw::of(owner, 24, 1).with(LOCK));
    script.look(24 * STEP);
    script.case()
}

/// Registers without lock that are written while the decoder is in use.
fn in_use(owner: DecoderOwner) -> Value {
    let mut script =
        Script::new(owner, capable(owner, HdmDecoderCount::Decoders2), "a decoder written while it is in use");
    let first = Raw::of(owner, 16, 4);
    script.set(0, &first);
    let last = if owner == DecoderOwner::Bridge { PORTS.swap_bytes() } else { 3 * STEP };
    let second = Raw { last, ..Raw::of(owner, 32, 8).coded(1, 1) };
    // Commit is 1 already: nothing is judged and nothing changes.
    script.set(0, &second);
    script.walk(&first);
    script.walk(&second);
    script.end(0);
    script.walk(&first);
    script.set(0, &second);
    script.walk(&second);
    // Neither codes without a meaning nor Lock on commit have an effect on a decoder that is in use.
    script.set(0, &Raw::of(owner, 16, 4).coded(15, 15).with(LOCK));
    script.walk(&second);
    script.end(0);
    script.walk(&second);
    script.case()
}

/// Bits that software cannot write.
fn reserved(owner: DecoderOwner) -> Value {
    let mut script =
        Script::after_reset(owner, capable(owner, HdmDecoderCount::Decoders2), "bits that software cannot write");
    for value in [u32::MAX, 0x5555_5555, 0xaaaa_aaaa] {
        for offset in (0..DECODERS_AT).step_by(4).chain((0..DECODER_STRIDE).step_by(4).map(|register| at(1, register)))
        {
            // Commit stays 0 here.
            let is_control = offset == at(1, device::CONTROL.start);
            script.write(offset, if is_control { value & !COMMIT } else { value });
            script.read(offset);
        }
    }
    script.case()
}

/// Sizes of 3, 6 and 12 ways.
fn threes() -> Value {
    let owner = DecoderOwner::Device;
    let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders1), "sizes of 3, 6 and 12 ways");
    for ways in [8, 9, 10] {
        for size in [1, 4, 47] {
            for lock in [LOCK, 0] {
                let raw = Raw::of(owner, 24, size).coded(ways, 2).with(lock);
                script.set(0, &raw);
                script.walk(&raw);
                script.end(0);
            }
        }
    }
    let raw = Raw::of(owner, 24, 48).coded(9, 2).with(LOCK);
    script.set(0, &raw);
    script.walk(&raw);
    script.case()
}

/// Shares of a device one behind the other, with skips.
fn skips() -> Value {
    let owner = DecoderOwner::Device;
    let mut script =
        Script::new(owner, capable(owner, HdmDecoderCount::Decoders6), "skips between the shares of a device");
    let decoders = [(16, 4, 1, 0), (24, 8, 2, 3), (40, 3, 8, 0), (48, 12, 10, 1), (64, 16, 4, 5), (96, 2, 0, 1 << 30)];
    let raw = |(base, size, ways, skip): (u64, u64, u32, u64)| Raw {
        last: skip * STEP,
        ..Raw::of(owner, base, size).coded(ways, 0)
    };
    for (n, of) in decoders.into_iter().enumerate() {
        script.set(n, &raw(of));
    }
    decoders.into_iter().for_each(|of| script.walk(&raw(of)));
    // A decoder that is not in use has no share.
    script.end(2);
    decoders.into_iter().for_each(|of| script.look(raw(of).base + 0x123));
    script.case()
}

/// A device decodes only while its decoders are enabled.
fn disabled() -> Value {
    let owner = DecoderOwner::Device;
    let mut script =
        Script::after_reset(owner, capable(owner, HdmDecoderCount::Decoders1), "decoders that are not enabled");
    let raw = Raw::of(owner, 16, 4);
    script.set(0, &raw);
    for global in [0, 1, 2, 3, 1] {
        script.write(hdm_head::GLOBAL_CONTROL.start, global);
        script.look(raw.base);
    }
    script.case()
}

/// Targets of a bridge that stand twice, among the ways and behind them, without lock and with it.
fn targets() -> Vec<Value> {
    let owner = DecoderOwner::Bridge;
    let lists = [PORTS, 0, 0x0706_0504_0302_0000, 0x0006_0504_0302_0100, 0x0706_0504_0002_0100, u64::MAX];
    let case = |(ways, last)| {
        let shows = format!("ways of code {ways} over the targets {last:#018x}");
        let mut script = Script::new(owner, capable(owner, HdmDecoderCount::Decoders1), shows);
        for lock in [0, LOCK] {
            let raw = Raw { last, ..Raw::of(owner, 16, 8).coded(ways, 0).with(lock) };
            script.set(0, &raw);
            script.walk(&raw);
            script.end(0);
        }
        script.case()
    };
    (0..4).flat_map(|ways| lists.map(|last| (ways, last))).map(case).collect()
}

/// Registers and values at random out of few, so that decoders meet.
fn random(owner: DecoderOwner, rng: &mut Rng) -> Value {
    let whole = capable(owner, HdmDecoderCount::Decoders4);
    let mut script = Script::new(owner, whole, "writes at random");
    for _ in 0..RANDOM_STEPS {
        let n = rng.below(4) as usize;
        match rng.below(4) {
            0 | 1 => {
                let pick = |rng: &mut Rng, of: &[u32]| of[rng.below(of.len() as u64) as usize];
                let (ways, granularity) = (pick(rng, &[0, 1, 2, 3, 8]), pick(rng, &[0, 1, 6]));
                // A lock ends what can be tried with a decoder, so it is rare.
                let lock = if rng.below(12) == 0 { LOCK } else { 0 };
                let (base, size) = (4 * (1 + n as u64) + rng.below(4), rng.below(6));
                script.set(n, &Raw::of(owner, base, size).coded(ways, granularity).with(lock));
            }
            2 => script.end(n),
            _ => script.write(at(n, 4 * rng.below(4) as usize), (rng.below(8) as u32) << 28),
        }
        for _ in 0..4 {
            script.look(STEP * (4 + rng.below(24)) + rng.below(1 << 14));
        }
    }
    script.case()
}
