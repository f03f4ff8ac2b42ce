#include "tribo/mesh/tet_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tribo/mesh/scanner.h"

namespace tribo {

TetFile TetFileMaker::finish() {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / 4;
  if (std::max(out_.vertices.size(), corners_.size()) > most)
    fail_in_file(file_, fmt::format("has more than {} vertices or tets", most));
  const auto& numbers = out_.vertex_numbers;
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; };
  if (!std::is_sorted(numbers.begin(), numbers.end())) std::stable_sort(order.begin(), order.end(), before);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (numbers[order[i]] == numbers[order[i - 1]])
      fail_in_file(file_, fmt::format("has two vertices {}; number them anew", numbers[order[i]]));
  out_.tets.reserve(corners_.size());
  for (std::size_t t = 0; t < corners_.size(); ++t) {
    Vec<std::int32_t, 4>& tet = out_.tets.emplace_back();
    for (int k = 0; k < 4; ++k) {
      const std::int64_t wanted = corners_[t][k];
      // Most files number vertices one by one.
      std::size_t i = 0;
      const auto guess =
          static_cast<std::uint64_t>(wanted) - static_cast<std::uint64_t>(numbers.empty() ? 0 : numbers[order[0]]);
      if (guess < order.size() && numbers[order[guess]] == wanted) {
        i = guess;
      } else {
        i = static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), wanted,
                                                      [&](std::size_t a, std::int64_t n) { return numbers[a] < n; }) -
                                     order.begin());
        if (i == order.size() || numbers[order[i]] != wanted)
          fail_in_file(file_, fmt::format("tet {} refers to vertex {}, which is not among the {} there are",
                                          out_.tet_numbers[t], wanted, numbers.size()));
      }
      tet[k] = static_cast<std::int32_t>(order[i]);
    }
  }
  return std::move(out_);
}

namespace {

/// MEDIT (.mesh), as Gmsh, TetGen, fTetWild, MMG and CGAL write it: keywords, each with a count and that many rows.
class MeditParser {
 public:
  MeditParser(std::string_view text, const std::string& file) : scan_(text, file), maker_(file) { scan_.comment = '#'; }

  TetFile parse() {
    std::string_view word = scan_.word();
    if (word != "MeshVersionFormatted")
      scan_.fail("is no MEDIT file: expected \"MeshVersionFormatted\" first, got " + shown_word(word));
    scan_.whole("the version");
    bool has_end = false;
    while (!(word = scan_.word()).empty() && !has_end) {
      if (word == "Dimension") {
        const std::int64_t dimension = scan_.whole("the dimension");
        if (dimension != 3) scan_.fail("expected three dimensions, got " + std::to_string(dimension));
      } else if (word == "Vertices") {
        vertices();
      } else if (word == "Tetrahedra") {
        tets();
      } else if (word == "Hexahedra" || word == "Prisms" || word == "Pyramids") {
        maker_.add_other_solids(scan_.count(scan_.whole("the number of elements"), 12, "elements"));
        skip(word);
      } else if (word == "End") {
        has_end = true;
      } else {
        skip(word);
      }
    }
    if (!has_end) scan_.fail_at_end("\"End\"");
    return maker_.finish();
  }

 private:
  void vertices() {
    const std::size_t n = scan_.count(scan_.whole("the number of vertices"), 8, "vertices");
    for (std::size_t i = 0; i < n; ++i) {
      Vec<double, 3> v;
      for (int k = 0; k < 3; ++k) v[k] = scan_.number("a coordinate");
      scan_.number("a vertex's reference");
      maker_.add_vertex(static_cast<std::int64_t>(maker_.vertex_count()) + 1, v);
    }
  }
  void tets() {
    const std::size_t n = scan_.count(scan_.whole("the number of tets"), 10, "tets");
    for (std::size_t i = 0; i < n; ++i) {
      Vec<std::int64_t, 4> corners;
      for (int k = 0; k < 4; ++k) corners[k] = scan_.whole("the number of a vertex");
      scan_.whole("a tet's reference");
      maker_.add_tet(static_cast<std::int64_t>(maker_.tet_count()) + 1, corners);
    }
  }
  /// Numbers, up to the next keyword.
  void skip(std::string_view keyword) {
    if (!is_keyword(keyword)) scan_.fail("expected a keyword, got " + shown_word(keyword));
    while (!scan_.peek().empty() && !is_keyword(scan_.peek())) scan_.word();
  }
  static bool is_keyword(std::string_view w) { return (w[0] >= 'A' && w[0] <= 'Z') || (w[0] >= 'a' && w[0] <= 'z'); }

