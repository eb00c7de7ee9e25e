#!/usr/bin/env bash
# Puts the compiler of SystemRDL of registers.txt into .venv-cosim, which testbenches/setup/simulators.sh has made. Does nothing where it is already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

hashed_packages .venv-cosim registers.txt registers.sh
