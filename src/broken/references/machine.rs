//! References that are asked, and what they answer.

use super::{books, bridge, checks, ends, fabric, flash, io_switch, memory, switch};
use crate::CaseError;
use scalepool_arbiter::{AgeBased, Arbiter, Matrix, Requests, RoundRobin, StrictPriority, WeightedRoundRobin};
use scalepool_link::cxl68::CreditBook;
use scalepool_link::cxl68::retry::{Local, LocalRetry, Remote, RemoteTrigger, Trigger};
use scalepool_link::ualink::state::{Arrived, Fault, LinkState, Sends, State};
use scalepool_memory::decoder::{Arithmetic, Interleave};
use scalepool_memory::dram::mapping::{DramMap, DramMapping};
use scalepool_memory::dram::preset;
use scalepool_memory::ecc::line::{EccOutcome, EccScheme, LineCells, LineEcc, OnDieEcc};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::ualink::header::seq_of_low_bits;

/// A value of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    /// As a number, for the wave.
    pub(super) value: u64,
    /// In words.
    pub(super) said: String,
}

pub(super) fn number(name: &'static str, value: u64) -> Figure {
    Figure { name, value, said: value.to_string() }
}

/// A value with its words.
pub(super) fn said(name: &'static str, value: u64, said: impl Into<String>) -> Figure {
    Figure { name, value, said: said.into() }
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reference {
    /// The local retry state machine of `cxl-68b`, by its triggers.
    Lrsm,
    /// The remote one: `Req`, `AckSent`, `PhyDown`.
    Rrsm,
    /// The state of a UALink: `local`, `remote`, `none` as a fault below, `hold`, `enable`, `sent`, `flit`, `control`, `spoilt`.
    LinkState,
    /// Targets and addresses of a window: `WAYS GRANULARITY ARITHMETIC BASE ADDRESS OFFSET`, the size being 4 GiB; `ROOT/WAYS` for several
    /// levels.
    Window,
    /// A line of memory with wrong cells: `SCHEME ON_DIE BIT..`, the codes of the controller and of the die and the bits that flip.
    Ecc,
    /// The place of an address in a DRAM: `PRESET ORDER INTERLEAVE XOR ADDRESS`.
    DramMap,
    /// Grants of an arbiter of four, slot by slot: its name, with the guard or the weights behind it, then who asks in each slot, `-` for
    /// nobody; of `age` since when each has asked, `-` for not at all.
    Arbiter,
    /// Credits of a host with 68B flits: `BITS SENDS`, the bits of its counters and whether it sends on CXL.mem alone (`mem`) or on all
    /// channels, then `code:N` for a code of request credits that it gets, `freed:N` for buffers that are free again, `header` for one that it sends.
    Credits,
    /// The number of a UALink flit of which the low three bits are known: `LAST LOW PAYLOAD`.
    LowBits,
    /// One of [`NAMED`].
    Named(&'static NamedReference),
    /// One side of an end, whose events [`ends`] names.
    End(&'static str, EndAnswers),
}

/// A reference by its name: what it is called, and what it answers to the words of a case; the files say what they mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedReference {
    pub(super) name: &'static str,
    /// What its words are, the last one of all that follow.
    pub(super) words: &'static [&'static str],
    pub(super) answers: fn(&[&str]) -> Option<Vec<Vec<Figure>>>,
}

/// The references of switches, fabrics and memories.
static NAMED: [NamedReference; 35] = [
    NamedReference { name: "resets", words: &["reset of"], answers: switch::resets },
    NamedReference { name: "viral", words: &["viral of"], answers: switch::viral },
    NamedReference { name: "errors", words: &["port", "error", "logical device"], answers: switch::errors },
    NamedReference { name: "shared_port", words: &["then"], answers: switch::shared_port },
    NamedReference {
        name: "unordered",
        words: &["from", "address", "bytes", "UIO of the decoder"],
        answers: switch::unordered,
    },
    NamedReference { name: "unordered_device", words: &["address", "bytes"], answers: switch::unordered_device },
    NamedReference { name: "vppb", words: &["vPPB", "devices of the bus"], answers: switch::vppb_numbers },
    NamedReference { name: "islip", words: &["pairs of the slot"], answers: switch::allocator },
    NamedReference {
        name: "crossbar",
        words: &["asked", "cycles", "speed-up", "stuck output and class", "message by input, output and class"],
        answers: switch::crossbar,
    },
    NamedReference { name: "io_switch", words: &["from", "TLP"], answers: io_switch::ways },
    NamedReference {
        name: "segments",
        words: &["base", "limit", "size code", "entries", "address"],
        answers: fabric::segments,
    },
    NamedReference { name: "tlp_header", words: &["LD-ID"], answers: fabric::tlp_header },
    NamedReference { name: "completions", words: &["segment", "bus"], answers: fabric::completions },
    NamedReference {
        name: "spread",
        words: &["policy", "mix", "draw", "port, backlog and links"],
        answers: fabric::spread,
    },
    NamedReference {
        name: "device_load",
        words: &["requests in 100 places", "percent of congested samples"],
        answers: fabric::device_load,
    },
    NamedReference { name: "told", words: &["load of the device", "limit", "allocation"], answers: fabric::told },
    NamedReference { name: "allocation", words: &["used", "fractions"], answers: fabric::allocation },
    NamedReference { name: "throttle", words: &["cycle and load"], answers: fabric::throttle },
    NamedReference { name: "isolation", words: &["isolates on", "event"], answers: fabric::isolation },
    NamedReference { name: "isolated_snoop", words: &["line"], answers: fabric::isolated_snoop },
    NamedReference { name: "many_hosts", words: &["address of the", "SPID", "address"], answers: fabric::many_hosts },
    NamedReference { name: "controller", words: &["clocks", "settings", "request"], answers: memory::controller },
    NamedReference { name: "least_clocks", words: &["least", "ps", "MT/s"], answers: memory::least_clocks },
    NamedReference { name: "interval_clocks", words: &["ps", "period in fs"], answers: memory::interval_clocks },
    NamedReference { name: "store", words: &["code", "then"], answers: memory::store },
    NamedReference { name: "patrol", words: &["cycles", "requests"], answers: memory::patrol },
    NamedReference { name: "issue_window", words: &["DevLoad"], answers: bridge::issue_window },
    NamedReference { name: "streams", words: &["blocks that enter", "block"], answers: bridge::streams },
    NamedReference {
        name: "cache",
        words: &["bytes", "ways", "bytes of a block", "policy", "line"],
        answers: bridge::cache,
    },
    NamedReference { name: "conversion", words: &["group", "block", "lines", "epoch"], answers: bridge::conversion },
    NamedReference { name: "check_byte", words: &["word"], answers: memory::check_byte },
    NamedReference { name: "stages", words: &["preset", "without"], answers: switch::stages },
    NamedReference { name: "reset_answer", words: &["agent"], answers: io_switch::reset_answer },
    NamedReference { name: "address_cache", words: &["rows by", "field"], answers: ends::address_cache },
    NamedReference { name: "shares", words: &["skip", "address"], answers: fabric::shares },
];

/// What an end answers to events.
type EndAnswers = fn(&[&str]) -> Option<Vec<Vec<Figure>>>;

impl Reference {
    const ALL: [Reference; 14] = [
        Reference::Lrsm,
        Reference::Rrsm,
        Reference::LinkState,
        Reference::Window,
        Reference::Ecc,
        Reference::DramMap,
        Reference::Arbiter,
        Reference::Credits,
        Reference::LowBits,
        Reference::End("sender256", ends::sender256),
        Reference::End("receiver256", ends::receiver256),
        Reference::End("ualink", ends::ualink),
        Reference::End("sender_nvl", ends::sender_nvl),
        Reference::End("receiver_nvl", ends::receiver_nvl),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Reference::Lrsm => "lrsm",
            Reference::Rrsm => "rrsm",
            Reference::LinkState => "link",
            Reference::Window => "window",
            Reference::Ecc => "ecc",
            Reference::DramMap => "map",
            Reference::Arbiter => "arbiter",
            Reference::Credits => "credits",
            Reference::LowBits => "low_bits",
            Reference::Named(of) => of.name,
            Reference::End(name, _) => name,
        }
    }

    pub(super) fn of_name(name: &str) -> Result<Reference, CaseError> {
        let named = || NAMED.iter().chain(&flash::ALL).chain(&checks::ALL).chain(&books::ALL);
        let all = || Reference::ALL.into_iter().chain(named().map(Reference::Named));
        let found = all().find(|one| one.name() == name);
        let expected = || all().map(Reference::name).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| CaseError::of(format!("found `{name}`, expected one of {}", expected())))
    }

    /// The events of a case as somebody reads them who does not know their order.
    pub(super) fn told(self, events: &str) -> String {
        let names: &[&str] = match self {
            Reference::Window => &["ways", "granularity", "arithmetic", "base", "address", "offset"],
            Reference::Named(of) => of.words,
            _ => return events.to_owned(),
        };
        let mut told = String::new();
        for (n, word) in events.split(' ').filter(|word| !word.is_empty()).enumerate() {
            // All further words are of the last kind.
            match names.get(n) {
                Some(name) if n == 0 => told += &format!("{name} {word}"),
                Some(name) => told += &format!(", {name} {word}"),
                None => told += &format!(" {word}"),
            }
        }
        told
    }

    /// The values behind each event; at least one.
    ///
    /// # Errors
    /// Events that there are not.
    pub(super) fn answers(self, events: &str) -> Result<Vec<Vec<Figure>>, CaseError> {
        let unknown = |event: &str| CaseError::of(format!("found `{event}`, expected an event of {}", self.name()));
        let words = || events.split(' ').filter(|word| !word.is_empty());
        match self {
            Reference::Lrsm => {
                let mut machine = LocalRetry::new();
                let mut answers = vec![lrsm(&machine, true)];
                for word in words() {
                    let trigger = Trigger::ALL.into_iter().find(|trigger| format!("{trigger:?}") == word);
                    let is_used = machine.step(trigger.ok_or_else(|| unknown(word))?);
                    answers.push(lrsm(&machine, is_used));
                }
                Ok(answers)
            }
            Reference::Rrsm => {
                let mut state = Remote::Normal;
                let mut answers = vec![rrsm(state)];
                for word in words() {
                    state = state.step(match word {
                        "Req" => RemoteTrigger::Req { num_retry: 1, eseq: 5 },
                        "AckSent" => RemoteTrigger::AckSent,
                        "PhyDown" => RemoteTrigger::PhyDown,
                        _ => return Err(unknown(word)),
                    });
                    answers.push(rrsm(state));
                }
                Ok(answers)
            }
            Reference::LinkState => {
                let mut state = LinkState::new(0);
                let mut answers = vec![link(&mut state)];
                for word in words() {
                    // `sent*10` is the same event ten times.
                    let (word, times) = word.split_once('*').unwrap_or((word, "1"));
                    for _ in 0..times.parse().map_err(CaseError::of)? {
                        match word {
                            "local" => state.fault(Some(Fault::Local)),
                            "remote" => state.fault(Some(Fault::Remote)),
                            "none" => state.fault(None),
                            "hold" => state.enable(false),
                            "enable" => state.enable(true),
                            "sent" => state.sent(),
                            "flit" => state.received(Arrived::Flit),
                            "control" => state.received(Arrived::Control),
                            "spoilt" => state.leave_up(),
                            _ => return Err(unknown(word)),
                        }
                        answers.push(link(&mut state));
                    }
                }
                Ok(answers)
            }
            Reference::Window => Ok(vec![window(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events))?]),
            Reference::Ecc => Ok(vec![ecc(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events))?]),
            Reference::Arbiter => grants(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events)),
            Reference::Credits => credits(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events)),
            Reference::LowBits => Ok(vec![low_bits(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events))?]),
            Reference::Named(of) => (of.answers)(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events)),
            Reference::End(_, answers) => answers(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events)),
            Reference::DramMap => Ok(vec![dram_place(&words().collect::<Vec<_>>()).ok_or_else(|| unknown(events))?]),
        }
    }
}

