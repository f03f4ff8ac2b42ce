#!/usr/bin/env bash
# report.sh [--only tests,bench,hashes,scaling,sanitizer] [--tribo FILE] [--tests FILE] [--logs DIR] [--quick]
#
# Everything that is to be known about tribo on a machine with a GPU, as one table, in less than ten minutes. Needs the
# two programs and this source tree (scenes, materials, scripts), but neither cmake nor a compiler: both may have been
# built elsewhere.
#
#   --only PARTS   some of: tests      what `ctest -L gpu` runs
#                           bench      ms per step in flight and on impact, in an empty world, and of other schemes
#                           hashes     gallery and games201 scenes, twice each: the same state hashes
#                           scaling    the CPU with 1 to 16 threads: speed, and the same state hashes
#                           sanitizer  compute-sanitizer's memcheck and racecheck, where it is installed
#   --tribo FILE   the program; $TRIBO or build/tribo when not given
#   --tests FILE   the test program; $TRIBO_GPU_TESTS or build/tests/gpu when not given
#   --logs DIR     keep what everything printed; a temporary folder when not given
#   --quick        small sizes, to try the script itself
# Exits with 1 when anything has failed.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tribo=${TRIBO:-$root/build/tribo}
tests=${TRIBO_GPU_TESTS:-$root/build/tests/gpu}
device=${TRIBO_GPU_TEST_DEVICE:-cuda}
parts=tests,bench,hashes,scaling,sanitizer
logs=
quick=no

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; }
refuse() {
  echo "$*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --only | --tribo | --tests | --logs)
      [ $# -ge 2 ] || refuse "$1 needs a value; see --help"
      case $1 in
        --only) parts=$2 ;;
        --tribo) tribo=$2 ;;
        --tests) tests=$2 ;;
        --logs) logs=$2 ;;
      esac
      shift 2 ;;
    --quick) quick=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    *) refuse "unknown argument '$1'; see --help" ;;
  esac
done
for part in ${parts//,/ }; do
  [[ " tests bench hashes scaling sanitizer " == *" $part "* ]] || refuse "unknown part '$part'; see --help"
done
[ -x "$tribo" ] || refuse "$tribo: no such program; build tribo, or name it with --tribo"
[[ ,$parts, != *,tests,* ]] || [ -x "$tests" ] ||
  refuse "$tests: no such program; build the target gpu, name it with --tests, or leave the tests out with --only"
tribo=$(realpath "$tribo")
tests=$(realpath -m "$tests")
export TRIBO_DATA=$root${TRIBO_DATA:+:$TRIBO_DATA}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=${logs:-$work/logs}
mkdir -p "$logs"
logs=$(realpath "$logs")
cd "$work" || exit 1
failures=0
began=$SECONDS

row() { # PART WHAT RESULT
  printf '%-10s %-46s %s\n' "$1" "$2" "$3" | tee -a "$work/table"
  case $3 in FAILED*) failures=$((failures + 1)) ;; esac
}
wants() { [[ ,$parts, == *,$1,* ]]; }
hashes() { grep -o '"state_hash":"[0-9a-f]*"' "$1/stats.jsonl"; }
# within SECONDS COMMAND...: no longer than that, nor than what is left of ten minutes.
within() {
  local most=$1 left=$((began + 595 - SECONDS))
  shift
  [ $left -gt 0 ] || left=1
  timeout $((most < left ? most : left)) "$@"
}
last_words() { grep -v '^$' "$1" | tail -1 | cut -c1-120; }
# simulate LOG OUTPUT ARGS...: a quiet run.
simulate() {
  local log=$1 output=$2
  shift 2
  within 120 "$tribo" run "$@" -o "$output" --overwrite --quiet >"$log" 2>&1
}

