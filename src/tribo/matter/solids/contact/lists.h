#pragma once

#include "tribo/matter/solids/contact/samples.h"

/// \file
/// How contact is listed: samples sorted into bins and patches (contact_sort.cpp), and from these who meets whom
/// (contact_lists.cpp). Nothing here runs in a step whose lists hold.

namespace tribo::TRIBO_BACKEND {

/// Which samples see each other as different.
enum class ContactPass {
  bodies,  ///< a field for each body; fields of other bodies act
  self,    ///< a field for each body and main direction of normals; fields of the same body act
  paper,   ///< one field for all
};

/// Where samples are, the normals of their faces, and the window of blocks they are in.
template <class Real>
void place_samples(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples,
                   const ContactConstants& constants, ContactWorkspace<Real>& work);

/// The bins and patches of `f.count` samples: of `chosen`, or of all when that is null. On request also the normals of
/// each cell.
template <class Real>
void sort_samples(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, const Index* chosen,
                  const ContactPlace<Real>* places, bool cell_normals, ContactFields<Real>& f);

constexpr int bits_for(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// 1 where a sorted key begins a run of equal ones.
struct FlagRun {
  const std::uint64_t* keys;
  int ignored_bits;
  Index* flags;
  TRIBO_HD void operator()(Index i) const {
    flags[i] = i == 0 || keys[i] >> ignored_bits != keys[i - 1] >> ignored_bits ? 1 : 0;
  }
};

}  // namespace tribo::TRIBO_BACKEND
