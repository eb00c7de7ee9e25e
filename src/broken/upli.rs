//! A UPLI, the interface between an accelerator and its port, on whose wires one thing is wrong, judged by the monitor of the UPLI.
//!
//! Modelled: a few requests between the originator and the completer of the model, cycle by cycle, and a change of what stood on the wires;
//! the monitor reads the changed wires from the first cycle on. What arrives in another order is judged by the check of orders. The wave has
//! the words of the four channels, a nanosecond a cycle.
//! Left out: what the other end would have done after the change; returns of credits in the wave.
//!
//! A walk: a write of three beats, whose second beat says that it is the third: the monitor finds offset 2 where it expects 1, UAL-UPL-11.

use super::message_wave::{MessageWave, STEP_FS};
use super::timeline::MOST_STEPS;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::message_to_json;
use scalepool_inspect::told::fields;
use scalepool_link::ualink::upli::signals::seal_request;
use scalepool_link::ualink::upli::{
    Cycle, FromCompleter, FromOriginator, Monitor, OrderCheck, Ordering, Originator, UpliCompleter, UpliConfig,
    UpliCreditCounts, convert, step,
};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::UpliReq;
use scalepool_protocols::wire::{Violation, Wire};
use scalepool_trace::TimeAxis;

/// Cycles from a request at the completer to its answer.
const ANSWER_CYCLES: usize = 8;
/// Accelerators at both ends.
const SOURCE: u16 = 1;
const DESTINATION: u16 = 2;

/// A request: port, command, tag, address and beats.
type UpliCaseRequest = (u8, ReqCmd, u16, u64, u8);

/// What happens to the wires of a run.
enum Change {
    /// Its cycles are changed; `false`: there is nothing to be changed.
    Wires(fn(&mut Vec<Cycle>) -> bool),
    /// The first two requests change places on their way, where this order is promised.
    Order(Ordering),
}

/// A rule, and what breaks it.
struct UpliBreak {
    rule: &'static str,
    what: &'static str,
    ports: u8,
    requests: &'static [UpliCaseRequest],
    cycles: usize,
    config: fn(&mut UpliConfig),
    /// The completer takes requests and answers them, and the originator takes the answers.
    answers: bool,
    takes: bool,
    change: Change,
}

const NO_CHOICE: fn(&mut UpliConfig) = |_| ();

const fn row(
    rule: &'static str,
    what: &'static str,
    requests: &'static [UpliCaseRequest],
    change: fn(&mut Vec<Cycle>) -> bool,
) -> UpliBreak {
    let (ports, cycles, config, change) = (1, 40, NO_CHOICE, Change::Wires(change));
    UpliBreak { rule, what, ports, requests, cycles, config, answers: true, takes: true, change }
}

/// Requests more than response credits.
const MANY: &[UpliCaseRequest] = &{
    let mut all = [(0, ReqCmd::Read, 0, 0, 1); 40];
    let mut n = 0;
    while n < all.len() {
        all[n] = (0, ReqCmd::Read, n as u16, 256 * n as u64, 1);
        n += 1;
    }
    all
};

const WRITE_3: &[UpliCaseRequest] = &[(0, ReqCmd::WriteFull, 1, 0x100, 3)];
const READ_3: &[UpliCaseRequest] = &[(0, ReqCmd::Read, 1, 0x100, 3)];
const READS: &[UpliCaseRequest] = &[(0, ReqCmd::Read, 1, 0x100, 1), (0, ReqCmd::Read, 2, 0x200, 1)];
const WRITES: &[UpliCaseRequest] = &[(0, ReqCmd::WriteFull, 1, 0x100, 1), (0, ReqCmd::WriteFull, 2, 0x140, 1)];
const BOTH: &[UpliCaseRequest] = &[(0, ReqCmd::WriteFull, 1, 0x100, 1), (0, ReqCmd::Read, 2, 0x900, 1)];

