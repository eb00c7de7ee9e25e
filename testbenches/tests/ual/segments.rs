//! Segment headers and packing (`ualink` §4).

use super::common::*;
use scalepool_protocols::ualink::flit::{map, sector_byte, segment_header_byte};

/// A TL flit at a start of a segment.
fn one(segment: usize, place: usize, flit: TlFlit) -> Offers {
    let mut offers = Offers::default();
    offers.tl[segment][place] = Some(flit);
    offers
}

/// What a flit of one payload says.
fn read_one(payload: &Payload) -> UalDecodedFlit {
    read(&[flit(explicit(1), payload)]).remove(0)
}

/// The TL flits that begin in a payload.
fn started(payload: &Payload) -> Vec<segment::Piece> {
    segment::Unpacker::default().read(payload).started
}

/// Payloads of a saturated packer until `left` sectors are left over.
fn until_left_over(left: usize) -> (segment::Packer, Saturated, segment::Unpacker) {
    let (mut packer, mut source) = (segment::Packer::default(), Saturated::default());
    let mut unpacker = segment::Unpacker::default();
    while packer.carry() != left {
        unpacker.read(&packer.pack(&mut source));
    }
    assert_eq!(unpacker.carry(), left);
    (packer, source, unpacker)
}

/// A TL flit that goes on in the next flit is left over.
#[test]
fn a_stream_rests_between_tl_flits_alone() {
    let (mut packer, mut source) = (segment::Packer::default(), Saturated::default());
    let mut reader = Unpacker::new(SHEET, CompressionRole::ToSwitch);
    assert!(reader.is_at_rest());
    let mut left_over = 0;
    for n in 1..=16 {
        reader.read(&flit(explicit(n), &packer.pack(&mut source)));
        if packer.carry() > 0 {
            left_over += 1;
            assert!(!reader.is_at_rest(), "flit {n} leaves {} sectors over", packer.carry());
        }
    }
    assert!(left_over > 0);
}

#[test]
fn ual_seg_01_p() {
    layout_p::<SegmentHeader>("alt 0, rsvd 1, message0 3:2, start0 4, message1 6:5, start1 7");
    // Bit 2 is M0, of the lower half; bit 3 is M1.
    let lower = TlFlit { message: [true, false], ..numbered(1) };
    assert_eq!(payload(&one(0, 0, lower)).headers[0], 0b0001_0100);
    let upper = TlFlit { message: [false, true], ..numbered(1) };
    assert_eq!(payload(&one(0, 1, upper)).headers[0], 0b1100_0000);
}

#[test]
fn ual_seg_01_n() {
    layout_n::<SegmentHeader>();
    let mut with_reserved = Payload::ZERO;
    with_reserved.headers[2] = 2;
    let decoded = read_one(&with_reserved);
    assert_eq!(rules(&decoded), ["UAL-SEG-01"]);
    assert_eq!(decoded.violations[0].at.to_string(), "byte 323");
}

#[test]
fn ual_seg_02_p() {
    let mut offers = one(1, 1, TlFlit::default());
    offers.messages[3] = Some(0);
    let headers = payload(&offers).headers;
    assert_eq!(headers, [0, 0x80, 0, 1, 0]);
    assert_eq!(rules(&read_one(&payload(&offers))), Vec::<&str>::new());
}

#[test]
fn ual_seg_02_n() {
    for bits in [0x04, 0x0c, 0x20, 0x60] {
        let mut stray = Payload::ZERO;
        stray.headers[1] = bits;
        let decoded = read_one(&stray);
        assert_eq!((rules(&decoded), decoded.tl.len()), (vec!["UAL-SEG-02"], 0), "{bits:#x}");
    }
}

#[test]
fn ual_seg_03_p() {
    let (mut packer, _, mut unpacker) = until_left_over(9);
    let rest = packer.pack(&mut Offers::default());
    assert_eq!(rest.headers, [0; 5]);
    let read = unpacker.read(&rest);
    assert_eq!((read.finished.map(|p| p.is_whole()), read.started.len()), (Some(true), 0));
}

/// A start bit without a TL flit: the reader finds one that nobody sent.
#[test]
fn ual_seg_03_n() {
    let (mut packer, _, mut unpacker) = until_left_over(9);
    let mut rest = packer.pack(&mut Offers::default());
    rest.headers[0] |= 0x10;
    assert_eq!(unpacker.read(&rest).started.len(), 1);
}

#[test]
fn ual_seg_04_p() {
    for segment in 0..5 {
        let mut offers = one(segment, 0, numbered(1));
        offers.messages[segment] = Some(0x1234_0100);
        let payload = payload(&offers);
        let first = segment::BOUNDS[segment].0;
        assert_eq!(payload.sectors[first], 0x1234_0100_u32.to_le_bytes());
        assert_eq!(payload.sectors[first + 1], numbered(1).sector(0));
        let read = segment::Unpacker::default().read(&payload);
        assert_eq!((read.messages, read.started[0].flit), (vec![(segment, 0x1234_0100)], numbered(1)));
    }
}

