#!/usr/bin/env bash
# Promise: with emitters and sinks, too, a scene has one result, for any number of threads and however often the run was
# stopped; frames may have any number of particles, none among them, and every format says how many.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >scene.json <<'END'
{ "tribo": 1, "name": "flow", "fps": 50, "duration": 0.4, "grid": { "dx": 0.04 },
  "objects": [
    { "name": "tap", "type": "emitter", "shape": { "sphere": 0.06 }, "at": [0, 0.4, 0], "velocity": [0.3, -2, 0],
      "material": "water", "from": 0.03, "volume_rate": 0.02, "look": { "as": "surface" } },
    { "name": "sand", "type": "emitter", "shape": { "box": [0.1, 0.08, 0.1] }, "at": [0.3, 0.3, 0],
      "rotation": { "axis": [0, 0, 1], "degrees": 30 }, "velocity": [-2, 0, 0], "material": "dry_sand",
      "sampling": "poisson", "from": 0.1, "until": 0.3, "max_volume": 0.003 } ],
  "colliders": [ { "name": "ball", "shape": { "sphere": 0.1 }, "at": [0, 0.15, 0], "friction": 0.3 } ],
  "sinks": [ { "name": "drain", "shape": { "half_space": [0, 1, 0] }, "at": [0, -0.05, 0] },
             { "name": "hole", "shape": { "box": [0.3, 0.1, 0.3] }, "at": [0.2, 0.1, 0], "from": 0.2 } ],
  "output": { "checkpoint_frames": 1, "checkpoints_kept": 100 } }
END
expect 0 'particles +0, and about [0-9]+ from emitters' "$tribo" check scene.json

# counts DIR KEY: the count of each frame
counts() { grep -Eo "\"$2\":[0-9]+" "$1/stats.jsonl" | sed -E "s/.*://"; }

for precision in float double; do
  "$tribo" run scene.json -o $precision.1 --precision $precision --threads 1 --quiet
  for threads in 2 3; do
    "$tribo" run scene.json -o $precision.$threads --precision $precision --threads $threads --quiet
    same_run $precision.1 $precision.$threads
  done
done

# Nothing is lost: what has come and not gone is there, in every frame.
there() { sed -E 's/.*"counts":\{"particles":([0-9]+).*/\1/' "$1/stats.jsonl"; }
paste <(counts float.1 emitted) <(counts float.1 removed) <(there float.1) >table
[ "$(wc -l <table)" -eq 21 ] || fail "21 frames should have 21 counts"
while read -r emitted removed there; do
  [ $((emitted - removed)) -eq "$there" ] || fail "$emitted came, $removed went, but $there are there"
done <table
[ "$(head -1 table)" = "$(printf '0\t0\t0')" ] || fail "the run should begin with nothing"
read -r emitted removed there <<<"$(tail -1 table)"
[ "$emitted" -gt 500 ] && [ "$removed" -gt 50 ] && [ "$there" -gt 50 ] || fail "hardly anything comes and goes"

# From any checkpoint the run goes on as it was: before anything has come, while it comes, while it goes.
for from in 0 1 4 11 17; do
  cp -r float.1 again
  "$tribo" run again --resume --from $from --threads 2 --quiet
  same_run float.1 again
  rm -r again
done

# A run that ends badly in the step in which a sink has taken most of what was there says so.
cat >sudden.json <<'END'
{ "tribo": 1, "name": "sudden", "fps": 50, "duration": 0.2, "dimension": 2, "grid": { "dx": 0.02 },
  "time": { "dt_max": 1e-4, "dt_min": 1e-6 }, "gravity": [0, 0, 0],
  "objects": [
    { "name": "cube", "type": "particles", "shape": { "box": [2, 2, 1] }, "at": [0, 0, 0], "material": "jelly" },
    { "name": "gun", "type": "emitter", "shape": { "box": [0.1, 0.1, 0.1] }, "at": [9, 9, 0], "velocity": [1e6, 0, 0],
      "material": "jelly", "from": 0.01009, "until": 0.0100901 }],
  "sinks": [{ "name": "drain", "shape": { "box": [1.99, 1.99, 1] }, "at": [0, 0, 0], "from": 0.01 }] }
END
code=0
"$tribo" run sudden.json -o sudden --quiet >said 2>&1 || code=$?
[ $code -eq 4 ] && grep -q "below time.dt_min" said || { cat said >&2; fail "exit code $code instead of 4"; }

# Every format, while running and afterwards; the first frames are empty.
formats=$("$tribo" list writers | cut -d" " -f1 | grep -v "^vtu$")  # that one is for tets
"$tribo" run scene.json -o formats --quiet --set "/output/formats=[$(echo "$formats" | sed 's/.*/"&"/' | paste -sd,)]"
[ "$(hashes float.1)" = "$(hashes formats)" ] || fail "writing other formats changed the run"
for format in $formats; do
  "$tribo" export float.1 --format "$format" --quiet
  diff -r "float.1/$format" "formats/$format" >/dev/null || fail "$format: written while running and afterwards differ"
done
if [ -d float.1/ply ]; then
  for frame in 00 10 20; do
    wanted=$(sed -n "$((10#$frame + 1))p" table | cut -f3)
    grep -aqx "element vertex $wanted" float.1/ply/flow_0000$frame.ply ||
      fail "ply: frame $frame should have $wanted particles"
  done
fi

# Pictures of a frame with nothing in it and of one with something, where this build makes pictures.
code=0
"$tribo" render float.1 --frame 0 -o none.png --size 32x24 --samples 1 --quiet >said 2>&1 || code=$?
if [ $code -eq 0 ]; then
  "$tribo" render float.1 --frame 20 -o some.png --size 32x24 --samples 1 --quiet
  cmp -s none.png some.png && fail "an empty frame looks like a full one"
  "$tribo" run scene.json -o pictures --frames 2 --render --set /render/width=32 --set /render/height=24 \
    --set /render/samples=1 --quiet
else
  grep -q 'without' said || { cat said >&2; fail "an empty frame cannot be drawn"; }
fi
"$tribo" stats float.1 --plot plot.svg >said 2>&1 || { cat said >&2; fail "no plot of the statistics"; }
echo "$emitted particles came, $removed went: same bytes for 1, 2, 3 threads and after resuming"
