#include "tribo/mesh/strand_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "tribo/mesh/words.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

struct Format {
  const char* extension;
  StrandFile (*parse)(std::string_view bytes, double scale, const std::string& file);
};
constexpr Format formats[] = {{".hair", parse_hair},        {".ply", parse_ply_strands}, {".vtk", parse_vtk_strands},
                              {".vtp", parse_vtp_strands},  {".vtu", parse_vtu_strands}, {".obj", parse_obj_strands},
                              {".usda", parse_usda_strands}};

const Format* format_of(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Format& format : formats)
    if (extension == format.extension) return &format;
  return nullptr;
}

/// "strand 3", "strands 3, 5 and 9 more"
std::string listed(const std::vector<std::size_t>& strands) {
  std::string text = strands.size() == 1 ? "strand" : "strands";
  for (std::size_t i = 0; i < std::min<std::size_t>(strands.size(), 3); ++i)
    text += fmt::format("{} {}", i > 0 ? "," : "", strands[i] + 1);
  if (strands.size() > 3) text += fmt::format(" and {} more", strands.size() - 3);
  return text;
}

/// Groomers let hair taper to nothing, and what has no thickness has no mass and touches nothing. A tenth of the
/// thickest place leaves a hundredth of the mass and 1e-4 of the stiffness, more than enough to look pointed and to be
/// computed with. Strands that are nowhere thick stay as they are. Returns whether it changed any.
constexpr double least_taper = 0.1;
bool thicken_tips(std::vector<double>& radius) {
  const double least = radius.empty() ? 0 : least_taper * *std::max_element(radius.begin(), radius.end());
  bool changed = false;
  for (double& r : radius) {
    changed = changed || r < least;
    r = std::max(r, least);
  }
  return changed;
}

bool same_place(const Vec3& a, const Vec3& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/// Of a strand's points, to find its like.
std::uint64_t hash_of(const std::vector<Vec3>& points) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Vec3& p : points)
    for (int k = 0; k < 3; ++k) hash = (hash ^ std::bit_cast<std::uint64_t>(p[k] + 0.0)) * 0x100000001b3;
  return hash;
}

}  // namespace

void StrandMaker::check() const {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / 4;
  if (points_.size() > most || corners_.size() > most)
    fail_in_file(file_, fmt::format("has more than {} points of strands", most));
  if (begin_.empty()) fail_in_file(file_, fmt::format("has no strands: not one {}", noun_));
  if (!radius_.empty() && radius_.size() != points_.size())
    fail_in_file(file_, fmt::format("has {} points, but the radii of {}", points_.size(), radius_.size()));
  for (std::size_t l = 0; l < begin_.size(); ++l) {
    const auto [begin, end] = line(l);
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t corner = corners_[i];
      if (corner < 0 || static_cast<std::uint64_t>(corner) >= points_.size())
        fail_in_file(file_, fmt::format("{} {} refers to a point that is not there (there are {})", noun_, l + 1,
                                        points_.size()));
      const auto p = static_cast<std::size_t>(corner);
      const Vec3& x = points_[p];
      if (!(std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2])))
        fail_in_file(file_, fmt::format("{} {}: its point {} has a coordinate that is no number; remove it, or write "
                                        "the file once more",
                                        noun_, l + 1, i - begin + 1));
      if (!radius_.empty() && !(radius_[p] >= 0 && std::isfinite(radius_[p])))
        fail_in_file(file_, fmt::format("{} {}: its point {} has a radius that is negative or no number", noun_, l + 1,
                                        i - begin + 1));
    }
  }
}

