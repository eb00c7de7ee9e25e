#!/usr/bin/env bash
# Builds the program and the shared library with the profile $1. All that needs both calls this: packages that are chosen
# together decide the features of what they use, so another choice would build some crates a second time. The dev profile
# is that of the tests, which are of the whole workspace; the others leave the test crates out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
chosen=(-p scalepool -p scalepool-shared)
[ "$1" != dev ] || chosen=(--workspace)
cargo build --profile "$1" "${chosen[@]}" --lib --bin scalepool
