//! Books of an end: credits of NVLink, the retry buffer of 68B flits, where flits with 256 bytes begin to count.
//!
//! Modelled: the books of the ends of every run, entry by entry. Left out: what the entries are for.

use super::machine::{Figure, NamedReference, number, said};
use scalepool_link::cxl68::retry::{RetryBuffer, Stored};
use scalepool_link::cxl256::config::LinkConfig;
use scalepool_link::cxl256::receiver::Receiver;
use scalepool_link::cxl256::transmitter::Transmitter;
use scalepool_link::nvlink::config::Buffers;
use scalepool_link::nvlink::credit::CreditBook;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::nvlink::code::Vc;
use scalepool_protocols::nvlink::{NvlHeader, Op};

/// All of them.
pub(super) static ALL: [NamedReference; 3] = [
    NamedReference { name: "nvl_credits", words: &["event"], answers: nvl_credits },
    NamedReference { name: "retry_buffer", words: &["entries", "event"], answers: retry_buffer },
    NamedReference { name: "first_numbers", words: &["behind"], answers: first_numbers },
];

/// Credits of one end and channel: `init:HEADERS:DATA`, a CREDIT_INIT of the peer, `sends:DATA`, a packet with so many data flits.
fn nvl_credits(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let vc = Vc::RSP0;
    let mut book = CreditBook::new(Buffers::of_default_channels(2, 8));
    let mut answers = Vec::new();
    for word in words {
        let parts: Vec<&str> = word.split(':').collect();
        let count = |n: usize| parts.get(n)?.parse::<u16>().ok();
        let is_taken = match parts[0] {
            "init" => {
                let (crh, crd) = (count(1)? as u8, count(2)? as u8);
                book.heard(&NvlHeader { op: Op::CREDIT_INIT, crvc: vc, crh, crd, ..NvlHeader::default() })
            }
            "sends" => book.spend(vc, count(1)?),
            _ => return None,
        };
        let left = book.available(vc);
        answers.push(vec![
            said("event", is_taken.into(), if is_taken { "has its credits" } else { "has no credit" }),
            number("header credits", left.headers),
            number("data credits", left.data_flits),
        ]);
    }
    (!answers.is_empty()).then_some(answers)
}

/// A retry buffer: `store`, `replay`, `again:N`, a replay from number N on.
fn retry_buffer(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (entries, events) = words.split_first()?;
    let mut buffer: RetryBuffer<()> = RetryBuffer::new(entries.parse().ok().filter(|n| (22..=255).contains(n))?);
    let mut answers = Vec::new();
    for event in events {
        let (event, times) = event.split_once('*').unwrap_or((event, "1"));
        let (event, of) = event.split_once(':').unwrap_or((event, "0"));
        for _ in 0..times.parse::<u16>().ok()? {
            match event {
                "store" => buffer.store(Stored { unit: (), rollover_after: 0, acks: 0 }),
                "replay" => drop(buffer.replay()),
                "again" => buffer.rewind(of.parse().ok()?),
                _ => return None,
            }
            answers.push(vec![
                number("WrPtr", buffer.wr_ptr().into()),
                number("RdPtr", buffer.rd_ptr().into()),
                number("NumFreeBuf", buffer.num_free().into()),
                said(
                    "next flit",
                    buffer.replaying().into(),
                    if buffer.replaying() { "a replayed one" } else { "a new one" },
                ),
            ]);
        }
    }
    (!answers.is_empty()).then_some(answers)
}

/// The numbers with which an end of 256B flits begins: behind `reset`, or behind as many flits as `kept:N` says.
fn first_numbers(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [behind] = words else { return None };
    let link = LinkConfig::default();
    let mut sender: Transmitter<Cxl256Flit> = Transmitter::default();
    let receiver: Receiver<Cxl256Flit> = Receiver::new(link.selective_nak, link.doubt_implied);
    if let Some(flits) = behind.strip_prefix("kept:") {
        (0..flits.parse::<u16>().ok()?.min(16)).for_each(|_| sender.keep(Cxl256Flit::ZERO));
    } else if *behind != "reset" {
        return None;
    }
    Some(vec![vec![
        number("next number", sender.next_number().into()),
        number("last acknowledged number", sender.acknowledged().into()),
        number("number that is due", receiver.expected.into()),
    ]])
}
