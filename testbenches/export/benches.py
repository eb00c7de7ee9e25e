#!/usr/bin/env python3
"""Exports the benches of components in RTL and runs them as they are written, in Icarus and Verilator, through cocotb.

Each stub has to pass, since the model answers through it. Stubs that damage units have to be noticed by the tests of a host
with 68B flits and with 256B flits, those that lose units by the latter: 68B flits have no sequence number, so one that is lost
whole is no error of the link.

Verilator takes half a minute to build a bench, so it runs those of --only, or all with --full; the main of the first one that
calls the model through DPI-C always runs, the others with them.

usage: benches.py [--program PROGRAM] [--only WORD] [--full]
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / ".venv-cosim"
OUT = ROOT / "target" / "cosim" / "benches"

if pathlib.Path(sys.prefix) != VENV:
    if not (VENV / "bin" / "python3").exists():
        sys.exit("missing: .venv-cosim\nto install: bash testbenches/setup/cosim.sh")
    os.execv(VENV / "bin" / "python3", [str(VENV / "bin" / "python3"), "-B", *sys.argv])

os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"

from cocotb_tools.runner import get_runner  # noqa: E402: of the interpreter above

sys.path.append(str(HERE.parent / "verilator"))

import runtime  # noqa: E402

os.environ.update(runtime.environment())

SYSTEMS = HERE.parent / "systems"
# System, component, settings.
BENCHES = [
    (SYSTEMS / "host_and_memory.toml", "host", ["host.accesses=300"]),
    (SYSTEMS / "host_and_memory.toml", "memory", ["host.accesses=300"]),
    ("cxl68-expander", "host", ["host.accesses=300"]),
    ("cxl256-expander", "device", ["host.accesses=300"]),
    ("cxlio-enumerate", "device", []),
    ("ualink-pod", "switch[0]", ["pod.accelerators=2", "pod.switches=1", "traffic.operations=50"]),
    ("nvlink-pair", "gpu[0]", ["traffic.requests=100"]),
    ("cxl-cache-pair", "dev[0]", ["core.accesses=100"]),
    ("hdm-db-share", "dev[0]", ["core.accesses=100"]),
    # Bridges have links of two kinds, whose units have clocks of their own.
    ("supercluster-small", "ubridge", ["traffic.operations=20", "gpu.requests=20", "host.accesses=20"]),
    ("supercluster-small", "nbridge", ["traffic.operations=20", "gpu.requests=20", "host.accesses=20"]),
]
# Stubs of a host that are wrong at every 64th unit: of which system, what they do, and the line that does it.
LOSES = ("loses units", "cxl_tx_valid <= rst_n && model_cxl_tx_valid && !(&tick);")
DAMAGES = ("damages units", "cxl_tx_unit <= model_cxl_tx_unit ^ 544'(&tick) << 100;")
WRONG = ((BENCHES[0], LOSES), (BENCHES[0], DAMAGES), (BENCHES[2], DAMAGES))


def export(program, system, component, settings, folder):
    """Writes a bench."""
    command = [program, "export", "bench", system, "--external", component, "--out", folder]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def run(folder, component, simulator):
    """Runs a bench; returns whether its test passed, and its log."""
    build = folder / simulator
    runner = get_runner(simulator)
    sources = sorted(source for source in folder.glob("*.sv") if source.name != "bench_dpi.sv")
    log = folder / f"{simulator}.log"
    runner.build(sources=sources, hdl_toplevel="bench", build_dir=build, always=True, log_file=folder / f"{simulator}_build.log")
    try:
        results = runner.test(hdl_toplevel="bench", test_module=f"test_{component}", build_dir=build, test_dir=folder, log_file=log,
                              results_xml=str(build / "results.xml"))
    except SystemExit:
        results = build / "results.xml"
    cases = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    wrong = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return bool(cases) and not wrong, log.read_text(encoding="utf-8", errors="replace")


def run_dpi(folder, program):
    """Runs the main of a bench that calls the model through DPI-C; returns whether it passed, and what it said."""
    library = os.environ.get("SCALEPOOL_LIB") or pathlib.Path(program).resolve().parent / "libscalepool.so"
    made = subprocess.run(["make", "dpi", f"SCALEPOOL={ROOT}", f"SCALEPOOL_LIB={library}"], cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return made.returncode == 0 and "\nPASS\n" in made.stdout, made.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "scalepool"))
    parser.add_argument("--only", default="", help="benches whose name has this word")
    parser.add_argument("--full", action="store_true", help="every bench in both simulators")
    arguments = parser.parse_args()
    failed = 0
    for system, component, settings in BENCHES:
        module = component.replace("[", "_").replace("]", "")
        name = f"{pathlib.Path(system).stem}-{module}"
        if arguments.only not in name:
            continue
        folder = OUT / name
        export(arguments.program, system, component, settings, folder)
        both = arguments.full or arguments.only
        ways = ["icarus"] + ["verilator"] * bool(both) + ["dpi"] * bool(both or system == BENCHES[0][0] and component == "host")
        for simulator in ways:
            begin = time.monotonic()
            passed, log = run_dpi(folder, arguments.program) if simulator == "dpi" else run(folder, module, simulator)
            took = re.search(r"took (\d+) units and sent (\d+)", log)
            units = f"{took[1]} units in, {took[2]} out" if took else "no figures"
            failed += not passed
            print(f"bench {name:24} {simulator:10} {'ok' if passed else 'FAILED':7} {units:28} {time.monotonic() - begin:5.1f} s")
            if not passed:
                print(log[-3000:])
    for (system, component, settings), (what, line) in () if arguments.only else WRONG:
        folder = OUT / f"{pathlib.Path(system).stem}-{what.split()[0]}"
        export(arguments.program, system, component, settings, folder)
        stub, name = folder / f"{component}.sv", line.split(" <=")[0]
        text = re.sub(rf"^ *{name} <=.*$", f"        {line}", stub.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
        tick = "    logic [5:0] tick = 0;\n    always_ff @(posedge clk) tick <= tick + 6'(model_cxl_tx_valid);\n    always_ff"
        stub.write_text(text.replace("    always_ff", tick, 1), encoding="utf-8")
        for simulator in ["icarus"] + ["dpi"] * arguments.full:
            passed, log = run_dpi(folder, arguments.program) if simulator == "dpi" else run(folder, component, simulator)
            said = re.search(r"(?:AssertionError: |Assertion failed in [^:]*: )(.{1,60})", log)
            failed += passed or said is None
            print(f"{pathlib.Path(system).stem:16} a stub that {what:14} {simulator:10} "
                  f"{'passes' if passed else 'is noticed':12} {said[1] if said else ''}")
    if failed:
        sys.exit(f"{failed} benches failed")


main()
