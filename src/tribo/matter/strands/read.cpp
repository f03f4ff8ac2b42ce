#include "tribo/matter/strands/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "tribo/core/errors.h"
#include "tribo/io/asset_file.h"
#include "tribo/mesh/block_count.h"
#include "tribo/scene/read_shape.h"

namespace tribo {
namespace {

constexpr double pi = std::numbers::pi;

/// A direction of unit length.
Vec<double, 3> read_direction(ParamReader& in, const char* key, const char* doc, const Vec<double, 3>& fallback) {
  const Vec<double, 3> v = in.vector(key, "1", anything(), doc, fallback);
  const double length = squared_norm(v);
  if (length > 0 && std::isfinite(length)) return length_and_direction(v).normal;
  in.complain(key, "expected a direction, got a vector whose length is 0 or too large");
  return fallback;
}

/// Stands in where the file cannot be used, so that reading can go on without more to complain about.
std::shared_ptr<const StrandFile> one_strand() {
  StrandFile file;
  add_strand(file.strands, std::vector<Vec<double, 3>>{{{0, 0, 0}}, {{0, -1, 0}}}, std::vector<double>{1e-3, 1e-3});
  return std::make_shared<const StrandFile>(std::move(file));
}

}  // namespace

StrandFileSpec StrandFileSpec::read(ParamReader& in) {
  StrandFileSpec spec;
  spec.content = one_strand();
  spec.file = in.text("file",
                      "strand file, by its path relative to the scene file; what it is follows from .hair, .ply, .vtk, "
                      ".vtp, .vtu, .obj or .usda");
  const double scale =
      in.number("scale", "1", above(0), "meters that one unit of the file stands for; of .usda times metersPerUnit", 1);
  try {
    const AssetFiles found = find_asset(in, spec.file, {spec.file}, "strand");
    if (in.describing()) return spec;
    spec.path = found.files[0].file;
    spec.hash = found.hash;
    spec.content = std::make_shared<const StrandFile>(parse_strands(found.files[0].bytes, scale, spec.path));
  } catch (const Error& error) {
    in.complain("file", error.what());
  }
  return spec;
}

NamedBytes StrandFileSpec::copy() const { return asset_copies({path}, hash).front(); }

ScalpSpec ScalpSpec::read(ParamReader& in) {
  ScalpSpec spec;
  read_shape(in, spec.shape,
             "strands grow on its surface; must be bounded; by default that of what the hair grows `on`", false);
  spec.has_shape = in.has("shape");
  if (!in.describing() && in.has("shape") && !std::visit([](const auto& s) { return s.bounds(); }, spec.shape).bounded)
    in.complain("shape", "has no end and no area to grow on; expected a bounded shape");
  if (in.has("region") || in.describing()) {
    Region region;
    in.object("region", "where on it roots are; by default everywhere", false, [&](ParamReader& inner) {
      read_shape(inner, region.shape, "roots are inside of it; may be unbounded");
      read_placement(inner, region.placement);
    });
    spec.region = std::move(region);
  }
  spec.density = in.open_number("density", "1/m^2", above(0), "strands on a square meter; or give `count`");
  const bool counted = in.has("count") || in.describing() || !spec.density;
  if (counted) spec.count = in.integer("count", within(1, most_strands), "number of strands; or give `density`", 1000);
  if (spec.density && in.has("count")) in.complain("count", "contradicts `density`; remove one of the two");
  spec.length = in.number("length", "m", above(0), "of strands, outside of the scalp");
  spec.length_variation =
      in.number("length_variation", "1", within(0, 0.95), "strands are shorter by up to this part, at random", 0);
  spec.spread = in.number("spread", "deg", within(0, 85), "angle to the normal of the scalp, at most, at random", 0);
  in.object("comb", "how strands lie", false, [&](ParamReader& comb) {
    spec.comb = read_direction(comb, "direction", "where tips point to", {{0, -1, 0}});
    spec.comb_amount = comb.number("amount", "1", within(0, 1), "0: along the normal; 1: tips along `direction`", 0);
    spec.comb_length =
        comb.number("length", "m", at_least(0), "from the root, over which strands turn there", 0.25 * spec.length);
    spec.lift = comb.number("lift", "m", at_least(0), "thickness of the layer of strands that lie along the scalp",
                            0.05 * spec.length);
  });
  if (in.has("parting") || in.describing()) {
    Parting parting;
    in.object("parting", "a plane on whose other side strands are combed to the other side; by default none", false,
              [&](ParamReader& inner) {
                parting.at = inner.vector("at", "m", anything(), "a point of it", Vec<double, 3>::zero());
                parting.normal = read_direction(inner, "normal",
                                                "toward the side where strands are combed to `direction`", {{1, 0, 0}});
              });
    spec.parting = parting;
  }
  in.object("curl", "curls", false, [&](ParamReader& curl) {
    spec.curl_radius = curl.number("radius", "m", at_least(0), "of the helix; 0: straight", 0);
    spec.curl_pitch = curl.number("pitch", "m", above(0), "length of its axis in a turn", 0.1 * spec.length);
  });
  in.object("clumps", "strands that gather", false, [&](ParamReader& clumps) {
    spec.clumps = clumps.integer("count", within(0, 1e6), "of guide strands that others gather around; 0: none", 0);
    spec.clump_tightness =
        clumps.number("tightness", "1", within(0, 0.99),
                      "how much nearer a tip is to its guide's: 0 not at all, 1 would be all the way", 0.5);
  });
  spec.root_depth = in.number("root_depth", "m", at_least(0), "strands begin this far below the surface", 0);
  return spec;
}

BraidSpec BraidSpec::read(ParamReader& in) {
  BraidSpec spec;
  spec.bundles = static_cast<int>(in.integer("bundles", within(3, 16), "that cross each other", 3));
  spec.strands = static_cast<int>(in.integer("strands", within(1, 100000), "of each bundle"));
  spec.length = in.number("length", "m", above(0), "of the braid, downward from the origin");
  spec.spacing = in.number("spacing", "m", above(0), "between center lines of strands, at least");
  spec.pitch =
      in.open_number("pitch", "m", above(0),
                     "length in which a bundle comes back to its side; by default three times all bundles' widths");
  return spec;
}

TubeSpec TubeSpec::read(ParamReader& in) {
  TubeSpec spec;
  spec.count = in.integer("count", within(1, 1e6), "number of strands");
  spec.length = in.number("length", "m", above(0), "of the tube, along y");
  spec.spacing = in.number("spacing", "m", above(0), "between neighbors, which are a honeycomb");
  spec.jitter = in.number("jitter", "1", within(0, 0.5), "of their places, at most, in spacings", 0);
  spec.wave =
      in.number("wave", "1", within(0, 0.5), "amplitude of waves of random direction and phase, in spacings", 0);
  spec.wavelength = in.number("wavelength", "m", above(0), "of those", 0.25 * spec.length);
  return spec;
}

void read_hair_source(ParamReader& in, HairSpec& hair) {
  StrandFileSpec stand_in;  // where `strands` is missing or wrong
  stand_in.content = one_strand();
  hair.source = stand_in;
  Alternatives sources{"source", {}};
  each_alternative(&hair.source, [&]<class T>() {
    sources.all.push_back({T::name, T::doc, [&](ParamReader& inner) { hair.source = T::read(inner); }, T::shorthand});
  });
  in.one_of("strands", sources, "where the strands come from");
  hair.radius = in.open_number("radius", "m", above(0), "of strands; by default that of the file");
  hair.segment_length =
      in.open_number("segment_length", "m", above(0), "wanted; strands have a whole number of equal segments");
  const bool from_file = std::holds_alternative<StrandFileSpec>(hair.source);
  // With a length there is no default number: a scene with its defaults filled in must be one that can be read again.
  if (!hair.segment_length || in.has("segments") || in.describing())
    hair.segments =
        in.integer("segments", within(0, 100000),
                   "of each strand, unless `segment_length` is given; 0: as many as the file has", from_file ? 0 : 20);
  hair.seed = in.integer("seed", within(0, 4294967295.0), "start of all that is random about strands", 0);
  if (in.describing()) return;
  if (hair.segment_length && in.has("segments"))
    in.complain("segments", "contradicts `segment_length`; remove one of the two");
  if (!from_file && hair.segments == 0 && !hair.segment_length)
    in.complain("segments", "expected a number of segments: strands that are made have none of their own");
  const auto* file = std::get_if<StrandFileSpec>(&hair.source);
  if (!hair.radius && in.has("strands") && (!file || file->content->strands.radius.empty()))
    in.complain("radius", file ? "the file does not say how thick its strands are; expected a radius"
                               : "expected a radius: strands that are made have none of their own");
}

namespace {

double strand_count_of(const HairSpec& hair) {
  return std::visit(
      []<class T>(const T& source) -> double {
        if constexpr (std::is_same_v<T, StrandFileSpec>)
          return static_cast<double>(strand_count(source.content->strands));
        if constexpr (std::is_same_v<T, ScalpSpec>) {
          if (!source.density) return static_cast<double>(source.count);
          const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, source.shape);
          const Vec<double, 3> size = bounds.high - bounds.low;  // bodies have about half of their box's surface
          return *source.density * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
        }
        if constexpr (std::is_same_v<T, BraidSpec>) return static_cast<double>(source.bundles) * source.strands;
        if constexpr (std::is_same_v<T, TubeSpec>) return static_cast<double>(source.count);
      },
      hair.source);
}

double strand_length_of(const HairSpec& hair) {
  return std::visit(
      [&]<class T>(const T& source) -> double {
        if constexpr (std::is_same_v<T, StrandFileSpec>) {
          double sum = 0;
          const Strands& strands = source.content->strands;
          for (std::size_t s = 0; s < strand_count(strands); ++s) sum += length_of(strand_points(strands, s));
          return sum / std::max(1.0, strand_count_of(hair));
        } else {
          return source.length;
        }
      },
      hair.source);
}

}  // namespace

