//! `scalepool litmus`: every outcome of a coherence program.

use super::{Status, print_json, report};
use anyhow::Context;
use clap::Args;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_forms::input::read_text;
use scalepool_proof::explore::ExplorationReport;
use scalepool_proof::litmus::{MOST_STATES, herd, parse};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Explore a litmus case or a .litmus file and print every reachable outcome.
///
/// Of a .litmus file of herd7 (X86, AArch64 or LISA) the threads run on cores over coherent agents: those of the line
/// `Protocol=cxl-cache`, `hdm-db` or `hdm-d`. The output has herd's form.
///
/// Of a case each line of the output is one outcome: the final state of each agent as a letter; `fresh` if memory has the value that
/// was stored last, else `old`; the number of transitions that end in this outcome; and, if the case uses poison, whether
/// memory is poisoned and which loads returned poison.
///
/// Exit 0: every state was explored, 1: a broken rule was found, or a `~exists` or `forall` does not hold, 2: the case cannot be read, or it has more states than
/// --max-states, and the output is incomplete.
#[derive(Debug, Args)]
pub(super) struct Litmus {
    /// File with the litmus case, TOML, or .litmus file.
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Stop at this many states. A state takes about 0.8 kB of memory with 8 agents, and twice as much with 16.
    #[arg(long, value_name = "N", default_value_t = MOST_STATES as u64, value_parser = clap::value_parser!(u64).range(1..))]
    max_states: u64,
}

/// Most bytes of a file that is read: cases, scripts.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Prints the progress of a search, with its largest number of states, to stderr.
pub(super) fn progress(most: usize) -> impl FnMut(&ExplorationReport) {
    let (mut said, mut states) = (Instant::now(), 0);
    move |so_far| {
        if said.elapsed() > PROGRESS_EVERY {
            // A second pass, which tells agents apart, counts from 0.
            let new = so_far.states.checked_sub(states).unwrap_or(so_far.states);
            let rate = new as f64 / said.elapsed().as_secs_f64() / 1e3;
            (said, states) = (Instant::now(), so_far.states);
            let pass = if so_far.by_name { "agents told apart: " } else { "" };
            report(format_args!(
                "{pass}{} states so far (limit {most}), depth {}, {} in the next level, {rate:.0} k states/s",
                so_far.states, so_far.depth, so_far.frontier
            ));
        }
    }
}

impl Litmus {
    /// A file of herd7's language.
    fn herd(&self, text: &str, out: &mut dyn Write) -> anyhow::Result<Status> {
        let place = || self.file.display().to_string();
        let test = herd::parse(text).with_context(place)?;
        let most = usize::try_from(self.max_states).unwrap_or(usize::MAX);
        let found = test.explore(CoherenceConfig::default(), most, &mut progress(most)).with_context(place)?;
        if self.json {
            print_json(out, &found.to_json())?
        } else {
            found.print(out)?
        }
        if found.gave_up() {
            report(format_args!("{}: found more than {most} states; outcomes are incomplete (--max-states)", place()));
            return Ok(Status::Refused);
        }
        let is_wrong = found.violation.is_some() || found.is_refuted();
        Ok(if is_wrong { Status::Finding } else { Status::Good })
    }

    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let place = || self.file.display().to_string();
        let text = read_text(&self.file, MOST_BYTES).map_err(|e| anyhow::anyhow!("{}: {e}", place()))?;
        if herd::is_herd(&text) {
            return self.herd(&text, out);
        }
        let case = parse(&text).with_context(place)?;
        let most = usize::try_from(self.max_states).unwrap_or(usize::MAX);
        let found = case.explore_within(most, &mut progress(most)).with_context(place)?;
        if self.json {
            print_json(out, &found.to_json())?;
        } else {
            writeln!(out, "{} states, {} transitions", found.states, found.transitions)?;
            found.print_outcomes(out)?;
            if let Some(v) = &found.violation {
                write!(out, "{}\n{}", v.event, v.chart().text())?;
            }
        }
        if found.gave_up() {
            report(format_args!(
                "{}: found more than {most} states; outcomes are incomplete, broken rules may be unseen (--max-states)",
                place()
            ));
        }
        Ok(match found.violation {
            Some(_) => Status::Finding,
            None if found.complete => Status::Good,
            None => Status::Refused,
        })
    }
}
