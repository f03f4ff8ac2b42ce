#!/usr/bin/env bash
# Promise: whatever goes wrong is told in a sentence, with the exit code of its kind (2 scene or flags, 3 device or
# memory, 4 diverged, 5 files), and nothing that was on disk before is lost.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_scene scene.json
refused() { expect 2 "$1" "$tribo" run scene.json -o refused "${@:2}"; }

# --- the scene and the flags -----------------------------------------------------------------------------------------
expect 2 'cannot read none.json: No such file' "$tribo" run none.json
expect 2 'not a regular file' "$tribo" check /dev/null
long=$(printf 'x%.0s' {1..5000})
expect 2 'File name too long' "$tribo" run "$long"
expect 5 'File name too long' "$tribo" stats "$long"
echo '{ "tribo": 1, "fps": }' >broken.json
expect 2 'broken.json:1:22: ' "$tribo" run broken.json
: >empty.json
expect 2 'the file is empty' "$tribo" check empty.json
printf '{ "name": "\xff" }' >encoding.json
expect 2 'not UTF-8' "$tribo" check encoding.json
(printf '%.0s[' {1..100000}) >deep.json
expect 2 'nested' "$tribo" check deep.json
refused 'not expected: --bogus' --bogus
refused '/gravty: unknown key; did you mean "gravity"' --set /gravty=1
refused 'expected /json/pointer=value' --set gravity=1
refused 'expected /json/pointer=value' --set ''
refused 'is a list whose last index is 2' --set /objects/7/name=x
refused 'is no index' --set /objects/99999999999999999999/name=x
refused 'expected a number' --set /grid/dx=-1
refused 'needs at least one object' --set '/objects=[]'
refused "object 'sand' holds no particle" --set '/objects/1/shape={"box": [0.1, 0.1, 1e-6]}'
solid='/objects/0={"type": "solid", "name": "brick", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "jelly", "at": [0, 0.2, 0]}'
refused "/objects/0/element_size: .* tets of object 'brick'; a mesh can have" --set "$solid" --set /objects/0/element_size=1e-6
refused '/objects/0/damping: .*less than time.dt_min' --set "$solid" --set /objects/0/damping=1e30
refused '/objects/0/velocity: .*would cross a cell' --set "$solid" --set '/objects/0/velocity=[1e30, 0, 0]'
refused '/objects/0/at: .*away from the origin' --set "$solid" --set '/objects/0/at=[1e30, 0, 0]'
refused "/contact/samples_per_cell: .*collision particles on object 'brick'" --set "$solid" --set /contact/samples_per_cell=1e12
rigid='/objects/0={"type": "rigid", "name": "brick", "shape": {"box": [0.1, 0.001, 0.1]}, "density": 1000, "at": [0, 1, 0]}'
refused "/objects/0/velocity: object 'brick' is 0.001 m thick .*less than time.dt_min" --set "$rigid" --set '/objects/0/velocity=[0, 1e30, 0]'
refused '/objects/0/angular_velocity: .*less than time.dt_min' --set "$rigid" --set '/objects/0/angular_velocity=[1e30, 0, 0]'
refused '/objects/0/mass: .*contradicts' --set "$rigid" --set /objects/0/mass=1
refused '/joints/0/and: joins "brick" to itself' --set "$rigid" \
  --set '/joints=[{"type": "weld", "between": "brick", "and": "brick"}]'
expect 0 "warning .*'brick/0' and 'brick/1' begin 0.001 m inside each other" "$tribo" check scene.json --set "$rigid" \
  --set '/objects/0/copies=[{}, {"at": [0.01, 0, 0]}]'
refused 'requires --resume' --from 3
refused 'excludes' --resume --overwrite
refused 'not in range' --frames 0
refused 'not in range' --frames 99999999999999
refused 'not in' --isa z80
refused 'not in' --device abacus
expect 2 'subcommand is required' "$tribo"
expect 2 'not in' "$tribo" list wonders
[ ! -e refused ] || fail "a refused scene left a directory"
# --set takes one value, so that the scene may follow it.
expect 0 'finished' "$tribo" run --set /duration=0.02 scene.json -o follows

