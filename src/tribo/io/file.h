#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tribo/core/errors.h"

namespace tribo {

/// "cannot ACTION PATH: CAUSE (REMEDY)", the cause and remedy from a value of `errno`.
IoError io_error(const std::string& action, const std::string& path, int error_number);

/// Owns a POSIX file descriptor. -1 is "none".
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_;
};

/// A file that appears whole or not at all: bytes go to a temporary beside `path`; `commit` flushes it to disk and
/// renames it. Destroyed without a commit, it removes the temporary and leaves `path` as it was.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);                           ///< appends; throws IoError
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);  ///< fills in bytes already written
  void commit();                                                          ///< throws IoError; the file is final after

 private:
  std::string path_;
  std::string temporary_;  ///< empty once renamed
  FileDescriptor file_;
};

/// Whether `file_name` (no directory) is one that AtomicFile gives to temporaries: what a killed process leaves behind.
bool is_temporary_name(const std::string& file_name);

/// A name that any file system takes as that of one file: no separators, not hidden, not too long; never empty.
std::string as_file_name(const std::string& name, const std::string& if_empty);

void write_text(const std::string& path, const std::string& text);  ///< atomically
std::string read_text(const std::string& path);

/// Appends `line` and a newline by a single write, so that lines of concurrent writers do not mix. When the disk is
/// full the file keeps its former length: no half line stays.
void append_line(const std::string& path, const std::string& line);

/// Opens a regular file for reading and gives its length; anything else (a directory, a pipe) is an IoError.
FileDescriptor open_for_reading(const std::string& path, std::uint64_t& size);

/// Fills `bytes` from `offset`; a file that ends before is an IoError.
void read_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace tribo
