#!/usr/bin/env bash
# Promise: damaged files are noticed. Whatever bytes of a run are changed or lost, resuming it or looking at it either
# works, and then with the right result, or ends with a message and a documented exit code; never with a crash, and
# never with a wrong result that looks right.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
RANDOM=4711

cat >scene.json <<'EOF'
{ "tribo": 1, "fps": 100, "duration": 0.04, "gravity": [0, -9.81, 0], "grid": { "dx": 0.05 },
  "objects": [
    { "name": "cube", "type": "particles", "shape": { "box": [0.1, 0.1, 0.1] }, "at": [0, 0.06, 0], "material": "jelly",
      "velocity": [0.5, -1, 0] },
    { "name": "sand", "type": "particles", "shape": { "sphere": 0.05 }, "at": [0.1, 0.06, 0],
      "material": "dry_sand" } ],
  "colliders": [ { "shape": { "half_space": { "normal": [0, 1, 0] } }, "friction": 0.3 } ],
  "output": { "checkpoint_frames": 2, "checkpoint_minutes": 0 } }
EOF
"$tribo" run scene.json -o run --quiet
"$tribo" run scene.json -o whole --frames 6 --quiet
right=$(hashes whole | tail -1)
mapfile -t files < <(cd run && find . -type f \( -name '*.tbc' -o -name '*.tbf' -o -name '*.json*' \) | sort)
[ ${#files[@]} -eq 9 ] || fail "expected 2 checkpoints, 5 frames, scene and statistics, found ${files[*]}"
# Checkpoints, statistics and the scene matter most; frames are not read by what is tried here.
targets=("${files[@]}" ./scene.json ./stats.jsonl "${files[0]}" "${files[1]}" "${files[0]}" "${files[1]}")

random() { echo $(((RANDOM << 15 | RANDOM) % $1)); } # below $1

declare -A seen
for round in {1..200}; do
  rm -rf copy && cp -r run copy
  file=copy/${targets[RANDOM % ${#targets[@]}]}
  size=$(stat -c %s "$file")
  case $((RANDOM % 8)) in
    0) what=cut && truncate -s "$(random "$size")" "$file" ;;
    1) what=lengthened && head -c $((1 + RANDOM % 100)) "$tribo" >>"$file" ;;
    2) what=removed && rm "$file" ;;
    *) what=changed
      for ((i = 0; i <= RANDOM % 3; ++i)); do
        printf "\\x$(printf %02x $((RANDOM % 256)))" |
          dd of="$file" bs=1 seek="$(random "$size")" conv=notrunc status=none
      done ;;
  esac
  damage="$what ${file#copy/}"
  # On trouble keep what is needed to look into it.
  trap 'echo "round $round: $damage" >&2; cleanup' EXIT
  expect '0|5' '.' "$tribo" stats copy
  code=0
  "$tribo" run copy --resume --frames 6 >said 2>&1 || code=$?
  shows_no_insides
  case $code in
    0) [ "$(hashes copy | tail -1)" = "$right" ] || fail "the resumed run has another result" ;;
    2 | 3 | 4 | 5) [ -s said ] || fail "exit code $code without a message" ;;
    *) cat said >&2; fail "exit code $code" ;;
  esac
  seen[$code]=$((${seen[$code]:-0} + 1))
done
trap cleanup EXIT
for code in "${!seen[@]}"; do echo "exit code $code: ${seen[$code]} times"; done
# The damage of this test is neither all harmless nor all fatal.
[ "${seen[0]:-0}" -gt 50 ] && [ "${seen[2]:-0}" -gt 5 ] || fail "the damage was not what this test thinks"

# The newer checkpoint lost, the older one serves; both lost, there is no way but a new run.
rm -rf copy && cp -r run copy
truncate -s 100 "copy/${files[1]}"
expect 0 'warning: .*is damaged' "$tribo" run copy --resume --frames 6
[ "$(hashes copy)" = "$(hashes whole)" ] || fail "the older checkpoint gave another result"
rm -rf copy && cp -r run copy
truncate -s 100 "copy/${files[0]}" "copy/${files[1]}"
expect 5 'no checkpoint to resume from' "$tribo" run copy --resume --frames 6
[ "$(hashes copy)" = "$(hashes run)" ] || fail "a failed resume removed what was there"
