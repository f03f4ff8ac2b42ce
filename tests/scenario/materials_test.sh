#!/usr/bin/env bash
# Promise: every preset under materials/ can be used by its name alone: a block of it falls on rough ground, stays above
# it, gains no energy and does not diverge.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

materials=$("$tribo" list materials | grep -oE '^[a-z][a-z0-9_]*')
[ "$(echo "$materials" | wc -l)" -ge "$(find "$root/materials" -name '*.json' | wc -l)" ] ||
  fail "some presets are not listed: $materials"

# 1000 particles, 0.3 s: it touches the ground after 0.1 s.
for material in $materials; do
  cat >scene.json <<EOF
{ "tribo": 1, "name": "$material", "fps": 20, "duration": 0.3, "grid": { "dx": 0.04 },
  "objects": [ { "name": "block", "type": "particles", "shape": { "box": [0.2, 0.2, 0.2] }, "at": [0, 0.15, 0],
                 "material": "$material" } ],
  "colliders": [ { "name": "floor", "shape": { "half_space": { "normal": [0, 1, 0] } }, "friction": 0.5 } ],
  "output": { "checkpoint_frames": 0 },
  "expect": {
    "drift": { "/mass": { "max": 1e-9 } },
    "always": { "/objects/block/min/1": { "min": -0.02 }, "/objects/block/centre/1": { "max": 0.1501 } },
    "final": { "/objects/block/centre/1": { "min": 0.01, "max": 0.149 } } } }
EOF
  expect 0 particles "$tribo" check scene.json
  "$tribo" run scene.json -o run --overwrite --quiet || fail "$material diverged"
  expect 0 . "$tribo" stats run --expect
  # Kinetic, elastic and gravity together never exceed what they were at first. Whole microjoules: the shell has no others.
  first=
  while IFS=, read -r -a energy; do
    total=0
    for part in "${energy[@]}"; do
      [[ "$part" =~ ^[a-z]+:-?[0-9.]+(e[-+]?[0-9]+)?$ ]] || fail "$material: energy is $part"
      printf -v micro '%.6f' "${part#*:}"
      sign=1
      if [[ "$micro" == -* ]]; then sign=-1; fi
      micro=${micro#-}
      total=$((total + sign * 10#${micro/./}))
    done
    first=${first:-$total}
    [ "${#energy[@]}" -ge 3 ] && [ "$total" -le $((first + first / 1000)) ] ||
      fail "$material: energy grew from $first to $total microjoules"
  done < <(grep -oE '"energy":\{"kinetic"[^}]*\},"contacts' run/stats.jsonl | sed -E 's/"energy":\{([^}]*)\}.*/\1/; s/"//g')
  [ -n "$first" ] || fail "$material: statistics have no energies"
done
