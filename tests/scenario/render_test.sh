#!/usr/bin/env bash
# Promise: pictures, movies and exports of a run come out whole, the same on any number of threads and after any
# interruption; whatever forbids them is told in a sentence with the exit code of its kind, and leaves nothing
# half-written.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_scene scene.json
"$tribo" run scene.json -o run --quiet
mkdir empty && cp -r run gap && rm gap/frames/000003.tbf
cp -r run cut && truncate -s 1000 cut/frames/000003.tbf
mkdir begun && cp run/scene.json begun/

nothing_half_written() {
  local left
  left=$(find . -name '*tribo-tmp' -o -name '*.part.mp4')
  [ -z "$left" ] || fail "left half-written: $left"
}
# missing PATH...: none of them is there.
missing() { for path; do [ ! -e "$path" ] || fail "$path is there"; done; }
# waits PID FILE: until the file is there; the process that makes it must live.
waits() {
  until [ -e "$2" ]; do
    kill -0 "$1" 2>/dev/null || { cat said >&2; fail "ended before it wrote $2"; }
    sleep 0.02
  done
}

# --- export ----------------------------------------------------------------------------------------------------------
export_() { expect "$1" "$2" "$tribo" export "${@:3}"; }
export_ 0 '11 frames in run/ply' run --format ply
[ "$(ls run/ply/mixture_0*.ply | wc -l)" -eq 11 ] || fail "export: $(ls run/ply)"
export_ 0 '3 frames in some' run --format ply -o some --frames 2:4
[ "$(ls some)" = "$(printf 'mixture_%06d.ply\n' 2 3 4; printf 'mixture_colliders_%06d.ply\n' 2 3 4)" ] ||
  fail "export --frames 2:4: $(ls some)"
for frame in 2 3 4; do cmp some/mixture_00000$frame.ply run/ply/mixture_00000$frame.ply; done
export_ 2 'no format is called "vkt"; did you mean "vtk"' run --format vkt -o none
export_ 2 'there is no frame 12; run has the frames 0 to 10' run --format ply -o none --frames 12
export_ 2 'there is no frame 11' run --format ply -o none --frames 9:11
export_ 2 'expected a frame such as 12' run --format ply -o none --frames x
export_ 2 'no later than its last' run --format ply -o none --frames 4:2
export_ 5 'does not exist' nowhere --format ply -o none
export_ 5 'empty holds no run' empty --format ply -o none
export_ 5 'is a file, not a run' scene.json --format ply -o none
export_ 5 'begun: holds no frames yet; simulate first' begun --format ply -o none
export_ 5 'gap/frames/000003.tbf is missing; simulate it again' gap --format ply -o none --frames 1:5
export_ 5 'a file stands where a directory is needed' run --format ply -o scene.json/none
missing none
for format in ply usd vtk; do
  export_ 5 'cut/frames/000003.tbf is damaged' cut --format $format -o partial_$format
  [ -n "$(ls partial_$format)" ] || fail "good frames before a damaged one are not exported"
done
nothing_half_written

# Ctrl-C: stands still at its first word, as nobody reads it, is told to stop, and read.
mkfifo pipe
exec 7<>pipe
dd if=/dev/zero of=pipe bs=4096 oflag=nonblock 2>/dev/null || true
"$tribo" export run --format ply -o stopped >pipe 2>said &
exporting=$!
waits $exporting stopped/mixture_000000.ply
kill -INT $exporting
cat <&7 >/dev/null &
reading=$!
code=0
wait $exporting || code=$?
kill $reading
wait $reading 2>/dev/null || true
exec 7>&-
[ $code -eq 0 ] || { cat said >&2; fail "an interrupted export exits with $code"; }
grep -q 'stopped on request after [12] frames' said || { cat said >&2; fail "does not say that it stopped"; }
cmp stopped/mixture_000000.ply run/ply/mixture_000000.ply
nothing_half_written

# --- stills ----------------------------------------------------------------------------------------------------------
small=(--size 64x48 --samples 2)
render() { expect "$1" "$2" "$tribo" render "${@:3}" "${small[@]}"; }
if ! "$tribo" render run "${small[@]}" -o probe.png >said 2>&1 && grep -q 'this build cannot draw' said; then
  render 3 'install libembree-dev' run -o probe.png
  missing probe.png
  echo "built without Embree: only exports were tested"
  exit 77