Vec<double, 3> expected_half_size(const HairSpec& hair) {
  const auto largest = [](const Vec<double, 3>& low, const Vec<double, 3>& high, double more) {
    Vec<double, 3> half;
    for (int k = 0; k < 3; ++k) half[k] = std::max(std::abs(low[k]), std::abs(high[k])) + more;
    return half;
  };
  return std::visit(
      [&]<class T>(const T& source) -> Vec<double, 3> {
        if constexpr (std::is_same_v<T, StrandFileSpec>) {
          Vec<double, 3> half = Vec<double, 3>::filled(1e-9);
          for (const Vec<double, 3>& x : source.content->strands.points)
            for (int k = 0; k < 3; ++k) half[k] = std::max(half[k], std::abs(x[k]));
          return half;
        }
        if constexpr (std::is_same_v<T, ScalpSpec>) {
          const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, source.shape);
          return largest(bounds.low, bounds.high, source.length);
        }
        if constexpr (std::is_same_v<T, BraidSpec>) {
          const double width = source.spacing * (1 + source.bundles * std::sqrt(static_cast<double>(source.strands)));
          return {{width, source.length, width}};
        }
        if constexpr (std::is_same_v<T, TubeSpec>) {
          const double width = source.spacing * (1 + 0.55 * std::sqrt(static_cast<double>(source.count)));
          return {{width, 0.5 * source.length, width}};
        }
      },
      hair.source);
}

