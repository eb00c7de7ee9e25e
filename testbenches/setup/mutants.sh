#!/usr/bin/env bash
# Mutation testing of the codecs: a sample of the changes that cargo-mutants knows for protocols/, the same for the same
# seed. The tests of the crate itself judge each mutant first, since they take seconds; those that live are judged by the
# suite of the codecs, and what still lives by the tests of the whole workspace. Prints the score and names every mutant
# that nobody noticed; fails below 90 %.
#
# SCALEPOOL_SOAK_MUTANTS sets how many (200), SCALEPOOL_SOAK_SEED which ones (1). Arguments go to the last `cargo test`:
# `SCALEPOOL_SOAK_MUTANTS=3 bash testbenches/setup/mutants.sh --test link` tries it with a few and other suites.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

count=${SCALEPOOL_SOAK_MUTANTS:-200}
seed=${SCALEPOOL_SOAK_SEED:-1}
target=${CARGO_TARGET_DIR:-target}
out=$target/mutants.out
least=90

if ! cargo mutants --version >/dev/null 2>&1; then
    install='cargo install --locked cargo-mutants'
    $install || missing cargo-mutants "$install"
fi

# With --iterate, cargo-mutants passes over what an earlier run has caught: all that is not in the sample counts as such.
# Names are not chosen with --re, which does not heed every kind of mutant.
rm -rf "$out" "$out.old"
mkdir -p "$out"
cargo mutants --list --package scalepool-protocols | python3 -B -c '
import random, sys
names = sorted(line.rstrip("\n") for line in sys.stdin)
sample = set(random.Random(int(sys.argv[2])).sample(names, min(int(sys.argv[1]), len(names))))
print(*(name for name in names if name not in sample), sep="\n")
' "$count" "$seed" >"$out/caught.txt"

# Status 2 and 3 are mutants that live or hang; what counts is the score below.
judge() {
    local status=0
    cargo mutants --package scalepool-protocols --iterate --output "$target" "$@" || status=$?
    case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
}
lines() { cat "${@/#/$out/}" | wc -l; }

# What the tests of its crate left alive, by tests of the workspace, which the arguments choose.
judge_survivors() {
    local begin=$SECONDS limit
    # cargo-mutants would take the time that a mutant may need from the tests of its crate alone. So the unmutated tests of
    # the workspace run here; they have to pass, and set the limit.
    cargo test --workspace "$@"
    limit=$((60 + 5 * (SECONDS - begin)))
    # The tests of the repository ask git for its files.
    judge --test-workspace true --copy-vcs true --baseline skip --timeout "$limit" ${1+-- "$@"}
    caught=$((caught + $(lines caught.txt)))
}

judge --test-workspace false
caught=$(lines caught.txt)
if [ "$(lines missed.txt timeout.txt)" -gt 0 ]; then
    judge_survivors --test codec
    [ "$(lines missed.txt)" -eq 0 ] || judge_survivors "$@"
    # What never ended is noticed too.
    caught=$((caught + $(lines timeout.txt)))
else
    : >"$out/missed.txt"
fi

missed=$(lines missed.txt)
sed 's/^/mutants: nobody noticed /' "$out/missed.txt"
[ $((caught + missed)) -gt 0 ] || { echo 'mutants: found none that compiles' >&2; exit 1; }
score=$((1000 * caught / (caught + missed)))
echo "mutants: $caught of $((caught + missed)) noticed, $((score / 10)).$((score % 10)) %"
[ "$score" -ge $((10 * least)) ]
