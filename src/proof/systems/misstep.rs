//! A system in which one step of one agent is not that of the sheet: what it sends, what it takes the message for, when it takes it, or
//! what becomes of its copy. Or all steps go by the rules of a configuration that is wrong.
//!
//! Modelled: the agents and orders of a [`Composite`], and one step of any of them, at any time, that is wrong in one way
//! ([`WrongStep`]). The agents are those of every run: a wrong step is made around them, and the monitors of their steps see what an agent
//! has before and behind it and what has left it, as they do of every step. A search finds the shortest way to a rule that is broken, and
//! follows no way further on which another rule was broken before. Left out: waits that never end.
//!
//! A walk: [`WrongStep::Sends`] that sends RspIHitI. A device with an M copy takes SnpInv, and instead of RspIFwdM the home
//! gets RspIHitI; the monitor of the device finds no such row of its table: COH-SNP-08.

use super::altered::{Alteration, AlteredField, opcode_name};
use super::composite::{Composite, CompositeMove};
use super::part::{Deed, Operation};
use crate::explore::system::{AgentWait, ChartStep, ExploredSystem, Fairness};
use scalepool_coherence::content::{LineAddr, LineToken};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::{Class, Dir, Msg};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// In which way a step is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WrongStep {
    /// A message of this class leaves its agent changed, twice or not at all.
    Sends(Class, Alteration),
    /// An agent takes a message of this class for a changed one, takes it twice or passes it over.
    Takes(Class, Alteration),
    /// An agent that takes a message of this class answers as it should and stays in the state in which it was.
    Stays(Class),
    /// An agent takes a message of this class that it should have kept waiting.
    TakesEarly(Class),
    /// A message of this class arrives in front of one that it must stay behind.
    Overtakes(Class),
    /// A copy in this state is stored to.
    Stores(Copy4),
    /// A copy in this state is dropped without a message.
    Drops(Copy4),
    /// A caching device sends a request that it may not send in the state in which it is.
    Asks(D2hReqOpcode),
}

impl WrongStep {
    /// What is wrong, in words.
    pub fn about(self) -> String {
        match self {
            WrongStep::Sends(class, Alteration::Lost) => format!("{} is not sent", named(class)),
            WrongStep::Sends(class, Alteration::Twice) => format!("{} is sent twice", named(class)),
            WrongStep::Sends(class, Alteration::Field(field, value)) => {
                format!("{} is sent {}", named(class), with(class, field, value))
            }
            WrongStep::Takes(class, Alteration::Lost) => format!("{} is passed over", named(class)),
            WrongStep::Takes(class, Alteration::Twice) => format!("{} is taken twice", named(class)),
            WrongStep::Takes(class, Alteration::Field(field, value)) => {
                format!("{} is taken as if it had come {}", named(class), with(class, field, value))
            }
            WrongStep::Stays(class) => {
                format!("{} is answered, and its agent stays in the state in which it was", named(class))
            }
            WrongStep::TakesEarly(class) => format!("{} is taken that has to wait", named(class)),
            WrongStep::Overtakes(class) => format!("{} passes a message that it must stay behind", named(class)),
            WrongStep::Stores(state) => format!("a copy in {} is stored to", state.letter()),
            WrongStep::Drops(state) => format!("a copy in {} is dropped", state.letter()),
            WrongStep::Asks(opcode) => {
                format!(
                    "a device asks by {} in a state in which it may not",
                    opcode.name().unwrap_or("a reserved code")
                )
            }
        }
    }

    /// Whether a right move may be made wrongly so.
    fn is_of(self, deed: &Deed) -> bool {
        match (self, deed) {
            (WrongStep::Sends(..), _) => true,
            (WrongStep::Takes(class, alteration), Deed::Took(_, msg)) => {
                msg.class() == class && alteration.of(msg).is_some()
            }
            (WrongStep::Stays(class), Deed::Took(_, msg)) => msg.class() == class,
            _ => false,
        }
    }
}

/// A class with its article.
fn named(class: Class) -> String {
    let article = if class.name().starts_with('D') { "a" } else { "an" };
    format!("{article} {}", class.name())
}

/// A field with another value, in words.
fn with(class: Class, field: AlteredField, value: u16) -> String {
    match (field, value) {
        (AlteredField::Opcode, code) => format!("as {}", opcode_name(class, code).unwrap_or("a reserved code")),
        (AlteredField::Value, 0) => "with the value of an earlier store".to_owned(),
        (AlteredField::Enables, 0) => "without byte enables".to_owned(),
        _ => format!("with {} {value:#x}", field.name()),
    }
}

/// A system, the wrong step in it and the rule that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Misstep {
    /// `None`: another rule was broken on the way.
    system: Option<Composite>,
    /// `None`: its configuration is wrong, and every step goes by it.
    wrong: Option<WrongStep>,
    wanted: &'static str,
    is_done: bool,
}

/// A move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MisstepMove {
    /// A right one.
    Right(CompositeMove),
    /// The wrong one.
    Wrong(CompositeMove),
}

impl Misstep {
    /// A system in which one step is wrong, or `None` its configuration, and the rule that this is to break.
    pub fn new(system: Composite, wrong: Option<WrongStep>, wanted: &'static str) -> Misstep {
        Misstep { system: Some(system), wrong, wanted, is_done: wrong.is_none() }
    }

