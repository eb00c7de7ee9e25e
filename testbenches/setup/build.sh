#!/usr/bin/env bash
# Builds the program and the shared library with the profile $1. All that needs both calls this: with another choice of
# packages some crates would have other features and be built a second time, and the whole workspace has test crates too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo build --profile "$1" -p scalepool -p scalepool-shared --lib --bin scalepool