  Scanner scan_;
  TetFileMaker maker_;
};

/// TetGen: vertices in .node, tets in .ele; both begin with counts, and every row with its number, from 0 or 1.
class TetgenParser {
 public:
  TetgenParser(std::string_view node, const std::string& node_file, std::string_view ele, const std::string& ele_file)
      : node_(node, node_file), ele_(ele, ele_file), maker_(ele_file) {
    node_.comment = ele_.comment = '#';
  }

  TetFile parse() {
    const std::size_t vertices = node_.count(node_.whole("the number of vertices"), 8, "vertices");
    const std::int64_t dimension = in_line(node_, "the dimension");
    if (dimension != 3) node_.fail("expected three dimensions, got " + std::to_string(dimension));
    node_.end_line();
    for (std::size_t i = 0; i < vertices; ++i) {
      const std::int64_t number = node_.whole("the number of a vertex");
      Vec<double, 3> v;
      for (int k = 0; k < 3; ++k) v[k] = node_.parsed<double>(word_in_line(node_), "a coordinate");
      node_.end_line();  // attributes and markers
      maker_.add_vertex(number, v);
    }
    const std::size_t tets = ele_.count(ele_.whole("the number of tets"), 10, "tets");
    const std::int64_t nodes = in_line(ele_, "the number of vertices of a tet");
    if (nodes != 4 && nodes != 10) ele_.fail("expected tets of 4 or 10 vertices, got " + std::to_string(nodes));
    if (nodes == 10) maker_.found_middle_nodes();
    ele_.end_line();
    for (std::size_t i = 0; i < tets; ++i) {
      const std::int64_t number = ele_.whole("the number of a tet");
      Vec<std::int64_t, 4> corners;
      for (int k = 0; k < 4; ++k) corners[k] = in_line(ele_, "the number of a vertex");
      ele_.end_line();
      maker_.add_tet(number, corners);
    }
    return maker_.finish();
  }

 private:
  static std::string_view word_in_line(Scanner& scan) {
    const std::string_view word = scan.word_in_line();
    if (word.empty() && scan.left() > 0) scan.fail("the line has too few numbers");
    return word;
  }
  static std::int64_t in_line(Scanner& scan, const char* what) {
    return scan.parsed<std::int64_t>(word_in_line(scan), what);
  }

  Scanner node_, ele_;
  TetFileMaker maker_;
};

/// Gmsh (.msh), formats 2 and 4.1, as text or bytes: sections from $Name to $EndName.
class GmshParser {
 public:
  GmshParser(std::string_view bytes, const std::string& file) : scan_(bytes, file), maker_(file), file_(file) {}

