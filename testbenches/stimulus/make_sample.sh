#!/bin/sh
# Makes hash_list_matrix.lackey.gz anew in the current folder (gcc, binutils, valgrind, gzip; x86-64 Linux).
# Another compiler version gives another, equally valid, trace: see README.md.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Static and not position independent: the addresses are the linker's, not the loader's.
gcc -O1 -fno-pie -no-pie -static -o "$work/program" "$here/hash_list_matrix.c"
mark=$(nm "$work/program" | awk '$3 == "trace_mark" { print substr($1, 9) }') # lackey prints 8 digits

# An empty environment, because it lies on the stack and would move it.
env -i "$(command -v valgrind)" --tool=lackey --trace-mem=yes --log-file="$work/trace" "$work/program"

# From the first store to trace_mark to the second, both kept; the banner (paths, process ids) goes.
awk -v mark=" S $mark,1" '
    /^==/      { next }
    $0 == mark { marks++; print; next }
    marks == 1
    END        { if (marks != 2) { print "found " marks " marks, expected 2" > "/dev/stderr"; exit 1 } }
' "$work/trace" | gzip -9 -n > hash_list_matrix.lackey.gz