#[test]
fn ual_seg_04_n() {
    let mut offers = one(0, 0, numbered(1));
    offers.messages[0] = Some(0x1234_0100);
    let mut payload = payload(&offers);
    payload.sectors.swap(0, 1);
    let read = segment::Unpacker::default().read(&payload);
    assert_ne!(read.messages, [(0, 0x1234_0100)]);
    assert_ne!(read.started[0].flit, numbered(1));
}

/// Every number of sectors left over, and each time they come first.
#[test]
fn ual_seg_05_p() {
    let mut seen = [false; 16];
    for messages in 0..6 {
        let (mut packer, mut unpacker) = (segment::Packer::default(), segment::Unpacker::default());
        let mut source = Saturated { messages: (0..messages).collect(), ..Saturated::default() };
        for _ in 0..32 {
            let (left, next) = (packer.carry(), source.sent);
            let payload = packer.pack(&mut source);
            let read = unpacker.read(&payload);
            seen[left] = true;
            let first = usize::from(messages > 0);
            if left > 0 {
                assert_eq!(read.finished.map(|p| p.flit), Some(numbered(next)));
                assert_eq!(payload.sectors[first], numbered(next).sector(16 - left));
            }
            assert_eq!(payload.sectors[first + left], numbered(next + 1).sector(0));
        }
    }
    assert_eq!(seen, [true; 16]);
}

#[test]
fn ual_seg_05_n() {
    let (mut packer, mut source, mut unpacker) = until_left_over(6);
    let next = source.sent;
    let mut payload = packer.pack(&mut source);
    // The new TL flit before the rest of the old one.
    payload.sectors[..22].rotate_left(6);
    let read = unpacker.read(&payload);
    assert_ne!(read.finished.map(|p| p.flit), Some(numbered(next)));
    assert_ne!(read.started[0].flit, numbered(next + 1));
}

/// A TL flit that comes late: zeros before it; nothing: zeros behind.
#[test]
fn ual_seg_06_p() {
    for (segment, (first, half, end)) in segment::BOUNDS.into_iter().enumerate() {
        let late = payload(&one(segment, 1, numbered(1)));
        assert!(late.sectors[first..half].iter().all(|s| *s == [0; 4]));
        assert_eq!(late.sectors[half], numbered(1).sector(0));
        let early = payload(&one(segment, 0, numbered(1)));
        assert_eq!(early.sectors[first], numbered(1).sector(0));
        assert!(early.sectors[first + 16..end].iter().all(|s| *s == [0; 4]));
    }
}

#[test]
fn ual_seg_06_n() {
    let mut late = payload(&one(1, 1, TlFlit::default()));
    late.sectors[40][2] = 1;
    let decoded = read_one(&late);
    assert_eq!(rules(&decoded), ["UAL-SEG-06"]);
    assert_eq!(decoded.violations[0].at.to_string(), format!("byte {}", sector_byte(40, 0)));
}

#[test]
fn ual_seg_07_p() {
    let mut source = Saturated::default();
    let payload = segment::Packer::default().pack(&mut source);
    assert_eq!(payload.headers, [0x90; 5]);
    assert_eq!(started(&payload).len(), 10);
    let flits: Vec<_> = started(&payload).iter().map(|p| (p.segment, p.place)).collect();
    assert_eq!(flits, (0..5).flat_map(|g| [(g, SegmentPlace::First), (g, SegmentPlace::Second)]).collect::<Vec<_>>());
}

/// A message, 15 sectors left over and a TL flit fill the segment: there is no room for another start.
#[test]
fn ual_seg_07_n() {
    let (mut packer, mut source, mut unpacker) = until_left_over(15);
    source.messages = vec![0];
    let mut payload = packer.pack(&mut source);
    assert_eq!(payload.headers[0], 0x11);
    assert!(unpacker.clone().read(&payload).violations.is_empty());
    payload.headers[0] |= 0x80;
    let found = unpacker.read(&payload).violations;
    assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-SEG-07"]);
    assert_eq!(found[0].at.to_string(), format!("byte {}", segment_header_byte(0)));
}

#[test]
fn ual_seg_08_p() {
    for moment in 0..2 {
        let (mut packer, _, mut unpacker) = until_left_over(15);
        let mut offers = one(0, moment, numbered(77));
        offers.messages[0] = Some(0);
        let payload = packer.pack(&mut offers);
        assert_eq!(payload.headers[0], 0x11, "TL Flit[0]");
        assert_eq!(unpacker.read(&payload).started[0].flit, numbered(77));
    }
}

/// Coded as TL Flit[1] the reader names another start, and one sector less makes it look in another place.
#[test]
fn ual_seg_08_n() {
    let (mut packer, _, mut unpacker) = until_left_over(15);
    let mut payload = packer.pack(&mut one(0, 0, numbered(77)));
    assert_eq!(payload.headers[0], 0x10);
    payload.headers[0] = 0x80;
    let read = unpacker.read(&payload);
    assert_eq!(read.started[0].place, SegmentPlace::Second);
    assert_ne!(read.started[0].flit, numbered(77));
}

