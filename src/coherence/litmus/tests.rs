use super::parse;

fn show(kind: &str, start: &str, programs: &str) -> String {
    let text = format!("kind = \"{kind}\"\nstart = \"{start}\"\nprograms = {programs}\n");
    let found = parse(&text).expect("a good case").explore().expect("explored");
    let v = found.violation.as_ref().map(|v| format!("{v:#?}")).unwrap_or_default();
    let o: Vec<String> =
        found.outcomes.iter().map(|o| format!("{}{}", o.letters, if o.fresh { "+" } else { "-" })).collect();
    format!("{kind} {start} {programs}: {} states {} {v}", found.states, o.join(" "))
}

#[test]
fn scratch() {
    for (s, p) in [
        ("MI", r#"[["MemWr"],["MemRdS"]]"#),
        ("MI", r#"[[],["MemRdS"]]"#),
        ("MI", r#"[[],["MemRdA"]]"#),
        ("MI", r#"[["MemWr"],["MemRdA"]]"#),
        ("EI", r#"[["MemClnEvct"],["MemRdS"]]"#),
        ("EI", r#"[["Store"],["MemRdS"]]"#),
        ("II", r#"[["MemRdA","Store"],["MemRdA","Store"]]"#),
        ("II", r#"[["MemRdA","Store"],["MemRdS"]]"#),
        ("SS", r#"[["MemInv","Store"],["MemInv","Store"]]"#),
        ("SS", r#"[["MemRdA","Store","MemWr"],["MemRdA","Store","MemWr"]]"#),
        ("SS", r#"[["MemInv"],["MemClnEvct"]]"#),
        ("III", r#"[["MemRdA","Store"],["MemRdA","Store"],["MemRdS","Load"]]"#),
        ("II", r#"[["MemInv","Load"],["MemRdS"]]"#),
        ("II", r#"[["MemRdA","Store","MemWr","MemRdS"],["MemRdA","MemClnEvct","MemRdS"]]"#),
    ] {
        println!("{}", show("hdm-db", s, p));
    }
    for (s, p) in [
        ("II", r#"[["RdOwn","Store"],["MemRdA","Store"]]"#),
        ("IM", r#"[["RdOwn","Store"],[]]"#),
        ("IM", r#"[["RdShared"],[]]"#),
        ("IM", r#"[["RdCurr"],[]]"#),
        ("IM", r#"[["CLFlush"],[]]"#),
        ("IM", r#"[["WOWrInv"],[]]"#),
        ("IM", r#"[["ItoMWr"],[]]"#),
        ("IM", r#"[["WrInv"],["MemRdS"]]"#),
        ("MI", r#"[["DirtyEvict"],["MemRdS"]]"#),
        ("MI", r#"[[],["MemRdS"]]"#),
        ("MI", r#"[[],["MemInv","Store"]]"#),
        ("SS", r#"[["RdOwnNoData","Store"],["MemInv","Store"]]"#),
        ("II", r#"[["RdOwn","Store","DirtyEvict","RdShared"],["MemRdA","Store","MemWr","MemRdS"]]"#),
        ("IM", r#"[["ItoMWr","RdOwn","Store"],["MemWr","MemRdA"]]"#),
    ] {
        println!("{}", show("hdm-d", s, p));
    }
}
