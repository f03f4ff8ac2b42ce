#include "tribo/mesh/inflate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tribo {
namespace {

constexpr int longest_code = 15;  // bits

/// A prefix code: for the next 15 bits of the stream, lowest first, the symbol and how many of the bits are its.
class PrefixCode {
 public:
  /// False when there are more codes of some length than fit.
  bool set(const std::vector<std::uint8_t>& lengths) {
    std::array<std::uint32_t, longest_code + 1> count{}, next{};
    for (const std::uint8_t length : lengths) ++count[length];
    std::uint32_t code = 0, taken = 0;
    for (std::size_t length = 1; length <= longest_code; ++length) {
      next[length] = code = (code + (length > 1 ? count[length - 1] : 0)) << 1;
      taken += count[length] << (longest_code - length);
    }
    if (taken > 1u << longest_code) return false;
    entries_.assign(std::size_t(1) << longest_code, 0);
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const std::uint32_t length = lengths[symbol];
      if (length == 0) continue;
      const std::uint32_t own = next[length]++;
      std::uint32_t reversed = 0;
      for (std::uint32_t bit = 0; bit < length; ++bit) reversed |= (own >> bit & 1) << (length - 1 - bit);
      for (std::size_t i = reversed; i < entries_.size(); i += std::size_t(1) << length)
        entries_[i] = static_cast<std::uint16_t>(symbol << 4 | length);
    }
    return true;
  }
  int length(std::uint32_t bits) const { return entries_[bits] & 15; }  ///< 0: no code begins like this
  int symbol(std::uint32_t bits) const { return entries_[bits] >> 4; }

 private:
  std::vector<std::uint16_t> entries_;
};

class Inflater {
 public:
  Inflater(std::string_view in, std::size_t size) : in_(in), size_(size) {}

  bool run() {
    constexpr std::size_t best_ratio = 1032;  // 258 bytes for two bits
    if (in_.size() < 6 || size_ / best_ratio > in_.size()) return false;
    const std::uint32_t header = byte(0) << 8 | byte(1);
    constexpr std::uint32_t deflate = 8, dictionary = 0x20;
    if ((header >> 8 & 15) != deflate || header % 31 != 0 || (header & dictionary) != 0) return false;
    at_ = 2;
    out_.reserve(size_);
    bool last = false;
    while (!last && ok_) {
      last = bits(1) == 1;
      const std::uint32_t kind = bits(2);
      if (kind == 0) {
        stored();
      } else if (kind == 1 || kind == 2) {
        ok_ = ok_ && (kind == 1 ? fixed_codes() : own_codes());
        if (ok_) coded();
      } else {
        ok_ = false;
      }
    }
    to_whole_bytes();
    std::uint32_t sum = 0;
    for (int k = 0; k < 4; ++k) sum = sum << 8 | whole_byte();
    return ok_ && out_.size() == size_ && sum == checksum();
  }
  std::string take() { return std::move(out_); }

 private:
  std::uint32_t byte(std::size_t i) const { return static_cast<unsigned char>(in_[i]); }
  /// The next bits without taking them; zeros after the end.
  std::uint32_t peek(int count) {
    while (held_ < count && at_ < in_.size()) {
      window_ |= byte(at_++) << held_;
      held_ += 8;
    }
    return window_ & ((1u << count) - 1);
  }
  std::uint32_t bits(int count) {
    const std::uint32_t value = peek(count);
    drop(count);
    return value;
  }
  void drop(int count) {
    ok_ = ok_ && held_ >= count;
    held_ -= std::min(count, held_);
    window_ >>= count;
  }
  /// Drops the rest of a byte; whole ones that were looked at already go back.
  void to_whole_bytes() {
    at_ -= static_cast<std::size_t>(held_ / 8);
    held_ = 0;
    window_ = 0;
  }
  std::uint32_t whole_byte() {
    ok_ = ok_ && at_ < in_.size();
    return ok_ ? byte(at_++) : 0;
  }
  int symbol(const PrefixCode& code) {
    const std::uint32_t next = peek(longest_code);
    const int length = code.length(next);
    ok_ = ok_ && length > 0;
    drop(length);
    return code.symbol(next);
  }
  void put(char c) {
    ok_ = ok_ && out_.size() < size_;
    if (ok_) out_ += c;
  }

