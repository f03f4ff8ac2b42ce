#pragma once

#include <vector>

#include "tribo/exec/columns.h"
#include "tribo/io/frame.h"
#include "tribo/matter/solids/seed.h"

namespace tribo::TRIBO_BACKEND {

/// Vectors of vertices on the host, one after the other as frames show them.
template <class Real>
class HostVectors {
 public:
  HostVectors(Exec& ex, const Field<Real, 3>& field, Index count) : vectors_(static_cast<std::size_t>(count)) {
    std::vector<Real> column(vectors_.size());
    for (int k = 0; k < 3; ++k) {
      copy_to_host(ex, field.c[k], column.data(), count);
      for (std::size_t i = 0; i < column.size(); ++i) vectors_[i][k] = column[i];
    }
  }

  const Vec<Real, 3>& operator[](Index vertex) const { return vectors_[static_cast<std::size_t>(vertex)]; }

  NamedArray column(const char* name, const Run& vertices) const {
    std::vector<Real> out;
    for (Index i = vertices.begin; i < vertices.end; ++i) append(i, out);
    return make_array<Real>(name, 3, out);
  }
  NamedArray column(const char* name, const std::vector<Index>& vertices) const {
    std::vector<Real> out;
    for (const Index i : vertices) append(i, out);
    return make_array<Real>(name, 3, out);
  }

 private:
  void append(Index vertex, std::vector<Real>& out) const {
    for (int k = 0; k < 3; ++k) out.push_back((*this)[vertex][k]);
  }

  std::vector<Vec<Real, 3>> vectors_;
};

}  // namespace tribo::TRIBO_BACKEND
