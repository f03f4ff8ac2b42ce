#!/usr/bin/env bash
# contact_sheet.sh TRIBO OUT.png [THREADS]: the scene `materials` with every preset, one picture each with its name
# below. Needs ffmpeg with drawtext. Runs are kept beside OUT.png in a folder `contact_sheet`, and not made again.
set -euo pipefail
tribo=$1 out=$(realpath -m "$2") threads=${3:-0}
root=$(realpath "$(dirname "$0")/..")
work=$(dirname "$out")/contact_sheet
mkdir -p "$work"
columns=6

names=()
for preset in "$root"/materials/*.json; do names+=("$(basename "$preset" .json)"); done
inputs=() filter="" layout="" labels=""
for i in "${!names[@]}"; do
  name=${names[$i]}
  run=$work/$name
  [ -f "$run.png" ] || {
    "$tribo" run "$root/scenes/gallery/materials.json" -o "$run" --set "/objects/0/material=$name" --overwrite --quiet \
      --threads "$threads"
    "$tribo" render "$run" -o "$run.png" --frame 18 --threads "$threads" --quiet
  }
  inputs+=(-i "$run.png")
  filter+="[$i]pad=320:270:0:0:white,drawtext=text='${name//_/ }':fontsize=20:fontcolor=black"
  filter+=":x=(w-text_w)/2:y=261-max_glyph_a[p$i];"
  labels+="[p$i]"
  layout+="${layout:+|}$((i % columns * 320))_$((i / columns * 270))"
done
# Smooth shades in a palette of 256 colors keep the file small.
filter+="${labels}xstack=inputs=${#names[@]}:layout=$layout:fill=white,scale=1440:-1:flags=lanczos,split[a][b];"
filter+="[b]palettegen=max_colors=256:stats_mode=full[c];[a][c]paletteuse=dither=sierra2_4a"
ffmpeg -loglevel error -y "${inputs[@]}" -filter_complex "$filter" -frames:v 1 "$out"
