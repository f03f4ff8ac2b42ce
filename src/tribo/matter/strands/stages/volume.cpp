#include "tribo/matter/strands/stages/volume.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* volume_label = "hair volume";

/// Of the groomed density: cells with less are air, and no face is lighter (theory I.1, I.2).
constexpr double thinnest = 0.1;
/// Volume that a cell may win in a step, by which densities of many times the target do no harm.
constexpr double most_opening = 0.5;
/// Cells of the window on either side of those with hair: trilinear weights reach one of them, their faces the next.
constexpr Index margin = 2;

struct Extent {
  Vec3 low, high;
};
template <class Real>
struct ExtentOfVertex {
  FieldView<const Real, 3> x;
  const Index* first;
  Index begin, end;  ///< samples
  Extent none;
  TRIBO_HD Extent operator()(Index i) const {
    if (first[i] == first[i + 1] || first[i] < begin || first[i] >= end) return none;
    Vec3 at;
    bool finite = true;
    for (int k = 0; k < 3; ++k) {
      at[k] = static_cast<double>(x[k][i]);
      finite = finite && at[k] > -1e18 && at[k] < 1e18;
    }
    return finite ? Extent{at, at} : none;
  }
};
struct JoinExtents {
  TRIBO_HD Extent operator()(const Extent& a, const Extent& b) const {
    Extent e;
    for (int k = 0; k < 3; ++k) {
      e.low[k] = min(a.low[k], b.low[k]);
      e.high[k] = max(a.high[k], b.high[k]);
    }
    return e;
  }
};

/// Where samples are, in cells from the corner of the window.
template <class Real>
struct SamplePlaces {
  FieldView<const Real, 3> x, tail;
  const VolumeSample<Real>* sample;  ///< from the first one on
  CellGrid grid;
  Vec3 corner;
  double scale;  ///< cells per meter

  /// False where it is nowhere: then it is put where it does no harm.
  TRIBO_HD bool operator()(Index e, Vec<Real, 3>& at) const {
    const Index i = sample[e].vertex;
    const double t = static_cast<double>(sample[e].along);
    bool finite = true;
    for (int k = 0; k < 3; ++k) {
      double p = static_cast<double>(x[k][i]) + static_cast<double>(tail[k][i]);
      if (t > 0) p += t * (static_cast<double>(x[k][i + 1]) + static_cast<double>(tail[k][i + 1]) - p);
      at[k] = static_cast<Real>((p - corner[k]) * scale);
      const Real low = Real(margin), high = static_cast<Real>(grid.size[k] - margin);
      finite = finite && at[k] > low - Real(1) && at[k] < high + Real(1);
      at[k] = min(max(at[k], low), high);  // tails of positions may reach out of the window
    }
    if (!finite) at = Vec<Real, 3>::filled(Real(margin));
    return finite;
  }
  TRIBO_HD Index half_cell(const Vec<Real, 3>& at, int k) const {
    return min(static_cast<Index>(Real(2) * at[k]), 2 * (grid.size[k] - margin) - 1);
  }
};

template <class Real>
struct KeyOfSample {
  SamplePlaces<Real> places;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index e) const {
    Vec<Real, 3> at;
    places(e, at);
    const CellGrid& g = places.grid;
    const Index row = places.half_cell(at, 0) * (2 * g.size[1]) + places.half_cell(at, 1);
    key[e] = static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(2 * g.size[2]) +
             static_cast<std::uint64_t>(places.half_cell(at, 2));
    order[e] = e;
  }
};

/// A sample has what its two vertices give it, with their own velocities: mass and momentum are theirs exactly.
template <class Real>
struct PlacePoint {
  SamplePlaces<Real> places;
  FieldView<const Real, 3> v;
  const Real* mass;
  const Index* order;
  const Real* target;  ///< of vertices
  VolumePoint<Real>* point;
  TRIBO_HD void operator()(Index e) const {
    VolumePoint<Real> p;
    const bool somewhere = places(order[e], p.at);
    const VolumeSample<Real> s = places.sample[order[e]];
    const Index i = s.vertex;
    const Real own = somewhere ? s.own * mass[i] : Real(0);
    const Real next = somewhere && s.next > Real(0) ? s.next * mass[i + 1] : Real(0);
    p.mass = own + next;
    for (int k = 0; k < 3; ++k) {
      p.momentum[k] = somewhere ? own * v[k][i] : Real(0);
      if (next > Real(0)) p.momentum[k] += next * v[k][i + 1];
    }
    p.target = target[i];
    if (next > Real(0)) p.target += next / p.mass * (target[i + 1] - target[i]);
    point[e] = p;
  }
};

/// First point of each row of half cells, and of each half cell of those that have any.
struct StartRow {
  const std::uint64_t* key;
  Index points, rows, length;
  Index *row, *half;
  TRIBO_HD void operator()(Index r) const {
    const std::uint64_t from = static_cast<std::uint64_t>(r) * static_cast<std::uint64_t>(length);
    Index low = 0, high = points;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (key[middle] < from)
        low = middle + 1;
      else
        high = middle;
    }
    row[r] = low;
    if (r == rows || low == points || key[low] >= from + static_cast<std::uint64_t>(length)) return;
    Index* const first = half + Size{r} * (length + 1);
    for (Index k = 0; k < length; ++k) {
      first[k] = low;
      while (low < points && key[low] == from + static_cast<std::uint64_t>(k)) ++low;
    }
    first[length] = low;
  }
};

