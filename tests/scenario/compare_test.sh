#!/usr/bin/env bash
# Promise: tribo compare runs the variants of a scene side by side and shows them in one table and one plot. What is
# simulated is not simulated again, what was stopped goes on to the same bytes, and nobody's run is lost. A wrong variant
# is told with its place before anything runs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >scene.json <<'EOF'
{ "tribo": 1, "name": "spin", "dimension": 2, "fps": 20, "duration": 0.5, "gravity": [0, 0],
  "grid": { "dx": 0.05 },
  "materials": { "m": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3 } },
  "objects": [ { "name": "block", "type": "particles", "shape": { "box": [0.5, 0.4] }, "material": "m",
                 "angular_velocity": [0, 0, 6] } ],
  "variants": {
    "PIC": { "/grid/transfer": "pic" },
    "FLIP 0.97": { "/grid/transfer": "flip", "/grid/flip_ratio": 0.97 },
    "APIC": {} },
  "output": { "checkpoint_frames": 2 } }
EOF

# share VARIANT: its total energy at the end, relative to the start, out of the table in ./said.
share() { sed -nE "s/^$1 +[0-9]+ +[^ ]+ +[^ ]+ +[^ ]+ +([0-9.]+) .*/\1/p" said; }

# --- the scene's own variants, in one command ------------------------------------------------------------------------
expect 0 '^out/spin-compare/compare.svg$' "$tribo" compare scene.json --threads 1
for variant in PIC FLIP_0.97 APIC; do
  [ -e "out/spin-compare/$variant/frames/000010.tbf" ] || fail "$variant was not run to its end"
done
for text in '</svg>' '>spin<' '>FLIP 0.97<' '>Total energy<' '>Kinetic energy<' '>Angular momentum about the origin<'; do
  grep -q -e "$text" out/spin-compare/compare.svg || fail "the plot does not show '$text'"
done
ordered=$(printf '%s\n' "$(share PIC)" "$(share 'FLIP 0.97')" "$(share APIC)")
[ "$(wc -w <<<"$ordered")" -eq 3 ] && [ "$(sort -g <<<"$ordered")" = "$ordered" ] ||
  { cat said >&2; fail "energies are not in the known order: $ordered"; }
cp said first_table

# A variant is the run that the same changes on the command line make, and tribo run leaves variants alone.
"$tribo" run scene.json -o by_hand --quiet --set /grid/transfer=flip --set /grid/flip_ratio=0.97
diff <(timeless_stats by_hand) <(timeless_stats out/spin-compare/FLIP_0.97) || fail "a variant is not the run by hand"
expect 0 'variants +PIC, FLIP 0.97, APIC' "$tribo" check scene.json

# --- again: nothing is repeated --------------------------------------------------------------------------------------
before=$(find out -path '*frames*' -o -name stats.jsonl | sort | xargs stat -c '%n %y %i')
expect 0 'APIC \(3/3\) in out/spin-compare/APIC: kept' "$tribo" compare scene.json --threads 1
[ "$before" = "$(find out -path '*frames*' -o -name stats.jsonl | sort | xargs stat -c '%n %y %i')" ] ||
  fail "finished runs were touched"
diff <(grep '^PIC  *[0-9]' said) <(grep '^PIC  *[0-9]' first_table) || fail "kept runs give another table"
# Fewer frames use what is there; more go on from it.
expect 0 'PIC \(1/3\).*: kept' "$tribo" compare scene.json --frames 5
expect 0 'compare.svg' "$tribo" compare scene.json --frames 12 --quiet
if grep -q 'kept\|frame 1' said; then fail "--quiet is not"; fi
grep -q 'resumed' out/spin-compare/PIC/log.txt || fail "a longer comparison began anew"

# --- another scene in the same place ---------------------------------------------------------------------------------
expect 2 'scene.json  /grid/dx: the variant "PIC" differs here from the run .* in out/spin-compare/PIC.*--overwrite' \
  "$tribo" compare scene.json --set /grid/dx=0.1
