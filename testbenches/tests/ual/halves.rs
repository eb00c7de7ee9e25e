//! TL flits, the sequence of their halves, and message halves (`ualink` §9).

use super::common::*;
use scalepool_protocols::ualink::control;
use scalepool_protocols::wire::Wire;

fn write_full(tag: u16, beats: u8) -> ControlField {
    ControlField::Request(request(ReqCmd::WriteFull, tag, beats))
}

fn write(tag: u16, beats: u8) -> ControlField {
    ControlField::Request(request(ReqCmd::Write, tag, beats))
}

fn read_request(tag: u16) -> ControlField {
    ControlField::Request(request(ReqCmd::Read, tag, 4))
}

fn write_response(tag: u16) -> ControlField {
    ControlField::CompressedMulti(TlCrspMulti { tag, dst: 1, ..TlCrspMulti::default() })
}

fn credits(count: u8) -> ControlField {
    ControlField::FlowControl(TlFc { req_cmd_cnt: count, ..TlFc::default() })
}

fn half(byte: u8) -> Half {
    [byte; 32]
}

/// What the halves are.
fn roles(reads: &[TlRead]) -> Vec<[HalfRole; 2]> {
    reads.iter().map(|read| read.roles).collect()
}

const NOTHING: Half = [0; 32];

#[test]
fn ual_tlf_01_p() {
    let mut flit = TlFlit::default();
    for n in 0..16 {
        flit.set_sector(n, [n as u8; 4]);
    }
    assert_eq!((flit.sector(7), flit.sector(8)), ([7; 4], [8; 4]));
    assert_eq!((&flit.halves[0][28..], &flit.halves[1][..4]), (&[7; 4][..], &[8; 4][..]));
    for (indicators, message) in [(0, [false, false]), (1, [true, false]), (2, [false, true]), (3, [true, true])] {
        flit.set_indicators(indicators);
        assert_eq!((flit.message, flit.indicators()), (message, indicators));
    }
}

/// With the indicators exchanged the same bytes say something else.
#[test]
fn ual_tlf_01_n() {
    let mut flit = tl(NOTHING, MessageHalf::initial_credits_done(true).to_half());
    flit.message = [false, true];
    assert_clean(&read_tl(SHEET, &[flit]));
    flit.message = [true, false];
    assert_eq!(tl_rules(&read_tl(SHEET, &[flit])[0]), ["UAL-TLF-05"]);
}

#[test]
fn ual_tlf_02_p() {
    let four = TlReq::default().to_bits().expect("it fits") | 3 << 118;
    let two = TlRsp { tag: 5, ..TlRsp::default() }.to_bits().expect("it fits");
    let one = TlCrspMulti::default().to_bits().expect("it fits");
    for (bits, sectors) in [(four, 4), (two, 2), (one, 1)] {
        for at in (0..8).step_by(sectors) {
            let mut half = NOTHING;
            half[4 * at..4 * (at + sectors)].copy_from_slice(&bits.to_le_bytes()[..4 * sectors]);
            let read = control::read(&half);
            assert_eq!(read.violations, [], "{sectors} at {at}");
            let found: Vec<_> = read.fields.iter().map(|p| (p.sector, p.bits)).collect();
            assert_eq!(found, [(at, bits)]);
        }
    }
}