    /// Moves that no right agent or link makes here.
    fn forbidden(wrong: WrongStep, system: &Composite, out: &mut Vec<MisstepMove>) {
        let lanes = (0..system.links()).flat_map(|link| [(link, Dir::Down), (link, Dir::Up)]);
        match wrong {
            WrongStep::TakesEarly(class) | WrongStep::Overtakes(class) => {
                let early = matches!(wrong, WrongStep::TakesEarly(_));
                for (link, dir) in lanes {
                    for (index, msg) in system.under_way(link, dir).iter().enumerate() {
                        let is_wrong = if early {
                            system.is_free(link, dir, index) && system.is_accepted(link, dir, msg).is_none()
                        } else {
                            !system.is_free(link, dir, index) && system.is_accepted(link, dir, msg).is_some()
                        };
                        if msg.class() == class && is_wrong {
                            let (link, index) = (link as u16, index as u8);
                            out.push(MisstepMove::Wrong(CompositeMove::Deliver { link, dir, index, way: 0 }));
                        }
                    }
                }
            }
            WrongStep::Stores(state) | WrongStep::Drops(state) => {
                let line = LineAddr(0);
                let operation = match wrong {
                    WrongStep::Stores(_) => Operation::Store { line },
                    _ => Operation::Drop { line },
                };
                for (agent, member) in system.agents().enumerate() {
                    if !member.is_home() && member.part().letter(line) == Some(state.letter()) {
                        out.push(MisstepMove::Wrong(CompositeMove::Begin { agent: agent as u16, operation }));
                    }
                }
            }
            WrongStep::Asks(opcode) => {
                let line = LineAddr(0);
                let operation = Operation::Request { line, opcode, store: false };
                for (agent, member) in system.agents().enumerate() {
                    if member.cache().is_some_and(|cache| !cache.can_issue(opcode, line)) {
                        out.push(MisstepMove::Wrong(CompositeMove::Begin { agent: agent as u16, operation }));
                    }
                }
            }
            WrongStep::Sends(..) | WrongStep::Takes(..) | WrongStep::Stays(_) => {}
        }
    }
}

impl ExploredSystem for Misstep {
    type Move = MisstepMove;

    fn columns(&self) -> Vec<String> {
        self.system.as_ref().map(Composite::columns).unwrap_or_default()
    }

    fn moves(&self, out: &mut Vec<MisstepMove>) {
        let Some(system) = &self.system else { return };
        let mut own = Vec::new();
        system.moves(&mut own);
        out.extend(own.iter().map(|mv| MisstepMove::Right(*mv)));
        if let Some(wrong) = self.wrong.filter(|_| !self.is_done) {
            out.extend(own.iter().filter(|mv| wrong.is_of(&system.deed(**mv).1)).map(|mv| MisstepMove::Wrong(*mv)));
            Misstep::forbidden(wrong, system, out);
        }
    }

    fn fairness(&self, mv: MisstepMove) -> Fairness {
        match (mv, &self.system) {
            (MisstepMove::Right(mv), Some(system)) => system.fairness(mv),
            _ => Fairness::Optional,
        }
    }

    fn action(&self, mv: MisstepMove) -> u128 {
        match (mv, &self.system) {
            (MisstepMove::Right(mv), Some(system)) => system.action(mv),
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        self.system.iter().for_each(|system| system.waits(out));
    }

    fn apply(&mut self, mv: MisstepMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        let system = self.system.as_mut()?;
        let mut found = Vec::new();
        let is_made = match mv {
            MisstepMove::Right(mv) => {
                system.apply(mv, &mut found);
                true
            }
            MisstepMove::Wrong(mv) => {
                self.is_done = true;
                self.wrong.is_some_and(|wrong| system.apply_wrongly(mv, wrong, &mut found))
            }
        };
        system.check(&mut found);
        if system.is_idle() {
            system.check_idle(&mut found);
        }
        match found.iter().position(|event| event.rule == self.wanted) {
            Some(at) if self.is_done && is_made => events.push(found.swap_remove(at)),
            _ if is_made && found.is_empty() => (),
            _ => self.system = None,
        }
        None
    }

    fn describe(&self, mv: MisstepMove) -> ChartStep {
        match (mv, &self.system, self.wrong) {
            (MisstepMove::Right(mv), Some(system), _) => system.describe(mv),
            (MisstepMove::Wrong(mv), Some(system), Some(how)) => {
                let wrong = format!("wrongly: {}", how.about());
                match system.describe_wrongly(mv, how) {
                    ChartStep::Deliver { from, to, label, message, mut did, sent } => {
                        did.push(wrong);
                        ChartStep::Deliver { from, to, label, message, did, sent }
                    }
                    ChartStep::Act { agent, text, line, sent } => {
                        ChartStep::Act { agent, text: format!("{text}, {wrong}"), line, sent }
                    }
                }
            }
            _ => ChartStep::Act { agent: 0, text: String::new(), line: None, sent: Vec::new() },
        }
    }

    fn check(&self, _: &mut Vec<CoherenceEvent>) {
        // What a state breaks was looked for behind the step that led to it.
    }

    fn is_idle(&self) -> bool {
        // What a wrong step leaves open is looked for by the rules of what never ends.
        self.is_done || self.system.as_ref().is_none_or(Composite::is_idle)
    }
}

/// Messages with one of them changed; `false`: none can be.
pub(super) fn alter_one<P>(sends: &mut Vec<(P, Msg<LineToken>)>, class: Class, alteration: Alteration) -> bool
where
    P: Copy,
{
    let changed = |(_, msg): &(P, Msg<LineToken>)| (msg.class() == class).then(|| alteration.of(msg)).flatten();
    let Some((at, new)) = sends.iter().enumerate().find_map(|(at, sent)| Some((at, changed(sent)?))) else {
        return false;
    };
    let port = sends[at].0;
    sends.splice(at..=at, new.into_iter().map(|msg| (port, msg)));
    true
}