fn lrsm(machine: &LocalRetry, is_used: bool) -> Vec<Figure> {
    let (state, num_retry, num_phy_reinit, timeout) = machine.registers();
    let code = Local::ALL.iter().position(|one| *one == state).unwrap_or_default() as u64;
    let said = state.name().to_owned();
    vec![
        Figure { name: "state", value: code, said },
        number("NUM_RETRY", num_retry.into()),
        number("NUM_PHY_REINIT", num_phy_reinit.into()),
        number("TIMEOUT", timeout.into()),
        Figure { name: "flit", value: is_used.into(), said: if is_used { "used" } else { "discarded" }.to_owned() },
    ]
}

fn rrsm(state: Remote) -> Vec<Figure> {
    match state {
        Remote::Normal => {
            vec![Figure { name: "state", value: 0, said: "RETRY_REMOTE_NORMAL".to_owned() }, number("eseq", 0)]
        }
        Remote::LlrAck { eseq, .. } => {
            vec![Figure { name: "state", value: 1, said: "RETRY_LLRACK".to_owned() }, number("eseq", eseq.into())]
        }
    }
}

fn link(machine: &mut LinkState) -> Vec<Figure> {
    let sends = machine.sends();
    let state = machine.state();
    let code = State::ALL.iter().position(|one| *one == state).unwrap_or_default() as u64;
    let (value, said) = match sends {
        Sends::RemoteFault => (0, "remote fault"),
        Sends::Idle => (1, "idle"),
        Sends::Nop => (2, "NOP flits"),
        Sends::Any => (3, "any flits"),
    };
    vec![
        Figure { name: "state", value: code, said: state.name().to_owned() },
        Figure { name: "sends", value, said: said.to_owned() },
    ]
}

