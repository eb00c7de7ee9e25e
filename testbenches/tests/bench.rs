//! The bench runs and prints every row, and its variants agree. Nothing is said about its figures.

#[path = "../benches/ratios/mod.rs"]
mod ratios;

#[test]
fn a_quick_run_prints_every_row() {
    let table = ratios::report(true);
    let rows = |start: &str| table.lines().filter(|line| line.starts_with(start)).count();
    // Ten messages, all ten together, and two flits (with CRC and without) in two directions; decoded also with all checks.
    assert_eq!((rows("encode "), rows("decode ")), (15, 17), "{table}");
    // Two maps, two ways, with all instructions, with AVX2 and by table; a remark on each map.
    assert_eq!(rows("256B "), 14, "{table}");
    assert_eq!((rows("crc16 "), rows("ring, ")), (3, 3), "{table}");
    let built = table.lines().filter(|line| line.starts_with("description of ") && line.ends_with(" s in all"));
    assert_eq!(built.count(), 1, "{table}");
}

#[test]
fn the_rows_of_the_crc_stand_alone() {
    let table = ratios::crc16_alone(true);
    // A line on the method, one of titles, three ways.
    assert_eq!(
        (table.lines().count(), table.lines().filter(|line| line.starts_with("crc16 ")).count()),
        (5, 3),
        "{table}"
    );
}