expect 0 'compare.svg' "$tribo" compare scene.json --set /grid/dx=0.1 --overwrite --quiet
expect 2 '/grid/dx: the variant "PIC" differs' "$tribo" compare scene.json

# --- stopped and continued -------------------------------------------------------------------------------------------
"$tribo" compare scene.json -o whole --frames 60 --quiet
"$tribo" compare scene.json -o stopped --frames 60 --threads 1 >said 2>&1 &
until grep -q '^frame 3/' said || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -INT $!
code=0
wait $! || code=$?
[ "$code" -eq 0 ] || { cat said >&2; fail "exit code $code after an interrupt"; }
grep -q 'stopped in the variant "PIC"; give the same command again to go on' said || { cat said >&2; fail "was not stopped"; }
[ ! -e stopped/APIC ] && [ ! -e stopped/compare.svg ] || fail "went on after the interrupt"
"$tribo" compare scene.json -o stopped --frames 60 --threads 2 >said 2>&1 &  # and now without warning, in any variant
sleep 0.3
kill -9 $! 2>/dev/null || true
wait $! 2>/dev/null || true
expect 0 'stopped/compare.svg' "$tribo" compare scene.json -o stopped --frames 60
for variant in PIC FLIP_0.97 APIC; do same_run whole/$variant stopped/$variant; done

# --- values on the command line --------------------------------------------------------------------------------------
expect 0 '^made/here.SVG$' \
  "$tribo" compare scene.json --vary /grid/transfer=pic,apic --vary /grid/dx=0.05,0.1 -o product --plot made/here.SVG -q
for variant in pic_0.05 pic_0.1 apic_0.05 apic_0.1; do [ -e product/$variant/stats.jsonl ] || fail "no $variant"; done
[ ! -e product/compare.svg ] || fail "the plot is also where it was not asked for"
grep -q '>2 variants\|>4 variants, /grid/transfer=pic,apic, /grid/dx=0.05,0.1<' made/here.SVG || fail "does not say what varies"

# --- mistakes --------------------------------------------------------------------------------------------------------
sed 's/"pic"/"pci"/; s/0.97 }/"much" }/' scene.json >wrong.json
for command in check compare; do
  expect 2 'wrong.json:7:32  /grid/transfer: .*did you mean "pic"\? \(in the variant "PIC"\)' "$tribo" $command wrong.json
  grep -q 'wrong.json:8:66  /grid/flip_ratio: expected a number in \[0, 1\], got "much" (in the variant "FLIP 0.97")' said ||
    { cat said >&2; fail "does not tell the second mistake"; }
done
[ ! -e out/wrong-compare ] || fail "ran variants of a wrong scene"
expect 0 'finished' "$tribo" run wrong.json -o plain --frames 1
sed '/"variants"/,/APIC/d' scene.json >none.json
expect 2 'none.json  /variants: nothing to compare; .*--vary' "$tribo" compare none.json
expect 2 'expected /json/pointer=a,b,c' "$tribo" compare scene.json --vary transfer=pic
expect 2 'a value is empty' "$tribo" compare scene.json --vary /grid/dx=0.1,,0.2
expect 2 'ends in .svg or .png' "$tribo" compare scene.json --plot page.pdf

# --- a variant that diverges is a result too -------------------------------------------------------------------------
expect 4 'too_long: the simulation diverged' "$tribo" compare scene.json -o trouble --frames 3 \
  --set '/variants={"too_long":{"/time/dt_min":0.5,"/time/dt_max":1},"fine":{}}'
grep -Eq '^fine +[0-9]' said || { cat said >&2; fail "the other variant is not in the table"; }
# Stopped after it, the command still tells.
"$tribo" compare scene.json -o trouble_stopped --frames 1000 --threads 1 \
  --set '/variants={"too_long":{"/time/dt_min":0.5,"/time/dt_max":1},"fine":{}}' >stopped_late 2>&1 &
until grep -q '^frame 3/' stopped_late || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -INT $!
code=0
wait $! || code=$?
[ "$code" -eq 4 ] || { cat stopped_late >&2; fail "exit code $code after an interrupt that follows a divergence"; }
