#!/usr/bin/env bash
# Promise: `cmake --install` gives a program that brings its presets and scenes along wherever the tree is moved to, and
# a library that `find_package(tribo)` finds and examples/observe builds against, with the results of the program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$(dirname "$tribo")
[ -e "$build/CMakeCache.txt" ] || fail "$build is no build directory of tribo"
cmake --install "$build" --prefix "$work/first" >install.log || { cat install.log >&2; fail "cmake --install"; }
mv first moved
prefix=$work/moved

# The tree the program lies in comes before the one it was built from.
echo '{ "doc": "only here", "model": "fixed_corotated", "density": 1, "youngs_modulus": 1e3, "poisson_ratio": 0.3 }' \
  >moved/share/tribo/materials/only_here.json
expect 0 'only_here +only here' moved/bin/tribo list materials
grep -q '^dry_sand' said || fail "the presets of the project are not installed"
expect 0 'gallery/hello' moved/bin/tribo list scenes
if grep '^    /' said | grep -vq "^    $prefix/share/"; then cat said >&2 && fail "scenes from elsewhere"; fi
write_scene scene.json
moved/bin/tribo run scene.json -o run --quiet
"$tribo" run scene.json -o reference --quiet
same_run run reference

# The library, by the CMake package.
{
  cmake -S "$root/examples/observe" -B observe -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build observe
} >build.log 2>&1 || { cat build.log >&2; fail "examples/observe does not build against the installed library"; }
grep -q "$root/src" build.log && fail "the example was built from the sources, not from the installed library"
expect 0 'highest' env TRIBO_DATA="$prefix/share/tribo" observe/observe scene.json
[ "$(wc -l <said)" -eq 11 ] || { cat said >&2; fail "ten frames should make eleven lines"; }
diff <(tail -10 said | grep -o '[0-9a-f]*$') <(hashes reference | tail -10 | grep -o '[0-9a-f]\{16\}') ||
  fail "the library and the program disagree"
echo '{ "trbo": 1 }' >mistake.json
expect 2 'unknown key; did you mean "tribo"' observe/observe mistake.json
