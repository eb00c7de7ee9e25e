//! The `scalepool` program; everything it does stands in `scalepool_cli`.

fn main() -> std::process::ExitCode {
    scalepool_cli::main(std::env::args_os())
}