/// Points by rows of half cells.
struct HalfRows {
  CellGrid grid;
  const Index *row, *half;

  /// Points of row (I, J), half cells [low, high).
  TRIBO_HD void range(Index I, Index J, Index low, Index high, Index& begin, Index& end) const {
    const Index r = I * (2 * grid.size[1]) + J;
    begin = end = 0;
    if (row[r] == row[r + 1]) return;
    const Index* const first = half + Size{r} * (2 * grid.size[2] + 1);
    begin = first[low];
    end = first[high];
  }
};

/// Cells that anything is to be known of: those with points, one before and two after them, where the upper faces of
/// hair are. First along rows, then across.
struct MarkAlongRows {
  HalfRows rows;
  Index* flag;
  TRIBO_HD void operator()(Index cell) const {
    Index at[3];
    rows.grid.place(cell, at);
    const Index low = max(2 * at[2] - 4, 0), high = min(2 * at[2] + 4, 2 * rows.grid.size[2]);
    Index found = 0;
    for (int h = 0; h < 4 && found == 0; ++h) {
      Index begin, end;
      rows.range(2 * at[0] + h / 2, 2 * at[1] + h % 2, low, high, begin, end);
      if (begin < end) found = 1;
    }
    flag[cell] = found;
  }
};
struct MarkAcross {
  CellGrid grid;
  int axis;
  const Index* flag;
  Index* next;
  TRIBO_HD void operator()(Index cell) const {
    Index at[3];
    grid.place(cell, at);
    const Index s = grid.stride(axis), i = at[axis];
    Index found = flag[cell];
    if (i > 0) found = found | flag[cell - s];
    if (i > 1) found = found | flag[cell - 2 * s];
    if (i + 1 < grid.size[axis]) found = found | flag[cell + s];
    next[cell] = found;
  }
};
struct ListTouched {
  const Index *flag, *to;
  Index* list;
  TRIBO_HD void operator()(Index cell) const {
    if (flag[cell] != 0) list[to[cell]] = cell;
  }
};

template <class Real>
struct ClearCell {
  Real* target;
  Index *kind, *valid;
  TRIBO_HD void operator()(Index cell) const {
    target[cell] = Real(0);
    kind[cell] = static_cast<Index>(VolumeCell::air);
    valid[cell] = 0;
  }
};

template <class Real>
struct ClearTarget {
  Real* target;
  TRIBO_HD void operator()(Index i) const { target[i] = Real(0); }
};
struct ClearFlag {
  Index* flag;
  TRIBO_HD void operator()(Index cell) const { flag[cell] = 0; }
};

/// Cells around a point whose centers it is between, or whose faces toward the cells before them along one axis.
template <class Real>
struct Trilinear {
  Index stride[3], base;
  Real t[3];

  TRIBO_HD Trilinear(const CellGrid& grid, const Vec<Real, 3>& at, int face) {
    Index low[3];
    for (int k = 0; k < 3; ++k) {
      const Real s = at[k] - (k == face ? Real(0) : Real(0.5));
      low[k] = min(static_cast<Index>(s), grid.size[k] - 2);
      t[k] = s - static_cast<Real>(low[k]);
      stride[k] = grid.stride(k);
    }
    base = grid.at(low[0], low[1], low[2]);
  }
  TRIBO_HD Index cell(int corner, Real& weight) const {
    Index c = base;
    weight = Real(1);
    for (int k = 0; k < 3; ++k) {
      const bool high = (corner >> k & 1) != 0;
      weight *= high ? t[k] : Real(1) - t[k];
      if (high) c += stride[k];
    }
    return c;
  }
  TRIBO_HD Real of(const Real* values) const {
    Real sum = Real(0);
    for (int c = 0; c < 8; ++c) {
      Real w;
      const Index at = cell(c, w);
      if (w > Real(0)) sum += w * values[at];
    }
    return sum;
  }
};

