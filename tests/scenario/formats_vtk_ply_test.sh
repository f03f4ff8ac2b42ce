#!/usr/bin/env bash
# Promise: programs that are not ours read our .vtp, .vtu and .ply files, and find in them what was simulated, to the bit.
# Needs Debian's python3 and python3-meshio; where python3-vtk9 (large) is installed, VTK's own reader has its say, too.
# What can be checked without meshio is checked, and then the test counts as skipped.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
export PYTHONPATH="$root/tests/formats" PYTHONDONTWRITEBYTECODE=1

skip() {
  echo "SKIPPED: $*"
  exit 77
}
[ -x $python ] || skip "no Python (Debian package python3)"

write_scene scene.json
formats=(--set '/output/formats=["ply", "vtk"]' --quiet)
declare -A missing=()
check() { # RUN PLY_DIRECTORY VTK_DIRECTORY
  local code=0
  $python "$root/tests/formats/check_vtk.py" "$1" "$3" mixture || code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ] || fail "the .vtp files of $1"
  [ $code -eq 0 ] || echo "without VTK's own reader (Debian package python3-vtk9)"
  if $python -c 'import meshio' 2>/dev/null; then
    $python "$root/tests/formats/check_ply.py" "$1" "$2" mixture "$3" || fail "the .ply files of $1"
  else
    missing[python3-meshio]=1
  fi
}

# --- written while simulating, in both precisions --------------------------------------------------------------------
for precision in float double; do
  "$tribo" run scene.json -o $precision --precision $precision "${formats[@]}" --frames 4
  check $precision $precision/ply $precision/vtk
done

# --- exported afterwards: the same files -----------------------------------------------------------------------------
for format in ply vtk; do
  "$tribo" export float --format $format -o exported/$format --quiet
  diff -r float/$format exported/$format || fail "$format: exporting gives something else than running"
done

# --- going back, and a collider that is hidden: nothing of the former files stays ------------------------------------
"$tribo" run scene.json -o float --overwrite "${formats[@]}" --frames 2
check float float/ply float/vtk
"$tribo" export float --format vtk -o exported/vtk --quiet
check float float/ply exported/vtk
hidden=(--set /colliders/0/look/visible=false --set /colliders/1/look/visible=false)
for format in ply vtk; do
  "$tribo" export float --format $format -o exported/$format "${hidden[@]}" --quiet
  [ -z "$(find exported/$format -name '*colliders*')" ] || fail "$format: hidden colliders stay"
done
if grep -q colliders exported/vtk/mixture.pvd; then fail "the .pvd lists colliders that are hidden"; fi

# --- the inside of meshes: tets, which frames hold when a scene asks for the format -----------------------------------
cat >solids.json <<'EOF'
{ "tribo": 1, "name": "solids", "fps": 50, "duration": 0.1, "grid": { "dx": 0.1 },
  "materials": { "rubber": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3 } },
  "objects": [
    { "name": "sand", "type": "particles", "material": "dry_sand", "at": [0, 1.3, 0], "shape": { "box": [0.2, 0.2, 0.2] } },
    { "name": "block", "type": "solid", "material": "rubber", "at": [0, 0.25, 0], "velocity": [0, -2, 0],
      "shape": { "box": [0.4, 0.4, 0.4] } },
    { "name": "ball", "type": "solid", "material": "rubber", "at": [0, 0.8, 0], "shape": { "sphere": 0.2 } } ],
  "colliders": [{ "name": "floor", "shape": { "half_space": [0, 1, 0] } }], "output": { "formats": ["vtu"] } }
EOF
for precision in float double; do
  "$tribo" run solids.json -o solids_$precision --precision $precision --quiet
  [ -n "${missing[python3-meshio]:-}" ] ||
    $python "$root/tests/formats/check_vtu.py" solids_$precision solids_$precision/vtu solids || fail "the .vtu files"
done
"$tribo" export solids_float --format vtu -o exported/vtu --quiet
diff -r solids_float/vtu exported/vtu || fail "vtu: exporting gives something else than running"
"$tribo" run solids.json -o plain --set '/output/formats=[]' --quiet
expect 2 'frame 0 holds no tets; frames do when output.formats of the scene has "vtu"' "$tribo" export plain --format vtu
expect 2 '/output/formats: "vtu" is for tets, and no object has any' "$tribo" check scene.json --set '/output/formats=["vtu"]'

[ ${#missing[@]} -eq 0 ] || skip "not everything was checked; install ${!missing[*]}"
