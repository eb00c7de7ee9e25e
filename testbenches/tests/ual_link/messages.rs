//! Answers, turns of the classes, TL rate (`ualink` §6).

use super::rig::*;

fn id_request() -> u32 {
    word(&DeviceId::default())
}

#[test]
fn ual_msg_13_p() {
    // Each request is answered with the next flit.
    let mut solo = Solo::online(configs()[0], 0);
    let requests = [id_request(), word(&PortNumber::default()), word(&TlRate { rate: MIN_RATE, ..TlRate::default() })];
    solo.exchange(&requests);
    solo.exchange(&[channel(ChannelCommand::Request, 8)]);
    solo.exchange(&[word(&UartResetReq::default())]);
    solo.exchange(&[]);
    let last = solo.now;
    assert!(solo.words.iter().all(|&(at, _)| at + MICROSECOND_FLITS >= last));
    let words: Vec<u32> = solo.words.iter().map(|&(_, w)| w).collect();
    let device = DeviceId::from_bits(words[0].into());
    assert_eq!((device.ack, device.valid, device.id, device.device_type), (true, true, 5, DeviceType::Accelerator));
    let port = PortNumber::from_bits(words[1].into());
    assert_eq!((port.ack, port.valid, port.port), (true, true, 0));
    assert!(TlRate::from_bits(words[2].into()).ack);
    assert_eq!(DlChannel::from_bits(words[3].into()).command, ChannelCommand::Ack);
    assert!(words.iter().any(|&w| def_of(w).is_some_and(|d| d.name == UartResetRsp::DEF.name)));
    // An answer after just 1 us is in time.
    let mut solo = Solo::online(configs()[0], 0);
    solo.end.messages.ask_device_id();
    solo.transmit();
    solo.now += MICROSECOND_FLITS - 3;
    solo.exchange(&[word(&DeviceId { ack: true, valid: true, id: 9, ..DeviceId::default() })]);
    solo.exchange(&[]);
    assert_eq!(solo.rules(), [""; 0]);
    assert_eq!(solo.end.messages.peer().device, Some((DeviceType::Switch, Some(9))));
}

#[test]
fn ual_msg_13_n() {
    type Ask = fn(&mut Solo);
    let asks: [Ask; 4] = [
        |s| s.end.messages.ask_device_id(),
        |s| s.end.messages.ask_port_number(),
        |s| s.end.messages.change_rate(MIN_RATE).expect("an accelerator"),
        |s| s.end.messages.negotiate(TL_CHANNEL, false),
    ];
    for ask in asks {
        let mut solo = Solo::online(configs()[0], 0);
        ask(&mut solo);
        solo.pass(MICROSECOND_FLITS);
        assert_eq!((solo.rules(), solo.take_words().len()), (vec![], 1));
        solo.pass(3);
        assert_eq!((solo.rules(), solo.take_words().len()), (vec!["UAL-MSG-13"], 1), "late, and asked again");
    }
    // An answer without request.
    let mut solo = Solo::online(configs()[0], 0);
    solo.exchange(&[word(&PortNumber { ack: true, ..PortNumber::default() })]);
    assert_eq!(solo.rules(), ["UAL-MSG-13"]);
}

/// Three busy classes: the turns of an end, B basic, C control, U UART.
fn turns(config: EndConfig) -> String {
    let mut solo = Solo::online(config, 0);
    solo.exchange(&[word(&UartCredit { data_fc_seq: 128, ..UartCredit::default() })]);
    solo.pass(10);
    solo.take_words();
    (0..96).for_each(|n| solo.end.messages.uart().send(n));
    let control = channel(ChannelCommand::Request, 8 | TL_CHANNEL);
    for _ in 0..30 {
        solo.exchange(&[id_request(), control, id_request(), control]);
    }
    let (mut turns, mut payload) = (String::new(), 0);
    for word in solo.take_words() {
        if payload > 0 {
            payload -= 1;
            continue;
        }
        let def = def_of(word).expect("a message");
        if def.name == UartTransport::DEF.name {
            payload = UartTransport::from_bits(word.into()).length + 1;
        }
        turns.push(match MsgClass((word >> 2 & 0xf) as u8) {
            MsgClass::Basic => 'B',
            MsgClass::Uart => 'U',
            _ => 'C',
        });
    }
    turns
}

#[test]
fn ual_msg_14_p() {
    let turns = turns(configs()[0]);
    assert!(turns.starts_with("UBCUBCUBCBC") || turns.starts_with("UCBUCBUCBCB"), "{turns}");
    // Within a class: answers do not hold requests back.
    let mut solo = Solo::online(configs()[0], 0);
    solo.end.messages.ask_port_number();
    solo.deliver(&[id_request(); 5], &[]);
    solo.exchange(&[]);
    let words = solo.take_words();
    let port = words.iter().position(|&w| def_of(w).is_some_and(|d| d.name == PortNumber::DEF.name));
    assert!(port.is_some_and(|n| n <= 1), "{words:x?}");
}

