#!/usr/bin/env bash
# cmake/build_costs.sh [FOLDER]: writes what each file cost in the builds in FOLDER (build when not given) to
# cmake/build_costs.txt, from ninja's log, and prints the dearest. What that folder has not built keeps its line,
# unless its source is gone. The table tells ./run and ./test how long a build will take; only proportions matter much,
# since they learn on the way how fast a machine is. Renew it after changes to what is compiled, from a build from
# scratch on a machine that does nothing else, with no more jobs than cores, as ./test does it:
#
#   rm -r build && ./test -N && cmake/build_costs.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-build} table=cmake/build_costs.txt
[ -f "$folder/.ninja_log" ] || { echo "$folder: nothing has been built there by ninja" >&2; exit 2; }
if grep -q '^TRIBO_CCACHE:.*[^D]$' "$folder/CMakeCache.txt" && [ -z "${CCACHE_DISABLE:-}" ]; then
  echo "$folder uses ccache, so these times may be of copying: build with CCACHE_DISABLE=1, then set it here, too" >&2
  exit 2
fi
architectures=$(sed -n 2p "$folder/built_for.txt" 2>/dev/null || echo 1)

# Objects lie in DIRECTORY/CMakeFiles/TARGET.dir/SOURCE.o, with __ for each .. in the path of the source; what the build
# writes itself lies in its own folder. Of that folder's own targets, only what ninja still knows counts.
known=$(ninja -C "$folder" -t targets all 2>/dev/null | sed -E 's/: [^ ]+$//; s/tribo_cpu_[a-z0-9]+/tribo_cpu/')
has_cuda=$(grep -c 'tribo_cuda\.dir' <<<"$known" || true)
is_built() {
  [[ $'\n'$known$'\n' != *$'\n'"$1"$'\n'* ]] || return 0
  if [[ $1 != */tribo_cuda.dir/* ]] || [ "$has_cuda" -gt 0 ]; then return 1; fi
  local path=${1%.o}
  path=${path%%CMakeFiles/*}${path#*.dir/}
  path=${path//__/..}
  [ -e "$path" ] || [[ $path == *cuda* ]]
}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
# The log has a line for each time that something was built: begin and end in ms, time of the file, name, hash. The last
# counts; of several instruction sets, the dearest. Keys and the factor are those of build_plan.awk.
LC_ALL=C awk -v gpu_architectures="$architectures" '
  FNR == 1 { ++file }
  file == 1 { if (/^[0-9]/) seconds[$2] = $1; next }
  FNR == 1 || $4 ~ /^\// || $4 !~ /\.(o|a|gch)$|^(tribo|tests\/)/ || $4 ~ /\.(cmake|xml)$/ { next }
  { built[$4] = ($2 - $1) / 1000 }
  END {
    for (output in built) {
      cost = built[output]
      if (output ~ /tribo_cuda\.dir/ && gpu_architectures > 1) cost /= 1 + 0.33 * (gpu_architectures - 1)
      key = output
      sub(/tribo_cpu_[a-z0-9]+/, "tribo_cpu", key)
      if (!(key in renewed) || cost > seconds[key]) seconds[key] = cost
      renewed[key] = 1
    }
    for (key in seconds) printf "%.1f %s\n", seconds[key], key
  }' "$table" "$folder/.ninja_log" | LC_ALL=C sort -k2 | while read -r cost key; do
  if is_built "$key"; then echo "$cost $key"; fi
done >"$new"
{
  echo "# Seconds that each file takes to compile or link on one core, CUDA for one architecture. build_costs.sh writes"
  echo "# this, build_plan.awk reads it."
  cat "$new"
} >"$table"

total=$(awk '{ sum += $1 } END { printf "%.0f", sum }' "$new")
echo "$(wc -l <"$new") files, $total s in all; the dearest:"
LC_ALL=C sort -rn "$new" | head -15
