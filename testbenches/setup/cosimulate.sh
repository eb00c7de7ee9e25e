#!/usr/bin/env bash
# Everything that runs in Verilator, Icarus, cocotb, UVM or SystemC, at the end a table of durations; stops at the first part that fails.
# Called by `make cosim` and, as one of its steps, by `make test`.
#
# The library and the program are those of the profile PROFILE (release); `make test` has them of the profile of its tests.
# What has not changed since it was last built or run is not done again (target/cosim, target/cocotb, target/uvm, target/systemc); FRESH=1 forgets all
# that. FULL=1 has the full number of random flits, of streams, of tests and of seeded bugs, see the README of each folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/steps.sh
. testbenches/setup/missing.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
profile=${PROFILE:-release}
built=$target/${profile/#dev/debug}
program=$built/scalepool
export SCALEPOOL_LIB=$built/libscalepool.so
# The packages of .venv-cosim need no other place, and no file is to be written beside a source.
export PYTHONDONTWRITEBYTECODE=1

full=()
# To cocotb, how many times longer its tests are; to other suites it means something else.
unset SCALEPOOL_SOAK
if [ -n "${FULL:-}" ]; then
    full=(--full)
    export SCALEPOOL_SOAK=10
fi
[ -z "${FRESH:-}" ] || rm -rf target/cosim target/cocotb target/uvm target/systemc

python=.venv-cosim/bin/python3
command -v cargo >/dev/null || missing 'Rust 1.90 or later' 'see rust-lang.org'
step crates crates
step program bash testbenches/setup/build.sh "$profile"
step setup bash testbenches/setup/cosim.sh
step package "$python" -m unittest discover -s testbenches/python/tests
step verilator "$python" testbenches/verilator/run.py --program "$program" "${full[@]}"
step cocotb "$python" testbenches/cocotb/run.py "${full[@]}"
step guide "$python" testbenches/cocotb/guide.py --program "$program"
step export "$python" testbenches/export/check.py --program "$program"
[ -z "${FULL:-}" ] || step registers "$python" testbenches/export/registers.py
step benches "$python" testbenches/export/benches.py --program "$program" "${full[@]}"
step uvm "$python" testbenches/uvm/run.py --program "$program" "${full[@]}"
step systemc "$python" testbenches/systemc/run.py --program "$program" "${full[@]}"
step maps "$python" testbenches/maps/check.py --program "$program" "${full[@]}"
total='co-simulation: all as expected'
