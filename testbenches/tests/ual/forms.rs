//! JSON forms: any bytes come back, answers wait for the rest of a TL flit, objects are packed or refused.

use super::common::*;
use scalepool::forms::flit_ual::{UalFlitAnswer, UalFlitDecoder, UalFlitEncoder};
use scalepool_protocols::cxl::Dir;
use scalepool_testbenches::legal::Random;
use serde_json::{Value, json};

fn forms(answers: Vec<UalFlitAnswer>) -> Vec<Value> {
    answers.into_iter().map(|a| a.expect("an object").0).collect()
}

/// Objects of a stream.
fn decode(flits: &[DlFlit]) -> Vec<Value> {
    let mut decoder = UalFlitDecoder::new(Dir::Down);
    let mut answers: Vec<_> = flits.iter().flat_map(|flit| decoder.read(flit)).collect();
    answers.extend(decoder.finish());
    forms(answers)
}

/// Objects to completed objects.
fn encode(objects: &[Value]) -> Vec<UalFlitAnswer> {
    let mut encoder = UalFlitEncoder::new(Some(Dir::Down));
    let mut answers: Vec<_> = objects.iter().flat_map(|form| encoder.encode(form)).collect();
    answers.extend(encoder.finish());
    answers
}

/// As `flit encode` gets it: without what is computed, the CRC forced to what was found.
fn stripped(form: &Value) -> Value {
    let mut form = form.clone();
    let object = form.as_object_mut().expect("an object");
    let found = object["crc"]["found"].clone();
    for key in ["hex", "violations"] {
        object.remove(key);
    }
    object.insert("crc".into(), json!({ "force": found }));
    form
}

/// The hex of an object.
fn hex(form: &Value) -> String {
    form["hex"].as_str().expect("a string").to_owned()
}

#[track_caller]
fn comes_back(flits: &[DlFlit]) {
    let objects = decode(flits);
    assert_eq!(objects.len(), flits.len());
    let asked: Vec<_> = objects.iter().map(stripped).collect();
    let again = forms(encode(&asked));
    for (n, flit) in flits.iter().enumerate() {
        assert_eq!(hex(&objects[n]), format!("{flit:?}"));
        assert_eq!(hex(&again[n]), format!("{flit:?}"), "flit {n}");
        assert_eq!(again[n]["tl_flits"], objects[n]["tl_flits"], "flit {n}");
    }
}

/// Flits of random transfers.
fn legal_stream(random: &mut Random, flits: usize) -> Vec<DlFlit> {
    let mut tl = TlPacker::new(SHEET);
    let mut packer = segment::Packer::default();
    (0..flits)
        .map(|n| {
            let mut offers = Offers::default();
            for place in offers.tl.iter_mut().flatten() {
                let beats = 1 + random.below(4) as u8;
                let field = match random.below(3) {
                    0 => ControlField::Request(request(ReqCmd::Write, 3, beats)),
                    1 => ControlField::Response(response(RdWr::Read, 4, beats)),
                    _ => ControlField::Request(request(ReqCmd::Read, 5, beats)),
                };
                if tl.waiting() < 4 {
                    tl.push(transfer(field, n as u8, &SHEET)).expect("legal");
                }
                *place = tl.pack().filter(|_| n + 2 < flits);
            }
            flit(explicit(1 + n as u16), &packer.pack(&mut offers))
        })
        .collect()
}

#[test]
fn any_bytes_come_back() {
    let mut random = Random::new(1);
    for run in 0..20 {
        let mut flits: Vec<DlFlit> = (0..20).map(|_| DlFlit(random.bytes())).collect();
        if run % 2 == 0 {
            flits.iter_mut().for_each(|flit| flit.seal(&SHEET));
        }
        comes_back(&flits);
    }
}

#[test]
fn damaged_streams_come_back() {
    let mut random = Random::new(2);
    for run in 0..30 {
        let mut flits = legal_stream(&mut random, 12);
        for _ in 0..random.below(8) {
            let (n, bit) = (random.below(flits.len()), random.below(5120));
            flits[n].0[bit / 8] ^= 1 << (bit % 8);
            if run % 2 == 0 {
                flits[n].seal(&SHEET);
            }
        }
        comes_back(&flits);
    }
}

