#!/usr/bin/env bash
# Puts the simulators (testbenches/setup/simulators.sh) and our own Python package where testbenches/verilator/run.py and
# testbenches/cocotb/run.py use them. Does nothing where they are already.
#
# The package carries the shared library of the model: SCALEPOOL_LIB where it is set, else that of a debug build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

bash testbenches/setup/simulators.sh
venv=.venv-cosim

# Our own package, whenever its files, the header or the library have changed.
library=${SCALEPOOL_LIB:-}
if [ -z "$library" ]; then
    crates
    # With another choice of packages the crates would have other features, and all be built a second time.
    cargo build --quiet --workspace --lib --bin scalepool
    library=${CARGO_TARGET_DIR:-target}/debug/libscalepool.so
fi
[ -f "$library" ] || missing "$library" 'cargo build --workspace --lib, or name the library in SCALEPOOL_LIB'
package=$(find testbenches/python testbenches/c/scalepool.h "$library" -type f ! -path '*/__pycache__/*' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
if [ "$(cat "$venv/package" 2>/dev/null)" != "$package" ]; then
    # Nothing else is installed with it, so this needs no network.
    SCALEPOOL_LIB=$(realpath "$library") "$venv/bin/python3" -m pip install --disable-pip-version-check --quiet --no-index --no-deps \
        --force-reinstall ./testbenches/python
    printf '%s\n' "$package" >"$venv/package"
fi
