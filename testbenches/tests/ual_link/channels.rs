//! Channels and their negotiation (`ualink` §6).

use super::rig::*;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, Hooks};
use scalepool_protocols::ualink::segment::Unpacker;
use std::sync::{Arc, Mutex};

const TL_ON: u8 = 8 | TL_CHANNEL;
const TL_OFF: u8 = TL_CHANNEL;

/// An end that does not ask for anything by itself.
fn passive() -> EndConfig {
    EndConfig { opens_channels: false, ..configs()[0] }
}

fn is_online(solo: &Solo) -> bool {
    solo.end.messages.channels().is_online(TL_CHANNEL)
}

/// Negotiation messages that the end sent since the last call.
fn said(solo: &mut Solo) -> Vec<(ChannelCommand, u8)> {
    let channels = solo.take_words().into_iter().filter(|&w| def_of(w).is_some_and(|d| d.name == DlChannel::DEF.name));
    channels.map(|w| DlChannel::from_bits(w.into())).map(|c| (c.command, c.target)).collect()
}

#[test]
fn ual_chn_01_p() {
    let mut solo = Solo::up(passive(), 100);
    for channel in 0..8 {
        assert!(!solo.end.messages.channels().is_online(channel), "channel {channel}");
    }
    solo.end.messages.uart().send(1);
    solo.pass(20);
    assert_eq!((solo.tl_sent, solo.words.len()), (0, 0), "nothing goes");
}

#[test]
fn ual_chn_01_n() {
    let mut solo = Solo::up(passive(), 0);
    solo.deliver(&[], &[numbered(0)]);
    assert_eq!((solo.end.client.taken, solo.end.stats().tl_discarded), (0, 1));
    assert_eq!(solo.rules(), [""; 0], "silently");
}

#[test]
fn ual_chn_02_p() {
    let mut solo = Solo::online(passive(), 1_000_000);
    solo.pass(5);
    solo.exchange(&[channel(ChannelCommand::Request, TL_OFF)]);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Ack, TL_OFF)]);
    solo.exchange(&[]);
    assert!(!is_online(&solo));
    let sent = solo.tl_sent;
    solo.pass(20);
    assert_eq!(solo.tl_sent, sent, "nothing starts");
    solo.deliver(&[], &[numbered(0)]);
    assert_eq!((solo.end.client.taken, solo.end.stats().tl_discarded), (0, 1));
}

/// A payload as hooks see it: segment headers, then sectors.
fn payload_of(bytes: &[u8]) -> Payload {
    let mut payload = Payload::ZERO;
    let (headers, sectors) = bytes.split_at(payload.headers.len());
    payload.headers.copy_from_slice(headers);
    payload.sectors.as_flattened_mut().copy_from_slice(sectors);
    payload
}

#[test]
fn ual_chn_02_n() {
    // A client that gets what the end has not handed on.
    let client = Arc::new(Mutex::new(Numbers::default()));
    let (hooks, gets, mut unpacker) = (Hooks::new(), client.clone(), Unpacker::default());
    let handed_on = move |item: &HookItem<'_>| {
        let cut = unpacker.read(&payload_of(item.bytes));
        cut.finished.iter().chain(&cut.started).filter(|piece| piece.is_whole()).for_each(|piece| {
            gets.lock().expect("no panic").receive(&piece.flit, item.now_flits);
        });
        HookAnswer::Keep
    };
    hooks.attach(HookPoint::PackerIn, Direction::Rx, handed_on).expect("no hook runs");
    let mut solo = Solo::up(passive(), 0);
    solo.end.attach_hooks(&hooks);
    solo.deliver(&[], &[numbered(0)]);
    let taken = client.lock().expect("no panic").taken;
    assert_eq!(taken, 1, "the scoreboard sees a TL flit of a channel that is offline");
    assert_eq!(solo.end.client.taken, 0);
}

#[test]
fn ual_chn_03_p() {
    let mut solo = Solo::online(passive(), 0);
    solo.exchange(&[channel(ChannelCommand::Request, TL_ON)]);
    solo.pass(3);
    assert_eq!((said(&mut solo), solo.rules()), (vec![(ChannelCommand::Ack, TL_ON)], vec!["UAL-CHN-03"]));
    solo.exchange(&[channel(ChannelCommand::Ack, TL_ON)]);
    assert!(is_online(&solo) && solo.rules().is_empty());
}

#[test]
fn ual_chn_03_n() {
    let mut solo = Solo::online(passive(), 0);
    solo.end.messages.negotiate(TL_CHANNEL, true);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Nack, TL_ON)]);
    assert_eq!(solo.rules(), ["UAL-CHN-03"]);
    assert!(is_online(&solo));
}

#[test]
fn ual_chn_04_p() {
    let mut solo = Solo::online(passive(), 0);
    solo.end.messages.decide_later(true);
    solo.exchange(&[channel(ChannelCommand::Request, TL_OFF)]);
    solo.exchange(&[]);
    assert_eq!(said(&mut solo), [(ChannelCommand::Ack, TL_OFF)], "even by one that decides later");
    solo.exchange(&[channel(ChannelCommand::Ack, TL_OFF)]);
    assert!(!is_online(&solo) && solo.rules().is_empty());
}