/// Sums of trilinear weights over the points around the center of a cell, and around its faces toward the cells before.
/// All four at once: they have most of their points in common.
template <class Real>
struct GatherCell {
  HalfRows rows;
  const Index* list;
  const VolumePoint<Real>* point;
  Real cell_volume;
  Real *density, *target;
  FieldView<Real, 3> face_mass, u;
  Index* valid;

  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3], low[3], high[3];
    rows.grid.place(cell, at);
    Vec<Real, 3> corner;
    for (int k = 0; k < 3; ++k) {
      corner[k] = static_cast<Real>(at[k]);
      low[k] = max(2 * at[k] - 2, 0);
      high[k] = min(2 * at[k] + 3, 2 * rows.grid.size[k]);
    }
    Real mass = Real(0), goal = Real(0), m[3] = {Real(0), Real(0), Real(0)}, mu[3] = {Real(0), Real(0), Real(0)};
    for (Index I = low[0]; I < high[0]; ++I)
      for (Index J = low[1]; J < high[1]; ++J) {
        Index begin, end;
        rows.range(I, J, low[2], high[2], begin, end);
        for (Index p = begin; p < end; ++p) {
          const VolumePoint<Real>& one = point[p];
          Real on[3], off[3];  // weights along each axis, of a node at the corner and of one half a cell after it
          for (int k = 0; k < 3; ++k) {
            const Real d = one.at[k] - corner[k];
            on[k] = max(Real(1) - abs(d), Real(0));
            off[k] = max(Real(1) - abs(d - Real(0.5)), Real(0));
          }
          const Real across[3] = {off[1] * off[2], off[0] * off[2], off[0] * off[1]};
          const Real w = off[0] * across[0] * one.mass;
          mass += w;
          goal += w * one.target;
          for (int k = 0; k < 3; ++k) {
            const Real face = on[k] * across[k];
            m[k] += face * one.mass;
            mu[k] += face * one.momentum[k];
          }
        }
      }
    density[cell] = mass / cell_volume;
    target[cell] = mass > Real(0) ? goal / mass : Real(0);
    Index has = 0;
    for (int k = 0; k < 3; ++k) {
      face_mass[k][cell] = m[k];
      u[k][cell] = m[k] > Real(0) ? mu[k] / m[k] : Real(0);
      if (m[k] > Real(0)) has |= 1 << k;
    }
    valid[cell] = has;
  }
};

struct DensitySum {
  double sum, count;
};
template <class Real>
struct DensityOfCell {
  const Index* list;
  const Real* density;
  double least;
  TRIBO_HD DensitySum operator()(Index e) const {
    const double rho = static_cast<double>(density[list[e]]);
    return rho > least ? DensitySum{rho * rho, rho} : DensitySum{0, 0};
  }
};
struct AddDensities {
  TRIBO_HD DensitySum operator()(const DensitySum& a, const DensitySum& b) const {
    return {a.sum + b.sum, a.count + b.count};
  }
};

/// What a vertex sees of its body.
template <class Real>
struct DensityAtVertex {
  CellGrid grid;
  const VolumePoint<Real>* point;
  const Index* order;
  const VolumeSample<Real>* sample;
  const Real* density;
  Real* target;
  TRIBO_HD void operator()(Index e) const {
    const VolumeSample<Real> s = sample[order[e]];
    if (s.along == Real(0)) target[s.vertex] = Trilinear<Real>(grid, point[e].at, -1).of(density);
  }
};

template <class Real>
struct NameCell {
  CellGrid grid;
  const Index* list;
  Vec<Real, 3> corner;
  Real dx;
  typename Colliders<Real, 3>::View colliders;
  const Real *density, *target;
  Index* kind;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3];
    grid.place(cell, at);
    Vec<Real, 3> center;
    for (int k = 0; k < 3; ++k) center[k] = corner[k] + (static_cast<Real>(at[k]) + Real(0.5)) * dx;
    bool solid = false;
    colliders.each_contact(center, Real(0), [&](const Contact<Real, 3>&) { solid = true; });
    VolumeCell is = VolumeCell::air;
    if (solid)
      is = VolumeCell::solid;
    else if (grid.inside(at) && density[cell] > Real(thinnest) * target[cell])
      is = VolumeCell::hair;
    kind[cell] = static_cast<Index>(is);
  }
};

/// Faces without mass take on the mean of those next to them that have a velocity; the others see it in the next sweep.
template <class Real>
struct Extrapolate {
  CellGrid grid;
  const Index *list, *valid;
  Index* next;
  FieldView<Real, 3> u;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3];
    grid.place(cell, at);
    Index has = valid[cell];
    for (int a = 0; a < 3; ++a) {
      if ((valid[cell] >> a & 1) != 0) continue;
      Real sum = Real(0);
      Index count = 0;
      for (int k = 0; k < 3; ++k)
        for (int side = -1; side <= 1; side += 2) {
          const Index i = at[k] + side, other = cell + side * grid.stride(k);
          if (i < 0 || i >= grid.size[k] || (valid[other] >> a & 1) == 0) continue;
          sum += u[a][other];
          ++count;
        }
      if (count == 0) continue;
      u[a][cell] = sum / static_cast<Real>(count);
      has |= 1 << a;
    }
    next[cell] = has;
  }
};

/// 1 / rho_f of faces of hair; 0 where nothing is to be known, or where a collider prescribes the velocity, which is
/// then in u_new. Where hair may separate, colliders only hold back what comes toward them.
template <class Real>
struct PrepareFaces {
  CellGrid grid;
  const Index *list, *kind;
  const Real* target;
  FieldView<const Real, 3> face_mass, u;
  Vec<Real, 3> corner;
  Real dx, cell_volume;
  typename Colliders<Real, 3>::View colliders;
  bool one_sided;
  FieldView<Real, 3> coefficient, u_new;
  Index* blocked;