/// The answer to a flit whose last TL flit goes on waits for the next payload flit, over NOPs and bad flits.
#[test]
fn an_answer_waits_for_the_rest() {
    let mut packer = segment::Packer::default();
    let mut offers = Offers::default();
    let written = control(&[ControlField::Request(request(ReqCmd::WriteFull, 1, 1))]);
    offers.tl[4][1] = Some(tl(written, [0x55; 32]));
    let begins = flit(explicit(1), &packer.pack(&mut offers));
    let ends = flit(explicit(2), &packer.pack(&mut Offers::default()));
    let mut bad = ends;
    bad.0[300] ^= 1;

    let mut decoder = UalFlitDecoder::new(Dir::Down);
    assert!(decoder.read(&begins).is_empty());
    assert!(decoder.read(&flit(nop(1), &Payload::ZERO)).is_empty());
    assert!(decoder.read(&bad).is_empty());
    let answers = forms(decoder.read(&ends));
    assert_eq!(answers.iter().map(|a| a["index"].as_u64()).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
    let tl = &answers[0]["tl_flits"][0];
    assert_eq!(tl["upper"], json!({"kind": "data", "hex": "55".repeat(32)}));
    assert_eq!(tl["lower"]["messages"][0]["fields"]["cmd"], "WriteFull");
    assert_eq!(answers[2]["crc"]["ok"], false);
    assert_eq!(answers[3]["tl_flits"], json!([]));

    // At the end of the input it is answered as it is.
    let mut decoder = UalFlitDecoder::new(Dir::Down);
    assert!(decoder.read(&begins).is_empty());
    let answers = forms(decoder.finish());
    let incomplete = &answers[0]["tl_flits"][0];
    assert_eq!(incomplete["incomplete"], true);
    assert_eq!(incomplete["upper"]["hex"].as_str().map(str::len), Some(2 * 4 * 6));
}

/// Thousands of NOPs do not pile up: the flit that waits is answered, and the rest shows where it comes.
#[test]
fn an_answer_does_not_wait_for_ever() {
    let mut packer = segment::Packer::default();
    let mut offers = Offers::default();
    offers.tl[4][1] = Some(TlFlit::default());
    let mut decoder = UalFlitDecoder::new(Dir::Down);
    assert!(decoder.read(&flit(explicit(1), &packer.pack(&mut offers))).is_empty());
    let idle = flit(nop(1), &Payload::ZERO);
    let mut answers: Vec<UalFlitAnswer> = (0..5000).flat_map(|_| decoder.read(&idle)).collect();
    answers.extend(decoder.read(&flit(explicit(2), &packer.pack(&mut Offers::default()))));
    assert!(decoder.finish().is_empty());
    let forms = forms(answers);
    assert_eq!(forms.len(), 5002);
    assert_eq!(forms[0]["tl_flits"][0]["incomplete"], true);
    assert_eq!(forms[5001]["tl_flits"][0]["upper"]["kind"], "nop");
}

/// Objects without segments are packed; what is left over goes into the next one.
#[test]
fn objects_are_packed() {
    let write = json!({"layout": "ualink.tl_req", "fields": {"cmd": "WriteFull", "len": 15, "tag": 9, "address": 64}});
    let first = json!({
        "header": {"seq": 1},
        "messages": [{"layout": "ualink.dl_tl_rate", "fields": {"rate": 31250}}],
        "tl_flits": [
            {"segment": 4, "place": 1, "lower": {"messages": [write]}, "upper": {"kind": "data", "hex": "11".repeat(32)}},
        ],
    });
    let second = json!({
        "header": {"op": "Ack", "ack_req_seq": 4, "seq_lo": 2},
        "tl_flits": [{"lower": {}, "upper": {"kind": "data", "hex": "22".repeat(32)}}],
    });
    let nop = json!({"kind": "nop", "header": {"seq": 2}});
    let answers = encode(&[first, second, nop]);
    for answer in &answers {
        let (form, findings) = answer.as_ref().expect("an object");
        assert_eq!(findings.violations, [], "{form}");
    }
    let forms = forms(answers);
    assert_eq!(forms.iter().map(|f| f["kind"].as_str()).collect::<Vec<_>>(), ["protocol", "protocol", "nop"].map(Some));
    assert_eq!(forms[0]["messages"][0]["fields"]["rate"], 31250);
    assert_eq!(forms[0]["tl_flits"][0]["lower"]["messages"][0]["fields"]["tag"], 9);
    assert_eq!(forms[1]["tl_flits"][0]["upper"]["kind"], "data");
    let stripped: Vec<_> = forms.iter().map(stripped).collect();
    let again = self::forms(encode(&stripped));
    assert_eq!(again.iter().map(hex).collect::<Vec<_>>(), forms.iter().map(hex).collect::<Vec<_>>());
}

#[test]
fn wrong_objects_are_refused_in_their_order() {
    let half = json!({"hex": "00"});
    let cases = [
        (json!([]), "flit: found [], expected an object"),
        (json!({"x": 1}), "flit: found key `x`"),
        (json!({"kind": "idle"}), "kind: found \"idle\", expected `protocol` or `nop`"),
        (json!({"protocol": "nvlink"}), "protocol: found \"nvlink\", expected ualink"),
        (json!({"kind": "nop", "header": {"payload": 1}}), "header.payload: found 1, expected the one of `kind`"),
        (json!({"header": {"seq": 512}}), "header: ualink.fh_explicit: field `seq` at bits 16:8: found 0x200"),
        (json!({"segments": [{"segment": 5}]}), "segments[0].segment: found 5, expected 0 to 4"),
        (
            json!({"segments": [{"segment": 1}, {"segment": 1}]}),
            "segments[1].segment: found 1, expected each segment once",
        ),
        (json!({"segments": [{"segment": 4, "data": "00"}]}), "segments[0].data: found 1 bytes, expected 120 bytes"),
        (json!({"tl_flits": [{"lower": half}]}), "tl_flits[0].lower.hex: found 1 bytes, expected 32 bytes"),
        (json!({"tl_flits": vec![json!({}); 11]}), "tl_flits: found 1 that find no place"),
        (json!({"messages": vec![json!({"layout": "ualink.dl_noop"}); 6]}), "messages: found 1 that find no place"),
        (json!({"messages": [{"layout": "ualink.tl_fc"}]}), "messages[0]: found ualink.tl_fc, expected a DL message"),
        (json!({"kind": "nop", "messages": [{"layout": "ualink.dl_noop"}]}), "flit: found messages or TL flits"),
        (json!({"crc": {"force": "0x100000000"}}), "crc.force: found \"0x100000000\", expected at most 0xffffffff"),
        (
            json!({"tl_flits": [{"lower": {"messages": vec![json!({"layout": "ualink.tl_req"}); 3]}}]}),
            "tl_flits[0].lower.messages[2]: found no room for ualink.tl_req, expected 4 free sectors",
        ),
    ];
    for (object, expected) in &cases {
        let answers = encode(&[json!({"header": {"seq": 1}}), object.clone(), json!({"header": {"seq": 2}})]);
        assert_eq!(answers.len(), 3);
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{object}");
        let error = answers[1].as_ref().expect_err("refused").to_string();
        assert!(error.starts_with(expected), "{object}: {error}");
    }
}

/// §7: no flit has the number 0, acknowledges it or asks for it; a receiver drops one that does, so that the stream goes
/// on behind it as if it had not come.
#[test]
fn number_zero_is_named_and_the_flit_dropped() {
    let write = json!({"layout": "ualink.tl_req", "fields": {"cmd": "WriteFull", "len": 15, "tag": 9, "address": 64}});
    let zero = [
        (json!({"seq": 0}), "UAL-SEQ-01"),
        (json!({"op": "Replayed", "seq": 0}), "UAL-SEQ-01"),
        (json!({"op": "Ack", "ack_req_seq": 0}), "UAL-RXR-03"),
        (json!({"op": "ReplayRequest", "ack_req_seq": 0}), "UAL-RXR-03"),
    ];
    for (header, rule) in zero {
        let wrong = json!({"header": header, "tl_flits": [{"lower": {"messages": [write]}}]});
        let answers = encode(&[wrong, json!({"tl_flits": [{}]})]);
        let found: Vec<Vec<_>> = answers
            .iter()
            .map(|a| a.as_ref().expect("an object").1.violations.iter().map(|v| (v.rule, v.at.to_string())).collect())
            .collect();
        assert_eq!(found, [vec![(rule, "byte 625".to_owned())], vec![]], "{header}");
    }
    let nop = encode(&[json!({"kind": "nop", "header": {"seq": 0}})]);
    assert_eq!(nop[0].as_ref().expect("an object").1.violations[0].rule, "UAL-SEQ-01");
}

/// What an object does not say is the first legal number of a stream, and no stream begins with a broken rule.
#[test]
fn numbers_that_an_object_leaves_out() {
    let cases = [
        (json!({}), json!([1, null, null])),
        (json!({"kind": "nop"}), json!([511, null, null])),
        (json!({"header": {"op": "Replayed"}}), json!([1, null, null])),
        (json!({"header": {"op": "Ack"}}), json!([null, 1, 511])),
        (json!({"kind": "nop", "header": {"op": "Ack"}}), json!([null, 7, 511])),
        (json!({"header": {"ack_req_seq": 3}}), json!([null, 1, 3])),
        (json!({"header": {"op": "ReplayRequest"}}), json!([null, 1, 1])),
        (json!({"header": {"seq": 5}}), json!([5, null, null])),
    ];
    for (object, numbers) in cases {
        let answers = encode(std::slice::from_ref(&object));
        let (form, findings) = answers[0].as_ref().expect("an object");
        let header = &form["header"];
        assert_eq!(json!([header["seq"], header["seq_lo"], header["ack_req_seq"]]), numbers, "{object}");
        assert_eq!(findings.violations, [], "{object}");
    }
}
