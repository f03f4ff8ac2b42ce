#pragma once

#include <vector>

#include "tribo/matter/solids/seed.h"

namespace tribo {

struct ObjectSpec;
struct Scene;

/// Points of all boundaries that take part in contact (Han 2019, sec. 4.1), body by body and triangle by triangle: some
/// spread over each triangle, as many as `seed.contact.samples_per_cell` asks for with a grid of spacing dx, and one at
/// each of its corners. Masses are consistent with those of the vertices,
///   sum_q b_pq m_q = m_p   for every vertex p of a boundary,
/// so that impulses on samples keep both momenta when vertices take them. Reads rest shapes; the same for any machine.
std::vector<ContactSample> place_samples(const SolidSeed& seed, double dx);

/// Throws SceneError when `count` of them, of this object or with it, are more than can be.
void check_sample_count(const Scene& scene, const ObjectSpec& object, double count);

/// How many of them a body gets, which may be more than there are integers.
double expected_samples(const SolidSeed& seed, const SolidBody& body, double dx);

/// The samples of each body in what `place_samples` returned: `bodies[b].samples`.
void assign_samples(const std::vector<ContactSample>& samples, std::vector<SolidBody>& bodies);

}  // namespace tribo
