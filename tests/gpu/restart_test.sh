#!/usr/bin/env bash
# Promise: a scene has one result on a GPU, to the byte, whether it is run in one go or continued from a checkpoint; and
# a checkpoint of the CPU can be continued on the GPU and the other way round, with the same result but for rounding.
. "$(dirname "${BASH_SOURCE[0]}")/../scenario/common.sh"

write_scene scene.json
case ${TRIBO_GPU_TEST_DEVICE:-cuda} in
  cpu) device=(--device cpu --threads 2) ;; # the test tests itself
  *) device=(--device cuda) ;;
esac
code=0
"$tribo" run scene.json -o probe --frames 1 --quiet "${device[@]}" >said 2>&1 || code=$?
if [ $code -eq 3 ] && grep -Eq 'no usable NVIDIA GPU|built without CUDA' said; then
  cat said
  exit 77
fi
[ $code -eq 0 ] || { cat said >&2; fail "exit code $code"; }

for precision in float double; do
  run() { # NAME FLAGS...
    local name=$1
    shift
    "$tribo" run scene.json -o "$precision.$name" --precision $precision --quiet "$@"
  }
  run whole "${device[@]}"
  run again "${device[@]}"
  same_run $precision.whole $precision.again

  run stopped --frames 5 "${device[@]}"
  "$tribo" run $precision.stopped --resume --quiet "${device[@]}"
  same_run $precision.whole $precision.stopped
  "$tribo" run $precision.again --resume --from 9 --quiet "${device[@]}"
  same_run $precision.whole $precision.again

  run cpu --device cpu
  run to_gpu --frames 6 --device cpu
  "$tribo" run $precision.to_gpu --resume --quiet "${device[@]}"
  run to_cpu --frames 6 "${device[@]}"
  "$tribo" run $precision.to_cpu --resume --quiet --device cpu
done

# With a sink the state also knows how far particles have come since it was asked.
cat >drain.json <<'END'
{ "tribo": 1, "name": "drain", "fps": 50, "duration": 0.1, "dimension": 2, "grid": { "dx": 0.05 },
  "objects": [{ "name": "water", "type": "particles", "shape": { "box": [0.4, 0.4, 1] }, "at": [0, 0.4, 0],
                "material": "water", "velocity": [0, -2, 0] }],
  "sinks": [{ "name": "drain", "shape": { "box": [4, 0.5, 1] }, "at": [0, 0, 0] }],
  "output": { "checkpoint_frames": 1, "checkpoints_kept": 10 } }
END
"$tribo" run drain.json -o drain.whole --quiet "${device[@]}"
for from in 1 2 3 4; do
  cp -r drain.whole drain.again
  "$tribo" run drain.again --resume --from $from --quiet "${device[@]}"
  same_run drain.whole drain.again
  rm -r drain.again
done

# Energies [J], and then centers of objects [m], at the end.
numbers() {
  tail -1 "$1/stats.jsonl" | grep -oE '"(kinetic|elastic|gravity)":[^,}]*' | sed 's/.*://'
  tail -1 "$1/stats.jsonl" | grep -oE '"centre":\[[^]]*\]' | grep -oE -- '-?[0-9][-+.0-9e]*'
}
close_to() { # RUN OTHER TOLERANCE
  [ "$(wc -l <"$1/stats.jsonl")" -eq "$(wc -l <"$2/stats.jsonl")" ] || fail "$2 has another number of frames"
  [ "$(numbers "$1" | wc -l)" -eq 21 ] || fail "expected 21 numbers of $1"
  paste <(numbers "$1") <(numbers "$2") | awk -v tolerance="$3" '
    function abs(x) { return x < 0 ? -x : x }
    { a[NR] = $1; b[NR] = $2; if (NR <= 12 && abs($1) > most) most = abs($1) }
    END {
      for (i = 1; i <= NR; ++i) {
        scale = i <= 12 ? most : 0.2  # of energies the largest, of centers the size of an object
        if (!(abs(a[i] - b[i]) <= tolerance * scale)) { print "number", i, "is", b[i], "instead of", a[i]; bad = 1 }
      }
      exit bad
    }' >&2 || fail "$2 ends elsewhere than $1"
}
for name in whole to_gpu to_cpu; do
  close_to double.cpu double.$name 1e-6
  close_to float.cpu float.$name 5e-3
done
echo "same bytes twice, and after checkpoints; CPU and GPU continue each other"
