"""Prints where the parts of the package lie: `python3 -m cocotbext.scalepool dpi`.

* `library`: the shared library, to link a simulator with
* `header`: the C header
* `dpi`: the sources for DPI-C, packages of SystemVerilog before the C files
* `sv`: the packages of SystemVerilog with structs and classes, in the order in which they are compiled, behind those of `dpi`
* `uvm`: the file list of the UVM agent, to be named with `-F` behind the package of UVM; it has the files of `dpi` and `sv` too
* `systemc`: the header for SystemC TLM-2.0; it includes that of `header`
* `maps`: the maps of `scalepool inspect`, to start one of your own from
* `version`: the version

A part of several files takes several lines.
"""

import sys

from . import __version__
from . import _library as lib


def places(part: str) -> list[str]:
    """Returns the lines that are printed for a part. Raises `KeyError` for an unknown one."""
    sv = lib.HERE / "export" / "sv"
    coverage = sv / "scalepool_coverage_pkg.sv"
    found: dict[str, list[object]] = {
        "library": [lib.PATH],
        "header": [lib.HEADER],
        "dpi": [*sorted((lib.HERE / "dpi").glob("*.sv")), *sorted((lib.HERE / "dpi").glob("*.c"))],
        # The classes need the structs of all families; coverage and the modules of interfaces need the classes.
        "sv": [*(file for file in sorted(sv.glob("scalepool_*_pkg.sv")) if file != coverage), sv / "scalepool_pkg.sv", coverage,
               sv / "scalepool_interfaces.sv"],
        "uvm": [lib.HERE / "uvm" / "sources.f"],
        "systemc": [lib.HERE / "systemc" / "scalepool_tlm.h"],
        "maps": [*sorted((lib.HERE / "maps").glob("*.toml"))],
        "version": [__version__],
    }
    return [str(place) for place in found[part]]


def main(arguments: list[str]) -> int:
    """Prints a part; returns the exit status."""
    try:
        (part,) = arguments
        lines = places(part)
    except (KeyError, ValueError):
        known = "library, header, dpi, sv, uvm, systemc, maps, version"
        print(f"found {' '.join(arguments) or 'nothing'}, expected one of: {known}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
