#!/usr/bin/env bash
# check.sh PROGRAM.py ARGS...: runs it with Debian's Python on one core, or exits with 77 (skipped) where there is none.
python=/usr/bin/python3
[ -x $python ] || { echo "no $python (Debian package python3)"; exit 77; }
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec $python -B "$@"
