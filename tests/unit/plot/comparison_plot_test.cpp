#include "tribo/plot/comparison_plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tribo/core/errors.h"
#include "tribo/plot/chart.h"
#include "xml_check.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;

/// A run that loses `loss` of its energy in each of its frames.
RunHistory history(const std::string& name, int frames, double fps, double loss, int last = 1000) {
  std::vector<std::string> lines;
  for (int i = 0; i <= frames; ++i) {
    const double left = std::pow(1 - loss, i);
    lines.push_back(Json{{"frame", i},
                         {"time", i / fps},
                         {"substeps", i == 0 ? 0 : 10},
                         {"wall_s", 0.5},
                         {"momentum", {4.0, -3.0 * left, 0.0}},
                         {"angular_momentum", {0.0, 0.0, -2.0 * left}},
                         {"energy", {{"kinetic", 30 * left}, {"elastic", 10.0}, {"gravity", -100.0}}}}
                        .dump());
  }
  return read_history(name, lines, last, name + "/stats.jsonl");
}

bool holds(const std::string& svg, const std::string& text) { return svg.find(text) != std::string::npos; }

TEST(RunHistory, IsReadUpToAFrame) {
  const RunHistory run = history("a", 10, 5, 0.1, 4);
  ASSERT_EQ(run.time.size(), 5u);
  EXPECT_EQ(run.time.back(), 0.8);
  EXPECT_EQ(run.steps, 40);
  EXPECT_EQ(run.wall, 2.5);
  EXPECT_EQ(run.total.front(), -60);
  EXPECT_NEAR(run.kinetic.back(), 30 * std::pow(0.9, 4), 1e-12);
}

TEST(RunHistory, DamageIsNamed) {
  const auto message = [](const std::vector<std::string>& lines) -> std::string {
    try {
      read_history("a", lines, 10, "a/stats.jsonl");
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({"{\"frame\": 0}"}).find("a/stats.jsonl:1 is damaged"), std::string::npos);
  EXPECT_NE(message({"nothing"}).find("a/stats.jsonl:1 is damaged"), std::string::npos);
  EXPECT_NE(message({}).find("holds no statistics"), std::string::npos);
}

TEST(Comparison, EnergiesAreSharesAndMomentaChanges) {
  std::vector<RunHistory> runs{history("none", 2, 10, 0), history("half", 1, 10, 0.5)};
  EXPECT_EQ(count_gravity_from_least(runs), -100);
  const ComparisonTable table = compare_runs(runs);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"none", "20", "1.5", "0.7500", "0.2500", "1.0000", "0 %", "0 %"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"half", "10", "1", "0.3750", "0.2500", "0.6250", "30 %", "50 %"}));
}

TEST(Comparison, WhatBeginsAtNothingIsInUnits) {
  std::vector<RunHistory> runs{history("a", 1, 10, 0)};
  runs[0].momentum = {{0, 0, 0}, {3, 4, 0}};
  runs[0].angular_momentum = {{0, 0, 1e-9}, {0, 0, 0.5}};
  runs[0].total = {0, 2};
  runs[0].kinetic[1] = NAN;
  const ComparisonTable table = compare_runs(runs);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"a", "10", "1", "-", "10 J", "2 J", "5 kg m/s", "0.5 kg m²/s"}));
}

TEST(Comparison, AColumnHasOneUnit) {
  std::vector<RunHistory> runs{history("a", 1, 10, 0.5), history("b", 1, 10, 0)};
  runs[1].momentum = {{0, 0, 1e-9}, {0, 0, 1e-9}};
  runs[0].momentum = {{0, 0, 1e-9}, {0, 0, 2}};
  const ComparisonTable table = compare_runs(runs);
  EXPECT_EQ(table.rows[0][6], "2 kg m/s");
  EXPECT_EQ(table.rows[1][6], "0 kg m/s");
  EXPECT_EQ(table.rows[0][7], "50 %");
}

TEST(Comparison, OnePageShowsEveryRun) {
  std::vector<RunHistory> runs{history("PIC", 20, 10, 0.1), history("FLIP & <blend>", 33, 17, 0.01),
                               history("short", 3, 10, 0)};
  count_gravity_from_least(runs);
  const std::string svg = plot_comparison(runs, "vortex", "3 variants");
  EXPECT_EQ(xml_mistake(svg), "");
  for (const char* text :
       {">vortex<", ">3 variants<", ">Total energy<", ">Kinetic energy<", ">Angular momentum about the origin<",
        ">PIC<", ">FLIP &amp; &lt;blend&gt;<", ">0.7500<", ">time [s]<", ">angular momentum [kg m"})
    EXPECT_TRUE(holds(svg, text)) << text;
  for (const char* none : {"\"nan", ",nan", "\"inf", ",inf"}) EXPECT_FALSE(holds(svg, none)) << none;
}

TEST(Comparison, ManyRunsLookDifferent) {
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Stroke a = curve_stroke(i), b = curve_stroke(j);
      EXPECT_FALSE(a.color == b.color && a.dash == b.dash) << i << " " << j;
    }
}

}  // namespace
}  // namespace tribo
