//! DL messages of UALink that an end gets from a wrong peer, judged by the end.
//!
//! Modelled: one end as in every run, and a peer that takes all flits in order, acknowledges them and says what the case has. The wave has
//! the messages of both, a nanosecond a flit time; time begins when the link is up, and both channels are online where a case needs them.
//! Left out: TL flits, and flits that are lost or damaged but for one that the peer spoils on purpose.
//!
//! A walk: the end asks to bring channel 0 offline, and the peer answers Pending, which only a request to go online may have: UAL-CHN-04.

use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::message_to_json;
use scalepool_inspect::told::fields;
use scalepool_link::event::LinkEvent;
use scalepool_link::ualink::client::Client;
use scalepool_link::ualink::line::{LaneRate, UalLine, UalWidth};
use scalepool_link::ualink::messages::{MIN_RATE, TL_CHANNEL, UART_CHANNEL};
use scalepool_link::ualink::{EndConfig, OnLine, UalEnd};
use scalepool_protocols::ualink::code::{ChannelCommand, FlitOp};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::{DlFlit, Payload};
use scalepool_protocols::ualink::half::TlFlit;
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, UalHeader};
use scalepool_protocols::ualink::message::{self, DlChannel, TlRate, UartCredit, UartResetRsp, UartTransport};
use scalepool_protocols::ualink::segment::{Packer, SegmentPlace, SegmentSource, Unpacker};
use scalepool_protocols::ualink::sequence;
use scalepool_protocols::wire::{Violation, Wire};
use scalepool_trace::TimeAxis;
use std::sync::Arc;

/// The line of both ends.
const LINE: UalLine = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 4 };
/// Flit times in which a link comes up.
const UP_FLITS: usize = 10;
/// Flits of which one states its number in full.
const EXPLICIT_FLITS: u8 = 7;
/// DWords that the end keeps of the UART, fewer than a message may have.
const UART_DWORDS: u16 = 4;
/// A rate that is neither the lowest one nor behind it, in units of 50 kHz.
const OTHER_RATE: u16 = 20_000;
/// Flits without an answer, more than 1 us of them at 6.4 ns.
const SILENT_FLITS: usize = 200;
/// Bit of a target that says online.
const ONLINE: u8 = 8;

/// A case.
struct DlBreak {
    rule: &'static str,
    what: &'static str,
    /// The end is that of a switch.
    is_switch: bool,
    /// Both channels are online.
    is_online: bool,
    /// The end asks for channel 0 to be online or offline.
    asks: Option<bool>,
    /// The peer spoils its first flit, as one does that has found an error in itself.
    spoils: bool,
    /// What the peer says, a list for each flit.
    says: fn() -> Vec<Vec<u32>>,
}

const fn row(rule: &'static str, what: &'static str, says: fn() -> Vec<Vec<u32>>) -> DlBreak {
    DlBreak { rule, what, is_switch: false, is_online: true, asks: None, spoils: false, says }
}

