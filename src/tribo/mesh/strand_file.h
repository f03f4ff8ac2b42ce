#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/mesh/strands.h"

/// \file
/// Strands in files. Readers throw Error (bad input) whose text begins with the file's name and names the line, byte or
/// strand; strands are counted from 1.

namespace tribo {

struct StrandFile {
  Strands strands;
  std::vector<std::string> notes;  ///< what had to be put right, one sentence each
};

/// Extensions of strand files: .hair, .ply, .vtk, .vtp, .vtu, .obj, .usda.
bool is_strand_file_name(const std::string& file);

/// The strands in a file; its extension says how to read it. `bytes` is what the file holds. Every strand has at least
/// one segment, and every segment a length; no radius is below a tenth of its strand's largest.
StrandFile parse_strands(std::string_view bytes, double scale, const std::string& file);

/// What a file of that name would hold: .hair (in single precision, no more than 65535 segments a strand), .ply, .vtk,
/// .vtp, .obj (which has no radii) or .usda.
std::string strand_file_bytes(const Strands& strands, const std::string& file);

/// Gathers points and the polylines that refer to them, then joins those that share an end.
class StrandMaker {
 public:
  /// `noun`: what the file calls a polyline, for messages.
  StrandMaker(const std::string& file, std::string noun) : file_(file), noun_(std::move(noun)) {}

  void add_point(const Vec<double, 3>& at) { points_.push_back(at); }
  void add_radius(double radius) { radius_.push_back(radius); }
  std::size_t point_count() const { return points_.size(); }
  std::size_t line_count() const { return begin_.size(); }
  void begin_line() { begin_.push_back(corners_.size()); }
  void add_corner(std::int64_t point) { corners_.push_back(point); }
  void note(std::string sentence) { out_.notes.push_back(std::move(sentence)); }

  StrandFile finish(double scale);

 private:
  struct Line {
    std::size_t begin, end;  ///< of its corners
  };
  Line line(std::size_t i) const { return {begin_[i], i + 1 < begin_.size() ? begin_[i + 1] : corners_.size()}; }
  std::vector<std::vector<std::size_t>> joined() const;
  void check() const;

  const std::string& file_;
  std::string noun_;
  std::vector<Vec<double, 3>> points_;
  std::vector<double> radius_;  ///< of each point, or empty
  std::vector<std::int64_t> corners_;
  std::vector<std::size_t> begin_;
  StrandFile out_;
};

/// One format each.
StrandFile parse_hair(std::string_view bytes, double scale, const std::string& file);
StrandFile parse_obj_strands(std::string_view text, double scale, const std::string& file);
StrandFile parse_ply_strands(std::string_view bytes, double scale, const std::string& file);
StrandFile parse_vtk_strands(std::string_view bytes, double scale, const std::string& file);
StrandFile parse_vtp_strands(std::string_view bytes, double scale, const std::string& file);
StrandFile parse_vtu_strands(std::string_view bytes, double scale, const std::string& file);
StrandFile parse_usda_strands(std::string_view text, double scale, const std::string& file);

}  // namespace tribo
