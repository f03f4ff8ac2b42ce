#include "tribo/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tribo {
namespace {

constexpr const char* temporary_suffix = ".tribo-tmp";

/// What is read lies where it lies; what is written may go elsewhere.
const char* reading_remedy(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return "no permission: change the permissions";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit shown by ulimit -n";
    case EIO:
      return "the disk or its connection fails: check it";
    default:
      return "check the path";
  }
}

const char* remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "disk full: free space or choose another directory with -o";
    case EACCES:
    case EPERM:
      return "no permission: change the permissions or choose another directory with -o";
    case EROFS:
      return "choose another directory with -o";
    case ENOTDIR:
    case EEXIST:
      return "a file stands where a directory is needed: move it away or choose another directory with -o";
    case EISDIR:
      return "a directory stands where a file is needed: move it away or choose another directory with -o";
    case ENOENT:
      return "check the path";
    case EFBIG:
      return "too large for this file system or for the limit shown by ulimit -f: choose another directory with -o";
    case ENAMETOOLONG:
      return "choose a shorter path";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit shown by ulimit -n";
    case EIO:
      return "the disk or its connection fails: check it, or choose another directory with -o";
    default:
      return "check the path and the disk, or choose another directory with -o";
  }
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Writes all of `bytes` or gives the errno that stopped it; `offset` < 0 means at the file's own position.
int write_all(int fd, std::span<const std::byte> bytes, off_t offset = -1) {
  while (!bytes.empty()) {
    const ssize_t n =
        offset < 0 ? ::write(fd, bytes.data(), bytes.size()) : ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (n == 0) return ENOSPC;  // regular files never take nothing without a reason; do not spin on one that does
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    if (offset >= 0) offset += n;
  }
  return 0;
}

/// close() may be where a network file system first reports a full disk. EINTR still closes on Linux.
int close_checked(FileDescriptor& file) { return ::close(file.release()) != 0 && errno != EINTR ? errno : 0; }

/// A rename survives a power cut only once the directory is on disk too.
void sync_directory(const std::string& directory) {
  const FileDescriptor dir(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) throw io_error("open", directory, errno);
  // Some file systems cannot sync a directory and say EINVAL: they offer nothing better, so that is no failure.
  if (::fsync(dir.get()) != 0 && errno != EINVAL && errno != ENOTSUP) throw io_error("write", directory, errno);
}

}  // namespace

IoError io_error(const std::string& action, const std::string& path, int error_number) {
  return IoError("cannot " + action + " " + path + ": " + std::generic_category().message(error_number) + " (" +
                 (action == "read" ? reading_remedy(error_number) : remedy(error_number)) + ")");
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() { return std::exchange(fd_, -1); }

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(release());
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> serial{0};
  const std::string name = std::filesystem::path(path_).filename().string();
  // The process id keeps processes apart, the serial number threads. A name taken by a process that died with the same
  // id is stepped over.
  for (int attempt = 0; attempt < 100 && !file_; ++attempt) {
    temporary_ = directory_of(path_) + "/." + name + "." + std::to_string(::getpid()) + "." +
                 std::to_string(serial.fetch_add(1)) + temporary_suffix;
    file_ = FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file_ && errno != EEXIST && errno != EINTR) break;
  }
  if (!file_) throw io_error("write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  file_.reset();
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (const int error = write_all(file_.get(), bytes)) throw io_error("write", path_, error);
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int error = write_all(file_.get(), bytes, static_cast<off_t>(offset))) {
    throw io_error("write", path_, error);
  }
}

void AtomicFile::commit() {
  if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != ENOTSUP) throw io_error("write", path_, errno);
  if (const int error = close_checked(file_)) throw io_error("write", path_, error);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw io_error("write", path_, errno);
  temporary_.clear();
  sync_directory(directory_of(path_));
}

bool is_temporary_name(const std::string& file_name) {
  return file_name.starts_with('.') && file_name.ends_with(temporary_suffix);
}

std::string as_file_name(const std::string& name, const std::string& if_empty) {
  std::size_t size = std::min<std::size_t>(name.size(), 100);
  // Not in the middle of a character of UTF-8, whose later bytes are 10xxxxxx.
  while (size > 0 && size < name.size() && (static_cast<unsigned char>(name[size]) & 0xc0) == 0x80) --size;
  std::string safe = name.substr(0, size);
  std::replace_if(
      safe.begin(), safe.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-' && c != '.' && c < 0x80; }, '_');
  if (safe.empty()) return if_empty;
  if (safe.front() == '.') safe.front() = '_';
  return safe;
}

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string read_text(const std::string& path) {
  std::uint64_t size = 0;
  const FileDescriptor file = open_for_reading(path, size);
  std::string text(size, '\0');
  read_at(file, path, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

void append_line(const std::string& path, const std::string& line) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw io_error("write", path, errno);
  const std::string text = line + '\n';
  if (const int error = write_all(file.get(), std::as_bytes(std::span(text)))) {
    // What the write managed to store would be a half line; if even shortening fails, readers drop it anyway.
    if (S_ISREG(status.st_mode) && ::ftruncate(file.get(), status.st_size) != 0) throw io_error("shorten", path, errno);
    throw io_error("write", path, error);
  }
  if (const int error = close_checked(file)) throw io_error("write", path, error);
}

FileDescriptor open_for_reading(const std::string& path, std::uint64_t& size) {
  // Without O_NONBLOCK the opening of a named pipe would wait for a writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw io_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) throw IoError("cannot read " + path + ": not a regular file (check the path)");
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

void read_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw io_error("read", path, errno);
    }
    if (n == 0) throw IoError("cannot read " + path + ": it became shorter while being read (try again)");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

}  // namespace tribo
