//! Flow control of a virtual channel: initialisation, credits of both ends, UpdateFC and its clock (`cxl-io` §2.2, §2.5).
//!
//! Modelled: InitFC1 until the peer's three are known, InitFC2 until the peer shows that it knows ours, then UpdateFC
//! when buffers are freed and before the longest silence is over. Left out: shared credits, the exchange of data link features
//! (both ends scale).
//!
//! A walk: DLLPs that came go to [`FlowControl::receive`]; [`FlowControl::next_dllp`] gives those that are due, one a
//! call; a TLP leaves only if [`FlowControl::may_send`], and takes its credits with [`FlowControl::sent`].

use super::config::{Buffers, IoConfig};
use super::credit::{Advertised, IoCreditCounter, IoCreditField, IoCreditLedger, Scale, Wrong};
use super::tlp::{IoCreditClass, IoTlp};
use crate::event::finding;
use scalepool_protocols::cxl::cxlio::code::FcType;
use scalepool_protocols::cxl::cxlio::dllp::{Dllp, DllpFc};
use scalepool_protocols::wire::{Violation, Wire};

/// Step of the initialisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowInitStep {
    /// InitFC1 goes out; the peer's credits are not known.
    Init1,
    /// InitFC2 goes out; the peer may not know ours.
    Init2,
    /// TLPs may flow.
    Up,
}

/// What a flow-control DLLP says, apart from its credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Init1,
    Init2,
    Update,
}

fn read_type(fc_type: FcType) -> Option<(Says, IoCreditClass)> {
    let says = match fc_type.0 >> 2 {
        1 => Says::Init1,
        3 => Says::Init2,
        2 => Says::Update,
        _ => return None,
    };
    // Types 4, 8 and 12 begin with posted; the fourth of each is reserved.
    IoCreditClass::ALL.get(usize::from(fc_type.0 & 3)).map(|&kind| (says, kind))
}

fn type_of(says: Says, kind: IoCreditClass) -> FcType {
    let first = match says {
        Says::Init1 => FcType::InitFc1P,
        Says::Init2 => FcType::InitFc2P,
        Says::Update => FcType::UpdateFcP,
    };
    FcType(first.0 + kind.index() as u8)
}

/// Channel of everything but UIO.
pub const DEFAULT_VC: u8 = 0;
/// Channel of UIO (`fabric` ISL-1 gives it this number on links between switches; elsewhere it is our choice \[D\]).
pub const UIO_VC: u8 = 3;

/// Flow control of one end.
#[derive(Debug, Clone)]
pub struct FlowControl {
    /// Its virtual channel, in every DLLP.
    vc: u8,
    step: FlowInitStep,
    /// What the peer has granted: headers and data.
    counters: [Option<[IoCreditCounter; 2]>; 3],
    ledgers: [[IoCreditLedger; 2]; 3],
    /// InitFC of this round that went.
    burst: usize,
    /// Flit clock of the next round.
    next_burst: u64,
    /// What was said last of headers and data.
    said: [[u16; 2]; 3],
    /// Flit clock at which it is said again.
    speak_at: [u64; 3],
    heard_at: [u64; 3],
    silence_told: [bool; 3],
    speak_flits: u64,
    silence_flits: u64,
    init_repeat_flits: u64,
    /// No credits are returned: a fault.
    pub held: bool,
    /// Both ends rest while nothing is under way, so that no silence is too long.
    pub rests: bool,
    /// All that was asked over the link is answered, so that credits are said when they change alone.
    pub is_settled: bool,
}

impl FlowControl {
    /// Before the first InitFC1, of channel 0.
    pub fn new(config: &IoConfig) -> FlowControl {
        FlowControl::of_channel(DEFAULT_VC, config.buffers, config)
    }

    /// The same of a channel with these receive buffers.
    pub fn of_channel(vc: u8, buffers: [Buffers; 3], config: &IoConfig) -> FlowControl {
        let ledgers = buffers.map(|b| {
            [IoCreditLedger::new(IoCreditField::Header, b.headers), IoCreditLedger::new(IoCreditField::Data, b.data)]
        });
        let silence_flits = config.flits(config.update_fc_fs, 4);
        FlowControl {
            vc,
            step: FlowInitStep::Init1,
            counters: [None; 3],
            ledgers,
            burst: 0,
            next_burst: 0,
            said: ledgers.map(|l| l.map(|l| l.said())),
            speak_at: [0; 3],
            heard_at: [0; 3],
            silence_told: [false; 3],
            speak_flits: silence_flits / 4,
            silence_flits,
            init_repeat_flits: config.init_repeat_flits.max(1),
            held: false,
            rests: false,
            is_settled: false,
        }
    }

