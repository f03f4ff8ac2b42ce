#include "tribo/matter/strands/spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tribo/core/errors.h"
#include "tribo/scene/describe.h"
#include "tribo/scene/json_reader.h"

/// \file
/// Promises: where strands come from is read with its defaults, described for schema and manual, and what cannot be is
/// said at its key.

namespace tribo {
namespace {

HairSpec read(const std::string& json, std::string* resolved = nullptr) {
  HairSpec hair;
  const std::string text = read_params(json, [&](ParamReader& in) { read_hair_source(in, hair); });
  if (resolved) *resolved = text;
  return hair;
}

std::vector<std::string> complaints(const std::string& json) {
  std::vector<std::string> found;
  try {
    read(json);
  } catch (const SceneError& error) {
    for (const Finding& finding : error.findings()) found.push_back(finding.pointer + ": " + finding.message);
  }
  return found;
}
using Texts = std::vector<std::string>;

TEST(HairReading, FillsTheStructs) {
  const HairSpec hair = read(R"({"radius": 4e-5, "segment_length": 0.01, "seed": 3, "strands": {"scalp": {
    "shape": {"sphere": 0.1}, "region": {"shape": {"box": [1, 1, 1]}, "at": [0, 0.5, 0]}, "density": 1e4,
    "length": 0.2, "spread": 10, "comb": {"direction": [0, -2, 0], "amount": 0.9}, "parting": {"normal": [3, 0, 0]},
    "curl": {"radius": 0.01}, "clumps": {"count": 20}, "root_depth": 0.001}}})");
  const auto* scalp = std::get_if<ScalpSpec>(&hair.source);
  ASSERT_NE(scalp, nullptr);
  EXPECT_EQ(hair.radius, 4e-5);
  EXPECT_EQ(hair.segment_length, 0.01);
  EXPECT_EQ(hair.seed, 3);
  EXPECT_EQ(scalp->density, 1e4);
  ASSERT_TRUE(scalp->region && scalp->parting);
  EXPECT_EQ(scalp->region->placement.at[1], 0.5);
  EXPECT_EQ(scalp->parting->normal[0], 1);  // of unit length
  EXPECT_EQ(scalp->comb[1], -1);
  EXPECT_EQ(scalp->comb_length, 0.05);  // a quarter of the length
  EXPECT_DOUBLE_EQ(scalp->curl_pitch, 0.02);
  EXPECT_EQ(scalp->clumps, 20);

  const HairSpec bare = read(R"({"radius": 1, "strands": {"scalp": {"shape": {"sphere": 1}, "length": 1}}})");
  EXPECT_EQ(bare.segments, 20);
  EXPECT_EQ(std::get<ScalpSpec>(bare.source).count, 1000);
  EXPECT_FALSE(std::get<ScalpSpec>(bare.source).region);
}

/// What a run writes down gives the same strands again.
TEST(HairReading, ResolvedTextReadsTheSame) {
  for (const char* json :
       {R"({"radius": 1, "strands": {"scalp": {"shape": {"sphere": 1}, "length": 1}}})",
        R"({"radius": 1, "strands": {"tube": {"count": 3, "length": 1, "spacing": 4, "wave": 0.1}}})",
        R"({"radius": 1, "segment_length": 0.1,
            "strands": {"scalp": {"shape": {"sphere": 1}, "length": 1, "density": 3}}})",
        R"({"radius": 1, "strands": {"braid": {"strands": 3, "length": 100, "spacing": 4}}})"}) {
    std::string once, twice;
    read(json, &once);
    read(once, &twice);
    EXPECT_EQ(once, twice);
  }
}

TEST(HairReading, SaysWhatIsWrong) {
  EXPECT_EQ(complaints(R"({"strands": {"tube": {"count": 3, "length": 1, "spacing": 4}}})"),
            (Texts{"/radius: expected a radius: strands that are made have none of their own"}));
  EXPECT_EQ(complaints(R"({"radius": 1, "segments": 3, "segment_length": 1,
                           "strands": {"tube": {"count": 3, "length": 1, "spacing": 4}}})"),
            (Texts{"/segments: contradicts `segment_length`; remove one of the two"}));
  EXPECT_EQ(complaints(R"({"radius": 1, "segments": 0, "strands": {"tube": {"count": 3, "length": 1, "spacing": 4}}})"),
            (Texts{"/segments: expected a number of segments: strands that are made have none of their own"}));
  EXPECT_EQ(complaints(R"({"radius": 1, "strands": {"scalp": {"shape": {"sphere": 1}, "length": 1, "count": 2,
                           "density": 3}}})"),
            (Texts{"/strands/scalp/count: contradicts `density`; remove one of the two"}));
  EXPECT_EQ(complaints(R"({"radius": 1, "strands": {"scalp": {"shape": {"half_space": [0, 1, 0]}, "length": 1}}})"),
            (Texts{"/strands/scalp/shape: has no end and no area to grow on; expected a bounded shape"}));
  EXPECT_EQ(complaints(R"({"radius": 1, "strands": {"file": "nowhere.hair"}})"),
            (Texts{"/strands/file: nowhere.hair: there is no such file"}));
}

TEST(HairReading, FilesAreReadAndKnownByTheirBytes) {
  const std::string path = testing::TempDir() + "tribo_hair_test.obj";
  std::ofstream(path) << "v 0 0 0\nv 0 1 0\nv 0 2 0\nl 1 2 3\n";
  const HairSpec hair = read(R"({"radius": 1, "strands": {"file": {"file": ")" + path + R"(", "scale": 0.5}}})");
  const auto& file = std::get<StrandFileSpec>(hair.source);
  EXPECT_EQ(file.content->strands.points.back()[1], 1);
  EXPECT_EQ(file.hash.size(), 16U);
  EXPECT_EQ(file.copy().file, "meshes/" + file.hash + ".obj");
  EXPECT_EQ(complaints(R"({"strands": {"file": ")" + path + R"("}})"),
            (Texts{"/radius: the file does not say how thick its strands are; expected a radius"}));
  const Texts changed =
      complaints(R"({"radius": 1, "strands": {"file": {"file": ")" + path + R"(", "hash": "0123456789abcdef"}}})");
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_NE(changed[0].find("has changed since the scene was written"), std::string::npos);
  std::ofstream(path) << "v 0 0 0\nl 1 9\n";
  EXPECT_THROW(file.copy(), IoError);
  for (const char* radius : {R"("radius": 1, )", ""}) {  // what cannot be read says nothing about its radii
    const Texts damaged = complaints("{" + (radius + (R"("strands": {"file": ")" + path + R"("}})")));
    ASSERT_EQ(damaged.size(), 1U);
    EXPECT_NE(damaged[0].find("a point that is not there"), std::string::npos) << damaged[0];
  }
  std::filesystem::remove(path);
}

/// Schema and manual are made of this; every source is in it.
TEST(HairReading, IsDescribed) {
  const FormatDescription all = describe([](ParamReader& in) {
    HairSpec hair;
    read_hair_source(in, hair);
  });
  const DescribedGroup& sources = all.group("source");
  Texts names;
  for (const DescribedAlternative& source : sources.all) names.push_back(source.name);
  EXPECT_EQ(names, (Texts{"file", "scalp", "braid", "tube"}));
  const auto& scalp = sources.all[1].parameters;
  for (const char* key : {"shape", "region", "density", "count", "length", "comb", "parting", "curl", "clumps"})
    EXPECT_TRUE(std::any_of(scalp.begin(), scalp.end(), [&](const Description& d) { return d.key == key; })) << key;
}

}  // namespace
}  // namespace tribo
