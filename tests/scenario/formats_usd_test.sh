#!/usr/bin/env bash
# Promise: what `tribo export --format usd` writes, three.js and OpenUSD read: frames alone and, through value clips,
# the whole run. Every number of a particle comes back as it is in the cache. Needs node and, once, npm and a network.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

skip() {
  echo "SKIPPED: $*" >&2
  exit 77
}

three=0.187.0 openusd=1.0.9 # of three-usdz-loader, which brings OpenUSD 22 as WebAssembly
command -v node >/dev/null || skip "there is no node to run three.js and OpenUSD with"
cache=$(dirname "$tribo")/formats_node/usd-$three-$openusd
if [ ! -e "$cache/done" ]; then
  command -v npm >/dev/null || skip "there is no npm to fetch three.js and OpenUSD with"
  mkdir -p "$cache" 2>/dev/null || cache=$work/node
  mkdir -p "$cache"
  npm install --prefix "$cache" --no-save --no-audit --no-fund --legacy-peer-deps --ignore-scripts \
    "three@$three" "three-usdz-loader@$openusd" >npm.log 2>&1 ||
    { tail -3 npm.log >&2; skip "npm cannot fetch three.js and OpenUSD (no network?)"; }
  touch "$cache/done"
fi

check() {
  timeout 300 node --max-old-space-size=2048 "$@" >said 2>&1 || { tail -5 said >&2; fail "$*"; }
  cat said
}

write_scene scene.json
"$tribo" run scene.json -o run --quiet
"$tribo" export run --format ply --quiet
"$tribo" export run --format usd --quiet
[ "$(ls run/usd)" = "$(printf 'mixture%s.usda\n' "" _0000{00..10} _manifest)" ] || { ls run/usd >&2; fail "files"; }
formats=$root/tests/formats
check "$formats/usd_three.mjs" "$cache/node_modules" run/usd run/ply mixture 11
check --require "$formats/usd_browser_names.cjs" "$formats/usd_openusd.mjs" "$cache/node_modules" run/usd run/ply \
  mixture 11

# A run that is stopped and resumed, written as it goes, leaves the same files.
"$tribo" run scene.json -o resumed --quiet --set '/output/formats=["usd"]' --set /duration=0.1
"$tribo" run scene.json -o resumed --quiet --set '/output/formats=["usd"]' --resume
diff -r run/usd resumed/usd >differences || { cut -c1-200 differences >&2; fail "a resumed run writes other files"; }

# Rigid bodies have points that never change, and a transform in each frame.
cat >tumble.json <<'JSON'
{ "tribo": 1, "name": "tumble", "fps": 50, "duration": 0.2, "grid": { "dx": 0.05 },
  "colliders": [ { "name": "floor", "shape": { "half_space": { "normal": [0, 1, 0] } }, "friction": 0.4 } ],
  "objects": [
    { "name": "wheel", "type": "rigid", "shape": { "cylinder": { "radius": 0.2, "height": 0.1 } }, "density": 500,
      "at": [0, 0.6, 0], "rotation": { "axis": [1, 2, 3], "degrees": 50 }, "angular_velocity": [9, -7, 5] },
    { "name": "bricks", "type": "rigid", "shape": { "box": [0.2, 0.1, 0.3] }, "mass": 2, "at": [1, 0.5, 0],
      "angular_velocity": [3, 20, -4],
      "copies": [ {}, { "at": [0.5, 0, 0], "rotation": { "axis": [0, 0, 1], "degrees": 30 } }, { "at": [0, 0.4, 0.3] } ] } ] }
JSON
"$tribo" run tumble.json -o tumble --quiet
"$tribo" export tumble --format ply --quiet
"$tribo" export tumble --format usd --quiet
check --require "$formats/usd_browser_names.cjs" "$formats/usd_rigid.mjs" "$cache/node_modules" tumble/usd tumble/ply \
  tumble 11 wheel=1 bricks=3
