#include "tribo/io/writers/usd_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

namespace tribo {

UsdFile& UsdFile::operator<<(std::string_view text) {
  while (!text.empty()) {
    reserve(1);
    const std::size_t size = std::min(text.size(), block_size - used_);
    std::memcpy(begin(), text.data(), size);
    used_ += size;
    text.remove_prefix(size);
  }
  return *this;
}

template <class T>
UsdFile& UsdFile::put_float(T value) {
  if (std::isnan(value)) return *this << std::string_view("nan");  // which has no sign in USD
  reserve(longest_number);
  end_at(std::to_chars(begin(), begin() + longest_number, value).ptr);
  return *this;
}
template UsdFile& UsdFile::put_float(float);
template UsdFile& UsdFile::put_float(double);

void UsdFile::flush() {
  file_.write(std::as_bytes(std::span(block_.data(), used_)));
  used_ = 0;
}

void UsdFile::commit() {
  flush();
  file_.commit();
}

std::string as_usd_identifier(const std::string& name, const std::string& if_nothing_is_left) {
  const auto is_plain = [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; };
  if (std::none_of(name.begin(), name.end(), is_plain)) return if_nothing_is_left;
  std::string identifier;
  for (const char c : name) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // later bytes of a character of UTF-8
    identifier += is_plain(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (std::isdigit(static_cast<unsigned char>(identifier.front())) != 0) identifier.insert(0, 1, '_');
  return identifier;
}

std::string not_taken(const std::string& identifier, const std::vector<std::string>& taken) {
  const auto is_taken = [&](const std::string& one) {
    return std::find(taken.begin(), taken.end(), one) != taken.end();
  };
  std::string candidate = identifier;
  for (int number = 2; is_taken(candidate); ++number) candidate = fmt::format("{}_{}", identifier, number);
  return candidate;
}

std::string usd_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (code < 0x20 || code == 0x7f || c == '[' || c == ']') {
      // Three octal digits are never taken together with what follows. Brackets are meant for simple readers, which
      // count them to find the end of an array.
      quoted += fmt::format("\\{:03o}", code);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string usd_asset(const std::string& file_name) { return "@./" + file_name + "@"; }

}  // namespace tribo
