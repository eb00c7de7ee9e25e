//! Protected transactions.

use super::rig::*;
use scalepool::link::ualink::security::{Stream, *};
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::pack::TlPacker;
use scalepool_protocols::ualink::unpack::TlUnpacker;
use scalepool_protocols::wire::Wire;

const ENCRYPT: SecurityConfig = SecurityConfig {
    protection: Protection::Encrypt,
    tags: true,
    first_counter: 1,
    encrypt_enables: true,
    field_first: true,
};
const AUTHENTICATE: SecurityConfig = SecurityConfig { protection: Protection::Authenticate, ..ENCRYPT };

/// Every configuration in which a tag covers the transaction.
fn with_tags() -> Vec<SecurityConfig> {
    let choices = [(true, true), (true, false), (false, true), (false, false)];
    let encrypt =
        choices.map(|(encrypt_enables, field_first)| SecurityConfig { encrypt_enables, field_first, ..ENCRYPT });
    encrypt.into_iter().chain([AUTHENTICATE]).collect()
}

/// Bytes that count up from `64 * n`.
fn key(n: u8) -> AesKey {
    AesKey(std::array::from_fn(|k| (k as u8).wrapping_add(n.wrapping_mul(64))))
}

fn end(config: SecurityConfig) -> SecureEnd {
    SecureEnd::new(config, [key(0), key(1), key(2)]).expect("three keys")
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).expect("hex")).collect()
}

fn request_of(cmd: ReqCmd, tag: u16, address: u64, beats: u8, asi: u8) -> Transfer {
    let mut transfer = request(cmd, tag, address, beats);
    let ControlField::Request(req) = &mut transfer.field else { panic!("a request") };
    req.asi = asi;
    transfer
}

fn read_answer(tag: u16, beats: u8) -> Transfer {
    answers(&read(tag, 0, beats), false).remove(0)
}

fn write_answer(tag: u16) -> Transfer {
    answers(&write(tag, 0, 1), false).remove(0)
}

/// One of each stream, with enables and without.
fn samples() -> Vec<Transfer> {
    vec![
        request_of(ReqCmd::Write, 0x155, 0x1_2345_6740, 1, 2),
        request_of(ReqCmd::WriteFull, 0x2aa, 0x1_2345_6700, 4, 1),
        request_of(ReqCmd::Read, 0x7ff, 0xfffc, 1, 3),
        read_answer(0x155, 2),
        write_answer(0x155),
    ]
}

fn metadata(kind: u8, tag: u16) -> Transfer {
    let mut transfer = request(ReqCmd::WriteMessage, tag, 0, 1);
    let ControlField::Request(req) = &mut transfer.field else { panic!("a request") };
    req.metadata = kind;
    transfer
}

/// Test cases 13 to 16 of the GCM specification that NIST publishes: AES-256 and a 96-bit vector.
#[test]
fn the_cipher_gives_the_published_vectors() {
    let check = |key: &str, iv: &str, associated: &str, plain: &str, cipher: &str, tag: &str| {
        let key = AesKey(hex(key).try_into().expect("32 bytes"));
        let mut data = hex(plain);
        let iv = hex(iv).try_into().expect("12 bytes");
        let found = encrypt(&key, &iv, &hex(associated), &mut data).expect("short");
        assert_eq!((data, found.to_vec()), (hex(cipher), hex(tag)));
    };
    let (zero_key, zero_iv) = ("00".repeat(32), "00".repeat(12));
    check(&zero_key, &zero_iv, "", "", "", "530f8afbc74536b9a963b4f1c4cb738b");
    let (cipher, tag) = ("cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919");
    check(&zero_key, &zero_iv, "", &"00".repeat(16), cipher, tag);
    let key = "feffe9928665731c6d6a8f9467308308".repeat(2);
    let iv = "cafebabefacedbaddecaf888";
    let plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                 1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
    let cipher = "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                  8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
    check(&key, iv, "", plain, cipher, "b094dac5d93471bdec1a502270e3cc6c");
    let associated = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
    check(&key, iv, associated, &plain[..120], &cipher[..120], "76fc6ece0f4e1768cddf8853bb2d551b");
}

