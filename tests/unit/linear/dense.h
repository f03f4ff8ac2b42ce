#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tribo/linear/vectors.h"

/// \file
/// Small systems as whole matrices, to hold solvers against.

namespace tribo::TRIBO_BACKEND::test {

using Column = std::vector<double>;
using Matrix = std::vector<Column>;  ///< by rows

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline double dot(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(const Column& a) { return std::sqrt(dot(a, a)); }
inline Column minus(Column a, const Column& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}
inline Column times(const Matrix& A, const Column& x) {
  Column y;
  for (const Column& row : A) y.push_back(dot(row, x));
  return y;
}
inline Column residual(const Matrix& A, const Column& b, const Column& x) { return minus(b, times(A, x)); }

/// Elimination with the largest pivot of each column.
inline Column solve_dense(Matrix A, Column b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    std::swap(A[k], A[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      for (std::size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

inline Column random_column(int n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Column r(at(n));
  for (double& x : r) x = normal(generator);
  return r;
}
inline Matrix zero(int n) { return Matrix(at(n), Column(at(n), 0.0)); }
inline Matrix diagonal(const Column& d) {
  Matrix A = zero(static_cast<int>(d.size()));
  for (std::size_t i = 0; i < d.size(); ++i) A[i][i] = d[i];
  return A;
}
/// Symmetric, with these eigenvalues and random directions.
inline Matrix with_eigenvalues(const Column& values, unsigned seed) {
  const int n = static_cast<int>(values.size());
  Matrix Q;
  for (int k = 0; k < n; ++k) {
    Column q = random_column(n, 1000 * seed + static_cast<unsigned>(k));
    for (int pass = 0; pass < 2; ++pass)
      for (const Column& other : Q) {
        const double shared = dot(q, other);
        for (std::size_t i = 0; i < q.size(); ++i) q[i] -= shared * other[i];
      }
    const double length = norm(q);
    for (double& x : q) x /= length;
    Q.push_back(q);
  }
  Matrix A = zero(n);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values.size(); ++j)
      for (std::size_t k = 0; k < values.size(); ++k) A[i][j] += values[k] * Q[k][i] * Q[k][j];
  return A;
}
/// Evenly from the least to the largest.
inline Column spread(int n, double least, double largest) {
  Column r;
  for (int i = 0; i < n; ++i) r.push_back(least + (largest - least) * i / (n - 1));
  return r;
}
/// A ring of springs: singular, since nothing resists where all are equal.
inline Matrix ring(int n) {
  Matrix A = zero(n);
  for (int i = 0; i < n; ++i) {
    A[at(i)][at(i)] = 2;
    A[at(i)][at((i + 1) % n)] = A[at((i + 1) % n)][at(i)] = -1;
  }
  return A;
}
/// Random, without what the ring cannot answer.
inline Column without_mean(Column b) {
  double mean = 0;
  for (const double x : b) mean += x / static_cast<double>(b.size());
  for (double& x : b) x -= mean;
  return b;
}

/// Unknowns in every second entry; those between are no numbers, and must not matter.
template <class R>
struct Listed {
  using Real = R;
  using Space = linear::ListSpace<Real>;
  static constexpr int numbers = 1;
  static Size entries(int n) { return 2 * n + 1; }
  static std::size_t place(int i) { return at(2 * i + 1); }
  static Real other() { return std::numeric_limits<Real>::quiet_NaN(); }
  static Space space(const Index* list, int n) { return {list, n}; }
};
/// Three unknowns in a pack of four.
template <class R>
struct Packed {
  using Real = R;
  using Space = linear::PackSpace<Real, 3>;
  static constexpr int numbers = 4;
  static Size entries(int n) { return (n + 2) / 3; }
  static std::size_t place(int i) { return at(4 * (i / 3) + i % 3); }
  static Real other() { return 0; }
  static Space space(const Index*, int n) { return {static_cast<Index>(entries(n))}; }
};

/// Diagonal M: its inverse, in the layout of the vectors.
template <class Entry>
struct InverseDiagonal {
  const Entry* inverse;
  TRIBO_HD Entry operator()(Index i, const Entry& r) const { return r * inverse[i]; }
};

/// A whole matrix as solvers see it. Products are in double and rounded once.
template <class Layout>
class DenseSystem {
 public:
  using Real = typename Layout::Real;
  using Space = typename Layout::Space;
  using Entry = typename Space::Entry;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();

  explicit DenseSystem(const Matrix& A) : DenseSystem(A, Column(A.size(), 1.0)) {}
  DenseSystem(const Matrix& A, const Column& preconditioner) : A_(A), n_(static_cast<int>(A.size())) {
    std::vector<Index> list;
    for (int i = 0; i < n_; ++i) list.push_back(static_cast<Index>(Layout::place(i)));
    copy_to_device(ex_, list.data(), list_, n_);
    Column inverse;
    for (const double m : preconditioner) inverse.push_back(1 / m);
    upload(inverse, inverse_);
  }

  Exec& exec() { return ex_; }
  int size() const { return n_; }
  Size entries() const { return Layout::entries(n_); }
  Space space() const { return Layout::space(list_.data(), n_); }
  InverseDiagonal<Entry> precondition(const Entry*) const { return {inverse_.data()}; }
  void apply(const Entry* x, Entry* y) {
    ++products;
    put(times(A_, get(x)), y);
  }

  void upload(const Column& from, Array<Entry>& to) const {
    to.resize_discard(entries());
    std::vector<Real> flat(at(static_cast<int>(entries()) * Layout::numbers), Layout::other());
    std::memcpy(static_cast<void*>(to.data()), flat.data(), flat.size() * sizeof(Real));
    put(from, to.data());
  }
  Column get(const Entry* from) const {
    std::vector<Real> flat(at(static_cast<int>(entries()) * Layout::numbers));
    std::memcpy(flat.data(), from, flat.size() * sizeof(Real));
    Column r;
    for (int i = 0; i < n_; ++i) r.push_back(static_cast<double>(flat[Layout::place(i)]));
    return r;
  }
  /// As vectors hold it.
  static Column rounded(Column b) {
    for (double& x : b) x = static_cast<double>(static_cast<Real>(x));
    return b;
  }

  int products = 0;

 private:
  void put(const Column& from, Entry* to) const {
    auto* const bytes = reinterpret_cast<unsigned char*>(to);
    for (int i = 0; i < n_; ++i) {
      const Real x = static_cast<Real>(from[at(i)]);
      std::memcpy(bytes + Layout::place(i) * sizeof(Real), &x, sizeof(Real));
    }
    if constexpr (Layout::numbers == 4) {
      const Real none = 0;  // the last of each pack
      for (Size e = 0; e < entries(); ++e)
        std::memcpy(bytes + static_cast<std::size_t>(4 * e + 3) * sizeof(Real), &none, sizeof(Real));
    }
  }

  Exec ex_{1};
  Matrix A_;
  int n_;
  Array<Index> list_;
  Array<Entry> inverse_;
};

}  // namespace tribo::TRIBO_BACKEND::test
