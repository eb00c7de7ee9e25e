//! Ends of links whose numbers, replays and acknowledgements are followed event by event: those of 256B flits, of UALink and of NVLink.
//!
//! Modelled: the state machines of the ends of every run, one side of an end by itself. Detail: flits carry nothing but their numbers.
//! Left out: the other side, whose flits are the events.

use super::machine::{Figure, number, said};
use scalepool_link::cxl256::config::LinkConfig as Cxl256LinkConfig;
use scalepool_link::cxl256::receiver::Receiver as Cxl256Receiver;
use scalepool_link::cxl256::transmitter::{Heard, Transmitter as Cxl256Transmitter};
use scalepool_link::nvlink::config::LinkConfig as NvlLinkConfig;
use scalepool_link::nvlink::receiver::Receiver as NvlReceiver;
use scalepool_link::nvlink::transmitter::{NvlTransmitOutcome, Transmitter as NvlTransmitter};
use scalepool_link::ualink::replay::{Head, Replay, ReplayConfig, Says};
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::LAST;
use scalepool_protocols::nvlink::{NvlConfig, NvlHeader, Op, Packet};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::field::{TlCreq, TlReq};
use scalepool_protocols::ualink::half::TlFlit;
use scalepool_protocols::ualink::unpack::TlUnpacker;
use scalepool_protocols::wire::Wire;

/// Flits of a handshake of the numbers of 256B flits, and a few more.
const HANDSHAKE_FLITS: usize = 24;
/// Acks of the peer in that handshake.
const HANDSHAKE_ACKS: usize = 3;
/// A time-out of NVLink that is short, so that several fit in a case \[flit clocks\].
const NVL_TIMEOUT_FLITS: u32 = 10;

/// A yes or no.
fn flag(name: &'static str, value: bool) -> Figure {
    Figure { name, value: value.into(), said: if value { "yes" } else { "no" }.to_owned() }
}

/// Events, `EVENT*N` being the same one so many times, `EVENT:N` one with a number. `None`: one of them is not known.
fn each<E>(words: &[&str], end: &mut E, act: fn(&mut E, &str, u16) -> Option<Vec<Figure>>) -> Option<Vec<Vec<Figure>>> {
    let mut answers = Vec::new();
    for word in words {
        let (event, times) = word.split_once('*').unwrap_or((word, "1"));
        let (event, argument) = event.split_once(':').unwrap_or((event, "0"));
        for _ in 0..times.parse::<usize>().ok()? {
            answers.push(act(end, event, argument.parse().ok()?)?);
        }
    }
    (!answers.is_empty()).then_some(answers)
}

// ---- 256B flits ------------------------------------------------------------------------------------------------------

fn flit256(flit_type: FlitType, prior: bool, command: ReplayCommand, seq: u16) -> Option<Cxl256Flit> {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type, prior, command, seq, ..FlitHeader::default() }).ok()?;
    Some(flit)
}

struct Sender256 {
    link: Cxl256LinkConfig,
    sender: Cxl256Transmitter,
    receiver: Cxl256Receiver,
    heard: Heard,
}

/// The sending side of an end of 256B flits, whose numbers are agreed: `new` payload, `again` of a replay, `flit` of any kind goes out,
/// `ack:N`, `nak:N` and `one:N`, a selective Nak, come in, `clock`.
pub(super) fn sender256(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let link = Cxl256LinkConfig::default();
    let receiver = Cxl256Receiver::new(link.selective_nak, link.doubt_implied);
    let mut end = Sender256 { link, sender: Cxl256Transmitter::default(), receiver, heard: Heard::Fine };
    let idle = flit256(FlitType::Nop, false, ReplayCommand::Explicit, 0)?;
    for _ in 0..HANDSHAKE_ACKS {
        end.sender.heard(ReplayCommand::Ack, LAST, &end.link);
    }
    for _ in 0..HANDSHAKE_FLITS {
        end.sender.header(&idle, &mut end.receiver, &end.link);
    }
    each(words, &mut end, |end, event, n| {
        let payload = flit256(FlitType::Cachemem, false, ReplayCommand::Explicit, 0)?;
        match event {
            "new" => end.sender.keep(payload),
            "again" => drop(end.sender.next_replayed(false)),
            "flit" => drop(end.sender.header(&payload, &mut end.receiver, &end.link)),
            "ack" => end.heard = end.sender.heard(ReplayCommand::Ack, n, &end.link),
            "nak" => end.heard = end.sender.heard(ReplayCommand::NakStandard, n, &end.link),
            "one" => end.heard = end.sender.heard(ReplayCommand::NakSelective, n, &end.link),
            "clock" => end.heard = end.sender.clock(&end.link),
            _ => return None,
        }
        let (value, said) = match end.heard {
            Heard::Fine => (0, "goes on"),
            Heard::Replay => (1, "replays"),
            Heard::Train => (2, "has to be trained"),
            Heard::OutOfWindow => (3, "has a number that was never sent"),
        };
        Some(vec![
            Figure { name: "link", value, said: said.to_owned() },
            flag("replaying", end.sender.replaying()),
            number("replays without progress", end.sender.tries().into()),
            number("unacknowledged flits", end.sender.unacknowledged() as u64),
        ])
    })
}

