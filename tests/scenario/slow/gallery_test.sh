#!/usr/bin/env bash
# Promise: every scene of the gallery has the same state in every frame for 1, 2 and 3 threads, and ends in the same
# state when it is killed at ten random moments and resumed, on changing numbers of threads.
. "$(dirname "$0")/../common.sh"

# A process killed while it was starting has left nothing to resume.
if_begun() { [ ! -f "$1/scene.json" ] || echo --resume; }

RANDOM=20
for scene in "$root"/scenes/gallery/*.json; do
  name=$(basename "$scene" .json)
  for threads in 1 2 3; do
    "$tribo" run "$scene" -o "$name.$threads" --threads $threads --quiet
    same_run "$name.1" "$name.$threads"
  done
  total=$(sed -nE 's/.*"wall_s":([0-9.]+).*/\1/p' "$name.3/stats.jsonl" | awk '{ s += $1 } END { print s }')

  hits=0
  for kill in {1..10}; do
    resume=$(if_begun "$name.killed")
    "$tribo" run "$scene" -o "$name.killed" --threads $((kill % 3 + 1)) --quiet $resume &
    pid=$!
    sleep "$(awk -v total="$total" -v share=$((30 + RANDOM % 100)) 'BEGIN { print total * share / 1000 }')"
    if kill -9 $pid 2>/dev/null; then hits=$((hits + 1)); fi
    wait $pid 2>/dev/null || true
  done
  [ $hits -ge 5 ] || fail "$name ended before it could be killed: only $hits kills hit"
  "$tribo" run "$scene" -o "$name.killed" --quiet $(if_begun "$name.killed")
  same_run "$name.1" "$name.killed"
  echo "$name: $(wc -l <"$name.1/stats.jsonl") frames the same for 1, 2, 3 threads and after $hits kills"
done
