#!/usr/bin/env bash
# Promise: what ./run and ./test build with says what it builds and how far it is, is silent when there is nothing to
# build, and shows what a failing command printed, with its exit code; what ./test asks says why tests were skipped.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v ninja >/dev/null || { echo "ninja is not installed"; exit 77; }
. "$root/cmake/build_progress.sh"

# Two jobs at a time: after 30 s one of cost 20 has ended as it should, one of 40 has 10 s left, and the last two follow it
# and the one that has begun at 20 s.
printf '%s\n' '20 a' '40 b' '30 c' '10 d' >plan
echo '20000 a' >finished
said=$(awk -v now=30000 -v slots=2 -v cores=2 -f "$root/cmake/build_estimate.awk" plan finished)
[ "$said" = "1 4 20" ] || fail "the estimate is '$said'"
# Half as fast as the table, seen long enough to believe it: 100 + 100 have taken 400, the rest is to take about 200.
printf '%s\n' '100 a' '100 b' '100 c' >plan
printf '%s\n' '200000 a' '400000 b' >finished
read -r ready all left <<<"$(awk -v now=400000 -v slots=1 -v cores=1 -f "$root/cmake/build_estimate.awk" plan finished)"
[ "$ready $all" = "2 3" ] && [ "$left" -gt 180 ] && [ "$left" -le 200 ] || fail "the estimate is '$ready $all $left'"

mkdir -p fake
cat >fake/build.ninja <<'END'
rule do
  command = $what && touch $out
  description = Building CXX object $out
build one.o: do
  what = true
build two.o: do
  what = sh bad.sh
build good: phony one.o
build all: phony one.o two.o
END
printf '%s\n' 'echo "two.cpp:1: error: no such thing"' 'echo "  more of it" >&2' 'exit 7' >fake/bad.sh
printf 'anything\n0\n' >fake/built_for.txt
build_with_progress fake good >said || fail "a good build has failed"
grep -q '^building tribo for anything: 1 file, about .* on .* core' said || fail "it said: $(cat said)"
build_with_progress fake good >said 2>&1 || fail "nothing to do has failed"
[ ! -s said ] || fail "with nothing to do it said: $(cat said)"
code=0
build_with_progress fake all >said 2>errors || code=$?
[ $code -eq 1 ] || fail "a failed build gave $code"
grep -q '^two.cpp:1: error: no such thing$' errors && grep -q '^  more of it$' errors || fail "it showed: $(cat errors)"

command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cat >results.xml <<'END'
<testsuite>
<testcase name="gpu.A.b" status="notrun"><skipped message="x"/><system-out>[ RUN      ] A.b
/somewhere/device.h:34: Skipped
no GPU &lt;here&gt;

[  SKIPPED ] A.b (0 ms)
[  SKIPPED ] 1 test, listed below:
</system-out></testcase>
<testcase name="scenario.c" status="notrun"><skipped message="x"/><system-out>trying
there is no such program
</system-out></testcase>
<testcase name="scenario.d" status="run"><system-out>fine</system-out></testcase>
</testsuite>
END
python3 "$root/tests/left_out.py" results.xml >said
diff said - <<'END' || fail "reasons are not those of the tests"
  1 test (gpu.A.b): no GPU <here>
  1 test (scenario.c): there is no such program
END
echo "builds and skipped tests are reported"
