#!/usr/bin/env bash
# Promise: a solid has the very tets of its file through check, run and resume; a run keeps the files it began with; what
# is wrong with tets is said with scene, file and element; the same file serves as a shape of particles and colliders.
. "$(dirname "$0")/common.sh"

corners="0 0 0
1 0 0
0 1 0
1 1 0
0 0 1
1 0 1
0 1 1
1 1 1"
# The unit cube as five tets, one in the middle; numbers from 1.
five="1 2 3 5
4 3 2 8
6 5 8 2
7 8 5 3
2 3 5 8"
medit() {  # medit TETS: a MEDIT file of some of the tets
  printf 'MeshVersionFormatted 2\nDimension 3\nVertices\n8\n%s\nTetrahedra\n%s\n%s\nEnd\n' \
    "$(sed 's/$/ 0/' <<<"$corners")" "$(wc -l <<<"$1")" "$(sed 's/$/ 0/' <<<"$1")"
}
mkdir models
medit "$five" >models/cube.mesh
cat >scene.json <<'END'
{ "tribo": 1, "name": "tets", "fps": 50, "duration": 0.12, "grid": { "dx": 0.1 },
  "materials": { "rubber": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3 } },
  "objects": [
    { "name": "cube", "type": "solid", "material": "rubber", "at": [0, 0.02, 0], "velocity": [0, -1, 0],
      "shape": { "tets": { "file": "models/cube.mesh", "scale": 0.2 } },
      "pins": [{ "shape": { "sphere": 0.02 }, "at": [0, 0.02, 0] }] } ],
  "colliders": [{ "name": "floor", "shape": { "half_space": [0, 1, 0] } }],
  "output": { "checkpoint_frames": 2 } }
END

expect 0 'mesh +models/cube.mesh of cube: 5 tets, 0.2 x 0.2 x 0.2 m, volume 0.008 m\^3' "$tribo" check scene.json
grep -q "tets        5, 8 vertices" said || fail "has other tets than the file"
if grep -q "warning" said; then fail "warns of what is right"; fi

"$tribo" run scene.json -o whole --quiet
cmp whole/meshes/*.mesh models/cube.mesh || fail "the run keeps no copy of the tets"
grep -q '"mass":8[,.]' whole/stats.jsonl || grep -q '"mass":7.99999' whole/stats.jsonl || fail "the cube has another mass"

# Stopped, moved elsewhere, the file changed: it goes on as it began, but not by the scene with the changed file.
"$tribo" run scene.json -o part --frames 3 --quiet
mkdir elsewhere
cp -r part elsewhere/part
medit "$(sed -n 5p <<<"$five")" >models/cube.mesh
"$tribo" run elsewhere/part --resume --quiet
same_run whole elsewhere/part
expect 2 "/objects/0/shape/tets/hash: differs from the scene this run began with" "$tribo" run scene.json -o part --resume

# Of TetGen both files belong to the mesh, whichever the scene names.
{ echo "8 3 0 0"; nl -w1 -s' ' <<<"$corners"; } >models/cube.node
{ echo "5 4 0"; nl -w1 -s' ' <<<"$five"; } >models/cube.ele
tetgen='/objects/0/shape={"tets":{"file":"models/cube.ele","scale":0.2}}'
"$tribo" run scene.json -o pair --set "$tetgen" --frames 2 --quiet
cmp pair/meshes/*.node models/cube.node && cmp pair/meshes/*.ele models/cube.ele || fail "the run keeps no copy of both"
mv models/cube.node models/moved.node
"$tribo" run pair --resume --frames 3 --quiet
expect 2 '/objects/0/shape/tets/file: models/cube.node: there is no such file' "$tribo" check scene.json --set "$tetgen"

# Particles fill the tets, and colliders have their surface.
medit "$five" >models/cube.mesh
expect 0 'models/cube.mesh of cube: 5 tets.*m\^3;' "$tribo" check scene.json --set /objects/0/method=mpm --set '/objects/0/pins=[]'
grep -Eq "particles   6[0-9]$" said || { cat said >&2; fail "expected 64 particles or so"; }
expect 0 'models/cube.mesh of floor: 5 tets' "$tribo" check scene.json --set '/colliders/0/shape={"tets":"models/cube.mesh"}' \
  --set '/colliders/0/at=[0,-1.1,0]'

# What is wrong.
medit "$(sed '2s/.*/4 2 3 8/' <<<"$five")" >models/cube.mesh
expect 2 'scene.json:[0-9]+:[0-9]+ +/objects/0/shape/tets(/file)?: models/cube.mesh: 1 of 5 tets are inside out: 2' "$tribo" check scene.json
medit "$(sed '1s/.*/1 2 3 4/' <<<"$five")" >models/cube.mesh
expect 2 'models/cube.mesh: 1 tet without a volume: 1' "$tribo" check scene.json
medit "$(sed '1s/.*/1 2 3 9/' <<<"$five")" >models/cube.mesh
expect 2 'models/cube.mesh: tet 1 refers to vertex 9' "$tribo" check scene.json
medit "$(sed -n 5p <<<"$five")" >models/cube.mesh
expect 2 '/objects/0/pins/0: holds no vertex' "$tribo" check scene.json
expect 0 "warning +mesh models/cube.mesh of 'cube': 4 vertices without a tet left out" "$tribo" check scene.json --set '/objects/0/pins=[]'
expect 2 'tets are read from .msh \(Gmsh\), .mesh' "$tribo" check scene.json --set '/objects/0/shape={"tets":"scene.json"}'
expect 2 'its name is one of a file of tets; use \{"tets": "models/cube.mesh"\}' "$tribo" check scene.json \
  --set '/objects/0/shape={"mesh":"models/cube.mesh"}'
expect 2 'models/none.msh: there is no such file' "$tribo" check scene.json --set '/objects/0/shape={"tets":"models/none.msh"}'
echo "tets from files: check, run, resume, and what is wrong with them"
