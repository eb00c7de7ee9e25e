//! Downstream ports in CXL mode, with a device of CXL 1.1, and in PCIe mode, in runs (`fabric` VCS-6).

use super::systems::{count, run};

const MODES: &str = include_str!("../../systems/port_modes.toml");
const GIVEN: &str = "modes = [{ port = 0, mode = \"rcd\" }, { port = 1, mode = \"rcd\" }]";

/// A device of CXL 1.1 in each hierarchy, or in one of them, answers as any other does.
#[test]
fn fab_vcs_06_p2() {
    for modes in [GIVEN, "modes = [{ port = 1, mode = \"rcd\" }]", "modes = [{ port = 1, mode = \"cxl\" }]", ""] {
        let report = run(&MODES.replace(GIVEN, modes), &[]).expect("it runs");
        assert_eq!(report.violations, [], "{modes}");
        let accesses = [0, 1].map(|n| count(&report, &format!("host[{n}]"), "line accesses"));
        assert_eq!((accesses, count(&report, "switch", "other classes")), ([400, 400], 0), "{modes}");
    }
}

/// What leads to a port in PCIe mode is dropped and named, its request has no answer, and the other hierarchy notices nothing; two devices of
/// CXL 1.1 in one hierarchy, and ports that are not there, are refused.
#[test]
fn fab_vcs_06_n2() {
    let text = MODES.replace(GIVEN, "modes = [{ port = 1, mode = \"pcie\" }]");
    let report = run(&text, &[]).expect("it runs");
    let at_switch: Vec<_> = report.violations.iter().filter(|one| one.place == "switch").collect();
    assert!(!at_switch.is_empty() && at_switch.iter().all(|one| one.violation.rule == "FAB-ERR-04"), "{at_switch:?}");
    assert_eq!(count(&report, "switch", "other classes"), at_switch.len() as u64);
    assert_eq!(count(&report, "host[0]", "line accesses"), 400);
    let one =
        MODES.replace("count = 2\nclock = \"host\"\nstim", "clock = \"host\"\nstim").replace("hosts = 2", "hosts = 1");
    let one = one.replace("host[i].cxl\", \"switch.usp[i]", "host.cxl\", \"switch.usp[0]");
    let found = run(&one, &[]).expect_err("two of them");
    assert!(found.contains("found devices of CXL 1.1 at dsp[0] and dsp[1] in VCS 0, expected at most one"), "{found}");
    let found = run(&MODES.replace("port = 1, mode", "port = 2, mode"), &[]).expect_err("no such port");
    assert!(found.contains("found port 2, expected 0 to 1"), "{found}");
}
