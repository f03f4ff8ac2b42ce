#!/usr/bin/env bash
# Promise: meshes and combined shapes go through check, run, resume and render; a run keeps the meshes it began with;
# what is wrong with a mesh is said with scene, file and element.
. "$(dirname "$0")/common.sh"

box_obj() {  # box_obj HEIGHT
  cat <<END
v -0.2 0 -0.2
v 0.2 0 -0.2
v 0.2 0 0.2
v -0.2 0 0.2
v -0.2 $1 -0.2
v 0.2 $1 -0.2
v 0.2 $1 0.2
v -0.2 $1 0.2
f 1 2 3 4
f 8 7 6 5
f 1 5 6 2
f 2 6 7 3
f 3 7 8 4
f 4 8 5 1
END
}
mkdir models
box_obj 0.05 >models/plate.obj
cat >scene.json <<'END'
{ "tribo": 1, "name": "shapes", "fps": 50, "duration": 0.12, "grid": { "dx": 0.04 },
  "objects": [
    { "name": "sand", "type": "particles", "material": "dry_sand", "at": [0, 0.2, 0],
      "shape": { "difference": { "shapes": [
        { "shape": { "box": [0.24, 0.2, 0.24] } }, { "shape": { "cylinder": { "radius": 0.06, "height": 1 } } } ] } } } ],
  "colliders": [
    { "name": "plate", "shape": { "mesh": "models/plate.obj" }, "friction": 0.3, "motion": [
      { "time": 0, "at": [0, 0.02, 0] },
      { "time": 0.2, "at": [0, 0.1, 0], "rotation": { "axis": [0, 0, 1], "degrees": 20 } } ] },
    { "name": "ground", "shape": { "union": { "blend": 0.1, "shapes": [
      { "shape": { "half_space": [0, 1, 0] } },
      { "shape": { "torus": { "radius": 0.3, "tube": 0.06 } } } ] } } } ],
  "output": { "checkpoint_frames": 2, "formats": ["ply"] } }
END

expect 0 'mesh +models/plate.obj of plate: 12 triangles, 0.4 x 0.05 x 0.4 m, volume 0.008 m\^3' "$tribo" check scene.json
grep -q "distance sampled every 0.02 m" said || fail "does not say the resolution"
expect 0 "no mistakes" "$tribo" check scene.json --set '/colliders/0/shape={"mesh":{"file":"models/plate.obj","resolution":0.005}}'
grep -q "distance sampled every 0.005 m" said || fail "does not follow the resolution"

"$tribo" run scene.json -o whole --threads 1 --quiet
"$tribo" run scene.json -o threads --threads 2 --quiet
same_run whole threads
ls whole/meshes/*.obj >/dev/null || fail "the run keeps no copy of the mesh"
cmp whole/meshes/*.obj models/plate.obj
ls whole/ply/*.ply >/dev/null || fail "no export"

# Stopped, moved elsewhere, the mesh changed: it goes on as it began.
"$tribo" run scene.json -o part --frames 3 --quiet
mkdir elsewhere
cp -r part elsewhere/part
cp -r part stays
box_obj 0.08 >models/plate.obj
"$tribo" run elsewhere/part --resume --quiet
same_run whole elsewhere/part
# But not by the scene with the changed mesh.
expect 2 "/colliders/0/shape/mesh/hash: differs from the scene this run began with" "$tribo" run scene.json -o stays --resume
# Nor with neither the file nor the copy.
rm stays/meshes/*
expect 2 "/colliders/0/shape/mesh/file: stays/models/plate.obj: there is no such file" "$tribo" run stays --resume
# Started over from its own directory, it keeps its copy.
"$tribo" run whole --overwrite --quiet
same_run threads whole

# What is wrong.
box_obj 0.05 | head -13 >models/plate.obj
expect 0 "warning +mesh models/plate.obj of 'plate': is open: 1 hole of up to [0-9.]+ m closed" "$tribo" check scene.json
box_obj 0.05 | head -9 >models/plate.obj
expect 2 'scene.json:[0-9]+:[0-9]+ +/colliders/0/shape/mesh: models/plate.obj: encloses no volume' "$tribo" check scene.json
box_obj nan >models/plate.obj
expect 2 'models/plate.obj:5: expected three numbers after "v", got "nan"' "$tribo" check scene.json
box_obj 0.05 >models/plate.step
expect 2 'meshes are read from .obj, .ply and .stl' "$tribo" check scene.json --set '/colliders/0/shape={"mesh":"models/plate.step"}'
expect 2 'there is no such file' "$tribo" check scene.json --set '/colliders/0/shape={"mesh":"models/none.obj"}'
box_obj 0.05 | sed -E 's/^f (.*) (.*) (.*) (.*)$/f \4 \3 \2 \1/' >models/plate.obj
expect 0 "warning +mesh models/plate.obj of 'plate': its faces looked inward and were turned" "$tribo" check scene.json
box_obj 0.05 | sed -E '9s/^f (.*) (.*) (.*) (.*)$/f \4 \3 \2 \1/' >models/plate.obj
expect 0 "warning +mesh models/plate.obj of 'plate': 2 triangles turned to face the same way" "$tribo" check scene.json

# Pictures, where the build can make them.
if "$tribo" render whole -o last.png --set /render/samples=1 --set /render/width=64 --set /render/height=36 \
  >said 2>&1; then
  [ -s last.png ] || fail "no picture"
else
  shows_no_insides
  grep -q "built without" said || { cat said >&2; fail "render"; }
fi
echo "meshes and combined shapes: check, run, resume, export and pictures"
