# How long a build will still take.
#
#   awk -v now=MS -v slots=JOBS -v cores=N -f build_estimate.awk PLAN FINISHED
#
# PLAN has a line "COST DESCRIPTION" for each job in the order in which ninja begins them: cost in seconds of the
# machine on which cmake/build_costs.txt was measured. FINISHED has a line "MS DESCRIPTION" for each finished job:
# when, in milliseconds since the beginning, which is what `now` is, too. Prints the numbers of finished jobs and of
# all jobs, and the seconds still to go. JOBS run at a time, on N cores.
#
# Jobs differ in cost by a factor of a hundred, so counting them says little. What is known beforehand is the cost of
# each on another machine; what is learned on the way is how fast this one is: the costs of the finished jobs over the
# times that they took. The rest is then played through: what runs now ends when its cost is spent, and whenever a job
# ends the next one begins. That sees when a single long job is left at the end, which a rate does not.

function begin(i, when) { start[i] = when; running[i] = 1; ++runs }
function fill(when) {
  while (runs < slots && next_job <= jobs) {
    if (!(next_job in finished)) begin(next_job, when)
    ++next_job
  }
}

BEGIN {
  next_job = 1
  # What is believed before anything is known, as if seen for ten seconds: every job has a core, as fast as in the
  # table.
  prior_took = 10 * slots
  prior_work = prior_took * (slots > cores ? cores / slots : 1)
}
NR == FNR { cost[++jobs] = $1; sub(/^[^ ]* /, ""); job[$0] = jobs; next }
{
  if (FNR == 1) fill(0)
  when = $1 / 1000
  sub(/^[^ ]* /, "")
  if (!($0 in job)) next
  i = job[$0]
  if (i in finished) next
  if (!(i in running)) {
    # ninja took another one than was thought: the one that was thought to have begun last begins now, and this one has
    # run in its place.
    last = 0
    for (j in running) if (!last || start[j] > start[last] || (start[j] == start[last] && j + 0 > last + 0)) last = j
    if (last) { begin(i, start[last]); start[last] = when; --runs }
    else begin(i, when)
  }
  finished[i] = 1
  ++done
  delete running[i]
  --runs
  work += cost[i]
  took += when - start[i]
  fill(when)
}
END {
  now /= 1000
  if (!done) fill(0)
  # What has been seen counts for more and more. A job that takes longer than it should is also news.
  speed = (work + prior_work) / (took + prior_took)
  for (j in running) if ((now - start[j]) * speed > cost[j]) { work += cost[j]; took += now - start[j] }
  speed = (work + prior_work) / (took + prior_took)

  for (k = 1; k <= slots; ++k) free[k] = 0
  k = 0
  for (j in running) {
    age = now - start[j]
    left = cost[j] / speed - age
    if (left < 0.1 * age) left = 0.1 * age  # late, or nearly so: who knows
    free[++k] = left
  }
  for (i = next_job; i <= jobs; ++i) {
    if (i in finished) continue
    soonest = 1
    for (k = 2; k <= slots; ++k) if (free[k] < free[soonest]) soonest = k
    free[soonest] += cost[i] / speed
  }
  for (k = 1; k <= slots; ++k) if (free[k] > longest) longest = free[k]
  printf "%d %d %d\n", done, jobs, longest + 0.5
}