    /// Its virtual channel.
    pub fn vc(&self) -> u8 {
        self.vc
    }

    /// Step of the initialisation.
    pub fn step(&self) -> FlowInitStep {
        self.step
    }

    /// What the peer has granted of headers and data, once it is known.
    pub fn counters(&self, kind: IoCreditClass) -> Option<&[IoCreditCounter; 2]> {
        self.counters[kind.index()].as_ref()
    }

    /// Receive buffers of headers and data.
    pub fn ledgers(&self, kind: IoCreditClass) -> &[IoCreditLedger; 2] {
        &self.ledgers[kind.index()]
    }

    /// All receive buffers are free.
    pub fn is_home(&self) -> bool {
        self.ledgers.as_flattened().iter().all(IoCreditLedger::is_home)
    }

    /// Both ends count afresh from here: the link was down. What was said before may be lost.
    pub fn restart_clocks(&mut self, now: u64) {
        self.heard_at = [now; 3];
        self.silence_told = [false; 3];
        self.speak_at = [now; 3];
    }

    // ---- credits of TLPs -----------------------------------------------------------------------------------------

    /// Whether the peer has room for a TLP.
    pub fn may_send(&self, tlp: &IoTlp) -> bool {
        self.step == FlowInitStep::Up
            && self.counters(tlp.kind()).is_some_and(|[h, d]| h.covers(1) && d.covers(tlp.data_credits()))
    }

    /// Takes the credits of a TLP that leaves.
    pub fn sent(&mut self, tlp: &IoTlp) {
        if let Some([headers, data]) = &mut self.counters[tlp.kind().index()] {
            headers.spend(1);
            data.spend(tlp.data_credits());
        }
    }

    /// A TLP has come. `false`: without credit, there is no room for it.
    pub fn arrived(&mut self, tlp: &IoTlp) -> bool {
        if self.step == FlowInitStep::Init2 {
            // The peer is up, so it knows our credits.
            self.step = FlowInitStep::Up;
        }
        let [headers, data] = &mut self.ledgers[tlp.kind().index()];
        let fits = headers.covers(1) && data.covers(tlp.data_credits());
        if fits {
            headers.arrive(1);
            data.arrive(tlp.data_credits());
        }
        fits
    }

    /// The buffers of a TLP are free again.
    pub fn freed(&mut self, tlp: &IoTlp) {
        let [headers, data] = &mut self.ledgers[tlp.kind().index()];
        headers.free(1);
        data.free(tlp.data_credits());
    }

    // ---- DLLPs ---------------------------------------------------------------------------------------------------

    /// Hears a flow-control DLLP of its channel. What cannot be right is named and, but for credits taken back, not used.
    pub fn receive(&mut self, dllp: &DllpFc, now: u64) -> Option<Violation> {
        let (says, kind) = read_type(dllp.fc_type)?;
        let scales = [dllp.hdr_scale, dllp.data_scale];
        let fields = [u16::from(dllp.hdr_fc), dllp.data_fc];
        let n = kind.index();
        if let Some(counters) = &self.counters[n] {
            let expected = counters.each_ref().map(|p| p.granted().scale.code());
            if scales != expected {
                let text =
                    format!("the scales of headers and data in {:?} have changed since the first one", dllp.fc_type);
                let said = |[headers, data]: [u8; 2]| format!("scale {headers} of headers and {data} of data");
                return Some(finding("CXLIO-DLL-03", said(scales), said(expected), &text));
            }
        }
        match says {
            Says::Init1 | Says::Init2 => {
                if self.counters[n].is_none() {
                    let [headers, data] = [0, 1].map(|i| Advertised { field: fields[i], scale: Scale::of(scales[i]) });
                    self.counters[n] = Some([
                        IoCreditCounter::new(IoCreditField::Header, headers),
                        IoCreditCounter::new(IoCreditField::Data, data),
                    ]);
                }
                if self.step == FlowInitStep::Init1 && self.counters.iter().all(Option::is_some) {
                    (self.step, self.burst, self.next_burst) = (FlowInitStep::Init2, 0, now);
                    self.restart_clocks(now);
                } else if self.step == FlowInitStep::Init2 && says == Says::Init2 {
                    self.up(now);
                }
                None
            }
            Says::Update => {
                if self.step == FlowInitStep::Init2 {
                    self.up(now);
                }
                self.update(dllp.fc_type, kind, fields, now)
            }
        }
    }

    fn up(&mut self, now: u64) {
        self.step = FlowInitStep::Up;
        self.restart_clocks(now);
    }