/// The table, a rule once.
const BREAKS: &[DlBreak] = &[
    DlBreak {
        asks: Some(true),
        ..row("UAL-CHN-03", "a request for the state in which a channel is gets Nack", || {
            vec![vec![channel(ChannelCommand::Nack, ONLINE | TL_CHANNEL)]]
        })
    },
    DlBreak {
        asks: Some(false),
        ..row("UAL-CHN-04", "a request to go offline gets Pending", || {
            vec![vec![channel(ChannelCommand::Pending, TL_CHANNEL)]]
        })
    },
    DlBreak {
        is_online: false,
        asks: Some(true),
        ..row("UAL-CHN-05", "a request to go online gets Nack", || {
            vec![vec![channel(ChannelCommand::Nack, ONLINE | TL_CHANNEL)]]
        })
    },
    DlBreak {
        is_online: false,
        ..row("UAL-CHN-06", "an Ack without a request", || {
            vec![vec![channel(ChannelCommand::Ack, ONLINE | TL_CHANNEL)]]
        })
    },
    row("UAL-URT-01", "a UART message of eight DWords to an end that has room for four", || {
        vec![vec![word(&UartTransport { length: 7, ..UartTransport::default() })]]
    }),
    row("UAL-URT-02", "two updates of UART credits in two flits", || {
        let credit = |data_fc_seq| vec![word(&UartCredit { data_fc_seq, ..UartCredit::default() })];
        vec![credit(64), credit(65)]
    }),
    row("UAL-URT-05", "a response to a UART reset that nobody has asked for", || {
        vec![vec![word(&UartResetRsp::default())]]
    }),
    DlBreak {
        is_switch: true,
        ..row("UAL-RTE-01", "a rate that does not go through 156.25 MHz", || {
            vec![vec![word(&TlRate { rate: OTHER_RATE, ..TlRate::default() })]]
        })
    },
    DlBreak {
        asks: Some(false),
        ..row("UAL-MSG-13", "a request to go offline is not answered for more than 1 us", || {
            vec![Vec::new(); SILENT_FLITS]
        })
    },
    DlBreak {
        spoils: true,
        ..row("UAL-CRC-04", "a flit behind one whose CRC is inverted for error containment", || vec![Vec::new()])
    },
    row("UAL-RTE-02", "a switch that changes its rate", || {
        vec![vec![word(&TlRate { rate: MIN_RATE, ..TlRate::default() })]]
    }),
];

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|row| row.rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    BREAKS.iter().find(|row| row.rule == rule).map(DlBreak::judged).transpose()
}

fn word<W: Wire>(message: &W) -> u32 {
    // Messages of the table have values that fit.
    message.to_bits().unwrap_or_default() as u32
}

fn channel(command: ChannelCommand, target: u8) -> u32 {
    word(&DlChannel { command, target, ..DlChannel::default() })
}

/// An end without TL flits.
#[derive(Debug, Clone)]
struct Silent;

impl Client for Silent {
    fn transmit(&mut self, _: u64) -> Option<TlFlit> {
        None
    }

    fn receive(&mut self, _: &TlFlit, _: u64) {}

    fn link_down(&mut self) {}

    fn is_quiet(&self) -> bool {
        true
    }

