# shellcheck shell=bash
# Sourced by cmake/setup.sh: runs ninja and says what it does, how far it is and how long it will take.
#
#   build_with_progress FOLDER [TARGET...]
#
# Says nothing when there is nothing to do. Otherwise one line before it begins, then how far it is: one line that is
# written anew on a terminal, a line every ten seconds elsewhere. What ninja prints goes to FOLDER/build.log; what
# failing commands print is also shown, all of it. Returns ninja's exit code, 130 when it was stopped. See
# build_plan.awk and build_estimate.awk for where the numbers come from.

# Processors that this shell may use: those that it is let run on, less what a container's quota keeps back.
build_cores() {
  local cores quota period
  cores=$(nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ]; then
    quota=$(((quota + period - 1) / period))
    [ "$quota" -ge "$cores" ] || cores=$quota
  fi
  echo "$cores"
}

# MiB that can be had: free or easily freed memory, or what is left of a container's limit, whichever is less.
build_memory() {
  local free limit used
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
  if read -r limit 2>/dev/null </sys/fs/cgroup/memory.max && [ "$limit" != max ] &&
    used=$(awk '/^anon / { print $2 }' /sys/fs/cgroup/memory.stat 2>/dev/null) && [ -n "$used" ]; then
    limit=$(((limit - used) / 1048576))
    [ "$limit" -ge "${free:-$limit}" ] || free=$limit
  fi
  echo "${free:-1000000}"
}

# build_jobs PLAN: how many to run at once. Compiling waits for nothing but the processor, so more jobs than cores, as
# ninja has by default, gain nothing and take memory: up to 1.5 GiB for a stage on the CPU, 3 GiB for one on the GPU. A
# compiler that swaps, or is killed, costs more than a core that idles.
build_jobs() {
  local jobs most each=1536
  grep -q ' Building CUDA ' "$1" && each=3072
  jobs=$(build_cores)
  most=$(($(build_memory) / each))
  [ "$most" -ge 1 ] || most=1
  [ "$jobs" -le "$most" ] || jobs=$most
  echo "$jobs"
}