/// Points of each strand: polylines put together where exactly two of them end. That makes strands of files that have
/// nothing but segments.
std::vector<std::vector<std::size_t>> StrandMaker::joined() const {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  const auto point = [&](std::size_t corner) { return static_cast<std::size_t>(corners_[corner]); };
  struct Ends {
    std::size_t line[2] = {none, none};
    int count = 0;
    bool inner = false;
  };
  std::vector<Ends> at(points_.size());
  const auto branch = [&](std::size_t l, std::size_t p) {
    const std::size_t other = at[p].line[0] != none ? at[p].line[0] : l;
    fail_in_file(file_,
                 fmt::format("{} {} meets {} {} in point {}, which is no free end of both: strands do not branch; "
                             "give each its own points",
                             noun_, l + 1, noun_, other + 1, p));
  };
  for (std::size_t l = 0; l < begin_.size(); ++l) {
    const auto [begin, end] = line(l);
    for (std::size_t i = begin; i < end; ++i) {
      Ends& here = at[point(i)];
      const bool is_end = i == begin || i + 1 == end;
      if (i > begin && point(i) == point(i - 1)) continue;  // a segment without length, to be taken out later
      if (here.inner || (!is_end && here.count > 0) || here.count == 2) branch(l, point(i));
      here.inner = !is_end;
      if (here.inner || here.count < 2) here.line[here.count++] = l;
    }
    if (end - begin > 2 && point(begin) == point(end - 1))
      fail_in_file(file_, fmt::format("{} {} is closed; a strand has two ends: open it", noun_, l + 1));
  }
  std::vector<std::vector<std::size_t>> strands;
  std::vector<bool> used(begin_.size(), false);
  for (std::size_t l = 0; l < begin_.size(); ++l) {
    if (used[l]) continue;
    used[l] = true;
    const auto [begin, end] = line(l);
    std::vector<std::size_t> tail, head;  // the latter from the first line's beginning backward
    for (std::size_t i = begin; i < end; ++i) tail.push_back(point(i));
    const auto extend = [&](std::vector<std::size_t>& to, std::size_t from) {
      for (;;) {
        const Ends& here = at[from];
        std::size_t next = none;
        for (int k = 0; k < here.count && !here.inner; ++k)
          if (!used[here.line[k]]) next = here.line[k];
        if (next == none) return;
        used[next] = true;
        const auto [b, e] = line(next);
        const bool forward = point(b) == from;
        for (std::size_t i = b + 1; i < e; ++i) to.push_back(point(forward ? i : e - 1 - (i - b)));
        from = to.back();
      }
    };
    if (!tail.empty()) {
      extend(tail, tail.back());
      extend(head, tail.front());
      if (!head.empty() || tail.size() > end - begin)
        if (tail.front() == tail.back() || (!head.empty() && head.back() == tail.back()))
          fail_in_file(
              file_, fmt::format("{} {} and those it meets are closed to a ring; a strand has two ends: open it", noun_,
                                 l + 1));
    }
    std::reverse(head.begin(), head.end());
    head.insert(head.end(), tail.begin(), tail.end());
    strands.push_back(std::move(head));
  }
  return strands;
}

StrandFile StrandMaker::finish(double scale) {
  check();
  std::vector<std::size_t> shortened, without_length, doubled, tapered;
  std::multimap<std::uint64_t, std::size_t> known;  // strands by hash
  const std::vector<std::vector<std::size_t>> strands = joined();
  for (std::size_t s = 0; s < strands.size(); ++s) {
    std::vector<Vec3> points;
    std::vector<double> radius;
    for (const std::size_t p : strands[s]) {
      const Vec3 x = scale * points_[p];
      if (!(std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2])))
        fail_in_file(file_, fmt::format("strand {} is too far away to compute with; choose a smaller scale", s + 1));
      if (!points.empty() && same_place(points.back(), x)) continue;
      points.push_back(x);
      if (!radius_.empty()) radius.push_back(scale * radius_[p]);
    }
    if (points.size() < 2) {
      without_length.push_back(s);
      continue;
    }
    if (points.size() < strands[s].size()) shortened.push_back(s);
    const std::uint64_t hash = hash_of(points);
    const auto [first, last] = known.equal_range(hash);
    const bool is_double = std::any_of(first, last, [&](const auto& other) {
      return std::ranges::equal(strand_points(out_.strands, other.second), points, same_place);
    });
    if (is_double) {
      doubled.push_back(s);
      continue;
    }
    known.emplace(hash, strand_count(out_.strands));
    if (thicken_tips(radius)) tapered.push_back(s);
    add_strand(out_.strands, points, radius);
  }
  if (!shortened.empty())
    out_.notes.push_back(listed(shortened) + ": points in the same place as the one before are joined with it");
  if (!without_length.empty()) out_.notes.push_back(listed(without_length) + ": left out, of a single point");
  if (!doubled.empty()) out_.notes.push_back(listed(doubled) + ": left out, the same as another one before");
  if (!tapered.empty())
    out_.notes.push_back(listed(tapered) +
                         fmt::format(": points thinner than {} of the thickest of their strand are taken as thick as "
                                     "that, unless `radius` is given",
                                     least_taper));
  if (strand_count(out_.strands) == 0)
    fail_in_file(file_, fmt::format("none of its {} strands has any length", strands.size()));
  return std::move(out_);
}

bool is_strand_file_name(const std::string& file) { return format_of(file) != nullptr; }

StrandFile parse_strands(std::string_view bytes, double scale, const std::string& file) {
  const Format* format = format_of(file);
  if (!format) {
    std::string known;
    for (const Format& f : formats) known += std::string(known.empty() ? "" : ", ") + f.extension;
    fail_in_file(file, "expected the extension of a strand file: " + known);
  }
  if (bytes.empty()) fail_in_file(file, "is empty; write or copy it once more");
  return format->parse(bytes, scale, file);
}

}  // namespace tribo
