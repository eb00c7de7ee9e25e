//! Kind `hdm-d`: agent 0 is the device, agent 1 the host; the home's copy is the device's memory.

use super::{LitmusCase, LitmusError, LitmusWord, mem};
use crate::explore::Explored;
use crate::systems::bias::{Setup, system};
use crate::systems::menu::ProgramOperation;
use scalepool_coherence::bias::tables;

fn device_act(word: &LitmusWord) -> Result<ProgramOperation, LitmusError> {
    match word.text.as_str() {
        "Load" => Ok(ProgramOperation::Load),
        "Store" => Ok(ProgramOperation::Store),
        name => {
            let mut known = tables::ROWS.iter().flat_map(|r| r.opcodes);
            match known.clone().find(|o| o.name() == Some(name)) {
                Some(&opcode) => Ok(ProgramOperation::Cache(opcode)),
                None => {
                    let names: Vec<&str> = known.by_ref().filter_map(|o| o.name()).collect();
                    let expected = format!("Load, Store or one of {}", names.join(" "));
                    Err(LitmusError::Value { line: word.line, found: name.to_owned(), expected })
                }
            }
        }
    }
}

pub(super) fn start(case: &LitmusCase) -> Result<Box<dyn Explored>, LitmusError> {
    let letters: Vec<char> = case.start.chars().collect();
    let (&[device, host], [device_words, host_words]) = (letters.as_slice(), case.programs.as_slice()) else {
        let expected = "two agents, the device and the host".to_owned();
        return Err(LitmusError::Value { line: case.start_line, found: case.start.clone(), expected });
    };
    let device_program = device_words.iter().map(device_act).collect::<Result<_, _>>()?;
    // MemClnEvct is illegal on HDM-D (§3.2): a host never issues it, so its program ends there.
    let host_program = host_words.iter().map(mem::act).collect::<Result<_, _>>()?;
    let everything = Setup::everything(case.config.clone());
    let poisoners = case.poisoners.clone();
    let setup = Setup { device_program, host_program, programs: true, poisoners, ..everything };
    Ok(Box::new(system(setup).start_at(&[mem::state(device), mem::state(host)]).begin()))
}
