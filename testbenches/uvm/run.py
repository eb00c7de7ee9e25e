#!/usr/bin/env python3
"""Lints the UVM agent, scalepool_pkg, the demo and what docs/guide/c-and-systemverilog.md shows of them in Verilator, with its
warnings; with --full it builds the demo and runs its tests. Five rules of Verilator are switched off by verilator.vlt.

A test passes when it ends with status 0 and prints PASS with its name, and its JUnit file has no failure. That an error is found is a test
of its own: a device that answers with a wrong tag, with errors that are expected, and with errors that make the test fail. The file of --junit has the verdicts: a test that fails as it
should is passed there, one that hangs, leaves no file or is wrong otherwise is an error.

A build of UVM takes more than a minute of processor time, and a run less than a second: what is built is kept in target/uvm by a hash of
all that goes into it, and results of the lint likewise.

usage: run.py [--program PROGRAM] [--full] [--seed N] [--junit FILE] [--test TEST] [--fresh]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # the folder of a source stays as it is

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "verilator"))

import runtime  # noqa: E402
from contents import hash_of  # noqa: E402

OUT = ROOT / "target" / "uvm"
DPI = HERE.parent / "dpi"
PAGE = ROOT / "docs" / "guide" / "c-and-systemverilog.md"
VERILATOR = ROOT / ".venv-cosim" / "bin" / "verilator"
INTERFACES = HERE.parent / "export" / "sv" / "scalepool_interfaces.sv"
SOURCES = [HERE, HERE.parent / "export" / "sv", HERE.parent / "export" / "uvm", HERE.parent / "cocotb" / "interfaces", DPI / "interface_loop.sv",
           DPI / "scalepool_dpi_pkg.sv", DPI / "scalepool_dpi.c", HERE.parent / "rtl"]
# Tests of the demo, with their plusargs. The protocols of `demo_pair_test` are numbers of sp_protocol_e.
TESTS = [
    ("demo_rtl_test", ["+damage=97"]),
    ("demo_wrong_device_test", []),
    ("demo_wrong_device_test", ["+unexpected"]),
    ("demo_pair_test", ["+protocol=0"]),
    ("demo_pair_test", ["+protocol=1"]),
    ("demo_pair_test", ["+protocol=2"]),
    ("demo_pair_test", ["+protocol=3"]),
    ("demo_random_test", []),
    ("demo_protocol_test", ["+protocol=4"]),
    ("demo_protocol_test", ["+protocol=5"]),
    ("demo_protocol_test", ["+protocol=6"]),
    ("demo_protocol_test", ["+protocol=4", "+wrong"]),
    ("demo_protocol_test", ["+protocol=5", "+wrong"]),
    ("demo_protocol_test", ["+protocol=6", "+wrong"]),
    # Transactions that the protocol does not have.
    ("demo_protocol_test", ["+protocol=4", "+kind=6"]),
    ("demo_register_test", ["+device=model"]),
    ("demo_register_test", ["+device=rtl"]),
    ("demo_register_test", ["+device=rtl", "+bug=1"]),
    ("demo_register_test", ["+device=rtl", "+bug=2"]),
    ("demo_register_test", ["+device=rtl", "+bug=3"]),
    ("demo_interface_test", ["+bus=axi-stream"]),
    ("demo_interface_test", ["+bus=credited"]),
    ("demo_interface_test", ["+bus=state"]),
    ("demo_interface_test", ["+bus=slots68"]),
    ("demo_wrong_interface_test", ["+bus=axi-stream"]),
    ("demo_hooks_test", []),
    ("demo_waiver_test", []),
    ("demo_waiver_test", ["+expired"]),
    ("demo_waiver_test", ["+last_day=2027-03-31", "+scalepool_today=2027-03-31"]),
    ("demo_waiver_test", ["+last_day=2027-03-31", "+scalepool_today=2027-04-01", "+expired"]),
    ("demo_waiver_test", ["+last_day=2027-03-31"]),
    ("demo_waiver_test", ["+mistyped"]),
    *[("demo_passage_test", ["+protocol=1", f"+at={at}", f"+passage={word}"])
      for at in ("leaving", "arriving", "queueing") for word in ("keep", "change", "drop", "double", "swap")],
    ("demo_lost_answer_test", []),
    ("demo_reset_test", []),
    ("demo_cache_test", ["+protocol=0"]),
    ("demo_cache_test", ["+protocol=1"]),
    ("demo_cache_test", ["+protocol=2"]),
    ("demo_cache_test", ["+protocol=3"]),
]


# Rules that a test has to be failed by, as its JUnit file has them; all others have to pass.
FAILED_BY = {
    ("demo_wrong_device_test", "+unexpected"): {"TXN-TAG-02", "TXN-END-01"},
    # The knobs say it, and then the end that has a limit for answers and no transactions, without an id.
    ("demo_protocol_test", "+protocol=4", "+kind=6"): {"CONFIG", ""},
    # What a mirror of UVM says of another value; the second bug is a bit of a size that cannot be set, which the commit shows as well.
    **{("demo_register_test", "+device=rtl", f"+bug={bug}"): {"RegModel"} for bug in (1, 3)},
    ("demo_register_test", "+device=rtl", "+bug=2"): {"COMMIT", "RegModel"},
    ("demo_wrong_interface_test", "+bus=axi-stream"): {"HANDSHAKE"},
    ("demo_waiver_test", "+expired"): {"TXN-TAG-02"},
    ("demo_waiver_test", "+last_day=2027-03-31", "+scalepool_today=2027-04-01", "+expired"): {"TXN-TAG-02"},
    # There is no day to compare it with; there is no such rule.
    ("demo_waiver_test", "+last_day=2027-03-31"): {"WAIVER"},
    ("demo_waiver_test", "+mistyped"): {"WAIVER"},
    # What a memory does to one of its answers.
    ("demo_passage_test", "+protocol=1", "+at=queueing", "+passage=change"): {"DATA", "TXN-DAT-01"},
    ("demo_passage_test", "+protocol=1", "+at=queueing", "+passage=drop"): {"OPEN", "TXN-END-01"},
    ("demo_passage_test", "+protocol=1", "+at=queueing", "+passage=double"): {"TXN-TAG-03"},
    ("demo_lost_answer_test",): {"OPEN", "TXN-END-01"},
}


def run(command, seconds=900, **options):
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                            cwd=ROOT, **options)
    return result.returncode, result.stdout


def compile_arguments():
    """UVM, then the agent and the demo."""
    uvm = OUT / "src"
    return [f"+incdir+{uvm}", uvm / "uvm_pkg.sv", "-F", HERE / "verilator.f"]


def shown():
    """What the page shows: two modules, calls of a root, lines that judge a bridge, lines of the build phase of an environment, and a callback."""
    module, root, bridge, stream, lines, callback = re.findall(r"^```systemverilog\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    file = OUT / "shown.sv"
    file.write_text(f"""{module}
{stream}
package shown_pkg;
  import uvm_pkg::*;
  import scalepool_pkg::*;
  import scalepool_uvm_pkg::*;
  class shown_bridge;
    sp_bridge_scoreboard board;
    sp_bridge_finding_t finding;
    function void judge(sp_message request, sp_message message);
      {bridge}
    endfunction
  endclass
  class shown_root;
    sp_link_end link;
    sp_cxl_io_root root;
    sp_io_function functions[$];
    task uses();
      sp_answer_e answer;
      {root}
    endtask
  endclass
  {callback}
  class shown_env extends uvm_env;
    virtual scalepool_flit_if flits;
    scalepool_agent device;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
    virtual function void build_phase(uvm_phase phase);
      {lines}
    endfunction
  endclass
