//! The `scalepool` program; everything it does stands in [`scalepool::cli`].

fn main() -> std::process::ExitCode {
    scalepool::cli::main(std::env::args_os())
}
