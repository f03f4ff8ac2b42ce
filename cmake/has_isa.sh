#!/usr/bin/env bash
# has_isa.sh ISA: whether this processor has an instruction set that tribo is built for, by the features that tell
# x86-64-v3 and v4 apart from what is below them; engine/engine.cpp asks for the same.
case "$1" in
  generic) features="" ;;
  avx2) features="avx2 fma bmi2" ;;
  avx512) features="avx2 fma bmi2 avx512f avx512bw avx512cd avx512dq avx512vl" ;;
  *) echo "has_isa.sh: unknown instruction set '$1'" >&2; exit 2 ;;
esac
have=" $(sed -n 's/^flags[^:]*://p;T;q' /proc/cpuinfo 2>/dev/null) "
for feature in $features; do
  [[ $have == *" $feature "* ]] || exit 1
done