/// Bytes of a window.
const WINDOW_BYTES: u64 = 1 << 32;

fn window(words: &[&str]) -> Option<Vec<Figure>> {
    let [ways, granularity, arithmetic, base, address, offset] = words else { return None };
    let parse = |text: &str| scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok());
    let (root, ways) = ways.split_once('/').map_or((None, *ways), |(root, ways)| (Some(root), ways));
    let arithmetic = [Arithmetic::Modulo, Arithmetic::Xor].into_iter().find(|one| one.name() == *arithmetic)?;
    let interleave = Interleave::new(parse(ways)? as usize, parse(granularity)?, arithmetic)?;
    let interleave = match root {
        Some(root) => interleave.over_root(parse(root)? as usize)?,
        None => interleave,
    };
    let (base, address) = (parse(base)?, parse(address)?);
    let is_hit = (base..base + WINDOW_BYTES).contains(&address);
    let share = interleave.share_offset(parse(offset)?);
    Some(vec![
        Figure { name: "window", value: is_hit.into(), said: if is_hit { "hit" } else { "missed" }.to_owned() },
        number("target", interleave.way(address) as u64),
        Figure { name: "device address", value: share, said: format!("{share:#x}") },
    ])
}

/// Bits of a word of a die of DDR.
const DIE_WORD_BITS: usize = 128;
/// Bytes of a line, all of them this, before cells flip.
const LINE: [u8; 64] = [0x5a; 64];

