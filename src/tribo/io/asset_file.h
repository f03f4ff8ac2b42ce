#pragma once

#include <string>
#include <vector>

#include "tribo/core/named_bytes.h"
#include "tribo/core/params.h"

namespace tribo {

/// The files that a scene refers to for one thing (two in the case of TetGen's tets), of which `file` is the one that
/// it names.
struct AssetFiles {
  std::string file, hash;
  std::vector<NamedBytes> files;  ///< by their paths
};

/// Asks for the key `hash` and finds the files `names` of that kind (relative to the scene, `file` among them), or when
/// they are gone or have changed the copies that a run has kept. Throws Error (bad input). While describing, asks and
/// finds nothing.
AssetFiles find_asset(ParamReader& in, const std::string& file, const std::vector<std::string>& names,
                      const char* kind);

/// The bytes of the files at these paths, read once more, under names of their own, for a run that must not depend on
/// them: "meshes/HASH.obj". Throws IoError when they are no longer those of the hash.
std::vector<NamedBytes> asset_copies(const std::vector<std::string>& paths, const std::string& hash);

}  // namespace tribo
