#!/usr/bin/env bash
# `make wheel`: builds the wheel and the source distribution of the Python package into target/wheel, and tries the wheel.
#
# Library and program are linked against glibc 2.28 by zig, which comes from PyPI with cargo-zigbuild (maturin has one kind of
# content a wheel; ours has a library, a program and sources, so the archive is made by testbenches/python/wheel_backend.py).
# auditwheel judges what they ask of the system. Then the wheel goes into a fresh environment, where nothing but a simulator
# compiles, and the first test of docs/guide/cocotb.md is run with it; the seconds of both are printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

GLIBC=2.28
machine=$(uname -m)
target=$machine-unknown-linux-gnu
platform=manylinux_${GLIBC/./_}_$machine
out=${CARGO_TARGET_DIR:-target}/wheel
tools=.venv-wheel
wanted='cargo-zigbuild==0.24.1 ziglang==0.15.2 auditwheel==6.8.2 packaging==26.3 pyelftools==0.33'

if [ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ]; then
    # shellcheck disable=SC2086
    python_packages "$tools" 'make wheel' $wanted
    printf '%s\n' "$wanted" >"$tools/wanted"
fi
if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx "$target"; then
    missing "the standard library of Rust for $target" "rustup target add $target"
fi

PATH=$PWD/$tools/bin:$PATH cargo zigbuild --profile dist --target "$target.$GLIBC" -p scalepool-shared -p scalepool --locked
built=${CARGO_TARGET_DIR:-target}/$target/dist

rm -rf "$out"
mkdir -p "$out"
export SCALEPOOL_LIB=$built/libscalepool.so SCALEPOOL_PROGRAM=$built/scalepool SCALEPOOL_PLATFORM=$platform
wheel=$out/$(PYTHONPATH=testbenches/python python3 -B -c 'import sys, wheel_backend as b; print(b.build_wheel(sys.argv[1]))' "$out")
sdist=$out/$(PYTHONPATH=testbenches/python python3 -B -c 'import sys, wheel_backend as b; print(b.build_sdist(sys.argv[1]))' "$out")

audit=$("$tools/bin/auditwheel" show "$wheel")
floor=$(grep -oE '"?manylinux_[0-9]+_[0-9]+_[a-z0-9_]+' <<<"$audit" | tr -d '"' | sort -t_ -k2,2n -k3,3n | head -1)
IFS=_ read -r _ major minor _ <<<"$floor"
if [ -z "$floor" ] || [ "$major.$minor" != "$(printf '%s\n' "$major.$minor" "$GLIBC" | sort -V | head -1)" ]; then
    printf '%s\nwheel: found that it needs %s, expected at most glibc %s\n' "$audit" "${floor:-an unknown platform}" "$GLIBC" >&2
    exit 1
fi

# A fresh environment, as a user has it; a simulator is all that may compile.
fresh=$out/try
/usr/bin/python3 -m venv "$fresh"
unset SCALEPOOL_LIB SCALEPOOL_PROGRAM SCALEPOOL_PLATFORM
began=$SECONDS
"$fresh/bin/python3" -m pip install --disable-pip-version-check --quiet "$wheel"
installed=$((SECONDS - began))
"$fresh/bin/scalepool" --version
"$fresh/bin/python3" -m cocotbext.scalepool dpi >/dev/null
bash testbenches/setup/first_test.sh "$fresh" "$out/first_test"
printf '%s (%s)\n%s\n' "$wheel" "$floor" "$sdist"
printf 'installed in %s s, first cocotb test after %s s\n' "$installed" "$((SECONDS - began))"
