#!/usr/bin/env bash
# Promise: docs/scene_reference.md describes the scene format of this very program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$tribo" schema --reference >reference.md
[ "$(wc -l <reference.md)" -gt 50 ] || fail "the reference is next to empty"
diff "$root/docs/scene_reference.md" reference.md ||
  fail "docs/scene_reference.md is out of date; renew it with:  build/tribo schema --reference >docs/scene_reference.md"
