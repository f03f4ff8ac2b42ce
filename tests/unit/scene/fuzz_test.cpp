#include <gtest/gtest.h>

#include <random>
#include <string>

#include "example_scene.h"
#include "tribo/core/errors.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

/// A few random edits: bytes changed, removed, repeated, tokens put in, the end cut off.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return n == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  static const std::string tokens[] = {"{",     "}",    "[",  "]",           ",",     ":",    "\"",   "-",
                                       "1e999", "null", "//", "/*",          "\\u",   "0",    "true", "\xFF",
                                       "-1",    "{}",   "[]", "\"preset\":", "1e308", "\"\"", "2"};
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      case 3:
        text.insert(at, tokens[below(std::size(tokens))]);
        break;
      case 4:
        if (!text.empty()) text.replace(at, 1, tokens[below(std::size(tokens))]);
        break;
      case 5:
        if (below(4) == 0) text.resize(at);
        break;
    }
  }
  return text;
}

TEST(Fuzz, DamagedScenesAreReadOrRefused) {
  std::mt19937 random(1);
  const std::string good = parse_scene(test::example_scene, "x.json").resolved_json;
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = damaged(i % 2 == 0 ? test::example_scene : good, random);
    SCOPED_TRACE(text);
    try {
      const Scene scene = parse_scene(text, "x.json");
      ++accepted;
      ASSERT_EQ(parse_scene(scene.resolved_json, "y.json").resolved_json, scene.resolved_json);
    } catch (const SceneError& error) {
      ASSERT_FALSE(error.findings().empty());
    }
  }
  EXPECT_GT(accepted, 50);  // else the damage is too great to test anything but syntax
}

TEST(Fuzz, EveryTruncationIsRefused) {
  const std::string good = test::example_scene;
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_THROW(parse_scene(good.substr(0, n), "x.json"), SceneError) << n;
}

TEST(Fuzz, JsonAgreesWithTheReferenceParser) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = damaged(test::example_scene, random);
    SCOPED_TRACE(text);
    const Json reference = Json::parse(text, nullptr, false, true);
    try {
      const Document document = parse_json(text, "");
      if (document.findings.empty()) {
        ASSERT_EQ(document.root, reference);
      }
    } catch (const SceneError&) {
      // What nlohmann lets pass and we do not: bad bytes in comments, and everything behind a zero byte.
      const bool stricter = find_invalid_utf8(text) != std::string::npos || text.find('\0') != std::string::npos;
      ASSERT_TRUE(reference.is_discarded() || stricter);
    }
  }
}

TEST(Fuzz, OddOverridesAreReadOrRefused) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const std::string text = "/" + damaged("objects/0/shape/box/1=[0.5, {\"a\": 1}]", random);
    SCOPED_TRACE(text);
    try {
      parse_scene(test::example_scene, "x.json", {parse_override(text)});
    } catch (const SceneError& error) {
      ASSERT_FALSE(error.findings().empty());
    }
  }
}

}  // namespace
}  // namespace tribo
