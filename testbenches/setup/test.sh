#!/usr/bin/env bash
# Every check of the repository; stops at the first that fails, and what runs beside it is judged when it is joined. Called by `make test`. With ORACLE=DIR in the environment the program
# is also compared with the fact sheets in DIR.
#
# Two things run at a time, because none of them keeps two cores busy alone: tools are installed while program and library are built
# (beside_build.sh), and what runs the program from outside runs beside the tests of cargo (beside_tests.sh).
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

step rust bash testbenches/setup/rust.sh
step format cargo fmt --all --check
mkdir -p "$target"
step_beside tools "$target/tools.log" bash testbenches/setup/beside_build.sh
step build build
join
step_beside program "$target/program.log" bash testbenches/setup/beside_tests.sh "$target/debug/scalepool"
step tests tests
step pcie pcie
join
