//! `scalepool inspect`: flits out of a wave of any simulator.

use super::inspect_dram::DramArgs;
use super::inspect_files::{InspectFiles, OpenFiles};
use super::{CommandStatus, counted, print_json, report};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use scalepool_forms::input::read_text;
use scalepool_forms::violation;
use scalepool_inspect::told::{fields, messages, time_ns};
use scalepool_inspect::waiver::{CalendarDay, WaivedFinding};
use scalepool_inspect::{
    InspectDetail, Inspection, InterfaceCount, Map, SeenUnit, WaveViolation, inspect_in_detail, is_fst,
};
use scalepool_link::health::LinkHealth;
use scalepool_trace::output::PartFile;
use serde_json::{Map as Object, Value, json};
use std::env;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Decode the flits in a VCD or FST file of any simulator, or in a capture, and check the protocol rules.
///
/// A capture is a file of flits with their times: a trace of `run` or `inspect`, or lines of your own; see the end of this help.
///
/// The transactions are printed in the order in which they pass. With --dram, a trace of DRAM commands is checked instead.
///
/// Exit 0: no rule is broken, 1: a rule is broken, 2: the wave, the capture, the map or the trace cannot be used.
#[derive(Debug, Args)]
#[command(after_help = MAP_HELP)]
pub(super) struct Inspect {
    /// Wave file, VCD or FST, or a capture of flits: a regular file that is not compressed.
    #[arg(required_unless_present = "dram")]
    wave: Option<PathBuf>,
    /// Map from signals to interfaces; see below.
    #[arg(long, value_name = "MAP.toml", required_unless_present = "dram")]
    map: Option<PathBuf>,
    #[command(flatten)]
    dram: DramArgs,
    #[command(flatten)]
    files: InspectFiles,
    /// Print the figures of each watched end of a link: states, replays, Naks, errors, repairs, credits.
    #[arg(long)]
    health: bool,
    /// Day on which waivers are judged, YYYY-MM-DD; needed if a waiver in the map has a last day.
    #[arg(long, value_name = "DAY", value_parser = CalendarDay::read)]
    today: Option<CalendarDay>,
    /// Also print empty flits.
    #[arg(long)]
    all: bool,
    /// Print JSON lines: one object per flit, and a summary at the end.
    #[arg(long)]
    json: bool,
}

/// Most bytes of a map that is read.
const MAP_BYTES: u64 = 1 << 20;

