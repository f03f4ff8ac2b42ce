#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tribo/io/file.h"

namespace tribo {

/// An AtomicFile for many small pieces: they are gathered in a buffer of fixed size.
class BufferedFile {
 public:
  explicit BufferedFile(std::string path) : file_(std::move(path)), buffer_(1 << 18) {}

  /// Room for the next `size` bytes (some, not thousands), zeros; fill it in before the next call. Throws IoError.
  std::byte* append(std::size_t size) {
    if (used_ + size > buffer_.size()) flush();
    std::byte* place = buffer_.data() + used_;
    std::memset(place, 0, size);
    used_ += size;
    return place;
  }
  template <class T>
  void put(T value) {
    std::memcpy(append(sizeof value), &value, sizeof value);
  }
  void write(std::span<const std::byte> bytes) {  ///< any number of them
    flush();
    file_.write(bytes);
  }
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(std::span(buffer_).first(used_));
    used_ = 0;
  }

  AtomicFile file_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

}  // namespace tribo
