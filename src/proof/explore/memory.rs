//! How much memory the program has, for a search with a limit of it.
//!
//! Modelled: what Linux says of the running program in `/proc/self/status`. Left out: other systems, where a limit is refused
//! ([`memory_limit`]): a search that cannot see its memory would go on past any limit.

use scalepool_coherence::config::OutOfRange;

/// Where Linux says what the program has.
const STATUS: &str = "/proc/self/status";

/// A limit of memory in bytes, for [`Limits::memory_bytes`](super::Limits::memory_bytes).
///
/// # Errors
/// The system does not tell what the program has.
pub fn memory_limit(bytes: usize) -> Result<usize, OutOfRange> {
    told_limit(bytes, resident_bytes())
}

fn told_limit(bytes: usize, told: Option<usize>) -> Result<usize, OutOfRange> {
    match told {
        Some(_) => Ok(bytes),
        None => Err(OutOfRange {
            found: "a limit of memory, where the system does not tell what the program has".into(),
            expected: format!("a line VmRSS in {STATUS}, as Linux has it; --states limits the search anywhere"),
        }),
    }
}

/// Memory that the program has, where the system tells \[bytes\].
pub(super) fn resident_bytes() -> Option<usize> {
    bytes_in(&std::fs::read_to_string(STATUS).ok()?)
}

fn bytes_in(status: &str) -> Option<usize> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_refused_where_nobody_tells_the_memory() {
        assert_eq!(bytes_in("Name:\tscalepool\nVmRSS:\t    2048 kB\nVmData:\t 9 kB\n"), Some(2 << 20));
        for silent in ["", "Name:\tscalepool\n", "VmRSS:\tmuch\n", "VmRSS:\t18446744073709551615 kB\n"] {
            assert_eq!(bytes_in(silent), None, "{silent}");
            let error = told_limit(1 << 20, bytes_in(silent)).expect_err("nobody tells").to_string();
            assert!(error.starts_with("found a limit of memory, where the system does not tell"), "{error}");
            assert!(error.contains("VmRSS"), "{error}");
        }
        assert_eq!(told_limit(1 << 20, Some(1)), Ok(1 << 20));
        assert_eq!(memory_limit(1).is_ok(), cfg!(target_os = "linux"));
    }
}
