# shellcheck shell=bash
# Sourced by ./run and ./test: installs what the build needs and builds Release into build/. Quick the second time.
. cmake/build_progress.sh

# Debian packages and why each is needed.
packages=(
  g++ "the compiler"
  cmake "the build system"
  ninja-build "runs the build"
  libtbb-dev "threads"
  libfmt-dev "text"
  nlohmann-json3-dev "scene files"
  libcli11-dev "command-line flags"
  libzstd-dev "compression of frames and checkpoints"
  libxxhash-dev "their checksums"
  libembree-dev "pictures"
  libpng-dev "their files"
  ffmpeg "movies; plots as PNG"
  libopenvdb-dev "output as OpenVDB points"
  libboost-dev "what its headers include"
  libgtest-dev "tests"
)

# What ./test also wants: programs that are not ours, to open what we write. Without them those tests are skipped.
# shellcheck disable=SC2034  # ./test uses it
test_packages=(
  python3 "runs the checks of exported files, formulas and citations"
  python3-numpy "checks of formulas"
  python3-meshio "opens PLY files"
  libopenvdb-tools "opens VDB files"
)

# missing_packages NAME REASON ...: NAME REASON of those that are not installed, a line each. One question for all,
# since this is asked at every ./run.
missing_packages() {
  local names=() installed i
  for ((i = 1; i <= $#; i += 2)); do names+=("${!i}"); done
  installed=$(dpkg-query -W -f '${Package} ${Status}\n' "${names[@]}" 2>/dev/null |
    sed -n 's/ .* ok installed$//p') || true
  while [ $# -gt 0 ]; do
    [[ $'\n'$installed$'\n' == *$'\n'"$1"$'\n'* ]] || printf '%s %s\n' "$1" "$2"
    shift 2
  done
}

# install_packages NAME REASON ...: those that are missing. Fails, and says what to type, where it cannot.
install_packages() {
  command -v dpkg-query >/dev/null || return 0  # no Debian: CMake will say what is missing
  local missing names=() name reason as_root=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  while read -r name _; do names+=("$name"); done <<<"$missing"
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  if [ ${#as_root[@]} -eq 0 ] || command -v sudo >/dev/null; then
    echo "tribo needs these Debian packages; installing them with apt-get:"
    while read -r name reason; do printf '  %-20s %s\n' "$name" "$reason"; done <<<"$missing"
    "${as_root[@]}" apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${names[@]}" >/dev/null && return 0
    echo "apt-get has failed. Once it works, or by someone who may:" >&2
  else
    echo "tribo needs these Debian packages:" >&2
    while read -r name reason; do printf '  %-20s %s\n' "$name" "$reason"; done <<<"$missing" >&2
    echo "This is not root and there is no sudo. Someone who may install packages types:" >&2
  fi
  echo "  apt-get install --no-install-recommends ${names[*]}" >&2
  return 3
}

# What choices that are left to CMake depend on: the processor, the GPUs, the compilers.
seen_here() {
  local isa
  for isa in avx2 avx512; do ! bash cmake/has_isa.sh $isa || echo $isa; done
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true
  command -v nvcc ccache || true
}

# configure: once, and again when something else is asked for than build/ was configured with, or build/ has come from
# another machine, or this one has changed. TRIBO_CUDA,
# TRIBO_CUDA_ARCHITECTURES and TRIBO_ISAS in the environment are the CMake options of these names, TRIBO_CMAKE_ARGS any
# others. What is not asked for stays as it was: after `TRIBO_CUDA=ON ./run` a plain `./run` keeps CUDA.
configure() {
  local asked=() args=() name have seen changed=''
  read -r -d '' -a args <<<"${TRIBO_CMAKE_ARGS:-}" || true
  asked=("${args[@]}")
  for name in TRIBO_CUDA TRIBO_CUDA_ARCHITECTURES TRIBO_ISAS; do
    [ -n "${!name:-}" ] || continue
    asked+=("-D$name=${!name}")
    have=$(sed -n "s/^$name:[A-Z]*=//p" build/CMakeCache.txt 2>/dev/null || true)
    [ "$have" = "${!name}" ] || changed=yes
  done
  # Somebody who has called CMake since may have changed them.
  have=''
  if [ build/cmake_args.txt -nt build/CMakeCache.txt ]; then have=$(cat build/cmake_args.txt); fi
  if [ ${#args[@]} -gt 0 ] && [ "${args[*]}" != "$have" ]; then changed=yes; fi
  seen=$(seen_here)
  if [ "$seen" != "$(cat build/seen.txt 2>/dev/null || true)" ]; then changed=yes; fi
  if [ -f build/build.ninja ] && [ -z "$changed" ]; then
    # CMake runs again when its own files have changed, or sources have come or gone.
    have=$(ninja -C build build.ninja 2>&1) || { echo "$have" >&2; return 1; }
    return 0
  fi
  mkdir -p build
  if [ -t 1 ]; then printf 'configuring'; fi
  # What CMake refuses shall not be what it begins with the next time.
  rm -f build/CMakeCache.before
  if [ -f build/CMakeCache.txt ]; then cp -p build/CMakeCache.txt build/CMakeCache.before; fi
  local code=0
  cmake --preset release "${asked[@]}" >build/configure.log 2>&1 || code=1
  if [ -t 1 ]; then printf '\r\033[K'; fi
  if [ $code -ne 0 ]; then
    rm -f build/CMakeCache.txt
    if [ -f build/CMakeCache.before ]; then mv build/CMakeCache.before build/CMakeCache.txt; fi
    cat build/configure.log >&2
    return 1
  fi
  rm -f build/CMakeCache.before
  echo "$seen" >build/seen.txt
  if [ ${#args[@]} -gt 0 ]; then echo "${args[*]}" >build/cmake_args.txt; fi
}

# build_tribo [TARGET...]: everything when no target is named. Exits where it fails.
build_tribo() {
  install_packages "${packages[@]}" || exit $?
  configure || exit $?
  build_with_progress build "$@" || exit $?
}