  TRIBO_HD bool is(Index cell, VolumeCell what) const { return kind[cell] == static_cast<Index>(what); }
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3];
    grid.place(cell, at);
    Index walls = 0;
    for (int k = 0; k < 3; ++k) {
      Real c = Real(0);
      u_new[k][cell] = u[k][cell];
      const Index before = cell - grid.stride(k);
      if (at[k] > 0 && (is(cell, VolumeCell::hair) || is(before, VolumeCell::hair))) {
        if (is(cell, VolumeCell::solid) || is(before, VolumeCell::solid)) {
          walls |= 1 << k;
          const Real wall = wall_velocity(at, k, u[k][cell]);
          const bool leaves = is(before, VolumeCell::solid) ? u[k][cell] > wall : u[k][cell] < wall;
          if (!(one_sided && leaves)) u_new[k][cell] = wall;
        } else {
          const Real least = Real(thinnest) * max(target[cell], target[before]);
          c = Real(1) / max(face_mass[k][cell] / cell_volume, least);
        }
      }
      coefficient[k][cell] = c;
    }
    blocked[cell] = walls;
  }

 private:
  /// Of the collider that the center of the face is deepest in, or nearest to.
  TRIBO_HD Real wall_velocity(const Index* at, int face, Real fallback) const {
    Vec<Real, 3> x;
    for (int k = 0; k < 3; ++k) x[k] = corner[k] + (static_cast<Real>(at[k]) + (k == face ? Real(0) : Real(0.5))) * dx;
    Real velocity = fallback, nearest = dx;
    colliders.each_contact(x, dx, [&](const Contact<Real, 3>& contact) {
      if (contact.distance >= nearest) return;
      nearest = contact.distance;
      velocity = contact.velocity[face];
    });
    return velocity;
  }
};

/// h (target - div) of hair, and which of it has pressure (theory I.2).
template <class Real>
struct PrepareCell {
  CellGrid grid;
  const Index *list, *kind;
  const Real *density, *target;
  FieldView<const Real, 3> u, coefficient;
  Real dx, dt, regain, regain_time;
  Incompressibility incompressibility;
  Real *right, *diagonal;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    right[cell] = Real(0);
    if (kind[cell] != static_cast<Index>(VolumeCell::hair)) return;
    Real out = Real(0), sum = Real(0);
    for (int k = 0; k < 3; ++k) {
      const Index after = cell + grid.stride(k);
      out += u[k][after] - u[k][cell];
      sum += coefficient[k][after] + coefficient[k][cell];
    }
    const Real rho = density[cell], excess = rho / target[cell] - Real(1);
    Real opening = min(regain * excess, Real(most_opening)) / regain_time;  // divergence that is asked for
    if (!(excess > Real(0)))
      opening = incompressibility == Incompressibility::separating ? (rho - target[cell]) / (rho * dt) : Real(0);
    right[cell] = dx * opening - out;
    const bool free = incompressibility == Incompressibility::clamped && excess < Real(0) && out > Real(0);
    if (!free) diagonal[cell] = sum;
  }
};

/// Who has pressure in the next round: who pushes, and who would be pressed together without.
template <class Real>
struct ChooseCell {
  CellGrid grid;
  const Index *list, *kind;
  FieldView<const Real, 3> coefficient;
  const Real *right, *q, *diagonal;
  Real least;  ///< what a divergence may be wrong by, times h
  Index* next;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    next[e] = 0;
    if (kind[cell] != static_cast<Index>(VolumeCell::hair)) return;
    Real sum = Real(0), around = Real(0);
    for (int k = 0; k < 3; ++k) {
      const Index s = grid.stride(k);
      sum += coefficient[k][cell] + coefficient[k][cell + s];
      around += coefficient[k][cell] * q[cell - s] + coefficient[k][cell + s] * q[cell + s];
    }
    if (diagonal[cell] > Real(0))
      next[e] = sum * q[cell] < -least ? 0 : 1;
    else
      next[e] = right[cell] + around > least && sum > Real(0) ? 1 : 0;
  }
};
template <class Real>
struct CountChange {
  const Index *list, *next;
  const Real* diagonal;
  TRIBO_HD Index operator()(Index e) const { return (diagonal[list[e]] > Real(0)) != (next[e] != 0) ? 1 : 0; }
};
template <class Real>
struct ChangeCell {
  CellGrid grid;
  const Index *list, *next;
  FieldView<const Real, 3> coefficient;
  Real *diagonal, *q;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    const bool has = diagonal[cell] > Real(0);
    if (has == (next[e] != 0)) return;
    Real sum = Real(0);
    for (int k = 0; k < 3 && !has; ++k) sum += coefficient[k][cell] + coefficient[k][cell + grid.stride(k)];
    diagonal[cell] = sum;
    q[cell] = Real(0);
  }
};
template <class Real>
struct OnlyPush {
  const Index* list;
  Real* q;
  TRIBO_HD void operator()(Index e) const { q[list[e]] = max(q[list[e]], Real(0)); }
};

