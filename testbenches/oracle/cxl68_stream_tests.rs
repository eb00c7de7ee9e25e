use super::super::cxl68_messages::messages;
use super::super::cxl68_slots::{Place, place_into, slot};
use super::*;
use Dir::{Down, Up};

/// What a test puts into a slot: a format and messages at places of it, or a chunk.
#[derive(Clone)]
enum Content {
    Messages(&'static str, Vec<(usize, u128)>),
    Chunk([u8; 16]),
}

fn with(format: &'static str, messages: &[(usize, u128)]) -> Content {
    Content::Messages(format, messages.to_vec())
}

fn chunk(fill: u8) -> Content {
    Content::Chunk([fill; 16])
}

/// A valid message with nothing else set.
const VALID: u128 = 1;

fn empty() -> Content {
    Content::Chunk([0; 16])
}

/// Protocol flit. Slot 0 with a chunk means H0 with all places empty.
fn protocol(dir: Dir, sz: bool, be: bool, contents: [Content; 4]) -> [u8; 68] {
    let mut payload = [0; 64];
    let mut values = vec![0; 13]; // as many as the flit header has fields
    values[3] = u128::from(be);
    values[4] = u128::from(sz);
    for (index, content) in contents.iter().enumerate() {
        let bytes = match content {
            Content::Chunk(bytes) => *bytes,
            Content::Messages(format, messages) => {
                let format = slot(dir, format);
                assert_eq!(format.generic, index > 0);
                values[5 + index] = format.code.into();
                let mut bytes = [0; 16];
                for (place, raw) in messages {
                    let raw = raw.to_le_bytes();
                    let bits = &raw.view_bits::<Lsb0>()[..format.places[*place].bits()];
                    place_into(format, &mut bytes, *place, bits);
                }
                bytes
            }
        };
        payload[16 * index..][..16].copy_from_slice(&bytes);
    }
    let header = (message("cxl68.flit_header").build)(&values);
    payload[..4].copy_from_slice(&header);
    link_layer(payload)
}

fn all_data(fills: [u8; 4]) -> [u8; 68] {
    let mut payload = [0; 64];
    for (chunk, fill) in payload.chunks_exact_mut(16).zip(fills) {
        chunk.fill(fill);
    }
    link_layer(payload)
}

fn control(name: &str, set: &[(&str, u128)]) -> [u8; 68] {
    let layout = message(name);
    let value = |field| set.iter().find(|s| s.0 == field).map_or(0, |s| s.1);
    let values: Vec<u128> = layout.fields.iter().map(|f| if f.0 == "ftype" { 1 } else { value(f.0) }).collect();
    let mut payload = [0; 64];
    payload[..16].copy_from_slice(&(layout.build)(&values));
    link_layer(payload)
}

fn link_layer(payload: [u8; 64]) -> [u8; 68] {
    let mut bytes = [0x55; 68];
    bytes[2..66].copy_from_slice(&payload);
    bytes[66..].copy_from_slice(&cxl68_crc::bytes(&payload));
    bytes
}

fn down() -> StreamChecker {
    StreamChecker::new(Down, true)
}

fn up() -> StreamChecker {
    StreamChecker::new(Up, true)
}

/// The checker refuses the flit for that rule and stays as it was.
#[track_caller]
fn assert_refused(checker: &mut StreamChecker, flit: &[u8; 68], rule: &str) {
    let before = checker.rollover();
    let error = checker.flit(flit).expect_err(rule);
    assert!(error.starts_with(rule), "{error}");
    assert_eq!(checker.rollover(), before);
}

fn names(facts: &FlitFacts) -> Vec<(&'static str, usize, usize)> {
    facts.messages.iter().map(|m| (m.name, m.slot, m.place)).collect()
}

#[test]
fn requests_need_no_data() {
    let read = message("cxl68.m2s_req").one_field("tag", 0x1234).view_bits::<Lsb0>().load_le::<u128>() | VALID;
    let flit = protocol(Down, false, false, [with("H5", &[(0, read)]), empty(), with("G4", &[(0, VALID)]), empty()]);
    let facts = down().flit(&flit).unwrap();
    assert_eq!(facts.kind, FlitKind::Protocol);
    assert_eq!(names(&facts), [("cxl68.m2s_req", 0, 0), ("cxl68.m2s_req", 2, 0)]);
    assert_eq!(facts.messages[0].raw, read);
    assert_eq!((facts.rollover_before, facts.rollover_after), (0, 0));
    assert!(facts.stray_slots.is_empty());
}

#[test]
fn a_write_in_slot_0_takes_its_data_over_two_flits() {
    let mut checker = down();
    let facts = checker
        .flit(&protocol(Down, true, true, [with("H4", &[(0, VALID)]), chunk(0xA0), chunk(0xA1), chunk(0xA2)]))
        .unwrap();
    assert_eq!((facts.rollover_before, facts.rollover_after, facts.chunks.len()), (0, 2, 3));
    assert!(checker.finish().unwrap_err().starts_with("CXL68-PCK-03"));

    // Slot 0 may hold the next message; slot 3 is free again.
    let mut enables = [0xEE; 16]; // the upper half of the chunk is reserved
    enables[..8].copy_from_slice(&0x0123_4567_89AB_CDEF_u64.to_le_bytes());
    let rest = [with("H5", &[(0, VALID)]), chunk(0xA3), Content::Chunk(enables), with("G1", &[(3, VALID)])];
    let facts = checker.flit(&protocol(Down, false, false, rest)).unwrap();
    assert_eq!((facts.rollover_before, facts.rollover_after), (2, 0));
    assert_eq!(facts.chunks.iter().map(|c| (c.slot, c.is_byte_enable)).collect::<Vec<_>>(), [(1, false), (2, true)]);
    assert_eq!(names(&facts), [("cxl68.m2s_req", 0, 0), ("cxl68.h2d_rsp", 3, 3)]);
    let [transfer] = &facts.completed[..] else { panic!("{facts:?}") };
    assert_eq!((transfer.name, transfer.header), ("cxl68.m2s_rwd", VALID));
    assert_eq!(transfer.data, [[0xA0; 16], [0xA1; 16], [0xA2; 16], [0xA3; 16]].concat());
    assert_eq!((transfer.byte_enables, transfer.has_byte_enables), (0x0123_4567_89AB_CDEF, true));
    checker.finish().unwrap();
}

#[test]
fn a_header_in_slot_3_makes_an_all_data_flit() {
    let mut checker = up();
    let facts =
        checker.flit(&protocol(Up, true, false, [empty(), empty(), empty(), with("G4", &[(0, VALID)])])).unwrap();
    assert_eq!(facts.rollover_after, 4);
    // Byte 0 of the data looks like the type bit of a control flit.
    let facts = checker.flit(&all_data([1, 2, 3, 4])).unwrap();
    assert_eq!((facts.kind, facts.rollover_after), (FlitKind::AllData, 0));
    assert_eq!(facts.completed[0].data, [[1; 16], [2; 16], [3; 16], [4; 16]].concat());
    assert_eq!((facts.completed[0].byte_enables, facts.completed[0].has_byte_enables), (u64::MAX, false));
}

#[test]
fn four_headers_in_slot_3_make_four_all_data_flits() {
    let mut checker = down();
    let mut contents = [empty(), empty(), empty(), with("G3", &[(0, 1), (1, 3), (2, 5), (3, 7), (4, VALID)])];
    contents[0] = with("H0", &[(1, VALID)]);
    assert_eq!(checker.flit(&protocol(Down, true, false, contents)).unwrap().rollover_after, 16);
    for line in 0..4_u8 {
        let facts = checker.flit(&all_data([line, line, line, line])).unwrap();
        assert_eq!((facts.kind, facts.rollover_after), (FlitKind::AllData, 12 - 4 * usize::from(line)));
        assert_eq!(facts.completed[0].header, u128::from(2 * line + 1));
        assert_eq!(facts.completed[0].data, [line; 64]);
    }
    checker.finish().unwrap();
}

#[test]
fn half_lines_keep_the_enables_of_their_half() {
    for (chunk_valid, expected) in [(0, 0xFFFF_FFFF), (1, 0xFFFF_FFFF_0000_0000)] {
        let mut checker = up();
        let header = VALID | chunk_valid << 13;
        let contents = [with("H0", &[(0, header)]), chunk(5), chunk(6), chunk(0xFF)];
        let facts = checker.flit(&protocol(Up, false, true, contents)).unwrap();
        assert_eq!(facts.completed[0].data, [[5; 16], [6; 16]].concat());
        assert_eq!(facts.completed[0].byte_enables, expected);
    }
}

#[test]
fn size_and_enables_are_judged_by_channel() {
    // (direction, format of slot 0 and place of the header, 32 bytes legal, enables legal), §1.5
    let channels = [
        (Down, "H4", 0, false, true),
        (Down, "H1", 0, true, false),
        (Up, "H0", 0, true, true),
        (Up, "H3", 0, true, false),
    ];
    for (dir, format, place, half_line, enables) in channels {
        for (sz, be) in [(false, false), (false, true), (true, false), (true, true)] {
            let chunks = if sz { [1, 2, 3] } else { [1, 2, 0] }.map(chunk);
            let [first, second, third] = chunks;
            let flit = protocol(dir, sz, be, [with(format, &[(place, VALID)]), first, second, third]);
            let mut checker = StreamChecker::new(dir, false);
            if !sz && !half_line {
                assert_refused(&mut checker, &flit, "CXL68-HDR-03");
            } else if be && !enables {
                assert_refused(&mut checker, &flit, "CXL68-HDR-04");
            } else {
                let owed = if sz { 4 } else { 2 } + usize::from(be);
                assert_eq!(checker.flit(&flit).unwrap().rollover_after, owed.saturating_sub(3), "{format} {sz} {be}");
            }
        }
    }
    // Without a data header both bits mean nothing.
    down().flit(&protocol(Down, false, true, [with("H5", &[(0, VALID)]), empty(), empty(), empty()])).unwrap();
}

#[test]
fn owed_data_must_come_in_the_next_slots() {
    let mut checker = up();
    let late = [with("H3", &[(0, VALID)]), with("G1", &[(0, VALID)]), chunk(1), chunk(2)];
    assert_refused(&mut checker, &protocol(Up, true, false, late), "CXL68-PCK-04 at slot 1");
    checker.flit(&protocol(Up, true, false, [with("H3", &[(0, VALID)]), chunk(1), chunk(2), chunk(3)])).unwrap();
    let missing = [empty(), with("G5", &[]), empty(), empty()];
    assert_refused(&mut checker, &protocol(Up, false, false, missing), "CXL68-PCK-04 at slot 1");
}

#[test]
fn data_with_nothing_owed_is_stray() {
    let facts = up().flit(&protocol(Up, false, false, [empty(), empty(), chunk(9), empty()])).unwrap();
    assert_eq!(facts.stray_slots, [2]);
    assert_eq!(facts.chunks, []);
}

#[test]
fn an_unused_format_with_no_valid_bit_is_empty() {
    // Three headers without their valid bit, in a format for several, on a link that does not allow it.
    let contents = [with("H5", &[(0, 2)]), empty(), with("G6", &[(0, 2), (1, 4), (2, 8)]), empty()];
    let facts = StreamChecker::new(Up, false).flit(&protocol(Up, false, true, contents)).unwrap();
    assert_eq!((facts.messages.len(), facts.rollover_after), (0, 0));
}

#[test]
fn one_data_header_a_flit() {
    let split = [with("H1", &[(1, VALID)]), chunk(1), chunk(2), with("G2", &[(1, VALID)])];
    assert_refused(&mut up(), &protocol(Up, false, false, split), "CXL68-PCK-12 at slot 3");
    let beside_several = [with("H5", &[(0, VALID), (1, VALID)]), empty(), empty(), empty()];
    let mut checker = up();
    checker.flit(&protocol(Up, true, false, beside_several)).unwrap();
    assert_eq!(checker.rollover(), 5);
    // In the next flit slot 0 may hold a header while the last chunk of an older one is still to come.
    checker.flit(&all_data([0; 4])).unwrap();
    let next = [with("H5", &[(0, VALID), (1, VALID)]), chunk(1), chunk(2), chunk(3)];
    assert_eq!(checker.flit(&protocol(Up, true, false, next)).unwrap().rollover_after, 6);
}

#[test]
fn several_data_headers_have_their_own_rules() {
    let two = || [with("H3", &[(0, VALID), (2, VALID)]), chunk(1), chunk(2), chunk(3)];
    down().flit(&protocol(Down, true, false, two())).unwrap();
    assert_refused(&mut StreamChecker::new(Down, false), &protocol(Down, true, false, two()), "CXL68-PCK-14");
    assert_refused(&mut down(), &protocol(Down, false, false, two()), "CXL68-PCK-13");
    assert_refused(&mut down(), &protocol(Down, true, true, two()), "CXL68-PCK-13");
    let one = [with("H3", &[(1, VALID)]), chunk(1), chunk(2), chunk(3)];
    assert_refused(&mut down(), &protocol(Down, true, false, one), "CXL68-PCK-13");
    let response_only = [empty(), empty(), empty(), with("G3", &[(4, VALID)])];
    assert_refused(&mut down(), &protocol(Down, true, false, response_only), "CXL68-PCK-13");
}

#[test]
fn maxima_per_flit() {
    let full_of = |format, places: &[usize]| with(format, &places.iter().map(|p| (*p, VALID)).collect::<Vec<_>>());
    // (direction, slots at the maximum, slot 3 with one more), §5.1
    let cases = [
        (Up, [full_of("H0", &[1, 2]), empty(), empty()], full_of("G1", &[1])),
        (Up, [full_of("H4", &[0, 1]), empty(), empty()], full_of("G5", &[0])),
        (Down, [full_of("H0", &[0]), full_of("G2", &[0]), empty()], full_of("G2", &[0])),
        (Down, [empty(), full_of("G1", &[0, 1, 2, 3]), empty()], full_of("G1", &[2])),
        (Down, [full_of("H5", &[0]), full_of("G4", &[0]), empty()], full_of("G4", &[0])),
    ];
    for (dir, [zero, one, two], more) in cases {
        let rule = if dir == Up { "CXL68-PCK-01" } else { "CXL68-PCK-02" };
        let flit = |last| protocol(dir, false, false, [zero.clone(), one.clone(), two.clone(), last]);
        StreamChecker::new(dir, true).flit(&flit(empty())).unwrap();
        assert_refused(&mut StreamChecker::new(dir, true), &flit(more), rule);
    }
    // Four D2H requests fill a flit; the other maxima are those of one slot, guarded by the rule of one data slot.
    let requests = [with("H1", &[(0, VALID)]), full_of("G1", &[0]), full_of("G2", &[0]), full_of("G1", &[0])];
    assert_eq!(up().flit(&protocol(Up, false, false, requests)).unwrap().messages.len(), 4);
}

#[test]
fn reserved_format_codes() {
    for (dir, slot, code) in [(Down, 0, 7), (Down, 1, 6), (Down, 3, 7), (Up, 0, 7), (Up, 2, 7)] {
        let mut payload = [0; 64];
        payload[..4].copy_from_slice(&message("cxl68.flit_header").one_field(&format!("slot{slot}"), code));
        assert_refused(
            &mut StreamChecker::new(dir, true),
            &link_layer(payload),
            &format!("CXL68-SLT-01 at slot {slot}"),
        );
    }
}

#[test]
fn every_flipped_bit_behind_the_id_is_a_crc_error() {
    let good = protocol(Down, true, false, [with("H5", &[(0, VALID)]), empty(), empty(), empty()]);
    for bit in 16..544 {
        let mut bad = good;
        bad[bit / 8] ^= 1 << (bit % 8);
        assert_refused(&mut down(), &bad, "CXL68-CRC-01");
    }
}

#[test]
fn protocol_ids() {
    let mut flit = protocol(Down, false, false, [empty(), empty(), empty(), empty()]);
    let kinds = [
        (0x55, FlitKind::Protocol),
        (0x87, FlitKind::Protocol),
        (0xFF, FlitKind::Io),
        (0xD2, FlitKind::Io),
        (0x99, FlitKind::Null),
        (0x4B, FlitKind::Null),
        (0xCC, FlitKind::Almp),
        (0x1E, FlitKind::Almp),
    ];
    for id in 0..=255 {
        flit[..2].fill(id);
        match kinds.iter().find(|k| k.0 == id) {
            Some((_, kind)) => assert_eq!(down().flit(&flit).unwrap().kind, *kind),
            None => assert_refused(&mut down(), &flit, "CXL68-PID-01"),
        }
    }
    flit[0] = 0x55; // both bytes valid, but different
    flit[1] = 0xCC;
    assert_refused(&mut down(), &flit, "CXL68-PID-01");
}

#[test]
fn control_flits_are_named() {
    let cases: [(&str, &str, u128, u128, u128); 8] = [
        ("cxl68.llcrd", "cxl68.llcrd", 0, 0, 1),
        ("cxl68.retry_req", "cxl68.retry_idle", 0, 1, 0),
        ("cxl68.retry_req", "cxl68.retry_req", 0, 1, 1),
        ("cxl68.retry_ack", "cxl68.retry_ack", 0, 1, 2),
        ("cxl68.retry_req", "cxl68.retry_frame", 0, 1, 3),
        ("cxl68.ide", "cxl68.ide", 1, 2, 2),
        ("cxl68.ide", "cxl68.ide", 1, 2, 0),
        ("cxl68.init_param", "cxl68.init_param", 0, 12, 8),
    ];
    for (layout, name, ctl_fmt, llctrl, sub_type) in cases {
        let set = [("ctl_fmt", ctl_fmt), ("llctrl", llctrl), ("sub_type", sub_type)];
        let facts = up().flit(&control(layout, &set)).unwrap();
        assert_eq!((facts.kind, facts.messages[0].name), (FlitKind::Control, name));
        let wrong_format = [("ctl_fmt", 1 - ctl_fmt), set[1], set[2]];
        assert_refused(&mut up(), &control(layout, &wrong_format), "CXL68-CTL-05 at bit 5");
    }
    let idle = [("ctl_fmt", 1), ("llctrl", 2), ("payload_hi", (1 << 88) - 1)];
    up().flit(&control("cxl68.ide", &idle)).unwrap();
    let set = [("llctrl", 12), ("sub_type", 8), ("rsvd", 15), ("rsvd1", 0xFF_FFFF), ("rsvd2", 1), ("rsvd3", 1)];
    up().flit(&control("cxl68.init_param", &set)).unwrap();
    for bit in 0..24 {
        let set = [("llctrl", 1), ("sub_type", 3), ("static0", 1 << bit)];
        assert_refused(&mut up(), &control("cxl68.retry_req", &set), "CXL68-CTL-05 at bit 40");
    }
    assert_refused(&mut up(), &control("cxl68.retry_req", &[("llctrl", 1), ("sub_type", 4)]), "CXL68-CTL-02");
    assert_refused(&mut up(), &control("cxl68.retry_req", &[("llctrl", 3)]), "CXL68-CTL-02");
}

#[test]
fn a_control_flit_may_stand_where_no_all_data_flit_is_due() {
    let mut checker = up();
    checker.flit(&protocol(Up, true, false, [with("H3", &[(0, VALID)]), chunk(1), chunk(2), chunk(3)])).unwrap();
    let frame = control("cxl68.retry_req", &[("llctrl", 1), ("sub_type", 3)]);
    let facts = checker.flit(&frame).unwrap();
    assert_eq!((facts.kind, facts.rollover_after), (FlitKind::Control, 1));
    checker.flit(&protocol(Up, true, false, [with("H3", &[(0, VALID)]), chunk(4), chunk(1), chunk(2)])).unwrap();
    checker.flit(&protocol(Up, true, false, [empty(), chunk(3), chunk(4), with("G4", &[(0, VALID)])])).unwrap();
    // Inside a data run the same bits are data.
    assert_eq!(checker.flit(&frame).unwrap().kind, FlitKind::AllData);
}

#[test]
fn almp_and_null_frames() {
    let mut flit = [0; 68];
    flit[..2].fill(0xCC);
    let request = (message("cxl68.almp").build)(&[0, 8, 1, 0, 1, 2, 0]);
    assert_eq!(request, [0x00, 0x08, 0x81, 0x02]); // Request{Active}, cache+mem
    for copy in flit[2..18].chunks_exact_mut(4) {
        copy.copy_from_slice(&request);
    }
    let facts = down().flit(&flit).unwrap();
    assert_eq!((facts.kind, facts.messages[0].raw), (FlitKind::Almp, 0x0281_0800));
    for byte in 2..68 {
        let mut bad = flit;
        bad[byte] ^= 0x40;
        assert_refused(&mut down(), &bad, "CXL68-ALM-01");
        let mut null = [0; 68];
        null[..2].fill(0x99);
        null[byte] = 0x40;
        assert_refused(&mut down(), &null, &format!("CXL68-NUL-01 at byte {byte}"));
    }
}

/// A xorshift generator, so that the streams below are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    fn bits(&mut self, count: usize) -> u128 {
        (0..count).fold(0, |bits, _| bits << 1 | self.below(2) as u128)
    }
}