const MAP_HELP: &str = "\
A map names the signals of one or more interfaces:

  scope = \"tb\"                # optional: prefix of every signal name
  [[interface]]
  name = \"link.down\"          # the name in output and traces
  protocol = \"cxl-68b\"        # as `list protocols` shows it
  dir = \"down\"                # or \"up\"
  clock = \"clk\"               # edge = \"rising\" (default), \"falling\", \"any\"; sample = \"before\", \"after\"
  reset = \"rst_n\"             # optional; reset_active = \"low\" (default), \"high\"
  valid = \"valid\"             # optional
  ready = \"ready\"             # optional
  first = \"sop\"               # optional: 1 at the first beat of a unit; or last = \"eop\": 1 at its last beat
  keep = \"keep\"               # optional: a bit for each byte of data, from byte 0 on: the bytes that count
  data = \"flit[543:0]\"        # byte 0 in bits 7:0; a signal narrower than a unit takes several beats, lowest bits first
  unit_bits = 544             # optional; cxl-68b also 528 (no protocol ID) or 512 (slots only);
                              #   nvlink also 2304 (a whole packet in each beat)
  order = [3, 2, 1, 0]        # optional: byte n of data is byte order[n] of the beat
  bus = \"axi-stream\"          # optional, with prefix: a standard bus of IP cores, whose signals have their usual names:
  prefix = \"m_axis\"           #   axi-stream, credited (like CXS), state (like LPIF and FDI), slots68; the keys above go first
  options = [\"mdh=off\"]       # optional: what the ends have agreed on, as `flit decode --set` has it

Two interfaces may be the two directions of a link. A [[link]] checks one end of that link from the start: sequence numbers,
acknowledgements, replays, credits, and the content of each flit once. To check both ends, write one [[link]] for each:

  [[link]]
  name = \"host\"
  sends = \"link.down\"         # interface at the output of the end, before any fault
  receives = \"link.up\"        # interface at the input of the end
  reaction_flits = 4096       # optional, cxl-68b and ualink: units that the end may send before it has to react
  retry_entries = 255         # optional, cxl-68b; also timeout_flits, max_num_retry, max_num_phy_reinit, flush_flits:
                              #   a limit that is left out is not checked
  selective_nak = false       # optional, the 256B modes
  plain_flits = false         # optional, CXL: protocol flits without a link layer; packing, CRC and messages are judged
  interleave = 1              # optional, ualink: FEC code words that the line interleaves, 1, 2 or 4
  liveness_flits = 131072     # optional: flits for which either side may wait for a credit, an acknowledgement, a replay or the
                              #   end of initialisation (LIV-*); 0: not checked
  liveness_ns = 100000        # optional: the same in time, to the end of the wave or capture; not checked if left out

A [[retimer]] compares two interfaces of the same direction, in front of and behind a device that only passes flits on. It reports
flits that are doubled, reordered or lost, and FEC bytes that do not belong to their flit (LIV-DUP-01, LIV-SWP-01, LIV-LST-01,
LIV-FEC-01):

  [[retimer]]
  name = \"retimer\"           # its name in messages
  before = \"host.down\"       # interface where flits go in
  behind = \"link.down\"       # interface where they come out

A [[coherence]] checks the messages of several links together for copies, data and order. The links are all those of one home of
CXL.cache, or of one device of CXL.mem with its hosts.

  [[coherence]]
  links = [\"host\"]            # names of [[link]]
  memory = \"hdm-h\"            # optional: what answers CXL.mem, \"hdm-h\" (default), \"hdm-db\", \"hdm-d\"
  all_writers_seen = false    # optional: only the agents on these links write the lines

A [[transactions]] checks the tags, order and data of requests and responses. Its links are those of one device of CXL.mem, those of
one home of CXL.cache, or links of CXL.io, UALink or NVLink.

  [[transactions]]
  links = [\"host\"]            # names of [[link]]
  of = \"cxl-mem\"              # optional, CXL: \"cxl-mem\" (default), \"cxl-cache\" or \"cxl-io\"
  memory = \"hdm-h\"            # optional, CXL.mem: as above
  all_writers_seen = false    # optional: only the agents on these links write the lines, so reads are compared
  unique_tags = false         # optional, CXL.mem: no tag is used again while its request is open
  strict = false              # optional, ualink: the links keep strict order
  answer_ns = 1000            # optional: longest time from a request to its last answer; not checked if left out
  ends_at_rest = false        # optional: at the end of the wave or capture every request has been answered

A capture needs no signals. Its lines are `TIME PLACE HEX`, with time in ns and the bytes of a flit from byte 0 on, or JSON objects
with t_fs, where and hex, as traces have them. Where a place has both directions, a line says its own: `TIME PLACE DIR HEX`, or
key dir, with down or up. An [[interface]] takes the lines of its name, or of the place in `where`:

  [[interface]]
  name = \"link.down\"
  protocol = \"cxl-68b\"
  dir = \"down\"
  where = \"analyser.1\"       # optional: the place of its lines

A [[waiver]] takes a broken rule out of the result, up to a day; [severity] makes rules warnings, or ignores them:

  [[waiver]]
  rule = \"CXL68-PCK-06\"       # the rule that may be broken
  interface = \"link.down\"     # optional: on this interface alone
  until = \"2027-03-31\"        # optional: the last day on which the waiver holds
  reason = \"issue 12\"

  [severity]
  \"CXL68-CRC-01\" = \"warning\"  # or \"ignore\"

testbenches/maps/ has the maps of this repository's benches; docs/guide/passive.md explains the keys of a [[link]].";

impl Inspect {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        if env::var_os(INNER).is_some() {
            // A signal that ends the process outside ends this one.
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
            let made = (0..).map_while(|n| env::var_os(made_variable(n))).map(PathBuf::from);
            return self.print_all(&self.inspection(InspectFiles::open_made(made)?)?, out);
        }
        if let Some(trace) = &self.dram.dram {
            return self.dram.judge(trace, self.json, out);
        }
        self.files.check(&[self.wave(), self.map()])?;
        let (mut parts, files) = self.files.create()?;
        if is_fst(self.wave()) {
            let status = self.run_apart(&parts)?;
            if !matches!(status, CommandStatus::Refused) {
                parts.iter_mut().try_for_each(PartFile::keep)?;
            }
            return Ok(status);
        }
        let inspection = self.inspection(files)?;
        parts.iter_mut().try_for_each(PartFile::keep)?;
        self.print_all(&inspection, out)
    }

    /// The wave, which is given where no trace of DRAM commands is.
    fn wave(&self) -> &Path {
        self.wave.as_deref().unwrap_or(Path::new(""))
    }

    /// The map, likewise.
    fn map(&self) -> &Path {
        self.map.as_deref().unwrap_or(Path::new(""))
    }

    /// Reads map and wave and writes the files.
    fn inspection(&self, files: OpenFiles) -> anyhow::Result<Inspection> {
        let map_path = self.map().display().to_string();
        // An error of the system alone would be taken for one of stdout.
        let text = read_text(self.map(), MAP_BYTES).map_err(|e| anyhow!("{map_path}: cannot be read: {e}"))?;
        let map = Map::read(&text, &map_path)?;
        // What is found does not depend on the time of day unless the caller says so.
        if self.today.is_none() && map.waiver.iter().any(|waiver| waiver.until.is_some()) {
            bail!(
                "{map_path}: found a waiver with a last day, expected --today DAY beside it, such as --today $(date +%F)"
            );
        }
        let detail = InspectDetail { today: self.today, ..self.files.detail() };
        let inspection = beside_stdout(|| inspect_in_detail(self.wave(), map, &map_path, detail))??;
        self.files.write(files, self.wave(), &inspection)?;
        Ok(inspection)
    }

    fn print_all(&self, inspection: &Inspection, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        for seen in inspection.seen.iter().filter(|seen| self.all || !is_idle(seen)) {
            let name = &inspection.map.interface[seen.interface].name;
            if self.json {
                print_json(out, &object(name, seen))?;
            } else {
                print(out, name, seen)?;
            }
        }
        if self.json {
            let counts: Vec<Value> = inspection.counts.iter().map(count_object).collect();
            let health: Vec<Value> = inspection.health.iter().map(health_object).collect();
            print_json(out, &json!({ "summary": counts, "health": health }))?;
        } else {
            summary(out, &inspection.counts, inspection.signals.is_empty())?;
            if self.health {
                super::health::print(out, "link", &inspection.health)?;
            }
        }
        for count in &inspection.counts {
            remark(count, inspection.signals.is_empty());
        }
        inspection.remarks.iter().for_each(report);
        Ok(if inspection.counts.iter().all(|c| c.violations == 0) {
            CommandStatus::Good
        } else {
            CommandStatus::Finding
        })
    }
}

/// Set for the process that reads an FST. The process outside has made the files that it writes, and removes them when the
/// reader breaks down.
const INNER: &str = "SCALEPOOL_INSPECT_INNER";

/// Variable with the path of the file of a number that the process outside has made.
fn made_variable(n: usize) -> String {
    format!("{INNER}_{n}")
}

impl Inspect {
    /// The same in a process of its own. A damaged FST can ask its reader for any amount of memory, at which the system ends
    /// the process, and nothing in it can turn that into an error.
    fn run_apart(&self, parts: &[PartFile]) -> anyhow::Result<CommandStatus> {
        let program = env::current_exe().context("the program cannot be found again")?;
        let mut inner = Command::new(program);
        inner.args(env::args_os().skip(1)).env(INNER, "1").stdin(Stdio::null()).stderr(Stdio::piped());
        inner.envs(parts.iter().enumerate().map(|(n, part)| (made_variable(n), part.written_at())));
        let ended = inner.spawn()?.wait_with_output()?;
        let status = match ended.status.code() {
            Some(0) => CommandStatus::Good,
            Some(1) => CommandStatus::Finding,
            Some(_) => CommandStatus::Refused,
            None => bail!(
                "{}: found a damaged FST at which its reader broke down, expected a whole one",
                self.wave().display()
            ),
        };
        io::stderr().write_all(&ended.stderr)?;
        Ok(status)
    }
}

/// Does what may print to stdout in the middle of it, as the reader of waves does where it wonders; that goes to stderr.
fn beside_stdout<T>(what: impl FnOnce() -> T) -> anyhow::Result<T> {
    let mut stdout = io::stdout().lock();
    let kept = stdout.as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    let done = what();
    stdout.flush()?;
    rustix::stdio::dup2_stdout(kept)?;
    Ok(done)
}

/// What would be missed without a word.
fn remark(count: &InterfaceCount, is_capture: bool) {
    let name = &count.name;
    if is_capture {
        if count.left_over_beats > 0 {
            report(format_args!("interface `{name}`: the capture ends inside a packet"));
        }
        return;
    }
    if count.edges > 0 && count.units == 0 {
        report(format_args!("interface `{name}`: no flit in {} edges of its clock", count.edges));
    }
    if count.left_over_beats > 0 {
        report(format_args!(
            "interface `{name}`: the wave ends {} into a flit",
            counted(count.left_over_beats, "beat")
        ));
    }
}

/// Whether a unit carries no message, no control and no finding.
fn is_idle(seen: &SeenUnit) -> bool {
    let kind = seen.form.as_ref().and_then(|form| form["kind"].as_str()).unwrap_or_default();
    let carries = ["control", "almp", "io", "all-data"].contains(&kind);
    let messages = seen.form.as_ref().map(messages).unwrap_or_default();
    seen.broken.is_empty() && seen.waived.is_empty() && !carries && messages.is_empty()
}

fn print(out: &mut dyn Write, name: &str, seen: &SeenUnit) -> io::Result<()> {
    write!(out, "{} {name}", time(seen.t_fs))?;
    if let Some(form) = &seen.form {
        write!(out, " #{} {}", form["index"], form["kind"].as_str().unwrap_or("unit"))?;
        if let Some(control) = form.get("control").and_then(|c| c["name"].as_str()) {
            write!(out, " {control}")?;
        }
        if let Some(header) = form.get("packet").map(|packet| &packet["header"]) {
            write!(out, "{}", fields(header.as_object()))?;
        }
    }
    writeln!(out)?;
    for (layout, values) in seen.form.as_ref().map(messages).unwrap_or_default() {
        writeln!(out, "  {layout}{}", fields(Some(values)))?;
    }
    for broken in &seen.broken {
        writeln!(out, "  broken: {} {} {}", time(broken.t_fs), broken.signal, broken.violation)?;
    }
    for WaivedFinding { found, reason } in &seen.waived {
        let why = reason.as_ref().map_or_else(|| "warning".to_owned(), |reason| format!("waived ({reason})"));
        writeln!(out, "  {why}: {} {} {}", time(found.t_fs), found.signal, found.violation)?;
    }
    Ok(())
}

/// A time in ns, exact.
fn time(t_fs: u64) -> String {
    format!("{} ns", time_ns(t_fs))
}

fn summary(out: &mut dyn Write, counts: &[InterfaceCount], is_capture: bool) -> io::Result<()> {
    let edges = if is_capture { "lines" } else { "edges" };
    let mut table = super::table::TextTable::new(["interface", edges, "flits", "violations"]);
    for count in counts {
        table.row([count.name.clone(), count.edges.to_string(), count.units.to_string(), count.violations.to_string()]);
    }
    table.print(out)
}

fn health_object((name, health): &(String, LinkHealth)) -> Value {
    json!({ "link": name, "figures": health.json() })
}

fn count_object(count: &InterfaceCount) -> Value {
    json!({
        "interface": count.name,
        "edges": count.edges,
        "flits": count.units,
        "violations": count.violations,
        "left_over_beats": count.left_over_beats,
    })
}

fn object(name: &str, seen: &SeenUnit) -> Value {
    let list = |all: &[WaveViolation]| all.iter().map(broken_object).collect::<Vec<_>>();
    let mut form = json!({
        "t_fs": seen.t_fs,
        "cycle": seen.cycle,
        "where": name,
        "flit": seen.form,
        "violations": list(&seen.broken),
        "lints": list(&seen.lints),
    });
    // Few maps waive anything, so the key is there only where something is.
    if !seen.waived.is_empty() {
        let waived = seen.waived.iter().map(|waived| {
            let mut object = broken_object(&waived.found);
            object["reason"] = waived.reason.clone().into();
            object
        });
        form["waived"] = waived.collect();
    }
    form
}

/// The form of a violation, with time and signal before it.
fn broken_object(broken: &WaveViolation) -> Value {
    let mut object = Object::new();
    object.insert("t_fs".into(), broken.t_fs.into());
    object.insert("signal".into(), broken.signal.clone().into());
    if let Value::Object(form) = violation::to_json(&broken.violation) {
        object.extend(form);
    }
    Value::Object(object)
}
