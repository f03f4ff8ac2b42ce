#pragma once

#include "tribo/colliders/all.h"

/// \file
/// How far bounded shapes reach, and how thick they are.

namespace tribo {

/// Farthest point of a shape from `center`, or somewhat more [m].
double reach_of(const Shape<double>& shape, const Vec<double, 3>& center);

/// Bounds of a shape that is turned: exact for shapes that are nothing but numbers. `surface` are points of it,
/// which stand for all others.
Bounds turned_bounds(const Shape<double>& shape, const Mat<double, 3>& rotation,
                     const std::vector<Vec<double, 3>>& surface);

/// How thick a shape is where it is thin, so that what moves by less does not come through: the least edge or diameter;
/// of a union that of its thinnest part; of other compounds and meshes what nine tenths of the surface have behind them
/// at least [m].
double thickness_of(const Shape<double>& shape);

}  // namespace tribo