template <class Real>
struct PushFaces {
  CellGrid grid;
  const Index* list;
  FieldView<const Real, 3> u, coefficient;
  const Index* blocked;
  const Real* q;
  FieldView<Real, 3> u_new;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    for (int k = 0; k < 3; ++k) {
      const Real c = coefficient[k][cell];
      if ((blocked[cell] >> k & 1) == 0 && c > Real(0))
        u_new[k][cell] = u[k][cell] - c * (q[cell] - q[cell - grid.stride(k)]);
    }
  }
};

/// u_new - flip u at a point, from the eight faces around it along each axis.
template <class Real>
struct InterpolateAtPoint {
  CellGrid grid;
  const VolumePoint<Real>* point;
  const Index* order;
  FieldView<const Real, 3> u, u_new;
  Real flip;
  FieldView<Real, 3> change;
  TRIBO_HD void operator()(Index e) const {
    for (int a = 0; a < 3; ++a) {
      const Trilinear<Real> faces(grid, point[e].at, a);
      Real sum = Real(0);
      for (int c = 0; c < 8; ++c) {
        Real w;
        const Index face = faces.cell(c, w);
        if (w > Real(0)) sum += w * (u_new[a][face] - flip * u[a][face]);
      }
      change[a][order[e]] = sum;
    }
  }
};

/// v_blend = flip (v_lag + interp(u_new - u)) + (1 - flip) interp(u_new) (theory I.1), with the weights by which a
/// vertex gave its mass to samples.
template <class Real>
struct BlendVertex {
  const Index* first;
  const VolumeSample<Real>* sample;
  FieldView<const Real, 3> change;
  const Real* inverse_mass;
  Real flip;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (first[i] == first[i + 1] || !(inverse_mass[i] > Real(0))) return;
    Real sum[3] = {flip * v[0][i], flip * v[1][i], flip * v[2][i]};
    for (Index e = i > 0 ? first[i - 1] : first[i]; e < first[i + 1]; ++e) {
      const Real w = sample[e].vertex == i ? sample[e].own : sample[e].next;
      if (w > Real(0))
        for (int k = 0; k < 3; ++k) sum[k] += w * change[k][e];
    }
    for (int k = 0; k < 3; ++k) v[k][i] = sum[k];
  }
};

template <class Real>
struct KeepVelocity {
  FieldView<const Real, 3> v;
  FieldView<Real, 3> kept;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) kept[k][i] = v[k][i];
  }
};

/// Samples of all vertices of `mcadams`: the vertex itself, and points inside of segments longer than half a cell, else
/// cells would be skipped. Of the mass that a vertex has for a segment of k pieces, the point at t gets 2 (1 - t) / k.
template <class Real>
void sample_strands(Exec& ex, double dx, const RodMesh<Real>& mesh, VolumeTargets<Real>& targets) {
  const auto n = static_cast<std::size_t>(mesh.vertices);
  std::vector<Real> length(n);
  std::vector<Index> start(static_cast<std::size_t>(mesh.strands) + 1);
  copy_to_host(ex, mesh.length, length.data(), mesh.vertices);
  copy_to_host(ex, mesh.start, start.data(), mesh.strands + 1);
  std::vector<VolumeSample<Real>> samples;
  std::vector<Index> first(n + 1, 0);
  const auto pieces_of = [&](std::size_t i) {
    return std::max(1.0, std::ceil(2 * static_cast<double>(length[i]) / dx - 1e-3));
  };
  for (const RodBody& body : mesh.body) {
    const bool taken = body.method == HairMethod::mcadams;
    for (auto s = static_cast<std::size_t>(body.strands.begin); s < static_cast<std::size_t>(body.strands.end); ++s) {
      const auto begin = static_cast<std::size_t>(start[s]), end = static_cast<std::size_t>(start[s + 1]);
      for (std::size_t i = begin; i < end; ++i) {
        first[i] = static_cast<Index>(samples.size());
        if (!taken) continue;
        const auto edge = [&](std::size_t j) {  // length of the edge that begins at j, if any
          return j >= begin && j + 1 < end ? static_cast<double>(length[j]) : 0.0;
        };
        // Shares of a vertex's mass that belong to the segments before and after it.
        const auto share_after = [&](std::size_t j) { return edge(j) / (edge(j) + (j > begin ? edge(j - 1) : 0.0)); };
        double own = 0;
        if (i > begin) own += (1 - share_after(i)) / pieces_of(i - 1);
        if (i + 1 < end) own += share_after(i) / pieces_of(i);
        samples.push_back({static_cast<Index>(i), Real(0), static_cast<Real>(own), Real(0)});
        if (i + 1 == end) continue;
        const double k = pieces_of(i);
        if (static_cast<double>(samples.size()) + k > 1e9)
          throw DeviceError("segments of hair are too long for its volume's grid, " + std::to_string(k) +
                            " points on one; use a larger grid spacing (grid.dx) or shorter segments");
        for (double j = 1; j < k; ++j)
          samples.push_back({static_cast<Index>(i), static_cast<Real>(j / k),
                             static_cast<Real>(share_after(i) * 2 * (1 - j / k) / k),
                             static_cast<Real>((1 - share_after(i + 1)) * 2 * (j / k) / k)});
      }
    }
  }
  first[n] = static_cast<Index>(samples.size());
  targets.samples = first[n];
  copy_to_device(ex, samples.data(), targets.sample, targets.samples);
  copy_to_device(ex, first.data(), targets.first, mesh.vertices + 1);
}