fi
size_of_png() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'; }
expect 0 'still.png' "$tribo" render run --frame 4 -o deep/er/still.png --size 160x90 --samples 4
[ "$(size_of_png deep/er/still.png)" = 160x90 ] || fail "size: $(size_of_png deep/er/still.png)"
[ "$(ls deep/er)" = still.png ] || fail "beside the still: $(ls deep/er)"
grep -aq 'frame 4, time 0.08 s' deep/er/still.png || fail "the picture does not say what it shows"
render 0 'last.png' run -o last.png
render 0 'ten.png' run -o ten.png --frame 10
cmp last.png ten.png || fail "a still is not of the last frame"
render 0 'run/pictures/mixture_000004.png' run --frame 4
render 0 'sequence_000002.png' run --frames 2:4 -o sequence.png
[ "$(ls sequence*)" = "$(printf 'sequence_%06d.png\n' 2 3 4)" ] || fail "still sequence: $(ls sequence*)"
cmp -s sequence_000002.png sequence_000004.png && fail "different frames give the same picture"
render 0 '' run --frame 4 -o one.png --threads 1
render 0 '' run --frame 4 -o three.png --threads 3
cmp one.png three.png || fail "threads change the picture"
[ -z "$("$tribo" render run "${small[@]}" -q -o quiet.png 2>&1)" ] || fail "--quiet is not"

for color in look object material velocity density strain; do render 0 '' run --frame 8 --color $color -o $color.png; done
for color in object velocity density strain; do
  ! cmp -s look.png $color.png || fail "--color $color shows the look"
done
grep -q 'colors show strain, from 0.* to 0' said || { cat said >&2; fail "does not say what colors mean"; }
render 0 'colors show velocity, from 1 to 2.5' run --color velocity --range 1:2.5 -o range.png
render 0 'colors show velocity, from -1 to 2' run --color velocity --range -1:2 -o range.png
for camera in front back left right top 30,-10 1,1,1:0,0,0 1,1,1:0,0,0:60; do
  render 0 '' run --camera $camera -o camera_$camera.png
done
[ "$(md5sum camera_*.png | cut -d' ' -f1 | sort -u | wc -l)" -eq 8 ] || fail "cameras see the same"

for wrong in sideways 1 1,2,3 1,2,3:1,2 1,2,nan:0,0,0 1,2,3:0,0,0: a,b '1,2,3:4,5,6:30:7' ,; do
  render 2 'expected front, back, left, right, top, AZIMUTH,ELEVATION' run --camera "$wrong" -o none.png
done
render 2 '/render/camera/to: expected a point other than `from`' run --camera 1,2,3:1,2,3 -o none.png
render 2 '/render/camera/fov: expected a number in' run --camera 1,2,3:0,0,0:400 -o none.png
render 2 '/render/camera/elevation: expected a number in' run --camera 10,200 -o none.png
render 2 'not in' run --color purple -o none.png
for wrong in 3 a:b : 1: :1 1:nan 1e999:2; do render 2 'expected LOW:HIGH' run --range $wrong -o none.png; done
render 2 'expected `low` to be less than `high`' run --range 3:1 -o none.png
for wrong in 64 axb x48 64x 64x48x3; do
  expect 2 'expected WIDTHxHEIGHT' "$tribo" render run --size $wrong -o none.png
done
for wrong in 8x48 64x99999 64.5x48 0x0 -64x48; do
  expect 2 'expected a whole number in' "$tribo" render run --size=$wrong -o none.png
