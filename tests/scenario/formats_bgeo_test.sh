#!/usr/bin/env bash
# Promise: .bgeo files hold the particles of the run's own frames to the last bit, in the published layout of Houdini's
# geometry, both written along with a run and exported afterwards.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=/usr/bin/python3
[ -x "$python" ] || { echo "no $python"; exit 77; }
check() { "$python" -B "$root/tests/formats/bgeo.py" "$@" || fail "bgeo.py $*"; }

write_scene scene.json
for precision in float double; do
  "$tribo" run scene.json -o "$precision" --quiet --frames 4 --set '/output/formats=["bgeo"]' \
    --set "/precision=\"$precision\""
  for frame in 000000 000004; do
    check "$precision/bgeo/mixture_$frame.bgeo" "$precision/frames/$frame.tbf" floor paddle
  done
  "$tribo" export "$precision" --format bgeo -o "exported_$precision" --frames 2:3 --quiet
  [ "$(ls "exported_$precision")" = $'mixture_000002.bgeo\nmixture_000003.bgeo' ] ||
    fail "frames 2 and 3 were asked for"
  for frame in 000002 000003; do
    cmp "exported_$precision/mixture_$frame.bgeo" "$precision/bgeo/mixture_$frame.bgeo" ||
      fail "an exported frame is not the one written with the run"
  done
done

# A disk that is full leaves no part of a file; here it is a limit on the size of files.
full() (trap '' XFSZ && ulimit -f 20 && "$tribo" export float --format bgeo -o full)
expect 5 'cannot write full/mixture_000000.bgeo: File too large' full
[ -z "$(ls -A full)" ] || fail "a part of a file is left"

# The checker notices: another frame's particles, a file cut short, a byte too many.
if "$python" -B "$root/tests/formats/bgeo.py" float/bgeo/mixture_000003.bgeo float/frames/000004.tbf floor paddle \
  >said 2>&1; then fail "the checker takes one frame for another"; fi
grep -q 'P is not that of the frame' said || { cat said >&2; fail "the checker failed for another reason"; }
head -c -1 float/bgeo/mixture_000003.bgeo >short.bgeo
{ cat float/bgeo/mixture_000003.bgeo; printf ']'; } >long.bgeo
for damaged in short long; do
  if "$python" -B "$root/tests/formats/bgeo.py" $damaged.bgeo float/frames/000003.tbf floor paddle >said 2>&1; then
    fail "the checker takes a damaged file: $damaged"
  fi
done