/// The window around samples [begin, end): on the same lattice wherever it is, so that hair that stands still sees the
/// same cells in every step.
template <class Real>
void place_window(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh, const VolumeTargets<Real>& targets,
                  const RodState<Real>& state, Index begin, Index end, VolumeWork<Real>& work) {
  constexpr double far = std::numeric_limits<double>::max();
  const Extent none{Vec3::filled(far), Vec3::filled(-far)};
  Extent extent = reduce(ex, volume_label, mesh.vertices, none,
                         ExtentOfVertex<Real>{view(state.x), targets.first.data(), begin, end, none}, JoinExtents{});
  if (!(extent.low[0] <= extent.high[0])) extent = {Vec3::zero(), Vec3::zero()};
  double size[3], cells = 1;
  for (int k = 0; k < 3; ++k) {
    const double low = std::floor(extent.low[k] / rules.dx), high = std::floor(extent.high[k] / rules.dx);
    work.corner[k] = (low - margin) * rules.dx;
    size[k] = high - low + 1 + 2 * margin;
    cells *= size[k];
  }
  if (!(cells <= static_cast<double>(rules.most_cells)))
    throw DeviceError("the volume of hair spans " + std::to_string(size[0] * rules.dx) + " x " +
                      std::to_string(size[1] * rules.dx) + " x " + std::to_string(size[2] * rules.dx) + " m, " +
                      std::to_string(static_cast<Size>(std::min(cells, 1e18))) + " cells of " +
                      std::to_string(rules.dx) + " m, more than the " + std::to_string(rules.most_cells) +
                      " there can be; use a larger grid spacing (grid.dx), or method \"hybrid\"");
  for (int k = 0; k < 3; ++k) work.grid.size[k] = static_cast<Index>(size[k]);
}

template <class Real>
void rasterize(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh, const VolumeTargets<Real>& targets,
               const RodState<Real>& state, Index begin, Index end, VolumeWork<Real>& work) {
  place_window(ex, rules, mesh, targets, state, begin, end, work);
  const CellGrid grid = work.grid;
  const Index n = end - begin, cells = grid.count();
  const SamplePlaces<Real> places{view(state.x), view(state.x_tail), targets.sample.data() + begin,
                                  grid,          work.corner,        1 / rules.dx};
  work.key.resize_discard(n);
  work.order.resize_discard(n);
  work.point.resize_discard(n);
  parallel_for(ex, volume_label, n, KeyOfSample<Real>{places, work.key.data(), work.order.data()});
  int bits = 1;
  while (bits < 40 && (Size{1} << bits) < 8 * Size{cells}) ++bits;
  work.sorter.sort(ex, volume_label, work.key, work.order, n, bits);
  parallel_for(ex, volume_label, n,
               PlacePoint<Real>{places, view(state.v), mesh.mass.data(), work.order.data(), targets.target.data(),
                                work.point.data()});
  const Index rows = 4 * grid.size[0] * grid.size[1], length = 2 * grid.size[2];
  work.row.resize_discard(rows + 1);
  work.half.resize_discard(Size{rows} * (length + 1));
  parallel_for(ex, volume_label, rows + 1,
               StartRow{work.key.data(), n, rows, length, work.row.data(), work.half.data()});

  const HalfRows half_rows{grid, work.row.data(), work.half.data()};
  for (Array<Index>* a : {&work.flag, &work.flag_next, &work.cell, &work.kind, &work.valid, &work.blocked})
    a->resize_discard(cells);
  for (Array<Real>* a : {&work.density, &work.target, &work.right}) a->resize_discard(cells);
  for (Field<Real, 3>* f : {&work.face_mass, &work.u, &work.u_new}) f->resize_discard(cells);
  parallel_for(ex, volume_label, cells, MarkAlongRows{half_rows, work.flag.data()});
  parallel_for(ex, volume_label, cells, MarkAcross{grid, 1, work.flag.data(), work.flag_next.data()});
  parallel_for(ex, volume_label, cells, MarkAcross{grid, 0, work.flag_next.data(), work.flag.data()});
  work.touched = exclusive_scan(ex, volume_label, work.flag, work.flag_next, cells);
  parallel_for(ex, volume_label, cells, ListTouched{work.flag.data(), work.flag_next.data(), work.cell.data()});

  parallel_for(ex, volume_label, cells, ClearCell<Real>{work.target.data(), work.kind.data(), work.valid.data()});
  const double volume = rules.dx * rules.dx * rules.dx;
  parallel_for(
      ex, volume_label, work.touched,
      GatherCell<Real>{half_rows, work.cell.data(), work.point.data(), static_cast<Real>(volume), work.density.data(),
                       work.target.data(), view(work.face_mass), view(work.u), work.valid.data()});
}

