#include "tribo/io/writers/file_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tribo/io/file.h"

namespace tribo {
namespace {

/// Names of the files in a directory; none when it does not exist.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return names;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) throw io_error("read", directory, error.value());
  return names;
}

/// Removes the file when it is there.
void remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw io_error("remove", path, error.value());
}

}  // namespace

FileSequence::FileSequence(std::string directory, const std::string& name, std::string extension,
                           const std::string& part)
    : directory_(std::move(directory)), name_(as_file_name(name, "frame")), extension_(std::move(extension)) {
  if (!part.empty()) name_ += "_" + part;
}

std::string FileSequence::file_name(int frame) const { return fmt::format("{}_{:06}{}", name_, frame, extension_); }

std::string FileSequence::path_to_write(int frame) const {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) throw io_error("create", directory_, error.value());
  return directory_ + "/" + file_name(frame);
}

int FileSequence::number_of(const std::string& name) const {
  if (!name.starts_with(name_ + "_")) return -1;
  int number = -1;
  std::from_chars(name.data() + name_.size() + 1, name.data() + name.size(), number);
  return number >= 0 && name == file_name(number) ? number : -1;
}

std::vector<int> FileSequence::frames() const {
  std::vector<int> numbers;
  for (const std::string& name : names_in(directory_))
    if (const int number = number_of(name); number >= 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void FileSequence::remove(int frame) const { remove_file(directory_ + "/" + file_name(frame)); }

void FileSequence::remove_after(int frame) const {
  for (const std::string& name : names_in(directory_))
    if (is_temporary_name(name) || number_of(name) > frame) remove_file(directory_ + "/" + name);
}

}  // namespace tribo