/// The receiving side of an end of 256B flits that asks for a single loss alone: `payload:N` and `nop:N` state their number, `lost_nop:N` is a
/// NOP behind a payload, `bad` cannot be repaired, `sent` is a flit with the Nak that is due.
pub(super) fn receiver256(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut end: Cxl256Receiver = Cxl256Receiver::new(true, true);
    each(words, &mut end, |end, event, n| {
        let flit = match event {
            "payload" => flit256(FlitType::Cachemem, true, ReplayCommand::Explicit, n)?,
            "nop" => flit256(FlitType::Nop, false, ReplayCommand::Explicit, n)?,
            "lost_nop" => flit256(FlitType::Nop, true, ReplayCommand::Explicit, n)?,
            "bad" | "sent" => Cxl256Flit::ZERO,
            _ => return None,
        };
        match event {
            "bad" => end.bad(),
            "sent" => drop(end.nak_command_sent()),
            _ => end.good(flit).ok()?,
        }
        let is_single = end.nak_command() == ReplayCommand::NakSelective;
        let (value, said) = match (end.nak_open, is_single) {
            (false, _) => (0, "none"),
            (true, false) => (1, "standard"),
            (true, true) => (2, "selective"),
        };
        Some(vec![
            Figure { name: "Nak", value, said: said.to_owned() },
            number("number that is due", end.expected.into()),
            number("duplicates", end.duplicates),
            number("flits ahead", end.ahead),
        ])
    })
}

// ---- UALink ----------------------------------------------------------------------------------------------------------

/// An end of UALink: `new` payload or nothing, `idle`, goes out; `flit:N` and `again:N`, a replayed one, state their number, `next` and
/// `held` state it in part, with and without payload, `ack:N` and `ask:N`, a Replay Request, come in, `bad` has a bad CRC.
pub(super) fn ualink(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut end = (Replay::<()>::new(ReplayConfig::default()), 0);
    each(words, &mut end, |(end, header), event, n| {
        let own_low = |number: u16| (number % 8) as u8;
        let last = end.last_taken();
        let head = match event {
            "new" | "idle" => {
                let sent = end.transmit(|| (event == "new").then_some(()));
                *header = match sent.head.says {
                    Says::Number { .. } => 0,
                    Says::Ack { .. } => 1,
                    Says::Request { .. } => 2,
                };
                None
            }
            "flit" | "again" => {
                Some(Head { payload: true, says: Says::Number { number: n, replayed: event == "again" } })
            }
            "next" | "held" => {
                let payload = event == "next";
                let own_low = own_low(if payload { last + 1 } else { last });
                Some(Head { payload, says: Says::Ack { number: end.last_acknowledged(), own_low } })
            }
            "ack" => Some(Head { payload: false, says: Says::Ack { number: n, own_low: own_low(last) } }),
            "ask" => Some(Head { payload: false, says: Says::Request { number: n, own_low: own_low(last) } }),
            "bad" => None,
            _ => return None,
        };
        if !["new", "idle"].contains(&event) {
            end.receive(head);
        }
        let names = ["a number in full", "an Ack", "a Replay Request"];
        Some(vec![
            number("last flit taken", end.last_taken().into()),
            number("unacknowledged flits", end.unacknowledged() as u64),
            number("replays", end.stats().replays),
            number("times that it asked for a replay", end.stats().asked),
            flag("waits for a replay", end.is_waiting()),
            number("unexpected flits", end.unexpected().into()),
            flag("numbers are ambiguous", end.is_ambiguous()),
            Figure { name: "header", value: *header as u64, said: names[*header].to_owned() },
        ])
    })
}

