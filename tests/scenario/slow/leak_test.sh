#!/usr/bin/env bash
# Promise: in a box that is pushed, turned and shaken, no particle of sand or water is ever further beyond a wall than 0.9
# of a cell. For a million particles over 500 frames, which takes hours on a few cores:
#   tribo run scenes/validation/shaken_box.json -o big --set /grid/dx=0.0062 --frames 500 --device cuda
#   leak_check big 0.91
leak_check=$(realpath "$3")
. "$(dirname "$0")/../common.sh"
"$tribo" run "$root/scenes/validation/shaken_box.json" -o run --frames 100 --quiet
"$leak_check" run 0.91 >depths || { cat depths >&2; fail "particles are outside"; }
tail -n 1 depths
