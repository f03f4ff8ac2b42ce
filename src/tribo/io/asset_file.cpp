#include "tribo/io/asset_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "tribo/core/errors.h"
#include "tribo/io/file.h"

namespace tribo {
namespace fs = std::filesystem;
namespace {

constexpr const char* hash_doc =
    "of the file's bytes, written into scene.json by a run, which keeps a copy of the file in its folder `meshes`; "
    "a file that has changed since is refused";

std::string hash_of(const std::vector<NamedBytes>& files) {
  std::string all;
  for (const NamedBytes& file : files) all += file.bytes;
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

std::string stored_name_of(const std::string& hash, const std::string& file) {
  return "meshes/" + hash + fs::path(file).extension().string();
}

/// Nothing when one of them is not there.
std::optional<std::vector<NamedBytes>> bytes_of(const std::vector<std::string>& paths) {
  std::vector<NamedBytes> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {};
    files.push_back({path, read_text(path)});
  }
  return files;
}

}  // namespace

AssetFiles find_asset(ParamReader& in, const std::string& file, const std::vector<std::string>& names,
                      const char* kind) {
  if (in.describing()) return {file, in.text("hash", hash_doc, ""), {}};
  if (file.empty())
    throw Error(ExitCode::bad_input, fmt::format("expected the name of a {} file, got an empty text", kind));
  const fs::path directory = in.directory();
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back((directory / name).string());
  std::optional<std::vector<NamedBytes>> files = bytes_of(paths);
  const std::string hash = in.text("hash", hash_doc, files ? hash_of(*files) : "");
  if ((!files || hash_of(*files) != hash) && !hash.empty()) {
    // Only plain names: the hash is text from the scene.
    const bool plain = std::all_of(hash.begin(), hash.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    std::vector<std::string> kept;
    for (const std::string& path : paths) kept.push_back((directory / stored_name_of(hash, path)).string());
    std::optional<std::vector<NamedBytes>> copies = plain ? bytes_of(kept) : std::nullopt;
    if (copies && hash_of(*copies) == hash) {
      files = std::move(copies);
    } else if (files) {
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: has changed since the scene was written: its hash is {}, not {}; restore the file, "
                              "or remove the key `hash`",
                              paths[0], hash_of(*files), hash));
    }
  }
  for (const std::string& path : paths)
    if (!files && !bytes_of({path})) throw Error(ExitCode::bad_input, fmt::format("{}: there is no such file", path));
  return {file, hash, std::move(*files)};
}

std::vector<NamedBytes> asset_copies(const std::vector<std::string>& paths, const std::string& hash) {
  std::vector<NamedBytes> files;
  for (const std::string& path : paths) files.push_back({stored_name_of(hash, path), read_text(path)});
  if (hash_of(files) != hash) throw IoError(paths[0] + ": has changed since it was read; start again");
  return files;
}

}  // namespace tribo