/// The address cache of a receiver of UALink: `destination` or `source`, by which its rows go, then fields of a Control half, `/` between two
/// halves: `load:SRC:DST:REGION`, a request that loads a region of 1 MB into way 0, and `hit:SRC:DST`, a compressed one to byte 0x40 of it.
pub(super) fn address_cache(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (rows, fields) = words.split_first()?;
    let role = match *rows {
        "destination" => CompressionRole::ToSwitch,
        "source" => CompressionRole::FromSwitch,
        _ => return None,
    };
    let mut unpacker = TlUnpacker::new(UalConfig::SHEET, role);
    let mut address = None;
    for half in fields.split(|word| *word == "/") {
        let mut writer = Writer::default();
        let mut hit_at = None;
        for (n, field) in half.iter().enumerate() {
            let words: Vec<&str> = field.split(':').collect();
            let id = |word: &str| word.parse::<u16>().ok();
            let field = match words.as_slice() {
                ["load", src, dst, region] => {
                    let (src, dst, address) = (id(src)?, id(dst)?, u64::from(id(region)?) << 20);
                    let whole = TlReq { cmd: ReqCmd::Read, len: 15, attr: 0xff, cload: true, ..TlReq::default() };
                    ControlField::Request(TlReq { src, dst, address, ..whole })
                }
                ["hit", src, dst] => {
                    hit_at = Some(n);
                    let (src, dst) = (id(src)?, id(dst)?);
                    ControlField::CompressedRequest(TlCreq { src, dst, address: 0x40, ..TlCreq::default() })
                }
                _ => return None,
            };
            writer.put(&field).ok().filter(|has_room| *has_room)?;
        }
        let read = unpacker.read(&TlFlit { halves: [writer.half(), [0; 32]], ..TlFlit::default() });
        let hit = hit_at.and_then(|n| read.delivered.get(n));
        address = hit.and_then(|transfer| transfer.address.get()).or(address);
    }
    let shown = address.map_or_else(|| "none".to_owned(), |address| format!("{address:#x}"));
    Some(vec![vec![said("address of the compressed request", address.unwrap_or(0), shown)]])
}

// ---- NVLink ----------------------------------------------------------------------------------------------------------

/// A packet of a header alone, with a CRC that fits.
fn packet(op: Op, ackid: u16, len: u8, payload: &[u128]) -> Option<u128> {
    let header = NvlHeader { op, ackid, len, ..NvlHeader::default() }.to_bits().ok()?;
    let crc = NvlConfig::default().crc_of(payload, header);
    NvlHeader { crc, ..NvlHeader::from_bits(header) }.to_bits().ok()
}

struct SenderNvl {
    link: NvlLinkConfig,
    sender: NvlTransmitter,
    outcome: NvlTransmitOutcome,
}

/// The sending side of an end of NVLink: `new` packet of one flit, `init`, a REPLAY_INIT, and `again` go out, `ack:N` comes in, `clock`.
pub(super) fn sender_nvl(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let link = NvlLinkConfig { timeout_flits: NVL_TIMEOUT_FLITS, ..NvlLinkConfig::default() };
    let mut end = SenderNvl { link, sender: NvlTransmitter::default(), outcome: NvlTransmitOutcome::Fine };
    each(words, &mut end, |end, event, n| {
        match event {
            "new" => end.sender.keep(Packet::new(&[packet(Op::RSP_DONE, 0, 0, &[])?]).ok()?),
            "init" => drop(end.sender.next_init()),
            "again" => drop(end.sender.next_again()),
            "ack" => end.outcome = end.sender.ack(n, &end.link),
            "clock" => end.outcome = end.sender.clock(&end.link),
            _ => return None,
        }
        let (value, said) = match end.outcome {
            NvlTransmitOutcome::Fine => (0, "goes on"),
            NvlTransmitOutcome::Replay => (1, "replays"),
            NvlTransmitOutcome::Down => (2, "is down"),
            NvlTransmitOutcome::Wrong => (3, "has an acknowledgement of nothing"),
        };
        Some(vec![
            Figure { name: "link", value, said: said.to_owned() },
            flag("a new packet may go", end.sender.has_room(1, &end.link)),
            number("unacknowledged flits", end.sender.unacknowledged_flits() as u64),
            number("replays without progress", end.sender.tries().into()),
        ])
    })
}

/// The receiving side of an end of NVLink: `packet` of one flit, `idle`, `long`, a packet with one flit of payload, `bad`, a header with a
/// bad CRC, `init:N`, a REPLAY_INIT with an identifier.
pub(super) fn receiver_nvl(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut end = NvlReceiver::new(NvlConfig::default());
    each(words, &mut end, |end, event, n| {
        let covered = end.payload().to_vec();
        let header = match event {
            "packet" | "bad" => packet(Op::RSP_DONE, 0, 0, &covered)?,
            "idle" => packet(Op::IDLE, 0, 0, &covered)?,
            "long" => packet(Op::RSP_DONE, 0, 1, &covered)?,
            "init" => packet(Op::REPLAY_INIT, n, 0, &[])?,
            _ => return None,
        };
        // The lowest bit of a header is one of its CRC or is covered by it.
        end.flit(if event == "bad" { header ^ 1 } else { header });
        if event == "long" {
            end.flit(0);
        }
        Some(vec![number("last flit accepted", end.accepted().into()), flag("waits for REPLAY_INIT", end.is_hunting())])
    })
}
