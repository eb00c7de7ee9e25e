//! The `scalepool` program; everything it does stands in `scalepool_cli`.

/// Memory that one thread asks for and another gives back costs the system's allocator a lock each time. With this one two threads
/// explore 1.7 times as fast as one instead of 1.2, a flit takes a tenth less instructions, and an accelerator of a pod 18 kB more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    scalepool_cli::main(std::env::args_os())
}