/// Random legal streams, packed by rules written the other way round: a queue of chunks that fills slots. The checker
/// gives back exactly the messages and transfers that went in.
#[test]
fn random_streams_come_back_whole() {
    for seed in 1..=20 {
        for dir in [Down, Up] {
            let mut random = Random(seed);
            let mut checker = StreamChecker::new(dir, true);
            let mut owed: VecDeque<[u8; 16]> = VecDeque::new();
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            for _ in 0..200 {
                let flit = random_flit(&mut random, dir, &mut owed, &mut sent);
                let facts = checker.flit(&flit).unwrap_or_else(|error| panic!("seed {seed} {dir:?}: {error}"));
                assert_eq!(facts.rollover_after, owed.len());
                assert!(facts.stray_slots.is_empty());
                received.extend(facts.completed);
            }
            assert!(received.len() > 50, "seed {seed}: only {} transfers", received.len());
            assert_eq!(received, sent[..received.len()]);
        }
    }
}

fn random_flit(random: &mut Random, dir: Dir, owed: &mut VecDeque<[u8; 16]>, sent: &mut Vec<Transfer>) -> [u8; 68] {
    if owed.len() > 3 {
        let chunks: Vec<[u8; 16]> = owed.drain(..4).collect();
        let mut payload = [0; 64];
        payload.copy_from_slice(&chunks.concat());
        return link_layer(payload);
    }
    // One data channel and one slot for data headers, drawn first; the header bits follow from them.
    let channels: &[&str] = match dir {
        Down => &["cxl68.m2s_rwd", "cxl68.h2d_data"],
        Up => &["cxl68.d2h_data", "cxl68.s2m_drs"],
    };
    let channel = channels[random.below(2)];
    let data_slot = random.below(4);
    let mut sz = channel == "cxl68.m2s_rwd" || random.below(2) == 1;
    let mut be = ["cxl68.m2s_rwd", "cxl68.d2h_data"].contains(&channel) && random.below(2) == 1;
    let mut counts = vec![0; messages().len()];
    let mut contents = Vec::new();
    for index in 0..4 {
        if index > 0
            && let Some(chunk) = owed.pop_front()
        {
            contents.push(Content::Chunk(chunk));
            continue;
        }
        let format = slot_of_code(dir, index > 0, random.below(if index == 0 { 6 } else { 7 }) as u8);
        let Some(format) = format.filter(|f| f.places[0].message != CHUNK) else {
            contents.push(empty());
            continue;
        };
        // A format for several data headers is all or nothing: every header place of it, and a response at will.
        let headers = format.places.iter().filter(|p| p.message == channel).count();
        let takes_data = index == data_slot && headers > 0;
        if format.mdh && !takes_data {
            contents.push(with(format.name, &[]));
            continue;
        }
        if takes_data && format.mdh {
            (sz, be) = (true, false);
        }
        let mut placed = Vec::new();
        for (place, Place { message: name, pieces: _ }) in format.places.iter().enumerate() {
            let kind = messages().iter().position(|m| m.name == *name).expect("no MAC slot is drawn");
            let is_data = CHANNELS.iter().any(|c| c.name == *name && c.data.is_some());
            let room = counts[kind] < CHANNELS.iter().find(|c| c.name == *name).unwrap().most_per_flit;
            let chosen = if is_data { takes_data && *name == channel } else { room && random.below(2) == 1 };
            if !chosen {
                continue;
            }
            counts[kind] += 1;
            let raw = random.bits(format.places[place].bits()) | VALID;
            placed.push((place, raw));
            if is_data {
                let transfer = random_transfer(random, name, raw, sz, be);
                owed.extend(transfer.data.chunks_exact(16).map(|c| <[u8; 16]>::try_from(c).unwrap()));
                if be {
                    let mut chunk = random.bits(128).to_le_bytes();
                    chunk[..8].copy_from_slice(&transfer.byte_enables.to_le_bytes());
                    owed.push_back(chunk);
                }
                sent.push(transfer);
            }
        }
        contents.push(with(format.name, &placed));
    }
    protocol(dir, sz, be, contents.try_into().unwrap_or_else(|_| panic!("four slots")))
}

fn random_transfer(random: &mut Random, name: &'static str, header: u128, sz: bool, be: bool) -> Transfer {
    let data = (0..if sz { 64 } else { 32 }).map(|_| random.bits(8) as u8).collect();
    let mut byte_enables = if be { random.bits(64) as u64 } else { u64::MAX };
    if be && !sz {
        let upper = message(name).field_of(header, "chunk_valid") == 1;
        byte_enables &= if upper { 0xFFFF_FFFF_0000_0000 } else { 0xFFFF_FFFF };
    }
    Transfer { name, header, data, byte_enables, has_byte_enables: be }
}