#[test]
fn ual_chn_04_n() {
    for answer in [ChannelCommand::Nack, ChannelCommand::Pending] {
        let mut solo = Solo::online(passive(), 0);
        solo.end.messages.negotiate(TL_CHANNEL, false);
        solo.exchange(&[]);
        solo.exchange(&[channel(answer, TL_OFF)]);
        assert_eq!(solo.rules(), ["UAL-CHN-04"]);
        assert!(is_online(&solo));
    }
}

#[test]
fn ual_chn_05_p() {
    // An end that decides later says so, and asks by itself.
    let mut solo = Solo::up(passive(), 0);
    solo.end.messages.decide_later(true);
    solo.exchange(&[channel(ChannelCommand::Request, TL_ON)]);
    solo.exchange(&[]);
    assert_eq!(said(&mut solo), [(ChannelCommand::Pending, TL_ON)]);
    solo.end.messages.negotiate(TL_CHANNEL, true);
    solo.exchange(&[]);
    assert_eq!(said(&mut solo), [(ChannelCommand::Request, TL_ON)]);
    solo.exchange(&[channel(ChannelCommand::Ack, TL_ON)]);
    solo.exchange(&[]);
    assert_eq!((said(&mut solo), is_online(&solo)), (vec![(ChannelCommand::Ack, TL_ON)], true));
    // A peer that decides later, in 10 ms.
    let mut solo = Solo::up(passive(), 0);
    solo.end.messages.negotiate(TL_CHANNEL, true);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Pending, TL_ON)]);
    solo.pass(3);
    solo.now += TEN_MS_FLITS - 10;
    solo.exchange(&[channel(ChannelCommand::Request, TL_ON)]);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Ack, TL_ON)]);
    assert!(is_online(&solo) && solo.rules().is_empty());
}

#[test]
fn ual_chn_05_n() {
    let mut solo = Solo::up(passive(), 0);
    solo.end.messages.negotiate(TL_CHANNEL, true);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Pending, TL_ON)]);
    solo.now += TEN_MS_FLITS + 1;
    solo.exchange(&[]);
    assert_eq!((solo.rules(), is_online(&solo)), (vec!["UAL-CHN-05"], false));
    // No is no answer to a request to go online.
    solo.end.messages.negotiate(TL_CHANNEL, true);
    solo.exchange(&[]);
    solo.exchange(&[channel(ChannelCommand::Nack, TL_ON)]);
    assert_eq!(solo.rules(), ["UAL-CHN-05"]);
}

#[test]
fn ual_chn_06_p() {
    for nibble in [TL_ON, 8 | UART_CHANNEL] {
        let online = |solo: &Solo| solo.end.messages.channels().is_online(nibble & 7);
        // The end answers: the confirmation changes its state, the Ack does not.
        let mut solo = Solo::up(passive(), 0);
        solo.exchange(&[channel(ChannelCommand::Request, nibble)]);
        solo.exchange(&[]);
        assert_eq!((said(&mut solo), online(&solo)), (vec![(ChannelCommand::Ack, nibble)], false));
        solo.exchange(&[channel(ChannelCommand::Ack, nibble)]);
        assert!(online(&solo));
        // The end asks: the Ack changes its state, and it confirms before it sends anything.
        let mut solo = Solo::up(passive(), 100);
        solo.end.messages.negotiate(nibble & 7, true);
        solo.end.messages.ask_device_id();
        solo.exchange(&[]);
        assert_eq!(said(&mut solo), [(ChannelCommand::Request, nibble)]);
        solo.exchange(&[channel(ChannelCommand::Ack, nibble)]);
        assert!(online(&solo) && solo.tl_sent == 0);
        solo.exchange(&[]);
        assert_eq!((said(&mut solo), solo.rules()), (vec![(ChannelCommand::Ack, nibble)], vec![]));
    }
}

#[test]
fn ual_chn_06_n() {
    // The confirmation is lost: the state stays, and the end asks by itself.
    let mut solo = Solo::up(passive(), 0);
    solo.exchange(&[channel(ChannelCommand::Request, TL_ON)]);
    solo.exchange(&[]);
    said(&mut solo);
    solo.pass(MICROSECOND_FLITS - 5);
    assert!(!is_online(&solo) && said(&mut solo).is_empty());
    solo.pass(10);
    assert_eq!((is_online(&solo), said(&mut solo)), (false, vec![(ChannelCommand::Request, TL_ON)]));
    solo.exchange(&[channel(ChannelCommand::Ack, TL_ON)]);
    assert!(is_online(&solo));
    // An Ack that nobody waits for.
    solo.exchange(&[channel(ChannelCommand::Ack, TL_OFF)]);
    assert_eq!((solo.rules(), is_online(&solo)), (vec!["UAL-CHN-06"], true));
}
