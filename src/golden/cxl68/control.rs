//! `control_cxl-68b_<dir>`: flits of the link layer, ARB/MUX and physical layer, one a case.

use super::build::{control, flipped};
use super::flits::almp;
use crate::legal::{random, with};
use crate::vectors::{CaseGroup, StreamCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::code::{VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl68::control::{Almp, Control};
use scalepool_protocols::cxl::cxl68::pid::{self, PidKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// The vectors of one direction; `count` random flits of each kind.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let path = format!("cxl68/control_cxl-68b_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let random_each = count.div_ceil(16);
    let mut groups = Vec::new();
    for name in Control::NAMES {
        groups.push(CaseGroup::new(
            format!("{name}: default, maximum of each field, random"),
            kind(name, random_each, &mut rng),
        ));
    }
    groups.push(CaseGroup::new("every legal ALMP", almps()));
    groups.push(CaseGroup::new("every protocol ID: io, io with EDS, NULL, NULL with EDS, ..", ids(&mut rng)));
    groups.extend(breaks(&mut rng));
    VectorSet {
        path,
        about: format!("control flits, ALMP, NULL and io flits of cxl-68b, direction {}", dir.name()),
        content: VectorContent::Cxl68(dir, groups),
    }
}

fn slot0(name: &str) -> (&'static scalepool_protocols::wire::LayoutDef, u128) {
    let control = Control::by_name(name);
    let found = control.and_then(|c| Some((c.def()?, c.to_slot().ok()?)));
    found.unwrap_or_else(|| unreachable!("the names come from the table of control flits"))
}

/// A unit with that slot 0 and nothing else.
fn unit(slot: u128) -> Cxl68Unit {
    Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0])
}

fn kind(name: &str, random_each: u32, rng: &mut Rng) -> Vec<StreamCase> {
    let (def, base) = slot0(name);
    let fixed = ["flit_type", "ctl_fmt", "llctrl", "sub_type"];
    let free: Vec<_> = def.fields.iter().filter(|f| !f.reserved && !fixed.contains(&f.name)).collect();
    let mut slots = vec![base];
    slots.extend(free.iter().map(|f| with(base, f, f.max_raw())));
    if !free.is_empty() {
        slots.extend((0..random_each).map(|_| {
            let bits = random(def, rng);
            free.iter().fold(base, |slot, f| with(slot, f, f.extract(bits)))
        }));
    }
    slots.into_iter().map(|slot| StreamCase::legal(vec![unit(slot)])).collect()
}

/// Every state with both instances, as the kinds in which it travels.
fn almps() -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for instance in [VlsmInstance::Io, VlsmInstance::Cachemem] {
        for code in VlsmState::TABLE.codes {
            let state = VlsmState(code.value as u8);
            for request in [true, false] {
                let packet = Almp { state, request, instance_id: instance, ..Almp::default() };
                if travels(state, request) {
                    cases.push(StreamCase::legal(vec![almp(&packet)]));
                }
            }
        }
    }
    cases
}

/// Whether a state travels as a Request (or as a Status).
fn travels(state: VlsmState, request: bool) -> bool {
    match state {
        VlsmState::Dapm => request,
        VlsmState::Reset | VlsmState::Retrain => !request,
        _ => true,
    }
}

fn ids(rng: &mut Rng) -> Vec<StreamCase> {
    let rows = pid::PIDS.into_iter().map(|p| {
        let mut unit = match p.kind {
            PidKind::Io => {
                let mut payload = [0; 64];
                rng.fill_bytes(&mut payload);
                Cxl68Unit::plain(p.id(), &payload)
            }
            PidKind::Null => Cxl68Unit::plain(p.id(), &[0; 64]),
            PidKind::Cachemem => Cxl68Unit::cachemem(p.id(), &[0; 64]),
            PidKind::Almp => almp(&Almp { state: VlsmState::Active, instance_id: VlsmInstance::Io, ..Almp::default() }),
        };
        unit.0[..2].copy_from_slice(&p.id().to_le_bytes());
        StreamCase::legal(vec![unit])
    });
    rows.collect()
}

