"""Builds the wheel and the source distribution for pip.

The wheel holds the Python files, the C header, the shared library of the model and the program `scalepool`, the sources for
DPI-C, the header for SystemC and the maps of `scalepool inspect`. A build backend (PEP 517) of its own because a wheel is an archive of files and there
is nothing to compile in Python: pip needs no other package for it, so it works without network, and nothing is left behind
in this folder.

Library and program come from `SCALEPOOL_LIB` and `SCALEPOOL_PROGRAM` where the first of them is set (without the second the
wheel has no program), and from cargo otherwise, which reaches for the network only if crates are missing. They are built
with link-time optimisation (profile `dist`), since a wheel is handed to others; cargo shows its progress on the terminal,
which pip would keep to itself. `SCALEPOOL_PLATFORM` is the platform that the wheel is for, such as `manylinux_2_28_x86_64`, if
that is another one than this machine's: `make wheel` builds such a library, and has it checked.
"""

import base64
import contextlib
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = pathlib.PurePosixPath("cocotbext/scalepool")
LIBRARY = "libscalepool.dylib" if sys.platform == "darwin" else "libscalepool.so"
PROGRAM = "scalepool"

# Folders of the package that hold files of the repository, by the files' patterns there.
SHARED = {
    "dpi": ["testbenches/dpi/scalepool_*_pkg.sv", "testbenches/dpi/scalepool_*.c", "testbenches/dpi/README.md"],
    "export/sv": ["testbenches/export/sv/scalepool_*_pkg.sv", "testbenches/export/sv/scalepool_pkg.sv",
                  "testbenches/export/sv/scalepool_interfaces.sv"],
    "export/uvm": ["testbenches/export/uvm/scalepool_registers_pkg.sv"],
    "uvm": ["testbenches/uvm/*.sv", "testbenches/uvm/*.svh", "testbenches/uvm/sources.f", "testbenches/uvm/README.md"],
    "systemc": ["testbenches/systemc/scalepool_tlm.h"],
    "maps": ["testbenches/maps/link_*.toml", "testbenches/maps/stream_*.toml", "testbenches/maps/waves_*.toml",
             "testbenches/maps/capture_*.toml"],
}


@contextlib.contextmanager
def _progress():
    """Where cargo shows its progress: the terminal, if there is one behind the pipe of pip."""
    terminal = None
    if not sys.stderr.isatty():
        with contextlib.suppress(OSError):
            terminal = open("/dev/tty", "wb")
    try:
        yield terminal
    finally:
        if terminal:
            terminal.close()


def _built():
    """Paths of the shared library and of the program; None: the wheel has no program."""
    given = {name: os.environ.get(name) for name in ("SCALEPOOL_LIB", "SCALEPOOL_PROGRAM")}
    if given["SCALEPOOL_LIB"]:
        paths = [path and pathlib.Path(path) for path in given.values()]
        for name, path in zip(given, paths):
            if path and not path.is_file():
                raise SystemExit(f"{name}: found no file `{path}`, expected what cargo builds of scalepool")
        return paths
    command = ["cargo", "build", "--profile", "dist", "-p", "scalepool-shared", "-p", "scalepool", "--locked"]
    try:
        with _progress() as terminal:
            subprocess.run(command, cwd=ROOT, check=True, stderr=terminal)
    except FileNotFoundError:
        raise SystemExit("cargo is missing: install Rust 1.90 or later, or name a built library in SCALEPOOL_LIB") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"`{' '.join(command)}` ended with status {error.returncode}") from None
    folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "dist"
    return folder / LIBRARY, folder / PROGRAM


def _project():
    """The table `project` of pyproject.toml, with the version of the crates."""
    with open(HERE / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    with open(ROOT / "Cargo.toml", "rb") as file:
        project["version"] = tomllib.load(file)["workspace"]["package"]["version"]
    return project


def _stem(project):
    """The first part of all names."""
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata(project):
    """The text of METADATA and PKG-INFO."""
    lines = [
        "Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
        f"Summary: {project['description']}", f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: writes the wheel into a folder; its name."""
    project = _project()
    stem = _stem(project)
    # The library holds machine code, but nothing of one version of Python.
    platform = os.environ.get("SCALEPOOL_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"py3-none-{platform}"
    library, program = _built()
    contents = {
        str(PACKAGE / path.name): path.read_bytes() for path in sorted((HERE / "src" / PACKAGE).glob("*.py"))
    }
    contents[str(PACKAGE / "py.typed")] = b""
    contents[str(PACKAGE / "c" / "scalepool.h")] = (HERE.parent / "c" / "scalepool.h").read_bytes()
    contents[str(PACKAGE / "PASSIVE.md")] = (ROOT / "docs" / "guide" / "passive.md").read_bytes()
    for folder, patterns in SHARED.items():
        for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
            contents[str(PACKAGE / folder / path.name)] = path.read_bytes()
    contents[str(PACKAGE / LIBRARY)] = library.read_bytes()
    programs = {f"{stem}.data/scripts/{PROGRAM}": program.read_bytes()} if program else {}
    contents |= programs
    wheel = ["Wheel-Version: 1.0", "Generator: wheel_backend", "Root-Is-Purelib: false", f"Tag: {tag}"]
    contents[f"{stem}.dist-info/METADATA"] = _metadata(project).encode()
    contents[f"{stem}.dist-info/WHEEL"] = ("\n".join(wheel) + "\n").encode()

    def line(name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(data)}\n"

    record = f"{stem}.dist-info/RECORD"
    contents[record] = ("".join(line(*item) for item in contents.items()) + f"{record},,\n").encode()
    file = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in contents.items():
            # A fixed time: the same files give the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return file


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: writes the source distribution into a folder; its name. It is what git knows of, but for the committed vectors
    and waves, with a pyproject.toml at its top that finds this file."""
    project = _project()
    stem = _stem(project)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    names = sorted(name for name in listed.split("\0") if name and name.split("/")[0] not in ("golden", "waves"))
    top = (HERE / "pyproject.toml").read_text(encoding="utf-8").replace('backend-path = ["."]', f'backend-path = ["{HERE.relative_to(ROOT)}"]')
    texts = {"pyproject.toml": top, "PKG-INFO": _metadata(project)}

    def plain(entry):
        # The same files give the same archive.
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    file = f"{stem}.tar.gz"
    with (
        open(pathlib.Path(sdist_directory) / file, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in texts.items():
            entry = plain(tarfile.TarInfo(f"{stem}/{name}"))
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        for name in names:
            archive.add(ROOT / name, f"{stem}/{name}", recursive=False, filter=plain)
    return file
