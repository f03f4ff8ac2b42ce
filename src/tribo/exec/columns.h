#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "tribo/core/types.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"

/// \file
/// A quantity of N numbers per item is kept as N separate arrays, so that a pack of neighboring items is one load and
/// a sort can move one array at a time through a single spare one.

namespace tribo::TRIBO_BACKEND {

/// Owning storage of N numbers per item.
template <class T, int N>
struct Field {
  using Value = T;
  static constexpr int components = N;
  Array<T> c[N];
  bool used = true;  ///< a column that nothing in the scene asks for stays empty

  void resize_discard(Index n) {
    for (auto& array : c) array.resize_discard(used ? n : 0);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& array : c) sum += array.bytes();
    return sum;
  }
};

/// The same as pointers, for kernels.
template <class T, int N>
struct FieldView {
  T* c[N];

  TRIBO_HD T* operator[](int k) const { return c[k]; }
};

template <class T, int N>
FieldView<T, N> view(Field<T, N>& field) {
  FieldView<T, N> v;
  for (int k = 0; k < N; ++k) v.c[k] = field.c[k].data();
  return v;
}

template <class T, int N>
FieldView<const T, N> view(const Field<T, N>& field) {
  FieldView<const T, N> v;
  for (int k = 0; k < N; ++k) v.c[k] = field.c[k].data();
  return v;
}

template <class T>
TRIBO_HD Vec<std::remove_const_t<T>, 3> vector_at(const FieldView<T, 3>& field, Index i) {
  return {{field[0][i], field[1][i], field[2][i]}};
}

/// A column's name beside the member that holds it.
template <class Owner, class Column>
struct NamedColumn {
  const char* name;
  Column Owner::*member;
};
template <class Owner, class Column>
NamedColumn(const char*, Column Owner::*) -> NamedColumn<Owner, Column>;

/// visit(name, column) for every column in use of an object that lists them in `columns()`.
template <class Owner, class Visit>
void each_column(Owner& owner, const Visit& visit) {
  const auto show = [&](const char* name, auto& column) {
    if (column.used) visit(name, column);
  };
  std::apply([&](const auto&... column) { (show(column.name, owner.*(column.member)), ...); },
             std::remove_const_t<Owner>::columns());
}

}  // namespace tribo::TRIBO_BACKEND
