# shellcheck shell=bash
# Sourced by the scenario tests, which are called as  NAME_test.sh TRIBO ROOT.  Leaves them in an empty directory that
# goes away with them. They need bash and coreutils (with grep, sed and diff) and nothing else.
set -euo pipefail
tribo=$(realpath "$1")
root=$(realpath "$2")
work=$(mktemp -d)
cleanup() {
  local running
  running=$(jobs -p)
  if [ -n "$running" ]; then kill -9 $running 2>/dev/null || true; fi
  chmod -R u+rwX "$work" && rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# What a user is told, in ./said, is never a stack trace, a type name or the like.
shows_no_insides() {
  if grep -Eiq 'internal error|please report|terminate called|what\(\):|json\.exception|core dumped|\bstd::' said; then
    cat said >&2
    fail "shows its insides"
  fi
}

# expect CODE PATTERN COMMAND...: the command exits with CODE (or one of CODE|CODE...) and says PATTERN (an extended
# regular expression), and never shows its insides. What it said is in ./said afterwards.
expect() {
  local codes=$1 pattern=$2 code=0
  shift 2
  "$@" >said 2>&1 || code=$?
  [[ "$code" =~ ^($codes)$ ]] || { cat said >&2; fail "exit code $code, expected $codes: $*"; }
  shows_no_insides
  grep -Eq -e "$pattern" said || { cat said >&2; fail "does not say '$pattern': $*"; }
}

# The state hash of each frame.
hashes() { grep -o '"state_hash":"[0-9a-f]*"' "$1/stats.jsonl"; }

# The statistics without what depends on the clock.
timeless_stats() { sed -E 's/"wall_s":[^,]*,"stages":\{[^}]*\},//' "$1/stats.jsonl"; }

# same_run A B: everything a run leaves for its user is the same, to the byte.
same_run() {
  cmp "$1/scene.json" "$2/scene.json" || fail "scene.json of $1 and $2 differ"
  diff <(timeless_stats "$1") <(timeless_stats "$2") >differences ||
    { cut -c1-300 differences >&2; fail "statistics of $1 and $2 differ"; }
  diff -r "$1/frames" "$2/frames" || fail "frames of $1 and $2 differ"
}

# A small scene with all three kinds of material and a moving collider: 1300 particles, 30 substeps a frame.
write_scene() {
  cat >"$1" <<'EOF'
{ "tribo": 1, "name": "mixture", "fps": 50, "duration": 0.2, "grid": { "dx": 0.05 },
  "objects": [
    { "name": "cube", "type": "particles", "shape": { "box": [0.2, 0.2, 0.2] }, "at": [0, 0.15, 0],
      "rotation": { "axis": [1, 1, 0], "degrees": 20 }, "material": "jelly", "angular_velocity": [0, 3, 1] },
    { "name": "sand", "type": "particles", "shape": { "sphere": 0.1 }, "at": [0.2, 0.2, 0], "material": "dry_sand" },
    { "name": "water", "type": "particles", "shape": { "box": [0.2, 0.2, 0.2] }, "at": [0, 0.4, 0],
      "material": "water", "sampling": "poisson" } ],
  "colliders": [
    { "name": "floor", "shape": { "half_space": { "normal": [0, 1, 0] } }, "friction": 0.4 },
    { "name": "paddle", "shape": { "box": [0.05, 0.4, 0.4] }, "motion": [
      { "time": 0, "at": [-0.3, 0.2, 0] },
      { "time": 0.2, "at": [0, 0.2, 0], "rotation": { "axis": [0, 0, 1], "degrees": 20 } } ] } ],
  "output": { "checkpoint_frames": 3 } }
EOF
}
