#include "tribo/scene/variants.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "example_scene.h"
#include "tribo/core/errors.h"

namespace tribo {
namespace {

using json = nlohmann::ordered_json;

std::string with_variants(const std::string& variants) {
  json scene = json::parse(test::example_scene, nullptr, true, true);
  scene["variants"] = json::parse(variants);
  return scene.dump();
}

std::vector<std::string> messages(const std::string& text, const std::vector<Varied>& varied = {}) {
  std::vector<std::string> found;
  try {
    parse_variants(text, "x.json", {}, varied);
  } catch (const SceneError& error) {
    for (const Finding& finding : error.findings()) found.push_back(finding.text());
  }
  return found;
}

std::string only_message(const std::string& text, const std::vector<Varied>& varied = {}) {
  const std::vector<std::string> found = messages(text, varied);
  return found.size() == 1 ? found[0] : std::to_string(found.size()) + " messages";
}

TEST(Variants, AreScenesOfTheirOwn) {
  const std::vector<Variant> variants =
      parse_variants(with_variants(R"({"as it is": {}, "FLIP 1": {"/grid/transfer": "flip", "/grid/flip_ratio": 1},
                        "coarse sand": {"/materials/sand/friction_angle": 50, "/grid/dx": 0.05}})"),
                     "x.json", {{"/grid/dx", "0.04"}});
  ASSERT_EQ(variants.size(), 3u);
  EXPECT_EQ(variants[0].name, "as it is");
  EXPECT_EQ(variants[1].folder, "FLIP_1");
  EXPECT_EQ(variants[0].scene.grid.dx, 0.04);  // overrides come first, and variants change what they leave
  EXPECT_EQ(variants[2].scene.grid.dx, 0.05);
  EXPECT_TRUE(std::holds_alternative<Flip>(variants[1].scene.grid.transfer));
  EXPECT_TRUE(std::holds_alternative<Apic>(variants[2].scene.grid.transfer));
  EXPECT_EQ(json::parse(variants[2].scene.resolved_json)["materials"]["sand"]["friction_angle"], 50);
  for (const Variant& variant : variants) {
    EXPECT_EQ(variant.scene.file, "x.json");
    EXPECT_EQ(json::parse(variant.scene.resolved_json)["variants"], json::object()) << variant.name;
  }
}

TEST(Variants, TheSceneKeepsThemAndIsOtherwiseTheSame) {
  const Scene plain = parse_scene(test::example_scene, "x.json");
  const Scene scene = parse_scene(with_variants(R"({"fine": {"/grid/dx": 0.01}})"), "x.json");
  EXPECT_EQ(scene.grid.dx, 0.02);
  json resolved = json::parse(scene.resolved_json);
  EXPECT_EQ(resolved["variants"], (json{{"fine", {{"/grid/dx", 0.01}}}}));
  resolved["variants"] = json::object();
  EXPECT_EQ(resolved, json::parse(plain.resolved_json));
  EXPECT_TRUE(parse_variants(test::example_scene, "x.json").empty());
}

TEST(Variants, AValueVariedReplacesThem) {
  const std::vector<Variant> variants =
      parse_variants(with_variants(R"({"fine": {"/grid/dx": 0.01}})"), "x.json", {},
                     {parse_varied("/grid/transfer=pic,\"apic\""), parse_varied("/gravity=[0,-1,0],[0,1e1,0]")});
  ASSERT_EQ(variants.size(), 4u);
  EXPECT_EQ(variants[0].name, "pic [0,-1,0]");
  EXPECT_EQ(variants[3].name, "apic [0,1e1,0]");
  EXPECT_EQ(variants[3].folder, "apic__0_1e1_0_");
  EXPECT_TRUE(std::holds_alternative<Pic>(variants[1].scene.grid.transfer));
  EXPECT_EQ(variants[1].scene.gravity[1], 10);
  EXPECT_EQ(variants[2].scene.gravity[1], -1);
  EXPECT_EQ(variants[2].scene.grid.dx, 0.02);
}

TEST(Variants, ValuesAreSplitAtCommasOutsideOfBracketsAndQuotes) {
  const Varied varied = parse_varied(R"(/a/b=1,[2,3],{"c": [4, 5]},"six, \",seven",x=y)");
  EXPECT_EQ(varied.pointer, "/a/b");
  EXPECT_EQ(varied.values, (std::vector<std::string>{"1", "[2,3]", R"({"c": [4, 5]})", R"("six, \",seven")", "x=y"}));
  for (const char* bad : {"", "/grid/dx", "grid/dx=1", "/grid/dx=", "/grid/dx=1,,2", "/grid/dx=1,", "/grid/dx=\xff"})
    EXPECT_THROW(parse_varied(bad), SceneError) << bad;
}

TEST(Variants, AMistakeIsToldAtItsPlace) {
  const std::string text =
      "{\"tribo\": 1, \"duration\": 1, \"grid\": {\"dx\": 0.1},\n"
      " \"objects\": [{\"type\": \"particles\", \"shape\": {\"sphere\": 1}, \"material\": \"water\"}],\n"
      " \"variants\": {\n"
      "  \"PIC\": {\"/grid/transfer\": \"pci\"},\n"
      "  \"fine\": {\"/grid/dx\": -1, \"/gird/dx\": 2},\n"
      "  \"far\": {\"/objects/3/at\": [0, 0, 0]}}}";
  const std::vector<std::string> found = messages(text);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].rfind("x.json:4:29  /grid/transfer: expected one of ", 0), 0u) << found[0];
  EXPECT_NE(found[0].find("did you mean \"pic\"? (in the variant \"PIC\")"), std::string::npos) << found[0];
  EXPECT_EQ(found[1], "x.json:5:24  /grid/dx: expected a number > 0, got -1 (in the variant \"fine\")");
  EXPECT_EQ(found[2].rfind("x.json:5:40  /gird: unknown key; did you mean \"grid\"?", 0), 0u) << found[2];
  EXPECT_EQ(found[3], "x.json:6:28: `/objects` is a list whose last index is 0 (in the variant \"far\")");
  // What is wrong with the scene itself is told alone: with it, every variant is wrong.
  EXPECT_EQ(only_message(text.substr(0, 12) + "\"fps\": 0, " + text.substr(12)),
            "x.json:1:20  /fps: expected a number > 0, got 0");
}

TEST(Variants, AValueThatIsWrongInManyCombinationsIsToldOnce) {
  EXPECT_EQ(only_message(test::example_scene, {parse_varied("/grid/dx=0.03,none"), parse_varied("/fps=10,20,30")}),
            "--vary /grid/dx=none  /grid/dx: expected a number > 0, got \"none\" (in the variant \"none 10\")");
}

TEST(Variants, HaveFoldersOfTheirOwn) {
  EXPECT_NE(only_message(with_variants(R"({"a b": {}, "a_b": {}})"))
                .find("the variants \"a b\" and \"a_b\" would both be in the folder a_b; rename one of them"),
            std::string::npos);
  EXPECT_NE(only_message(test::example_scene, {parse_varied("/grid/dx=0.03,0.03")}).find("rename one"),
            std::string::npos);
}

}  // namespace
}  // namespace tribo
