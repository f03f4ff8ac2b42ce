#include "tribo/plot/statistics_plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tribo/core/errors.h"
#include "tribo/plot/chart.h"
#include "xml_check.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;

Json frame(int i) {
  return {{"frame", i},
          {"time", i / 24.0},
          {"substeps", i == 0 ? 0 : 10},
          {"dt_min", i == 0 ? 0 : 1e-5},
          {"dt_max", i == 0 ? 0 : 2e-5},
          {"dt_limit", i == 0 ? "" : "wave"},
          {"wall_s", 0.5},
          {"stages", {{"p2g", 0.2}, {"g2p", 0.25}}},
          {"counts", {{"particles", 12345}}},
          {"momentum", {1.0, -2.0 * i, 0.0}},
          {"angular_momentum", {0.0, 0.0, 0.0}},
          {"energy", {{"kinetic", 0.1 * i}, {"elastic", 0.0}, {"gravity", -5.0 - i}}}};
}

std::vector<std::string> lines(int count, const std::function<void(int, Json&)>& change = {}) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    Json line = frame(i);
    if (change) change(i, line);
    all.push_back(line.dump());
  }
  return all;
}

/// The page; fails the test when it is not well-formed or holds a number that is none.
std::string plot(const std::vector<std::string>& all, const std::string& name = "scene") {
  const std::string svg = plot_statistics(all, name);
  EXPECT_EQ(xml_mistake(svg), "");
  for (const char* none : {"nan", "inf", "e+", "e-"}) {
    std::size_t at = svg.find(std::string("\"") + none);
    EXPECT_EQ(at, std::string::npos) << svg.substr(at, 80);
    at = svg.find(std::string(",") + none);
    EXPECT_EQ(at, std::string::npos) << svg.substr(at, 80);
  }
  return svg;
}

bool holds(const std::string& svg, const std::string& text) { return svg.find(text) != std::string::npos; }

TEST(StatisticsPlot, ShowsEveryPanel) {
  const std::string svg = plot(lines(49));
  for (const char* text : {"frames 0 to 48, 2 s, 12,345 particles",
                           ">Energy<",
                           ">energy [J]<",
                           ">kinetic<",
                           ">elastic<",
                           ">total<",
                           ">gravity, above its least<",
                           "gravity is counted from its least value in the run, -53 J",
                           ">Linear momentum<",
                           ">momentum [kg m/s]<",
                           ">Angular momentum about the origin<",
                           ">Time step<",
                           ">dt [µs]<",
                           ">wave<",
                           ">100%<",
                           ">Wall time of a frame<",
                           ">g2p 50%<",
                           ">p2g 40%<",
                           ">other 10%<",
                           ">time [s]<"})
    EXPECT_TRUE(holds(svg, text)) << text;
}

TEST(StatisticsPlot, DrawsWhateverEnergiesAndStagesThereAre) {
  const std::string svg = plot(lines(9, [](int i, Json& line) {
    line["energy"]["bend & <twist>"] = 3.0;
    if (i > 4) line["stages"]["contact"] = 0.01;
    line["stages"].erase("p2g");
    line["dt_limit"] = i > 4 ? "moon" : "tide";
  }));
  for (const char* text : {">bend &amp; &lt;twist&gt;<", ">contact &lt;1%<", ">moon<", ">tide<"})
    EXPECT_TRUE(holds(svg, text)) << text;
  EXPECT_FALSE(holds(svg, ">p2g"));
}

