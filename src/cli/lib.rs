//! The command line, one file a subcommand.
//!
//! Modelled: names, arguments, exit status, and where output goes. Left out: what a form looks like (see
//! [`scalepool_forms`]).
//!
//! Invariants: data on stdout, messages on stderr; exit 0 for success, 1 when a mismatch or a broken rule was found, 2
//! for an input or usage that is refused; a message says what was found, what was expected and where; a pipe that its
//! reader closed is success; no input makes the program panic.
//!
//! A subcommand is a struct of arguments with `run(self, out)`, a file of its own, one row in `Command` and one line in
//! the `match` under it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod batch;
mod check;
mod coverage;
mod curve;
mod decode;
mod describe;
mod diff;
mod encode;
mod explain;
mod explore;
mod export;
mod flit;
mod golden;
mod health;
mod inspect;
mod inspect_dram;
mod inspect_files;
mod junit;
mod list;
mod litmus;
mod rule_wave;
mod run;
mod table;
mod wave_filter;

use clap::{CommandFactory, Parser, Subcommand};
use scalepool_trace::output::end_by_signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Bit-accurate, cycle-approximate model of CXL, UALink and NVLink-like links for RTL co-verification.
#[derive(Debug, Parser)]
#[command(name = "scalepool", version, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str =
    "Exit status: 0 success, 1 a mismatch or a broken rule was found, 2 wrong usage or input that cannot be read.";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Describe(describe::Describe),
    Encode(encode::Encode),
    Decode(decode::Decode),
    Flit(flit::FlitArgs),
    Run(run::RunArgs),
    Check(check::Check),
    Coverage(coverage::Coverage),
    Curve(curve::CurveArgs),
    Diff(diff::DiffArgs),
    Explain(explain::Explain),
    Inspect(inspect::Inspect),
    WaveFilter(wave_filter::WaveFilter),
    Explore(explore::Explore),
    Litmus(litmus::LitmusArgs),
    Golden(golden::Golden),
    Export(export::Export),
}

impl Command {
    fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        match self {
            Command::List(c) => c.run(out),
            Command::Describe(c) => c.run(out),
            Command::Encode(c) => c.run(out),
            Command::Decode(c) => c.run(out),
            Command::Flit(c) => c.run(out),
            Command::Run(c) => c.run(out),
            Command::Check(c) => c.run(out),
            Command::Coverage(c) => c.run(out),
            Command::Curve(c) => c.run(out),
            Command::Diff(c) => c.run(out),
            Command::Explain(c) => c.run(out),
            Command::Inspect(c) => c.run(out),
            Command::WaveFilter(c) => c.run(out),
            Command::Explore(c) => c.run(out),
            Command::Litmus(c) => c.run(out),
            Command::Golden(c) => c.run(out),
            Command::Export(c) => c.run(out),
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandStatus {
    /// Exit status 0.
    Good,
    /// A mismatch or a broken rule: exit status 1.
    Finding,
    /// Some of the input could not be read, which has been reported: exit status 2.
    Refused,
}

impl CommandStatus {
    /// [`CommandStatus::Finding`] when something was found.
    fn of<T>(findings: &[T]) -> CommandStatus {
        if findings.is_empty() { CommandStatus::Good } else { CommandStatus::Finding }
    }
}

/// The whole command line, for what is generated from it.
fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Exit status of wrong usage and of input that cannot be read.
const REFUSED: u8 = 2;

/// Runs the program; the first of `args` is its name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version go to stdout and are success. Nobody is left to tell when they cannot be written.
            let _ = message.print();
            return if message.use_stderr() { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS };
        }
    };
    clean_up_at_signals();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = cli.command.run(&mut out).and_then(|status| {
        out.flush()?;
        Ok(status)
    });
    // What is left in the buffer of a broken pipe must not be written again when it is dropped.
    let _ = out.into_parts();
    match result {
        Ok(CommandStatus::Good) => ExitCode::SUCCESS,
        Ok(CommandStatus::Finding) => ExitCode::from(1),
        Ok(CommandStatus::Refused) => ExitCode::from(REFUSED),
        Err(e) if is_closed_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            // Only stdout is written without a path beside the error.
            match e.downcast_ref::<io::Error>().filter(|e| e.raw_os_error().is_some()) {
                Some(e) => report(format_args!("stdout cannot be written: {e}")),
                None => report(format_args!("{e:#}")),
            }
            ExitCode::from(REFUSED)
        }
    }
}

/// Removes temporary files when a signal ends the program. One that its starter had it ignore goes on being ignored.
fn clean_up_at_signals() {
    let ignored = ignored_signals().unwrap_or(0);
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without them a signal leaves a file behind, which is no reason not to work.
    let Ok(mut signals) = Signals::new(ends) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            end_by_signal(|| drop(emulate_default_handler(signal)));
        }
    });
}

/// A bit for each signal that is ignored, that of signal 1 lowest; Linux says it in hexadecimal.
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// A message on stderr; a closed stderr is no reason to fail.
fn report(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "scalepool: {message}");
}

/// Whether the reader of our output went away.
fn is_closed_pipe(e: &anyhow::Error) -> bool {
    e.chain().filter_map(|e| e.downcast_ref::<io::Error>()).any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// A number of things: `1 beat`, `2 beats`.
fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A JSON value on a line of its own.
fn print_json(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