#[test]
fn ual_seg_09_p() {
    let (mut packer, mut unpacker) = (segment::Packer::default(), segment::Unpacker::default());
    let mut source = Saturated { messages: vec![1, 4], ..Saturated::default() };
    let mut next = 1;
    while next <= 10_000 {
        let read = unpacker.read(&packer.pack(&mut source));
        assert!(read.violations.is_empty());
        for piece in read.finished.iter().chain(read.started.iter().filter(|p| p.is_whole())) {
            assert_eq!(piece.flit, numbered(next));
            next += 1;
        }
    }
}

#[test]
fn ual_seg_09_n() {
    let mut payload = payload(&one(0, 0, numbered(1)));
    payload.sectors.swap(3, 4);
    assert_ne!(started(&payload)[0].flit, numbered(1));
}

/// Where TL flits begin: (left over, message, moments at which one is there) to first sectors.
#[test]
fn ual_seg_10_p() {
    let cases: [(usize, bool, [bool; 2], &[usize]); 6] = [
        (0, false, [true, true], &[0, 16]),
        (0, true, [true, true], &[1, 17]),
        (0, true, [false, true], &[16]),
        (9, true, [true, true], &[10, 26]),
        (9, false, [false, true], &[16]),
        (15, true, [false, true], &[16]),
    ];
    for (left, message, there, expected) in cases {
        let (mut packer, _, mut unpacker) = until_left_over(left);
        let mut offers = Offers::default();
        offers.messages[0] = message.then_some(0);
        offers.tl[0] = [0, 1].map(|n| there[n].then(|| numbered(50 + n as u32)));
        let payload = packer.pack(&mut offers);
        let firsts: Vec<_> = unpacker.read(&payload).started.iter().map(|p| p.flit_byte(0)).collect();
        let expected: Vec<_> = expected.iter().map(|&sector| sector_byte(sector, 0)).collect();
        assert_eq!(firsts, expected, "{left} {message} {there:?}");
    }
}

/// A TL Flit[1] that stands right behind a message instead of in the second half is not found.
#[test]
fn ual_seg_10_n() {
    let mut offers = one(0, 0, numbered(1));
    offers.messages[0] = Some(0);
    let mut payload = payload(&offers);
    payload.headers[0] = 0x81;
    assert_ne!(started(&payload)[0].flit, numbered(1));
}

#[test]
fn ual_seg_11_p() {
    let (mut packer, mut source) = (segment::Packer::default(), Saturated::default());
    let mut counts = Vec::new();
    let mut left = Vec::new();
    for _ in 0..16 {
        let before = source.sent;
        packer.pack(&mut source);
        counts.push(source.sent - before);
        left.push(packer.carry());
    }
    assert_eq!(counts[..6], [10, 10, 10, 10, 10, 9]);
    assert_eq!(left[..6], [3, 6, 9, 12, 15, 2]);
    // 157/16 TL flits a DL flit.
    assert_eq!((counts.iter().sum::<u32>(), left[15]), (157, 0));
    assert!(left.iter().all(|&n| n <= 15));
}

/// With a message in each segment the sequence is another one.
#[test]
fn ual_seg_11_n() {
    let mut packer = segment::Packer::default();
    let mut source = Saturated { messages: (0..5).collect(), ..Saturated::default() };
    let mut counts = Vec::new();
    for _ in 0..6 {
        let before = source.sent;
        packer.pack(&mut source);
        counts.push(source.sent - before);
    }
    assert_ne!(counts, [10, 10, 10, 10, 10, 9]);
    assert!(packer.carry() <= 15);
}

#[test]
fn ual_seg_12_p() {
    let mut packer = segment::Packer::default();
    let mut unpacker = Unpacker::new(SHEET, CompressionRole::ToSwitch);
    let mut offers = Offers::default();
    offers.tl[4][1] = Some(TlFlit::default());
    let begun = unpacker.read(&flit(explicit(1), &packer.pack(&mut offers)));
    assert!(begun.goes_on());
    for _ in 0..3 {
        assert_eq!(rules(&unpacker.read(&flit(nop(1), &Payload::ZERO))), Vec::<&str>::new());
    }
    let ended = unpacker.read(&flit(explicit(2), &packer.pack(&mut Offers::default())));
    assert_eq!(ended.finished.map(|tl| tl.piece.is_whole()), Some(true));
}

#[test]
fn ual_seg_12_n() {
    for at in [67, 0, 635] {
        let mut stray = flit(nop(1), &Payload::ZERO);
        stray.0[at] = 1;
        stray.seal(&SHEET);
        let decoded = &read(&[stray])[0];
        assert_eq!((rules(decoded), decoded.tl.len()), (vec!["UAL-SEG-12"], 0), "{at}");
    }
    assert_eq!(map::DATA6.end, 636);
}