double expected_segments(const HairSpec& hair) {
  const auto* file = std::get_if<StrandFileSpec>(&hair.source);
  if (hair.segment_length) return strand_count_of(hair) * std::ceil(strand_length_of(hair) / *hair.segment_length);
  if (hair.segments == 0 && file)
    return static_cast<double>(file->content->strands.points.size() - strand_count(file->content->strands));
  return strand_count_of(hair) * static_cast<double>(hair.segments);
}

double expected_segment_length(const HairSpec& hair) {
  return hair.segment_length ? *hair.segment_length
                             : strand_length_of(hair) * strand_count_of(hair) / std::max(1.0, expected_segments(hair));
}

double least_radius(const HairSpec& hair) {
  if (hair.radius) return *hair.radius;
  const auto* file = std::get_if<StrandFileSpec>(&hair.source);
  if (!file || file->content->strands.radius.empty()) return 0;  // which the reader has complained about
  const std::vector<double>& radius = file->content->strands.radius;
  return *std::min_element(radius.begin(), radius.end());
}

double expected_blocks(const HairSpec& hair, double block) {
  if (const auto* file = std::get_if<StrandFileSpec>(&hair.source)) {
    BlockCount blocks(block);
    for (const Vec<double, 3>& x : file->content->strands.points) blocks.add(x);
    return blocks.count();
  }
  // A line of any direction is in 1 + 1.5 l / h cubes. Many lines fall on the same ones, of those there are around.
  double reach = strand_length_of(hair);
  Vec<double, 3> half = expected_half_size(hair);
  double part = pi / 4;  // of its box that a bundle is in
  if (const auto* scalp = std::get_if<ScalpSpec>(&hair.source)) {
    const double turns = scalp->curl_radius > 0 ? 2 * pi * scalp->curl_radius / scalp->curl_pitch : 0;
    reach *= (1 - 0.5 * scalp->length_variation) / std::sqrt(1 + turns * turns);
    for (int k = 0; k < 3; ++k)  // combed hair goes one way
      half[k] += reach * (1 - scalp->comb_amount * (1 - std::abs(scalp->comb[k]))) - scalp->length;
    part = pi / 6;
  }
  if (std::holds_alternative<BraidSpec>(hair.source)) half[1] *= 0.5;  // it hangs down from the origin
  double around = part;
  for (int k = 0; k < 3; ++k) around *= 2 * half[k] / block + 1;
  return around * -std::expm1(-strand_count_of(hair) * (1 + 1.5 * reach / block) / around);
}

}  // namespace tribo
