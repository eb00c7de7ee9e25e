//! Flits that break one rule each, with good CRC and FEC.

use super::content::{Cxl256Case, almp_body, data_classes, format_of, formats, random, with};
use super::send::Cxl256Sender;
use crate::legal::{self, plain};
use crate::vectors::{CaseGroup, Context, StreamCase};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::crd::{Crd, RequestCredit};
use scalepool_protocols::cxl::cxl256::flit::SLOTS;
use scalepool_protocols::cxl::cxl256::slot::{self, Cxl256SlotPlace};
use scalepool_protocols::cxl::cxl256::{Class, Mode, control};

/// All of one direction. What a latency-optimised flit has in common with a standard one is left to the latter.
pub fn groups(s: &mut Cxl256Sender) -> Vec<CaseGroup<Cxl256Case>> {
    vec![
        CaseGroup::new(
            "reserved codes and reserved bits of each message",
            if s.mode.is_lopt() { vec![] } else { messages(s) },
        ),
        CaseGroup::new("reserved slot formats", reserved_formats(s)),
        CaseGroup::new("messages of the other direction", if s.mode.is_lopt() { vec![] } else { other_direction(s) }),
        CaseGroup::new("packing rules", packing(s)),
        CaseGroup::new("control slots", controls(s)),
        CaseGroup::new("header, NOP, Empty, ALMP", without_slots(s)),
        CaseGroup::new("several data headers in a slot, where they are disabled", no_mdh(s)),
        CaseGroup::new("a message whose dropped bits are not 0", zero_extension(s)),
    ]
}

fn broken(s: &mut Cxl256Sender, rule: &'static str, n: usize, put: impl FnOnce(&mut Cxl256Sender)) -> Cxl256Case {
    StreamCase::breaks(rule, s.one(n, put))
}

/// Each open code table and the first reserved field of every class.
fn messages(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let mut cases = Vec::new();
    let dir = s.dir;
    for class in Class::ALL.into_iter().filter(|c| c.dir() == dir) {
        let def = class.def(s.mode.routing());
        let codes = def.fields.iter().filter_map(|f| {
            let table = f.codes?;
            let raw = (0..=f.max_raw()).find(|&raw| table.name_of(raw).is_none())?;
            Some((f, raw, f.codes_rule.unwrap_or(table.rule)))
        });
        let reserved = def.fields.iter().find(|f| f.reserved).map(|f| (f, f.max_raw(), def.rule));
        for (field, raw, rule) in codes.chain(reserved) {
            let format = format_of(s.mode, 1, class);
            let bits = legal::with(plain(def), field, raw);
            // Those before it in the format are there, and plain.
            let at = format.classes.iter().position(|c| *c == class).unwrap_or(0);
            let mut nth = 0;
            let routing = s.mode.routing();
            let mut make = |place: &Cxl256SlotPlace, _: &mut Rng| {
                nth += 1;
                if nth == at + 1 { bits } else { plain(place.class.def(routing)) }
            };
            cases.push(broken(s, rule, 1, |s| s.fill(1, format, at + 1, &mut make)));
        }
    }
    cases
}

fn reserved_formats(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let g = if s.mode == Mode::Pbr { "CXLPBR-SLT-01" } else { "CXL256-SLT-01" };
    let h = if s.mode == Mode::Pbr { "CXLPBR-SLT-01" } else { "CXL256-SLT-02" };
    let mut rows = vec![(1, 8, g), (6, 9, g), (9, 10, g), (14, 11, g), (0, 9, h), (0, 10, h), (0, 11, h)];
    if s.mode.is_lopt() {
        // One of the slots that stand in two parts.
        rows = vec![(7, 8, g)];
        rows.extend([9, 10, 11].map(|code| (8, code, "CXL256-SLT-03")));
    }
    rows.into_iter().map(|(n, code, rule)| broken(s, rule, n, |s| s.raw(n, code))).collect()
}

fn other_direction(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let [request, data] = match s.dir {
        Dir::Down => [Class::D2hReq, Class::S2mDrs],
        Dir::Up => [Class::M2sReq, Class::H2dData],
    };
    let mode = s.mode;
    let case =
        |(n, class)| broken(s, "CXL256-SLT-04", n, |s| s.fill(n, format_of(mode, n, class), 1, &mut with(mode, &[])));
    [(0, request), (1, request), (1, data)].map(case).to_vec()
}