done
expect 2 'not in range' "$tribo" render run --samples 0 -o none.png
render 2 'unknown key' run --set /objects/0/look/colour=1 -o none.png
render 2 'expected a color such as "#d9b36c"' run --set /objects/0/look/color=red -o none.png
render 2 'excludes' run --frame 3 --frames 2:4 -o none.png
render 2 'there is no frame 12; run has the frames 0 to 10' run --frame 12 -o none.png
render 2 'none.jpg: pictures end in .png, movies in .mp4' run -o none.jpg
render 2 'none: pictures end in .png' run -o none
render 5 'does not exist' nowhere -o none.png
render 5 'empty holds no run' empty -o none.png
render 5 'is a file, not a run' scene.json -o none.png
render 5 'begun: holds no frames yet; simulate first' begun -o none.png
render 5 'gap/frames/000003.tbf is missing; simulate it again' gap --frames 1:5 -o none.png
render 5 'a file stands where a directory is needed' run -o scene.json/none.png
render 5 'a file stands where a directory is needed' run -o scene.json/none.mp4
mkdir taken.png
render 5 'cannot .* taken.png: ' run -o taken.png
missing none none.* none_* begun/render empty/render
render 5 'cut/frames/000003.tbf is damaged' cut --frames 2:5 -o before.png
[ "$(ls before*)" = before_000002.png ] || fail "pictures before a damaged frame: $(ls before*)"
render 5 'cut/frames/000003.tbf is damaged' cut --color velocity -o none.mp4 # values are looked up first
missing none.*
cmp scene.json <(write_scene /dev/stdout) || fail "the file that stood in the way was changed"
nothing_half_written

# --- movies ----------------------------------------------------------------------------------------------------------
# Without ffmpeg, and with one that fails.
expect 3 'movies need the program ffmpeg, which is not installed' \
  env PATH=/nonexistent "$tribo" render run "${small[@]}" --frames 2:4 -o kept.mp4
grep -q 'the pictures are in kept.frames' said || { cat said >&2; fail "does not say where the pictures are"; }
[ "$(ls kept.frames)" = "$(printf '%06d.png\n' 0 1 2)" ] || fail "pictures of a movie: $(ls kept.frames)"
cmp kept.frames/000000.png sequence_000002.png || fail "pictures of a movie are not those of stills"
mkdir fake
fake_ffmpeg() { # SCRIPT
  printf '#!/bin/sh\nfor last; do :; done\n: >"${last#file:}"\n%s\n' "$1" >fake/ffmpeg
  chmod +x fake/ffmpeg
}
fake_ffmpeg 'echo "encoder burned down" >&2; exit 1'
expect 5 'ffmpeg could not write burned.mp4: encoder burned down' \
  env PATH="$PWD/fake:$PATH" "$tribo" render run "${small[@]}" --frames 2:4 -o burned.mp4
grep -q 'the pictures are in burned.frames' said || fail "does not say where the pictures are"
[ "$(ls burned.frames | wc -l)" -eq 3 ] || fail "ffmpeg failed, pictures are lost"
fake_ffmpeg 'kill -INT $PPID; exit 255' # Ctrl-C reaches both
expect 0 'stopped on request; 3 finished pictures are kept in late.frames' \
  env PATH="$PWD/fake:$PATH" "$tribo" render run "${small[@]}" --frames 2:4 -o late.mp4
missing kept.mp4 burned.mp4 late.mp4
nothing_half_written

# Ctrl-C while drawing.
"$tribo" render run --size 160x90 --samples 200 -o broken.mp4 >said 2>&1 &
waits $! broken.frames/000001.png
kill -INT $!
code=0
wait $! || code=$?
[ $code -eq 0 ] || { cat said >&2; fail "an interrupted movie exits with $code"; }
pictures=$(ls broken.frames | wc -l)
grep -q "stopped on request; $pictures finished pictures are kept in broken.frames" said ||
  { cat said >&2; fail "does not say that it stopped, with $pictures pictures there"; }
[ "$pictures" -ge 2 ] && [ "$pictures" -lt 11 ] || fail "$pictures pictures after Ctrl-C"
missing broken.mp4
nothing_half_written

