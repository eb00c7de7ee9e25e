#!/usr/bin/env bash
# Makes docs/pictures/expander.png: two groups of a reference wave as GTKWave shows them with its save file. Needs gtkwave, xvfb-run and
# ImageMagick; the picture is committed, so that nobody else does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../waves"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The head of the save file, then the groups of the picture; a group ends at the second line with its name.
awk '
    NR <= 5 { print; next }
    /^@/ { flags = $0; next }
    $0 == "-device.cxl.flit" || $0 == "-device.cxl.m2s_req" || $0 == "-device.cxl.m2s_rwd" { print flags; print; shown = !shown; next }
    shown { if (flags) print flags; flags = ""; print }
' cxl68-expander.gtkw >"$folder/groups.gtkw"
cat >"$folder/shot.tcl" <<TCL
gtkwave::setZoomRangeTimes 76000000 86000000
gtkwave::setMarker 83500000
gtkwave::/File/Grab_To_File $folder/shot.png
exit
TCL
timeout 60 xvfb-run -a -s '-screen 0 1280x1024x24' gtkwave -r /dev/null cxl68-expander.vcd "$folder/groups.gtkw" -S "$folder/shot.tcl" >/dev/null 2>&1
convert "$folder/shot.png" -strip +dither -colors 32 -define png:compression-level=9 ../docs/pictures/expander.png
