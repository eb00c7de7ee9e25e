#!/usr/bin/env bash
# Checks the Python of the repository without running its tests: every file parses, the scripts of this folder that read the output of
# others read it well, and the types of our package are right.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# -B and ast: nothing is written beside the sources.
find testbenches .ci -name '*.py' -print0 | xargs -0 -r python3 -B -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        ast.parse(file.read(), path)
print(len(sys.argv) - 1, "files parse")'
python3 -B testbenches/setup/test_oracle.py
python3 -B testbenches/setup/test_junit.py
MYPYPATH=testbenches/python/src .venv/bin/python3 -m mypy --strict --cache-dir "${CARGO_TARGET_DIR:-target}/mypy" --explicit-package-bases \
    --namespace-packages -p cocotbext.scalepool
