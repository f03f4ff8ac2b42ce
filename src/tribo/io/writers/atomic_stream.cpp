#include "tribo/io/writers/atomic_stream.h"

#include <algorithm>

namespace tribo {
namespace {

constexpr std::size_t buffer_size = 1 << 18;

}  // namespace

std::streambuf::int_type AtomicFileBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  xsputn(&one, 1);
  return c;
}

std::streamsize AtomicFileBuffer::xsputn(const char* data, std::streamsize size) {
  held_.insert(held_.end(), data, data + size);
  if (held_.size() >= buffer_size) sync();
  return size;
}

std::streambuf::pos_type AtomicFileBuffer::seekoff(off_type offset, std::ios_base::seekdir from,
                                                   std::ios_base::openmode mode) {
  const auto here = static_cast<off_type>(begin_ + held_.size());
  if (from == std::ios_base::cur && offset == 0) return here;  // tellp
  const auto end = std::max(here, static_cast<off_type>(size_));
  return seekpos(offset + (from == std::ios_base::beg ? 0 : from == std::ios_base::cur ? here : end), mode);
}

std::streambuf::pos_type AtomicFileBuffer::seekpos(pos_type position, std::ios_base::openmode mode) {
  sync();
  const off_type offset = position;
  if ((mode & std::ios_base::out) == 0 || offset < 0 || static_cast<std::uint64_t>(offset) > size_) return off_type(-1);
  begin_ = static_cast<std::uint64_t>(offset);
  return position;
}

int AtomicFileBuffer::sync() {
  std::span<const std::byte> bytes = std::as_bytes(std::span(held_));
  const std::span<const std::byte> inside = bytes.first(std::min<std::uint64_t>(bytes.size(), size_ - begin_));
  if (!inside.empty()) file_.write_at(begin_, inside);
  const std::span<const std::byte> beyond = bytes.subspan(inside.size());
  if (!beyond.empty()) file_.write(beyond);
  begin_ += bytes.size();
  size_ = std::max(size_, begin_);
  held_.clear();
  return 0;
}

}  // namespace tribo
