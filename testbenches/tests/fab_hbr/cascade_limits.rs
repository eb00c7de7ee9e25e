//! Cascades that begin at edge switches of devices alone, and what is refused of cascades.

use super::systems::{count, refused, run};

const CASCADE: &str = include_str!("../../systems/cascaded_switches.toml");

/// A host, an edge switch of its own, and two edge switches of devices, below each of which a switch deals to two memories.
const TWO_BACKS: &str = "format = 1\n[system]\nname = \"two-backs\"\n[clock]\ncore = { period = \"500 ps\" }\n\
    [component.host]\nkind = \"cxl.host\"\nstimulus = { pattern = \"mix\", accesses = 400, order = \"random\", region_lines = 16_777_216 }\n\
    [component.front]\nkind = \"cxl.switch.pbr\"\nhosts = 1\nfabric = 2\n\
    [component.back]\nkind = \"cxl.switch.pbr\"\ncount = 2\nports = 1\nfabric = 1\n\
    [component.low]\nkind = \"cxl.switch.hbr\"\ncount = 2\nports = 2\n\
    [component.m]\nkind = \"cxl.memory\"\ncount = 4\n\
    [memory_map.a]\nbase = \"64 GiB\"\nsize = \"512 MiB\"\ntargets = [\"m[0]\", \"m[2]\"]\n\
    [memory_map.b]\nbase = \"128 GiB\"\nsize = \"512 MiB\"\ntargets = [\"m[1]\", \"m[3]\"]\ngranularity = \"4 KiB\"\n\
    [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl\", \"front.usp[0]\"]\n\
    [link.isl]\nkind = \"cxl-256b-pbr\"\nbetween = [\"front.isl[i]\", \"back[i].isl[0]\"]\n\
    [link.low]\nkind = \"cxl-256b\"\nbetween = [\"back[i].dsp[0]\", \"low[i].usp[0]\"]\n\
    [link.m]\nkind = \"cxl-256b\"\nbetween = [[\"low[0].dsp[0]\", \"m[0].cxl\"], [\"low[0].dsp[1]\", \"m[1].cxl\"], \
    [\"low[1].dsp[0]\", \"m[2].cxl\"], [\"low[1].dsp[1]\", \"m[3].cxl\"]]\n";

/// The same windows as one over all four memories.
fn over_four(granularity: &str) -> String {
    let (before, rest) = TWO_BACKS.split_once("[memory_map.a]").expect("a window");
    let (_, links) = rest.split_once("[link.host]").expect("links");
    format!(
        "{before}[memory_map.a]\nbase = \"64 GiB\"\nsize = \"1 GiB\"\ntargets = [\"m[0]\", \"m[2]\", \"m[1]\", \"m[3]\"]\n\
         granularity = \"{granularity}\"\n[link.host]{links}"
    )
}

/// A command of the upper switch of the cascade.
fn commanded(component: &str, commands: &str) -> String {
    let from = format!("[component.{component}]\n");
    assert!(CASCADE.contains(&from), "{from}");
    CASCADE.replace(&from, &format!("{from}commands = [{commands}]\n"))
}

/// Below edge switches without hosts, switches decode what their host asks for: no request is answered by a switch.
#[test]
fn fab_hdm_08_p3() {
    for text in [TWO_BACKS.to_owned(), over_four("256 B"), over_four("8 KiB")] {
        let report = run(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.violations, []);
        let asked = count(&report, "host", "reads") + count(&report, "host", "writes");
        let passed = |path: &str| count(&report, path, "switched M2S Req") + count(&report, path, "switched M2S RwD");
        assert_eq!(passed("low[0]") + passed("low[1]"), asked);
        for path in ["front", "back[0]", "back[1]", "low[0]", "low[1]"] {
            assert_eq!([count(&report, path, "not decoded"), count(&report, path, "switch answers")], [0; 2], "{path}");
        }
    }
}

/// The lower switches would have to deal 32 KiB in a row, which no decoder does: the window is told so.
#[test]
fn fab_hdm_08_n3() {
    let found = refused(&over_four("16 KiB"));
    assert!(found.contains("memory_map.a.targets") && found.contains("32768"), "{found}");
}

