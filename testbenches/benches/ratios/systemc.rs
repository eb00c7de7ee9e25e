//! The ring in SystemC: `../systemc/ring.cpp`, built where the library is installed (Debian: `libsystemc-dev`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The built program.
pub struct Peer(PathBuf);

impl Peer {
    /// Builds it into the target folder.
    ///
    /// # Errors
    /// Why there is none: no compiler, or the first complaint of the compiler.
    pub fn build() -> Result<Peer, String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/systemc/ring.cpp");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("systemc_ring");
        let mut compiler = Command::new("g++");
        compiler.args(["-O3", "-std=c++17", "-o"]).arg(&program).arg(source).arg("-lsystemc");
        let output = compiler.output().map_err(|error| format!("g++: {error}"))?;
        if output.status.success() {
            return Ok(Peer(program));
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let first = complaint.lines().find(|line| line.contains("error")).unwrap_or("g++ failed");
        Err(first.rsplit("error: ").next().unwrap_or(first).to_owned())
    }

    /// Runs the ring with items of a form (`struct`, `bv`); returns the seconds that took and the hash of the outcome.
    pub fn run(&self, form: &str, items: usize, cycles: u64) -> (f64, u64) {
        let mut program = Command::new(&self.0);
        // Without this the library prints its version and copyright before every result.
        program.env("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1");
        let output = program.args([form, &items.to_string(), &cycles.to_string()]).output().expect("it was just built");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace();
        let seconds = words.next().and_then(|word| word.parse().ok());
        let hash = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
        seconds.zip(hash).unwrap_or_else(|| panic!("systemc/ring.cpp: found `{text}`, expected `seconds hash`"))
    }
}
