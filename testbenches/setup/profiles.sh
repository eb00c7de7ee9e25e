#!/usr/bin/env bash
# Runs the cases of tests/determinism.cases with each program given, each from a folder of its own, and compares the bytes
# of reports, traces and waves with the committed hashes. The programs run beside each other. `make test` gives it the
# program of the tests, `make soak` those of the other build profiles.
#
# usage: profiles.sh PROGRAM...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
judge() {
    local program=$1 folder name scenario arguments words word
    program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
    folder=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of this program
    trap "rm -rf '$folder'" EXIT
    cd "$folder"
    while read -r name scenario arguments; do
        words=()
        for word in $arguments; do
            case $word in testbenches/*) word=$root/$word ;; esac
            words+=("$word")
        done
        case $scenario in testbenches/*) scenario=$root/$scenario ;; esac
        # The committed hash of a report is of the object without the line end.
        "$program" run "$scenario" --seed 7 --threads 2 --json --vcd "$name.vcd" --trace "$name.jsonl" "${words[@]}" \
            2>/dev/null | tr -d '\n' >"$name.report.json"
    done <"$root/testbenches/tests/determinism.cases"
    sha256sum --check --quiet "$root/testbenches/tests/determinism.sha256"
    echo "$(wc -l <"$root/testbenches/tests/determinism.sha256") outputs as committed: ${program#"$root"/}"
}

running=()
for program in "$@"; do
    (judge "$program") &
    running+=($!)
done
for one in "${running[@]}"; do
    wait "$one"
done
