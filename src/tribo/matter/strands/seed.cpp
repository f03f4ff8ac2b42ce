#include "tribo/matter/strands/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/models/rod/joint.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// Edges shorter than this part of the strand are taken for doubled points: their stiffness would rule all steps.
constexpr double shortest_edge = 1e-7;

/// Sine of the angle to the first edge below which a director says nothing about directions across it.
constexpr double along_director = 1e-3;

void check_strand(const StrandRules& rules, std::size_t strand, const std::vector<Vec3>& points) {
  const auto complain = [&](const std::string& what) {
    throw Error(ExitCode::bad_input, fmt::format("{}: strand {} {}", rules.name, strand + 1, what));
  };
  const std::size_t least = rules.clamp_root && rules.clamp_tip ? 5 : rules.clamp_root || rules.clamp_tip ? 3 : 2;
  if (points.size() < least)
    complain("has " + std::to_string(points.size()) + " points and needs " + std::to_string(least) +
             ", two of them at each clamped end; give it more points, or leave it out");
  double length = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(points[i][k])) complain(fmt::format("has no finite position at point {}; mend it", i + 1));
    if (i > 0) length += std::sqrt(squared_norm(points[i] - points[i - 1]));
  }
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Vec3 e = points[i + 1] - points[i];
    if (!(std::sqrt(squared_norm(e)) > shortest_edge * length))
      complain(fmt::format("has no length between points {} and {}; remove one of them", i + 1, i + 2));
    if (i == 0) {
      const double along = dot(rules.director, e), longest2 = squared_norm(rules.director) * squared_norm(e);
      const bool matters = rules.material.aspect != 1 && longest2 > 0;
      if (matters && along * along > (1 - along_director * along_director) * longest2)
        complain("begins along its director; choose one that lies across the strands at their roots");
      continue;
    }
    const Vec3 before = points[i] - points[i - 1];
    if (dot(before, e) < -0.9999 * std::sqrt(squared_norm(before) * squared_norm(e)))
      complain(fmt::format("is folded back on itself at point {}; add points around the bend", i + 1));
  }
}

/// Whether a polyline departs from the line through its ends by more than a part of its length that no eye and no
/// radius of a strand tells from straight. That is a share, the same in millimeters and meters, and above what single
/// precision leaves of coordinates some times as large as the strand is long.
bool is_curved(const std::vector<Vec3>& points) {
  constexpr double straight = 1e-5;
  double length = 0;
  for (std::size_t i = 1; i < points.size(); ++i) length += std::sqrt(squared_norm(points[i] - points[i - 1]));
  const Vec3 chord = points.back() - points.front();
  const double reach = std::sqrt(squared_norm(chord));
  if (!(reach > (1 - straight) * length)) return true;  // also where both ends are in one place
  return std::any_of(points.begin(), points.end(), [&](const Vec3& x) {
    return squared_norm(cross(x - points.front(), chord)) > std::pow(straight * length * reach, 2);
  });
}

/// Frames matter only where something tells directions across the strand apart, or twist is held at both ends.
bool needs_frames(const StrandRules& rules, bool curved) {
  return rules.material.aspect != 1 || curved || (rules.clamp_root && rules.clamp_tip);
}

class StrandAdder {
 public:
  StrandAdder(RodSeed& seed, const StrandRules& rules)
      : seed_(seed), rules_(rules), drive_(static_cast<std::int32_t>(seed.drives.size())), tip_drive_(drive_) {
    seed_.drives.emplace_back(rules.motion);
    if (!rules.tip_motion) return;
    tip_drive_ = static_cast<std::int32_t>(seed.drives.size());
    seed_.drives.emplace_back(*rules.tip_motion);
  }

  /// Returns whether it is curved at rest.
  bool add(const std::vector<Vec3>& points, const std::vector<double>& radius) {
    const auto first = seed_.x.size();
    const std::size_t n = points.size();
    const std::vector<Vec3> director = parallel_directors(points, rules_.director);
    std::vector<RodEdge<double>> edge;
    std::vector<RodSection> section;
    for (std::size_t j = 0; j + 1 < n; ++j) {
      edge.emplace_back(points[j + 1] - points[j]);
      section.push_back(section_of(rules_.material, 0.5 * (radius[j] + radius[j + 1])));
    }
    for (std::size_t i = 0; i < n; ++i) {
      const bool has_edge = i + 1 < n, is_joint = i > 0 && has_edge;
      double mass = 0;
      if (i > 0) mass += 0.5 * section[i - 1].mass * edge[i - 1].length;
      if (has_edge) mass += 0.5 * section[i].mass * edge[i].length;
      seed_.x.push_back(points[i]);
      seed_.radius.push_back(radius[i]);
      seed_.mass.push_back(mass);
      seed_.length.push_back(has_edge ? edge[i].length : 1);
      seed_.stretch.push_back(has_edge ? section[i].stretch : 0);
      seed_.director.push_back(has_edge ? director[i] : Vec3{{1, 0, 0}});
      Vec<double, 4> rest = Vec<double, 4>::zero();
      RodSection here{0, 0, 0, 0, 0};
      double cell = 1;
      if (is_joint) {
        here = section_of(rules_.material, radius[i]);
        cell = cell_of(i, n, edge);
        if (rules_.keeps_shape) {
          const RodJoint<double> joint(edge[i - 1], edge[i]);
          const JointCurvature<double> at(joint, director[i - 1], director[i]);
          for (int j = 0; j < 2; ++j) {
            rest[2 * j] = at.omega1(j);
            rest[2 * j + 1] = at.omega2(j);
          }
        }
      }
      seed_.cell.push_back(cell);
      seed_.bend1.push_back(here.bend1);
      seed_.bend2.push_back(here.bend2);
      seed_.twist_stiffness.push_back(here.twist);
      seed_.rest_curvature.push_back(rest);
      seed_.rest_twist.push_back(0);  // of frames by parallel transport
      seed_.twist.push_back(0);
    }
    hold(first, n);
    return rules_.keeps_shape && is_curved(points);
  }

