#!/usr/bin/env bash
# scene.sh TRIBO SCENE: the scene runs to its end and meets its own expect block.
set -euo pipefail
tribo=$1 scene=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$tribo" check "$scene"
"$tribo" run "$scene" -o "$dir/run" --quiet
"$tribo" stats "$dir/run" --expect
