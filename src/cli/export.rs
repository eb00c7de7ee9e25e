//! `scalepool export`: derived artefacts.

use super::{CommandStatus, explore};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::{Generator, Shell};
use scalepool_broken::BrokenCases;
use scalepool_coherence::clocked::coverage::CoverageTable;
use scalepool_conversion::vectors::ConversionVectors;
use scalepool_export::markdown::BreakShown;
use scalepool_export::{File, plan::Extras};
use scalepool_golden::fabric::FabricVectors;
use scalepool_link::coverage::Met;
use scalepool_link::link_coverage::LinkCoverage;
use scalepool_link::protocol::LinkProtocol;
use scalepool_proof::models::{self, ModelRequest};
use scalepool_proof::{docs, flows};
use scalepool_protocols::registry;
use scalepool_protocols::rules::Rule;
use scalepool_scenario::{ScenarioRequest, described};
use scalepool_system::bench::{self, BenchSource};
use scalepool_system::schema;
use scalepool_trace::output::PartFile;
use std::env;
use std::io::Write;
use std::path::PathBuf;

/// Write files that are generated from the layouts and rules.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Format {
    /// Markdown: field tables of all layouts, slot formats, rules, tables and flows of the coherence engine.
    Md(OutputFolder),
    /// SystemVerilog: one package per family with packed structs, enums, field positions and slot formats, and one package of
    /// classes for messages, link ends and transactions over DPI-C, and modules for interfaces that cores have.
    Sv(OutputFolder),
    /// C: one header per family with field positions and codes, and one header that reads and writes fields in byte buffers.
    C(OutputFolder),
    /// SystemVerilog assertions: one file per family to bind to a port, for rules that one message or flit alone can break.
    Sva(OutputFolder),
    /// GTKWave: save files that split the vectors of a design into fields, and the names of codes.
    Gtkwave(OutputFolder),
    /// Surfer: the names of codes as mapping translators; written from the description of their form, not tried in Surfer.
    Surfer(OutputFolder),
    /// SystemRDL: DVSECs, HDM decoders and the control window of a bridge as one file of address maps.
    Systemrdl(OutputFolder),
    /// UVM: DVSECs, HDM decoders and the control window of a bridge as a package of register blocks (`uvm_reg_block`).
    Uvm(OutputFolder),
    /// JSON Schema of system descriptions, for editors.
    Schema(OutputFolder),
    /// Bench for a component in RTL: a module with its ports, a top level and a cocotb test; the model is the rest of the system.
    Bench(BenchOf),
    /// Vectors of the bridge between UALink or NVLink and CXL: all messages at its ports for commands, windows, errors and cached lines, one JSON
    /// object for each case.
    Conversions(OutputFolder),
    /// Vectors of the CXL fabric: HDM decoders, segment tables and identifiers at edge ports, routing tables, routes of topologies,
    /// one JSON object for each case.
    Fabric(OutputFolder),
    /// Verification plan: one CSV table of rules with their tests, coverage points, vector sets and seeds.
    Plan(OutputFolder),
    /// Murphi: a protocol as a model for checkers of that family, such as rumur, in the scope of an exploration.
    Murphi(MurphiOf),
    /// TLA+: a home of CXL.cache with its memory over CXL.mem, as a module and a configuration for TLC. Its syntax is
    /// tested; no model checker has run it.
    Tla(TlaOf),
    /// Shell completion: one file each for bash, elvish, fish, PowerShell and zsh.
    Completion(OutputFolder),
    /// Man pages: one for the program and one for each subcommand.
    Man(OutputFolder),
}

/// What is filled in.
#[derive(Debug, Args)]
struct ScopeOf {
    /// How many caching devices or hosts.
    #[arg(long, value_name = "N")]
    agents: Option<u16>,
    /// Operations that agents may begin besides stores, separated by commas; `Waiting` for requests with a store that waits.
    #[arg(long, value_name = "A,B,..")]
    ops: Option<String>,
    /// Set an option, as `explore` does. May be repeated.
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
}

impl ScopeOf {
    fn request(self) -> anyhow::Result<ModelRequest> {
        Ok(ModelRequest { agents: self.agents, ops: self.ops, config: explore::options(&self.set)?, mutant: None })
    }
}