/// One host port, sixteen memories: two of them at each of eight lower switches, four of four, or eight of two.
fn sixteen(switches: usize) -> String {
    let each = 16 / switches;
    let order = (0..16).map(|n| format!("\"m[{}]\"", n % switches * each + n / switches));
    let links = (0..16).map(|n| format!("[\"low[{}].dsp[{}]\", \"m[{n}].cxl\"]", n / each, n % each));
    format!(
        "format = 1\n[system]\nname = \"sixteen\"\n[clock]\ncore = {{ period = \"500 ps\" }}\n\
         [component.host]\nkind = \"cxl.host\"\nstimulus = {{ pattern = \"mix\", accesses = 400, order = \"random\", region_lines = 67_108_864 }}\n\
         [component.top]\nkind = \"cxl.switch.hbr\"\nports = {switches}\n\
         [component.low]\nkind = \"cxl.switch.hbr\"\ncount = {switches}\nports = {each}\n\
         [component.m]\nkind = \"cxl.memory\"\ncount = 16\n\
         [memory_map.a]\nbase = \"64 GiB\"\nsize = \"4 GiB\"\ntargets = [{}]\n\
         [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl\", \"top.usp[0]\"]\n\
         [link.low]\nkind = \"cxl-256b\"\nbetween = [\"top.dsp[i]\", \"low[i].usp[0]\"]\n\
         [link.m]\nkind = \"cxl-256b\"\nbetween = [{}]\n",
        order.collect::<Vec<_>>().join(", "),
        links.collect::<Vec<_>>().join(", ")
    )
}

/// Each level deals to as many as a decoder can, so one port of a host reaches sixteen memories in turn.
#[test]
fn fab_hdm_08_p4() {
    for switches in [2, 4, 8] {
        let report = run(&sixteen(switches), &[]).unwrap_or_else(|error| panic!("{switches}: {error}"));
        assert_eq!(report.violations, [], "{switches}");
        let passed = |path: &str| count(&report, path, "switched M2S Req") + count(&report, path, "switched M2S RwD");
        let below: Vec<u64> = (0..switches).map(|n| passed(&format!("low[{n}]"))).collect();
        assert!(below.iter().all(|taken| *taken > 10), "{switches}: {below:?}");
        assert_eq!(passed("top"), below.iter().sum::<u64>(), "{switches}");
        for path in ["top", "low[0]"] {
            assert_eq!(count(&report, path, "not decoded"), 0, "{switches}: {path}");
        }
    }
}

/// One switch alone has no decoder for sixteen, and a lower one has none either.
#[test]
fn fab_hdm_08_n4() {
    let found = refused(&sixteen(1));
    assert!(
        found.contains("memory_map.a.targets") && found.contains("found 16 ways, expected 1, 2, 4 or 8"),
        "{found}"
    );
    let found = refused(&sixteen(16));
    assert!(
        found.contains("memory_map.a.targets") && found.contains("found 16 ways, expected 1, 2, 4 or 8"),
        "{found}"
    );
}

/// A switch below another one decodes for the host that its port was first bound to.
#[test]
fn a_lower_switch_stays_with_its_host() {
    let text = commanded(
        "top",
        "{ at = \"2 us\", command = \"unbind\" }, { at = \"3 us\", command = \"bind\", vcs = 1, vppb = 2 }",
    );
    let found = refused(&text);
    assert!(found.contains("bound to VCS 1 after VCS 0, expected one VCS for as long as the system runs"), "{found}");
    let again = commanded("top", "{ at = \"2 us\", command = \"unbind\" }, { at = \"3 us\", command = \"bind\" }");
    run(&again, &["host.accesses=100"]).unwrap_or_else(|error| panic!("{error}"));
}

/// Two switches, each with a hierarchy that leads to the other one: messages stay in theirs, so nothing waits in a circle.
#[test]
fn hierarchies_that_cross_are_no_circle() {
    let text = "format = 1\n[system]\nname = \"cross\"\n[clock]\ncore = { period = \"500 ps\" }\n\
        [component.host]\nkind = \"cxl.host\"\ncount = 2\nstimulus = { pattern = \"mix\", accesses = 100 }\n\
        [component.m]\nkind = \"cxl.memory\"\ncount = 2\n\
        [component.sw]\nkind = \"cxl.switch.hbr\"\ncount = 2\nhosts = 2\nports = 2\n\
        bindings = [{ vcs = 0, vppb = 0, port = 0 }, { vcs = 1, vppb = 0, port = 1 }]\n\
        [link.l]\nkind = \"cxl-256b\"\nbetween = [[\"host[0].cxl\", \"sw[0].usp[0]\"], [\"host[1].cxl\", \"sw[1].usp[0]\"], \
        [\"sw[0].dsp[0]\", \"sw[1].usp[1]\"], [\"sw[1].dsp[0]\", \"sw[0].usp[1]\"], [\"sw[0].dsp[1]\", \"m[0].cxl\"], \
        [\"sw[1].dsp[1]\", \"m[1].cxl\"]]\n";
    let report = run(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert_eq!([0, 1].map(|n| count(&report, &format!("host[{n}]"), "line accesses")), [100; 2]);
}