/// Density of the hair on the grid, the mean over its mass in cells of hair, which are those that have a tenth of it.
template <class Real>
double mean_density(Exec& ex, const VolumeWork<Real>& work) {
  double mean = 0;
  for (int pass = 0; pass < 20; ++pass) {
    const DensitySum sum =
        reduce(ex, volume_label, work.touched, DensitySum{0, 0},
               DensityOfCell<Real>{work.cell.data(), work.density.data(), thinnest * mean}, AddDensities{});
    const double next = sum.count > 0 ? sum.sum / sum.count : 0;
    if (next == mean) break;
    mean = next;
  }
  return mean;
}

/// Solves until those that pull have no pressure, and those that would be pressed together have (theory I.2). Sets of
/// a matrix like this one settle after a few rounds.
template <class Real>
void solve_separating(Exec& ex, const VolumeRules& rules, double scale, VolumeWork<Real>& work, VolumeReport& report) {
  PressureSolver<Real>& pressure = work.pressure;
  PressureLevel<Real>& finest = pressure.level[0];
  const Field<Real, 3>& coefficient = finest.coefficient;
  const Real least = static_cast<Real>(rules.tolerance * scale);
  for (;;) {
    parallel_for(ex, volume_label, work.touched,
                 ChooseCell<Real>{work.grid, work.cell.data(), work.kind.data(), view(coefficient), work.right.data(),
                                  pressure.q.data(), finest.diagonal.data(), least, work.flag.data()});
    const Index changes =
        reduce(ex, volume_label, work.touched, Index{0},
               CountChange<Real>{work.cell.data(), work.flag.data(), finest.diagonal.data()}, Plus<Index>{});
    if (changes <= rules.unsettled * report.unknowns) break;
    if (report.rounds == rules.rounds) {
      report.converged = false;
      break;
    }
    parallel_for(ex, volume_label, work.touched,
                 ChangeCell<Real>{work.grid, work.cell.data(), work.flag.data(), view(coefficient),
                                  finest.diagonal.data(), pressure.q.data()});
    build_pressure(ex, pressure);
    const PressureReport solved = solve_pressure(ex, work.right, scale, rules.tolerance, rules.iterations, pressure);
    report.iterations += solved.iterations;
    report.residual = solved.residual;
    report.converged = solved.converged;
    ++report.rounds;
  }
  parallel_for(ex, volume_label, work.touched, OnlyPush<Real>{work.cell.data(), pressure.q.data()});
}

}  // namespace

template <class Real>
VolumeTargets<Real> measure_volume(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                                   const RodState<Real>& state, VolumeWork<Real>& work) {
  VolumeTargets<Real> targets;
  targets.density.assign(mesh.body.size(), 0);
  const bool any = std::any_of(mesh.body.begin(), mesh.body.end(),
                               [](const RodBody& body) { return body.method == HairMethod::mcadams; });
  if (!any) return targets;
  sample_strands(ex, rules.dx, mesh, targets);
  targets.target.resize_discard(mesh.vertices);
  parallel_for(ex, volume_label, mesh.vertices, ClearTarget<Real>{targets.target.data()});
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    if (mesh.body[b].method != HairMethod::mcadams) continue;
    Index begin, end;
    copy_to_host(ex, targets.first, &begin, 1, mesh.body[b].vertices.begin);
    copy_to_host(ex, targets.first, &end, 1, mesh.body[b].vertices.end);
    rasterize(ex, rules, mesh, targets, state, begin, end, work);
    targets.density[b] = mean_density(ex, work);
    parallel_for(ex, volume_label, end - begin,
                 DensityAtVertex<Real>{work.grid, work.point.data(), work.order.data(), targets.sample.data() + begin,
                                       work.density.data(), targets.target.data()});
  }
  return targets;
}

template <class Real>
void rasterize_volume(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh, const VolumeTargets<Real>& targets,
                      const RodState<Real>& state, VolumeWork<Real>& work) {
  rasterize(ex, rules, mesh, targets, state, 0, targets.samples, work);
}

