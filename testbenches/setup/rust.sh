#!/usr/bin/env bash
# Looks for what a build needs: a C compiler, the Rust components, the crates of Cargo.lock. Installs what is missing as tools.sh does,
# which calls this.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
system_packages "${packages[@]}"
command -v cargo >/dev/null || missing 'Rust 1.90 or later' 'see rust-lang.org'

# A component has the version of its toolchain, so there is nothing to pin here.
components=()
cargo fmt --version >/dev/null 2>&1 || components+=(rustfmt)
cargo clippy --version >/dev/null 2>&1 || components+=(clippy)
if [ ${#components[@]} -gt 0 ]; then
    install="rustup component add ${components[*]}"
    command -v rustup >/dev/null || missing "${components[*]}" "$install (there is no rustup here: take them from where cargo came from)"
    $install || missing "${components[*]}" "$install, where rustup reaches its server"
fi
crates

cargo --version
