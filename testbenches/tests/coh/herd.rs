//! `.litmus` files: outcomes derived by hand from the orders of their threads, over each protocol; files that cannot be read.
//!
//! Every outcome of the shapes is held against axioms by `testbenches/litmus/herd.py`.

use super::stress::soak;
use proptest::prelude::*;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::litmus::herd::{HerdResult, is_herd, parse};
use scalepool::proof::mutant::CoherenceMutant;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn explored(text: &str) -> HerdResult {
    let test = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let found =
        test.explore(CoherenceConfig::default(), 1_000_000, &mut |_| ()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(found.complete && found.violation.is_none(), "{:?}\n{text}", found.violation.map(|v| v.chart().text()));
    found
}

/// The values of what each outcome names, in the order in which they are printed.
fn outcomes(text: &str) -> BTreeSet<Vec<u64>> {
    let form = explored(text).to_json();
    let values = |outcome: &Value| {
        outcome.as_object().expect("an object").values().map(|v| v.as_u64().expect("a number")).collect()
    };
    form["outcomes"].as_array().expect("an array").iter().map(values).collect()
}

fn lisa(protocol: &str, orders: &str, rows: &str, names: &str) -> String {
    format!(
        "LISA t\nProtocol={protocol}\nOrders={orders}\n{{ x=0; y=0; }}\n P0 | P1 ;\n{rows}\nlocations [{names}]\nexists (true)\n"
    )
}

/// Each shape under each order: the outcomes by hand.
///
/// SB: a store and then a load of the other line. A sequential core does not let the load go first, so that 0 0 is out; a store
/// buffer and a weak core do. MP: the reader sees the flag and not the data (1 0) where a weak core reverses the two stores or
/// the two loads; TSO reverses neither. LB: both loads see the store behind the other load (1 1) where a weak core lets a
/// store go before an earlier load; TSO does not.
#[test]
fn shapes_by_hand() {
    let sb = " w[] x 1 | w[] y 1 ;\n r[] r0 y | r[] r0 x ;";
    let mp = " w[] x 1 | r[] r0 y ;\n w[] y 1 | r[] r1 x ;";
    let lb = " r[] r0 x | r[] r0 y ;\n w[] y 1 | w[] x 1 ;";
    let (sb_names, mp_names) = ("0:r0; 1:r0;", "1:r0; 1:r1;");
    let all = [[0, 0], [0, 1], [1, 0], [1, 1]];
    let without = |out: [u64; 2]| all.into_iter().filter(|o| *o != out).map(|o| o.to_vec()).collect::<BTreeSet<_>>();
    let every = || all.into_iter().map(|o| o.to_vec()).collect::<BTreeSet<_>>();
    // The axioms of another hand judge the other protocols too (testbenches/litmus/herd.py).
    let protocols: &[&str] = if soak() > 1 { &["cxl-cache", "hdm-db", "hdm-d"] } else { &["cxl-cache"] };
    for protocol in protocols {
        for (rows, names, order, expected) in [
            (sb, sb_names, "SC,SC", without([0, 0])),
            (sb, sb_names, "TSO,TSO", every()),
            (sb, sb_names, "ARM,ARM", every()),
            // One core with its store before its load does not save the other.
            (sb, sb_names, "SC,TSO", every()),
            (mp, mp_names, "SC,SC", without([1, 0])),
            (mp, mp_names, "TSO,TSO", without([1, 0])),
            (mp, mp_names, "TSO,ARM", every()),
            (mp, mp_names, "ARM,TSO", every()),
            (mp, mp_names, "ARM,ARM", every()),
            (lb, sb_names, "SC,SC", without([1, 1])),
            (lb, sb_names, "TSO,TSO", without([1, 1])),
            (lb, sb_names, "ARM,ARM", every()),
            // One core that lets its store go first is enough.
            (lb, sb_names, "ARM,TSO", every()),
        ] {
            assert_eq!(outcomes(&lisa(protocol, order, rows, names)), expected, "{protocol} {order}\n{rows}");
        }
    }
}

/// Fences, acquire and release, and dependencies take outcomes away, each by its own sentence.
#[test]
fn orders_of_weak_cores_by_hand() {
    let mp = |first: &str, second: &str| {
        let rows = format!(" w[] x 1 | {} ;\n {} | {} ;\n {} | {} ;", "r[] r0 y", first, second, "w[] y 1", "r[] r1 x");
        lisa("cxl-cache", "ARM,ARM", &rows, "1:r0; 1:r1;")
    };
    let stale = vec![1, 0];
    // Stores are kept in order by f[st] or f[full], loads by f[ld] or f[full]; one side alone is not enough.
    for (first, second, is_out) in [
        ("f[full]", "f[full]", true),
        ("f[st]", "f[ld]", true),
        ("f[ld]", "f[ld]", false),
        ("f[st]", "f[st]", false),
        ("f[full]", "", false),
        ("", "f[full]", false),
    ] {
        assert_eq!(!outcomes(&mp(first, second)).contains(&stale), is_out, "{first} {second}");
    }
    let rows = " w[] x 1 | r[acquire] r0 y ;\n w[release] y 1 | r[] r1 x ;";
    assert!(!outcomes(&lisa("cxl-cache", "ARM,ARM", rows, "1:r0; 1:r1;")).contains(&stale), "release and acquire");
    let arm = |row: &str| {
        format!(
            "AArch64 t\n{{ 0:X1=x; 0:X2=y; 1:X1=x; 1:X2=y; }}\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X2] ;\n STR W0,[X1] | EOR W3,W0,W0 ;\n \
             DMB SY | {row} ;\n STR W0,[X2] | ;\nlocations [1:X0; 1:X4;]\nexists (1:X0=1 /\\ 1:X4=0)\n"
        )
    };
    assert!(!outcomes(&arm("LDR W4,[X1,W3,SXTW]")).contains(&stale), "an address keeps the loads in order");
    assert!(outcomes(&arm("LDR W4,[X1]")).contains(&stale), "without it they are not");
}

/// A store of its own core is seen before it is done, and nobody else sees it then.
#[test]
fn a_core_loads_from_its_own_store() {
    let rows = " w[] x 1 | w[] y 1 ;\n r[] r0 x | r[] r0 y ;\n r[] r1 y | r[] r1 x ;";
    for order in ["TSO", "ARM"] {
        let found = outcomes(&lisa("cxl-cache", &format!("{order},{order}"), rows, "0:r0; 0:r1; 1:r0; 1:r1;"));
        assert!(found.iter().all(|o| (o[0], o[2]) == (1, 1)), "{order}: each core sees its own store: {found:?}");
        assert!(found.contains(&vec![1, 0, 1, 0]), "{order}: and neither sees the other's");
    }
}

/// A read-modify-write is one point: no increment is lost, of two exchanges one sees the other; on x86 it is a fence, on a weak
/// core with acquire and release between what precedes and what follows.
#[test]
fn read_modify_writes_by_hand() {
    for protocol in ["cxl-cache", "hdm-db", "hdm-d"] {
        for order in ["SC", "TSO", "ARM"] {
            let orders = format!("{order},{order}");
            let adds = " rmw[] r0 (add r0 1) x | rmw[] r0 (add r0 3) x ;";
            let found = outcomes(&lisa(protocol, &orders, adds, "0:r0; 1:r0; x;"));
            assert_eq!(found, [vec![0, 1, 4], vec![3, 0, 4]].into(), "{protocol} {order}");
            let swaps = " rmw[] r0 (mov 1) x | rmw[] r0 (mov 2) x ;";
            let found = outcomes(&lisa(protocol, &orders, swaps, "0:r0; 1:r0; x;"));
            assert_eq!(found, [vec![0, 1, 2], vec![2, 0, 1]].into(), "{protocol} {order}");
        }
    }
    let sb = |first: &str, order: &str| {
        let rows = format!(" rmw[{first}] r1 (mov 1) x | rmw[{first}] r1 (mov 1) y ;\n r[] r0 y | r[] r0 x ;");
        outcomes(&lisa("cxl-cache", &format!("{order},{order}"), &rows, "0:r0; 1:r0;")).contains(&vec![0, 0])
    };
    assert!(!sb("", "TSO") && sb("", "ARM") && sb("release", "ARM") && !sb("acquire", "ARM"));
    let x86 = "X86 t\n{ x=3; 0:EAX=1; 1:EBX=5; }\n P0 | P1 ;\n LOCK XADD [x],EAX | XCHG EBX,[x] ;\nlocations [0:EAX; 1:EBX; x;]\nexists (true)\n";
    assert_eq!(outcomes(x86), [vec![3, 4, 5], vec![5, 3, 6]].into());
    let arm = "AArch64 t\n{ x=3; 0:X1=x; 1:X1=x; 0:X2=1; 1:X2=5; }\n P0 | P1 ;\n LDADDAL W2,W0,[X1] | SWPA W2,W0,[X1] ;\nlocations [0:X0; 1:X0; x;]\nexists (true)\n";
    assert_eq!(outcomes(arm), [vec![3, 4, 5], vec![5, 3, 6]].into());
    for (row, found) in [
        ("LOCK MOV [x],EAX", "line 4, column 2: found `LOCK MOV [x],EAX`"),
        ("XCHG EAX,EBX", "line 4, column 2: found `XCHG EAX,EBX`"),
        ("LOCK XADD x,EAX", "line 4, column 2: found `LOCK XADD x,EAX`"),
        ("XCHG [x],$1", "line 4, column 11: found `$1`"),
    ] {
        let text = format!("X86 t\n{{ x=0; }}\n P0 | P1 ;\n {row} | ;\nexists (true)\n");
        let error = parse(&text).expect_err("refused").to_string();
        assert!(error.starts_with(found), "{error}");
    }
    for row in ["rmw[full] r0 (mov 1) x", "rmw[] r0 (add r1 1) x", "rmw[] r0 (mov 1 x", "rmw[] r0 x", "rmw[] r0"] {
        let error = parse(&lisa("cxl-cache", "SC,SC", &format!(" {row} | ;"), "x;")).expect_err("refused").to_string();
        assert!(error.starts_with("line 6, column 2: found `rmw["), "{error}");
    }
}

/// Increments by exclusive accesses: none is lost, and a store exclusive may fail whatever else happens.
#[test]
fn exclusive_accesses_by_hand() {
    let increments =
        " LDXR W0,[X5] | LDXR W0,[X5] ;\n ADD W1,W0,#1 | ADD W1,W0,#1 ;\n STXR W2,W1,[X5] | STXR W2,W1,[X5] ;\n";
    let text = |protocol| {
        format!(
            "AArch64 t\nProtocol={protocol}\n{{ x=0; 0:X5=x; 1:X5=x; }}\n P0 | P1 ;\n{increments}\
             locations [0:X0; 0:X2; 1:X0; 1:X2; x;]\nexists (true)\n"
        )
    };
    // Loaded and failed by each thread, and the last value.
    let expected = [
        [0, 0, 0, 1, 1],
        [0, 0, 1, 0, 2],
        [0, 0, 1, 1, 1],
        [0, 1, 0, 0, 1],
        [0, 1, 0, 1, 0],
        [1, 0, 0, 0, 2],
        [1, 1, 0, 0, 1],
    ];
    assert_eq!(outcomes(&text("cxl-cache")), expected.map(Vec::from).into());
    for protocol in ["hdm-db", "hdm-d"] {
        let expected =
            format!("line 2, column 10: found `{protocol}`, expected cxl-cache, since a thread has exclusive accesses");
        assert_eq!(parse(&text(protocol)).expect_err("refused").to_string(), expected);
    }
    let head = "AArch64 t\n{ x; y; 0:X5=x; 0:X6=y; }\n P0 | P1 ;\n";
    for (rows, found) in [
        (
            " STXR W2,W1,[X5] | ;\n",
            "line 4, column 2: found `STXR W2,W1,[X5]`, expected a load exclusive of the location",
        ),
        (" LDXR W0,[X6] | ;\n STXR W2,W1,[X5] | ;\n", "line 5, column 2: found `STXR W2,W1,[X5]`"),
        (" LDXR W0,[X5] | ;\n STR W1,[X5] | ;\n STXR W2,W1,[X5] | ;\n", "line 6, column 2: found `STXR W2,W1,[X5]`"),
        (
            " LDXR W0,[X5] | ;\n STXR W2,W1,[X5] | ;\n STXR W3,W1,[X5] | ;\n",
            "line 6, column 2: found `STXR W3,W1,[X5]`",
        ),
        (
            " LDXR W0,[X5] | ;\n STXR W2,W1,[X5] | ;\n STR W2,[X6] | ;\n",
            "line 6, column 6: found `W2`, expected a register that holds no status",
        ),
    ] {
        let error = parse(&format!("{head}{rows}exists (x=1)\n")).expect_err("refused").to_string();
        assert!(error.starts_with(found), "{error}");
    }
}

/// A rule of the agents that is off shows in what a program sees.
#[test]
fn a_rule_that_is_off_shows_an_outcome_that_is_not_allowed() {
    let rows = " w[] x 1 | r[] r0 y ;\n w[] y 1 | r[] r1 x ;";
    for (protocol, mutant) in
        [("cxl-cache", CoherenceMutant::SharersNotSnooped), ("hdm-db", CoherenceMutant::HolderSkipped)]
    {
        let test = parse(&lisa(protocol, "SC,SC", rows, "1:r0; 1:r1;")).expect("a file");
        let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
        let found = test.explore(config, 1_000_000, &mut |_| ()).expect("bytes").to_json();
        let stale = serde_json::json!({"1:r0": 1, "1:r1": 0});
        assert!(found["outcomes"].as_array().expect("an array").contains(&stale), "{mutant:?}: {found}");
    }
}

/// Initial values, values that are computed, registers and locations of an outcome.
#[test]
fn values_are_those_of_the_program() {
    let text = "AArch64 t\n(* a comment\n   of two lines *)\n{ x=7; uint64_t y; 0:X1=x; 0:X2=y; 0:X9=4; 1:X1=x; }\n P0 | P1 ;\n \
                LDR W0,[X1] | ;\n EOR W3,W0,W9 | ;\n ADD W3,W3,#1 | ;\n STR W3,[X2] | ;\nforall (0:X0=7 /\\ 0:X3=4 /\\ [y]=4 /\\ x=7 /\\ not (1:X5=1))\n";
    let found = explored(text);
    let mut printed = Vec::new();
    found.print(&mut printed).expect("a vector takes it");
    let printed = String::from_utf8(printed).expect("text");
    assert!(found.is_ok() && !found.is_refuted());
    let expected = "Test t Required\nStates 1\n0:X0=7; 0:X3=4; 1:X5=0; [x]=7; [y]=4;\nOk\nWitnesses\nPositive: 1 Negative: 0\nCondition forall (0:X0=7";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(printed.contains("\nObservation t Always 1 0\nExplored "), "{printed}");
    let refuted = explored(&text.replace("forall", "~exists"));
    assert!(!refuted.is_ok() && refuted.is_refuted() && refuted.witnesses() == (1, 0));
    // A value that no byte holds is found when it is stored.
    let over = text.replace("ADD W3,W3,#1", "ADD W3,W3,#253");
    let error = parse(&over)
        .expect("it is read")
        .explore(CoherenceConfig::default(), 1_000, &mut |_| ())
        .expect_err("it is not stored");
    assert_eq!(error.to_string(), "found a store of a value above 255, expected values of 0 to 255");
}

const GOOD: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (from, to, expected) in [
        ("X86 SB", "PPC SB", "line 1, column 1: found `PPC`, expected X86, AArch64 or LISA"),
        ("{ x=0; y=0; }", "", "line 3, column 2: found `P0 | P1 ;`, expected initial values in { }"),
        ("y=0; }", "y=0;", "line 2, column 1: found `{ x=0; y=0;`, expected a } behind the initial values"),
        ("x=0;", "x=256;", "line 2, column 5: found `256`, expected a number from 0 to 255"),
        ("y=0;", "9:EAX=1;", "line 2, column 8: found `9`, expected a thread, 0 to 3"),
        (
            "y=0;",
            "3:EAX=1;",
            "line 2, column 1: found `{ x=0; 3:EAX=1;`, expected initial values of threads 0 to 1, not 3",
        ),
        ("y=0;", "0:FOO=1;", "line 2, column 10: found `FOO`, expected a register of X86"),
        ("SB\n", "SB\nProtocol=pcie\n", "line 2, column 10: found `pcie`, expected cxl-cache, hdm-db, hdm-d or bridge"),
        (
            "SB\n",
            "SB\nOrders=SC,SC\n",
            "line 2, column 1: found `Orders=SC,SC`, expected Orders in a file of LISA alone",
        ),
        ("SB\n", "SB\nwhat is this\n", "line 2, column 1: found `what is this`, expected a doc string or Key=Value"),
        ("P0 | P1", "P0", "line 3, column 2: found `P0`, expected P0 | P1 ; for 2 to 4 threads"),
        ("MOV [x],$1 | MOV", "MOV", "line 4, column 2: found `MOV [y],$1`, expected 2 cells"),
        (
            "MOV [x],$1",
            "CMPXCHG [x],EAX",
            "line 4, column 2: found `CMPXCHG [x],EAX`, expected MOV [x],$n, MOV [x],REG, MOV REG,[x], MOV REG,$n, XCHG [x],REG, LOCK XADD [x],REG, LOCK INC [x] or MFENCE",
        ),
        ("MOV [x],$1", "MOV [x],$300", "line 4, column 11: found `300`, expected a number from 0 to 255"),
        ("MOV EAX,[y]", "MOV EAX,[EBX]", "line 5, column 11: found `EBX`, expected a location"),
        (
            "exists (",
            "maybe (",
            "line 6, column 1: found `maybe (0:EAX=0 /\\ 1:EAX=0)`, expected a row that ends with ;",
        ),
        ("1:EAX=0)", "1:EAX)", "line 6, column 20: found `1:EAX`, expected an atom such as 0:EAX=1 or x=1"),
        ("1:EAX=0)", "2:EAX=0)", "line 6, column 20: found `2`, expected a thread, 0 to 1"),
        ("1:EAX=0)", "z=0)", "line 6, column 20: found `z`, expected a location, or a register such as 0:EAX"),
        ("1:EAX=0)", "1:EAX=0", "line 6, column 27: found nothing, expected )"),
        ("1:EAX=0)", "1:EAX=0) x", "line 6, column 29: found `x`, expected the end of the condition"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = parse(&GOOD.replacen(from, to, 1)).expect_err(expected).to_string();
        assert_eq!(error, expected, "{to}");
    }
    // The same register again and again: the value would double with each row.
    let eor = "AArch64 t\n{ 0:X2=x; 1:X2=x; }\n P0 | P1 ;\n LDR W0,[X2] | LDR W0,[X2] ;\n LDR W1,[X2] | ;\n";
    let grown = format!("{eor}{}exists (true)\n", " EOR W0,W0,W1 | ;\n EOR W1,W1,W0 | ;\n".repeat(40));
    assert!(parse(&grown).expect_err("too large").to_string().ends_with("expected a value of at most 64 operations"));
    // Brackets of a doc string are none of the file, and a letter of a comment is one column.
    let doc = GOOD.replace("SB\n", "SB\n\"a { doc\nstring } of \"\n");
    assert!(parse(&doc).is_ok(), "{doc}");
    let wide = GOOD.replace("{ x=0;", "(* \u{e4}\u{20ac} *) { x=900;");
    assert!(parse(&wide).expect_err("a number").to_string().starts_with("line 2, column 14: found `900`"));
    let deep = GOOD.replace("exists (", &format!("exists {}", "(".repeat(100)));
    assert!(
        parse(&deep).expect_err("too deep").to_string().ends_with("expected at most 64 brackets within each other")
    );
    let long = GOOD.replacen("MOV [x],$1 | MOV [y],$1 ;\n", &"MOV [x],$1 | MOV [y],$1 ;\n".repeat(9), 1);
    assert!(parse(&long).expect_err("too long").to_string().ends_with("expected at most 8 accesses in a thread"));
    let bias = GOOD.replace("SB\n", "SB\nProtocol=hdm-d\n").replace("P0 | P1", "P0 | P1 | P2");
    let bias = bias.replace("$1 ;", "$1 | MFENCE ;").replace("[x] ;", "[x] | ;");
    assert!(
        parse(&bias).expect_err("three").to_string().ends_with("expected 2 threads over hdm-d: a host and a device")
    );
}

#[test]
fn a_file_is_told_from_a_case_by_its_first_word() {
    assert!(is_herd(GOOD) && is_herd("(* c *) aarch64 x") && !is_herd("kind = \"cxl-cache\"") && !is_herd(""));
}

/// Every shape in the repository is read.
#[test]
fn every_shape_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus/shapes");
    let mut count = 0;
    for dialect in ["x86", "aarch64", "exclusive", "lisa", "bridge"] {
        for file in std::fs::read_dir(folder.join(dialect)).expect("a folder") {
            let path = file.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("text");
            let test = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert_eq!(Some(test.name.as_str()), path.file_stem().and_then(|s| s.to_str()));
            count += 1;
        }
    }
    assert_eq!(count, 181);
}

proptest! {
    /// No text makes the reader panic, and what is wrong has a place in the text.
    #[test]
    fn any_text_is_read_or_refused(text in "(X86|AArch64|LISA|) ?[ -~\n]{0,200}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.line >= 1 && error.line <= text.lines().count().max(1) + 1, "{error}");
        }
    }

    /// Nor does a good file with something changed.
    #[test]
    fn changed_files_are_read_or_refused(at in 0_usize..GOOD.len(), cut in 0_usize..12, put in "[ -~\n]{0,6}") {
        let mut text = GOOD.to_owned();
        text.replace_range(at..(at + cut).min(GOOD.len()), &put);
        if let Ok(test) = parse(&text) {
            let _ = test.explore(CoherenceConfig::default(), 200, &mut |_| ());
        }
    }
}
