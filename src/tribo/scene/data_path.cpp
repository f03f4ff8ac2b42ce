#include "tribo/scene/data_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace tribo {
namespace fs = std::filesystem;
namespace {

std::string executable_data() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.empty() ? "" : (program.parent_path().parent_path() / "share" / "tribo").string();
}

}  // namespace

std::vector<std::string> data_directories() {
  std::vector<std::string> candidates;
  if (const char* list = std::getenv("TRIBO_DATA")) {
    const std::string text = list;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      candidates.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  candidates.push_back(executable_data());
#ifdef TRIBO_SOURCE_DIR
  candidates.push_back(TRIBO_SOURCE_DIR);
#endif
#ifdef TRIBO_INSTALL_DATADIR
  candidates.push_back(TRIBO_INSTALL_DATADIR);
#endif

  std::vector<std::string> directories;
  for (const std::string& candidate : candidates) {
    std::error_code ignored;
    const bool known = std::find(directories.begin(), directories.end(), candidate) != directories.end();
    if (!candidate.empty() && !known && fs::is_directory(candidate, ignored)) directories.push_back(candidate);
  }
  return directories;
}

std::string find_data(const std::string& name) {
  for (const std::string& directory : data_directories()) {
    std::error_code ignored;
    const fs::path path = fs::path(directory) / name;
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return "";
}

std::vector<DataFile> list_data(const std::string& folder, const std::string& extension) {
  std::map<std::string, std::string> found;
  for (const std::string& directory : data_directories()) {
    const fs::path top = fs::path(directory) / folder;
    std::error_code error;
    fs::recursive_directory_iterator entry(top, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      if (entry->path().extension() != extension || !entry->is_regular_file(ignored)) continue;
      fs::path name = entry->path().lexically_relative(top);
      found.emplace(name.replace_extension().generic_string(), entry->path().string());
    }
  }
  std::vector<DataFile> files;
  for (const auto& [name, path] : found) files.push_back({name, path});
  return files;
}

}  // namespace tribo
