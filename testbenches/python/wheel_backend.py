"""Builds the wheel for pip: the Python files, the C header, and the shared library of the model.

A build backend (PEP 517) of its own because a wheel is an archive of files and there is nothing to compile in Python: pip
needs no other package for it, so it works without network, and nothing is left behind in this folder.

The library comes from `SCALEPOOL_LIB` where that is set, and from cargo otherwise, which reaches for the network only if
crates are missing. It is built with link-time optimisation (profile `dist`), since a wheel is handed to others.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = pathlib.PurePosixPath("cocotbext/scalepool")
LIBRARY = "libscalepool.dylib" if sys.platform == "darwin" else "libscalepool.so"


def _library():
    """Path of the shared library."""
    given = os.environ.get("SCALEPOOL_LIB")
    if given:
        path = pathlib.Path(given)
        if not path.is_file():
            raise SystemExit(f"SCALEPOOL_LIB: found no file `{given}`, expected the shared library of scalepool")
        return path
    command = ["cargo", "build", "--profile", "dist", "-p", "scalepool-shared", "--locked"]
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    except FileNotFoundError:
        raise SystemExit("cargo is missing: install Rust 1.88 or later, or name a built library in SCALEPOOL_LIB") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"`{' '.join(command)}` ended with status {error.returncode}") from None
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "dist" / LIBRARY


def _version():
    with open(ROOT / "Cargo.toml", "rb") as file:
        return tomllib.load(file)["workspace"]["package"]["version"]


def _metadata():
    """Name of the .dist-info folder, and its files but for the list of all."""
    with open(HERE / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    name, version = project["name"], _version()
    # The library holds machine code, but nothing of one version of Python.
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"py3-none-{platform}"
    lines = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {project['description']}",
        f"License: {project['license']}", f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: wheel_backend", "Root-Is-Purelib: false", f"Tag: {tag}"]
    stem = f"{name.replace('-', '_')}-{version}"
    files = {"METADATA": "\n".join(lines) + "\n", "WHEEL": "\n".join(wheel) + "\n"}
    return stem, tag, files


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: writes the wheel into a folder; its name."""
    stem, tag, metadata = _metadata()
    contents = {
        str(PACKAGE / path.name): path.read_bytes() for path in sorted((HERE / "src" / PACKAGE).glob("*.py"))
    }
    contents[str(PACKAGE / "scalepool.h")] = (HERE.parent / "c" / "scalepool.h").read_bytes()
    contents[str(PACKAGE / LIBRARY)] = _library().read_bytes()
    for name, text in metadata.items():
        contents[f"{stem}.dist-info/{name}"] = text.encode()

    def line(name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(data)}\n"

    record = f"{stem}.dist-info/RECORD"
    contents[record] = ("".join(line(*item) for item in contents.items()) + f"{record},,\n").encode()
    file = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in contents.items():
            # A fixed time: the same files give the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return file


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517 asks for it; the sources of the library lie outside this folder."""
    raise SystemExit("there is no source distribution: use `pip wheel testbenches/python` in a clone")