/// The table, a rule once.
static BREAKS: &[UpliBreak] = &[
    UpliBreak {
        change: Change::Order(Ordering::Default),
        ..row("UAL-UPL-05", "two writes to one block that change places", WRITES, |_| true)
    },
    UpliBreak {
        change: Change::Order(Ordering::Strict),
        ..row("UAL-UPL-06", "a read that passes a write where strict order is promised", BOTH, |_| true)
    },
    UpliBreak {
        ports: 2,
        ..row(
            "UAL-UPL-07",
            "the halves of one block on two ports",
            &[(0, ReqCmd::Read, 1, 0x100, 1), (1, ReqCmd::Read, 2, 0x140, 1)],
            |_| true,
        )
    },
    UpliBreak {
        cycles: 400,
        takes: false,
        config: |config| {
            (config.watchdog_cycles, config.credits) = (300, [UpliCreditCounts { pool: 16, vc: [0; 4] }; 4]);
        },
        ..row("UAL-UPL-08", "an accelerator that takes no answers while it sends requests", MANY, |_| true)
    },
    UpliBreak {
        answers: false,
        ..row("UAL-UPL-09", "a second request with the tag of an open one", READS, |cycles| {
            let second = requests(cycles).nth(1);
            second.is_some_and(|at| {
                let word = &mut cycles[at].originator.request.word;
                seal_request(UpliReq { tag: 1, ..*word }).is_ok_and(|sealed| {
                    *word = sealed;
                    true
                })
            })
        })
    },
    UpliBreak {
        ports: 4,
        ..row("UAL-UPL-10", "a request one cycle late, in the slot of another port", READS, |cycles| {
            let first = requests(cycles).next();
            first.is_some_and(|at| {
                cycles[at + 1].originator.request = cycles[at].originator.request;
                cycles[at].originator.request = FromOriginator::default().request;
                true
            })
        })
    },
    row("UAL-UPL-11", "a write whose second beat says that it is the third", WRITE_3, |cycles| {
        let second = (0..cycles.len()).filter(|at| cycles[*at].originator.data.word.valid).nth(1);
        second.is_some_and(|at| {
            cycles[at].originator.data.word.offset = 2;
            true
        })
    }),
    row("UAL-UPL-12", "a read response whose final beat has no Last", READ_3, |cycles| {
        let third = (0..cycles.len()).filter(|at| cycles[*at].completer.rd.word.valid).nth(2);
        third.is_some_and(|at| {
            cycles[at].completer.rd.word.last = false;
            true
        })
    }),
    row("UAL-UPL-13", "a bit of written data that is inverted, with the parity of before", WRITE_3, |cycles| {
        let first = (0..cycles.len()).find(|at| cycles[*at].originator.data.word.valid);
        first.is_some_and(|at| {
            cycles[at].originator.data.data[0] ^= 1;
            true
        })
    }),
    UpliBreak {
        cycles: 130,
        answers: false,
        config: |config| config.watchdog_cycles = 100,
        ..row("UAL-UPL-14", "a read that is never answered", READ_3, |_| true)
    },
    row("UAL-UPL-15", "a request before InitDone of the credits", READS, |cycles| {
        let first = requests(cycles).next();
        first.is_some_and(|at| {
            cycles[0].originator.request = cycles[at].originator.request;
            cycles[at].originator.request = FromOriginator::default().request;
            true
        })
    }),
];

fn requests(cycles: &[Cycle]) -> impl Iterator<Item = usize> {
    let at: Vec<usize> = (0..cycles.len()).filter(|at| cycles[*at].originator.request.word.valid).collect();
    at.into_iter()
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|row| row.rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let found = BREAKS.iter().find(|row| row.rule == rule);
    found.map(|row| row.judged().map_err(|e| CaseError::of(format!("{rule}: {e}")))).transpose()
}

/// A transfer with the data that its field owes.
fn transfer(field: ControlField, address: u64, tag: u16) -> Transfer {
    let owed = field.owed(&UalConfig::SHEET);
    let mut transfer = Transfer::new(field);
    transfer.address = address.into();
    transfer.data = (0..2 * owed.beats).map(|half| [tag as u8 ^ half as u8; 32]).collect();
    transfer
}

fn request((_, cmd, tag, address, beats): UpliCaseRequest) -> Transfer {
    let numbeats = if cmd.has_data() { beats - 1 } else { 0 };
    let attr = if cmd == ReqCmd::Read { u8::MAX } else { 0 };
    let (src, dst, len) = (SOURCE, DESTINATION, 16 * beats - 1);
    let req = TlReq { cmd, tag, address, numbeats, len, attr, src, dst, pool: true, ..TlReq::default() };
    transfer(ControlField::Request(req), address, tag)
}

/// What a completer answers.
fn answer(request: &Transfer) -> Option<Transfer> {
    let ControlField::Request(req) = &request.field else { return None };
    let word = convert::request_to_wires(request, 0, &UalConfig::SHEET).ok()?.wires.word;
    let rsp = TlRsp { dst: req.src, src: req.dst, tag: req.tag, vchan: req.vchan, pool: req.pool, ..TlRsp::default() };
    let rsp = match convert::read_beats(&word) as u8 {
        0 => rsp,
        beats => TlRsp { rdwr: RdWr::Read, len: beats - 1, last: true, ..rsp },
    };
    Some(transfer(ControlField::Response(rsp), 0, req.tag))
}

impl UpliBreak {
    fn config(&self) -> UpliConfig {
        let mut config = UpliConfig { ports: self.ports, ..UpliConfig::default() };
        (self.config)(&mut config);
        config
    }

