#pragma once

#include <cstdint>
#include <streambuf>
#include <vector>

#include "tribo/io/file.h"

namespace tribo {

/// Lets a std::ostream write an AtomicFile, for libraries that want a stream; it can seek back and forth in what was
/// written. Throws IoError, which a stream passes on when its exceptions() include badbit.
class AtomicFileBuffer : public std::streambuf {
 public:
  explicit AtomicFileBuffer(AtomicFile& file) : file_(file) {}

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* data, std::streamsize size) override;
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode mode) override;
  pos_type seekpos(pos_type position, std::ios_base::openmode mode) override;
  int sync() override;

 private:
  AtomicFile& file_;
  std::vector<char> held_;   ///< not in the file yet; belongs at `begin_`
  std::uint64_t begin_ = 0;  ///< at most size_
  std::uint64_t size_ = 0;   ///< of the file so far
};

}  // namespace tribo
