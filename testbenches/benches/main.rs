//! Prints how fast the model is, beside its peers and beside the machine's own limit: `cargo bench --bench ratios`.
//!
//! `-- --quick` prints the same table from runs too short to mean anything, without SystemC: it shows that the bench runs.
//! `-- --crc16` prints the rows of the CRC-16 alone: testbenches/python/bench.py sets its own figures beside them.

mod ratios;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut quick, mut crc16) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            "--crc16" => crc16 = true,
            // Cargo says so to every bench.
            "--bench" => {}
            other => {
                eprintln!("ratios: found argument `{other}`, expected `--quick`, `--crc16` or none");
                return ExitCode::from(2);
            }
        }
    }
    print!("{}", if crc16 { ratios::crc16_alone(quick) } else { ratios::report(quick) });
    ExitCode::SUCCESS
}
