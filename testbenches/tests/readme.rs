//! Every command of README.md and of the guide, run in order from the top of the repository, against the output that stands
//! there. A command that changes the folder changes it for those behind it, as in the terminal of a reader. The guide's pages
//! come in the order of `docs/SUMMARY.md`, which has all of them.
//!
//! In a block marked `sh`, a line that begins with `$ ` is a command, the lines up to the next are its output. `...` in
//! a line stands for any text, a line of `...` alone for any lines. A command without output shown needs only to
//! succeed. How many spaces stand between two words is not compared: it is the width of a column. `gtkwave` opens its file on a virtual screen where both are installed; elsewhere its file has to be there.

use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What this test is a part of.
const RUNS_US: &str = "make test";

/// Stands for `gtkwave` in the path: opens the file and ends.
const GTKWAVE: &str = r#"#!/bin/sh
set -eu
for file; do test -s "$file"; done
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(echo "$PATH" | tr : '\n' | grep -vxF "$here" | paste -sd :)
if command -v gtkwave >/dev/null && command -v xvfb-run >/dev/null; then
    echo exit >"$here/exit.tcl"
    exec xvfb-run -a gtkwave -r /dev/null -S "$here/exit.tcl" "$@"
fi
"#;

#[derive(Debug, PartialEq)]
struct Step {
    /// Page and line.
    at: String,
    command: String,
    output: Vec<String>,
}

/// The pages in the order in which they are read: name below the top, and text.
fn pages(root: &Path) -> Vec<(String, String)> {
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let summary = read("docs/SUMMARY.md");
    let listed = summary.split("](").skip(1).map(|rest| format!("docs/{}", rest.split(')').next().unwrap_or_default()));
    let names: Vec<String> = std::iter::once("README.md".to_owned()).chain(listed).collect();
    for file in fs::read_dir(root.join("docs/guide")).expect("the guide") {
        let name = format!("docs/guide/{}", file.expect("a file").file_name().display());
        assert!(names.contains(&name), "{name} is not listed in docs/SUMMARY.md");
    }
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// The commands of a page.
fn steps(name: &str, page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut fence = None;
    for (at, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some((language, steps.len())),
            (None, Some(("sh", first))) => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step {
                    at: format!("{name}:{}", at + 1),
                    command: command.to_owned(),
                    output: Vec::new(),
                }),
                None if steps.len() > first => steps.last_mut().expect("not empty").output.push(line.to_owned()),
                None => panic!("{name}:{}: found output, expected a line with `$ ` first", at + 1),
            },
            _ => {}
        }
    }
    steps
}

/// Whether output is what is shown.
fn fits(shown: &[&str], found: &[&str]) -> bool {
    match (shown, found) {
        ([], []) => true,
        (["..."], _) => true,
        (["...", rest @ ..], _) => (0..=found.len()).any(|skip| fits(rest, &found[skip..])),
        ([line, rest @ ..], [first, others @ ..]) => line_fits(line, first) && fits(rest, others),
        _ => false,
    }
}

fn line_fits(shown: &str, found: &str) -> bool {
    match shown.split_once("...") {
        None => shown == found,
        Some((begin, rest)) => found.strip_prefix(begin).is_some_and(|tail| {
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| line_fits_after(rest, &tail[at..]))
        }),
    }
}

/// As [`line_fits`], for what follows a `...`; a rest without another one has to end the line.
fn line_fits_after(rest: &str, tail: &str) -> bool {
    let anchor = rest.split("...").next().unwrap_or("");
    tail.starts_with(anchor) && line_fits(rest, tail)
}