#[derive(Debug, Args)]
struct TlaOf {
    /// Name of an exploration: cxl-cache-2-memory.
    name: String,
    #[command(flatten)]
    scope: ScopeOf,
    #[command(flatten)]
    to: OutputFolder,
}

impl TlaOf {
    fn files(self) -> anyhow::Result<Vec<File>> {
        let files = models::find(&self.name)?.tla(&self.scope.request()?)?;
        Ok(files.into_iter().map(|(name, text)| File { name, text }).collect())
    }
}

#[derive(Debug, Args)]
struct MurphiOf {
    /// Name of an exploration: cxl-cache-2, cxl-cache-2-core, cxl-cache-2-memory, cxl-cache-3, hdm-db-2, hdm-db-3,
    /// hdm-db-two-levels or hdm-d.
    name: String,
    #[command(flatten)]
    scope: ScopeOf,
    /// Break this rule of the model.
    #[arg(long, value_name = "RULE")]
    mutant: Option<String>,
    /// File to write to, instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl MurphiOf {
    fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let request = ModelRequest { mutant: self.mutant, ..self.scope.request()? };
        let text = models::find(&self.name)?.murphi(&request)?;
        match &self.out {
            Some(path) => {
                PartFile::write(path, text.as_bytes())?;
                writeln!(out, "{}", path.display())?;
            }
            None => out.write_all(text.as_bytes())?,
        }
        Ok(CommandStatus::Good)
    }
}

/// The vectors of the bridge.
fn conversions() -> Vec<File> {
    let file = |vectors: ConversionVectors| File {
        name: format!("{}.jsonl", vectors.name),
        text: vectors.text(env!("CARGO_PKG_VERSION")),
    };
    scalepool_conversion::vectors::all().into_iter().map(file).collect()
}

/// The vectors of the CXL fabric.
fn fabric() -> Vec<File> {
    let file = |vectors: FabricVectors| File {
        name: format!("{}.jsonl", vectors.name),
        text: vectors.text(env!("CARGO_PKG_VERSION")),
    };
    scalepool_golden::fabric::all().into_iter().map(file).collect()
}

#[derive(Debug, Args)]
struct OutputFolder {
    /// Folder to write to; it is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct BenchOf {
    /// Name of a scenario, or the file of a system description, FILE.toml.
    system: String,
    /// Component to implement in RTL, such as `host` or `accel[1]`. Its module contains its link ends and exchanges flits;
    /// `describe KIND` shows whether a kind offers `flits`. A bench that exchanges `messages` does not exist yet.
    #[arg(long, value_name = "NAME[=flits]")]
    external: String,
    /// Change a setting, as `run` does. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    to: OutputFolder,
}

impl BenchOf {
    fn files(&self) -> anyhow::Result<Vec<File>> {
        let request =
            ScenarioRequest { scenario: self.system.clone(), set: self.set.clone(), ..ScenarioRequest::default() };
        let system = scalepool_scenario::system(&request)?;
        // The test runs in the folder of the bench.
        let file = Some(PathBuf::from(&self.system)).filter(|_| described::is_file(&self.system));
        let source = match file.map(|file| file.canonicalize()).transpose()? {
            Some(file) => file.display().to_string(),
            None => self.system.clone(),
        };
        let files = bench::bench(system, &self.external, &BenchSource { system: source, set: self.set.clone() })?;
        Ok(files.into_iter().map(|(name, text)| File { name, text }).collect())
    }
}

/// A completion file for each shell, under the name by which the shell looks for it.
fn completion() -> anyhow::Result<Vec<File>> {
    let file = |shell: &Shell| {
        let (mut command, mut text) = (crate::command(), Vec::new());
        let name = command.get_name().to_owned();
        clap_complete::generate(*shell, &mut command, &name, &mut text);
        Ok(File { name: shell.file_name(&name), text: String::from_utf8(text)? })
    };
    Shell::value_variants().iter().map(file).collect()
}

/// The page of a command and those of its subcommands, `scalepool-flit-decode.1` for `scalepool flit decode`.
fn man(command: clap::Command, files: &mut Vec<File>) -> anyhow::Result<()> {
    let mut text = Vec::new();
    // A built command knows the names of those above it.
    let page = clap_mangen::Man::new(command.clone());
    page.render(&mut text)?;
    files.push(File { name: page.get_filename(), text: String::from_utf8(text)? });
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    for below in below {
        man(below.clone(), files)?;
    }
    Ok(())
}