/// Results of a second implementation (Python's `cryptography`, with fields packed by the bit numbers of the sheet).
#[test]
fn sealed_transactions_are_those_of_a_second_implementation() {
    let mut encrypt = end(ENCRYPT);
    let sealed = encrypt.seal(&samples()[0]).expect("a request");
    let ControlField::Request(req) = &sealed.field else { panic!("a request") };
    assert_eq!(req.address >> 2 & 0xffff | u64::from(req.tag) << 16 | u64::from(req.asi) << 27, 0x0dea_8fc5);
    assert_eq!(sealed.auth_tag, 0x955a_14be_cf70_5720);
    assert_eq!(sealed.data.to_vec()[0][..8], hex("11a2674657740a65"));
    assert_eq!(sealed.enables.as_ref().map(|half| half[24..].to_vec()), Some(hex("345c68094cf7a13a")));

    encrypt.skip_to(Stream::ReadResponses, 0x0102_0304).expect("a later counter");
    let sealed = encrypt.seal(&samples()[3]).expect("a response");
    assert!(matches!(sealed.field, ControlField::Response(TlRsp { tag: 0x265, .. })));
    assert_eq!(sealed.auth_tag, 0xe4f6_8d82_cc9f_6145);
    assert_eq!(
        (sealed.data.to_vec()[0][..8].to_vec(), sealed.data.to_vec()[3][24..].to_vec()),
        (hex("6cee099d5c50cbc7"), hex("84c0209bf9a02e22"))
    );

    let sealed = encrypt.seal(&samples()[4]).expect("a response");
    assert!(matches!(sealed.field, ControlField::Response(TlRsp { tag: 0x684, .. })));
    assert_eq!(sealed.auth_tag, 0xbb14_e8cd_31ac_1b00);

    let plain = request_of(ReqCmd::WriteFull, 0x155, 0x1_2345_6740, 1, 2);
    let sealed = end(AUTHENTICATE).seal(&plain).expect("a request");
    assert_eq!(sealed, Transfer { auth_tag: 0x5fae_569c_178b_ddbf, ..plain });
}

/// What is sealed is opened, in every configuration; encryption changes the listed bits of the field alone.
#[test]
fn ual_sec_01_p2() {
    for config in with_tags() {
        let (mut from, mut to) = (end(config), end(config));
        for round in 0..3 {
            for plain in samples() {
                let sealed = from.seal(&plain).expect("a transaction");
                assert_eq!(to.open(&sealed), Ok(plain.clone()), "{config:?} {round}");
                let bits = |t: &Transfer| t.field.to_bits().expect("it fits");
                let changed = bits(&sealed) ^ bits(&plain);
                let allowed = match plain.field {
                    _ if config.protection == Protection::Authenticate => 0,
                    // ADDR[79:25] holds address bits 56:2: 40:25 are bits 17:2. TAG[113:103], ASI[115:114].
                    ControlField::Request(_) => 0xffff << 25 | 0x7ff << 103 | 3 << 114,
                    _ => 0x7ff << 47,
                };
                assert_eq!(changed & !allowed, 0);
                assert_eq!(
                    sealed.data != plain.data,
                    config.protection == Protection::Encrypt && !plain.data.is_empty()
                );
                let enables =
                    plain.enables.is_some() && config.protection == Protection::Encrypt && config.encrypt_enables;
                assert_eq!(sealed.enables != plain.enables, enables);
            }
        }
    }
}

