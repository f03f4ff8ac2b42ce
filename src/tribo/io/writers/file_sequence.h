#pragma once

#include <string>
#include <vector>

namespace tribo {

/// Files NAME_000012.EXT, or NAME_PART_000012.EXT, in one directory, one a frame. One sequence does not take files of
/// another for its own when their parts differ.
class FileSequence {
 public:
  /// `name` may hold anything; `extension` is with its dot. Nothing is made on disk.
  FileSequence(std::string directory, const std::string& name, std::string extension, const std::string& part = "");

  const std::string& directory() const { return directory_; }
  const std::string& stem() const { return name_; }  ///< NAME or NAME_PART, fit for a file name
  std::string file_name(int frame) const;            ///< without the directory
  /// Where the file of that frame goes; makes the directory when it is not there. Throws IoError.
  std::string path_to_write(int frame) const;
  /// Numbers of the frames there are, ascending. Throws IoError.
  std::vector<int> frames() const;
  /// Removes the file of that frame when there is one. Throws IoError.
  void remove(int frame) const;
  /// Removes the files of later frames, and what a killed process has left half-written. Throws IoError.
  void remove_after(int frame) const;

 private:
  int number_of(const std::string& file_name) const;  ///< -1 when it is not one of the sequence

  std::string directory_;
  std::string name_;
  std::string extension_;
};

}  // namespace tribo
