#!/usr/bin/env python3
"""Co-simulates every device of testbenches/rtl with the model, through cocotb, in Icarus and Verilator, and a top level in VHDL in GHDL
where that is installed (`apt-get install ghdl`).

Each test runs on the unchanged RTL in Icarus, some also in Verilator (all with --full, or those of --only), and in Icarus on the
seeded bugs (mutants) of testbenches/verilator/mutants.txt, each of which a test has to notice. The example of docs/guide/cocotb.md
is taken from the page and runs as a test, too, and by `make` with the makefiles of the page. The output is a table; the exit status is 1
if a test fails, a mutant survives, or a device has no test, but for those that are held against vectors alone.

Builds and results are kept in target/cocotb by a hash of all their inputs: RTL, tests, package and library.

usage: run.py [--only WORD] [--no-mutants] [--simulator icarus|verilator|ghdl] [--full] [--fresh]

`bash testbenches/setup/cosim.sh` installs what is needed. SCALEPOOL_SOAK=N makes the tests N times longer, COCOTB_RANDOM_SEED=N
gives other random numbers, and logs are in target/cocotb.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RTL = HERE.parent / "rtl"
VENV = ROOT / ".venv-cosim"
OUT = ROOT / "target" / "cocotb"
SIMULATORS = ("icarus", "verilator", "ghdl")

# The interpreter that has cocotb; a prefix, because the interpreter itself is a link to that of the system.
if pathlib.Path(sys.prefix) != VENV:
    if not (VENV / "bin" / "python3").exists():
        sys.exit("missing: .venv-cosim\nto install: bash testbenches/setup/cosim.sh")
    os.execv(VENV / "bin" / "python3", [str(VENV / "bin" / "python3"), "-B", *sys.argv])

os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
# No file beside a source. Packages have their compiled ones, which a folder of our own for these would hide: 0.8 s for each run.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.environ.setdefault("COCOTB_RANDOM_SEED", "1")
# The first failure says enough, of a mutant above all.
os.environ.setdefault("COCOTB_MAX_FAILURES", "1")

from cocotb_tools.runner import get_runner  # noqa: E402: of the interpreter above

sys.path.extend([str(HERE), str(HERE.parent / "verilator")])

import runtime  # noqa: E402
import seeded  # noqa: E402
from contents import hash_of  # noqa: E402

os.environ.update(runtime.environment())


@dataclasses.dataclass
class Bench:
    """`test_<name>.py` in the folder of that name, on a top module that stands for some RTL files. A wrapper is a module
    in the folder itself."""

    name: str
    top: str
    devices: tuple
    parameters: dict = dataclasses.field(default_factory=dict)
    label: str = ""
    simulators: tuple = ("icarus", "verilator")

    @property
    def of_mutants(self):
        """The simulator of the seeded bugs."""
        return self.simulators[0]

    @property
    def title(self):
        return f"{self.name} {self.label}".strip()

    @property
    def stem(self):
        return self.title.replace(" ", "_")


BENCHES = [
    Bench("agents", "wires", (), {"WIDTH": 544}, "cxl-68b"),
    Bench("agents", "wires", (), {"WIDTH": 1024}, "cxl-256b", ("icarus",)),
    Bench("agents", "wires", (), {"WIDTH": 1280}, "ualink", ("icarus",)),
    Bench("agents", "wires", (), {"WIDTH": 128}, "nvlink", ("icarus",)),
    Bench("arbiters", "arbiters_top", ("arb_round_robin", "arb_matrix", "arb_weighted")),
    Bench("cxl256_check", "cxl256_check_top",
          ("cxl256_crc8b", "cxl256_crc6b", "gf_remainder", "cxl256_fec_encode", "cxl256_fec_correct")),
    Bench("cxl68_crc", "cxl68_crc16", ("cxl68_crc16",)),
    Bench("cxl68_packer", "cxl68_packer", ("cxl68_packer",)),
    Bench("cxl68_retry_link", "cxl68_retry_link_top", ("cxl68_retry_tx", "cxl68_retry_rx")),
    Bench("cxl68_retry_rx", "cxl68_retry_rx", ("cxl68_retry_rx",),
          {"MAX_NUM_RETRY": 3, "MAX_NUM_PHY_REINIT": 2, "TIMEOUT": 8}),
    Bench("cxl68_retry_tx", "cxl68_retry_tx", ("cxl68_retry_tx",), {"ENTRIES": 22}),
    Bench("cxl68_unpacker", "cxl68_unpacker", ("cxl68_unpacker", "cxl68_places"), {"UP": 0}, "down"),
    Bench("cxl68_unpacker", "cxl68_unpacker", ("cxl68_unpacker", "cxl68_places"), {"UP": 1}, "up"),
    Bench("cxl_cache", "cxl_cache_device", ()),
    Bench("example", "flit_register", ("flit_register",)),
    Bench("example", "vhdl_flit_register", ("vhdl_flit_register",), label="vhdl", simulators=("ghdl",)),
    Bench("interfaces", "interfaces_top", (), simulators=("icarus",)),
    Bench("nvl_packetizer", "nvl_packetizer", ("nvl_packetizer", "nvl_crc25")),
    Bench("plain_memory", "plain_memory", ()),
    Bench("pyuvm_memory", "pyuvm_memory_top", ()),
    Bench("switch_slices", "switch_slices_top", ("switch_port_slice", "arb_round_robin")),
    Bench("ual_crc", "ual_crc32", ("ual_crc32",)),
    Bench("ual_deframer", "ual_deframer", ("ual_deframer", "ual_offsets", "ual_crc32")),
    Bench("ual_framer", "ual_framer", ("ual_framer", "ual_offsets", "ual_crc32")),
]

VHDL_STANDARD = "--std=08"

# Held against vectors alone, with all of its mutants, in testbenches/verilator: a bridge between two protocols has no test here.
VECTORS_ALONE = {"brg_upli_mem"}

# What runs in Verilator without --full: ends of the model beside RTL. A build takes 6 s of processor time, every bench runs in Icarus,
# testbenches/verilator/ has every device in Verilator, and guide.py runs the page on a DUT there.
USUAL_IN_VERILATOR = ("agents cxl-68b",)


PAGE = ROOT / "docs" / "guide" / "cocotb.md"


def example():
    """Cuts the example out of the page on cocotb: its one block of Python that is a test."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if "@cocotb.test" in block]
    if len(blocks) != 1:
        raise SystemExit(f"docs/guide/cocotb.md: found {len(blocks)} tests in Python in the section on cocotb, expected 1")
    if len(blocks[0].splitlines()) > 30:
        raise SystemExit(f"docs/guide/cocotb.md: the example has {len(blocks[0].splitlines())} lines, expected 30 at most")
    folder = OUT / "example"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_example.py").write_text(blocks[0], encoding="utf-8")
    sys.path.append(str(folder))


