#!/usr/bin/env bash
# The compiler of `make test`, called by cargo as `lint.sh rustc ARGUMENTS` for each crate of the workspace: it compiles, and
# beside that does what `cargo clippy --all-targets` and `cargo doc --no-deps` do, with warnings as errors. These would read
# every crate three times more, and those from elsewhere once.
#
# Clippy compiles unit tests, tests, benches and build scripts itself. It switches off the compiler's own optimisation (that of
# MIR), so what users run is compiled plainly: a library or a program is linted with its unit tests, or alone if it has none
# (`test = false`).
set -euo pipefail
rustc=$1
shift
case " $* " in
*' --emit='*) ;;
*) exec "$rustc" "$@" ;; # cargo asks for versions and settings
esac
tools=$("$rustc" --print sysroot)/bin

# What `cargo clippy -- -D warnings` hands to its driver.
export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
manifest=$CARGO_MANIFEST_DIR/Cargo.toml
# A bench is a program of a package whose programs and library all have tests.
case " $* " in
*' --test '* | *' --crate-name build_script_'*) exec "$tools/clippy-driver" "$rustc" "$@" ;;
*' --crate-type bin '*) grep -q '^test = false' "$manifest" || exec "$tools/clippy-driver" "$rustc" "$@" ;;
esac

# The arguments without those that say what the compiler writes, and where to.
compiling=("$@")
reading=()
folder=
while [ $# -gt 0 ]; do
    case $1 in
    --out-dir) folder=$2 && shift ;;
    --emit=* | --json=*) ;;
    -C)
        [[ $2 == incremental=* ]] || reading+=(-C "$2")
        shift
        ;;
    *) reading+=("$1") ;;
    esac
    shift
done

# What these two say is kept until the compiler has ended: cargo reads whole lines from one pipe.
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
jobs=()
if grep -q '^test = false' "$manifest"; then
    "$tools/clippy-driver" "$rustc" "${reading[@]}" --emit=metadata --out-dir "$said" 2>"$said/clippy" &
    jobs+=($!)
fi
if [[ " ${compiling[*]} " == *' --crate-type lib '* ]]; then
    "$tools/rustdoc" "${reading[@]}" -D warnings -o "$folder/../../doc" 2>"$said/rustdoc" &
    jobs+=($!)
fi
status=0
"$rustc" "${compiling[@]}" -D warnings || status=$?
for job in "${jobs[@]}"; do wait "$job" || status=1; done
cat "$said"/clippy "$said"/rustdoc >&2 2>/dev/null || true
exit $status
