//! Kind `hdm-db`: every agent is a host; the home's copy is the device's memory.

use super::{LitmusCase, LitmusError, LitmusWord};
use crate::explore::Explored;
use crate::systems::mem::{Setup, system};
use crate::systems::menu::ProgramOperation;
use scalepool_coherence::ids::AgentPort;
use scalepool_coherence::mem::HostReq;
use scalepool_coherence::mem::tables::Copy4;

/// Hosts of one device in a case: the search of all orders of their messages has no end long before.
const MOST_HOSTS: usize = 16;

/// The operation of a host that a word names.
pub(super) fn act(word: &LitmusWord) -> Result<ProgramOperation, LitmusError> {
    Ok(match word.text.as_str() {
        "MemRdS" => ProgramOperation::Mem(HostReq::RD_SHARED),
        "MemRdA" => ProgramOperation::Mem(HostReq::RD_ANY),
        "MemInv" => ProgramOperation::Mem(HostReq::INV),
        "MemClnEvct" => ProgramOperation::Mem(HostReq::CLN_EVCT),
        "MemWr" => ProgramOperation::WriteBack,
        "Load" => ProgramOperation::Load,
        "Store" => ProgramOperation::Store,
        name => {
            return Err(LitmusError::Value {
                line: word.line,
                found: name.to_owned(),
                expected: "MemRdS, MemRdA, MemInv, MemWr, MemClnEvct, Load or Store".to_owned(),
            });
        }
    })
}

/// The stable state that a letter names.
pub(super) fn state(letter: char) -> Copy4 {
    match letter {
        'M' => Copy4::M,
        'E' => Copy4::E,
        'S' => Copy4::S,
        _ => Copy4::I,
    }
}

pub(super) fn start(case: &LitmusCase) -> Result<Box<dyn Explored>, LitmusError> {
    let hosts = case.start.len();
    if hosts > MOST_HOSTS {
        let expected = format!("at most {MOST_HOSTS} hosts");
        return Err(LitmusError::Value { line: case.start_line, found: case.start.clone(), expected });
    }
    let programs = case.programs.iter().map(|p| p.iter().map(act).collect()).collect::<Result<_, _>>()?;
    let states: Vec<Copy4> = case.start.chars().map(state).collect();
    let setup =
        Setup { programs, poisoners: case.poisoners.clone(), ..Setup::core(case.config.clone(), hosts as AgentPort) };
    Ok(Box::new(system(setup).start_at(&states).begin()))
}