  TetFile parse() {
    bool nodes = false, elements = false;
    std::string_view word;
    while (!(word = scan_.word()).empty()) {
      if (word[0] != '$') scan_.fail("expected the name of a section, like $Nodes, got " + shown_word(word));
      const std::string name(word.substr(1));
      if (name == "NOD") scan_.fail("is of format 1 of Gmsh; save it in format 4.1 or 2.2");
      if (version_ == 0 && name != "MeshFormat" && name != "Comments")
        scan_.fail("is no mesh of Gmsh: expected $MeshFormat first, got " + shown_word(word));
      scan_.end_line();
      if (name == "MeshFormat") {
        format();
      } else if (name == "Nodes") {
        nodes = true;
        version_ >= 4 ? nodes_4() : nodes_2();
      } else if (name == "Elements") {
        elements = true;
        version_ >= 4 ? elements_4() : elements_2();
      } else {
        const std::size_t end = scan_.all().find("$End" + name, scan_.place());
        if (end == std::string_view::npos) {
          scan_.go_to(scan_.all().size());
          scan_.fail_at_end("$End" + name.substr(0, 24));
        }
        scan_.go_to(end);
      }
      const std::string_view end = scan_.word();
      if (end.empty()) scan_.fail_at_end("$End" + name.substr(0, 24));
      if (end != "$End" + name) scan_.fail("expected $End" + name.substr(0, 24) + ", got " + shown_word(end));
    }
    if (version_ == 0) fail_in_file(file_, "is no mesh of Gmsh: it has no $MeshFormat");
    if (!nodes || !elements) fail_in_file(file_, std::string("has no $") + (nodes ? "Elements" : "Nodes"));
    return maker_.finish();
  }

 private:
  void format() {
    const double version = scan_.number("the version of the format");
    const std::int64_t type = scan_.whole("0 for text or 1 for bytes");
    const std::int64_t size = scan_.whole("the size of a number");
    if (!(version >= 2 && version < 3) && version != 4.1)
      scan_.fail(fmt::format("is of format {} of Gmsh; save it in format 4.1 or 2.2", version));
    if (type != 0 && type != 1) scan_.fail("expected 0 for text or 1 for bytes, got " + std::to_string(type));
    if (size != 8) scan_.fail("expected numbers of 8 bytes, got " + std::to_string(size));
    version_ = version >= 4 ? 4 : 2;
    scan_.binary = type == 1;
    if (!scan_.binary) return;
    scan_.end_line();
    const std::size_t place = scan_.place();
    scan_.big_endian = std::endian::native == std::endian::big;
    if (scan_.raw<std::int32_t>("the number 1") == 1) return;
    scan_.go_to(place);
    scan_.big_endian = !scan_.big_endian;
    if (scan_.raw<std::int32_t>("the number 1") != 1) scan_.fail("expected the number 1; the file is damaged");
  }

  std::int64_t small(const char* what) { return scan_.binary ? scan_.raw<std::int32_t>(what) : scan_.whole(what); }
  std::int64_t large(const char* what) { return scan_.binary ? scan_.raw<std::int64_t>(what) : scan_.whole(what); }
  double real(const char* what) { return scan_.binary ? scan_.raw_number(what) : scan_.number(what); }
  /// Of an item with so many numbers as text and so many bytes.
  std::size_t least(std::size_t numbers, std::size_t bytes) const { return scan_.binary ? bytes : 2 * numbers; }

  Vec<double, 3> point() {
    Vec<double, 3> v;
    for (int k = 0; k < 3; ++k) v[k] = real("a coordinate");
    return v;
  }

  /// In format 2 the counts are text in any case.
  std::size_t count_2(const char* what, std::size_t numbers, std::size_t bytes, const char* noun) {
    const std::size_t n = scan_.count(scan_.whole(what), least(numbers, bytes), noun);
    scan_.end_line();
    return n;
  }
  void nodes_2() {
    const std::size_t n = count_2("the number of nodes", 4, 28, "nodes");
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t number = small("the number of a node");
      maker_.add_vertex(number, point());
    }
  }
  void elements_2() {
    const std::size_t n = count_2("the number of elements", 3, 4, "elements");
    for (std::size_t done = 0; done < n;) {
      std::int64_t number = scan_.binary ? 0 : small("the number of an element");
      const std::int64_t type = small("the type of an element");
      const std::int64_t together = scan_.binary ? small("the number of elements together") : 1;
      const std::int64_t tags = small("the number of tags");
      const std::size_t nodes = node_count(type);
      if (together < 1 || static_cast<std::uint64_t>(together) > n - done || tags < 0)
        scan_.fail("elements with impossible counts; the file is damaged");
      scan_.count(tags, least(1, 4), "tags");
      for (std::int64_t i = 0; i < together; ++i, ++done) {
        if (scan_.binary) number = small("the number of an element");
        for (std::int64_t t = 0; t < tags; ++t) small("a tag");
        corners(number, type, nodes, [&] { return small("the number of a node"); });
      }
    }
  }

