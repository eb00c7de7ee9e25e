//! Descriptions that come with the program, to run and to start from.

/// Texts of all of them.
pub const TEXTS: [&str; 4] = [
    include_str!("cxl68-expander.toml"),
    include_str!("cxl256-expander.toml"),
    include_str!("cxl256-lopt-expander.toml"),
    include_str!("cxl-pbr-pair.toml"),
];
