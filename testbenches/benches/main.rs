//! Prints how fast the model is, beside its peers and beside the machine's own limit: `cargo bench --bench ratios`.
//!
//! `-- --quick` prints the same table from runs too short to mean anything, without SystemC: it shows that the bench runs.

mod ratios;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut quick = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            // Cargo says so to every bench.
            "--bench" => {}
            other => {
                eprintln!("ratios: found argument `{other}`, expected `--quick` or none");
                return ExitCode::from(2);
            }
        }
    }
    print!("{}", ratios::report(quick));
    ExitCode::SUCCESS
}
