#!/usr/bin/env bash
# Puts the source of UVM 1800.2-2017 into target/uvm/src, of the version and hash in uvm.txt, and, with the argument `solver`, the solver that
# Verilator asks about constraints into the system. Does nothing where they are already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

folder=target/uvm
wanted=$(sha256sum <testbenches/setup/uvm.txt)
if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/wheel"
    .venv-cosim/bin/python3 -m pip download --disable-pip-version-check --quiet --retries 1 --timeout 20 --no-deps --only-binary :all: \
        --require-hashes --dest "$folder/wheel" --requirement testbenches/setup/uvm.txt ||
        missing 'the source of UVM' 'bash testbenches/setup/uvm.sh, where pip reaches PyPI or a mirror of it'
    .venv-cosim/bin/python3 - "$folder" <<'UNPACK'
import io, pathlib, sys, tarfile, zipfile

folder = pathlib.Path(sys.argv[1])
wheel = zipfile.ZipFile(next((folder / "wheel").glob("*.whl")))
with tarfile.open(fileobj=io.BytesIO(wheel.read("dv_flow/libhdlsim/share/uvm_src.tar.bz2")), mode="r:bz2") as archive:
    for member in archive:
        path = pathlib.PurePosixPath(member.name)
        if member.isfile() and path.suffix in (".sv", ".svh") and ".." not in path.parts:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(archive.extractfile(member).read())
UNPACK
    rm -rf "$folder/wheel"
    printf '%s\n' "$wanted" >"$folder/wanted"
fi
if [ "${1:-}" = solver ]; then
    command -v z3 >/dev/null || system_packages z3
fi
