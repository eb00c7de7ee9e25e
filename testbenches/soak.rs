//! The sizes of `make soak`: tests have a smaller one in the default run.

/// Whether this is a run of `make soak`, which has everything at its full size.
pub fn is_soak() -> bool {
    std::env::var_os("SCALEPOOL_SOAK").is_some()
}

/// The number in a variable of the environment, or the usual one if it is not set.
///
/// # Panics
/// If it is set to something else than a number.
pub fn number_in(variable: &str, usual: u64) -> u64 {
    std::env::var(variable)
        .map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{variable}: found `{text}`, expected a number")))
}
