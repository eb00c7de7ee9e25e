//! The UART stream (`ualink` §6).

use super::rig::*;

fn credit(data_fc_seq: u16) -> u32 {
    word(&UartCredit { data_fc_seq, ..UartCredit::default() })
}

fn header(dwords: u8) -> u32 {
    word(&UartTransport { length: dwords - 1, ..UartTransport::default() })
}

fn is<W: Wire>(word: u32) -> bool {
    def_of(word).is_some_and(|d| d.name == W::DEF.name)
}

/// An end with both channels online that has told its credit.
fn ready() -> Solo {
    let mut solo = Solo::online(configs()[0], 0);
    solo.pass(10);
    solo.take_words();
    solo
}

/// DWords that an end with credit sends, and nothing else.
fn sent(solo: &mut Solo, flits: u64) -> Vec<u32> {
    solo.pass(flits);
    solo.take_words()
}

#[test]
fn ual_urt_01_p() {
    // Twice around the counters, in both directions.
    let mut pair = pair_of(configs(), [0, 0]);
    rest(&mut pair, 400);
    const DWORDS: u32 = 9000;
    for n in 0..DWORDS {
        pair.ends_mut().into_iter().for_each(|end| end.messages.uart().send(n));
    }
    let mut got = [0, 0];
    while got != [DWORDS; 2] {
        assert!(pair.wires.now() < 20_000);
        pair.step();
        for (end, got) in pair.ends_mut().into_iter().zip(&mut got) {
            while let Some(dword) = end.messages.uart().take() {
                assert_eq!(dword, *got);
                *got += 1;
            }
        }
    }
    assert_eq!(events(&mut pair), []);
    // Credit is a difference: 4090 sent and 2 told are 8 more.
    let mut solo = ready();
    (0..5000).for_each(|n| solo.end.messages.uart().send(n));
    solo.exchange(&[credit(4090)]);
    let first = sent(&mut solo, 1000);
    assert_eq!(first.len(), 4090 + 4090_usize.div_ceil(32));
    solo.exchange(&[credit(2)]);
    let second = sent(&mut solo, 20);
    assert_eq!((second.len(), second[0]), (9, header(8)));
}

#[test]
fn ual_urt_01_n() {
    // The end has a buffer of 128; the peer sends 4 × 32 and one more.
    let mut solo = ready();
    for _ in 0..4 {
        solo.exchange(&[header(32), 0, 1, 2, 3]);
        (0..7).for_each(|k| solo.exchange(&[4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]));
    }
    assert_eq!(solo.rules(), [""; 0]);
    solo.exchange(&[header(1), 77]);
    assert_eq!(solo.rules(), ["UAL-URT-01"]);
    // And an end without credit sends nothing.
    let mut solo = ready();
    solo.end.messages.uart().send(1);
    assert!(sent(&mut solo, 20).is_empty());
    solo.exchange(&[credit(0)]);
    assert!(sent(&mut solo, 20).is_empty());
}

#[test]
fn ual_urt_02_p() {
    let mut solo = Solo::online(configs()[0], 0);
    solo.exchange(&[]);
    let first: Vec<u32> = solo.words.iter().map(|w| w.1).filter(|&w| is::<UartCredit>(w)).collect();
    let mut all = Solo::up(EndConfig { opens_channels: false, ..configs()[0] }, 0);
    all.exchange(&[channel(ChannelCommand::Request, 8 | UART_CHANNEL)]);
    all.exchange(&[]);
    all.take_words();
    all.exchange(&[channel(ChannelCommand::Ack, 8 | UART_CHANNEL)]);
    all.exchange(&[]);
    assert_eq!((first.len(), all.take_words()), (0, vec![credit(128)]), "at once, and once");
    all.pass(20);
    assert!(all.take_words().is_empty(), "it has not grown");
    // The peer sends 8 DWords, which are read one a flit time: an update every fourth flit at most.
    all.exchange(&[header(8), 0, 1, 2, 3]);
    all.exchange(&[4, 5, 6, 7]);
    all.words.clear();
    for _ in 0..30 {
        all.end.messages.uart().take();
        all.exchange(&[]);
    }
    let times: Vec<u64> = all.words.iter().map(|w| w.0).collect();
    assert!(times.windows(2).all(|w| w[1] - w[0] >= 4), "{times:?}");
    assert_eq!((all.words.last().map(|w| w.1), all.rules()), (Some(credit(136)), vec![]));
}

