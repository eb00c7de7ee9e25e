#!/usr/bin/env bash
# Mutation testing of the codecs: a sample of the changes that cargo-mutants knows for protocols/, the same for the same
# seed, each judged by the tests of the whole workspace. Prints the score and what nobody noticed; fails below 90 %.
#
# SCALEPOOL_SOAK_MUTANTS sets how many (200), SCALEPOOL_SOAK_SEED which ones (1). Arguments go to `cargo test`:
# `bash testbenches/setup/mutants.sh --test codec ual` tries it with one suite.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

count=${SCALEPOOL_SOAK_MUTANTS:-200}
seed=${SCALEPOOL_SOAK_SEED:-1}
target=${CARGO_TARGET_DIR:-target}
least=90

if ! cargo mutants --version >/dev/null 2>&1; then
    install='cargo install --locked cargo-mutants'
    $install || missing cargo-mutants "$install"
fi

mkdir -p "$target"
mapfile -t sample < <(cargo mutants --list --package scalepool-protocols | python3 -B -c '
import random, re, sys
names = sorted(line.rstrip("\n") for line in sys.stdin)
count = min(int(sys.argv[1]), len(names))
for name in random.Random(int(sys.argv[2])).sample(names, count):
    print("--re=^" + re.sub(r"([^A-Za-z0-9_ ])", r"\\\1", name) + "$")
' "$count" "$seed")
[ ${#sample[@]} -gt 0 ] || { echo 'mutants: found none in protocols/' >&2; exit 1; }

# Status 2 and 3 are mutants that live or hang; what counts is the score below.
status=0
tests=()
[ $# -eq 0 ] || tests=(-- "$@")
cargo mutants --package scalepool-protocols --test-workspace true --output "$target" "${sample[@]}" "${tests[@]}" || status=$?
case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac

lines() { wc -l <"$target/mutants.out/$1.txt"; }
caught=$(($(lines caught) + $(lines timeout)))
missed=$(lines missed)
cat "$target/mutants.out/missed.txt"
[ $((caught + missed)) -gt 0 ] || { echo 'mutants: found none that compiles' >&2; exit 1; }
score=$((1000 * caught / (caught + missed)))
echo "mutants: $caught of $((caught + missed)) noticed, $((score / 10)).$((score % 10)) %"
[ "$score" -ge $((10 * least)) ]
