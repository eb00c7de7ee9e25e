//! Figures of link ends as tables.

use super::table::TextTable;
use scalepool_link::health::LinkHealth;
use std::io::{self, Write};

/// Prints the figures of ends, a table each under the name of the end; `what` is what the name names.
pub fn print<'a>(
    out: &mut dyn Write,
    what: &str,
    ends: impl IntoIterator<Item = &'a (String, LinkHealth)>,
) -> io::Result<()> {
    for (name, health) in ends {
        writeln!(out, "\n{what} {name}:")?;
        let mut table = TextTable::new(["figure", "value", "unit"]);
        health.rows().for_each(|row| table.row(row));
        table.print(out)?;
    }
    Ok(())
}