fn breaks(rng: &mut Rng) -> Vec<CaseGroup<StreamCase>> {
    let mut control_kinds = Vec::new();
    for llctrl in 0..16u8 {
        for sub_type in 0..16u8 {
            // §6.2: the nine pairs that have a meaning.
            let listed = matches!((llctrl, sub_type), (0, 1) | (1, 0..=3) | (2, 0..=2) | (12, 8));
            // All of the listed classes, and the ends of the others.
            if !listed && (matches!(llctrl, 0 | 1 | 2 | 12) || matches!(sub_type, 0 | 15)) {
                let slot = 1 | u128::from(llctrl) << 32 | u128::from(sub_type) << 36;
                control_kinds.push(StreamCase::breaks("CXL68-CTL-02", vec![unit(slot)]));
            }
        }
    }
    let mut static_bits = Vec::new();
    for name in Control::NAMES {
        let (_, base) = slot0(name);
        let ide = name.starts_with("IDE");
        let ctl_fmts = (0..8u128).filter(|&fmt| fmt != u128::from(ide));
        let mut slots: Vec<u128> = ctl_fmts.map(|fmt| base & !(7 << 5) | fmt << 5).collect();
        if !ide {
            slots.extend([40, 51, 63].map(|bit| base | 1 << bit));
        }
        static_bits.extend(slots.into_iter().map(|slot| StreamCase::breaks("CXL68-CTL-05", vec![unit(slot)])));
    }
    // Bits 40 to 63 one by one, on one kind.
    let (_, llcrd) = slot0("LLCRD.Acknowledge");
    static_bits.extend((40..64).map(|bit| StreamCase::breaks("CXL68-CTL-05", vec![unit(llcrd | 1 << bit)])));

    let bad_crc = Control::NAMES.map(|name| {
        let good = control(&Control::by_name(name).unwrap_or(Control::Reserved(1)));
        let bit = 16 + rng.below(512) as usize;
        StreamCase::breaks("CXL68-CRC-01", vec![flipped(&good, bit)])
    });

    let null = Cxl68Unit::plain(pid::NULL, &[0; 64]);
    let null_bits = [0, 7, 8, 255, 511].map(|bit| flipped(&null, 16 + bit));
    let null_tail = [0, 15].map(|bit| flipped(&null, 8 * 66 + bit));

    let good = Almp { state: VlsmState::Active, request: true, instance_id: VlsmInstance::Cachemem, ..Almp::default() };
    let one = almp(&good);
    // A bit of each of the copies 1 to 3, and of the zeros behind them.
    let copies = [32 + 16, 64 + 23, 96 + 25, 128, 511].map(|bit| flipped(&one, 16 + bit));
    let almp_tail = [0, 15].map(|bit| flipped(&one, 8 * 66 + bit));

    let case = |rule| move |unit| StreamCase::breaks(rule, vec![unit]);
    vec![
        CaseGroup::new("reserved LLCTRL or SubType", control_kinds),
        CaseGroup::new("static bits of a control flit: CTL_FMT, bits 63:40", static_bits),
        CaseGroup::new("control flit with a bad CRC", bad_crc.into()),
        CaseGroup::new("NULL with payload", null_bits.map(case("CXL68-NUL-01")).into()),
        CaseGroup::new("NULL with a tail", null_tail.map(case("CXL68-FRM-02")).into()),
        CaseGroup::new("ALMP copies that differ, bits behind them", copies.map(case("CXL68-ALM-01")).into()),
        CaseGroup::new("ALMP with a tail", almp_tail.map(case("CXL68-FRM-02")).into()),
        CaseGroup::new("ALMP: code, reserved bits, states, instances, Request and Status", bad_almps()),
    ]
}

fn bad_almps() -> Vec<StreamCase> {
    let good = Almp { state: VlsmState::Active, request: true, instance_id: VlsmInstance::Io, ..Almp::default() };
    let mut packets = vec![
        Almp { code: 0, ..good },
        Almp { code: 9, ..good },
        Almp { rsvd: 1, ..good },
        Almp { rsvd1: 4, ..good },
        Almp { rsvd2: 1, ..good },
    ];
    let states = (0..16).map(VlsmState);
    packets.extend(states.clone().filter(|s| s.name().is_none()).map(|state| Almp { state, ..good }));
    let instances = (0..16).map(VlsmInstance);
    packets.extend(instances.filter(|i| i.name().is_none()).map(|instance_id| Almp { instance_id, ..good }));
    for request in [true, false] {
        let misused = states.clone().filter(|s| s.name().is_some() && !travels(*s, request));
        packets.extend(misused.map(|state| Almp { state, request, ..good }));
    }
    packets.iter().map(|p| StreamCase::breaks("CXL68-ALM-02", vec![almp(p)])).collect()
}
