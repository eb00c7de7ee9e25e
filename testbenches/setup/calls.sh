#!/usr/bin/env bash
# How many calls a second the library of the dist profile takes: from Python, one a call and in batches, beside Rust and
# Python alone, from SystemVerilog through DPI-C, and by cocotb in Verilator. Called by `make bench`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

python=.venv-cosim/bin/python3
if [ ! -x "$python" ]; then
    echo 'calls from Python and SystemVerilog: not measured, .venv-cosim is missing (make cosim installs it)'
    exit
fi
target=${CARGO_TARGET_DIR:-$PWD/target}
export SCALEPOOL_LIB=$target/dist/libscalepool.so
bash testbenches/setup/build.sh dist 
bash testbenches/setup/cosim.sh >/dev/null
"$python" -B testbenches/python/bench.py
"$python" -B testbenches/dpi/bench.py --program "$target/dist/scalepool"
