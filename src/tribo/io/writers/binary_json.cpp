#include "tribo/io/writers/binary_json.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace tribo {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::size_t buffer_size = 1 << 16;

// What follows, by its first byte.
constexpr unsigned id_magic = 0x7f;
constexpr unsigned id_array_begin = 0x5b, id_array_end = 0x5d, id_map_begin = 0x7b, id_map_end = 0x7d;
constexpr unsigned id_int8 = 0x11, id_int16 = 0x12, id_int32 = 0x13, id_int64 = 0x14;
constexpr unsigned id_real32 = 0x19, id_real64 = 0x1a;
constexpr unsigned id_word_reference = 0x26, id_string = 0x27, id_word_definition = 0x2b;
constexpr unsigned id_false = 0x30, id_true = 0x31;
constexpr unsigned id_uniform_array = 0x40;

template <class T>
constexpr unsigned id_of() {
  if (std::is_same_v<T, std::int8_t>) return id_int8;
  if (std::is_same_v<T, std::int16_t>) return id_int16;
  if (std::is_same_v<T, std::int32_t>) return id_int32;
  if (std::is_same_v<T, std::int64_t>) return id_int64;
  return std::is_same_v<T, float> ? id_real32 : id_real64;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

BinaryJson::BinaryJson(AtomicFile& file) : file_(file) {
  byte(id_magic);
  bytes(std::as_bytes(std::span("NSJb", 4)));  // a reader of the other byte order sees the word reversed
}

void BinaryJson::begin_array() { byte(id_array_begin); }
void BinaryJson::end_array() { byte(id_array_end); }
void BinaryJson::begin_map() { byte(id_map_begin); }
void BinaryJson::end_map() { byte(id_map_end); }

void BinaryJson::word(const std::string& word) {
  const auto [known, is_new] = words_.try_emplace(word, words_.size());
  if (is_new) {
    byte(id_word_definition);
    length(known->second);
    length(word.size());
    bytes(std::as_bytes(std::span(word)));
  }
  byte(id_word_reference);
  length(known->second);
}

void BinaryJson::text(std::string_view text) {
  byte(id_string);
  length(text.size());
  bytes(std::as_bytes(std::span(text)));
}

void BinaryJson::integer(std::int64_t value) {
  const auto put = [&]<class T>(T narrow) {
    byte(id_of<T>());
    bytes(bytes_of(narrow));
  };
  if (std::in_range<std::int8_t>(value)) {
    put(static_cast<std::int8_t>(value));
  } else if (std::in_range<std::int16_t>(value)) {
    put(static_cast<std::int16_t>(value));
  } else if (std::in_range<std::int32_t>(value)) {
    put(static_cast<std::int32_t>(value));
  } else {
    put(value);
  }
}

void BinaryJson::real(double value) {
  byte(id_real64);
  bytes(bytes_of(value));
}

void BinaryJson::boolean(bool value) { byte(value ? id_true : id_false); }

template <class T>
void BinaryJson::begin_numbers(std::uint64_t count) {
  byte(id_uniform_array);
  byte(id_of<T>());
  length(count);
}
template void BinaryJson::begin_numbers<float>(std::uint64_t);
template void BinaryJson::begin_numbers<double>(std::uint64_t);
template void BinaryJson::begin_numbers<std::int32_t>(std::uint64_t);
template void BinaryJson::begin_numbers<std::int64_t>(std::uint64_t);

void BinaryJson::byte(unsigned value) {
  const std::byte one{static_cast<unsigned char>(value)};
  bytes({&one, 1});
}

/// One byte below 0xf1; otherwise a byte that tells how many follow.
void BinaryJson::length(std::uint64_t value) {
  if (value < 0xf1) {
    byte(static_cast<unsigned>(value));
  } else if (value <= 0xffff) {
    byte(0xf2);
    bytes(bytes_of(static_cast<std::uint16_t>(value)));
  } else if (value <= 0xffffffff) {
    byte(0xf4);
    bytes(bytes_of(static_cast<std::uint32_t>(value)));
  } else {
    byte(0xf8);
    bytes(bytes_of(value));
  }
}

void BinaryJson::bytes(std::span<const std::byte> data) {
  if (buffer_.size() + data.size() > buffer_size) flush();
  if (data.size() >= buffer_size) {
    file_.write(data);
  } else {
    buffer_.insert(buffer_.end(), data.begin(), data.end());
  }
}

void BinaryJson::flush() {
  if (!buffer_.empty()) file_.write(buffer_);
  buffer_.clear();
}

}  // namespace tribo
