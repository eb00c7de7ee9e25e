#!/usr/bin/env bash
# What needs nothing that is built here, done while program and library are built: tools and simulators are installed, the Python is
# checked, and the benches of Verilator that go without the program are built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/steps.sh

step tools bash testbenches/setup/tools.sh without-rust
step python bash testbenches/setup/python.sh
step simulators bash testbenches/setup/simulators.sh
step verilator .venv-cosim/bin/python3 testbenches/verilator/run.py --build-only
total='tools, Python and simulators: all as expected'
