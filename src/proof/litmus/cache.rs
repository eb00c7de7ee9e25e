//! Kind `cxl-cache`: every agent is a device cache.

use super::{LitmusCase, LitmusError, LitmusWord};
use crate::explore::Explored;
use crate::systems::cache::{ALL_REQUESTS, Setup, system};
use crate::systems::menu::ProgramOperation;
use scalepool_coherence::cache::home::PORTS;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::ids::AgentPort;

fn act(word: &LitmusWord) -> Result<ProgramOperation, LitmusError> {
    match word.text.as_str() {
        "Load" => Ok(ProgramOperation::Load),
        "Store" => Ok(ProgramOperation::Store),
        name => match ALL_REQUESTS.iter().find(|op| op.name() == Some(name)) {
            Some(op) => Ok(ProgramOperation::Cache(*op)),
            None => {
                let names: Vec<&str> = ALL_REQUESTS.iter().filter_map(|op| op.name()).collect();
                let expected = format!("Load, Store or one of {}", names.join(" "));
                Err(LitmusError::Value { line: word.line, found: name.to_owned(), expected })
            }
        },
    }
}

pub(super) fn start(case: &LitmusCase) -> Result<Box<dyn Explored>, LitmusError> {
    let devices = case.start.len();
    if devices > usize::from(PORTS) {
        let expected = format!("at most {PORTS} devices");
        return Err(LitmusError::Value { line: case.start_line, found: case.start.clone(), expected });
    }
    let programs = case
        .programs
        .iter()
        .map(|p| p.iter().map(act).collect())
        .collect::<Result<Vec<Vec<ProgramOperation>>, LitmusError>>()?;
    let at = |letter| match letter {
        'M' => CacheLineState::M,
        'E' => CacheLineState::E,
        'S' => CacheLineState::S,
        _ => CacheLineState::I,
    };
    let states: Vec<CacheLineState> = case.start.chars().map(at).collect();
    let setup = Setup {
        programs,
        poisoners: case.poisoners.clone(),
        ..Setup::free(case.config.clone(), devices as AgentPort, &[])
    };
    Ok(Box::new(system(setup).start_at(&states).begin()))
}
