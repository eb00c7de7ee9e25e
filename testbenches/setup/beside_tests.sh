#!/usr/bin/env bash
# What runs the program that has been built and is no test of cargo, at the end a table of durations; stops at the first part that fails.
# `make test` does this beside the tests of cargo: neither keeps two cores busy alone. The co-simulation, which takes longer than all else
# together, runs beside the other parts, so that no core waits at the end. With ORACLE=DIR in the environment the program is also compared
# with the fact sheets in DIR.
#
# usage: beside_tests.sh PROGRAM, built with the profile dev
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/steps.sh
program=$1

# Outcomes of litmus programs, against an exploration written from the sheet by another hand; and those of .litmus files, against
# axioms, by another hand too: all orders of messages, and runs on clocked cores over links.
litmus() {
    python3 -B testbenches/litmus/compare.py --program "$program" --cases 150
    python3 -B testbenches/litmus/herd.py --program "$program" --random 4
    python3 -B testbenches/litmus/runs.py --program "$program" --runs 40
}

# The coherence protocols in another checker, whose models state the rules of the sheet a second time; and the syntax of TLA+.
models() {
    python3 -B testbenches/models/compare.py --program "$program"
    .venv/bin/python3 -B testbenches/models/tla_syntax.py --program "$program"
}

oracle() {
    if [ -z "${ORACLE+set}" ]; then
        echo 'oracle: not run'
        return
    fi
    python3 -B testbenches/setup/oracle.py "$ORACLE" "$program"
}

mkdir -p "${CARGO_TARGET_DIR:-target}"
step_beside cosim "${CARGO_TARGET_DIR:-target}/cosim.log" env PROFILE=dev bash testbenches/setup/cosimulate.sh
step oracle oracle
# Vectors of the bridge's conversions, against its tables, which another hand has spelled from the sheet.
step bridge python3 -B testbenches/bridge/compare.py --program "$program"
# Vectors of the CXL fabric, against its sheet in another spelling.
step fabric python3 -B testbenches/fabric/compare.py --program "$program"
step profiles bash testbenches/setup/profiles.sh "$program"
step litmus litmus
step models models
join
# The only part that keeps two cores busy comes last: the tests have ended by then.
step cost python3 -B testbenches/setup/flit_cost.py --program "$program" --profile dev
total='beside the tests: all as expected'
