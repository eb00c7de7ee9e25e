//! The bench of a component that stands in RTL: a module with exactly its ports, a top level with a test for cocotb, and one
//! that calls the model through DPI-C.
//!
//! Modelled: nothing. The files hold the system around the component by its name or file; the module begins as a stub through
//! which the model answers, so that the bench passes before there is any RTL. Left out: benches for links without whole units, and
//! for components that exchange messages.
//!
//! A walk through one: the component is looked up; it and its neighbours stand outside by their flits, which not every kind offers;
//! the system is built once, for the size of units at its ports; the templates beside this file are filled in.

use super::build::{AssemblyError, Run, assemble};
use super::design::System;
use super::kind::ExternalComponent;
use std::fmt::Write;

/// Clocks of units that the test runs for.
const CLOCKS: u64 = 4000;

/// How the component stands outside.
const FLITS: &str = ExternalComponent::Flits.name();

/// Why there is no bench.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No component of that name.
    #[error("--external: found `{found}`, expected a component of the system: {expected}")]
    Component {
        /// What was given.
        found: String,
        /// Those that there are.
        expected: String,
    },
    /// A bench of another way to stand outside.
    #[error(
        "--external: found `{path}={found}`, expected `{path}` or `{path}=flits`: a bench exchanges flits with its component"
    )]
    How {
        /// The component.
        path: String,
        /// The way.
        found: String,
    },
    /// The component has no port.
    #[error(
        "--external: found `{path}`, which has no port, expected a component with links, by which its bench reaches it"
    )]
    Ports {
        /// Its path.
        path: String,
    },
    /// The component, or one beside it, cannot be external by its flits.
    #[error(
        "--external: found `{path}`, expected a component that like those beside it can be external by its flits: `{kind}` of `{refused}` cannot"
    )]
    Kind {
        /// The component.
        path: String,
        /// Which cannot.
        refused: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The system cannot be built.
    #[error(transparent)]
    Build(#[from] AssemblyError),
}

/// Where the system comes from, as Python takes it, and the settings that change it.
#[derive(Debug, Clone)]
pub struct BenchSource {
    /// The name of a scenario, or the file of a description.
    pub system: String,
    /// `key=value`.
    pub set: Vec<String>,
}

/// A port of the module.
struct BenchPort {
    /// Name of its signals.
    signals: String,
    own: String,
    peer: String,
    /// Of its units.
    bytes_per_s: f64,
    bytes: usize,
}

impl BenchPort {
    /// From one unit to the next.
    fn unit_fs(&self) -> u64 {
        (self.bytes as f64 * 1e15 / self.bytes_per_s).ceil() as u64
    }
}

/// The bench of a component: names of files and what they hold.
///
/// # Errors
/// The component is not there, or cannot stand outside.
pub fn bench(system: System, component: &str, source: &BenchSource) -> Result<Vec<(String, String)>, BenchError> {
    let (component, how) = component.split_once('=').unwrap_or((component, FLITS));
    if how != FLITS {
        return Err(BenchError::How { path: component.to_owned(), found: how.to_owned() });
    }
    let at = system.components.iter().position(|c| c.path == component).ok_or_else(|| BenchError::Component {
        found: component.to_owned(),
        expected: system.components.iter().map(|c| c.path.as_str()).collect::<Vec<_>>().join(", "),
    })?;
    let own = &system.components[at];
    if own.ports.is_empty() {
        return Err(BenchError::Ports { path: own.path.clone() });
    }
    // The stub of the bench is the component in a system of its own, where those beside it are external.
    let beside = own.ports.iter().flat_map(|port| system.links[port.link].ports.map(|(component, _)| component));
    let refused = [at].into_iter().chain(beside).map(|n| &system.components[n]);
    if let Some(refused) = refused.into_iter().find(|of| !of.kind.external.contains(&FLITS)) {
        return Err(BenchError::Kind {
            path: own.path.clone(),
            refused: refused.path.clone(),
            kind: refused.kind.name,
        });
    }
    let mut neighbours = Vec::new();
    let mut ports = Vec::new();
    for port in &own.ports {
        let link = &system.links[port.link];
        let (peer, peer_port) = link.ports[1 - port.end];
        let beside = &system.components[peer];
        neighbours.push(beside.path.clone());
        let bytes_per_s = link.config.facts().unit_bytes_per_s;
        let signals = flat(port.path.strip_prefix(&format!("{}.", own.path)).unwrap_or(&port.path));
        ports.push(BenchPort {
            signals,
            own: port.path.clone(),
            peer: beside.ports[peer_port].path.clone(),
            bytes_per_s,
            bytes: 0,
        });
    }
    scalepool_ordered::sort(&mut neighbours);
    neighbours.dedup();
    let is_noisy = system.links.iter().any(|link| link.config.ber() > 0.0);
    let (path, kind, name) = (own.path.clone(), own.kind.name, system.name.clone());
    let assembly = assemble(system, Run { seed: 1, ..Run::default() })?;
    for port in &mut ports {
        port.bytes = assembly.ports.iter().find(|p| p.name == port.own).map_or(0, |p| p.unit_bytes);
    }
    // The links of a component may differ: its clock is that of the units of the fastest one.
    let unit_fs = ports.iter().map(BenchPort::unit_fs).min().unwrap_or(0);
    let (num, den) = assembly.figures.reference.period();
    let module = flat(&path);
    let table: Vec<String> = ports
        .iter()
        .map(|p| format!("({}, {}, {}, {})", quoted(&p.signals), quoted(&p.own), quoted(&p.peer), p.bytes))
        .collect();
    let values: &[(&str, String)] = &[
        ("PATH", path.clone()),
        ("KIND", kind.to_owned()),
        ("SYSTEM", name),
        ("MODULE", module.clone()),
        ("PORTS", signals(&ports)),
        ("STUB", stub(&ports)),
        ("SOURCE", quoted(&source.system)),
        ("SETTINGS", list(&source.set)),
        ("OWN", quoted(&path)),
        ("OTHERS", list(&neighbours)),
        ("TABLE", format!("[{}]", table.join(", "))),
        ("UNIT_FS", unit_fs.to_string()),
        ("SLOWER", slower(&ports, unit_fs)),
        ("CYCLE_FS", num.div_ceil(den).to_string()),
        ("NOISE", if is_noisy { "True" } else { "False" }.to_owned()),
        ("CLOCKS", CLOCKS.to_string()),
        ("NOISE_BIT", u8::from(is_noisy).to_string()),
        ("WIRES", wires(&ports)),
        ("TASKS", ports.iter().map(clock_of).collect()),
        ("CALLS", ports.iter().map(|port| format!("            {}_clock;\n", port.signals)).collect()),
        ("SOURCE_ESCAPED", quoted(&source.system).replace('\\', r"\\").replace('"', r#"\""#)),
        ("SET_ALL", source.set.iter().map(|text| format!("        set(sim, {});\n", quoted(text))).collect()),
        ("OWN_EXTERNAL", external(&path)),
        (
            "OTHERS_EXTERNAL",
            neighbours.iter().map(|path| format!("        set(in_its_place, {});\n", external(path))).collect(),
        ),
        ("WATCH_OWN", ports.iter().map(|port| format!("        watch(around, {});\n", quoted(&port.own))).collect()),
        (
            "WATCH_OTHERS",
            ports.iter().map(|port| format!("        watch(in_its_place, {});\n", quoted(&port.peer))).collect(),
        ),
    ];
    let filled = |template: &str| fill(template, values);
    Ok(vec![
        ("Makefile".to_owned(), filled(include_str!("bench/Makefile.txt"))),
        ("bench.sv".to_owned(), filled(include_str!("bench/bench.sv"))),
        (format!("{module}.sv"), filled(include_str!("bench/component.sv"))),
        (format!("test_{module}.py"), filled(include_str!("bench/test.py"))),
        ("bench_dpi.sv".to_owned(), filled(include_str!("bench/bench_dpi.sv"))),
    ])
}

/// What the module has to know of ports whose units come less often than its clock: comments, one a port.
fn slower(ports: &[BenchPort], clock_fs: u64) -> String {
    let slow = ports.iter().filter(|port| port.unit_fs() > clock_fs);
    let clocks = |port: &BenchPort| port.unit_fs() as f64 / clock_fs as f64;
    let text = |port: &BenchPort| {
        format!("// `{}` carries a unit every {:.2} cycles on the average.\n", port.signals, clocks(port))
    };
    slow.map(text).collect()
}

/// A template with its values.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (key, value)| text.replace(&format!("@{key}@"), value))
}

/// The setting that lets a component stand outside, as a string.
fn external(path: &str) -> String {
    quoted(&format!("component.{path}.external={FLITS}"))
}

/// The task of a port in the bench with DPI-C.
fn clock_of(port: &BenchPort) -> String {
    let values = [
        ("SIGNALS", port.signals.clone()),
        ("OWN", port.own.clone()),
        ("PEER", port.peer.clone()),
        ("BYTES", port.bytes.to_string()),
    ];
    fill(include_str!("bench/port_dpi.sv"), &values)
}

/// Signals of the ports in the bench with DPI-C.
fn wires(ports: &[BenchPort]) -> String {
    let each = ports.iter().map(|BenchPort { signals, bytes, .. }| {
        let top = 8 * bytes - 1;
        format!(
            "    logic {signals}_rx_valid = 0, {signals}_tx_valid;\n    logic [{top}:0] {signals}_rx_unit = '0, {signals}_tx_unit;\n"
        )
    });
    each.collect()
}

/// A path as a name of SystemVerilog and Python: `host[1].cxl` is `host_1_cxl`.
fn flat(path: &str) -> String {
    path.replace("].", "_").replace(['[', '.'], "_").replace(']', "")
}

/// A string of Python.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// Ports of the module, behind clock and reset.
fn signals(ports: &[BenchPort]) -> String {
    let mut text = String::new();
    for BenchPort { signals, bytes, .. } in ports {
        let top = 8 * bytes - 1;
        for (way, name) in [("input ", "rx"), ("output", "tx")] {
            let _ = write!(
                text,
                ",\n    {way} logic {signals}_{name}_valid,\n    {way} logic [{top}:0] {signals}_{name}_unit"
            );
        }
    }
    text
}

/// The inside of the stub: a register between the model and each transmitter.
fn stub(ports: &[BenchPort]) -> String {
    let mut text = String::new();
    for BenchPort { signals, bytes, .. } in ports {
        let top = 8 * bytes - 1;
        let _ = write!(
            text,
            "    logic model_{signals}_tx_valid = 1'b0;\n    logic [{top}:0] model_{signals}_tx_unit = '0;\n\
             \x20   always_ff @(posedge clk) begin\n\
             \x20       {signals}_tx_valid <= rst_n && model_{signals}_tx_valid;\n\
             \x20       {signals}_tx_unit <= model_{signals}_tx_unit;\n    end\n"
        );
    }
    text
}
