#!/usr/bin/env bash
# first_test.sh ENVIRONMENT FOLDER: runs the first test of docs/guide/cocotb.md, as it stands there with its Makefile, in a folder of
# its own with the Python of an environment and with Icarus.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

environment=$(realpath "$1")
mkdir -p "$2"
cp testbenches/cocotb/example/flit_register.sv "$2"
# block LANGUAGE: the first block of the page in this language.
block() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } on && $0 == "```" { exit } on' docs/guide/cocotb.md
}
block python >"$2/test_flits.py"
block make >"$2/Makefile"
cd "$2"
PATH=$environment/bin:$PATH make
if grep -q '<failure' results.xml; then exit 1; fi
grep -q '<testcase' results.xml
