#pragma once

#include <string>
#include <vector>

namespace tribo {

/// Directories that hold `materials/` and `scenes/`, most important first: those named in the environment variable
/// TRIBO_DATA (separated by colons), the one installed beside the running program, the source tree the program was
/// built from, the install prefix. Only those that exist.
std::vector<std::string> data_directories();

/// First file called `name` (a relative path) in the data directories; empty when there is none.
std::string find_data(const std::string& name);

/// One file found by list_data.
struct DataFile {
  std::string name;  ///< path below the folder, without the extension, with forward slashes
  std::string path;
};

/// All files below the folder of that name in any data directory whose name ends in `extension`, by name. A file hides
/// those of the same name in less important directories.
std::vector<DataFile> list_data(const std::string& folder, const std::string& extension);

}  // namespace tribo
