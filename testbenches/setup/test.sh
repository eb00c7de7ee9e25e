#!/usr/bin/env bash
# Every check of the repository, the cheap ones first; stops at the first that fails. Called by `make test`. With ORACLE=DIR
# in the environment the program is also compared with the fact sheets in DIR.
#
# Co-simulation begins when program and library are built and runs beside the tests: neither keeps two cores busy alone. Its
# simulators, and the benches that go without the program, are built beside program and library.
#
# At the end: a table of durations, and the sum of the runner's own `test result` lines. With JUNIT=FILE in the environment the tests of
# cargo are written to that file as JUnit XML, too, whether they pass or not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

target=${CARGO_TARGET_DIR:-target}
log=$target/test.log
if [ -n "${JUNIT:-}" ] && ! [ -d "$(dirname "$JUNIT")" ]; then
    echo "JUNIT: found no folder $(dirname "$JUNIT"), expected the folder of a file to write" >&2
    exit 2
fi
. testbenches/setup/steps.sh

python_files() {
    # -B and ast: nothing is written beside the sources.
    find testbenches .ci -name '*.py' -print0 | xargs -0 -r python3 -B -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        ast.parse(file.read(), path)
print(len(sys.argv) - 1, "files parse")'
    python3 -B testbenches/setup/test_oracle.py
    python3 -B testbenches/setup/test_junit.py
    MYPYPATH=testbenches/python/src .venv/bin/python3 -m mypy --strict --cache-dir "$target/mypy" --explicit-package-bases \
        --namespace-packages -p cocotbext.scalepool
}

tests() {
    local status=0
    cargo test --workspace --no-fail-fast 2>&1 | tee "$log" || status=$?
    [ -z "${JUNIT:-}" ] || python3 -B testbenches/setup/junit.py "$log" "$JUNIT"
    [ "$status" -eq 0 ] || return "$status"
    # The runner's own lines, with colours removed, added up. No line at all means that nothing was tested.
    total=$(sed $'s/\033\\[[0-9;]*m//g' "$log" | awk '
        /^test result: / { runs++; passed += $4; failed += $6; ignored += $8 }
        END {
            if (!passed || failed) exit 1
            printf "test result: ok. %d passed; %d failed; %d ignored; in %d runs\n", passed, failed, ignored, runs
        }')
}

# The program and the library that the tests are built with are what every further step runs. Lints and pages of the crates
# are part of the build, see lint.sh; cargo keeps what this compiler makes apart from what others do, so every cargo of this
# command has to have it.
export RUSTC_WORKSPACE_WRAPPER=$PWD/testbenches/setup/lint.sh
# What `cargo clippy -- -D warnings` hands to its driver.
export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
build() {
    cargo test --workspace --all-targets --no-run
    bash testbenches/setup/build.sh dev
}

# Packets both ways between the program and cocotbext-pcie; their checksums go to the library through a file.
pcie() {
    local vectors
    vectors=$(realpath "$target")/pcie_vectors.txt
    .venv/bin/python3 -B testbenches/pcie/check.py "$target/debug/scalepool" "$vectors"
    SCALEPOOL_PCIE_VECTORS=$vectors cargo test --workspace --test codec pcie_vectors
}

# Outcomes of litmus programs, against an exploration written from the sheet by another hand; and those of .litmus files, against
# axioms, by another hand too: all orders of messages, and runs on clocked cores over links.
litmus() {
    python3 -B testbenches/litmus/compare.py --program "$target/debug/scalepool" --cases 150
    python3 -B testbenches/litmus/herd.py --program "$target/debug/scalepool" --random 4
    python3 -B testbenches/litmus/runs.py --program "$target/debug/scalepool" --runs 40
}

# The coherence protocols in another checker, whose models state the rules of the sheet a second time; and the syntax of TLA+.
models() {
    python3 -B testbenches/models/compare.py --program "$target/debug/scalepool"
    .venv/bin/python3 -B testbenches/models/tla_syntax.py --program "$target/debug/scalepool"
}

# Vectors of the bridge's conversions, against its tables, which another hand has spelled from the sheet.
bridge() {
    python3 -B testbenches/bridge/compare.py --program "$target/debug/scalepool"
}

# Vectors of the CXL fabric, against its sheet in another spelling.
fabric() {
    python3 -B testbenches/fabric/compare.py --program "$target/debug/scalepool"
}

oracle() {
    if [ -z "${ORACLE+set}" ]; then
        echo 'oracle: not run'
        return
    fi
    python3 -B testbenches/setup/oracle.py "$ORACLE" "$target/debug/scalepool"
}

step tools bash testbenches/setup/tools.sh
step format cargo fmt --all --check
mkdir -p "$target"
step python python_files
step_beside simulators "$target/simulators.log" bash -c \
    'bash testbenches/setup/simulators.sh && .venv-cosim/bin/python3 testbenches/verilator/run.py --build-only'
step build build
join
step_beside cosim "$target/cosim.log" env PROFILE=dev bash testbenches/setup/cosimulate.sh
step tests tests
step profiles bash testbenches/setup/profiles.sh "$target/debug/scalepool"
step cost python3 -B testbenches/setup/flit_cost.py --program "$target/debug/scalepool" --profile dev
step pcie pcie
step litmus litmus
step models models
step bridge bridge
step fabric fabric
step oracle oracle
join
