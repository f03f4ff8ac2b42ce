# awk -v gpu_architectures=N -f build_plan.awk build_costs.txt <what `ninja -n` prints>
#
# A line "COST DESCRIPTION" for each job of a build, for build_estimate.awk. Costs are the seconds in the table. What
# is not in it is taken to cost as much as its neighbors do: the mean of those in its folder.

# The same source costs about the same for every instruction set.
function key_of(output) { sub(/tribo_cpu_[a-z0-9]+/, "tribo_cpu", output); return output }
function folder_of(key) { return match(key, /^.*\//) ? substr(key, 1, RLENGTH) : "" }

FNR == 1 { ++file }
file == 1 && /^[0-9]/ { seconds[$2] = $1; sum[folder_of($2)] += $1; ++number[folder_of($2)] }
file == 2 && match($0, /^\[[0-9]+\/[0-9]+\] /) {
  description = substr($0, RLENGTH + 1)
  compiles = description ~ /^Building [A-Z]+ object /
  cuda = description ~ /^Building CUDA /
  key = key_of($NF)
  folder = folder_of(key)
  if (key in seconds) cost = seconds[key]
  else if (compiles && number[folder]) cost = sum[folder] / number[folder]
  else cost = cuda ? 20 : compiles ? 10 : 0.5
  # nvcc compiles the host's side once and the GPU's for every architecture; the table is for one. A further one
  # has been measured to take a third of that more.
  if (cuda && gpu_architectures > 1) cost *= 1 + 0.33 * (gpu_architectures - 1)
  printf "%.2f %s\n", cost, description
}
