//! Litmus cases of HDM-DB and HDM-D. The expected outcomes were derived by hand from the sheet before the engine was run;
//! the comment of each says how. Each program begins at once, in the step in which its start state holds.
//!
//! `IS+`: agent 0 ends in I, agent 1 in S, the device's memory is fresh; `-`: it is old.

use scalepool::proof::litmus::{LitmusError, parse};
use std::collections::BTreeSet;

fn text(kind: &str, start: &str, programs: &[&str], config: &str) -> String {
    let programs: Vec<Vec<&str>> = programs.iter().map(|p| p.split_whitespace().collect()).collect();
    format!("kind = \"{kind}\"\nstart = \"{start}\"\nprograms = {programs:?}\n[config]\n{config}\n")
}

fn outcomes(kind: &str, start: &str, programs: &[&str], config: &str) -> BTreeSet<String> {
    let text = text(kind, start, programs, config);
    let found = parse(&text).and_then(|c| c.explore()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Some(v) = &found.violation {
        panic!("{}\n{}", v.event, v.chart().text());
    }
    found.outcomes.iter().map(|o| format!("{}{}", o.letters, if o.fresh { '+' } else { '-' })).collect()
}

fn check(kind: &str, cases: &[(&str, &[&str], &str)]) {
    for (start, programs, expected) in cases {
        let expected: BTreeSet<String> = expected.split_whitespace().map(str::to_owned).collect();
        assert_eq!(outcomes(kind, start, programs, ""), expected, "{kind} {start} {programs:?}");
    }
}

#[test]
fn hdm_db_one_host_acts() {
    check(
        "hdm-db",
        &[
            // Grants of §3.2: Cmp-S for Shared, Cmp-E for Any; memory is untouched.
            ("II", &["MemRdS", ""], "SI+"),
            ("II", &["MemRdA", ""], "EI+"),
            // Ownership without bytes is followed by a read (§5 point 3): E in the end.
            ("II", &["MemInv", ""], "EI+"),
            ("II", &["MemInv Load", ""], "EI+"),
            // A store of the whole line needs no bytes.
            ("II", &["MemInv Store", ""], "MI-"),
            ("SI", &["MemInv Store", ""], "MI-"),
            ("SI", &["MemRdA Store MemWr", ""], "II+"),
            ("EI", &["MemClnEvct", ""], "II+"),
            ("SI", &["MemClnEvct MemRdA", ""], "EI+"),
            // The data that comes back is stale against the own M copy, which stays (note * of §3.2).
            ("MI", &["MemRdA", ""], "MI-"),
            ("MI", &["MemInv MemWr", ""], "II+"),
            // E becomes M without a message.
            ("EI", &["Store", ""], "MI-"),
        ],
    );
}

#[test]
fn hdm_db_start_states_hold_or_the_program_ends() {
    check(
        "hdm-db",
        &[
            // MemWr from M only (SnpInv from I is illegal in shared memory), MemClnEvct from E or S only.
            ("EI", &["MemWr", ""], "EI+"),
            ("II", &["MemWr", ""], "II+"),
            ("MI", &["MemClnEvct", ""], "MI-"),
            ("II", &["MemClnEvct MemRdA", ""], "II+"),
            // MemRdS from S or I only.
            ("EI", &["MemRdS", ""], "EI+"),
            // A load asks for nothing; a store in S has lost no ownership that it had asked for.
            ("II", &["Load MemRdS", ""], "II+"),
            ("II", &["MemRdS Store", ""], "SI+"),
        ],
    );
}

#[test]
fn hdm_db_the_holder_is_asked() {
    check(
        "hdm-db",
        &[
            // BISnpData on M: MemWr Shared, its Cmp, BIRspS; memory is fresh, both share.
            ("MI", &["", "MemRdS"], "SS+"),
            ("EI", &["", "MemRdS"], "SS+"),
            // BISnpInv on M: MemWr Invalid, its Cmp, BIRspI.
            ("MI", &["", "MemRdA"], "IE+"),
            ("MI", &["", "MemInv"], "IE+"),
            ("MI", &["", "MemRdA Store"], "IM-"),
            // Every sharer is asked for ownership, none for sharing.
            ("SSI", &["", "", "MemRdA"], "IIE+"),
            ("SSI", &["", "", "MemRdS"], "SSS+"),
            ("SSS", &["", "MemInv Store", ""], "IMI-"),
        ],
    );
}

#[test]
fn hdm_db_races() {
    check(
        "hdm-db",
        &[
            // Both MemRdA are issued at once. The loser's request takes the line from the winner: exactly one M stays, and
            // what the other stored has been written back, but the last store is in M only.
            ("II", &["MemRdA Store", "MemRdA Store"], "IM- MI-"),
            ("II", &["MemRdA", "MemRdA"], "IE+ EI+"),
            // The reader first: host 0 takes its S away and stores. The writer first: it is degraded to S by BISnpData.
            ("II", &["MemRdA Store", "MemRdS"], "MI- SS+"),
            // Two upgrades: the loser's S is taken while its MemInv waits (early conflict); it still gets E and stores last.
            ("SS", &["MemInv Store", "MemInv Store"], "IM- MI-"),
            ("SS", &["MemInv", "MemInv"], "IE+ EI+"),
            // The write back is issued at once and nothing blocks it: whoever reads gets it from memory.
            ("MI", &["MemWr", "MemRdS"], "IS+"),
            ("MI", &["MemWr", "MemRdA"], "IE+"),
            ("MI", &["MemWr", "MemInv Store"], "IM-"),
            // MemClnEvct crosses a BISnp: BIRspI at once, then its Cmp (§3.5 row 3); or it was done before.
            ("EI", &["MemClnEvct", "MemRdA"], "IE+"),
            ("SI", &["MemClnEvct", "MemInv"], "IE+"),
            // After the eviction host 0 reads again: before host 1 (which then takes it away) or after it (both share).
            ("EI", &["MemClnEvct MemRdS", "MemRdA"], "IE+ SS+"),
            // Ownership without bytes: the reader before it loses its S; after the read that follows both share.
            ("II", &["MemInv", "MemRdS"], "EI+ SS+"),
            // The read that follows is for the load: that is done before host 1 takes the line, so MemRdS begins and shares. Or
            // host 1 was first, and host 0 stays in E.
            ("II", &["MemInv Load MemRdS", "MemRdA"], "EI+ SS+"),
            // Ownership was lost before the store could happen; the S of MemRdS between them is no ownership given up.
            ("II", &["MemInv MemRdS Store", "MemRdA"], "EI+ MI-"),
            // A store whose ownership was lost asks again, so both stores happen; then both lines are written back.
            ("SS", &["MemRdA Store MemWr", "MemRdA Store MemWr"], "II+"),
            // Host 0 owns M and asks without need; its own copy is written back when host 1 wins, and host 0 gets E after.
            ("MI", &["MemRdA", "MemRdS"], "EI+ SS+"),
        ],
    );
}

#[test]
fn hdm_db_three_hosts() {
    check(
        "hdm-db",
        &[
            // Any of the three may be the last owner.
            ("III", &["MemRdA", "MemRdA", "MemRdA"], "EII+ IEI+ IIE+"),
            // One writer, two readers: readers before the writer lose their copies, the ones after it share with it.
            ("III", &["MemRdA Store", "MemRdS", "MemRdS"], "MII- SIS+ SSI+ SSS+"),
            ("MII", &["", "MemRdS", "MemRdS"], "SSS+"),
        ],
    );
}

#[test]
fn hdm_db_choices() {
    // BIRspI is as legal as BIRspS under BISnpData (§3.4).
    let nothing = "mem = { host_keeps = \"nothing\" }";
    assert_eq!(outcomes("hdm-db", "MI", &["", "MemRdS"], nothing), ["IS+".to_owned()].into());
    // A sole reader may get E (§3.2, COH-MEM-06).
    let exclusive = "mem = { shared_grants_exclusive = true }";
    assert_eq!(outcomes("hdm-db", "II", &["MemRdS", ""], exclusive), ["EI+".to_owned()].into());
    // All legal answers together.
    let all = outcomes("hdm-db", "MI", &["", "MemRdS"], "alternatives = true");
    assert_eq!(all, ["IE+", "IS+", "SS+"].map(str::to_owned).into());
}

#[test]
fn hdm_d_the_device_asks() {
    check(
        "hdm-d",
        &[
            // §3.3: RdOwn is answered with MemRdFwd Invalid only: the host's copy is gone, device bias.
            ("II", &["RdOwn", ""], "EI+"),
            ("IM", &["RdOwn", ""], "EI+"),
            ("IM", &["RdOwn Store", ""], "MI-"),
            ("IS", &["RdOwnNoData Store", ""], "MI-"),
            ("SS", &["RdOwnNoData", ""], "EI+"),
            // Shared answers: the host writes M back and keeps S.
            ("IM", &["RdShared", ""], "SS+"),
            ("IE", &["RdShared", ""], "SS+"),
            ("II", &["RdShared", ""], "SI+"),
            // RdAny: S beside a host copy, E without one.
            ("IS", &["RdAny", ""], "SS+"),
            ("II", &["RdAny", ""], "EI+"),
            // RdCurr: one use; the host may keep what it has, after its write back in E.
            ("IM", &["RdCurr", ""], "IE+"),
            ("IS", &["RdCurr", ""], "IS+"),
            // CLFlush and the writes leave the host nothing.
            ("IM", &["CLFlush", ""], "II+"),
            ("IM", &["WOWrInv", ""], "II+"),
            ("IE", &["WOWrInvF", ""], "II+"),
            ("IM", &["ItoMWr", ""], "II+"),
            ("IS", &["WrCur", ""], "II+"),
            ("II", &["WrInv", ""], "II+"),
            // Evicts of own memory stay inside the device.
            ("MI", &["DirtyEvict", ""], "II+"),
            ("EI", &["CleanEvict", ""], "II+"),
            ("SS", &["CleanEvictNoData", ""], "IS+"),
            // In device bias the next read needs no message.
            ("MI", &["DirtyEvict RdShared", ""], "SI+"),
        ],
    );
}

#[test]
fn hdm_d_the_host_asks() {
    check(
        "hdm-d",
        &[
            // The DCOH snoops its own cache by SnpType and marks host bias.
            ("MI", &["", "MemRdS"], "SS+"),
            ("MI", &["", "MemRdA"], "IE+"),
            ("EI", &["", "MemInv"], "IE+"),
            ("EI", &["", "MemInv Store"], "IM-"),
            ("SS", &["", "MemInv"], "IE+"),
            ("SI", &["", "MemRdS MemInv Store MemWr"], "II+"),
            // MemClnEvct is illegal on HDM-D: the host never sends it.
            ("IE", &["", "MemClnEvct"], "IE+"),
            ("IM", &["", "MemWr"], "II+"),
        ],
    );
}

#[test]
fn hdm_d_races() {
    check(
        "hdm-d",
        &[
            // The host's MemInv is out before the device's request arrives, and the host answers that one only when its
            // own has ended: the device is last.
            ("SS", &["RdOwnNoData Store", "MemInv Store"], "MI-"),
            ("II", &["RdOwn Store", "MemRdA Store"], "MI-"),
            // The host's write back is out at once; then the flip finds nothing.
            ("IM", &["RdOwn", "MemWr"], "EI+"),
            // Device evicts inside, host reads: the device's S copy goes only when the host asks for ownership.
            ("MI", &["DirtyEvict", "MemRdA"], "IE+"),
            // The flip takes the host's E, so MemRdS begins; the store asks again for the ownership that was lost.
            ("II", &["RdOwn", "MemRdA MemRdS Store"], "IM-"),
            // The device flips, stores and evicts; the host's requests wait for nothing but their start state.
            ("IM", &["RdShared", "MemWr MemRdS"], "SS+"),
        ],
    );
}

#[test]
fn bad_cases_are_refused() {
    let error = |text: String| parse(&text).and_then(|c| c.explore()).expect_err("refused");
    // An operation of the other protocol.
    assert!(matches!(error(text("hdm-db", "II", &["RdOwn", ""], "")), LitmusError::Value { line: 3, .. }));
    assert!(matches!(error(text("hdm-d", "II", &["MemRdA", ""], "")), LitmusError::Value { line: 3, .. }));
    // HDM-D has one device and one host.
    assert!(matches!(error(text("hdm-d", "III", &["", "", ""], "")), LitmusError::Value { line: 2, .. }));
    // An unknown choice.
    assert!(matches!(error(text("hdm-db", "II", &["", ""], "mem = { speed = 1 }")), LitmusError::Toml { .. }));
}
