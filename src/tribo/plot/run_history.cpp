#include "tribo/plot/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double number(const Json& value) { return value.is_number() ? value.get<double>() : missing; }

double number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? missing : number(*found);
}

std::array<double, 3> vector_at(const Json& object, const char* key) {
  std::array<double, 3> v = {missing, missing, missing};
  const auto found = object.find(key);
  for (std::size_t i = 0; found != object.end() && i < 3 && i < found->size(); ++i) v[i] = number(found->at(i));
  return v;
}

void add_line(RunHistory& run, const Json& line) {
  const Json& energy = line.at("energy");
  double total = 0;
  for (const auto& kind : energy.items()) total += number(kind.value());
  run.time.push_back(line.at("time").get<double>());
  run.kinetic.push_back(number_at(energy, "kinetic"));
  run.elastic.push_back(number_at(energy, "elastic"));
  run.gravity.push_back(number_at(energy, "gravity"));
  run.total.push_back(total);
  run.momentum.push_back(vector_at(line, "momentum"));
  run.angular_momentum.push_back(vector_at(line, "angular_momentum"));
  run.steps += line.at("substeps").get<std::int64_t>();
  run.wall += number_at(line, "wall_s");
}

}  // namespace

RunHistory read_history(const std::string& name, const std::vector<std::string>& lines, int last,
                        const std::string& path) {
  RunHistory run;
  run.name = name;
  std::size_t line_number = 0;
  try {
    for (const std::string& text : lines) {
      ++line_number;
      const Json line = Json::parse(text);
      if (line.at("frame").get<std::int64_t>() <= last) add_line(run, line);
    }
  } catch (const nlohmann::json::exception&) {
    throw IoError(fmt::format("{}:{} is damaged: restore it from a copy or simulate the run again", path, line_number));
  }
  if (run.time.empty()) throw IoError(path + " holds no statistics");
  return run;
}

double count_gravity_from_least(std::vector<RunHistory>& runs) {
  double least = std::numeric_limits<double>::infinity();
  for (const RunHistory& run : runs)
    for (const double value : run.gravity) least = value < least ? value : least;
  if (!std::isfinite(least)) return 0;
  for (RunHistory& run : runs) {
    for (double& value : run.gravity) value -= least;
    for (double& value : run.total) value -= least;
  }
  return least;
}

}  // namespace tribo
