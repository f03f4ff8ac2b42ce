#!/usr/bin/env bash
# if_supported.sh ISA PROGRAM: runs the program, or exits 77 (skipped) where the processor lacks the instruction set.
if ! bash "$(dirname "${BASH_SOURCE[0]}")/../cmake/has_isa.sh" "$1"; then
  echo "this processor has no $1"
  exit 77
fi
exec "$2"