/// A text with single spaces.
fn even(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The built program, its folder, and the folder of everything that cargo builds.
fn built() -> (PathBuf, PathBuf) {
    let program = Path::new(env!("CARGO_BIN_EXE_scalepool"));
    let folder = program.parent().expect("the program lies in a folder");
    (folder.to_owned(), folder.parent().expect("of the target folder").to_owned())
}

#[test]
fn every_command_does_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (programs, target) = built();
    let shims = target.join("tmp").join("readme");
    fs::create_dir_all(&shims).expect("a folder");
    let shim = shims.join("gtkwave");
    fs::write(&shim, GTKWAVE).expect("a script");
    assert!(Command::new("chmod").arg("+x").arg(&shim).status().expect("chmod").success());
    let profile = if programs.ends_with("debug") { "dev" } else { "release" };
    let old_path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([&shims, &programs].into_iter().cloned().chain(env::split_paths(&old_path)));
    let path = path.expect("no folder has a colon in its name");

    let mut folder = root.canonicalize().expect("the top folder");
    let told = shims.join("folder");

    let steps: Vec<Step> = pages(root).iter().flat_map(|(name, page)| steps(name, page)).collect();
    assert!(steps.len() > 50, "found {} commands in README.md and the guide", steps.len());
    let mut wrong = Vec::new();
    for Step { at, command, output } in steps.iter().filter(|s| s.command != RUNS_US) {
        // `make` here is a make of its own, and builds what is built already.
        let out = Command::new("sh")
            .args(["-c", &format!("{command}\nstatus=$?\npwd >\"$TOLD\"\nexit $status")])
            .current_dir(&folder)
            .env("TOLD", &told)
            .env("PATH", &path)
            .env("PROFILE", profile)
            .env("CARGO_TARGET_DIR", &target)
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output()
            .expect("a shell");
        folder = fs::read_to_string(&told).expect("the folder behind the command").trim_end().into();
        let text = String::from_utf8_lossy(&out.stdout);
        let (shown, found) = (even(&output.join("\n")), even(&text));
        let messages = String::from_utf8_lossy(&out.stderr);
        if !out.status.success() {
            wrong.push(format!("{at}: `{command}`: {}\n{text}{messages}", out.status));
        } else if !output.is_empty() && !fits(&lines(&shown), &lines(&found)) {
            wrong.push(format!("{at}: `{command}`: found\n{text}\nexpected\n{}", output.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The bench of the page finds nothing wrong with a right CRC, and looks at most of the set.
#[test]
fn the_crc_bench_accepts_a_right_crc() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/guide/vectors.md")).expect("a text");
    let bench = page.split("module crc_tb;").nth(1).and_then(|rest| rest.split("endmodule").next()).expect("the bench");
    let between = |from: &str, to: &str| {
        let rest = bench.split(from).nth(1).unwrap_or_else(|| panic!("`{from}` in the bench"));
        rest.split(to).next().expect("a text").to_owned()
    };
    let flits: usize = between("flit [", "]").parse().expect("a number of flits");
    let last: usize = between("i <= ", ";").parse().expect("the last line that is looked at");
    let id = u16::from_str_radix(&between("== 16'h", " "), 16).expect("the protocol ID");
    let set = fs::read_to_string(root.join(between("$readmemh(\"", "\""))).expect("the golden set");
    let units: Vec<Cxl68Unit> = set
        .lines()
        .filter(|line| !line.starts_with("//"))
        .map(|line| {
            let byte =
                |k: usize| u8::from_str_radix(&line[line.len() - 2 * k - 2..line.len() - 2 * k], 16).expect("hex");
            Cxl68Unit(std::array::from_fn(byte))
        })
        .collect();
    assert_eq!(units.len(), flits);
    let looked_at: Vec<&Cxl68Unit> = units[..=last].iter().filter(|unit| unit.pid() == id).collect();
    assert!(looked_at.len() > flits * 3 / 4, "{} of {flits}", looked_at.len());
    assert!(looked_at.iter().all(|unit| unit.crc_ok()));
}

#[test]
fn the_page_is_cut_into_commands() {
    let page = "x\n```sh\n$ a b\n1\n2\n$ c\n```\n```text\n$ d\n```\n";
    let step = |line, command: &str, output: &[&str]| Step {
        at: format!("p.md:{line}"),
        command: command.into(),
        output: output.iter().map(|l| l.to_string()).collect(),
    };
    assert_eq!(steps("p.md", page), [step(3, "a b", &["1", "2"]), step(6, "c", &[])]);
}

#[test]
fn output_that_differs_is_found() {
    for (shown, found, expected) in [
        (vec!["a"], vec!["a"], true),
        (vec!["a"], vec!["b"], false),
        (vec!["a"], vec!["a", "b"], false),
        (vec!["a", "b"], vec!["a"], false),
        (vec!["a", "..."], vec!["a", "b"], true),
        (vec!["...", "c"], vec!["a", "b", "c"], true),
        (vec!["...", "c"], vec!["a", "b"], false),
        (vec!["a...c"], vec!["a b c"], true),
        (vec!["a...c"], vec!["a b c d"], false),
        (vec!["a...b...c"], vec!["a1b2b3c"], true),
        (vec!["...x"], vec!["ay"], false),
        (vec!["a..."], vec!["a"], true),
        (vec!["...b..."], vec!["abc"], true),
    ] {
        assert_eq!(fits(&shown, &found), expected, "{shown:?} {found:?}");
    }
}