fn packing(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let mode = s.mode;
    let mut cases = Vec::new();
    let (many, answer) = match s.dir {
        Dir::Down => (Class::H2dData, Class::H2dRsp),
        Dir::Up => (Class::D2hData, Class::S2mNdr),
    };
    // The second place alone.
    let format = format_of(mode, 1, many);
    let second = format.places().nth(1).map(|p| p.insert(format.code.into(), plain(many.def(mode.routing()))));
    let put = |s: &mut Cxl256Sender| {
        s.fill(1, format, 1, &mut with(mode, &[]));
        s.raw(1, second.unwrap_or(0));
    };
    cases.push(broken(s, "CXL256-PCK-03", 1, put));
    // One answer in slot 0, which has place for two, and more in slot 1.
    let answers = |n: usize| {
        let rows = slot::formats(mode, n);
        rows.iter().find(|f| f.classes.len() > 1 && f.classes.iter().all(|c| *c == answer)).unwrap_or(&rows[0])
    };
    let put = |s: &mut Cxl256Sender| {
        s.fill(0, answers(0), 1, &mut with(mode, &[]));
        s.fill(1, answers(1), 1, &mut with(mode, &[]));
    };
    cases.push(broken(s, "CXL256-PCK-05", 1, put));
    // Headers late in one flit and at the start of the next one.
    s.begin();
    let full = format_of(mode, 11, many);
    s.fill(11, full, full.classes.len(), &mut with(mode, &[]));
    for n in 12..SLOTS {
        s.data(n);
    }
    let mut flits = vec![s.end(Crd::default())];
    let short = format_of(mode, 0, many);
    flits.extend(s.one(0, |s| s.fill(0, short, short.classes.len(), &mut with(mode, &[]))));
    cases.push(StreamCase::breaks("CXL256-PCK-06", flits));
    // More answers than fit two groups.
    let put = |s: &mut Cxl256Sender| {
        let count = answers(1).classes.len();
        for n in (1..).take(usize::from(answer.max_per_window()) / count + 1) {
            s.fill(n, answers(n), count, &mut with(mode, &[]));
        }
    };
    cases.push(broken(s, "CXL256-PCK-07", 5, put));
    if mode != Mode::Pbr && s.dir == Dir::Up {
        // Four lines with byte enables are 20 slots owed, then a data header in slot 0.
        s.begin();
        s.fill(14, format_of(mode, 14, Class::D2hData), 4, &mut with(mode, &[("bep", 1)]));
        let mut flits = vec![s.end(Crd::default())];
        flits.extend(s.one(0, |s| s.fill(0, format_of(mode, 0, Class::S2mDrs), 1, &mut with(mode, &[]))));
        cases.push(StreamCase::breaks("CXL256-PCK-02", flits));
    }
    cases
}

fn controls(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let of = |name: &str| control::by_name(name).map_or(0, control::ControlKind::default_slot);
    let mut cases = vec![
        broken(s, "CXL256-CTL-01", 0, |s| s.raw(0, of("IDE.Idle") | 1 << 12)),
        broken(s, "CXL256-CTL-01", 0, |s| s.raw(0, of("INIT.Param") | 1 << 40)),
        broken(s, "CXL256-CTL-03", 0, |s| {
            s.raw(0, of("INIT.Param"));
            s.raw(5, 1 << 16);
        }),
        broken(s, "CXL256-CTL-06", 0, |s| s.raw(0, of("Poison"))),
    ];
    if s.mode.is_lopt() {
        let hs = ["IDE.Start", "INIT.Param"].map(|name| broken(s, "CXL256-CTL-02", 8, |s| s.raw(8, of(name))));
        cases.extend(hs);
    }
    cases
}

fn without_slots(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let mode = s.mode;
    let mut cases = Vec::new();
    let mut body = |s: &mut Cxl256Sender, rule, flit_type, dllp_type, body: &[u8]| {
        cases.push(StreamCase::breaks(rule, vec![s.of_body(flit_type, dllp_type, body)]));
    };
    body(s, "CXL256-HDR-03", FlitType::Cachemem, true, &[]);
    body(s, "CXL256-HDR-03", FlitType::Nop, true, &[]);
    body(s, "CXL256-TYP-01", FlitType::Nop, false, &[0, 0, 1]);
    // vLSM: message code 8 in bits 15:8, state in 19:16, request in 23, instance in 27:24; L0p: code 1, width in 31:28.
    let almps: [(&'static str, u128); 9] = [
        ("CXL256-ALM-01", 0x0281_0801),
        ("CXL256-ALM-01", 0x0291_0800),
        ("CXL256-ALM-01", 0x0281_0900),
        ("CXL256-ALM-02", 0x0289_0800),
        ("CXL256-ALM-02", 0x0280_0800),
        ("CXL256-ALM-02", 0x0203_0800),
        ("CXL256-ALM-02", 0x0f81_0800),
        ("CXL256-ALM-02", 0x1080_0100),
        ("CXL256-ALM-02", 0x5480_0100),
    ];
    let shown = if mode == Mode::Standard { almps.len() } else { 1 };
    for (rule, word) in almps.into_iter().take(shown) {
        body(s, rule, FlitType::Almp, false, &almp_body(word));
    }
    let mut behind = almp_body(0x0281_0800);
    behind.extend([0, 1]);
    body(s, "CXL256-ALM-01", FlitType::Almp, false, &behind);
    s.begin();
    let format = formats(s, 1)[0];
    s.fill(1, format, 1, &mut random(mode));
    let marked = s.end(Crd { request: RequestCredit::EmptyFlit, ..Crd::default() });
    cases.push(StreamCase::breaks("CXL256-TYP-03", vec![marked]));
    cases
}

fn no_mdh(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let mode = s.mode;
    let class = data_classes(s)[0];
    let case = broken(s, "CXL256-PCK-04", 1, |s| s.fill(1, format_of(mode, 1, class), 2, &mut with(mode, &[])));
    vec![StreamCase { context: Some(Context::MdhOff), ..case }]
}

/// Slot 0 of a PBR flit and slot 8 of a latency-optimised one are shorter than the requests of CXL.mem.
fn zero_extension(s: &mut Cxl256Sender) -> Vec<Cxl256Case> {
    let mode = s.mode;
    let (n, rule) = match mode {
        Mode::Standard => return Vec::new(),
        Mode::LatencyOptimised => (8, "CXL256-SLT-05"),
        Mode::Pbr => (0, "CXLPBR-SLT-02"),
    };
    if s.dir == Dir::Up {
        return Vec::new();
    }
    let rows = [(Class::M2sReq, "tc", 3), (Class::M2sRwd, "tc", 1), (Class::M2sRwd, "ckid", 0x1000)];
    let case = |(class, field, value): (Class, &'static str, u64)| {
        let context = Some(Context::Dropped(n, field, value));
        let seen = broken(s, rule, n, |s| s.fill(n, format_of(mode, n, class), 1, &mut with(mode, &[])));
        StreamCase { context, ..seen }
    };
    rows.map(case).to_vec()
}