# --- memory and device -----------------------------------------------------------------------------------------------
# Told from the sizes alone: at once, in a process that is not allowed any memory to speak of.
limit=500000
(ulimit -v $limit; "$tribo" --version) >/dev/null 2>&1 || limit=unlimited # a build with sanitizers
seconds=2
absurd() { (ulimit -v $limit; exec timeout $seconds "$tribo" "$@"); }
"$tribo" run scene.json -o old --frames 2 --quiet
cp -r old copy
for flags in "run scene.json -o absurd" "run scene.json -o old --overwrite" "check scene.json"; do
  expect 3 'particles and need about' absurd $flags --set /grid/dx=1e-7
  expect 3 'particles and need about' absurd $flags --set '/objects/0/shape={"sphere": 1e9}'
done
array='{"count": [100, 100, 100], "spacing": [1, 1, 1]}'
expect 3 '1000000 rigid bodies and need about' absurd check scene.json --set "$rigid" --set /grid/dx=0.01 \
  --set "/objects/0/array=$array" --set '/objects/0/shape={"box": [1, 1, 1]}'
if [ $limit != unlimited ]; then
  seconds=60
  expect 3 'memory' absurd run scene.json -o absurd --set /grid/dx=2.5e-3 # 10 million: the limit is met on the way
fi
CUDA_VISIBLE_DEVICES='' expect 3 'cuda' "$tribo" run scene.json -o old --overwrite --device cuda
CUDA_VISIBLE_DEVICES='' expect 0 'MiB on cuda, float, [0-9]+ bytes a particle' "$tribo" check scene.json --device cuda
grep -Eq 'warning .*(without CUDA|no usable NVIDIA GPU)' said || fail "check does not say that there is no GPU"
[ ! -e absurd ] || fail "a run that could not start left a directory"
diff -r old copy || fail "a run that could not start cost the old one"

# --- files -----------------------------------------------------------------------------------------------------------
expect 5 'already holds a run: use --overwrite to replace it or --resume' "$tribo" run scene.json -o old
expect 5 'already holds a run' "$tribo" run old
expect 5 'a file stands where a directory is needed' "$tribo" run scene.json -o broken.json
expect 5 'a file stands where a directory is needed' "$tribo" run scene.json -o broken.json/run
expect 5 'path of the run directory is empty' "$tribo" run scene.json -o ''
diff -r old copy || fail "a refused run changed the old one"
mkdir mine && cp scene.json mine/
expect 5 'holds no run of tribo' "$tribo" run scene.json -o mine --overwrite
cmp scene.json mine/scene.json || fail "--overwrite took a scene.json that was not its own"
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod 555 locked
  expect 5 'no permission' "$tribo" run scene.json -o locked/run
  expect 5 'no permission' "$tribo" run scene.json -o locked
  chmod 000 locked
  expect 2 'Permission denied' "$tribo" run locked/scene.json
fi

# Names are not paths.
mkdir -p names/inner && cp scene.json names/inner/
for name in '../escape' '/escape' '..' '.' '' 'a b/c' "$long"; do
  (cd names/inner && "$tribo" run scene.json --frames 1 --quiet --overwrite --set "/name=\"$name\"" \
    --set '/output/formats=["ply"]')
done
runs=$(find names -type d -name frames)
[ "$(echo "$runs" | wc -l)" -ge 6 ] || fail "some of the runs are missing: $runs"
if echo "$runs" | grep -Evq '^names/inner/out/[^/]+/frames$'; then fail "the name of a scene led out of out/: $runs"; fi
[ "$(find names -name '*.ply' | wc -l)" -eq "$(find names/inner/out/*/ply -maxdepth 1 -name '*.ply' | wc -l)" ] ||
  fail "the name of a scene led out of ply/"
expect 0 'finished 1 frames in out/_scène_é' "$tribo" run scene.json --frames 1 --set '/name=/scène é'

# A full disk, played by the limit on the size of files, whether or not the signal of that limit is ignored: first the
# statistics reach it, in the middle of the run, then already the first checkpoint.
coarse=(scene.json --set /grid/dx=0.1 --frames 40)
"$tribo" run "${coarse[@]}" -o whole --quiet
largest() { find "$@" -printf '%s\n' | sort -n | tail -1; }
[ "$(largest whole/frames whole/checkpoints)" -lt 60000 ] && [ "$(largest whole/stats.jsonl)" -gt 80000 ] ||
  fail "files have not the sizes this test thinks"