/// Every covered bit of field, data, enables and tag, flipped by itself.
#[test]
fn ual_sec_01_n2() {
    for config in with_tags() {
        for plain in samples() {
            let sealed = end(config).seal(&plain).expect("a transaction");
            let fresh = end(config);
            let refused = |changed: &Transfer, what: &dyn std::fmt::Debug| {
                assert_eq!(fresh.clone().open(&sealed), Ok(plain.clone()));
                let found = fresh.clone().open(changed);
                assert!(matches!(found, Err(SecurityError::Tag { counter: 1, .. })), "{what:?}: {found:?}");
            };
            // CLOAD and CWAY, NUMBEATS of a read, POOL; of a response POOL and the source.
            let free = match &plain.field {
                ControlField::Request(req) => 1 << 102 | 7 << 2 | if req.cmd.has_data() { 0 } else { 3 },
                _ => 1_u128 << 46 | 0x3ff << 26,
            };
            for bit in 0..plain.field.def().bits {
                let bits = sealed.field.to_bits().expect("it fits") ^ 1 << bit;
                let field = match plain.field {
                    ControlField::Request(_) => ControlField::Request(TlReq::from_bits(bits)),
                    _ => ControlField::Response(TlRsp::from_bits(bits)),
                };
                let changed = Transfer { field, ..sealed.clone() };
                if free >> bit & 1 == 1 {
                    assert!(fresh.clone().open(&changed).is_ok(), "bit {bit} may change on the way");
                } else {
                    refused(&changed, &("field", bit));
                }
            }
            // Every bit of the first and last half, one of each byte between.
            for half in 0..sealed.data.len() {
                for bit in (0..256).filter(|bit| half == 0 || half + 1 == sealed.data.len() || bit % 8 == half % 8) {
                    let mut changed = sealed.clone();
                    changed.data.change(|data| data[half][bit / 8] ^= 1 << (bit % 8));
                    refused(&changed, &("data", half, bit));
                }
            }
            for bit in (0..256).filter(|_| sealed.enables.is_some()) {
                let mut changed = sealed.clone();
                changed.enables.as_mut().expect("enables")[bit / 8] ^= 1 << (bit % 8);
                refused(&changed, &("enables", bit));
            }
            for bit in 0..64 {
                refused(&Transfer { auth_tag: sealed.auth_tag ^ 1 << bit, ..sealed.clone() }, &("tag", bit));
            }
        }
    }
}

/// A transaction that comes again or is lost: the ends are out of step.
#[test]
fn a_transaction_cannot_come_twice() {
    let (mut from, mut to) = (end(ENCRYPT), end(ENCRYPT));
    let sealed = [1, 2, 3].map(|tag| from.seal(&read(tag, 0x100, 1)).expect("a request"));
    assert!(to.open(&sealed[0]).is_ok());
    assert!(matches!(to.open(&sealed[0]), Err(SecurityError::Tag { counter: 2, .. })));
    assert_eq!(to.open(&sealed[2]), Ok(read(3, 0x100, 1)), "a bad tag uses up its counter");
}

#[test]
fn a_vector_is_used_once_with_a_key() {
    let same = SecureEnd::new(ENCRYPT, [key(0), key(1), key(0)]).expect_err("one key twice");
    assert!(matches!(same, SecurityError::IvReuse { stream: Stream::WriteResponses, .. }));
    let mut from = end(ENCRYPT);
    from.seal(&read(1, 0, 1)).expect("a request");
    assert_eq!(from.counter(Stream::Requests), Some(2));
    assert!(matches!(from.skip_to(Stream::Requests, 1), Err(SecurityError::IvReuse { .. })));
    assert!(matches!(from.load_next_key(Stream::Requests, key(0)), Err(SecurityError::IvReuse { .. })));
    from.skip_to(Stream::Requests, u32::MAX).expect("a later counter");
    from.seal(&read(1, 0, 1)).expect("the last one");
    assert_eq!(from.seal(&read(1, 0, 1)), Err(SecurityError::Exhausted(Stream::Requests)));
    assert!(matches!(from.skip_to(Stream::Requests, u32::MAX), Err(SecurityError::IvReuse { .. })));
    // The other streams have their own.
    assert!(from.seal(&write_answer(1)).is_ok());
    assert_eq!(format!("{:?}", key(0)), "Key(..)");
}