fn ecc(words: &[&str]) -> Option<Vec<Figure>> {
    let [scheme, on_die, bits @ ..] = words else { return None };
    let (scheme, on_die) = (EccScheme::find(scheme)?, OnDieEcc::find(on_die)?);
    let ecc = LineEcc { scheme, on_die, die_word_bits: DIE_WORD_BITS };
    let mut flips = LineCells::default();
    for bit in bits {
        flips.flip(bit.parse().ok()?);
    }
    let (data, outcome) = ecc.decode(&ecc.encode(&LINE).with(&ecc.behind_die(&flips)));
    let wrong = data.iter().zip(LINE).filter(|(found, written)| *found != written).count();
    let (value, said) = match outcome {
        EccOutcome::Good => (0, "good"),
        EccOutcome::Corrected => (1, "corrected"),
        EccOutcome::Uncorrectable => (2, "lost"),
    };
    Some(vec![
        Figure { name: "line", value, said: said.to_owned() },
        Figure { name: "data", value: wrong as u64, said: format!("{wrong} wrong bytes") },
    ])
}

fn dram_place(words: &[&str]) -> Option<Vec<Figure>> {
    let [preset, order, interleave, xor, address] = words else { return None };
    let (organisation, order) = (preset::find(preset)?.organisation, DramMap::find(order)?);
    let mapping = DramMapping::new(order, &organisation, interleave.parse().ok()?, *xor == "on").ok()?;
    let address = scalepool_forms::number::parse(address).and_then(|address| u64::try_from(address).ok())?;
    let place = mapping.place(address);
    let (value, said) = if place.is_some() { (1, "inside the memory") } else { (0, "behind the memory") };
    let at = place.unwrap_or_default();
    Some(vec![
        Figure { name: "address", value, said: said.to_owned() },
        number("channel", at.channel.into()),
        number("rank", at.rank.into()),
        number("group", at.group.into()),
        number("bank", at.bank.into()),
        number("row", at.row.into()),
        number("column", at.column.into()),
    ])
}

