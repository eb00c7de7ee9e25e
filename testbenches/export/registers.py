#!/usr/bin/env python3
"""Holds the exported register models against the fact sheets and against each other.

SystemRDL (systemrdl/) goes through a compiler of others: offsets, widths, fields, access, resets and codes of every register are those of
docs/reference/registers.md, and offsets and bits of DVSECs, HDM decoders, isolation and bridges those of SHEET, which is written from the sheets. The package for
UVM (uvm/) is linted in Verilator with UVM, with the warnings that testbenches/uvm/verilator.vlt leaves on.

usage: registers.py

It needs `bash testbenches/setup/cosim.sh`, and installs the compiler of SystemRDL and the source of UVM where they are not there yet.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / ".venv-cosim"
RDL = HERE / "systemrdl" / "scalepool_registers.rdl"
SV = HERE / "uvm" / "scalepool_registers_pkg.sv"
PAGE = ROOT / "docs" / "reference" / "registers.md"

# The interpreter that has the compiler; a prefix, because the interpreter itself is a link to that of the system.
if pathlib.Path(sys.prefix) != VENV:
    if not (VENV / "bin" / "python3").exists():
        sys.exit("missing: .venv-cosim\nto install: bash testbenches/setup/cosim.sh")
    os.execv(VENV / "bin" / "python3", [str(VENV / "bin" / "python3"), "-B", *sys.argv])

# By block: (offset, highest bit, lowest bit) of fields by their path; `cxl-io` section 7, `fabric` sections 1.9 and 2.1.
DECODER = {
    "base_low.base_31_28": (0x10, 31, 28),
    "base_high.value": (0x14, 31, 0),
    "size_low.size_31_28": (0x18, 31, 28),
    "size_high.value": (0x1C, 31, 0),
    "control.granularity": (0x20, 3, 0),
    "control.ways": (0x20, 7, 4),
    "control.lock_on_commit": (0x20, 8, 8),
    "control.commit": (0x20, 9, 9),
    "control.committed": (0x20, 10, 10),
    "control.commit_error": (0x20, 11, 11),
    "control.target_type": (0x20, 12, 12),
    "control.bi": (0x20, 13, 13),
    "control.uio": (0x20, 14, 14),
    "control.uio_granularity": (0x20, 19, 16),
    "control.uio_ways": (0x20, 23, 20),
    "control.set_position": (0x20, 27, 24),
}
DEVICE_DECODER = {**DECODER, "skip_low.skip_31_28": (0x24, 31, 28), "skip_high.value": (0x28, 31, 0)}
TARGETS = {f"targets_{half}.way_{n}": (at, 8 * n + 7, 8 * n) for half, at in (("low", 0x24), ("high", 0x28)) for n in range(4)}
HEAD = {
    "capability.decoder_count": (0x0, 3, 0),
    "capability.target_count": (0x0, 7, 4),
    "capability.interleave_11_8": (0x0, 8, 8),
    "capability.interleave_14_12": (0x0, 9, 9),
    "capability.poison_on_decode_error": (0x0, 10, 10),
    "capability.ways_3_6_12": (0x0, 11, 11),
    "capability.ways_16": (0x0, 12, 12),
    "capability.uio": (0x0, 13, 13),
    "capability.uio_decoder_count": (0x0, 19, 16),
    "capability.mem_data_nxm": (0x0, 20, 20),
    "capability.coherency": (0x0, 22, 21),
    "global_control.poison_on_decode_error_enable": (0x4, 0, 0),
    "global_control.decoder_enable": (0x4, 1, 1),
}
HEADER = {
    "header_0.capability_id": (0x0, 15, 0),
    "header_1.vendor": (0x4, 15, 0),
    "header_1.revision": (0x4, 19, 16),
    "header_1.length_bytes": (0x4, 31, 20),
    "header_2.dvsec_id": (0x8, 15, 0),
}
RANGES = {
    f"range{n}_{what}": (at + 0x10 * n, *bits)
    for n in range(2)
    for what, at, bits in (("size_high.value", 0x18, (31, 0)), ("size_low.size_low", 0x1C, (31, 28)),
                           ("base_high.value", 0x20, (31, 0)), ("base_low.base_31_28", 0x24, (31, 28)))
}
FLEX_BUS = {"cache": 0, "io": 1, "mem": 2, "vh_68b": 5, "mld": 6, "lopt_256b": 13, "pbr": 14}
FLEX_BUS_ERRORS = {"even_half_failed": 7, "pid_corrected": 8, "pid_uncorrectable": 9, "pid_unexpected": 10}
ISOLATION = {
    "capability.mem_ranges": (0x0, 3, 0), "capability.cache_ranges": (0x0, 11, 8),
    "control.mem_timeout": (0x8, 3, 0), "control.mem_timeout_enable": (0x8, 4, 4),
    "control.cache_timeout": (0x8, 11, 8), "control.cache_timeout_enable": (0x8, 12, 12),
    "control.mem_isolation_on_timeout": (0x8, 16, 16), "control.mem_isolation_on_link_down": (0x8, 17, 17),
    "control.cache_isolation_on_timeout": (0x8, 18, 18), "control.cache_isolation_on_link_down": (0x8, 19, 19),
    "control.signal_err_cor": (0x8, 25, 25), "control.signal_interrupt": (0x8, 26, 26),
    "status.mem_timeout": (0xC, 0, 0), "status.cache_timeout": (0xC, 4, 4),
    "status.mem_isolated": (0xC, 8, 8), "status.mem_isolated_by_link_down": (0xC, 9, 9),
    "status.cache_isolated": (0xC, 12, 12), "status.cache_isolated_by_link_down": (0xC, 13, 13), "status.busy": (0xC, 14, 14),
}
# The control window of a bridge, `bridge` sections 2, 9.1 and 9.9, whose places are a choice: all registers have 64 bits.
BRIDGE = {
    "op.flush": (0x00, 0, 0), "op.invalidate": (0x00, 1, 1), "base.value": (0x08, 63, 0), "length.value": (0x10, 63, 0),
    "start.start": (0x18, 0, 0), "done.done": (0x20, 0, 0), "errors.value": (0x28, 63, 0), "lost.value": (0x30, 63, 0),
    "capability.window_count": (0x40, 7, 0), "capability.group_count": (0x40, 15, 8), "capability.port_count": (0x40, 31, 16),
    "capability.source_count": (0x40, 47, 32), "capability.flips": (0x40, 48, 48), "commit.commit": (0x48, 0, 0),
    "status.committing": (0x50, 0, 0), "status.viral": (0x50, 1, 1), "status.fault": (0x50, 11, 8), "status.fault_at": (0x50, 31, 16),
    "epoch.value": (0x58, 63, 0), "refused.value": (0x60, 63, 0), "flip_address.value": (0x68, 63, 0),
    "flip.bit_number": (0x70, 9, 0), "flip.flip": (0x70, 16, 16), "flips.flipped": (0x78, 31, 0), "flips.refused": (0x78, 63, 32),
    # The group of source s: four bits of register s div 16.
    **{f"group[{s // 16}].groups.group_{s % 16}": (0x400 + s // 16 * 8, s % 16 * 4 + 3, s % 16 * 4) for s in range(1024)},
}
for n in range(16):
    at, window = 0x800 + 0x80 * n, f"window[{n}]"
    BRIDGE |= {f"{window}.{name}.value": (at + offset, 63, 0) for name, offset in (("base", 0), ("size", 8), ("out_base", 16))}
    BRIDGE |= {f"{window}.control.{name}": (at + 0x18, high, low)
               for name, high, low in (("valid", 0, 0), ("line_class", 7, 4), ("granule", 11, 8), ("ways", 15, 12))}
    BRIDGE |= {f"{window}.rights.may_{name}": (at + 0x20, 16 * k + 15, 16 * k) for k, name in enumerate(("read", "write", "atomic"))}
    BRIDGE |= {f"{window}.targets_{w // 4}.way_{w % 4}": (at + 0x40 + w // 4 * 8, w % 4 * 16 + 15, w % 4 * 16) for w in range(16)}
SHEET = {
    "bridge": BRIDGE,
    "timeout_and_isolation": ISOLATION,
    "dvsec_device": {**HEADER, **RANGES, "capability.cache": (0xA, 0, 0), "control.cache_enable": (0xC, 0, 0)},
    "dvsec_flex_bus_port": {
        **HEADER, **{f"capability.{name}": (0xA, bit, bit) for name, bit in FLEX_BUS.items()},
        **{f"status.{name}": (0xE, bit, bit) for name, bit in FLEX_BUS_ERRORS.items()},
    },
    "hdm_device_decoders": {**HEAD, **{
        f"decoder[{n}].{name}": (at + 0x20 * n, *bits) for n in range(10) for name, (at, *bits) in DEVICE_DECODER.items()}},
    "hdm_bridge_decoders": {**HEAD, **{
        f"decoder[{n}].{name}": (at + 0x20 * n, *bits) for n in range(32) for name, (at, *bits) in {**DECODER, **TARGETS}.items()}},
}
# Blocks whose fields are all in SHEET.
WHOLE = ("bridge", "hdm_device_decoders", "hdm_bridge_decoders", "timeout_and_isolation")
IDS = {"dvsec_device": 0, "dvsec_function_map": 2, "dvsec_port_extensions": 3, "dvsec_gpf_port": 4, "dvsec_gpf_device": 5,
       "dvsec_flex_bus_port": 7, "dvsec_register_locator": 8, "dvsec_mld": 9}
BRIDGE_CODES = {
    "line_class": {"Mc": 0, "Mn": 1, "Io": 2},
    "granule": {f"Bytes{256 << code}": code for code in range(7)},
    "ways": {f"Ways{1 << code}": code for code in range(5)},
}
FAULTS = ("Taken", "Busy", "Unaligned", "Small", "Overflow", "Port", "Overlap", "Code", "Source", "Control",
          "PortClass")
GRANULARITY = {f"Bytes{256 << code}": code for code in range(7)}
WAYS = {"Ways1": 0, "Ways2": 1, "Ways4": 2, "Ways8": 3, "Ways16": 4, "Ways3": 8, "Ways6": 9, "Ways12": 10}


def page():
    """{block: {path: (offset, highest bit, lowest bit, access, reset, codes)}} as the page of the book has them."""
    blocks, block = {}, None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## (\w+)", line):
            block = blocks.setdefault(heading[1], {})
        elif block is not None and line.startswith("| 0x"):
            offset, register, bits, field, access, reset, meaning = (cell.strip() for cell in line.strip("|").split(" | "))
            high, low = (int(bit) for bit in (bits.split(":") * 2)[:2])
            codes = {name: int(code) for code, name in re.findall(r"(\d+) `(\w+)`", meaning.partition("Codes: ")[2])}
            value = int(reset, 16) if reset else None
            array = re.fullmatch(r"`(\w+)\[n\]\.(\w+)`, n = 0 to (\d+)", register)
            if array is None:
                names = [(register.strip("`"), int(offset, 16))]
            else:
                base, stride = (int(part, 16) for part in re.fullmatch(r"(\w+) \+ (\w+) n", offset).groups())
                names = [(f"{array[1]}[{n}].{array[2]}", base + stride * n) for n in range(int(array[3]) + 1)]
            for name, at in names:
                block[f"{name}.{field.strip('`')}"] = (at, high, low, access, value, codes)
    return blocks


def access_of(field):
    """How the page calls what software may do with a field of SystemRDL."""
    from systemrdl.rdltypes import AccessType, OnWriteType

    if field.get_property("onwrite") == OnWriteType.woclr:
        return "read, write 1 to clear"
    if field.get_property("singlepulse"):
        return "write 1 to start, reads 0"
    if field.get_property("sw") == AccessType.rw:
        return "read, write until locked" if field.get_property("lockable") else "read, write"
    return "constant" if field.get_property("hw") == AccessType.na else "read"


def compiled():
    """What the compiler makes of the file, in the form of `page`."""
    from systemrdl import RDLCompiler
    from systemrdl.node import AddrmapNode, FieldNode

    compiler = RDLCompiler()
    compiler.compile_file(str(RDL))
    blocks = {}
    for name in re.findall(r"^addrmap (\w+)", RDL.read_text(encoding="ascii"), re.MULTILINE):
        top = compiler.elaborate(name).top
        assert isinstance(top, AddrmapNode)
        block = blocks.setdefault(name, {})
        for field in top.descendants(unroll=True):
            if not isinstance(field, FieldNode):
                continue
            codes = {code.name: int(code.value) for code in field.get_property("encode") or ()}
            path = field.get_path().removeprefix(f"{name}.")
            block[path] = (field.parent.absolute_address, field.high, field.low, access_of(field), field.get_property("reset"), codes)
    return blocks


def differences(found, expected):
    """A text for each field that differs."""
    for block in sorted(found.keys() | expected.keys()):
        here, there = found.get(block, {}), expected.get(block, {})
        for path in sorted(here.keys() | there.keys()):
            if here.get(path) != there.get(path):
                yield f"{block}.{path}: found {here.get(path)}, expected {there.get(path)}"


def of_sheet(found):
    """What differs from the sheets."""
    for block, fields in SHEET.items():
        for path, expected in fields.items():
            is_there = found[block].get(path)
            if is_there is None or is_there[:3] != expected:
                yield f"{block}.{path}: found {is_there}, expected {expected} of the sheet"
        if block in WHOLE and (more := found[block].keys() - fields.keys()):
            yield f"{block}: found {sorted(more)[0]}, which the sheet does not have"
    for block, number in IDS.items():
        fields = found[block]
        expected = {"header_0.capability_id": 0x23, "header_1.vendor": 0x1E98, "header_2.dvsec_id": number}
        for path, value in expected.items():
            if fields[path][4] != value:
                yield f"{block}.{path}: found {fields[path][4]:#x}, expected {value:#x} of the sheet"
    bridge = found["bridge"]
    wanted = {f"window[15].control.{name}": codes for name, codes in BRIDGE_CODES.items()}
    wanted["status.fault"] = {name: code for code, name in enumerate(FAULTS)}
    for path, codes in wanted.items():
        if bridge[path][5] != codes:
            yield f"bridge.{path}: found the codes {bridge[path][5]}, expected {codes} of the sheet"
    started = {path for path, field in bridge.items() if field[3] == "write 1 to start, reads 0"}
    if started != {"start.start", "commit.commit", "flip.flip"}:
        yield f"bridge: found {sorted(started)}, which start something"
    control = found["hdm_device_decoders"]
    for path, codes in (("granularity", GRANULARITY), ("ways", WAYS)):
        if control[f"decoder[0].control.{path}"][5] != codes:
            yield f"{path}: found the codes {control[f'decoder[0].control.{path}'][5]}, expected {codes} of the sheet"


def lint():
    """All that Verilator says of the package for UVM."""
    uvm = ROOT / "target" / "uvm" / "src"
    command = [VENV / "bin" / "verilator", "--lint-only", "-Wall", "--quiet", "--timing", "-DUVM_NO_DPI",
               ROOT / "testbenches" / "uvm" / "verilator.vlt", f"+incdir+{uvm}", uvm / "uvm_pkg.sv", SV]
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, cwd=ROOT)
    return [result.stdout] if result.returncode or "%Warning" in result.stdout else []


def main():
    for script in ("registers.sh", "uvm.sh"):
        subprocess.run(["bash", str(ROOT / "testbenches" / "setup" / script)], check=True)
    found = compiled()
    fields = sum(map(len, found.values()))
    wrong = [*differences(found, page()), *of_sheet(found), *lint()]
    print("\n".join(wrong[:20]) or f"{len(found)} blocks, {fields} fields in SystemRDL as on the page and in the sheets; no warnings for UVM")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