/// Types 1, 2, 3: behind the message itself, behind its read response, behind its write response.
#[test]
fn keys_roll_behind_what_announces_it() {
    for (kind, stream) in [(1, Stream::Requests), (2, Stream::ReadResponses), (3, Stream::WriteResponses)] {
        let (mut originator, mut completer) = (end(ENCRYPT), end(ENCRYPT));
        let message = metadata(kind, 9);
        assert_eq!(originator.seal(&message), Err(SecurityError::NoNextKey(stream)));
        originator.load_next_key(stream, key(3)).expect("a new key");
        let sealed = originator.seal(&message).expect("a message");
        assert_eq!(completer.clone().open(&sealed), Err(SecurityError::NoNextKey(stream)));
        completer.load_next_key(stream, key(3)).expect("a new key");
        assert_eq!(completer.open(&sealed), Ok(message.clone()));
        // Another response in between keeps the old key.
        for answer in
            [read_answer(4, 1), write_answer(4), answers(&message, false).remove(0), read_answer(5, 4), write_answer(5)]
        {
            let sealed = completer.seal(&answer).expect("a response");
            assert_eq!(originator.open(&sealed), Ok(answer));
        }
        let sealed = originator.seal(&read(7, 0x40, 1)).expect("a request");
        assert_eq!(completer.open(&sealed), Ok(read(7, 0x40, 1)));
        // Next counters; that of the stream has started again behind what announced it.
        let counters = [Stream::Requests, Stream::ReadResponses, Stream::WriteResponses].map(|s| originator.counter(s));
        let expected = match kind {
            1 => [2, 3, 4],
            2 => [3, 2, 3],
            _ => [3, 3, 2],
        };
        assert_eq!(counters, expected.map(Some), "{kind}");
    }
}

#[test]
fn it_is_off_by_default() {
    let mut off = end(SecurityConfig::default());
    for plain in samples() {
        assert_eq!(off.seal(&plain), Ok(plain.clone()));
        assert_eq!(off.open(&plain), Ok(plain));
    }
    assert_eq!(off.counter(Stream::Requests), Some(1));
}

/// Without tags the bytes are encrypted all the same; a tag is refused then.
#[test]
fn tags_can_be_left_out_of_encryption_alone() {
    let config = SecurityConfig { tags: false, ..ENCRYPT };
    let (mut from, mut to) = (end(config), end(config));
    for plain in samples() {
        let sealed = from.seal(&plain).expect("a transaction");
        assert_eq!(sealed.auth_tag, 0);
        assert_eq!(to.open(&sealed), Ok(plain));
    }
    let sealed = from.seal(&write_answer(1)).expect("a response");
    assert!(matches!(to.open(&Transfer { auth_tag: 1, ..sealed }), Err(SecurityError::Tag { .. })));
    let alone = SecureEnd::new(SecurityConfig { tags: false, ..AUTHENTICATE }, [key(0), key(1), key(2)]);
    assert_eq!(alone.map(|_| ()), Err(SecurityError::NoTags));
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let (mut from, mut to) = (end(ENCRYPT), end(ENCRYPT));
    let mut sealed = from.seal(&read_answer(1, 2)).expect("a response");
    sealed.poisoned = 2;
    let refused = SecurityError::Poisoned { stream: Stream::ReadResponses, counter: 1, found: 2 };
    assert_eq!(to.open(&sealed), Err(refused));
    let compressed = Transfer::new(ControlField::CompressedMulti(Default::default()));
    assert!(matches!(from.seal(&compressed), Err(SecurityError::Form(_))));
    let wide = Transfer::new(ControlField::Request(TlReq { tag: 2048, ..TlReq::default() }));
    assert!(from.seal(&wide).is_err());
    assert_eq!(from.counter(Stream::Requests), Some(1), "nothing is used up");
}

/// Sealed transactions through TL flits with their tags, and opened.
#[test]
fn tags_travel_in_tl_flits() {
    let codec = UalConfig { authentication: true, ..SHEET };
    for config in with_tags() {
        let (mut from, mut to) = (end(config), end(config));
        let (mut packer, mut unpacker) = (TlPacker::new(codec), TlUnpacker::new(codec, CompressionRole::ToSwitch));
        for plain in samples() {
            packer.push(from.seal(&plain).expect("a transaction")).expect("a transfer");
        }
        let flits = std::iter::from_fn(|| packer.pack());
        let arrived: Vec<_> = flits.flat_map(|flit| unpacker.read(&flit).delivered).collect();
        let opened: Vec<_> = arrived.iter().map(|t| to.open(t).expect("untouched")).collect();
        assert_eq!(opened, samples());
    }
}