  void nodes_4() {
    const std::int64_t blocks = large("the number of blocks");
    for (const char* what : {"the number of nodes", "the lowest number", "the highest number"}) large(what);
    scan_.count(blocks, least(4, 20), "blocks");
    std::vector<std::int64_t> numbers;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t dimension = small("a dimension");
      small("a tag");
      const bool parametric = small("0 or 1") != 0;
      if (dimension < 0 || dimension > 3)
        scan_.fail("expected a dimension from 0 to 3, got " + std::to_string(dimension));
      const std::size_t n = scan_.count(large("the number of nodes"), least(4, 32), "nodes");
      numbers.resize(n);
      for (std::int64_t& number : numbers) number = large("the number of a node");
      for (const std::int64_t number : numbers) {
        maker_.add_vertex(number, point());
        for (std::int64_t k = 0; parametric && k < dimension; ++k) real("a parameter");
      }
    }
  }
  void elements_4() {
    const std::int64_t blocks = large("the number of blocks");
    for (const char* what : {"the number of elements", "the lowest number", "the highest number"}) large(what);
    scan_.count(blocks, least(4, 20), "blocks");
    for (std::int64_t b = 0; b < blocks; ++b) {
      small("a dimension");
      small("a tag");
      const std::int64_t type = small("the type of elements");
      const std::size_t nodes = node_count(type);
      const std::size_t n = scan_.count(large("the number of elements"), least(nodes + 1, 8 * nodes + 8), "elements");
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t number = large("the number of an element");
        corners(number, type, nodes, [&] { return large("the number of a node"); });
      }
    }
  }

  template <class Next>
  void corners(std::int64_t number, std::int64_t type, std::size_t nodes, const Next& next) {
    Vec<std::int64_t, 4> tet;
    const bool is_tet = type == 4 || type == 11 || type == 29 || type == 30 || type == 31;
    for (std::size_t k = 0; k < nodes; ++k) {
      const std::int64_t node = next();
      if (k < 4) tet[static_cast<int>(k)] = node;
    }
    if (is_tet) {
      maker_.add_tet(number, tet);
      if (type != 4) maker_.found_middle_nodes();
    } else if (is_solid(type)) {
      maker_.add_other_solids(1);
    }
  }
  /// Hexahedra, prisms and pyramids of any order.
  static bool is_solid(std::int64_t type) {
    return (type >= 5 && type <= 7) || (type >= 12 && type <= 14) || (type >= 17 && type <= 19);
  }
  /// Nodes of elements by their type, from 1.
  std::size_t node_count(std::int64_t type) const {
    constexpr std::size_t counts[] = {2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1, 8,
                                      20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
    if (type < 1 || type > static_cast<std::int64_t>(std::size(counts)))
      scan_.fail("elements of unknown type " + std::to_string(type) + "; save tets only");
    return counts[type - 1];
  }

  Scanner scan_;
  TetFileMaker maker_;
  const std::string& file_;
  int version_ = 0;
};

}  // namespace

TetFile parse_medit(std::string_view text, const std::string& file) { return MeditParser(text, file).parse(); }
TetFile parse_gmsh(std::string_view bytes, const std::string& file) { return GmshParser(bytes, file).parse(); }
TetFile parse_tetgen(std::string_view node, const std::string& node_file, std::string_view ele,
                     const std::string& ele_file) {
  return TetgenParser(node, node_file, ele, ele_file).parse();
}

}  // namespace tribo