    fn update(&mut self, fc_type: FcType, kind: IoCreditClass, fields: [u16; 2], now: u64) -> Option<Violation> {
        let counters = self.counters[kind.index()].as_mut()?;
        (self.heard_at[kind.index()], self.silence_told[kind.index()]) = (now, false);
        let mut wrong: Option<(&str, Wrong)> = None;
        for (i, name) in ["headers", "data"].into_iter().enumerate() {
            if let Err(found) = counters[i].update(fields[i]) {
                wrong = wrong.or(Some((name, found)));
            }
        }
        wrong.map(|(name, found)| {
            let text = format!("{fc_type:?} returns more credits for {name} than there are");
            finding("CXLIO-FCC-01", found, "credits that were free before", &text)
        })
    }

    /// Whether a DLLP is due.
    pub fn has_dllp(&self, now: u64) -> bool {
        match self.step {
            FlowInitStep::Init1 | FlowInitStep::Init2 => {
                self.burst < IoCreditClass::ALL.len() || now >= self.next_burst
            }
            FlowInitStep::Up => IoCreditClass::ALL.into_iter().any(|kind| self.update_due(kind, now)),
        }
    }

    fn update_due(&self, kind: IoCreditClass, now: u64) -> bool {
        let n = kind.index();
        let changed = self.ledgers(kind).map(|l| l.said()) != self.said[n];
        // Nobody waits for what is said again when all is done. Said for ever, it would be under way on a long line whenever the other end falls silent.
        !self.held && (changed || !self.is_settled && now >= self.speak_at[n])
    }

    /// Flit clock, later than `now`, at which a DLLP is due or a silence is too long, if nothing happens before.
    pub fn wakes_at(&self, now: u64) -> Option<u64> {
        if self.has_dllp(now) {
            return Some(now + 1);
        }
        let FlowInitStep::Up = self.step else { return Some(self.next_burst.max(now + 1)) };
        let speak = self.speak_at.into_iter().filter(|_| !self.held && !self.is_settled);
        let listen = IoCreditClass::ALL
            .into_iter()
            .filter(|&kind| self.listens(kind))
            .map(|kind| self.heard_at[kind.index()] + self.silence_flits + 1);
        speak.chain(listen).min().map(|at| at.max(now + 1))
    }

    /// Whether a silence about a kind would be told.
    fn listens(&self, kind: IoCreditClass) -> bool {
        let n = kind.index();
        let finite = self.counters[n].is_some_and(|p| p.iter().any(|p| p.left().is_some()));
        self.step == FlowInitStep::Up && finite && !self.silence_told[n] && !self.rests
    }

    /// The next DLLP that is due.
    pub fn next_dllp(&mut self, now: u64) -> Option<Dllp> {
        if !self.has_dllp(now) {
            return None;
        }
        let (says, kind) = match self.step {
            FlowInitStep::Up => {
                (Says::Update, IoCreditClass::ALL.into_iter().find(|&kind| self.update_due(kind, now))?)
            }
            step => {
                if self.burst == IoCreditClass::ALL.len() {
                    self.burst = 0;
                }
                let kind = IoCreditClass::ALL[self.burst];
                (self.burst, self.next_burst) = (self.burst + 1, now + self.init_repeat_flits);
                (if step == FlowInitStep::Init1 { Says::Init1 } else { Says::Init2 }, kind)
            }
        };
        let ledgers = self.ledgers(kind);
        let [headers, data] = match says {
            Says::Update => ledgers.map(|l| l.said()),
            Says::Init1 | Says::Init2 => ledgers.map(|l| l.advertised().field),
        };
        let [hdr_scale, data_scale] = ledgers.map(|l| l.advertised().scale.code());
        self.said[kind.index()] = [headers, data];
        self.speak_at[kind.index()] = now + self.speak_flits;
        let fc = DllpFc {
            fc_type: type_of(says, kind),
            vc: self.vc,
            hdr_fc: headers as u8,
            data_fc: data,
            hdr_scale,
            data_scale,
            ..DllpFc::default()
        };
        let bits = fc.to_bits().ok()?;
        Some(Dllp((bits as u32).to_be_bytes()))
    }

    /// DLL-08: a kind of which nothing was heard for too long; told once.
    pub fn silence(&mut self, now: u64) -> Option<Violation> {
        let silent = IoCreditClass::ALL
            .into_iter()
            .find(|&kind| self.listens(kind) && now > self.heard_at[kind.index()] + self.silence_flits)?;
        self.silence_told[silent.index()] = true;
        let found = format!("{} flits", now - self.heard_at[silent.index()]);
        let expected = format!("at most {} flits", self.silence_flits);
        Some(finding("CXLIO-DLL-08", found, expected, &format!("{silent:?}: no UpdateFC has come for too long")))
    }
}