/// Coverage points, vector sets and runs for the plan.
pub(super) fn extras() -> Extras {
    let of_links = LinkProtocol::ALL.into_iter().flat_map(|protocol| LinkCoverage::new(protocol).met());
    let points = of_links.flat_map(|met| {
        let Met { protocol, group, bins } = met;
        bins.into_iter().map(move |(bin, _)| (protocol, format!("{group}: {bin}")))
    });
    let of_agents = CoverageTable::ALL.into_iter().flat_map(|table| {
        table.row_names().into_iter().map(move |row| ("coherence", format!("{}: {row}", table.name())))
    });
    let layouts = registry::layouts().map(|layout| (layout.name.to_owned(), layout.name.replacen('.', "/", 1)));
    let flits = registry::PROTOCOLS.iter().flat_map(|p| {
        ["down", "up"].map(|dir| (format!("{} {dir}", p.name), format!("{}/flit_{}_{dir}", p.family, p.name)))
    });
    let vectors =
        layouts.chain(flits).map(|(name, file)| (name, format!("golden/{file}"), scalepool_golden::DEFAULT_SEED));
    Extras { coverage: points.chain(of_agents).collect(), vectors: vectors.collect(), runs: RUNS.to_vec() }
}

/// Runs with fixed seeds.
const RUNS: &[(&str, &str, &str)] = &[
    ("reference waves and traces", "waves/*, testbenches/tests/waves.rs", "1"),
    ("same bytes everywhere", "testbenches/tests/determinism.cases", "7"),
    ("soak at bit error rates 1e-6 1e-5 1e-4", "make soak", "1 2 3 4"),
];

/// What a page shows of a broken rule.
fn shown(cases: &BrokenCases, rule: &Rule) -> anyhow::Result<BreakShown> {
    Ok(match cases.find(rule)? {
        Some(case) => BreakShown::Case { what: case.what.clone(), timeline: case.timeline() },
        None => BreakShown::Reason(cases.reason(rule).unwrap_or_default().to_owned()),
    })
}

impl Export {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let (folder, files) = match self.format {
            Format::Md(to) => {
                let cases = BrokenCases::of("", &env::temp_dir());
                let mut files = scalepool_export::markdown::files(|rule| shown(&cases, rule))?;
                files.push(File { name: "coherence_flows.md".into(), text: flows::markdown(false)? });
                files.push(File { name: "coherence_tables.md".into(), text: docs::markdown() });
                files.sort_by(|a, b| a.name.cmp(&b.name));
                (to.out, files)
            }
            Format::Sv(to) => (to.out, scalepool_export::systemverilog::files()),
            Format::C(to) => (to.out, scalepool_export::c_header::files()),
            Format::Sva(to) => (to.out, scalepool_export::sva::files()),
            Format::Gtkwave(to) => (to.out, scalepool_export::gtkwave::files()),
            Format::Surfer(to) => (to.out, scalepool_export::surfer::files()),
            Format::Systemrdl(to) => (to.out, scalepool_export::systemrdl::files()),
            Format::Uvm(to) => (to.out, scalepool_export::uvm_registers::files()),
            Format::Schema(to) => {
                let text = serde_json::to_string_pretty(&schema::schema())? + "\n";
                (to.out, vec![File { name: "scalepool.schema.json".into(), text }])
            }
            Format::Bench(of) => (of.to.out.clone(), of.files()?),
            Format::Conversions(to) => (to.out, conversions()),
            Format::Fabric(to) => (to.out, fabric()),
            Format::Plan(to) => (to.out, scalepool_export::plan::files(&extras(), None)),
            Format::Murphi(of) => return of.run(out),
            Format::Tla(of) => (of.to.out.clone(), of.files()?),
            Format::Completion(to) => (to.out, completion()?),
            Format::Man(to) => {
                let mut files = Vec::new();
                man(crate::command(), &mut files)?;
                (to.out, files)
            }
        };
        for name in scalepool_export::write(&folder, &files)? {
            writeln!(out, "{}", folder.join(name).display())?;
        }
        Ok(CommandStatus::Good)
    }
}
