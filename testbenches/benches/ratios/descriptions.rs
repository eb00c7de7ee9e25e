//! How long a large description takes until its system can run: 2,000 components and 1,000 links, each written out.
//!
//! The text is read to a document, resolved to components and links, and built to a simulation, which does not run. The best
//! of a few turns counts, and each step has its own time.

use super::Effort;
use super::table::Table;
use scalepool::system::build::{Run, assemble};
use scalepool::system::description::Description;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Hosts, each with a memory behind a link; a quick run has fewer.
const PAIRS: u64 = 1000;
/// Most turns.
const TURNS: u32 = 5;

fn text(pairs: u64) -> String {
    let mut text = "format = 1\n[system]\nname = \"pairs\"\n[clock]\ncore = { period = \"500 ps\" }\n".to_owned();
    for n in 0..pairs {
        let pair = format!(
            "[component.host{n}]\nkind = \"cxl.host\"\noutstanding = 32\nstimulus = {{ pattern = \"mix\", accesses = 200 }}\n\
             [component.memory{n}]\nkind = \"cxl.memory\"\nsize = \"16 GiB\"\n\
             [link.cxl{n}]\nkind = \"cxl-256b\"\nbetween = [\"host{n}.cxl\", \"memory{n}.cxl\"]\n"
        );
        // Nothing fails that writes to a text.
        let _ = text.write_str(&pair);
    }
    text
}

/// Seconds of reading, resolving and building.
fn turn(text: &str) -> Result<[f64; 3], String> {
    let mut begun = Instant::now();
    let mut lap = || std::mem::replace(&mut begun, Instant::now()).elapsed().as_secs_f64();
    let description = Description::parse("bench", PathBuf::new(), text).map_err(|e| e.to_string())?;
    let read = lap();
    let system = description.resolve().map_err(|e| e.to_string())?;
    let resolved = lap();
    let assembly = assemble(system, Run::default()).map_err(|e| e.to_string())?;
    let built = lap();
    drop(assembly);
    Ok([read, resolved, built])
}

/// Adds a remark.
pub fn measure(effort: Effort, table: &mut Table) {
    let pairs = PAIRS / effort.kernel_part;
    let text = text(pairs);
    let turns: Result<Vec<_>, _> = (0..TURNS.min(effort.rounds)).map(|_| turn(&text)).collect();
    let what = format!("description of {} components and {pairs} links", 2 * pairs);
    let best = |turns: Vec<[f64; 3]>| turns.into_iter().min_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum()));
    table.remark(match turns.map(best) {
        Ok(Some([read, resolved, built])) => format!(
            "{what}: read in {read:.3} s, resolved in {resolved:.3} s, built in {built:.3} s, {:.3} s in all",
            read + resolved + built
        ),
        Ok(None) => format!("{what}: no turn"),
        Err(e) => format!("{what}: {e}"),
    });
}