#[test]
fn ual_urt_02_n() {
    let mut solo = ready();
    for n in 1..4 {
        solo.exchange(&[credit(128 + n)]);
    }
    let events = solo.end.take_events();
    assert!(events.iter().all(|e| e.severity == Severity::Corrected), "a lint");
    assert_eq!(events.iter().map(|e| e.violation.rule).collect::<Vec<_>>(), ["UAL-URT-02"; 2]);
}

#[test]
fn ual_urt_03_p() {
    // min(available, queued, 32), whatever is the smallest.
    for (available, queued, expected) in [(128, 100, 32), (128, 5, 5), (3, 100, 3), (33, 33, 32), (1, 1, 1)] {
        let mut solo = ready();
        (0..queued).for_each(|n| solo.end.messages.uart().send(n));
        solo.exchange(&[credit(available)]);
        let words = sent(&mut solo, 60);
        assert_eq!(words[0], header(expected), "{available} credits, {queued} queued");
        let payload = u32::from(available).min(queued);
        assert_eq!(words.len() as u32, payload + payload.div_ceil(32));
    }
}

#[test]
fn ual_urt_03_n() {
    let long = UartTransport { length: 32, ..UartTransport::default() };
    assert!(long.to_bits().is_err(), "33 DWords do not fit the field");
    // A length that is not kept shifts everything behind it: the last DWord is read as a message.
    let mut solo = ready();
    solo.exchange(&[header(2), 10, 11, 0xffff_ffff]);
    assert_eq!((solo.rules(), solo.end.messages.uart().take()), (vec!["UAL-MSG-01"], Some(10)));
}

#[test]
fn ual_urt_04_p() {
    let mut solo = ready();
    (0..32).for_each(|n| solo.end.messages.uart().send(1000 + n));
    solo.exchange(&[
        credit(32),
        word(&DeviceId::default()),
        channel(ChannelCommand::Request, 8),
        word(&PortNumber::default()),
    ]);
    let words = sent(&mut solo, 30);
    let first = words.iter().position(|&w| w == header(32)).expect("a message");
    assert_eq!(words[first + 1..first + 33], (1000..1032).collect::<Vec<u32>>(), "over seven flits, nothing between");
    let mut solo = ready();
    solo.exchange(&[header(12), 0, 1, 2, 3]);
    solo.exchange(&[4, 5, 6, 7]);
    solo.pass(3);
    solo.exchange(&[8, 9, 10, 11]);
    let got: Vec<u32> = std::iter::from_fn(|| solo.end.messages.uart().take()).collect();
    assert_eq!((got, solo.rules()), ((0..12).collect(), vec![]), "over flits, with NOPs between");
}

#[test]
fn ual_urt_04_n() {
    // A Rate message in the middle is taken for payload; what it pushed out is judged as a message.
    let mut solo = ready();
    let rate = word(&TlRate { rate: MIN_RATE, ..TlRate::default() });
    solo.exchange(&[header(3), 10, rate, 11, 0xdead_bee1]);
    let got: Vec<u32> = std::iter::from_fn(|| solo.end.messages.uart().take()).collect();
    assert_eq!((got, solo.rules()), (vec![10, rate, 11], vec!["UAL-MSG-01"]));
    assert_eq!(solo.end.messages.rates_50khz()[1], NOMINAL_RATE, "and no rate changes");
}

#[test]
fn ual_urt_05_p() {
    let mut solo = ready();
    solo.end.messages.uart().send(1);
    solo.end.messages.uart().start_reset();
    let words = sent(&mut solo, 20);
    assert!(words[..40].iter().all(|&w| is::<NoOp>(w)) && is::<UartResetReq>(words[40]));
    assert_eq!(words.len(), 41);
    solo.exchange(&[word(&UartResetRsp::default())]);
    assert!(!solo.end.messages.uart().is_resetting());
    assert_eq!((sent(&mut solo, 5), solo.rules()), (vec![credit(128)], vec![]), "credit anew, at once");
    // The other side answers, and begins anew.
    let mut solo = ready();
    solo.exchange(&[header(2), 1, 2]);
    solo.exchange(&[word(&UartResetReq::default())]);
    let words = sent(&mut solo, 5);
    assert!(is::<UartResetRsp>(words[0]) && words[1] == credit(128));
    assert_eq!(solo.end.messages.uart().take(), None);
}

