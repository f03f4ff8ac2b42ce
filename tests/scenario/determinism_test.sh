#!/usr/bin/env bash
# Promise: a scene has one result. The same bytes come out for any number of threads, for AVX2 and AVX-512 alike, and
# when the resolved scene that a run leaves behind is run again; in float and in double.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_scene scene.json
built=$("$tribo" run --help | grep -Eo 'avx512|avx2|generic' | sort -u)
isas=$(grep avx <<<"$built" || true) # none in a build for the generic CPU alone

for precision in float double; do
  run() { # NAME FLAGS...
    local name=$1
    shift
    "$tribo" run scene.json -o "$precision.$name" --precision "$precision" --quiet "$@"
  }
  run 1 --threads 1
  [ "$(hashes $precision.1 | sort -u | wc -l)" -eq 11 ] || fail "11 frames should have 11 different states"
  for threads in 2 3; do
    run $threads --threads $threads
    same_run $precision.1 $precision.$threads
  done
  for isa in $isas; do # the default is one of them; the generic build may differ in the last bit
    run "$isa" --isa "$isa" --threads 2
    same_run $precision.1 "$precision.$isa"
  done
  if [[ $built == *generic* ]]; then
    run generic.1 --isa generic --threads 1
    run generic.2 --isa generic --threads 2
    same_run $precision.generic.1 $precision.generic.2
  fi

  # The resolved scene, as a file and as a run directory.
  cp $precision.1/scene.json resolved.json
  "$tribo" run resolved.json -o $precision.again --quiet
  same_run $precision.1 $precision.again
  "$tribo" run $precision.1 -o $precision.directory --quiet
  same_run $precision.1 $precision.directory
done

# The comparison itself can tell runs apart.
cmp -s float.1/frames/000010.tbf double.1/frames/000010.tbf && fail "float and double gave the same bytes"
"$tribo" run scene.json -o other --set /objects/1/seed=1 --quiet
[ "$(hashes float.1)" != "$(hashes other)" ] || fail "another seed gave the same state"
others=$(grep generic <<<"$built" || true)
echo "same bytes for 1, 2, 3 threads and for: $(echo $isas)${others:+; generic by itself}"
[ "$(wc -w <<<"$isas")" -ge 2 ] || echo "(two instruction sets to compare need a build with TRIBO_ISAS=ALL)"
