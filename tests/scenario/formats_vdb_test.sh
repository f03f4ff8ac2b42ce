#!/usr/bin/env bash
# Promise: OpenVDB's own tools open the .vdb files of a run: a grid of points for each object, named after it, with all
# its particles and what the scene says of it. A build without OpenVDB says so before it simulates anything.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_scene scene.json
if ! "$tribo" list writers | grep -q '^vdb '; then
  expect 2 'cannot write "vdb": this build of tribo has no OpenVDB' "$tribo" run scene.json -o no \
    --set '/output/formats=["vdb"]'
  [ ! -e no ] || fail "a run was begun that cannot write what it is asked for"
  "$tribo" run scene.json -o run --quiet --frames 1
  expect 2 'cannot write "vdb": this build of tribo has no OpenVDB' "$tribo" export run --format vdb
  echo "this build has no OpenVDB"
  exit 77
fi
command -v vdb_print >/dev/null || { echo "no vdb_print (libopenvdb-tools)"; exit 77; }

# All of the block lies in one node of 8^3 voxels of 2^-4 m, whose largest value is then the number of its points.
cat >small.json <<'EOS'
{ "tribo": 1, "name": "small", "fps": 50, "duration": 0.02, "gravity": [0, 0, -9.81], "grid": { "dx": 0.05 },
  "objects": [
    { "name": "a block", "type": "particles", "shape": { "box": [0.2, 0.2, 0.2] }, "at": [0.2, 0.2, 0.2],
      "material": "jelly" },
    { "name": "2nd", "type": "particles", "shape": { "sphere": 0.1 }, "at": [2, 0.2, 0.2], "material": "dry_sand" } ] }
EOS
"$tribo" run small.json -o run --quiet --set '/output/formats=["vdb"]'
[ "$(ls run/vdb)" = $'small_000000.vdb\nsmall_000001.vdb' ] || fail "one file a frame"
vdb_print -l run/vdb/small_000001.vdb >listing
says() { grep -Eq -e "$1" listing || { cat listing >&2; fail "vdb_print does not say '$1'"; }; }
says '^frame: 1$'
says '^time: 0.02$'
says '^fps: 50$'
says '^units: m$'
says '^up_axis: Z$'
says '^Name: a_block$'
says '^ *object: a block$'
says '^ *material: jelly$'
says '^Name: _2nd$'
says '^ *material: dry_sand$'
says 'voxel size: 0\.0625$'
[ "$(grep -c 'Type: Tree_ptdataidx32_5_4_3' listing)" -eq 2 ] || { cat listing >&2; fail "two grids of points"; }
count=$(sed -n '/^Name: a_block/,/^Name: _2nd/s/^ *Max value: //p' listing)
[ "$count" = 512 ] || { cat listing >&2; fail "$count points in the block, expected (0.2 / 0.05)^3 cells of 8"; }

# A disk that is full leaves no part of a file; here it is a limit on the size of files.
full() (trap '' XFSZ && ulimit -f 20 && "$tribo" export run --format vdb -o full)
expect 5 'cannot write full/small_000000.vdb: File too large' full
[ -z "$(ls -A full)" ] || fail "a part of a file is left"

"$tribo" export run --format vdb -o exported --frames 1 --quiet
vdb_print -l exported/small_000001.vdb | diff listing - || fail "an export is not what was written with the run"
