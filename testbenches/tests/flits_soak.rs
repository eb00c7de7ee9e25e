//! Millions of 68-byte flits through decode, check, print and back to the same bytes.
//!
//! A quarter are raw random bytes; a quarter have a protocol ID and a CRC over a random payload; half are legal streams
//! with control flits, ALMP, NULL and CXL.io between, of which 1 to 8 bits are flipped before the CRC is computed again.
//! Nothing may panic, no bit may be lost, and every row of the coverage tables has to be met.
//!
//! `SCALEPOOL_FLITS` sets the number (default half a million, 10 million in `make soak`; below some 400000 some rows are not met). The
//! work is cut into shards with seeds of their own, so the counters do not depend on the number of threads.

use scalepool::forms::flit68::kind_name;
use scalepool::link::cxl68::coverage::Cxl68Coverage;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check::{self, Findings};
use scalepool_protocols::cxl::cxl68::code::{VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::{Almp, Control};
use scalepool_protocols::cxl::cxl68::message::*;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PIDS};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, UNIT_BYTES};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, FieldError, Wire};
use scalepool_testbenches::legal::{Random, random_message};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts of the work; more than threads, so that none idles at the end.
const SHARDS: usize = 64;
/// Flits that one reader sees before it starts anew.
const STREAM_FLITS: usize = 64;

/// What a shard counted.
#[derive(Default)]
struct Counters {
    coverage: Cxl68Coverage,
    flits: u64,
    kinds: BTreeMap<&'static str, u64>,
    rules: BTreeMap<&'static str, u64>,
    lints: u64,
    bad_crc: u64,
    messages: u64,
    printed_bytes: u64,
}

impl Counters {
    fn merge(&mut self, other: &Counters) {
        self.coverage.merge(&other.coverage);
        self.flits += other.flits;
        self.lints += other.lints;
        self.bad_crc += other.bad_crc;
        self.messages += other.messages;
        self.printed_bytes += other.printed_bytes;
        other.kinds.iter().for_each(|(k, n)| *self.kinds.entry(k).or_default() += n);
        other.rules.iter().for_each(|(k, n)| *self.rules.entry(k).or_default() += n);
    }

    fn report(&self) -> String {
        let mut out = self.coverage.report();
        let _ = writeln!(
            out,
            "{} flits, {} messages, {} bad CRC, {} lints, {} bytes printed",
            self.flits, self.messages, self.bad_crc, self.lints, self.printed_bytes
        );
        self.kinds.iter().chain(&self.rules).for_each(|(k, n)| {
            let _ = writeln!(out, "  {n:>10}  {k}");
        });
        out
    }
}

/// Prints a message by its fields and encodes it again.
fn message_there_and_back(class: Class, bits: u128, out: &mut String) -> Result<u128, FieldError> {
    macro_rules! through {
        ($($message:ident)+) => {
            match class {
                $(Class::$message => {
                    let message = $message::from_bits(bits);
                    let _ = writeln!(out, "{message:?}");
                    message.to_bits()
                })+
            }
        };
    }
    through!(M2sReq M2sRwd S2mNdr S2mDrs D2hReq D2hRsp D2hData H2dReq H2dRsp H2dData)
}

