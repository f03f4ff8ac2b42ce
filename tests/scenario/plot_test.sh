#!/usr/bin/env bash
# Promise: tribo stats --plot draws the statistics of a run, as SVG with no other program and as PNG with one that turns
# SVG into images; what cannot be drawn or written is told in a sentence, and leaves nothing half done.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_scene scene.json
"$tribo" run scene.json -o run --quiet --set '/name="a <b> & c"'
nothing_but() { # FILES...: what the current directory may hold besides what it did
  local left
  left=$(find . -maxdepth 1 -type f ! -name scene.json ! -name said -printf '%f\n' | sort | tr '\n' ' ')
  [ "$left" = "${*:+$* }" ] || fail "left behind: '$left', expected '$*'"
}

# --- SVG -------------------------------------------------------------------------------------------------------------
expect 0 '^plot.svg$' "$tribo" stats run --plot plot.svg
head -c 5 plot.svg | grep -q '<?xml' || fail "plot.svg does not begin as XML"
[ "$(tail -1 plot.svg)" = '</svg>' ] || fail "plot.svg does not end as SVG"
for text in 'a &lt;b&gt; &amp; c' 'frames 0 to 10, 0.2 s' '>Energy<' '>kinetic<' '>Linear momentum<' '>Time step<' \
  '>Wall time of a frame<' '>p2g [0-9]+%<'; do
  grep -Eq -e "$text" plot.svg || fail "plot.svg does not show '$text'"
done
if grep -Eiq '[",]-?(nan|inf)' plot.svg; then fail "plot.svg holds numbers that are none"; fi
cp plot.svg again.svg
"$tribo" stats run --plot plot.svg >/dev/null
cmp plot.svg again.svg || fail "the same statistics give another plot"
rm again.svg plot.svg

# --- PNG -------------------------------------------------------------------------------------------------------------
number_at() { od -A n -t u1 -j "$2" -N 4 "$1" | { read -r a b c d && echo $(((a << 24) + (b << 16) + (c << 8) + d)); }; }
if command -v rsvg-convert >/dev/null || command -v ffmpeg >/dev/null; then
  expect 0 '^plot.PNG$' "$tribo" stats run --plot plot.PNG
  [ "$(head -c 8 plot.PNG | od -A n -t x1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "plot.PNG is not a PNG"
  [ "$(number_at plot.PNG 16)" -eq 1600 ] || fail "plot.PNG is not 1600 pixels wide"
  [ "$(number_at plot.PNG 20)" -gt 1000 ] || fail "plot.PNG is not as high as it should be"
  nothing_but plot.PNG
  rm plot.PNG
else
  echo "no rsvg-convert and no ffmpeg: PNG is not tested"
fi

# Without a program, and with ones that fail or lie, the plot is kept as SVG and an older image is not touched.
mkdir none fail lie
printf '#!/bin/sh\necho no such codec >&2\nexit 1\n' >fail/ffmpeg
printf '#!/bin/sh\nexit 0\n' >lie/rsvg-convert
chmod +x fail/ffmpeg lie/rsvg-convert
for folder in none fail lie; do
  echo old >plot.png
  expect 3 'rsvg-convert \(package librsvg2-bin\) or .*ffmpeg.* is in plot.svg' \
    env PATH="$work/$folder" "$tribo" stats run --plot plot.png
  grep -q '</svg>' plot.svg || fail "the plot was not kept"
  [ "$(cat plot.png)" = old ] || fail "a failed plot cost the old one"
  [ $folder != fail ] || grep -q 'no such codec' said || fail "does not say why the program failed"
  nothing_but plot.png plot.svg
  rm plot.png plot.svg
done

# --- what goes wrong -------------------------------------------------------------------------------------------------
for name in plot.pdf plot svg .svg ''; do
  expect 2 'ends in .svg or .png' "$tribo" stats run --plot "$name"
done
expect 2 'excludes' "$tribo" stats run --plot plot.svg --json
expect 2 'excludes' "$tribo" stats run --plot plot.svg --expect
for kind in svg png; do
  expect 0 'made/on/demand/plot' "$tribo" stats run --plot made/on/demand/plot.$kind
  expect 5 'a file stands where a directory is needed' "$tribo" stats run --plot scene.json/plot.$kind
  if [ "$(id -u)" -ne 0 ]; then
    mkdir -p locked && chmod 555 locked
    expect 5 'no permission' "$tribo" stats run --plot locked/plot.$kind
  fi
done
mkdir taken.svg
expect 5 'a directory stands where a file is needed' "$tribo" stats run --plot taken.svg
mkdir empty
expect 5 'holds no run' "$tribo" stats empty --plot plot.svg
expect 5 'does not exist' "$tribo" stats nowhere --plot plot.svg
nothing_but

# --- runs that are not whole -----------------------------------------------------------------------------------------
cp -r run half
head -1 run/stats.jsonl >half/stats.jsonl
expect 0 'plot.svg' "$tribo" stats half --plot plot.svg
grep -q '>frame 0, 0 s' plot.svg || fail "frame 0 alone is not shown"
sed -E '3s/"kinetic":[^,]*/"kinetic":null/g' run/stats.jsonl >half/stats.jsonl
expect 0 'plot.svg' "$tribo" stats half --plot plot.svg
grep -q 'not finite (in 1 of the frames)' plot.svg || fail "does not say that a number is missing"
rm plot.svg
echo '{"frame":0}' >half/stats.jsonl
expect 5 'stats.jsonl:1 is damaged' "$tribo" stats half --plot plot.svg
: >half/stats.jsonl
expect 5 'holds no statistics yet' "$tribo" stats half --plot plot.svg
nothing_but