    /// What stood on the wires, and the requests that have come to the completer.
    fn run(&self) -> Result<(Vec<Cycle>, Vec<Transfer>), CaseError> {
        let config = self.config();
        let mut originator = Originator::new(config).map_err(CaseError::of)?;
        let mut completer = UpliCompleter::new(config).map_err(CaseError::of)?;
        for of in self.requests {
            originator.submit(of.0, &request(*of)).map_err(CaseError::of)?;
        }
        let (mut cycles, mut taken, mut due) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..self.cycles {
            cycles.push(step(&mut originator, &mut completer));
            while self.answers
                && let Some((port, request)) = completer.take()
            {
                due.extend(answer(&request).map(|answer| (n + ANSWER_CYCLES, port, answer)));
                taken.push(request);
            }
            for (_, port, answer) in due.extract_if(.., |(at, ..)| *at <= n) {
                completer.answer(port, &answer).map_err(CaseError::of)?;
            }
            while self.takes && originator.take().is_some() {}
        }
        Ok((cycles, taken))
    }

    fn judged(&self) -> Result<BrokenCase, CaseError> {
        let (mut cycles, taken) = self.run()?;
        let mut shown = UpliShown { steps: Vec::new(), wave: MessageWave::new("upli") };
        let found = match self.change {
            Change::Wires(change) => {
                if !change(&mut cycles) {
                    return Err(CaseError::breaks_nothing(self.rule, "word to change"));
                }
                let mut monitor = Monitor::new(self.config()).map_err(CaseError::of)?;
                let mut found = None;
                for (n, cycle) in cycles.iter().enumerate() {
                    let t_fs = STEP_FS * (n as u64 + 1);
                    shown.cycle(t_fs, cycle)?;
                    let all = monitor.observe(cycle);
                    if !all.is_empty() {
                        found = all.into_iter().find(|violation| violation.rule == self.rule).map(|of| (t_fs, of));
                        break;
                    }
                }
                found
            }
            Change::Order(ordering) => {
                let mut check = OrderCheck::new(ordering);
                let mut t_fs = 0;
                for cycle in cycles.iter().filter(|cycle| cycle.originator.request.word.valid) {
                    t_fs += STEP_FS;
                    shown.word(t_fs, "sent", &cycle.originator.request.word)?;
                }
                taken.iter().for_each(|transfer| check.sent(transfer));
                let words = taken.iter().take(2).rev().map(|transfer| {
                    let wires = convert::request_to_wires(transfer, 0, &UalConfig::SHEET);
                    wires.map(|of| (transfer, of.wires.word)).map_err(CaseError::of)
                });
                let mut found = None;
                for word in words {
                    let (transfer, word) = word?;
                    t_fs += STEP_FS;
                    shown.word(t_fs, "arrives", &word)?;
                    found = check.arrived(transfer).map(|of| (t_fs, of));
                    if found.is_some() {
                        break;
                    }
                }
                found.filter(|(_, violation)| violation.rule == self.rule)
            }
        };
        let (t_fs, violation): (u64, Violation) = found.ok_or_else(|| CaseError::breaks_nothing(self.rule, "cycle"))?;
        let first = shown.steps.len().saturating_sub(MOST_STEPS);
        Ok(BrokenCase {
            what: self.what.to_owned(),
            t_fs,
            found: violation.to_string(),
            steps: shown.steps.split_off(first),
            records: Some(shown.wave.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        })
    }
}

/// What stood on the wires, as steps and as a wave.
struct UpliShown {
    steps: Vec<CaseStep>,
    wave: MessageWave,
}

impl UpliShown {
    fn cycle(&mut self, t_fs: u64, cycle: &Cycle) -> Result<(), CaseError> {
        let FromOriginator { request, data, .. } = &cycle.originator;
        let FromCompleter { rd, wr, .. } = &cycle.completer;
        if request.word.valid {
            self.word(t_fs, "request", &request.word)?;
        }
        if data.word.valid {
            self.word(t_fs, "data", &data.word)?;
        }
        if rd.word.valid {
            self.word(t_fs, "read_response", &rd.word)?;
        }
        if wr.word.valid {
            self.word(t_fs, "write_response", &wr.word)?;
        }
        Ok(())
    }

    fn word<W: Wire>(&mut self, t_fs: u64, place: &'static str, word: &W) -> Result<(), CaseError> {
        let form = message_to_json(W::DEF, word.to_bits().map_err(CaseError::of)?);
        self.wave.message(t_fs, place, &form)?;
        let said = format!("{}{}", W::DEF.name, fields(form["fields"].as_object()));
        self.steps.push(CaseStep { t_fs, place: place.to_owned(), said });
        Ok(())
    }
}