test_programs() {
  local log=$logs/tests.log code=0 passed failed skipped
  within 300 "$tests" --gtest_color=no >"$log" 2>&1 || code=$?
  count() { grep -oE "^\[ *$1 *\] [0-9]+ test" "$log" | tail -1 | grep -oE '[0-9]+' || echo 0; }
  passed=$(count PASSED) failed=$(count FAILED) skipped=$(count SKIPPED)
  local numbers="$passed passed, $failed failed, $skipped skipped"
  [ "$skipped" -eq 0 ] || numbers+=" ($(grep -m1 -A1 'Skipped$' "$log" | tail -1))"
  if [ $code -eq 0 ]; then
    row tests "$(basename "$tests")" "$numbers"
  else
    row tests "$(basename "$tests")" "FAILED: $numbers, exit code $code"
    grep -E '^\[ +FAILED +\] .*[/.]' "$log" | sed -E 's/(, where.*)?( \([0-9]+ ms\))?$//' | sort -u | sed 's/^/  /' | tee -a "$work/table"
  fi
  local script
  for script in "$root"/tests/gpu/*_test.sh; do
    log=$logs/$(basename "$script" .sh).log
    code=0
    within 120 bash "$script" "$tribo" "$root" >"$log" 2>&1 || code=$?
    case $code in
      0) row tests "$(basename "$script")" passed ;;
      77) row tests "$(basename "$script")" "skipped: $(last_words "$log")" ;;
      *) row tests "$(basename "$script")" "FAILED: $(last_words "$log")" ;;
    esac
  done
}

bench_row() { # STATE MATERIAL PARTICLES [OPTIONS...]
  local what="$2, $3 particles, $1 ${*:4}" line code
  local log=$logs/bench_${what//[ ,]/_}.log csv=$logs/bench.csv
  within 200 "$tribo" bench mpm --device "$device" --state "$1" --material "$2" --particles "$3" "${@:4}" --threads 1 \
    --repeats 5 --csv "$csv" >"$log" 2>"$log.errors"
  code=$?
  if [ $code -eq 0 ]; then
    line=$(tail -1 "$log")
    row bench "$what" "$(awk '{ printf "%s ms/step, %s M p-steps/s, %s B/particle", $6, $4, $7 }' <<<"$line")"
    row '' '' "$(grep -oE '[a-z0-9_]+ [0-9.e-]+ ms [0-9]+%' <<<"$line" | paste -sd, | sed 's/,/, /g')"
  elif grep -q 'not enough memory\|out of GPU memory\|no usable NVIDIA\|built without CUDA' "$log.errors"; then
    row bench "$what" "skipped: $(last_words "$log.errors")"
  else
    row bench "$what" "FAILED with $code: $(last_words "$log.errors")"
  fi
}
bench() {
  local state particles small=(1e6 8e6) large=(64e6)
  [ $quick = no ] || { small=(2e4) large=(5e4); }
  for state in flight impact; do
    for particles in "${small[@]}" "${large[@]}"; do bench_row $state fixed_corotated "$particles"; done
    for particles in "${small[@]}"; do bench_row $state drucker_prager "$particles"; done
  done
  bench_row apart fixed_corotated "${small[0]}"
  bench_row flight fixed_corotated "${small[0]}" --transfer flip
  bench_row flight fixed_corotated "${small[0]}" --force gradient
  bench_row flight fixed_corotated "${small[0]}" --kernel cubic
  bench_row flight fixed_corotated "${small[0]}" --transfer polypic
  bench_row flight fixed_corotated "${small[0]}" --kernel linear
}

scene_hashes() {
  local scene name frames=3 log
  [ $quick = no ] || frames=1
  for scene in "$root"/scenes/gallery/*.json "$root"/scenes/games201/*.json; do
    name=$(basename "$(dirname "$scene")")/$(basename "$scene" .json)
    log=$logs/hashes_$(basename "$scene" .json).log
    if ! simulate "$log" first "$scene" --frames $frames --device "$device" ||
      ! simulate "$log" second "$scene" --frames $frames --device "$device"; then
      if grep -q 'no usable NVIDIA\|built without CUDA' "$log"; then
        row hashes "all scenes" "skipped: $(last_words "$log")"
        return
      fi
      row hashes "$name" "FAILED: $(last_words "$log")"
    elif [ "$(hashes first)" = "$(hashes second)" ]; then
      row hashes "$name" "same twice over $frames frames"
    else
      row hashes "$name" "FAILED: two runs differ"
    fi
  done
}

scaling() {
  local threads what particles=1e6 frames=2 first='' log=$logs/scaling.log line one=''
  [ $quick = no ] || { particles=2e4 frames=1; }
  for threads in 1 2 4 8 16; do
    what="threads: $threads"
    [ "$threads" -le "$(nproc)" ] || { row scaling "$what" "skipped: $(nproc) cores"; continue; }
    if ! within 120 "$tribo" bench mpm --material fixed_corotated --particles $particles --threads $threads \
      --repeats 3 >"$log" 2>&1 ||
      ! simulate "$log.errors" run "$root/scenes/gallery/hello.json" --frames $frames --threads $threads; then
      row scaling "$what" "FAILED: $(last_words "$log")"
      continue
    fi
    line=$(awk 'END { print $4 }' "$log")
    one=${one:-$line}
    first=${first:-$(hashes run)}
    if [ "$(hashes run)" = "$first" ]; then
      row scaling "$what" "$(awk -v a="$line" -v b="$one" 'BEGIN { printf "%s M p-steps/s, %.2f times one", a, a / b }'), same hashes"
    else
      row scaling "$what" "FAILED: other hashes than one thread"
    fi
  done
}

sanitizer() {
  local checker tool scene name log code
  checker=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  [ -n "$checker" ] || { row sanitizer "memcheck, racecheck" "skipped: compute-sanitizer is not installed"; return; }
  [ "$device" = cuda ] || { row sanitizer "memcheck, racecheck" "skipped: the device is $device"; return; }
  # A few steps of each suffice: a frame is made short.
  for tool in memcheck racecheck; do
    for scene in gallery/spinning_jelly gallery/hello games201/mls_mpm88 gallery/stiff_block; do
      name=$(basename $scene)
      log=$logs/${tool}_$name.log
      code=0
      within 60 "$checker" --tool $tool --error-exitcode 9 "$tribo" run "$root/scenes/$scene.json" -o checked \
        --overwrite --device cuda --set /fps=200 --frames 1 --quiet >"$log" 2>&1 || code=$?
      case $code in
        0) row sanitizer "$tool, $name" "$(last_words "$log" | sed 's/^=* *//')" ;;
        3) row sanitizer "$tool, $name" "skipped: $(grep -m1 -e '--device cuda' "$log")" ;;
        124) row sanitizer "$tool, $name" "skipped: took more than 60 s" ;;
        *) row sanitizer "$tool, $name" "FAILED: $(last_words "$log" | sed 's/^=* *//')" ;;
      esac
    done
  done
}

wants tests && test_programs
wants bench && bench
wants hashes && scene_hashes
wants scaling && scaling
wants sanitizer && sanitizer

echo
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
echo "$("$tribo" --version), ${gpu:-no GPU}, $(nproc) cores, $((SECONDS - began)) s"
printf '%.0s-' {1..110} && echo
cat "$work/table"
skipped=$(grep -cE ' skipped:| [1-9][0-9]* skipped' "$work/table")
echo "rows that have failed: $failures; with something skipped: $skipped"
[ $failures -eq 0 ] || [[ $logs != "$work"* ]] || echo "--logs DIR keeps what they said"
[ $failures -eq 0 ]
