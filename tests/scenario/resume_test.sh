#!/usr/bin/env bash
# Promise: a run can be stopped at any moment, politely or not, and resumed, on another number of threads too; what it
# leaves behind is then the same as if it had never stopped. A resumed run never mixes two different scenes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
RANDOM=20240607

write_scene scene.json
frames=60
"$tribo" run scene.json -o whole --frames $frames --threads 2 --quiet

# --- killed without warning ------------------------------------------------------------------------------------------
kills=0
for round in {1..12}; do
  resume=(--resume)
  [ -e killed/scene.json ] || resume=(--overwrite)
  "$tribo" run scene.json -o killed --frames $frames --threads $((round % 2 + 1)) "${resume[@]}" >said 2>&1 &
  # On a machine that is busy with other things none might come as far as its scene.
  for wait in {1..200}; do [ $round -lt 6 ] || [ -e killed/scene.json ] || sleep 0.05; done
  sleep "$(printf '0.%03d' $((2 + RANDOM % (20 + 25 * round))))"
  kill -9 $! 2>/dev/null || true
  code=0
  wait $! 2>/dev/null || code=$?
  case $code in
    137) kills=$((kills + 1)) ;;
    0) break ;;
    *) cat said >&2; fail "round $round ended with $code" ;;
  esac
done
[ $kills -ge 5 ] || fail "only $kills of the kills hit a running process"
echo "killed $kills times, the last time at frame $(cat killed/stats.jsonl 2>/dev/null | wc -l)"
"$tribo" run killed --resume --frames $frames --quiet
same_run whole killed
[ -z "$(find killed -name '*tribo-tmp')" ] || fail "temporary files were left behind"

# Killed before the first checkpoint: there is nothing to lose, and the run simply begins.
mkdir -p newborn/frames newborn/checkpoints
cp whole/scene.json newborn/
cp whole/frames/000000.tbf newborn/frames/
expect 0 'begins anew' "$tribo" run newborn --resume --frames $frames
same_run whole newborn

# --- asked to stop: a checkpoint in the middle of a frame ------------------------------------------------------------
# With a thousand substeps a frame, nearly every moment is in the middle of one.
slow=(scene.json --set /time/dt_max=2e-5 --frames 6 --threads 2)
"$tribo" run "${slow[@]}" -o slow --quiet
newest_checkpoint() { find "$1/checkpoints" -name '*.tbc' | sort | tail -1; }

for signal in INT TERM HUP; do
  run="it's $signal"
  middle=no
  for attempt in 1 2 3 4 5; do
    : >progress # not that of the attempt before
    "$tribo" run "${slow[@]}" -o "$run" --overwrite >progress 2>message &
    until grep -q 'frame 2/' progress; do sleep 0.01; done
    sleep 0.01
    kill -$signal $!
    code=0
    wait $! || code=$?
    [ $code -eq 0 ] || { cat message >&2; fail "exit code $code after SIG$signal, expected 0"; }
    if grep -aq '"frame_complete":false' "$(newest_checkpoint "$run")"; then middle=yes && break; fi
  done
  [ $middle = yes ] || fail "no checkpoint in the middle of a frame after SIG$signal"
  grep -q 'a checkpoint is written. Continue with:' message || fail "the message after SIG$signal is missing"
  command=$(tail -1 message) # works as printed, quotes, frames and all
  (
    tribo() { "$tribo" "$@" --quiet; }
    eval "$command"
  )
  same_run slow "$run"
done

# --- going back, going on --------------------------------------------------------------------------------------------
kept=(--set /output/checkpoint_frames=2 --set /output/checkpoints_kept=100 --set '/output/formats=["ply"]')
"$tribo" run scene.json -o back "${kept[@]}" --frames 9 --quiet
expect 0 'step_[0-9]+.tbc \(frame 4, ' "$tribo" run back --resume --from 5 --frames 7
[ "$(wc -l <back/stats.jsonl)" -eq 8 ] || fail "back from frame 9 to 7, there should be 8 lines of statistics"
[ ! -e back/frames/000008.tbf ] || fail "frame 8 should be gone"
[ ! -e back/ply/mixture_000008.ply ] || fail "frame 8 should be gone in other formats too"
"$tribo" run back --resume --frames $frames --threads 1 --quiet # a finished run goes on
"$tribo" run scene.json -o forth "${kept[@]}" --frames $frames --quiet
same_run forth back
diff -r forth/ply back/ply || fail "the frames in another format differ"
[ "$(hashes whole)" = "$(hashes back)" ] || fail "how often checkpoints are written changed the result"
expect 0 'finished' "$tribo" run back --resume --frames $frames # and one with nothing left to do stays as it is
same_run forth back
expect 5 'no checkpoint to resume from at or before frame 0' "$tribo" run whole --resume --from 0

"$tribo" run scene.json -o back "${kept[@]}" --frames 3 --overwrite --quiet
count() { find back -name "$1" | wc -l; }
[ "$(count "*.tbf") $(count "mixture_0*.ply")" = "4 4" ] || fail "--overwrite left old frames"

# --- never with another scene ----------------------------------------------------------------------------------------
cp -r whole before
expect 2 '/gravity.*differs from the scene this run began with' \
  "$tribo" run scene.json -o whole --resume --set '/gravity=[0, -9.8, 0]'
expect 2 '/precision.*differs' "$tribo" run whole --resume --precision double
# Not the order of materials either, by which particles are sorted.
expect 2 '/materials.*differs' "$tribo" run scene.json -o whole --resume \
  --set '/materials={"water": "water", "jelly": "jelly", "dry_sand": "dry_sand"}'
expect 5 'does not exist' "$tribo" run scene.json -o nowhere --resume
[ ! -e nowhere ] || fail "--resume made a directory"
diff -r before whole || fail "a refused resume changed the run"
# Nor with a scene.json edited under the run.
sed 's/"fps": 50/"fps": 51/' before/scene.json >whole/scene.json
cmp -s before/scene.json whole/scene.json && fail "the edit of this test missed"
expect 2 '/fps: was changed after' "$tribo" run whole --resume
# What does not touch the simulated past may change.
cp before/scene.json whole/
"$tribo" run whole --resume --frames 61 --set /output/checkpoint_frames=5 --set '/description="longer"' --quiet
[ "$(hashes whole | head -61)" = "$(hashes before)" ] || fail "resuming changed the past"

# --- one writer ------------------------------------------------------------------------------------------------------
: >progress
"$tribo" run scene.json -o busy --frames 100000 >progress 2>&1 &
while [ ! -s progress ]; do sleep 0.01; done
for flag in --resume --overwrite; do
  expect 5 'another tribo process is writing to this directory' "$tribo" run scene.json -o busy $flag
done
expect 0 'state' "$tribo" stats busy # looking is allowed
kill -INT $!
wait $!
