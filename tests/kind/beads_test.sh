#!/usr/bin/env bash
# Promise: whoever adds a kind of matter writes its room and four lines elsewhere (docs/adding.md); reading, messages,
# manual, checkpoints, statistics, frames, pictures and exports follow.
. "$2/tests/scenario/common.sh"
lists=$3
isa=$4  # of several that a build may have, the one whose list is a copy
command -v python3 >/dev/null || { echo "python3 is not there, which looks at the numbers"; exit 77; }
lines=0
for list in scene/rooms.cpp engine/kinds.cpp; do
  lines=$((lines + $(diff "$2/src/tribo/$list" "$lists/$list" | grep -c '^>' || true)))
done
[ $lines -eq 4 ] || fail "beads take $lines lines outside of their room"

cat >swing.json <<'EOF'
{ "tribo": 1, "name": "swing", "fps": 25, "duration": 2, "grid": { "dx": 0.05 },
  "objects": [
    { "name": "row", "type": "beads", "beads": 11, "at": [0, 1, 0], "end": [1, 0, 0], "mass": 0.01, "stiffness": 200,
      "material": "jelly" },
    { "name": "free", "type": "beads", "beads": 5, "at": [0, 2, 0], "end": [0, 0, 1], "mass": 0.01, "stiffness": 50,
      "hold_first": false, "material": "jelly" },
    { "name": "sand", "type": "particles", "shape": { "sphere": 0.1 }, "at": [0, 0.15, 0], "material": "dry_sand" } ],
  "colliders": [ { "shape": { "half_space": [0, 1, 0] }, "friction": 0.4 } ],
  "output": { "checkpoint_frames": 10, "formats": ["vtk"] } }
EOF
# It is known, explained and checked like all others.
expect 0 'beads +points on springs' "$tribo" list objects
expect 0 '"beads"' "$tribo" schema
expect 0 'no mistakes found' "$tribo" check swing.json
expect 2 'stifness: unknown key; did you mean "stiffness"' "$tribo" check swing.json --set /objects/0/stifness=1
expect 2 'springs need one' "$tribo" check swing.json --set '/objects/0/end=[0,0,0]'
expect 2 'beads are three-dimensional' "$tribo" check swing.json --set /dimension=2
expect 2 'passes through everything' "$tribo" check swing.json \
  --set '/friction=[{"between": "row", "and": "sand", "coefficient": 1}]'

# It moves as it should: what is free falls by g t^2 / 2, the row swings without losing energy.
for precision in float double; do
  "$tribo" run swing.json -o $precision --isa "$isa" --precision $precision --threads 1 --quiet
  python3 - $precision <<'EOF'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/stats.jsonl")]
row = [line["objects"]["row"] for line in lines]
energy = [sum(one["energy"].values()) for one in row]
free = [line["objects"]["free"]["centre"][1] for line in lines]
t, dt = lines[-1]["time"], lines[-1]["dt_max"]
# Symplectic Euler is ahead by half a step, of which some are shorter than the longest.
exact = 0.5 * 9.81 * t * t
assert -1e-4 * exact < free[0] - free[-1] - exact < 0.5 * 9.81 * dt * t + 1e-4 * exact, (free[0] - free[-1], exact)
# It keeps the energy of a system nearby, which is off by dt times the largest rate, 1 at most, times half the energy of
# what swings: of ten beads that fall by half a meter.
falling = 10 * 0.01 * 9.81 * 0.5
assert max(abs(one - energy[0]) for one in energy) < 0.1 * falling, (energy, falling)
assert min(one["centre"][1] for one in row) < 0.7  # they do swing
EOF
done

# It is saved: the same to the byte for any number of threads, and after a resume.
"$tribo" run swing.json -o half --isa "$isa" --frames 23 --threads 2 --quiet
"$tribo" run half --resume --isa "$isa" --frames 50 --threads 1 --quiet
same_run float half

# It is seen.
grep -rqa '"row"\|row' float/vtk || fail "the export knows no row"
"$tribo" render float -o last.png --frame 50 --size 160x90 --samples 1 --quiet 2>said ||
  grep -q 'without' said || fail "no picture: $(cat said)"
