# Sourced by ./run and ./test: installs what the build needs and builds Release into build/. Quick the second time.

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
  libgtest-dev "tests"
)

# What ./test also wants: programs that are not ours, to open what we write. Without them those tests are skipped.
test_packages=(
  python3 "runs the checks of exported files, formulas and citations"
  python3-numpy "checks of formulas"
  python3-meshio "opens PLY files"
  libopenvdb-tools "opens VDB files"
)

# install_packages NAME REASON ...: those that are missing.
install_packages() {
  local packages=("$@") missing=() i
  for ((i = 0; i < ${#packages[@]}; i += 2)); do
    dpkg-query -W -f '${Status}' "${packages[i]}" 2>/dev/null | grep -q 'ok installed' || missing+=("$i")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local names=() sudo=""
  echo "tribo needs these Debian packages; installing them with apt-get:"
  for i in "${missing[@]}"; do
    printf '  %-20s %s\n' "${packages[i]}" "${packages[i + 1]}"
    names+=("${packages[i]}")
  done
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "not root and no sudo: please install them yourself" >&2; exit 3; }
    sudo=sudo
  fi
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${names[@]}" >/dev/null
}

# build_tribo [TARGET...]: everything when no target is named.
build_tribo() {
  install_packages "${packages[@]}"
  # Configure only once: the build reconfigures itself when its own files change.
  if [ ! -f build/build.ninja ]; then
    echo "configuring (build/configure.log)"
    mkdir -p build
    cmake --preset release ${TRIBO_CMAKE_ARGS:-} >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 1; }
  fi
  if [ ! -x build/tribo ]; then echo "building into build/ (some minutes the first time)"; fi
  if [ -t 1 ] && [ ! -x build/tribo ]; then
    ninja -C build "$@"
  else
    ninja -C build "$@" >build/build.log 2>&1 || { tail -50 build/build.log >&2; exit 1; }
  fi
}