/// A request that comes while a message goes out: the message ends first, for its receiver still counts its DWords.
#[test]
fn ual_urt_05_p2() {
    let mut solo = ready();
    (0..40).for_each(|n| solo.end.messages.uart().send(n));
    solo.exchange(&[credit(128)]);
    let begun = sent(&mut solo, 2);
    assert!(begun[0] == header(32) && begun.len() < 20, "{begun:?}");
    solo.exchange(&[word(&UartResetReq::default())]);
    let words = [begun, sent(&mut solo, 20)].concat();
    let message = [header(32)].into_iter().chain(0..32);
    let answer = [word(&UartResetRsp::default()), credit(128)];
    assert_eq!(words, message.chain(answer).collect::<Vec<_>>(), "what was queued behind the message is lost");
    // Two ends in traffic, at every phase of their messages; in the end the stream works.
    for start in 0..24 {
        let mut pair = pair_of(configs(), [0, 0]);
        rest(&mut pair, 400);
        (0..200).for_each(|n| pair.ends_mut().into_iter().for_each(|end| end.messages.uart().send(n)));
        (0..start).for_each(|_| pair.step());
        pair.host.messages.uart().start_reset();
        (0..200).for_each(|_| pair.step());
        assert!(!pair.host.messages.uart().is_resetting(), "begun in flit {start}");
        assert_eq!(events(&mut pair), []);
    }
}

/// Stream 0 is the only one: messages of others are told and change nothing, and their DWords are no messages.
#[test]
fn messages_of_other_uart_streams_are_passed_over() {
    for stream in 1..8 {
        let mut solo = ready();
        solo.exchange(&[credit(100)]);
        let rate = word(&TlRate { rate: MIN_RATE, ..TlRate::default() });
        let others = [
            word(&UartCredit { stream, data_fc_seq: 2000, ..UartCredit::default() }),
            word(&UartResetReq { stream, ..UartResetReq::default() }),
            word(&UartResetRsp { stream, ..UartResetRsp::default() }),
            word(&UartTransport { stream, length: 1, ..UartTransport::default() }),
        ];
        solo.exchange(&others);
        solo.exchange(&[5, rate, header(1), 6]);
        assert_eq!(solo.rules(), ["UAL-MSG-09", "UAL-MSG-10", "UAL-MSG-11", "UAL-MSG-08"], "stream {stream}");
        let got: Vec<u32> = std::iter::from_fn(|| solo.end.messages.uart().take()).collect();
        assert_eq!((got, solo.end.messages.rates_50khz()[1]), (vec![6], NOMINAL_RATE), "stream {stream}");
        // DWords that look like No-Ops.
        (0..200).for_each(|n| solo.end.messages.uart().send(n << 16));
        let words = sent(&mut solo, 100);
        assert_eq!(words.iter().filter(|&&word| is::<UartTransport>(word)).count(), 4, "100 DWords of credit");
        assert!(!words.iter().any(|&word| is::<UartResetRsp>(word)));
    }
    // A reset of all streams is one of this one.
    let mut solo = ready();
    solo.exchange(&[word(&UartResetReq { stream: 5, all: true, ..UartResetReq::default() })]);
    assert!(is::<UartResetRsp>(sent(&mut solo, 5)[0]));
    // A peer that has not reset the stream is asked again.
    solo.end.messages.uart().start_reset();
    sent(&mut solo, 20);
    solo.exchange(&[word(&UartResetRsp { status: 3, ..UartResetRsp::default() })]);
    assert_eq!((solo.rules(), solo.end.messages.uart().is_resetting()), (vec!["UAL-URT-05"], true));
}

/// Both ends ask for a reset at once: each answers the other and takes its own response.
#[test]
fn ual_urt_05_p3() {
    let mut pair = pair_of(configs(), [0, 0]);
    rest(&mut pair, 400);
    pair.ends_mut().into_iter().for_each(|end| end.messages.uart().start_reset());
    (0..200).for_each(|_| pair.step());
    assert!(pair.ends_mut().into_iter().all(|end| !end.messages.uart().is_resetting()));
    pair.ends_mut().into_iter().for_each(|end| end.messages.uart().send(7));
    (0..100).for_each(|_| pair.step());
    let got: Vec<_> = pair.ends_mut().into_iter().map(|end| end.messages.uart().take()).collect();
    assert_eq!((got, events(&mut pair)), (vec![Some(7); 2], vec![]));
}

#[test]
fn ual_urt_05_n() {
    let mut solo = ready();
    solo.end.messages.uart().start_reset();
    assert_eq!(sent(&mut solo, 20).len(), 41);
    solo.now += TEN_MS_FLITS - 50;
    assert!(sent(&mut solo, 10).is_empty());
    solo.now += 60;
    let words = sent(&mut solo, 20);
    assert!(words.len() == 41 && is::<UartResetReq>(words[40]), "without a response it is repeated");
    // A response that nobody asked for.
    let mut solo = ready();
    solo.exchange(&[word(&UartResetRsp::default())]);
    assert_eq!(solo.rules(), ["UAL-URT-05"]);
}
