//! Two ends with a monitor between them, and transactions for them.

pub use scalepool::link::ualink::upli::*;
pub use scalepool_protocols::ualink::code::*;
use scalepool_protocols::ualink::config::UalConfig;
pub use scalepool_protocols::ualink::control::ControlField;
pub use scalepool_protocols::ualink::field::{TlReq, TlRsp};
pub use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

pub const SHEET: UalConfig = UalConfig::SHEET;

/// A request of whole beats from the start of a block.
pub fn request(cmd: ReqCmd, tag: u16, address: u64, beats: u8) -> Transfer {
    let numbeats = if cmd.has_data() { beats - 1 } else { 0 };
    let (len, attr) = match cmd {
        ReqCmd::AtomicR | ReqCmd::AtomicNR => (0, 0),
        ReqCmd::Read => (16 * beats - 1, 0xff),
        _ => (16 * beats - 1, 0),
    };
    let req = TlReq { cmd, tag, address, numbeats, len, attr, src: 1, dst: 2, pool: true, ..TlReq::default() };
    with_data(ControlField::Request(req))
}

pub fn read(tag: u16, address: u64, beats: u8) -> Transfer {
    request(ReqCmd::Read, tag, address, beats)
}

pub fn write(tag: u16, address: u64, beats: u8) -> Transfer {
    request(ReqCmd::WriteFull, tag, address, beats)
}

/// A transfer with the data that its field owes; enables of all bytes of its beats.
pub fn with_data(field: ControlField) -> Transfer {
    let owed = field.owed(&SHEET);
    let mut transfer = Transfer::new(field);
    let (mut tag, mut place) = (0, 0);
    match &field {
        ControlField::Request(req) => {
            transfer.address = req.address.into();
            (tag, place) = (req.tag, (req.address / 64 % 4) as usize);
        }
        ControlField::Response(rsp) => tag = rsp.tag,
        _ => {}
    }
    transfer.data =
        (0..2 * owed.beats).map(|h| std::array::from_fn(|k| (k + 32 * h + usize::from(tag)) as u8)).collect();
    let inside = 8 * place..8 * (place + owed.beats);
    let enabled = || Box::new(std::array::from_fn(|k| if inside.contains(&k) { 0xff } else { 0 }));
    transfer.enables = owed.enables.then(enabled);
    transfer
}

/// What a completer answers: `single` splits a read into one response a beat, the last beat first.
pub fn answers(request: &Transfer, single: bool) -> Vec<Transfer> {
    let ControlField::Request(req) = &request.field else { panic!("{request:?}") };
    let word = convert::request_to_wires(request, 0, &SHEET).expect("a request").wires.word;
    let beats = convert::read_beats(&word) as u8;
    let rsp = TlRsp { dst: req.src, src: req.dst, tag: req.tag, vchan: req.vchan, pool: req.pool, ..TlRsp::default() };
    let read = TlRsp { rdwr: RdWr::Read, ..rsp };
    let fields = match (beats, single) {
        (0, _) => vec![rsp],
        (_, false) => vec![TlRsp { len: beats - 1, last: true, ..read }],
        (_, true) => (0..beats).rev().map(|k| TlRsp { offset: k, last: k == 0, ..read }).collect(),
    };
    fields.into_iter().map(|rsp| with_data(ControlField::Response(rsp))).collect()
}

/// An originator, a completer that answers after so many cycles, a monitor, and all that stood on the wires.
pub struct Rig {
    pub config: UpliConfig,
    pub originator: Originator,
    pub completer: UpliCompleter,
    pub monitor: Monitor,
    pub cycles: Vec<Cycle>,
    /// What the monitor and the ends found.
    pub found: Vec<Violation>,
    /// At the completer, and answers at the originator.
    pub requests: Vec<(u8, Transfer)>,
    pub got: Vec<(u8, Transfer)>,
    pub single: bool,
    pub answering: bool,
    pub taking: bool,
    due: VecDeque<(usize, u8, Transfer)>,
}

