#!/usr/bin/env bash
# if_supported.sh ISA PROGRAM: runs the program, or exits 77 (skipped) where the processor lacks the instruction set.
declare -A flag=([avx2]=avx2 [avx512]=avx512vl)
if ! grep -qm1 "\\b${flag[$1]}\\b" /proc/cpuinfo; then
  echo "this processor has no $1"
  exit 77
fi
exec "$2"