def makefile(is_vhdl):
    """The `Makefile` of the page for the example; that of VHDL has the second block in the place of three settings of the first."""
    blocks = re.findall(r"^```make\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if len(blocks) != 2:
        raise SystemExit(f"docs/guide/cocotb.md: found {len(blocks)} blocks of make, expected 2")
    if not is_vhdl:
        return blocks[0]
    rest, count = re.subn(r"^(SIM|VERILOG_SOURCES|COCOTB_TOPLEVEL) .*\n", "", blocks[0], flags=re.MULTILINE)
    if count != 3:
        raise SystemExit(f"docs/guide/cocotb.md: found {count} of SIM, VERILOG_SOURCES and COCOTB_TOPLEVEL, expected 3")
    return blocks[1] + rest


def by_make(simulator):
    """Why the example fails by `make` with the `Makefile` of the page, if it does."""
    begin, is_vhdl = time.monotonic(), simulator == "ghdl"
    folder = OUT / "make" / simulator
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = "vhdl_flit_register.vhd" if is_vhdl else "flit_register.sv"
    shutil.copy(HERE / "example" / name, folder)
    shutil.copy(OUT / "example" / "test_example.py", folder / "test_flits.py")
    (folder / "Makefile").write_text(makefile(is_vhdl), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "SIM")}
    done = subprocess.run(["make"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    (folder / "make.log").write_text(done.stdout, encoding="utf-8")
    try:
        cases = list(xml.etree.ElementTree.parse(folder / "results.xml").getroot().iter("testcase"))
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        cases = []
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    is_good = done.returncode == 0 and cases and not bad
    why = None if is_good else f"docs/guide/cocotb.md: make ended with status {done.returncode}:\n{done.stdout[-2000:]}"
    return simulator, len(cases), time.monotonic() - begin, why


@functools.cache
def hash_of_package():
    """Of the installed package with its library, and of what is common to all tests."""
    package = next(VENV.glob("lib/python3*/site-packages/cocotbext/scalepool"))
    said = [f"{name}={os.environ.get(name)}" for name in ("SCALEPOOL_SOAK", "COCOTB_RANDOM_SEED", "COCOTB_MAX_FAILURES")]
    return hash_of(package, HERE / "common.py", HERE.parent / "verilator" / "vectors.py", ROOT / "golden", *said)


def command_of(bench, simulator, rtl):
    """Top module and arguments of a build."""
    file = f"{bench.top}.{'vhd' if simulator == 'ghdl' else 'sv'}"
    places = [place / file for place in (rtl, HERE / bench.name)]
    source = next((path for path in places if path.is_file()), None)
    if source is None:
        raise RuntimeError(f"{bench.title}: found no {file}, expected it in testbenches/rtl or beside the test")
    if simulator == "ghdl":
        return source, [VHDL_STANDARD]
    if simulator == "icarus":
        return source, ["-y", str(rtl), "-Y", ".sv"]
    # Loops stay loops: it compiles in seconds and runs no slower here.
    return source, ["-y", str(rtl), "-Wno-fatal", "-Wno-WIDTH", "--unroll-count", "2", "-O1",
                    "-CFLAGS", "-O0", *runtime.IN_ONE_PART]


def build(bench, simulator, rtl, folder):
    """Builds a bench with the RTL of a folder, if that has not been done; what it was built of, or raises `RuntimeError`."""
    source, arguments = command_of(bench, simulator, rtl)
    key = hash_of(rtl, source, bench.parameters, arguments if simulator == "ghdl" else arguments[2:])
    built = folder / "built"
    if built.is_file() and built.read_text(encoding="ascii") == key:
        return key
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    runner = get_runner(simulator)
    runner.log.setLevel("WARNING")
    log = folder / "build.log"
    try:
        # GHDL has the unit of time of its packages, and no includes.
        more = {} if simulator == "ghdl" else {"includes": [rtl], "timescale": ("1ns", "1ps")}
        runner.build(sources=[source], hdl_toplevel=bench.top, parameters=bench.parameters, always=True,
                     build_args=arguments, build_dir=folder, log_file=log, **more)
    except RuntimeError:
        raise RuntimeError(f"{bench.title} does not build in {simulator}:\n{log.read_text()}") from None
    built.write_text(key, encoding="ascii")
    return key


def passes(bench, simulator, rtl, folder):
    """How many tests ran, and why the first that failed did, if any. What came out of the same run before is believed."""
    tests = OUT / "example" if bench.name == "example" else HERE / bench.name
    key = hash_of(build(bench, simulator, rtl, folder), tests, hash_of_package())
    kept = folder / f"verdict-{key}.json"
    if kept.is_file():
        return tuple(json.loads(kept.read_text(encoding="utf-8")))
    verdict = passes_now(bench, simulator, folder)
    kept.write_text(json.dumps(verdict), encoding="utf-8")
    return verdict


def passes_now(bench, simulator, folder):
    results, log = folder / "results.xml", folder / "test.log"
    results.unlink(missing_ok=True)
    runner = get_runner(simulator)
    runner.log.setLevel("WARNING")
    try:
        is_vhdl = simulator == "ghdl"
        more = {"test_args": [VHDL_STANDARD]} if is_vhdl else {}
        runner.test(test_module=f"test_{bench.name}", hdl_toplevel=bench.top, hdl_toplevel_lang="vhdl" if is_vhdl else "verilog",
                    build_dir=folder, test_dir=folder, results_xml=str(results), timescale=("1ns", "1ps"), log_file=log, **more)
    except (RuntimeError, SystemExit):
        pass  # the results say more
    try:
        cases = list(xml.etree.ElementTree.parse(results).getroot().iter("testcase"))
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        raise RuntimeError(f"{bench.title} left no results:\n{log.read_text()[-2000:]}") from None
    if not cases:
        raise RuntimeError(f"{bench.title} has no tests:\n{log.read_text()[-2000:]}")
    for case in cases:
        for wrong in [*case.iter("failure"), *case.iter("error")]:
            text = " ".join((wrong.get("error_msg") or wrong.get("message") or wrong.text or "failed").split())
            return len(cases), f"{case.get('name')}: {text[:150]}"
    return len(cases), None


def on_rtl(job):
    bench, simulator = job
    begin, folder = time.monotonic(), OUT / simulator / bench.stem
    try:
        count, why = passes(bench, simulator, RTL, folder)
    except RuntimeError as error:
        count, why = 0, str(error)
    return bench, simulator, count, time.monotonic() - begin, why


def on_mutant(mutant):
    """Device, name, the bench that noticed it and why."""
    device, name = mutant[:2]
    folder = OUT / "mutants" / f"{device}-{name}"
    rtl = seeded.mutate(*mutant, [RTL, HERE / "example"], folder / "rtl")
    for bench in [bench for bench in BENCHES if device in bench.devices]:
        place = folder / bench.stem
        try:
            _, why = passes(bench, bench.of_mutants, rtl, place)
        except RuntimeError as error:
            return device, name, None, f"cannot be judged: {error}"
        if why:
            return device, name, bench.title, why
    return device, name, None, "survives"


def judges_mutants(bench, simulator):
    """Whether the seeded bugs of a bench run, where this simulator alone was asked for, or none was."""
    # Those of SystemVerilog are judged in Icarus whatever simulator of SystemVerilog was asked for.
    if bench.of_mutants != "ghdl":
        return simulator != "ghdl"
    return simulator in (None, "ghdl") and shutil.which("ghdl") is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="run only the benches whose name contains this word")
    parser.add_argument("--no-mutants", action="store_true", help="run the unchanged RTL only")
    parser.add_argument("--simulator", choices=SIMULATORS, help="run in this simulator only")
    parser.add_argument("--full", action="store_true", help="run every mutant instead of one of each device, and all in Verilator")
    parser.add_argument("--fresh", action="store_true", help="discard earlier builds and results")
    options = parser.parse_args()
    begin = time.monotonic()
    if options.fresh:
        shutil.rmtree(OUT, ignore_errors=True)
    example()
    sys.path.extend(str(HERE / name) for name in {bench.name for bench in BENCHES})
    benches = [bench for bench in BENCHES if options.only in bench.title]
    wrong = []
    everywhere = options.full or options.only or options.simulator
    jobs = [
        (bench, simulator) for simulator in reversed(SIMULATORS) for bench in benches
        if simulator in bench.simulators and options.simulator in (None, simulator)
        and (everywhere or simulator != "verilator" or bench.title in USUAL_IN_VERILATOR)
    ]
    # GHDL is in no package of Python, and nothing else needs it: where it is missing, its benches are not run, and the output says so.
    not_run = []
    if shutil.which("ghdl") is None:
        not_run = [bench for bench, simulator in jobs if simulator == "ghdl"]
        jobs = [job for job in jobs if job[1] != "ghdl"]
    of_page = [simulator for bench, simulator in jobs if bench.name == "example" and simulator == bench.of_mutants]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(on_rtl, jobs))
        made = list(pool.map(by_make, of_page))
    print(f"{'device':<46} {'simulator':<10} {'tests':>5} {'seconds':>8}  verdict")
    for bench, simulator, count, seconds, why in sorted(rows, key=lambda row: (row[0].title, row[1])):
        print(f"{bench.title:<46} {simulator:<10} {count:>5} {seconds:>8.1f}  {why or 'pass'}")
        wrong += [why] if why else []
    for simulator, count, seconds, why in made:
        print(f"{'example by make':<46} {simulator:<10} {count:>5} {seconds:>8.1f}  {why or 'pass'}")
        wrong += [why] if why else []
    for bench in not_run:
        print(f"{bench.title:<46} {'ghdl':<10} {'-':>5} {'-':>8}  not run: found no ghdl, which `apt-get install ghdl` installs")
    have = {device for bench in BENCHES for device in bench.devices}
    for device in sorted({path.stem for path in RTL.glob("*.sv*")} - have - VECTORS_ALONE):
        wrong.append(f"{device} has no test")
        print(wrong[-1])

    if not options.no_mutants:
        mutants = seeded.read(HERE.parent / "verilator" / "mutants.txt") + seeded.read(HERE / "example" / "mutants.txt")
        # Their simulator may be another than the one that was asked for, or be missing.
        judged = {device for bench in benches for device in bench.devices if judges_mutants(bench, options.simulator)}
        mutants = [mutant for mutant in mutants if mutant[0] in judged]
        if not options.full:
            # The last of each device.
            mutants = list({mutant[0]: mutant for mutant in mutants}.values())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = sorted(pool.map(on_mutant, mutants))
        print(f"\n{'mutant':<46} noticed by")
        for device, name, killer, why in results:
            print(f"{device + ': ' + name:<46} {f'{killer}: {why}' if killer else why}")
            wrong += [] if killer else [f"{device}: {name}: {why}"]
        print(f"{len(results)} mutants, {sum(killer is not None for _, _, killer, _ in results)} noticed")

    print(f"\n{len(rows) + len(made)} runs, {'all as expected' if not wrong else f'{len(wrong)} failures'}, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