endpackage
module shown_top;
  import shown_pkg::*;
  shown_env env;
  logic clk, up_valid, down_valid;
  logic [543:0] up_flit, down_flit;
  logic rst_n, s_tvalid, s_tready, s_tlast, m_tvalid, m_tready, m_tlast;
  logic [255:0] s_tdata, m_tdata;
  logic [31:0] s_tkeep, m_tkeep;
  host_tb host (.*);
  stream_tb stream (.*);
  demo_top demo ();
  initial env = new("env", null);
endmodule
""", encoding="utf-8")
    return file


def coverage_sources():
    """The package of covergroups, behind those that it needs."""
    exported = ROOT / "testbenches" / "export" / "sv"
    last = [exported / "scalepool_pkg.sv", exported / "scalepool_coverage_pkg.sv"]
    families = [file for file in sorted(exported.glob("scalepool_*_pkg.sv")) if file not in last]
    return [DPI / "scalepool_dpi_pkg.sv", *families, *last]


def lint():
    """Warnings of Verilator that verilator.vlt leaves on: these, or nothing."""
    kept = OUT / "linted"
    key = hash_of(*SOURCES, OUT / "wanted", PAGE)
    if kept.is_file() and kept.read_text(encoding="ascii") == key:
        return ""
    # The last of two top modules counts.
    status, text = run([VERILATOR, "--lint-only", "-Wall", "--quiet", *compile_arguments(), shown(), "--top-module", "shown_top"])
    if status or "%Warning" in text:
        return text
    # Each module of an interface is a top of its own.
    status, text = run([VERILATOR, "--lint-only", "--timing", "--quiet", "-Wall", "-Wno-MULTITOP", HERE / "verilator.vlt",
                        *coverage_sources()[:-1], INTERFACES])
    if status or "%Warning" in text:
        return text
    # Covergroups of messages, which Verilator ignores: its signals of them are not used.
    status, text = run([VERILATOR, "--lint-only", "--quiet", *coverage_sources()])
    if status or "%Warning" in text:
        return text
    kept.write_text(key, encoding="ascii")
    return ""


def in_one_file(folder):
    """Writes what Verilator has made as one file that includes the others, as its makefile does: of so many classes the names do not fit into a
    command."""
    listed = (folder / "Vdemo_top_classes.mk").read_text(encoding="ascii")
    lists = re.findall(r"^VM_(?:CLASSES|SUPPORT)_(?:FAST|SLOW) \+=((?:.*\\\n)*)", listed, re.MULTILINE)
    files = [f'#include "{name}.cpp"' for text in lists for name in re.findall(r"\w+", text)]
    text = "\n".join(["#define VL_INCLUDE_OPT include", *files, ""])
    (folder / "Vdemo_top__ALL.cpp").write_text(text, encoding="ascii")


def build(library):
    """The program of the demo."""
    folder = OUT / "builds" / hash_of(*SOURCES, OUT / "wanted", library)
    if (folder / "built").is_file():
        return folder
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    include = next((ROOT / ".venv-cosim").glob("lib/python3*/site-packages/verilator/include/vltstd"))
    shim = folder / "scalepool_dpi.o"
    steps = [
        ["cc", "-std=c11", "-O2", "-fPIC", f"-I{include}", "-c", "-o", shim, DPI / "scalepool_dpi.c"],
        [VERILATOR, "--cc", "--main", "--exe", "--quiet", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-O1", "-CFLAGS", "-O0",
         *runtime.IN_ONE_PART, "--Mdir", folder, "-o", "tb", *compile_arguments(), shim, "-LDFLAGS",
         f"{library} -Wl,-rpath,{library.parent}"],
        # Of a thousand classes each would be compiled by itself, and the headers with it.
        ["make", "--quiet", "-C", folder, "-f", "Vdemo_top.mk", "VM_PARALLEL_BUILDS=0"],
    ]
    for step in steps:
        if step[0] == "make":
            in_one_file(folder)
        status, text = run(step, env=runtime.environment())
        if status:
            raise RuntimeError(f"the demo does not build:\n{text[-3000:]}")
    (folder / "built").touch()
    return folder


def judged(folder, seed, test, arguments):
    """None, or why a test did not do what it should."""
    name = f"{test}{''.join(arguments)}"
    junit = folder / f"{name}.xml"
    junit.unlink(missing_ok=True)
    rerun = rerun_of(seed, test, arguments)
    said = [f"+scalepool_junit={junit}", f"+scalepool_case={name}", f"+scalepool_seed={seed}", f"+scalepool_rerun={rerun}", f"+verilator+seed+{seed}"]
    try:
        # A design that is wrong may never give an answer: the first errors say enough.
        command = [folder / "tb", f"+UVM_TESTNAME={test}", "+UVM_NO_RELNOTES", "+UVM_MAX_QUIT_COUNT=5", *said, *arguments]
        status, text = run(command, seconds=100)
    except subprocess.TimeoutExpired:
        return "does not end"
    (folder / f"{name}.log").write_text(text, encoding="utf-8")
    try:
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
    except (FileNotFoundError, xml.etree.ElementTree.ParseError) as error:
        return f"leaves no JUnit file: {error}"
    if (found := [case.get("name") for case in suite.iter("testcase")]) != [name]:
        return f"its JUnit file has the cases {found}, expected {name}"
    if (found := suite.find("properties/property[@name='rerun']")) is None or found.get("value") != rerun:
        return f"its JUnit file has another command than {rerun}"
    expected = FAILED_BY.get((test, *arguments), set())
    failed = {failure.get("type") for failure in suite.iter("failure")}
    passed = status == 0 and re.search(rf"^PASS {test}$", text, re.MULTILINE) is not None
    if failed == expected and passed == (not expected):
        return None
    why = [line for line in text.splitlines() if line.startswith(("UVM_ERROR ", "UVM_FATAL ")) and "@" in line or "%Error" in line]
    return f"failures {sorted(failed)}: {(why or ['nothing said'])[0][:300]}"


def rerun_of(seed, test, arguments):
    """The command that runs a test again."""
    return f"testbenches/uvm/run.py --full --seed {seed} --test '{' '.join([test, *arguments])}'"


def junit_of(seed, verdicts):
    """The verdicts of all tests [((test, arguments), None or why)] as one file."""
    errors = sum(why is not None for _, why in verdicts)
    counts = {"tests": str(len(verdicts)), "failures": "0", "errors": str(errors)}
    root = xml.etree.ElementTree.Element("testsuites", counts)
    suite = xml.etree.ElementTree.SubElement(root, "testsuite", {"name": "uvm", **counts, "skipped": "0"})
    properties = xml.etree.ElementTree.SubElement(suite, "properties")
    xml.etree.ElementTree.SubElement(properties, "property", name="seed", value=str(seed))
    for (test, arguments), why in verdicts:
        case = xml.etree.ElementTree.SubElement(suite, "testcase", classname="uvm", name=f"{test}{''.join(arguments)}")
        if why is not None:
            error = xml.etree.ElementTree.SubElement(case, "error", type="verdict", message=why)
            error.text = f"to run it again: {rerun_of(seed, test, arguments)}"
    return root


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "scalepool"
    parser.add_argument("--program", default=default, help="the scalepool program; the library stands beside it")
    parser.add_argument("--full", action="store_true", help="build and run the demo")
    parser.add_argument("--seed", type=int, help="random seed of the tests, from 1 on; 1 if it is not given")
    parser.add_argument("--junit", help="write the results of the tests to this file, as JUnit XML")
    parser.add_argument("--test", help="run only this test, with its plusargs: 'demo_pair_test +protocol=1'")
    parser.add_argument("--fresh", action="store_true", help="forget what was built before, and what came out")
    options = parser.parse_args()
    for name in ("seed", "junit", "test"):
        if getattr(options, name) is not None and not options.full:
            parser.error(f"found --{name} without --full, which runs the tests")
    seed = 1 if options.seed is None else options.seed
    # $urandom of Verilator takes 31 bits, and 0 stands for a seed that differs from run to run.
    if not 1 <= seed < 2**31:
        parser.error(f"found --seed {seed}, expected 1 to {2**31 - 1}")
    if options.test is not None and not options.test.split():
        parser.error("found an empty --test, expected the name of a test")
    if options.junit and not pathlib.Path(options.junit).resolve().parent.is_dir():
        parser.error(f"found no folder for --junit {options.junit}")
    begin = time.monotonic()
    library = pathlib.Path(os.environ.get("SCALEPOOL_LIB") or pathlib.Path(options.program).parent / "libscalepool.so").resolve()
    if options.fresh:
        shutil.rmtree(OUT, ignore_errors=True)
    setup = ["bash", ROOT / "testbenches" / "setup" / "uvm.sh", *(["solver"] if options.full else [])]
    status, text = run(setup)
    if status:
        print(text, file=sys.stderr)
        return 2
    wrong = [text] if (text := lint()) else []
    print(wrong[0] if wrong else f"scalepool_pkg, agent and demo: no warnings of Verilator, {time.monotonic() - begin:.0f} s")
    if options.full and not wrong:
        if not library.is_file():
            print(f"missing: {library}\nto build: cargo build", file=sys.stderr)
            return 2
        try:
            folder = build(library)
        except RuntimeError as error:
            print(error)
            return 1
        tests = TESTS
        if options.test:
            test, *arguments = options.test.split()
            tests = [(test, arguments)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            verdicts = list(zip(tests, pool.map(lambda test: judged(folder, seed, *test), tests)))
        for (test, arguments), why in verdicts:
            expected = FAILED_BY.get((test, *arguments))
            print(f"{test:<24} {' '.join(arguments):<14} {why or ('fails, as it should' if expected else 'pass')}")
            wrong += [why] if why else []
        if options.junit:
            file = xml.etree.ElementTree.ElementTree(junit_of(seed, verdicts))
            file.write(options.junit, encoding="UTF-8", xml_declaration=True)
        print(f"{len(tests)} tests, {'all as expected' if not wrong else f'{len(wrong)} failures'}, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