impl Rig {
    pub fn new(config: UpliConfig) -> Rig {
        Rig {
            config,
            originator: Originator::new(config).expect("a sound configuration"),
            completer: UpliCompleter::new(config).expect("a sound configuration"),
            monitor: Monitor::new(config).expect("a sound configuration"),
            cycles: Vec::new(),
            found: Vec::new(),
            requests: Vec::new(),
            got: Vec::new(),
            single: false,
            answering: true,
            taking: true,
            due: VecDeque::new(),
        }
    }

    pub fn ports(ports: u8) -> Rig {
        Rig::new(UpliConfig { ports, ..UpliConfig::default() })
    }

    pub fn submit(&mut self, port: u8, transfer: &Transfer) {
        self.originator.submit(port, transfer).expect("a request");
    }

    pub fn run(&mut self, cycles: usize) {
        for _ in 0..cycles {
            let cycle = step(&mut self.originator, &mut self.completer);
            self.found.extend(self.monitor.observe(&cycle));
            self.cycles.push(cycle);
            while self.answering
                && let Some((port, request)) = self.completer.take()
            {
                let at = self.cycles.len() + 7;
                self.due.extend(answers(&request, self.single).into_iter().map(|answer| (at, port, answer)));
                self.requests.push((port, request));
            }
            while self.due.front().is_some_and(|due| due.0 <= self.cycles.len()) {
                let (_, port, answer) = self.due.pop_front().expect("it is there");
                self.completer.answer(port, &answer).expect("a response");
            }
            while self.taking
                && let Some(answer) = self.originator.take()
            {
                self.got.push(answer);
            }
            self.found.extend(self.originator.take_events());
            self.found.extend(self.completer.take_events());
        }
    }

    /// Fails when a rule is broken.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.found.is_empty(), "{:#?}", self.found);
    }

    /// Everything is answered and every credit has come back.
    #[track_caller]
    pub fn assert_quiet(&self) {
        self.assert_clean();
        let ports = 0..self.config.ports;
        assert_eq!(ports.map(|p| self.originator.waiting(p) + self.originator.open_tags(p)).sum::<usize>(), 0);
        assert_eq!(self.monitor.open_tags(), 0);
        assert!(self.monitor.credits_are_home());
    }

    /// The same wires once more, changed by `change`, before a monitor that knows nothing: the rules that they break.
    pub fn replay(&self, change: impl FnOnce(&mut Vec<Cycle>)) -> Vec<&'static str> {
        let mut cycles = self.cycles.clone();
        change(&mut cycles);
        rules(self.config, &cycles)
    }

    /// Cycles in which a request goes out.
    pub fn request_cycles(&self) -> Vec<usize> {
        (0..self.cycles.len()).filter(|&c| self.cycles[c].originator.request.word.valid).collect()
    }

    /// Cycles in which a beat of originator data goes out.
    pub fn data_cycles(&self) -> Vec<usize> {
        (0..self.cycles.len()).filter(|&c| self.cycles[c].originator.data.word.valid).collect()
    }

    /// Cycles in which a read response goes out.
    pub fn read_cycles(&self) -> Vec<usize> {
        (0..self.cycles.len()).filter(|&c| self.cycles[c].completer.rd.word.valid).collect()
    }
}

/// Ids of the rules that a monitor finds broken, each once, in order.
pub fn rules(config: UpliConfig, cycles: &[Cycle]) -> Vec<&'static str> {
    let mut monitor = Monitor::new(config).expect("a sound configuration");
    ids(&cycles.iter().flat_map(|cycle| monitor.observe(cycle)).collect::<Vec<_>>())
}

/// Ids of findings, each once, in order.
pub fn ids(found: &[Violation]) -> Vec<&'static str> {
    let mut ids: Vec<_> = found.iter().map(|v| v.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Reads and writes of all lengths on all ports, run to the end.
pub fn mixed(ports: u8, single: bool) -> Rig {
    let mut rig = Rig::ports(ports);
    rig.single = single;
    for n in 0..16 * u16::from(ports) {
        let port = (n % u16::from(ports)) as u8;
        let beats = (n / 2 % 4 + 1) as u8;
        let address = 0x1000 + 256 * u64::from(n);
        let cmd =
            [ReqCmd::Write, ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::AtomicNR][usize::from(n) % 5];
        rig.submit(port, &request(cmd, n, address, if cmd.is_atomic() { 1 } else { beats }));
    }
    rig.run(600);
    rig
}
