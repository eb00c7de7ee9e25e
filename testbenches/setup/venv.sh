#!/usr/bin/env bash
# Puts the packages of requirements.txt into .venv in the top folder. Does nothing when they are there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

wanted=testbenches/setup/requirements.txt
installed=.venv/requirements.txt # as it was at the last complete installation
if cmp -s "$wanted" "$installed" && .venv/bin/python3 -c 'import cocotbext.pcie.core' 2>/dev/null; then
    exit
fi
python_packages .venv 'bash testbenches/setup/venv.sh' --requirement "$wanted"
cp "$wanted" "$installed"
