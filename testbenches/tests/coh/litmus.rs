//! Litmus cases of CXL.cache. The expected outcomes were derived by hand from the sheet before the engine was run; the
//! comment of each says how.
//!
//! `IS+`: agent 0 ends in I, agent 1 in S, the home's copy is fresh; `-`: it is old.

use scalepool::proof::litmus::{LitmusError, parse};
use std::collections::BTreeSet;

/// The outcomes of a case; programs are words.
pub fn outcomes(start: &str, programs: &[&str], config: &str) -> BTreeSet<String> {
    let programs: Vec<Vec<&str>> = programs.iter().map(|p| p.split_whitespace().collect()).collect();
    let text = format!("kind = \"cxl-cache\"\nstart = \"{start}\"\nprograms = {programs:?}\n[config]\n{config}\n");
    let found = parse(&text).and_then(|c| c.explore()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Some(v) = &found.violation {
        panic!("{}\n{}", v.event, v.chart().text());
    }
    found.outcomes.iter().map(|o| format!("{}{}", o.letters, if o.fresh { '+' } else { '-' })).collect()
}

fn check(cases: &[(&str, &[&str], &str)]) {
    for (start, programs, expected) in cases {
        let expected: BTreeSet<String> = expected.split_whitespace().map(str::to_owned).collect();
        assert_eq!(outcomes(start, programs, ""), expected, "{start} {programs:?}");
    }
}

#[test]
fn one_device_alone() {
    check(&[
        // Nobody else: RdShared grants S, RdAny and RdOwn grant E (2.2); memory is untouched.
        ("II", &["RdShared", ""], "SI+"),
        ("II", &["RdAny", ""], "EI+"),
        ("II", &["RdOwn", ""], "EI+"),
        // E becomes M without a message: memory is old until the eviction brings the data.
        ("II", &["RdOwn Store", ""], "MI-"),
        ("II", &["RdOwn Store DirtyEvict", ""], "II+"),
        // RdCurr is never cached.
        ("II", &["RdCurr", ""], "II+"),
        ("II", &["RdCurr RdShared", ""], "SI+"),
        // An upgrade keeps the bytes of the S copy.
        ("SI", &["RdOwnNoData", ""], "EI+"),
        ("SI", &["RdOwnNoData Store", ""], "MI-"),
        // From I there are no bytes: the device gives the E up and reads (5 point 3), so it ends in E all the same.
        ("II", &["RdOwnNoData", ""], "EI+"),
        ("II", &["RdOwnNoData Store", ""], "MI-"),
        ("SI", &["CleanEvictNoData", ""], "II+"),
        ("EI", &["CleanEvictNoData", ""], "II+"),
        ("EI", &["CleanEvict", ""], "II+"),
        ("MI", &["DirtyEvict", ""], "II+"),
        ("MI", &["DirtyEvict RdShared", ""], "SI+"),
        // Writes leave I and memory current.
        ("II", &["ItoMWr WrCur WrInv WOWrInv WOWrInvF CLFlush", ""], "II+"),
        // A silent store to E.
        ("EI", &["Store", ""], "MI-"),
    ]);
}

#[test]
fn operations_wait_for_their_start_state() {
    check(&[
        // RdShared is issued from I only; nobody takes the S copy away.
        ("SI", &["RdShared", ""], "SI+"),
        // CleanEvict from E only, DirtyEvict from M only.
        ("SI", &["CleanEvict", ""], "SI+"),
        ("EI", &["DirtyEvict", ""], "EI+"),
        ("MI", &["CleanEvict", ""], "MI-"),
        // RdOwn from I only: an S copy upgrades by RdOwnNoData.
        ("SI", &["RdOwn", ""], "SI+"),
        // A store in S has requested no ownership that it could have lost: it waits for ever.
        ("II", &["RdShared Store", ""], "SI+"),
        // Ownership that was asked for and lost is asked for again, whatever stands between; not when it was given up.
        ("II", &["RdOwn RdCurr Store", "WrInv"], "EI+ MI-"),
        ("II", &["RdOwn CleanEvict Store", ""], "II+"),
        // A load without a copy waits, and with it all that follows.
        ("II", &["Load RdOwn", ""], "II+"),
        // The peer's RdOwn takes the S copy, only then RdOwn of device 0 can begin and takes it back.
        ("SI", &["RdOwn", "RdOwn"], "EI+"),
        // CLFlush of the peer makes I of S, and the waiting WrInv goes.
        ("SI", &["WrInv", "CLFlush"], "II+"),
    ]);
}

#[test]
fn one_asks_the_other_holds() {
    check(&[
        // SnpCur leaves M, memory stays old (RspVFwdV goes to the requester only).
        ("MI", &["", "RdCurr"], "MI-"),
        ("EI", &["", "RdCurr"], "EI+"),
        // RspSFwdM makes memory current before the GO-S.
        ("MI", &["", "RdShared"], "SS+"),
        ("EI", &["", "RdShared"], "SS+"),
        // RdAny may end in E only if all answer RspI*: E and M answer RspS*.
        ("MI", &["", "RdAny"], "SS+"),
        ("EI", &["", "RdAny"], "SS+"),
        ("SI", &["", "RdAny"], "SS+"),
        // Ownership invalidates everybody; RspIFwdM data goes to memory, hence GO-E.
        ("MI", &["", "RdOwn"], "IE+"),
        ("SI", &["", "RdOwn"], "IE+"),
        ("SS", &["RdOwnNoData", ""], "EI+"),
        ("MI", &["", "RdOwnNoData"], "IE+"),
        ("MI", &["", "CLFlush"], "II+"),
        ("SS", &["", "CLFlush"], "SS+"),
        // Writes: SnpInv first, then the write over what was forwarded.
        ("MI", &["", "ItoMWr"], "II+"),
        ("MI", &["", "WrCur"], "II+"),
        ("MI", &["", "WrInv"], "II+"),
        ("MI", &["", "WOWrInv"], "II+"),
        ("EI", &["", "WOWrInvF"], "II+"),
        // The store happens at once, before any message: then as from M.
        ("EI", &["Store", "RdShared"], "SS+"),
        ("EI", &["Store", "RdOwn"], "IE+"),
    ]);
}

#[test]
fn evictions_race_with_snoops() {
    check(&[
        // Evict first: 0 is out, 1 gets S. Read first: RspSFwdM, the stale evict is pulled with Bogus and dropped.
        ("MI", &["DirtyEvict", "RdShared"], "IS+"),
        // Evict first: nobody holds it, GO-E. Read first: RspSFwdM, GO-S; the evict then ends in I.
        ("MI", &["DirtyEvict", "RdAny"], "IE+ IS+"),
        ("MI", &["DirtyEvict", "RdOwn"], "IE+"),
        ("MI", &["DirtyEvict", "RdOwn Store"], "IM-"),
        // Bogus data that came after the new owner's eviction must not overwrite memory.
        ("MI", &["DirtyEvict", "RdOwn Store DirtyEvict"], "II+"),
        ("MI", &["DirtyEvict", "RdCurr"], "II+"),
        ("MI", &["DirtyEvict", "CLFlush"], "II+"),
        ("MI", &["DirtyEvict", "ItoMWr"], "II+"),
        ("MI", &["DirtyEvict", "WOWrInvF"], "II+"),
        ("MI", &["DirtyEvict", "WrInv"], "II+"),
        ("EI", &["CleanEvict", "RdShared"], "IS+"),
        // Evict first: GO-E for RdAny; read first: RspSHitSE, GO-S.
        ("EI", &["CleanEvict", "RdAny"], "IE+ IS+"),
        ("EI", &["CleanEvict", "RdOwn"], "IE+"),
        ("EI", &["CleanEvictNoData", "RdCurr"], "II+"),
        ("EI", &["CleanEvictNoData", "RdShared"], "IS+"),
        ("SS", &["CleanEvictNoData", "RdOwnNoData Store"], "IM-"),
        // 0 comes back for ownership after its eviction: the peer's read falls before or after it.
        ("MI", &["DirtyEvict RdOwn Store", "RdShared"], "MI- SS+"),
    ]);
}

#[test]
fn both_ask() {
    check(&[
        ("II", &["RdShared", "RdShared"], "SS+"),
        // The first one gets E, the second one's SnpData makes S of it.
        ("II", &["RdAny", "RdAny"], "SS+"),
        ("II", &["RdOwn", "RdOwn"], "EI+ IE+"),
        // Whoever stores last is M. A store that lost its ownership between GO and data asks again.
        ("II", &["RdOwn Store", "RdOwn Store"], "IM- MI-"),
        // Read first: invalidated. Read second: the M copy is shared. Read between GO and data of RdOwn: S on both sides,
        // and the store asks again with RdOwnNoData, which invalidates the reader.
        ("II", &["RdOwn Store", "RdShared"], "MI- SS+"),
        ("II", &["RdOwn Store", "RdCurr"], "MI-"),
        // Read first: I behind the evict. Read behind the evict: S. Read between GO and data with the store waiting (2.4): the
        // store is done and the line shared, so the evict, which needs M, never begins.
        ("II", &["RdOwn Store DirtyEvict", "RdShared"], "II+ IS+ SS+"),
        // The reader begins when its E is gone. The store waits with the fill: shared. It comes late: it asks again.
        ("IE", &["RdOwn Store", "RdShared Store"], "MI- SS+"),
        // Both upgrade: the loser loses its bytes, gets E without, gives it up and reads: the last one is E.
        ("SS", &["RdOwnNoData", "RdOwnNoData"], "EI+ IE+"),
        ("SS", &["RdOwnNoData Store", "RdOwnNoData Store"], "IM- MI-"),
        // E without bytes is given up: the peer's read falls before or after the second request.
        ("II", &["RdOwnNoData", "RdShared"], "EI+ SS+"),
        // Write first: the reader keeps its copy. Read first: invalidated.
        ("II", &["WrInv", "RdShared"], "II+ IS+"),
        ("II", &["WrCur", "RdAny"], "IE+ II+"),
        // The store falls before the write (merged over it), or after it.
        ("II", &["WrInv", "RdOwn Store"], "II+ IM-"),
        ("II", &["ItoMWr", "ItoMWr"], "II+"),
        ("II", &["ItoMWr", "WOWrInv"], "II+"),
    ]);
}

#[test]
fn three_devices() {
    check(&[
        // Readers that come after the store share with the writer; those before are invalidated.
        ("III", &["RdShared", "RdShared", "RdOwn Store"], "IIM- ISS+ SIS+ SSS+"),
        // The upgrade invalidates 1; 2 reads before (invalidated) or after (shares).
        ("SSI", &["RdOwnNoData Store", "", "RdShared"], "MII- SIS+"),
        // The M copy moves on; a late evict of its first owner disturbs nobody.
        ("MII", &["DirtyEvict", "RdOwn Store", "RdShared"], "IMI- ISS+"),
        ("MII", &["", "RdOwn", "RdOwn"], "IEI+ IIE+"),
        // SnpCur does not disturb: reads and RdCurr commute.
        ("MII", &["", "RdCurr", "RdShared"], "SIS+"),
    ]);
}

#[test]
fn choices_of_the_configuration() {
    let one =
        |start, programs: &[&str], config| outcomes(start, programs, config).into_iter().collect::<Vec<_>>().join(" ");
    // M gives its copy up under SnpData: RdAny then finds nobody.
    assert_eq!(one("MI", &["", "RdShared"], "snp_data_on_m = 'invalid'"), "IS+");
    assert_eq!(one("MI", &["", "RdAny"], "snp_data_on_m = 'invalid'"), "IE+");
    // RspSFwdM says S: the home grants no more than S, though the device kept nothing.
    assert_eq!(one("MI", &["", "RdAny"], "snp_data_on_m = 'shared-then-invalid'"), "IS+");
    assert_eq!(one("MI", &["", "RdCurr"], "snp_cur_on_m = 'shared'"), "SI+");
    assert_eq!(one("MI", &["", "RdCurr"], "snp_cur_on_m = 'invalid'"), "II+");
    assert_eq!(one("EI", &["", "RdCurr"], "snp_cur_on_clean = 'shared'"), "SI+");
    assert_eq!(one("EI", &["", "RdCurr"], "snp_cur_on_clean = 'forward'"), "EI+");
    assert_eq!(one("II", &["RdAny", ""], "rd_any_exclusive = false"), "SI+");
    // Dirty data handed over: GO-M, and memory stays old.
    assert_eq!(one("MI", &["", "RdOwn"], "grant_dirty = true"), "IM-");
    assert_eq!(one("EI", &["CleanEvict", "RdAny"], "clean_evict = 'pull'"), "IE+ IS+");
    // Every legal answer of 2.3.
    assert_eq!(one("MI", &["", "RdShared"], "alternatives = true"), "IS+ SS+");
    // A line that cannot be served: nothing is cached.
    let errors = "error_ranges = [{ first = 0, last = 63, answer = 'go-error' }]";
    assert_eq!(one("II", &["RdOwn", "WrInv"], errors), "II+");
}

fn line_of(text: &str) -> usize {
    match parse(text).and_then(|c| c.explore()) {
        Err(LitmusError::Toml { line, .. } | LitmusError::Value { line, .. }) => line,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_files_are_refused_with_their_line() {
    let good = "kind = 'cxl-cache'\nstart = 'II'\nprograms = [\n  ['RdOwn'],\n  ['Load'],\n]\n";
    assert!(parse(good).is_ok_and(|c| c.explore().is_ok()));
    assert_eq!(line_of(&good.replace("cxl-cache", "cxl-mem")), 1);
    assert_eq!(line_of(&good.replace("'II'", "'IX'")), 2);
    assert_eq!(line_of(&good.replace("'II'", "'ME'")), 2);
    assert_eq!(line_of(&good.replace("'II'", "''")), 2);
    assert_eq!(line_of(&good.replace("'II'", "'III'")), 3);
    assert_eq!(line_of(&good.replace("'RdOwn'", "'RdOwned'")), 4);
    assert_eq!(line_of(&good.replace("'Load'", "'MemRdS'")), 5);
    assert_eq!(line_of(&good.replace("'Load'", "7")), 5);
    assert_eq!(line_of(&format!("{good}[config]\nno_such_option = 1\n")), 8);
    assert_eq!(line_of(&format!("{good}[config]\nclean_evict = 'maybe'\n")), 8);
    assert_eq!(line_of("kind = 'cxl-cache'\nstart = "), 2);
    assert!(matches!(parse("start = 'II'\nprograms = [[], []]\n"), Err(LitmusError::Toml { .. })));
}
