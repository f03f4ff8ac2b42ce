#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tribo/core/params.h"

namespace tribo::test {

/// Answers every question with a random value in range, so that a test can make any listed shape without knowing its
/// parameters.
class RandomParams : public ParamReader {
 public:
  explicit RandomParams(unsigned seed) : random_(seed) {}

  double number(const char* key, const char*, const Range& range, const char*, std::optional<double>) override {
    const double value = in_range(range);
    if (std::string(key) == "tube") return (0.1 + 0.4 * value) * radius_;  // thinner than the ring, if never by much
    if (std::string(key) == "radius") radius_ = value;
    return value;
  }
  double in_range(const Range& range) {
    const double low = std::isfinite(range.low) ? range.low : std::isfinite(range.high) ? range.high - 2 : -1;
    const double high = std::isfinite(range.high) ? range.high : low + 2;
    return std::uniform_real_distribution<double>(low + 0.1 * (high - low), high)(random_);
  }
  std::int64_t integer(const char* key, const Range& range, const char* doc, std::optional<std::int64_t>) override {
    return static_cast<std::int64_t>(std::ceil(number(key, "1", range, doc, {})));
  }
  bool flag(const char*, const char*, bool fallback) override { return fallback; }
  std::string text(const char*, const char*, std::optional<std::string> fallback) override {
    return fallback.value_or("");
  }
  std::string choice(const char*, const std::vector<Choice>& allowed, const char*,
                     std::optional<std::string>) override {
    return allowed[random_() % allowed.size()].name;
  }
  std::vector<std::string> choices(const char*, const std::vector<Choice>&, const char*) override { return {}; }
  Vec<double, 3> vector(const char* key, const char* unit, const Range& each, const char* doc,
                        std::optional<Vec<double, 3>>) override {
    Vec<double, 3> r;
    for (int i = 0; i < 3; ++i) r[i] = number(key, unit, each, doc, {});
    return r;
  }
  std::string verbatim(const char*, const char*) override { return "{}"; }
  bool has(const char*) const override { return true; }
  bool describing() const override { return false; }
  void object(const char*, const char*, bool, const std::function<void(ParamReader&)>& read) override { read(*this); }
  bool list(const char*, const char*, bool,
            const std::function<void(ParamReader&, const std::string&)>& read) override {
    read(*this, "0");
    return true;
  }
  bool named_list(const char*, const char*, bool,
                  const std::function<void(ParamReader&, const std::string&)>& read) override {
    read(*this, "name");
    return true;
  }
  void one_of(const char*, const Alternatives& alternatives, const char*) override {
    alternatives.all[random_() % alternatives.all.size()].read(*this);
  }
  void tag(const char* key, const Alternatives& alternatives, const char* doc) override {
    one_of(key, alternatives, doc);
  }
  void complain(const char* key, const std::string& message) override {
    complaints.push_back(std::string(key) + ": " + message);
  }

  std::vector<std::string> complaints;

 private:
  std::mt19937 random_;
  double radius_ = 1;
};

}  // namespace tribo::test