    fn wakes_at(&self, _: u64) -> Option<u64> {
        None
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

/// What the peer puts into a flit.
struct Words(Vec<u32>);

impl SegmentSource for Words {
    fn message(&mut self, _: usize) -> Option<u32> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    fn tl_flit(&mut self, _: usize, _: SegmentPlace) -> Option<TlFlit> {
        None
    }
}

/// An end and its peer.
struct Peered {
    end: UalEnd<Silent>,
    now: u64,
    /// Last number that the peer has given, and has taken.
    given: u16,
    taken: u16,
    /// Flits of the peer since its last number in full.
    commands: u8,
    /// The next flit of the peer has an inverted CRC.
    spoils: bool,
    packer: Packer,
    unpacker: Unpacker,
}

impl Peered {
    /// One flit time in each direction: messages of the end, and what it finds in those of the peer.
    fn exchange(&mut self, words: &[u32]) -> Result<(Vec<u32>, Vec<Violation>), CaseError> {
        let sent = self.end.transmit(self.now);
        self.now += 1;
        let mut said = Vec::new();
        if let OnLine::Flit(flit) = &sent
            && flit.header().payload()
        {
            self.taken = sequence::next(self.taken);
            said.extend(self.unpacker.read(&flit.payload()).messages.iter().map(|&(_, word)| word));
        }
        let has_payload = !words.is_empty();
        let payload = if has_payload { self.packer.pack(&mut Words(words.to_vec())) } else { Payload::ZERO };
        if has_payload {
            self.given = sequence::next(self.given);
        }
        self.commands = (self.commands + 1) % EXPLICIT_FLITS;
        let header = if self.commands == 0 {
            let (op, seq) = (FlitOp::Original, self.given);
            UalHeader::Explicit(ExplicitHeader { op, payload: has_payload, seq, ..ExplicitHeader::default() })
        } else {
            let (op, ack_req_seq, seq_lo) = (FlitOp::Ack, self.taken, (self.given % 8) as u8);
            UalHeader::Command(CommandHeader {
                op,
                payload: has_payload,
                ack_req_seq,
                seq_lo,
                ..CommandHeader::default()
            })
        };
        let mut flit = DlFlit::new(&header, &payload, &UalConfig::SHEET).map_err(CaseError::of)?;
        if std::mem::take(&mut self.spoils) {
            flit.poison(&UalConfig::SHEET);
        }
        self.end.receive(&OnLine::Flit(Arc::new(flit)), self.now);
        Ok((said, self.end.take_events().into_iter().map(|event| event.violation).collect()))
    }
}

impl DlBreak {
    /// The end with its link up.
    fn peered(&self) -> Result<Peered, CaseError> {
        let plain = if self.is_switch { EndConfig::switch_port(LINE, 7) } else { EndConfig::accelerator(LINE, 5) };
        let config = EndConfig { opens_channels: false, uart_buffer_dwords: UART_DWORDS, ..plain };
        let mut peered = Peered {
            end: UalEnd::new(config, Silent),
            now: 0,
            given: sequence::LAST,
            taken: sequence::LAST,
            commands: 0,
            spoils: false,
            packer: Packer::default(),
            unpacker: Unpacker::default(),
        };
        peered.end.line_fault(None);
        for _ in 0..UP_FLITS {
            peered.exchange(&[])?;
        }
        let channels = [TL_CHANNEL, UART_CHANNEL].map(|channel| channel | ONLINE);
        for target in channels.into_iter().filter(|_| self.is_online) {
            peered.exchange(&[channel(ChannelCommand::Request, target)])?;
            peered.exchange(&[])?;
            peered.exchange(&[channel(ChannelCommand::Ack, target)])?;
        }
        peered.exchange(&[])?;
        Ok(peered)
    }

    fn judged(&self) -> Result<BrokenCase, CaseError> {
        let mut peered = self.peered()?;
        if let Some(online) = self.asks {
            peered.end.messages.negotiate(TL_CHANNEL, online);
        }
        peered.spoils = self.spoils;
        let mut shown = DlShown { steps: Vec::new(), wave: MessageWave::new("link") };
        let mut flits = (self.says)();
        // What the end asks goes first.
        flits.insert(0, Vec::new());
        for (n, words) in flits.iter().enumerate() {
            let t_fs = STEP_FS * (n as u64 + 1);
            let (said, found) = peered.exchange(words)?;
            shown.words(t_fs, "end", &said)?;
            shown.words(t_fs, "peer", words)?;
            if self.spoils {
                let said = if n == 0 { "a flit with an inverted CRC" } else { "another flit" };
                shown.steps.push(CaseStep { t_fs, place: "peer".to_owned(), said: said.to_owned() });
            }
            if found.is_empty() {
                continue;
            }
            let violation = found.into_iter().find(|violation| violation.rule == self.rule);
            let violation = violation.ok_or_else(|| CaseError::breaks_nothing(self.rule, "DL message"))?;
            return Ok(BrokenCase {
                what: self.what.to_owned(),
                t_fs,
                found: violation.to_string(),
                steps: shown.steps,
                records: Some(shown.wave.records(t_fs, violation)),
                axis: TimeAxis::of_step(1, t_fs + STEP_FS),
            });
        }
        Err(CaseError::breaks_nothing(self.rule, "DL message"))
    }
}

/// Messages as steps and as a wave.
struct DlShown {
    steps: Vec<CaseStep>,
    wave: MessageWave,
}

impl DlShown {
    fn words(&mut self, t_fs: u64, place: &'static str, words: &[u32]) -> Result<(), CaseError> {
        for word in words {
            let Some(layout) = message::def_of(*word) else { continue };
            let form = message_to_json(layout, (*word).into());
            self.wave.message(t_fs, place, &form)?;
            let said = format!("{}{}", layout.name, fields(form["fields"].as_object()));
            self.steps.push(CaseStep { t_fs, place: place.to_owned(), said });
        }
        Ok(())
    }
}