/// Prints a decoded unit and builds it again from what decoding gave: header, messages at their places, chunks, control
/// fields, ALMP words. Bits that belong to none of them come from the unit, as `hex` of a slot or flit does.
fn there_and_back(decoded: &Cxl68DecodedUnit, findings: &Findings, out: &mut String) -> Result<Cxl68Unit, FieldError> {
    let unit = &decoded.unit;
    let mut slots: [u128; 4] = std::array::from_fn(|n| unit.slot(n));
    let _ = writeln!(out, "{} {:#06x} {}", decoded.dir.name(), unit.pid(), kind_name(&decoded.kind));
    match &decoded.kind {
        Cxl68UnitKind::Protocol(header) => {
            let _ = writeln!(out, "{header:?}");
            slots[0] &= !0xffff_ffff;
            for (n, role) in decoded.roles.iter().enumerate() {
                match role {
                    Cxl68SlotRole::Format(format) => {
                        let _ = writeln!(out, "slot {n} {}", format.name);
                        let mut slot = format.places().iter().fold(slots[n], |slot, p| slot & !p.bits());
                        for place in format.places() {
                            let bits = message_there_and_back(place.class, place.extract(slots[n]), out)?;
                            slot = place.insert(slot, bits);
                        }
                        slots[n] = slot;
                    }
                    role => {
                        let _ = writeln!(out, "slot {n} {role:?} {:032x}", slots[n]);
                    }
                }
            }
            slots[0] |= header.to_bits()?;
        }
        Cxl68UnitKind::Control(control) => {
            let _ = writeln!(out, "{} {control:?}", control.name());
            slots[0] = control.to_slot()?;
        }
        Cxl68UnitKind::Almp => {
            let words = slots[0];
            slots[0] = 0;
            for n in 0..4 {
                let almp = Almp::from_bits(words >> (32 * n) & 0xffff_ffff);
                let _ = writeln!(out, "{almp:?}");
                slots[0] |= almp.to_bits()? << (32 * n);
            }
        }
        Cxl68UnitKind::AllData | Cxl68UnitKind::Null | Cxl68UnitKind::Io | Cxl68UnitKind::Dropped => {
            let _ = writeln!(out, "{slots:x?}");
        }
    }
    for finding in findings.violations.iter().chain(&findings.lints) {
        let _ = writeln!(out, "{finding}");
    }
    let mut back = Cxl68Unit::from_slots(unit.pid(), &slots);
    if decoded.crc_ok != Some(true) {
        back.set_tail(unit.tail());
    }
    Ok(back)
}

/// One unit all the way.
fn one(decoded: &Cxl68DecodedUnit, config: &Cxl68Config, out: &mut String, counters: &mut Counters) {
    let findings = check::unit(decoded, config);
    out.clear();
    let back = there_and_back(decoded, &findings, out).unwrap_or_else(|e| panic!("{:?}: {e}", decoded.unit));
    assert_eq!(back, decoded.unit, "{out}");
    for finding in &findings.violations {
        assert!(matches!(finding.at, At::Byte(at) if at < UNIT_BYTES), "{finding}");
        *counters.rules.entry(finding.rule).or_default() += 1;
    }
    counters.lints += findings.lints.len() as u64;
    counters.bad_crc += u64::from(decoded.crc_ok == Some(false));
    counters.messages += decoded.messages().count() as u64;
    counters.printed_bytes += out.len() as u64;
    *counters.kinds.entry(kind_name(&decoded.kind)).or_default() += 1;
    counters.coverage.record(decoded);
    counters.flits += 1;
}

/// The next unit of a legal stream.
fn legal_unit(random: &mut Random, packer: &mut Packer, dir: Dir) -> Cxl68Unit {
    // ALMP, NULL and CXL.io may stand anywhere.
    match random.below(24) {
        0 => {
            // Reset and Retrain travel as Status only, the deepest state as Request only.
            let state = VlsmState(VlsmState::TABLE.codes[random.below(9)].value as u8);
            let request = match state {
                VlsmState::Reset | VlsmState::Retrain => false,
                state => state == VlsmState::Dapm || random.one_in(2),
            };
            let instance_id = [VlsmInstance::Io, VlsmInstance::Cachemem][random.below(2)];
            let word = Almp { state, request, instance_id, ..Almp::default() }.to_bits().expect("fields fit");
            let word = word * 0x1_0000_0001_0000_0001_0000_0001;
            let mut payload = [0; 64];
            payload[..16].copy_from_slice(&word.to_le_bytes());
            return Cxl68Unit::plain(pid::ALMP, &payload);
        }
        1 => return Cxl68Unit::plain(pid::NULL, &[0; 64]),
        2 => return Cxl68Unit::plain(pid::IO, &random.bytes()),
        3 | 4 if !packer.in_data_run() => {
            let control = Control::by_name(Control::NAMES[random.below(9)]).expect("a listed name");
            let def = control.def().expect("a listed kind");
            let fixed = ["flit_type", "ctl_fmt", "llctrl", "sub_type"];
            let free = def.fields.iter().filter(|f| !f.reserved && !fixed.contains(&f.name));
            let noise = free.fold(0, |bits, f| bits | f.extract(random.wide()) << f.lsb);
            let slot = control.to_slot().expect("defaults fit") | noise;
            return Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0]);
        }
        _ => (),
    }
    for _ in 0..random.below(5) {
        packer.push(&random_message(random, dir)).expect("a legal message");
    }
    match packer.pack(&mut [4; 10], 4) {
        Packed::AllData(chunks) => Cxl68Unit::from_slots(pid::CACHEMEM, &chunks),
        Packed::Protocol(mut header, mut slots) => {
            let credits = random.bits();
            header.ak = credits & 1 == 1;
            header.rsp_crd = (credits >> 4 & 0xf) as u8;
            header.req_crd = (credits >> 8 & 0xf) as u8;
            header.data_crd = (credits >> 12 & 0xf) as u8;
            slots[0] |= header.to_bits().expect("fields fit");
            Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
        }
        Packed::Nothing => Cxl68Unit::from_slots(pid::CACHEMEM, &[0; 4]),
    }
}

