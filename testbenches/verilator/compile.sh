#!/usr/bin/env bash
# Verilator's makefiles put this before the C++ compiler (their OBJCACHE): compile.sh COMPILER OPTION... SOURCE
#
# A small bench takes 2 s of processor time to compile, 1.6 s of them for headers that are the same in every build: they are
# precompiled. Verilator's own sources, the same in every build too, take 6.5 s: they are compiled once, and not optimised, since
# what a bench calls often is in the headers. Both are kept in target/cosim/compiled, in a folder for each set of
# options and version of Verilator.
set -euo pipefail
kept=${BASH_SOURCE[0]%/*}/../../target/cosim/compiled
source=${*: -1}
case $source in
    *.cpp) ;;
    *) exec "$@" ;;
esac
# A large design, or one without --output-split 0, has a precompiled header of its own.
case " $* " in
    *' -include '*) exec "$@" ;;
esac

name=${source##*/}
name=${name%.cpp}
out=$name.o level=-O0 command=() of_design=() version=
while [ $# -gt 1 ]; do
    case $1 in
        -o) out=$2 && shift ;;
        -c) ;;
        -O1) level=-Og ;; # nearly the same, and most builds have a header for it
        -O*) level=$1 ;;  # the last one counts
        # Verilator's own sources ask for none of these. The last one leaves out how a main of somebody else tells the time, without
        # which that main does not work; with it one whose context has the time works as well.
        -DVM_TRACE* | -DVM_COVERAGE* | -DVM_TIMING* | -DVL_TIME_CONTEXT) of_design+=("$1") ;;
        *)
            command+=("$1")
            [ ! -f "${1#-I}/verilated_config.h" ] || version=$(<"${1#-I}/verilated_config.h")
            ;;
    esac
    shift
done

# place_of OPTION...: sets `place` to the folder of these options.
place_of() {
    local hash
    hash=$(printf '%s\n' "$@" "$version" | sha256sum)
    place=$kept/${hash:0:16}
    mkdir -p "$place"
}

# once FILE COMMAND...: runs the command with the name of its output behind it, if the file is not there. Other builds may be
# waiting for the same file.
once() {
    local file=$1
    shift
    [ ! -f "$file" ] || return 0
    (
        flock 9
        [ -f "$file" ] || { "$@" -o "$file.part" && mv "$file.part" "$file"; }
    ) 9>"$file.lock"
}

case $name in
    verilated*)
        place_of "${command[@]}"
        once "$place/$name.o" "${command[@]}" -O0 -MF /dev/null -c "$source"
        cp "$place/$name.o" "$out"
        ;;
    *)
        command+=("${of_design[@]}" "$level")
        place_of "${command[@]}"
        header=$place/headers.h
        [ -f "$header" ] || once "$header" bash -c 'printf %s "$1" >"$3"' - "#include <verilated.h>
#include <verilated_timing.h>
#if VM_TRACE_VCD
# include <verilated_vcd_c.h>
#endif
#if VM_TRACE_FST
# include <verilated_fst_c.h>
#endif
"
        once "$header.gch" "${command[@]}" -MF /dev/null -x c++-header "$header"
        exec "${command[@]}" -include "$header" -c -o "$out" "$source"
        ;;
esac