  void stored() {
    to_whole_bytes();
    std::uint32_t length = whole_byte();
    length |= whole_byte() << 8;
    std::uint32_t inverse = whole_byte();
    inverse |= whole_byte() << 8;
    ok_ = ok_ && (length ^ inverse) == 0xffff;
    for (std::uint32_t i = 0; i < length && ok_; ++i) put(static_cast<char>(whole_byte()));
  }
  bool fixed_codes() {
    std::vector<std::uint8_t> lengths(288, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, 9);
    std::fill(lengths.begin() + 256, lengths.begin() + 280, 7);
    return literals_.set(lengths) && distances_.set(std::vector<std::uint8_t>(30, 5));
  }
  /// The lengths of both codes' symbols come coded themselves.
  bool own_codes() {
    const std::size_t literals = bits(5) + 257, distances = bits(5) + 1, count = bits(4) + 4;
    constexpr std::size_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    std::vector<std::uint8_t> lengths(19, 0);
    for (std::size_t i = 0; i < count; ++i) lengths[order[i]] = static_cast<std::uint8_t>(bits(3));
    PrefixCode code;
    if (!code.set(lengths)) return false;
    lengths.clear();
    while (lengths.size() < literals + distances && ok_) {
      const int s = symbol(code);
      if (s < 16) {
        lengths.push_back(static_cast<std::uint8_t>(s));
        continue;
      }
      if (s == 16 && lengths.empty()) return false;
      const std::uint8_t value = s == 16 ? lengths.back() : std::uint8_t(0);
      const std::size_t times = s == 16 ? 3 + bits(2) : s == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), times, value);
    }
    if (!ok_ || lengths.size() != literals + distances || literals > 286) return false;
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(literals);
    return literals_.set({lengths.begin(), middle}) && distances_.set({middle, lengths.end()});
  }
  void coded() {
    constexpr int end_of_block = 256;
    while (ok_) {
      const int s = symbol(literals_);
      if (!ok_ || s == end_of_block) return;
      if (s < end_of_block) {
        put(static_cast<char>(s));
        continue;
      }
      const std::size_t length = s == 285 ? 258 : extended(s - 257, 3, 8, 4);
      const std::size_t distance = extended(symbol(distances_), 1, 4, 2);
      ok_ = ok_ && s <= 285 && distance <= out_.size();
      for (std::size_t i = 0; i < length && ok_; ++i) put(out_[out_.size() - distance]);
    }
  }
  /// Symbols stand for ranges that begin where the one before ends: the first `single` hold one number each, then
  /// every `each` of them hold twice as many as the ones before.
  std::size_t extended(int symbol, std::size_t first, int single, int each) {
    std::size_t base = first;
    int extra = 0;
    for (int s = 0; s <= symbol; ++s) {
      if (s > 0) base += std::size_t(1) << extra;
      extra = s < single ? 0 : (s - single) / each + 1;
    }
    return base + bits(extra);
  }
  std::uint32_t checksum() const {  // Adler 32
    std::uint32_t a = 1, b = 0;
    for (const char c : out_) {
      a = (a + static_cast<unsigned char>(c)) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  std::string_view in_;
  std::size_t size_, at_ = 0;
  std::uint32_t window_ = 0;
  int held_ = 0;  ///< bits in the window
  bool ok_ = true;
  PrefixCode literals_, distances_;
  std::string out_;
};

}  // namespace

std::optional<std::string> inflate(std::string_view stream, std::size_t size) {
  Inflater inflater(stream, size);
  if (!inflater.run()) return {};
  return inflater.take();
}

}  // namespace tribo