 private:
  double cell_of(std::size_t i, std::size_t n, const std::vector<RodEdge<double>>& edge) const {
    double before = 0.5 * edge[i - 1].length, after = 0.5 * edge[i].length;
    if (rules_.half_cells && rules_.clamp_root && i == 1) before = 0;
    if (rules_.half_cells && rules_.clamp_tip && i + 2 == n) after = 0;
    return before + after;
  }

  /// By the last drive at a skinned root, by those of the body elsewhere.
  void hold(std::size_t first, std::size_t n) {
    const RigidMotion root_motion = rules_.motion.over(0, 0);
    const RigidMotion tip_motion = rules_.tip_motion ? rules_.tip_motion->over(0, 0) : root_motion;
    for (std::size_t i = 0; i < n; ++i) {
      const bool root = rules_.clamp_root && i < 2, tip = rules_.clamp_tip && i + 2 >= n;
      const bool skinned = root && !rules_.skin.empty();
      const RigidMotion& rigid = tip ? tip_motion : root_motion;
      seed_.drive.push_back(skinned ? static_cast<std::int32_t>(seed_.drives.size()) - 1
                            : tip   ? tip_drive_
                            : root  ? drive_
                                    : -1);
      if (skinned)
        seed_.v.push_back(Vec3::zero());
      else if (root || tip)
        seed_.v.push_back(rigid.velocity + cross(rigid.angular_velocity, seed_.x[first + i] - rigid.pose.at));
      else
        seed_.v.push_back(rules_.velocity);
    }
  }

  RodSeed& seed_;
  const StrandRules& rules_;
  std::int32_t drive_, tip_drive_;
};

}  // namespace

std::vector<Vec3> parallel_directors(const std::vector<Vec3>& points, const Vec3& first) {
  std::vector<Vec3> directors;
  Vec3 t_before = Vec3::zero();
  for (std::size_t j = 0; j + 1 < points.size(); ++j) {
    const Vec3 t = RodEdge<double>(points[j + 1] - points[j]).t;
    Vec3 d = Vec3::zero();
    if (j == 0) {
      d = first - dot(first, t) * t;
      if (!(squared_norm(d) > 1e-12 * squared_norm(first))) {
        const int k = std::abs(t[0]) < 0.6 ? 0 : 1;
        Vec3 axis = Vec3::zero();
        axis[k] = 1;
        d = axis - t[k] * t;
      }
    } else {
      d = transport(directors.back(), t_before, t);
      d = d - dot(d, t) * t;
    }
    directors.push_back((1 / std::sqrt(squared_norm(d))) * d);
    t_before = t;
  }
  return directors;
}

void add_strands(RodSeed& seed, const Strands& strands, const StrandRules& rules) {
  const std::size_t count = strands.start.empty() ? 0 : strands.start.size() - 1;
  if (seed.start.empty()) seed.start.push_back(0);
  RodBody body;
  body.object = rules.object;
  body.method = rules.method;
  body.friction = rules.friction;
  body.stretch_scale = rules.material.stretch_scale;
  body.bend_damping = rules.material.bend_damping;
  body.stretch_damping = rules.material.stretch_damping;
  body.drag = rules.material.drag;
  body.strands.begin = static_cast<std::int32_t>(seed.start.size()) - 1;
  body.vertices.begin = static_cast<std::int32_t>(seed.x.size());
  StrandAdder adder(seed, rules);
  bool curved = false;
  for (std::size_t s = 0; s < count; ++s) {
    const auto begin = static_cast<std::size_t>(strands.start[s]), end = static_cast<std::size_t>(strands.start[s + 1]);
    const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
    const std::vector<Vec3> points(strands.points.begin() + from, strands.points.begin() + to);
    std::vector<double> radius(points.size(), rules.radius);
    if (!strands.radius.empty()) radius.assign(strands.radius.begin() + from, strands.radius.begin() + to);
    check_strand(rules, s, points);
    for (std::size_t i = 0; i < radius.size(); ++i)
      if (!(radius[i] > 0) || !std::isfinite(radius[i]))
        throw Error(ExitCode::bad_input,
                    fmt::format("{}: strand {} has the radius {} at point {}, and strands of no thickness have neither "
                                "mass nor contact; give the key `radius`, or mend the file",
                                rules.name, s + 1, radius[i], i + 1));
    if (!rules.skin.empty()) seed.drives.emplace_back(rules.skin[s]);
    curved = adder.add(points, radius) || curved;
    seed.start.push_back(static_cast<std::int32_t>(seed.x.size()));
    seed.buried.push_back(0);
    seed.rooted.push_back(0);
  }
  body.strands.end = static_cast<std::int32_t>(seed.start.size()) - 1;
  body.vertices.end = static_cast<std::int32_t>(seed.x.size());
  body.twisted = needs_frames(rules, curved);
  seed.bodies.push_back(body);
}

}  // namespace tribo