#[test]
fn ual_tlf_02_n() {
    let put = |bits: u128, sectors: usize, at: usize| {
        let mut half = NOTHING;
        half[4 * at..4 * (at + sectors)].copy_from_slice(&bits.to_le_bytes()[..4 * sectors]);
        control::read(&half)
    };
    for at in [1, 2, 3] {
        let read = put(1 << 124, 4, at);
        assert_eq!(read.violations.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-TLF-02"], "4 at {at}");
        assert_eq!(read.violations[0].at.to_string(), format!("byte {}", 4 * (at + 3)));
    }
    for at in [1, 3, 5] {
        for kind in [2, 3] {
            let read = put(kind << 60, 2, at);
            assert_eq!(read.violations.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-TLF-02"], "2 at {at}");
        }
    }
}

#[test]
fn ual_tlf_03_p() {
    let layouts = ["tl_fc", "tl_req", "tl_rsp", "tl_creq", "tl_crsp_single", "tl_crsp_multi"];
    for (kind, name) in layouts.into_iter().enumerate() {
        let def = control::def_of(FieldType(kind as u8)).expect("a kind");
        assert_eq!(def.name, format!("ualink.{name}"));
        // Its own type is there without being asked for.
        assert_eq!(def.default_bits() >> (def.bits - 4), kind as u128);
    }
}

#[test]
fn ual_tlf_03_n() {
    for kind in 6..16 {
        assert!(control::def_of(FieldType(kind)).is_none());
        for sector in 0..8 {
            let mut half = NOTHING;
            half[4 * sector + 3] = kind << 4;
            let found = control::read(&half);
            assert_eq!(found.violations.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-TLF-03"], "{kind}");
            assert!(found.fields.is_empty());
        }
    }
    // A layout read as the field of another.
    assert_eq!(broken(TlRsp { ftype: FieldType::CompressedRequest, ..TlRsp::default() }), ["UAL-TLF-03"]);
}

#[test]
fn ual_tlf_04_p() {
    let half = control(&[write_response(1), ControlField::Response(response(RdWr::Write, 2, 1)), read_request(3)]);
    let read = control::read(&half);
    assert_eq!(read.fields.iter().map(|p| p.sector).collect::<Vec<_>>(), [0, 2, 4]);
    assert_eq!(half[4..8], [0; 4], "the gap");
    assert_eq!(read.violations, []);
}

#[test]
fn ual_tlf_04_n() {
    let mut half = control(&[write_response(1), ControlField::Response(response(RdWr::Write, 2, 1))]);
    // Where a credit would belong (a virtual channel) and no credit: the gap is not empty.
    half[4] = 0x60;
    let read = control::read(&half);
    assert_eq!(read.violations.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-TLF-04"]);
}

#[test]
fn ual_tlf_05_p() {
    let all = [write_full(1, 4), read_request(2), write_response(3), write(4, 2)];
    let flits = pack_all(SHEET, &all.map(|f| transfer(f, 1, &SHEET)));
    let reads = read_tl(SHEET, &flits);
    assert_clean(&reads);
    assert!(roles(&reads).iter().all(|[_, upper]| *upper != HalfRole::Control));
}

#[test]
fn ual_tlf_05_n() {
    let fields = control(&[write_response(1)]);
    assert_eq!(tl_rules(&read_tl(SHEET, &[tl(fields, fields)])[0]), ["UAL-TLF-05"]);
}

#[test]
fn ual_sqn_01_p() {
    let cases = [
        (NOTHING, HalfRole::Nothing),
        (control(&[read_request(1), write_response(2)]), HalfRole::Nothing),
        (control(&[write_full(1, 1)]), HalfRole::Data),
        (control(&[ControlField::Response(response(RdWr::Read, 1, 2))]), HalfRole::Data),
    ];
    for (lower, upper) in cases {
        let reads = read_tl(SHEET, &[tl(lower, NOTHING)]);
        assert_clean(&reads);
        assert_eq!(reads[0].roles, [HalfRole::Control, upper]);
    }
}

#[test]
fn ual_sqn_01_n() {
    // Bytes that are no Control half, where nothing is owed.
    assert_eq!(tl_rules(&read_tl(SHEET, &[tl(NOTHING, half(0xff))])[0]), ["UAL-SQN-01"]);
}

/// A write of 1 beat owes two halves: one behind its Control, one in a swap with the next Control.
#[test]
fn ual_sqn_02_p() {
    let transfers = [transfer(write_full(1, 1), 1, &SHEET), transfer(write_full(2, 1), 9, &SHEET)];
    let mut packer = TlPacker::new(SHEET);
    packer.push(transfers[0].clone()).expect("legal");
    let first = packer.pack().expect("something to send");
    packer.push(transfers[1].clone()).expect("legal");
    let flits = [first, packer.pack().expect("a swap"), packer.pack().expect("two halves")];
    let reads = read_tl(SHEET, &flits);
    assert_clean(&reads);
    use HalfRole::{Control, Data};
    assert_eq!(roles(&reads)[..2], [[Control, Data], [Control, Data]]);
    assert_eq!(delivered(&reads[..2]), [received(&transfers[0])]);
}

/// Data in the lower half and Control in the upper one: the data is taken for a Control half.
#[test]
fn ual_sqn_02_n() {
    let wrong = [tl(control(&[write_full(1, 1)]), half(0x71)), tl(half(0x72), control(&[write_response(2)]))];
    let reads = read_tl(SHEET, &wrong);
    assert!(tl_rules(&reads[1]).contains(&"UAL-TLF-03"), "{:?}", reads[1].violations);
    assert_ne!(reads[1].delivered[0].data.get(1), Some(half(0x72)));
}

#[test]
fn ual_sqn_03_p() {
    let all = [transfer(write_full(1, 4), 1, &SHEET)];
    let reads = read_tl(SHEET, &pack_all(SHEET, &all));
    use HalfRole::{Control, Data};
    assert_eq!(roles(&reads), [[Control, Data], [Data, Data], [Data, Data], [Data, Data], [Control, Data]]);
    assert_eq!(delivered(&reads), all.map(|t| received(&t)));
}

/// A Control half that comes while two halves are owed is taken for data.
#[test]
fn ual_sqn_03_n() {
    let early =
        [tl(control(&[write_full(1, 2)]), half(1)), tl(control(&[read_request(2)]), half(2)), tl(half(0x73), half(4))];
    let reads = read_tl(SHEET, &early);
    assert_eq!(reads[1].roles, [HalfRole::Data; 2]);
    assert_ne!(tl_rules(&reads[2]), Vec::<&str>::new());
}

#[test]
fn ual_sqn_04_p() {
    let tagged: Vec<Transfer> =
        [write_full(1, 1), write_response(2), read_request(3), write_response(4), write_response(5)]
            .into_iter()
            .enumerate()
            .map(|(n, field)| Transfer { auth_tag: 0x1111 << n, ..transfer(field, n as u8, &WITH_TAGS) })
            .collect();
    let flits = pack_all(WITH_TAGS, &tagged);
    let reads = read_tl(WITH_TAGS, &flits);
    assert_clean(&reads);
    assert_eq!(delivered(&reads), tagged.iter().map(received).collect::<Vec<_>>());
    assert!(reads.iter().flat_map(|r| &r.control).all(|c| c.transactions() <= 4));
    assert_eq!(reads[0].roles, [HalfRole::Control, HalfRole::Tags]);

    // Credits alone: no tags; in a swap too.
    let swap = [tl(control(&[write_response(1)]), half(0)), tl(control(&[credits(1)]), NOTHING)];
    let reads = read_tl(WITH_TAGS, &swap);
    assert_clean(&reads);
    assert_eq!(reads[1].roles, [HalfRole::Control, HalfRole::Nothing]);
    // An odd number of owed halves: a message makes the next flit a swap.
    let mut packer = TlPacker::new(WITH_TAGS);
    packer.push(transfer(write_full(1, 1), 1, &WITH_TAGS)).expect("legal");
    packer.push_message(MessageHalf::new(HalfType::NOP));
    let mut flits: Vec<_> = (0..2).map_while(|_| packer.pack()).collect();
    packer.push(transfer(write_full(2, 1), 1, &WITH_TAGS)).expect("legal");
    flits.extend(std::iter::from_fn(|| packer.pack()));
    let reads = read_tl(WITH_TAGS, &flits);
    assert_clean(&reads);
    let swap = reads.iter().find(|r| r.roles == [HalfRole::Control, HalfRole::Data]).expect("a swap");
    assert_eq!(swap.control.as_ref().map(|c| c.transactions()), Some(0));
    assert_eq!(delivered(&reads).len(), 2);
}

#[test]
fn ual_sqn_04_n() {
    // Five fields and four tags.
    let five = tl(control(&[1, 2, 3, 4, 5].map(write_response)), half(0));
    assert_eq!(tl_rules(&read_tl(WITH_TAGS, &[five])[0]), ["UAL-SQN-04"]);
    // A tag that belongs to no field.
    let mut tags = half(0);
    tags[8] = 1;
    assert_eq!(tl_rules(&read_tl(WITH_TAGS, &[tl(control(&[write_response(1)]), tags)])[0]), ["UAL-SQN-04"]);
    // A request in a swap.
    let mut message = tl(half(1), half(0));
    message.message = [false, true];
    let swap = [tl(control(&[write_full(1, 1)]), half(0)), message, tl(control(&[write_response(2)]), half(2))];
    assert_eq!(tl_rules(&read_tl(WITH_TAGS, &swap)[2]), ["UAL-SQN-04"]);
}

/// Halves that each field owes (§9).
#[test]
fn ual_sqn_05_p() {
    let halves = |field: ControlField| field.owed(&SHEET).halves();
    for beats in 1..=4 {
        let n = usize::from(beats);
        for cmd in [0x03, 0x08, 0x0f] {
            assert_eq!(halves(ControlField::Request(request(ReqCmd(cmd), 0, beats))), 0);
        }
        assert_eq!(halves(write_full(0, beats)), 2 * n);
        for cmd in [0x28, 0x2a, 0x2c, 0x2f, 0x3c, 0x3f] {
            assert_eq!(halves(ControlField::Request(request(ReqCmd(cmd), 0, beats))), 2 * n + 1, "{cmd:#x}");
        }
        for cmd in [0x30, 0x32] {
            assert_eq!(halves(ControlField::Request(request(ReqCmd(cmd), 0, beats))), 3, "{cmd:#x}");
        }
        let len = beats - 1;
        for (cmd, owed) in [(0, 0), (4, 2 * n + 1), (6, 2 * n)] {
            let req = TlCreq { cmd: CompressedCmd(cmd), len, ..TlCreq::default() };
            assert_eq!(halves(ControlField::CompressedRequest(req)), owed);
        }
        assert_eq!(halves(ControlField::Response(response(RdWr::Read, 0, beats))), 2 * n);
        let multi = TlCrspMulti { rdwr: RdWr::Read, len, ..TlCrspMulti::default() };
        assert_eq!(halves(ControlField::CompressedMulti(multi)), 2 * n);
    }
    assert_eq!(halves(ControlField::Response(response(RdWr::Write, 0, 1))), 0);
    assert_eq!(halves(ControlField::CompressedSingle(TlCrspSingle::default())), 2);
    assert_eq!(halves(write_response(0)), 0);
    assert_eq!(halves(credits(1)), 0);

    // All of them in one stream come back whole.
    let fields = [write_full(1, 3), write(2, 2), ControlField::Response(response(RdWr::Read, 3, 4)), read_request(4)];
    let all = fields.map(|f| transfer(f, 3, &SHEET));
    let reads = read_tl(SHEET, &pack_all(SHEET, &all));
    assert_clean(&reads);
    assert_eq!(delivered(&reads), all.map(|t| received(&t)));
}

/// One half too few: the next Control half is read as data.
#[test]
fn ual_sqn_05_n() {
    let short = [
        tl(control(&[write(1, 1)]), half(1)),
        tl(half(2), control(&[credits(1)])),
        tl(control(&[read_request(2)]), NOTHING),
    ];
    let reads = read_tl(SHEET, &short);
    assert_eq!(reads[1].roles, [HalfRole::Data, HalfRole::Enables]);
    assert_eq!(reads[0].control.as_ref().map(|c| c.fields.len()), Some(1));
    assert!(reads[1].control.is_none(), "the credits are lost");
    // The packer does not take it.
    let mut missing = transfer(write(1, 1), 1, &SHEET);
    missing.enables = None;
    assert_eq!(
        TlPacker::new(SHEET).push(missing).expect_err("no byte enables").to_string(),
        "ualink.tl_req: found no byte enables, expected byte enables"
    );
    let mut missing = transfer(write(1, 1), 1, &SHEET);
    missing.data.change(|data| data.truncate(1));
    assert!(TlPacker::new(SHEET).push(missing).is_err());
}

#[test]
fn ual_sqn_06_p() {
    let message = ControlField::Request(request(ReqCmd::WriteMessage, 1, 1));
    assert_eq!(message.owed(&SHEET).halves(), 3);
    let all = [transfer(message, 1, &SHEET)];
    let reads = read_tl(SHEET, &pack_all(SHEET, &all));
    assert_eq!(delivered(&reads), all.map(|t| received(&t)));
}

/// A peer of the other choice is understood otherwise.
#[test]
fn ual_sqn_06_n() {
    let other = UalConfig { write_message_enables: false, ..SHEET };
    let message = ControlField::Request(request(ReqCmd::WriteMessage, 1, 1));
    assert_eq!(message.owed(&other).halves(), 2);
    let flits = pack_all(other, &[transfer(message, 1, &other)]);
    assert_eq!(delivered(&read_tl(other, &flits)).len(), 1);
    assert_ne!(delivered(&read_tl(SHEET, &flits))[0].data, delivered(&read_tl(other, &flits))[0].data);
}

#[test]
fn ual_sqn_07_p() {
    let all = [transfer(write(1, 2), 1, &SHEET)];
    let reads = read_tl(SHEET, &pack_all(SHEET, &all));
    use HalfRole::{Control, Data, Enables};
    assert_eq!(roles(&reads), [[Control, Data], [Data, Data], [Data, Enables]]);
    assert_eq!(delivered(&reads)[0].enables, all[0].enables);
}

#[test]
fn ual_sqn_07_n() {
    let sent = transfer(write(1, 1), 1, &SHEET);
    let enables = *sent.enables.clone().expect("byte enables");
    // Byte enables first.
    let wrong = [tl(control(&[sent.field]), enables), tl(sent.data.to_vec()[0], sent.data.to_vec()[1])];
    let got = delivered(&read_tl(SHEET, &wrong));
    assert_ne!(got[0].data, sent.data);
}

#[test]
fn ual_sqn_08_p() {
    for kind in [HalfType::NOP, HalfType::InitialCreditsDone] {
        for upper in [false, true] {
            let message = MessageHalf::new(kind);
            let mut flit = TlFlit::default();
            flit.halves[usize::from(upper)] = message.to_half();
            flit.message[usize::from(upper)] = true;
            let reads = read_tl(SHEET, &[flit]);
            assert_clean(&reads);
            assert_eq!(reads[0].roles[usize::from(upper)], HalfRole::Message(message));
        }
    }
    assert_eq!(MessageHalf::initial_credits_done(true).to_half()[..2], [0x01, 1]);
    assert_eq!(HalfType::Poison.0, 0x20);
}

#[test]
fn ual_sqn_08_n() {
    for kind in (0..=255).filter(|kind| ![0, 1, 0x20].contains(kind)) {
        let mut flit = tl(NOTHING, MessageHalf::new(HalfType(kind)).to_half());
        flit.message[1] = true;
        assert_eq!(tl_rules(&read_tl(SHEET, &[flit])[0]), ["UAL-SQN-08"], "{kind:#x}");
    }
}

#[test]
fn ual_sqn_09_p() {
    for field in [write_full(1, 4), write(1, 4), ControlField::Response(response(RdWr::Read, 1, 4))] {
        for poisoned in 0..16 {
            let sent = Transfer { poisoned, ..transfer(field, 1, &SHEET) };
            let reads = read_tl(SHEET, &pack_all(SHEET, std::slice::from_ref(&sent)));
            assert_clean(&reads);
            let got = &delivered(&reads)[0];
            assert_eq!((got.poisoned, &got.enables), (poisoned, &sent.enables));
            for beat in (0..4).filter(|beat| poisoned >> beat & 1 == 0) {
                assert_eq!(got.data.to_vec()[2 * beat..2 * beat + 2], sent.data.to_vec()[2 * beat..2 * beat + 2]);
            }
        }
    }
}

#[test]
fn ual_sqn_09_n() {
    let poison = MessageHalf::new(HalfType::Poison).to_half();
    let with = |lower: Half, upper: Half, message: [bool; 2]| TlFlit { halves: [lower, upper], message };
    // One half of a beat, either one.
    let first = [with(control(&[write_full(1, 1)]), poison, [false, true]), tl(NOTHING, half(1))];
    let second = [tl(control(&[write_full(1, 1)]), half(1)), with(NOTHING, poison, [false, true])];
    // Byte enables.
    let enables = [tl(control(&[write(1, 1)]), half(1)), with(half(2), poison, [false, true])];
    for flits in [first, second, enables] {
        assert_eq!(tl_rules(&read_tl(SHEET, &flits)[1]), ["UAL-SQN-09"]);
    }
    // No data.
    for n in 0..2 {
        let mut flit = TlFlit::default();
        flit.halves[n] = poison;
        flit.message[n] = true;
        assert_eq!(tl_rules(&read_tl(SHEET, &[flit])[0]), ["UAL-SQN-09"]);
    }
    let beyond = Transfer { poisoned: 2, ..transfer(write_full(1, 1), 1, &SHEET) };
    assert!(TlPacker::new(SHEET).push(beyond).is_err());
}

/// Message halves everywhere: what is delivered is the same.
#[test]
fn ual_sqn_10_p() {
    let fields = [write_full(1, 2), write_response(2), write(3, 1), read_request(4), write_full(5, 1)];
    for config in [SHEET, WITH_TAGS] {
        let all =
            fields.map(|f| Transfer { auth_tag: if config.authentication { 7 } else { 0 }, ..transfer(f, 1, &config) });
        for pattern in 0..64_u32 {
            let mut packer = TlPacker::new(config);
            all.iter().for_each(|t| packer.push(t.clone()).expect("legal"));
            let mut flits = Vec::new();
            for n in 0.. {
                if n < 6 && pattern >> n & 1 == 1 {
                    packer.push_message(MessageHalf::new(HalfType::NOP));
                }
                let Some(flit) = packer.pack() else { break };
                flits.push(flit);
            }
            let reads = read_tl(config, &flits);
            assert_clean(&reads);
            assert_eq!(delivered(&reads), all.clone().map(|t| received(&t)), "{pattern:#b}");
        }
    }
    // In a lower half that would be Control, the Control moves on.
    let message = TlFlit { halves: [NOTHING; 2], message: [true, false] };
    let reads = read_tl(SHEET, &[message, tl(control(&[read_request(1)]), NOTHING)]);
    assert_clean(&reads);
    assert_eq!(delivered(&reads).len(), 1);
}

#[test]
fn ual_sqn_10_n() {
    let mut replaced = tl(control(&[write_response(1)]), NOTHING);
    replaced.message[1] = true;
    assert_eq!(tl_rules(&read_tl(WITH_TAGS, &[replaced])[0]), ["UAL-SQN-10"]);
}
