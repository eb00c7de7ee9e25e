#!/usr/bin/env bash
# Looks for what `make test` needs and installs what is missing: Rust components through rustup, python packages through
# pip into .venv, system packages through apt, the last only as root or where sudo asks for no password. Where it may
# not install, it names the command.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v c++ >/dev/null || packages+=(g++)
command -v rumur >/dev/null || packages+=(rumur)
command -v valgrind >/dev/null || packages+=(valgrind)
command -v python3 >/dev/null || packages+=(python3)
# Of the system's python3: a package of Debian cannot serve another one.
/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
system_packages "${packages[@]}"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || missing 'python3 3.9 or later' 'sudo apt-get install python3'
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

bash testbenches/setup/venv.sh

cargo --version
python3 --version
