"""Prints where the parts of the package lie: `python3 -m cocotbext.scalepool dpi`.

* `library`: the shared library, to link a simulator with
* `header`: the C header
* `dpi`: the sources for DPI-C, packages of SystemVerilog before the C files
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
    found: dict[str, list[object]] = {
        "library": [lib.PATH],
        "header": [lib.HEADER],
        "dpi": [*sorted((lib.HERE / "dpi").glob("*.sv")), *sorted((lib.HERE / "dpi").glob("*.c"))],
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
        print(f"found {' '.join(arguments) or 'nothing'}, expected one of: library, header, dpi, systemc, maps, version", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