template <class Real>
VolumeReport project_volume(Exec& ex, const VolumeRules& rules, const typename Colliders<Real, 3>::View& colliders,
                            double dt, VolumeWork<Real>& work) {
  const CellGrid grid = work.grid;
  const Index n = work.touched;
  const Index* const list = work.cell.data();
  const Vec<Real, 3> corner = cast<Real>(work.corner);
  const Real dx = static_cast<Real>(rules.dx), cell_volume = static_cast<Real>(rules.dx * rules.dx * rules.dx);
  const Field<Real, 3>&u = work.u, &u_new = work.u_new, &face_mass = work.face_mass;
  clear_pressure(ex, grid, work.pressure);
  PressureLevel<Real>& finest = work.pressure.level[0];
  const Field<Real, 3>& coefficient = finest.coefficient;

  parallel_for(
      ex, volume_label, n,
      NameCell<Real>{grid, list, corner, dx, colliders, work.density.data(), work.target.data(), work.kind.data()});
  parallel_for(ex, volume_label, grid.count(), ClearFlag{work.flag_next.data()});
  for (int sweep = 0; sweep < 2; ++sweep) {
    parallel_for(ex, volume_label, n,
                 Extrapolate<Real>{grid, list, work.valid.data(), work.flag_next.data(), view(work.u)});
    work.valid.swap(work.flag_next);
  }
  parallel_for(ex, volume_label, n,
               PrepareFaces<Real>{grid, list, work.kind.data(), work.target.data(), view(face_mass), view(u), corner,
                                  dx, cell_volume, colliders, rules.incompressibility != Incompressibility::bilateral,
                                  view(finest.coefficient), view(work.u_new), work.blocked.data()});
  parallel_for(ex, volume_label, n,
               PrepareCell<Real>{grid, list, work.kind.data(), work.density.data(), work.target.data(), view(u_new),
                                 view(coefficient), dx, static_cast<Real>(dt), static_cast<Real>(rules.regain),
                                 static_cast<Real>(std::max(dt, rules.regain_time)), rules.incompressibility,
                                 work.right.data(), finest.diagonal.data()});
  build_pressure(ex, work.pressure);
  VolumeReport report;
  report.window = grid.count();
  const double scale = largest_right_hand_side(ex, work.right, work.pressure);
  const PressureReport solved = solve_pressure(ex, work.right, scale, rules.tolerance, rules.iterations, work.pressure);
  report.unknowns = solved.unknowns;
  report.iterations = solved.iterations;
  report.residual = solved.residual;
  report.converged = solved.converged;
  report.rounds = 1;
  if (rules.incompressibility == Incompressibility::separating) solve_separating(ex, rules, scale, work, report);
  parallel_for(ex, volume_label, n,
               PushFaces<Real>{grid, list, view(u), view(coefficient), work.blocked.data(), work.pressure.q.data(),
                               view(work.u_new)});
  return report;
}

template <class Real>
VolumeReport volume_blend(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                          const VolumeTargets<Real>& targets, const typename Colliders<Real, 3>::View& colliders,
                          double dt, RodState<Real>& state, VolumeWork<Real>& work) {
  if (targets.empty()) return {};
  rasterize_volume(ex, rules, mesh, targets, state, work);
  const VolumeReport report = project_volume(ex, rules, colliders, dt, work);
  const double flip = rules.flip_time > 0 ? std::pow(rules.flip, dt / rules.flip_time) : rules.flip;
  const Field<Real, 3>&u = work.u, &u_new = work.u_new, &change = work.change;
  work.change.resize_discard(targets.samples);
  parallel_for(ex, volume_label, targets.samples,
               InterpolateAtPoint<Real>{work.grid, work.point.data(), work.order.data(), view(u), view(u_new),
                                        static_cast<Real>(flip), view(work.change)});
  parallel_for(ex, volume_label, mesh.vertices,
               BlendVertex<Real>{targets.first.data(), targets.sample.data(), view(change), mesh.inverse_mass.data(),
                                 static_cast<Real>(flip), view(state.v)});
  return report;
}

template <class Real>
VolumeReport volume_step(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                         const VolumeTargets<Real>& targets, const typename Colliders<Real, 3>::View& colliders,
                         double dt, RodState<Real>& state, RodWorkspace<Real>& rods, VolumeWork<Real>& work) {
  if (targets.empty()) return {};
  const RodState<Real>& now = state;
  work.v_lag.resize_discard(mesh.vertices);
  parallel_for(ex, volume_label, mesh.vertices, KeepVelocity<Real>{view(now.v), view(work.v_lag)});
  const VolumeReport report = volume_blend(ex, rules, mesh, targets, colliders, dt, state, work);
  filter_velocities(ex, mesh, work.v_lag, state, rods);
  return report;
}

#define TRIBO_INSTANTIATE(Real)                                                                                       \
  template VolumeTargets<Real> measure_volume(Exec&, const VolumeRules&, const RodMesh<Real>&, const RodState<Real>&, \
                                              VolumeWork<Real>&);                                                     \
  template void rasterize_volume(Exec&, const VolumeRules&, const RodMesh<Real>&, const VolumeTargets<Real>&,         \
                                 const RodState<Real>&, VolumeWork<Real>&);                                           \
  template VolumeReport project_volume(Exec&, const VolumeRules&, const Colliders<Real, 3>::View&, double,            \
                                       VolumeWork<Real>&);                                                            \
  template VolumeReport volume_blend(Exec&, const VolumeRules&, const RodMesh<Real>&, const VolumeTargets<Real>&,     \
                                     const Colliders<Real, 3>::View&, double, RodState<Real>&, VolumeWork<Real>&);    \
  template VolumeReport volume_step(Exec&, const VolumeRules&, const RodMesh<Real>&, const VolumeTargets<Real>&,      \
                                    const Colliders<Real, 3>::View&, double, RodState<Real>&, RodWorkspace<Real>&,    \
                                    VolumeWork<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
