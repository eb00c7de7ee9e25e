#!/usr/bin/env bash
# Makes docs/pictures/decoded.png: a wave of a link and what `inspect` has decoded from it, as twinwave shows them. Needs a built program (its
# path is the argument), twinwave of GTKWave, xvfb-run and ImageMagick; the picture is committed, so that nobody else does.
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$program" run cxl68-expander --set host.accesses=60 --set link.fault=flip:26:300 --vcd run.vcd >run.txt
cat >map.toml <<TOML
[[interface]]
name = "host.tx"
protocol = "cxl-68b"
dir = "down"
clock = "device.cxl.flit.seq"
edge = "any"
data = "device.cxl.flit.raw"
[[interface]]
name = "host.rx"
protocol = "cxl-68b"
dir = "up"
clock = "host.cxl.flit.seq"
edge = "any"
data = "host.cxl.flit.raw"
[[link]]
name = "device"
sends = "host.rx"
receives = "host.tx"
TOML
"$program" inspect run.vcd --map map.toml --fst decoded.fst --gtkw decoded.gtkw >inspect.txt || [ $? = 1 ]
cat >shot.sh <<'SH'
twinwave run.vcd decoded.source.gtkw + decoded.fst decoded.gtkw >twinwave.txt 2>&1 &
sleep 8
import -window root shot.png
kill $!
SH
timeout 60 xvfb-run -a -s '-screen 0 1280x1024x24' bash shot.sh
convert shot.png -crop 820x800+0+0 +repage -strip +dither -colors 48 -define png:compression-level=9 "$here/../../docs/pictures/decoded.png"