TEST(StatisticsPlot, NamesAreEscaped) {
  EXPECT_TRUE(holds(plot(lines(2), "<a> & \"b\""), ">&lt;a&gt; &amp; &quot;b&quot;<"));
  plot(lines(2), "");
  plot(lines(2), std::string(10'000, 'W'));
}

TEST(StatisticsPlot, NumbersThatAreNoneLeaveGaps) {
  const auto gaps = [](int i, Json& line) {
    if (i < 3 || i > 4) return;
    line["energy"]["elastic"] = nullptr;
    line["momentum"][0] = nullptr;
    line["dt_min"] = nullptr;
    line["wall_s"] = nullptr;
    line["stages"]["p2g"] = nullptr;
  };
  EXPECT_TRUE(holds(plot(lines(9, gaps)), "gaps where numbers are not finite (in 2 of the frames)"));
  const auto nothing = [](int, Json& line) {
    for (const char* key : {"dt_min", "dt_max", "wall_s"}) line[key] = nullptr;
    for (const char* key : {"momentum", "angular_momentum"}) line[key] = Json::array({nullptr, nullptr, nullptr});
    for (auto& value : line["energy"]) value = nullptr;
    for (auto& value : line["stages"]) value = nullptr;
  };
  EXPECT_TRUE(holds(plot(lines(9, nothing)), "nothing to show"));
  plot({R"({"time": 0})", R"({"time": 1, "energy": 3, "stages": [], "momentum": "x", "dt_limit": 4, "counts": null})"});
}

TEST(StatisticsPlot, AFrameAloneIsDrawnAsDotsAndBars) {
  for (const int i : {0, 7}) {
    const std::string svg = plot({frame(i).dump()});
    EXPECT_TRUE(holds(svg, fmt::format("frame {}, ", i)));
    EXPECT_TRUE(holds(svg, "<circle"));
    EXPECT_FALSE(holds(svg, "<polyline"));
  }
}

TEST(StatisticsPlot, AnyMagnitudeIsDrawn) {
  const auto zeros = [](int, Json& line) {
    for (auto& value : line["energy"]) value = 0.0;
    line["momentum"] = {0.0, 0.0, 0.0};
    line["wall_s"] = 0.0;
    line["stages"] = Json::object();
  };
  plot(lines(5, zeros));
  for (const double scale : {1e-320, 1e-200, 1e-30, 1e12, 1e30, 1e200, 1e308}) {
    plot(lines(9, [&](int i, Json& line) {
      for (auto& value : line["energy"]) value = -scale * i;
      line["momentum"] = {scale, -scale * i, scale * (1 + 1e-14 * i)};
      line["dt_min"] = scale;
      line["wall_s"] = scale;
    }));
  }
}

TEST(StatisticsPlot, LongRunsStaySmallAndKeepTheirSpikes) {
  const auto spike = [](int i, Json& line) {
    line["momentum"][0] = 0.001 * (i % 7);
    if (i == 12'345) line["momentum"][0] = 1e6;
    line["dt_limit"] = i == 777 ? "retry" : i % 2 == 0 ? "wave" : "cfl";
  };
  const std::string svg = plot(lines(20'000, spike));
  EXPECT_LT(svg.size(), 1'000'000u);
  EXPECT_TRUE(holds(svg, ">retry<"));
}

TEST(StatisticsPlot, TellsWhatItCannotRead) {
  EXPECT_THROW(plot_statistics({}, ""), IoError);
  EXPECT_THROW(plot_statistics({R"({"time": null})"}, ""), IoError);
  try {
    plot_statistics({frame(0).dump(), "[3"}, "");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "line 2 of the statistics is not a JSON object");
  }
}

/// The drawn curve of a chart reaches as far as its greatest value, however long it is.
TEST(Chart, SpikesReachTheirHeight) {
  Chart chart;
  chart.curves.push_back({"c", std::vector<double>(50'000, 1.0), curve_stroke(0)});
  chart.x.resize(50'000);
  for (std::size_t i = 0; i < chart.x.size(); ++i) chart.x[i] = double(i);
  chart.from_zero = true;
  chart.curves[0].y[31'111] = 90;
  Svg svg(800, 400, "");
  draw_chart(svg, chart, {0, 0, 800, 400});
  const std::string text = std::move(svg).finish();
  const std::size_t begin = text.find("<polyline points=\"") + 18;
  const std::string points = text.substr(begin, text.find('"', begin) - begin);
  double highest = 400;
  double lowest = 0;
  for (std::size_t at = points.find(','); at != std::string::npos; at = points.find(',', at + 1)) {
    highest = std::min(highest, std::stod(points.substr(at + 1)));
    lowest = std::max(lowest, std::stod(points.substr(at + 1)));
  }
  EXPECT_GT(lowest - highest, 200) << "of a plot some 290 pixels high";
  EXPECT_LT(points.size(), 30'000u);
}

}  // namespace
}  // namespace tribo
