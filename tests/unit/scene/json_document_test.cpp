#include "tribo/scene/json_document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tribo {
namespace {

std::string value_at(const Document& document, const std::string& pointer) {
  const Place place = document.places.value(pointer);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string key_at(const Document& document, const std::string& pointer) {
  const Place place = document.places.key(pointer);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

TEST(JsonDocument, KnowsWhereThingsAre) {
  const Document document = parse_json(
      "\xEF\xBB\xBF// comment\n"
      "{ \"a\": 1, \"b\" : [ 10,\t20,\n"
      "  {\"c/d~\": \"\xC3\xA9\", \"e\": /* here */ null} ] }",
      "f.json");
  EXPECT_EQ(value_at(document, ""), "2:1");
  EXPECT_EQ(key_at(document, "/a"), "2:3");
  EXPECT_EQ(value_at(document, "/a"), "2:8");
  EXPECT_EQ(key_at(document, "/b"), "2:11");
  EXPECT_EQ(value_at(document, "/b"), "2:17");
  EXPECT_EQ(value_at(document, "/b/0"), "2:19");
  EXPECT_EQ(value_at(document, "/b/1"), "2:23");
  EXPECT_EQ(value_at(document, "/b/2"), "3:3");
  EXPECT_EQ(key_at(document, "/b/2/c~1d~0"), "3:4");
  EXPECT_EQ(value_at(document, "/b/2/c~1d~0"), "3:12");
  EXPECT_EQ(key_at(document, "/b/2/e"), "3:17");  // columns count characters, not bytes
  EXPECT_EQ(value_at(document, "/b/2/e"), "3:33");
  EXPECT_EQ(value_at(document, "/b/2/missing/deep"), "3:3");
  EXPECT_EQ(document.root["b"][2]["c/d~"], "\xC3\xA9");
  EXPECT_EQ(document.places.value("/a").file, "f.json");
}

TEST(JsonDocument, PlacesCanBeReplaced) {
  Document document = parse_json(R"({"a": {"b": 1}, "a0": 2, "a.": 3})", "f.json");
  document.places.replace("/a", {"--set", 0, 0});
  EXPECT_EQ(document.places.value("/a/b").file, "--set");
  EXPECT_EQ(document.places.value("/a0").file, "f.json");
  EXPECT_EQ(document.places.value("/a.").file, "f.json");
}

TEST(JsonDocument, ReportsDuplicatesAndOverflowAndReadsOn) {
  const Document document = parse_json("{\"a\": 1,\n \"a\": {\"x\": 1e999},\n \"b\": -1e999, \"c\": 1e-999}", "f.json");
  ASSERT_EQ(document.findings.size(), 2u);
  EXPECT_EQ(document.findings[0].text(), "f.json:2:2  /a: duplicate key; it stands already in line 1");
  EXPECT_EQ(document.findings[1].text(), "f.json:3:7  /b: the number -1e999 is too large");
  EXPECT_EQ(document.root["a"], 1);
  EXPECT_TRUE(std::isnan(document.root["b"].get<double>()));
  EXPECT_EQ(document.root["c"], 0.0);
}

TEST(JsonDocument, DepthHasALimit) {
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  EXPECT_NO_THROW(parse_json(nested(max_json_depth), ""));
  EXPECT_THROW(parse_json(nested(max_json_depth + 1), ""), SceneError);
  EXPECT_THROW(parse_json(std::string(1000000, '['), ""), SceneError);
}

/// Whatever JSON says of a text, we say too.
TEST(JsonDocument, AgreesWithTheReferenceParser) {
  const char* texts[] = {"1",
                         "-0",
                         "-0.0",
                         "0.5e-3",
                         "1E5",
                         "01",
                         "1.",
                         ".5",
                         "-",
                         "1e",
                         "1e+",
                         "+1",
                         "0x1",
                         "1.5.2",
                         "--1",
                         "1-1",
                         "tru",
                         "true",
                         "false",
                         "null",
                         "nul",
                         "NaN",
                         "[]",
                         "[1]",
                         "[1,]",
                         "[,]",
                         "[1 2]",
                         "[",
                         "]",
                         "{",
                         "}",
                         "{}",
                         "{\"a\"}",
                         "{\"a\":}",
                         "{\"a\":1}",
                         "{\"a\":1,}",
                         "{,}",
                         "{\"a\":1 \"b\":2}",
                         "{1:2}",
                         "\"\"",
                         "\"a",
                         "\"\\n\\t\\\"\\\\\\/\"",
                         "\"\\x\"",
                         "\"\\u0041\"",
                         "\"\\u00e\"",
                         "\"\\ud83d\\ude00\"",
                         "\"\\ud83d\"",
                         "\"\\ude00\"",
                         "\"\\",
                         "\"\x01\"",
                         "\"\n\"",
                         "\"\x7F\"",
                         "1 2",
                         "1//",
                         "//",
                         "/",
                         "/**/1",
                         "/*1",
                         "1/* * / */",
                         "/*/ 1",
                         "[1/**/,/**/2]",
                         "1//\n2",
                         "1//\r",
                         "\xEF\xBB\xBF"
                         "1",
                         "\xEF\xBB"
                         "1",
                         "18446744073709551615",
                         "18446744073709551616",
                         "-9223372036854775808",
                         "-9223372036854775809",
                         "1e308",
                         "\"\xC3\xA9\"",
                         "\"\xC3\"",
                         "\"\xED\xA0\x80\"",
                         "\"\xF4\x90\x80\x80\"",
                         "\"\xF0\x9F\x98\x80\"",
                         "\"\xC0\x80\"",
                         "\v1",
                         "\f1",
                         " \t\r\n1",
                         ""};
  for (const char* text : texts) {
    const Json reference = Json::parse(std::string(text), nullptr, false, true);
    try {
      EXPECT_EQ(parse_json(text, "").root, reference) << text;
    } catch (const SceneError& error) {
      EXPECT_TRUE(reference.is_discarded()) << text << ": " << error.what();
    }
  }
}

TEST(JsonPointers, SplitAndJoin) {
  EXPECT_EQ(join_pointer("/a", "b/c~d"), "/a/b~1c~0d");
  EXPECT_EQ(split_pointer("/a/b~1c~0d"), (std::vector<std::string>{"a", "b/c~d"}));
  EXPECT_EQ(split_pointer("/"), std::vector<std::string>{""});
  EXPECT_TRUE(split_pointer("").empty());
}

TEST(PrettyJson, IsReadableAndExact) {
  const Json value = Json::parse(R"({"v": [1, 2.5, -0.0], "empty": {}, "o": {"a": {"b": [[]]}}, "s": "x\"y"})");
  EXPECT_EQ(
      pretty_json(value),
      "{\n  \"v\": [1, 2.5, -0.0],\n  \"empty\": {},\n  \"o\": {\"a\": {\"b\": [[]]}},\n  \"s\": \"x\\\"y\"\n}\n");
  Json longer = Json::array();
  for (int i = 0; i < 60; ++i) longer.push_back(i * 0.1);
  EXPECT_EQ(Json::parse(pretty_json({{"list", longer}}))["list"], longer);
}

TEST(PrettyJson, WholeNumbersHaveNoFraction) {
  EXPECT_EQ(number_json(5e4).dump(), "50000");
  EXPECT_EQ(number_json(-3).dump(), "-3");
  EXPECT_EQ(number_json(-0.0).dump(), "-0.0");
  EXPECT_EQ(number_json(0.1).dump(), "0.1");
  EXPECT_EQ(number_json(1e300).dump(), "1e+300");
}

}  // namespace
}  // namespace tribo
