#include <fmt/format.h>

#include "tribo/mesh/scanner.h"
#include "tribo/mesh/strand_file.h"

namespace tribo {
namespace {

/// Which arrays follow the header of a .hair file.
enum Arrays : std::uint32_t { segments = 1, points = 2, thickness = 4, transparency = 8, color = 16 };

}  // namespace

/// The format of Cem Yuksel's hair models: a header of 128 bytes (the letters HAIR; numbers of strands and points;
/// which arrays there are; segments of a strand, thickness, transparency and color where there is no array of them; a
/// text), then the arrays in the order of their bits. Numbers are little end first and 32 bits wide, but for the
/// numbers of segments, which have 16. The thickness that stands for a missing array says nothing about the model's
/// units and is not used.
StrandFile parse_hair(std::string_view bytes, double scale, const std::string& file) {
  constexpr std::size_t header_size = 128;
  if (!bytes.starts_with("HAIR")) fail_in_file(file, "is no .hair file: it does not begin with \"HAIR\"");
  Scanner scan(bytes, file);
  scan.binary = true;
  scan.go_to(4);
  if (bytes.size() < header_size) scan.fail_at_end("a header of 128 bytes");
  const auto strands = scan.raw<std::uint32_t>("the number of strands");
  const auto point_count = scan.raw<std::uint32_t>("the number of points");
  const auto arrays = scan.raw<std::uint32_t>("the list of arrays");
  const auto usual_segments = scan.raw<std::uint32_t>("the number of segments");
  if (arrays >= 2 * Arrays::color) scan.fail(fmt::format("has arrays of an unknown kind (bits {:#x})", arrays));
  if (!(arrays & Arrays::points)) scan.fail("has no array of points");
  scan.go_to(header_size);
  std::vector<std::size_t> counts;
  if (arrays & Arrays::segments) {
    counts.resize(scan.count(strands, 2, "strands"));
    for (std::size_t& count : counts) count = std::size_t{scan.raw<std::uint16_t>("a number of segments")} + 1;
  } else {
    counts.resize(scan.count(strands, 1, "strands"), std::size_t{usual_segments} + 1);
  }
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  if (sum != point_count)
    scan.fail(fmt::format("its {} strands have {} points by their segments, but the header says {}; it is damaged",
                          strands, sum, point_count));
  scan.count(point_count, 12, "points");
  StrandMaker maker(file, "strand");
  for (std::uint32_t i = 0; i < point_count; ++i) {
    Vec<double, 3> x;
    for (int k = 0; k < 3; ++k) x[k] = static_cast<double>(scan.raw<float>("a coordinate"));
    maker.add_point(x);
  }
  if (arrays & Arrays::thickness)
    for (std::uint32_t i = 0; i < point_count; ++i)
      maker.add_radius(0.5 * static_cast<double>(scan.raw<float>("a thickness")));
  const std::size_t rest =
      std::size_t{point_count} * 4 * ((arrays & Arrays::transparency ? 1 : 0) + (arrays & Arrays::color ? 3 : 0));
  if (scan.left() < rest) scan.fail_at_end("the transparency or color of points");
  if (scan.left() > rest)
    scan.fail("goes on after the last array: the counts in its header are too small, or it is damaged");
  std::int64_t at = 0;
  for (const std::size_t count : counts) {
    maker.begin_line();
    for (std::size_t i = 0; i < count; ++i) maker.add_corner(at++);
  }
  return maker.finish(scale);
}

}  // namespace tribo