/// One to eight flipped bits in ID and payload, the CRC made to fit.
fn mutated(random: &mut Random, unit: &Cxl68Unit) -> Cxl68Unit {
    let mut bad = *unit;
    for _ in 0..=random.below(8) {
        // The ID is one byte in ten: a flit with a spoiled ID shows little else.
        let bit = if random.one_in(40) { random.below(16) } else { 16 + random.below(512) };
        bad.0[bit / 8] ^= 1 << (bit % 8);
    }
    let kept = matches!(unit.pid(), pid::CACHEMEM).then(|| bad.expected_crc());
    bad.set_tail(kept.unwrap_or(unit.tail()));
    bad
}

/// The flits of one stream of one direction.
fn stream(random: &mut Random, part: usize, flits: usize, out: &mut String, counters: &mut Counters) {
    let dir = Dir::ALL[random.below(2)];
    let revision = if random.one_in(8) { Revision::V1_1 } else { Revision::V2_0 };
    let config = Cxl68Config { mdh: !random.one_in(4), revision, ..Cxl68Config::default() };
    let fresh = || Unpacker::new(dir, revision, Enabled::ALL);
    let mut reader = fresh();
    // Half of the streams follow the bad flits; the other half meets each bad flit in a state that is legal.
    let follow = random.one_in(2);
    match part {
        0 => {
            for _ in 0..flits {
                one(&reader.read(&Cxl68Unit(random.bytes())), &config, out, counters);
            }
        }
        1 => {
            for _ in 0..flits {
                let id = if random.one_in(8) { PIDS[random.below(8)].id() } else { pid::CACHEMEM };
                let mut payload = random.bytes();
                if random.one_in(2) {
                    // Most control flits of random bits are of reserved kinds: three of four shall be protocol flits.
                    payload[0] &= !1;
                }
                if !follow {
                    reader = fresh();
                }
                one(&reader.read(&Cxl68Unit::cachemem(id, &payload)), &config, out, counters);
            }
        }
        _ => {
            let mut packer = Packer::new(dir, config);
            for _ in 0..flits {
                let unit = legal_unit(random, &mut packer, dir);
                let bad = mutated(random, &unit);
                if follow {
                    one(&reader.read(&bad), &config, out, counters);
                } else {
                    one(&reader.clone().read(&bad), &config, out, counters);
                    let decoded = reader.read(&unit);
                    assert_eq!(check::unit(&decoded, &config).violations, [], "the unspoiled stream is legal");
                }
            }
        }
    }
}

/// The shard's share of the flits: a quarter raw, a quarter random payloads, half spoiled legal streams.
fn shard(seed: usize, flits: usize) -> Counters {
    let mut random = Random::new(seed as u64);
    let mut counters = Counters::default();
    let mut out = String::new();
    let mut left = flits;
    let mut turn = 0;
    while left > 0 {
        let now = left.min(STREAM_FLITS);
        stream(&mut random, turn % 4, now, &mut out, &mut counters);
        left -= now;
        turn += 1;
    }
    counters
}

#[test]
fn soak_flits_come_back_bit_for_bit() {
    let flits = std::env::var("SCALEPOOL_FLITS").map_or(500_000, |n| {
        n.replace('_', "")
            .parse::<usize>()
            .unwrap_or_else(|e| panic!("SCALEPOOL_FLITS: found {n}, expected a number: {e}"))
    });
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Counters::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= SHARDS {
                        break;
                    }
                    let share = flits / SHARDS + usize::from(n < flits % SHARDS);
                    let counters = shard(n, share);
                    total.lock().expect("no shard panicked").merge(&counters);
                }
            });
        }
    });
    let total = total.into_inner().expect("no shard panicked");
    println!("{}", total.report());
    assert_eq!(total.flits, flits as u64);
    for rule in total.rules.keys() {
        assert!(rules::find(rule).is_some(), "{rule} is not in the rule table");
    }
    let holes = total.coverage.holes();
    assert!(holes.is_empty(), "not met:\n{}", holes.join("\n"));
}