# In words: "40 seconds", "4 minutes", "2 hours". No more digits than are known.
build_duration() {
  local s=$1
  if [ "$s" -lt 5 ]; then echo "a few seconds"
  elif [ "$s" -lt 55 ]; then echo "$(((s + 4) / 5 * 5)) seconds"
  elif [ "$s" -lt 90 ]; then echo "a minute"
  elif [ "$s" -lt 5400 ]; then echo "$(((s + 30) / 60)) minutes"
  else printf '%d h %02d min\n' $((s / 3600)) $((s % 3600 / 60)); fi
}
build_clock() {
  if [ "$1" -lt 3600 ]; then printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
  else printf '%d:%02d:%02d' $(($1 / 3600)) $(($1 % 3600 / 60)) $(($1 % 60)); fi
}
# Milliseconds since the epoch, whatever character the locale has for the decimal point.
build_now() { echo $((${EPOCHREALTIME//[!0-9]/} / 1000)); }

build_with_progress() {
  local folder=$1 here plan=$1/build_plan.txt ended=$1/build_finished.txt log=$1/build.log
  shift
  here=$(dirname "${BASH_SOURCE[0]}")
  # `ninja -n` says which jobs there are. Read from elsewhere than build.ninja, since otherwise it first lets CMake look
  # for new files, which -n only pretends to do, and ends there.
  local listing architectures=0
  listing=$(ninja -C "$folder" -f /dev/stdin -n "$@" <"$folder/build.ninja" 2>&1) || { echo "$listing" >&2; return 1; }
  [[ $listing != *"ninja: no work to do."* ]] || return 0
  [ ! -f "$folder/built_for.txt" ] || architectures=$(sed -n 2p "$folder/built_for.txt")
  LC_ALL=C awk -v gpu_architectures="$architectures" -f "$here/build_plan.awk" "$here/build_costs.txt" - \
    <<<"$listing" >"$plan"
  : >"$ended"
  : >"$log"

  local cores jobs of_cores
  cores=$(build_cores)
  if ! [[ ${TRIBO_JOBS:-1} =~ ^[1-9][0-9]*$ ]]; then
    echo "TRIBO_JOBS: '$TRIBO_JOBS' is no number of jobs" >&2
    return 2
  fi
  jobs=${TRIBO_JOBS:-$(build_jobs "$plan")}
  of_cores="$cores cores"
  if [ "$jobs" -lt "$cores" ]; then of_cores="$jobs of $cores cores"
  elif [ "$cores" -eq 1 ]; then of_cores="1 core"; fi
  [ -n "${TRIBO_JOBS:-}" ] || [ "$jobs" -eq "$cores" ] || of_cores+=", as many as memory allows"

  local began at=0 ready all left
  estimate() {
    at=$(($(build_now) - began))
    read -r ready all left \
      <<<"$(LC_ALL=C awk -v now=$at -v slots="$jobs" -v cores="$cores" -f "$here/build_estimate.awk" "$plan" "$ended")"
  }
  began=$(build_now)
  estimate
  local files="$all files"
  [ "$all" -ne 1 ] || files="1 file"
  echo "building tribo for $(head -1 "$folder/built_for.txt" 2>/dev/null || echo this machine): $files," \
    "about $(build_duration "$left") on $of_cores"

  local out pid stopped='' code=0
  exec {out}< <(NINJA_STATUS='[%f/%t] ' exec ninja -C "$folder" -j "$jobs" "$@" 2>&1)
  pid=$!
  # From a terminal ninja gets Ctrl-C as well; it ends what it has begun and removes what is half written.
  trap 'stopped=1; kill -INT "$pid" 2>/dev/null || true' INT TERM HUP

  local terminal='' every=10 next line part='' failing='' killed='' status=0 line_before='' shown
  if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then terminal=1 every=1; fi
  next=$((SECONDS + every))
  clear_line() { [ -z "$terminal" ] || printf '\r\033[K'; }
  while :; do
    status=0
    IFS= read -r -t 1 -u "$out" line || status=$?
    if [ $status -gt 128 ]; then
      part+=$line  # the time is up, perhaps amid a line
    else
      line=$part$line part=''
      [ $status -eq 0 ] || [ -n "$line" ] || break
      printf '%s\n' "$line" >>"$log"
      line_before=$line
      if [[ $line =~ ^\[[0-9]+/[0-9]+\]\ (.*)$ ]]; then
        failing=''
        echo "$(($(build_now) - began)) ${BASH_REMATCH[1]}" >>"$ended"
      elif [[ $line == FAILED:* || $line == "ninja: fatal:"* || $line == "ninja: error:"* ]]; then
        failing=1
      fi
      if [ -n "$failing" ] && [ -z "$stopped" ]; then
        clear_line
        printf '%s\n' "$line" >&2
        [[ $line != *Killed* ]] || killed=1
      fi
    fi
    if [ $SECONDS -ge $next ] && [ -z "$stopped" ]; then
      next=$((SECONDS + every))
      estimate
      left=$((left < 1 ? 5 : left < 60 ? (left + 4) / 5 * 5 : (left + 5) / 10 * 10))
      shown="  $ready of $all files, $(build_clock $((at / 1000))) gone, about $(build_clock "$left") to go"
      if [ -n "$terminal" ]; then printf '\r%s\033[K' "$shown"; else echo "$shown"; fi
    fi
  done
  exec {out}<&-
  wait "$pid" || code=$?
  trap - INT TERM HUP
  clear_line
  if [ -n "$stopped" ] || [[ $line_before == "ninja: build stopped: interrupted by user."* ]]; then
    echo "stopped; the next time it goes on from here" >&2
    return 130
  elif [ $code -ne 0 ]; then
    [ -z "$killed" ] || echo "Killed: memory may have run out; TRIBO_JOBS=1 takes the least" >&2
    echo "the build has failed; everything it said is in $log" >&2
    return $code
  fi
  at=$((($(build_now) - began + 500) / 1000))
  [ $at -lt 10 ] || echo "  $all of $all files, $(build_clock $at) gone"
}
