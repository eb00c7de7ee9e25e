//! The coherence engine: operations of the random tester, and states of the exploration beside a checker of the Murphi
//! family on a model with the same menu, `benches/murphi/cxl_cache.m`.
//!
//! The other checker is `rumur`, which makes a C program of the model; both search on one thread without symmetry. The
//! states are not the same ones: our agents carry identifiers and values that the model leaves out.

use super::Effort;
use super::table::Table;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::{Limits, search};
use scalepool::proof::stress::{Stress, StressProtocol};
use scalepool::proof::systems::cache::{Setup, system as cache_system};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Operations of a full run.
const OPERATIONS: u64 = 1_000_000;

/// Adds the remarks.
pub fn measure(effort: Effort, table: &mut Table) {
    let operations = OPERATIONS / effort.kernel_part;
    for (name, protocol) in [
        ("CXL.cache, 4 devices", StressProtocol::Cache(4)),
        ("HDM-DB, 4 hosts", StressProtocol::HdmDb(4)),
        ("HDM-D", StressProtocol::HdmD),
    ] {
        let begun = Instant::now();
        let remark = match Stress::new(protocol, 0, operations).run() {
            Ok(counts) => {
                let rate = counts.operations as f64 / begun.elapsed().as_secs_f64() / 1e6;
                format!("coherent operations, {name}: {rate:.2} M/s, {} messages, monitors on", counts.messages)
            }
            Err(failure) => format!("coherent operations, {name}: {failure}"),
        };
        table.remark(remark);
    }
    let devices = if effort.kernel_part == 1 { 3 } else { 2 };
    let config = CoherenceConfig { silent_drop_s: false, ..CoherenceConfig::default() };
    let menu = [Op::RdShared, Op::RdOwn, Op::CleanEvict, Op::DirtyEvict];
    let setup = Setup { waiting_stores: false, orders: false, ..Setup::free(config, devices, &menu) };
    let begun = Instant::now();
    let report = search(&cache_system(setup), Limits { liveness: false, ..Limits::default() });
    let rate = report.states as f64 / begun.elapsed().as_secs_f64() / 1e3;
    table.remark(format!("explored states, CXL.cache, {devices} devices: {} states, {rate:.0} k/s", report.states));
    table.remark(match rumur(devices) {
        Ok((states, seconds)) => {
            format!(
                "explored states, rumur, {devices} devices: {states} states, {:.0} k/s",
                states as f64 / seconds / 1e3
            )
        }
        Err(why) => format!("explored states, rumur: {why}"),
    });
}

/// States and seconds of the other checker.
fn rumur(devices: u16) -> Result<(u64, f64), String> {
    if Command::new("rumur").arg("--version").output().is_err() {
        return Err("not installed".into());
    }
    let model = include_str!("../murphi/cxl_cache.m").replace("DEVICES: 3;", &format!("DEVICES: {devices};"));
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("model.m"), model).map_err(|e| e.to_string())?;
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
        let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr).trim()))
        }
    };
    let options = ["--deadlock-detection", "off", "--threads", "1", "--symmetry-reduction", "off"];
    run(Path::new("rumur"), &[&options[..], &["model.m", "--output", "model.c"]].concat())?;
    run(Path::new("cc"), &["-std=c11", "-O3", "-march=native", "-w", "model.c", "-o", "model", "-lpthread"])?;
    let begun = Instant::now();
    let text = run(&at("model"), &[])?;
    let seconds = begun.elapsed().as_secs_f64();
    let states = text.lines().find(|l| l.contains(" states,")).and_then(|l| l.split_whitespace().next()?.parse().ok());
    Ok((states.ok_or("no count in what it printed")?, seconds))
}