/// Requesters of an arbiter.
const REQUESTERS: usize = 4;

fn grants(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (name, slots) = words.split_first()?;
    let (name, given) = name.split_once(':').unwrap_or((name, ""));
    let numbers = |text: &str| text.split(',').map(|number| number.parse().ok()).collect::<Vec<Option<u64>>>();
    let granted = |granted: Option<usize>| match granted {
        Some(to) => vec![number("grant", to as u64)],
        None => vec![Figure { name: "grant", value: REQUESTERS as u64, said: "none".to_owned() }],
    };
    if name == "age" {
        let mut arbiter = AgeBased::new(REQUESTERS).ok()?;
        let grant = |slot: &&str| {
            let to = arbiter.arbitrate(&numbers(slot));
            to.into_iter().for_each(|to| arbiter.update(to));
            granted(to)
        };
        return Some(slots.iter().map(grant).collect());
    }
    let mut arbiter: Box<dyn Arbiter> = match name {
        "round-robin" => Box::new(RoundRobin::new(REQUESTERS).ok()?),
        "matrix" => Box::new(Matrix::new(REQUESTERS).ok()?),
        "weighted" => {
            let weights = numbers(given).into_iter().map(|weight| u16::try_from(weight?).ok());
            Box::new(WeightedRoundRobin::new(&weights.collect::<Option<Vec<u16>>>()?).ok()?)
        }
        "priority" => Box::new(StrictPriority::new(REQUESTERS, given.parse().ok()).ok()?),
        _ => return None,
    };
    let mut answers = Vec::new();
    for slot in slots {
        let mut requests = Requests::NONE;
        slot.chars().filter_map(|digit| digit.to_digit(10)).for_each(|one| requests.insert(one as usize));
        let to = arbiter.arbitrate(&requests);
        to.into_iter().for_each(|to| arbiter.update(&requests, to));
        answers.push(granted(to));
    }
    Some(answers)
}

fn credits(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [bits, sends, events @ ..] = words else { return None };
    let mut can_send = [*sends == "all"; 10];
    can_send[Class::M2sReq.index()] = true;
    let mut book = CreditBook::new(Dir::Down, bits.parse().ok()?, can_send, [0; 10]);
    let (mut answers, mut returned) = (Vec::new(), 0);
    for event in events {
        match event.split_once(':').unwrap_or((event, "0")) {
            ("code", code) => book.receive([0, code.parse().ok()?, 0]),
            ("freed", count) => (0..count.parse().ok()?).for_each(|_: u16| book.freed(Class::S2mNdr)),
            ("header", _) => returned = book.take().0[0],
            _ => return None,
        }
        answers.push(vec![
            number("M2S Req credits", book.spend[Class::M2sReq.index()].into()),
            number("H2D Req credits", book.spend[Class::H2dReq.index()].into()),
            number("code of NDR credits", returned.into()),
        ]);
    }
    Some(answers)
}

fn low_bits(words: &[&str]) -> Option<Vec<Figure>> {
    let [last, low, payload] = words else { return None };
    let seq = seq_of_low_bits(last.parse().ok()?, low.parse().ok()?, *payload == "payload");
    Some(vec![number("sequence number", seq.into())])
}
