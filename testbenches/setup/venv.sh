#!/usr/bin/env bash
# Puts the packages of requirements.txt into .venv in the top folder. Does nothing when they are there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

wanted=testbenches/setup/requirements.txt
installed=.venv/requirements.txt # as it was at the last complete installation
if cmp -s "$wanted" "$installed" && .venv/bin/python3 -c 'import cocotbext.pcie.core' 2>/dev/null; then
    exit
fi
# --clear: what is left of an interrupted installation, or of another version of python, is of no use. pip is called
# through python, because its own first line holds the folder's name, which may have changed or hold spaces.
/usr/bin/python3 -m venv --clear .venv
if ! .venv/bin/python3 -m pip install --disable-pip-version-check --quiet --requirement "$wanted"; then
    printf 'missing: python packages of %s\nto install them: %s\n' "$wanted" \
        'bash testbenches/setup/venv.sh, where pip reaches PyPI or a mirror of it' >&2
    exit 1
fi
cp "$wanted" "$installed"