has_ffmpeg=yes
ffmpeg -version >/dev/null 2>&1 || has_ffmpeg=no
frames_of() { ffmpeg -v error -i "$1" -f framemd5 - | grep -vc '^#'; }
if [ $has_ffmpeg = yes ]; then
  render 0 'movie.mp4' run -o movie.mp4
  [ "$(frames_of movie.mp4)" -eq 11 ] || fail "$(frames_of movie.mp4) frames in a movie of 11"
  ffmpeg -v error -i movie.mp4 -f framemd5 - >described
  grep -q '#dimensions 0: 64x48' described && grep -q '#tb 0: 1/50' described || fail "movie: $(cat described)"
  missing movie.frames
  # Pictures that an earlier, longer movie left there go; odd sizes are padded; any path will do.
  name='100% %d: odd'
  mkdir "$name.frames"
  for i in 0 1 2 3 4 5; do cp last.png "$name.frames/00000$i.png"; done
  expect 0 'odd.mp4' "$tribo" render run --size 65x49 --samples 1 --frames 3: -o "$name.mp4" --keep-pictures
  [ "$(frames_of "file:$name.mp4")" -eq 8 ] || fail "odd movie: $(frames_of "file:$name.mp4") frames"
  expect 0 'odd.mp4' "$tribo" render run --size 65x49 --samples 1 --frames 3:4 -o "$name.mp4" --keep-pictures
  [ "$(frames_of "file:$name.mp4")" -eq 2 ] || fail "a movie took pictures of an older one"
  [ "$(ls "$name.frames" | wc -l)" -eq 2 ] || fail "--keep-pictures kept $(ls "$name.frames")"
  render 0 'frames are missing between 0 and 10: the movie will jump' gap -o gap.mp4
  render 0 'run/pictures/mixture.mp4' run --frames 2:4 --turntable
fi
render 0 'around_000000.png to around_000095.png' run --frame 4 --turntable -o around.png
cmp -s around_000000.png around_000048.png && fail "the turntable does not turn"
nothing_half_written

# --- while simulating ------------------------------------------------------------------------------------------------
drawn=(--render --set /render/width=160 --set /render/height=90 --set /render/samples=8)
cp -r run before
expect 2 '/render/range: pictures drawn while simulating need `low` and `high` to color by velocity' \
  "$tribo" run scene.json -o run --overwrite "${drawn[@]}" --set /render/color=velocity
diff -r run before || fail "a refused run cost the old one"
expect 2 '/render/range' "$tribo" run scene.json -o refused "${drawn[@]}" --set /render/color=density
missing refused
expect 0 'picture: whole/render/mixture_000010.png' "$tribo" run scene.json -o whole "${drawn[@]}"
if [ $has_ffmpeg = yes ]; then
  [ "$(frames_of whole/render/mixture.mp4)" -eq 11 ] || fail "the movie of a run has not its frames"
fi
pictures_of() { (cd "$1/render" && md5sum ./*.png); }
[ "$(pictures_of whole | wc -l)" -eq 11 ] || fail "not a picture a frame: $(ls whole/render)"
for signal in KILL INT; do
  "$tribo" run scene.json -o after_$signal "${drawn[@]}" >said 2>&1 &
  waits $! after_$signal/render/mixture_000004.png
  kill -$signal $!
  wait $! 2>/dev/null || true
  [ "$(ls after_$signal/render/*.png | wc -l)" -lt 11 ] || fail "was over before SIG$signal"
  : >after_$signal/render/mixture.mp4.part.mp4 # as a kill during ffmpeg leaves it
  expect 0 'finished 10 frames' "$tribo" run after_$signal --resume --render
  [ "$(pictures_of after_$signal)" = "$(pictures_of whole)" ] || fail "pictures after SIG$signal and --resume differ"
  [ $has_ffmpeg = no ] || [ "$(frames_of after_$signal/render/mixture.mp4)" -eq 11 ] || fail "movie after SIG$signal"
  nothing_half_written
done
"$tribo" run scene.json -o whole --overwrite --quiet # pictures go with the run they are of
missing whole/render/mixture_000000.png whole/render/mixture.mp4
expect 0 'no movie: movies need the program ffmpeg' env PATH=/nonexistent "$tribo" run scene.json -o poor --frames 1 \
  --render --set /render/width=64 --set /render/height=48 --set /render/samples=1
[ "$(ls poor/render)" = "$(printf 'mixture_%06d.png\n' 0 1)" ] || fail "pictures without ffmpeg: $(ls poor/render)"

if [ $has_ffmpeg = no ]; then
  echo "ffmpeg is not installed: movies were not tested"
  exit 77
fi
