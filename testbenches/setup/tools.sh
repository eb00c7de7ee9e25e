#!/usr/bin/env bash
# Looks for what `make test` needs and installs what is missing: Rust components through rustup, python packages through
# pip into .venv, system packages through apt, the last only as root or where sudo asks for no password. Where it may
# not install, it names the command.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

# What needs no Rust is all that is left where that was looked at before.
[ "${1:-}" = without-rust ] || bash testbenches/setup/rust.sh

packages=()
command -v c++ >/dev/null || packages+=(g++)
command -v rumur >/dev/null || packages+=(rumur)
command -v valgrind >/dev/null || packages+=(valgrind)
command -v python3 >/dev/null || packages+=(python3)
# Of the system's python3: a package of Debian cannot serve another one.
/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
system_packages "${packages[@]}"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || missing 'python3 3.9 or later' 'sudo apt-get install python3'

bash testbenches/setup/venv.sh
python3 --version