limited() { # KIB FLAGS...
  (
    if [ $ignored = yes ]; then trap '' XFSZ; fi
    ulimit -f "$1"
    exec "$tribo" run "${coarse[@]}" -o full "${@:2}"
  )
}
for ignored in yes no; do
  expect 5 'cannot write full/stats.jsonl: File too large' limited 64 --overwrite
  [ -z "$(find full -name '*tribo-tmp')" ] || fail "a temporary file was left on a full disk"
  lines=$(wc -l <full/stats.jsonl)
  [ "$lines" -gt 10 ] && [ "$lines" -lt 40 ] || fail "the disk was full after $lines frames"
  expect 0 'state' "$tribo" stats full
  [ "$(hashes full)" = "$(hashes whole | head -n "$lines")" ] || fail "statistics before the full disk are not good"
  "$tribo" run full --resume --frames 40 --quiet
  same_run full whole

  expect 5 'cannot write full/checkpoints/.*: File too large' limited 8 --overwrite
  "$tribo" run full --resume --frames 40 --quiet
  same_run full whole
done
if [ -w /dev/full ]; then
  for arguments in "list materials" schema "stats whole"; do
    code=0
    "$tribo" $arguments >/dev/full 2>said || code=$?
    [ $code -eq 5 ] || fail "tribo $arguments >/dev/full: exit code $code, expected 5"
  done
fi
# Closed standard streams must not make a file of the run the place where progress is printed.
"$tribo" run "${coarse[@]}" -o closed >&- 2>&- <&-
same_run closed whole
[ ! -s closed/.lock ] || fail "progress went into a file of the run"

# --- a simulation that diverges --------------------------------------------------------------------------------------
jump='/colliders/1/motion=[{"time": 0.07, "at": [-0.3, 0.2, 0]}, {"time": 0.07000000001, "at": [0.3, 0.2, 0]}]'
told="step [0-9]+ \(t = .*object '(cube|sand|water)'.*likely cause"
expect 4 "$told" "$tribo" run scene.json -o diverged --set "$jump" --set /output/checkpoint_frames=1
grep -Eq 'frames up to [1-9][0-9]* are on disk; last good checkpoint: diverged/checkpoints/step_[0-9]+.tbc' said ||
  { cat said >&2; fail "does not say what is left"; }
[ -e diverged/diverged.tbc ] || fail "the state at the failure is not there"
"$tribo" run scene.json -o good --set "$jump" --frames 3 --quiet # ends before the jump
lines=$(wc -l <diverged/stats.jsonl)
[ "$lines" -ge 4 ] || fail "frames before the divergence are missing"
[ "$(hashes diverged | head -4)" = "$(hashes good)" ] || fail "frames before the divergence are not the good ones"
expect 0 'state' "$tribo" stats diverged
expect 0 'finished' "$tribo" run diverged --resume --frames 3 # from the last good checkpoint
[ ! -e diverged/diverged.tbc ] || fail "the state at the failure outlived the failure"
expect 4 "$told" "$tribo" run diverged --resume
expect 4 "step 0 .*object 'water'" "$tribo" run scene.json -o fast --set '/objects/2/velocity=[1e30, 0, 0]'
"$tribo" run scene.json -o diverged --overwrite --quiet
[ ! -e diverged/diverged.tbc ] || fail "--overwrite left the old failure"

# --- looking at what is not a whole run ------------------------------------------------------------------------------
# An expect block that makes no sense is told by its place.
for block in '{"final": {"/nope": {"max": 1}}}' '{"final": 3}' '{"always": {"x": {}}}' '{"drift": {"/mass": 3}}' \
  '{"drift": {"/objects": {"max": 3}}}' '{"never": {}}'; do
  "$tribo" run scene.json -o whole --frames 1 --overwrite --quiet --set "/expect=$block"
  expect 2 'expect  /(final|always|drift|never): ' "$tribo" stats whole --expect
done
mkdir nothing
expect 5 'holds no run' "$tribo" stats nothing
expect 5 'does not exist' "$tribo" stats nowhere
expect 5 'is a file, not a run directory' "$tribo" stats scene.json
cp -r closed half
head -c 9000 closed/stats.jsonl >half/stats.jsonl
expect 0 ' 2 ' "$tribo" stats half # the unfinished line does not count
rm half/stats.jsonl
expect 5 'holds no statistics yet' "$tribo" stats half
printf 'x%.0s' {1..200} >half/stats.jsonl && echo >>half/stats.jsonl
for flag in '' --json --expect; do expect 5 'stats.jsonl:1 is damaged' "$tribo" stats half $flag; done
echo '{"frame":0}' >half/stats.jsonl
expect 5 'stats.jsonl:1 is damaged' "$tribo" stats half
rm half/scene.json
expect 5 'no scene.json' "$tribo" stats half