#[test]
fn ual_msg_14_n() {
    // An end that always asks its UART first starves the others, and the peer's deadline tells; one that asks in turn does not.
    let mut configs = configs();
    configs[1].uart_buffer_dwords = 4000;
    let mut pair = pair_of(configs, [0, 0]);
    rest(&mut pair, 400);
    (0..40_000).for_each(|n| pair.host.messages.uart().send(n));
    (0..40).for_each(|_| pair.step());
    pair.device.messages.ask_device_id();
    for _ in 0..2 * MICROSECOND_FLITS {
        pair.step();
        while pair.device.messages.uart().take().is_some() {}
    }
    assert!(pair.device.take_events().into_iter().all(|e| e.violation.rule != "UAL-MSG-13"));
    // The peer has 32 DWords for the UART in every message, and nothing else to say.
    let mut solo = Solo::online(configs[1], 0);
    solo.end.messages.ask_device_id();
    let mut words = (0..).flat_map(|n: u32| {
        let transport = UartTransport { length: 31, ..UartTransport::default() };
        std::iter::once(word(&transport)).chain((0..32).map(move |k| 32 * n + k))
    });
    for _ in 0..2 * MICROSECOND_FLITS {
        let uart: Vec<u32> = words.by_ref().take(5).collect();
        solo.exchange(&uart);
        while solo.end.messages.uart().take().is_some() {}
    }
    let rules = solo.rules();
    assert_eq!(rules, ["UAL-MSG-13"]);
}

fn rate(rate: u16) -> u32 {
    word(&TlRate { rate, ..TlRate::default() })
}

#[test]
fn ual_rte_01_p() {
    let mut solo = Solo::online(configs()[0], 0);
    solo.end.messages.change_rate(20_000).expect("an accelerator");
    for expected in [MIN_RATE, 20_000] {
        solo.exchange(&[]);
        let words = solo.take_words();
        assert_eq!(TlRate::from_bits(words[0].into()).rate, expected);
        assert_ne!(solo.end.messages.rates_50khz()[0], expected, "it holds when it is acknowledged");
        solo.exchange(&[word(&TlRate { ack: true, ..TlRate::default() })]);
        assert_eq!(solo.end.messages.rates_50khz()[0], expected);
    }
    // The other side: by way of the lowest, answered with the next flit, and TL flits keep to it.
    let mut solo = Solo::online(configs()[1], 1_000_000);
    solo.exchange(&[rate(MIN_RATE)]);
    solo.exchange(&[]);
    assert!(solo.take_words().iter().any(|&w| TlRate::from_bits(w.into()).ack));
    let (sent, from) = (solo.end.stats().tl_sent, solo.now);
    solo.pass(50);
    assert_eq!(solo.end.stats().tl_sent - sent, solo.now - from, "one a flit time at a tenth of 1562.5 MHz");
    solo.exchange(&[rate(NOMINAL_RATE)]);
    assert_eq!((solo.rules(), solo.end.messages.rates_50khz()), (vec![], [NOMINAL_RATE; 2]));
}

#[test]
fn ual_rte_01_n() {
    let mut solo = Solo::online(configs()[1], 0);
    solo.exchange(&[rate(20_000)]);
    assert_eq!(solo.rules(), ["UAL-RTE-01"]);
    let range = |rate: u16| solo.end.messages.clone().change_rate(rate);
    for found in [0, MIN_RATE - 1, NOMINAL_RATE + 1, u16::MAX] {
        assert_eq!(range(found), Ok(()).and(Err(RateError::Switch)), "a switch says no to any");
        let mut accelerator = Solo::online(configs()[0], 0);
        assert_eq!(accelerator.end.messages.change_rate(found), Err(RateError::Range { found }));
    }
}

#[test]
fn ual_rte_02_p() {
    let mut pair = pair_of(configs(), [0, 0]);
    rest(&mut pair, 400);
    pair.host.messages.change_rate(MIN_RATE).expect("an accelerator");
    rest(&mut pair, 400);
    assert_eq!(pair.device.messages.rates_50khz(), [NOMINAL_RATE, MIN_RATE]);
    assert_eq!(events(&mut pair), []);
}

#[test]
fn ual_rte_02_n() {
    let mut solo = Solo::online(configs()[0], 0);
    solo.exchange(&[rate(MIN_RATE)]);
    assert_eq!(solo.rules(), ["UAL-RTE-02"]);
    let mut switch = Solo::online(configs()[1], 0);
    assert_eq!(switch.end.messages.change_rate(MIN_RATE), Err(RateError::Switch));
}

/// A peer that asks in every segment for a long time: the end answers, and what waits stays few.
#[test]
fn questions_without_end() {
    let mut solo = Solo::online(configs()[0], 0);
    for _ in 0..300 {
        solo.exchange(&[id_request(), id_request(), id_request(), channel(ChannelCommand::Request, 8), id_request()]);
    }
    solo.words.clear();
    solo.pass(3);
    assert!(solo.words.len() <= 2, "{} answers were left", solo.words.len());
}
