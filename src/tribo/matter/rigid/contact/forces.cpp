#include "tribo/matter/rigid/contact/forces.h"

#include <algorithm>

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* forces_label = "rigid impulses";

/// What joints have given to bodies, about their centers.
struct TellJoint {
  const RigidJointRow* row;
  const Index* count;
  const Index* object;
  Index first;  ///< entry of objects
  TRIBO_HD void operator()(Index j, TallyRun& run) const {
    for (Index k = 0; k < count[j]; ++k) {
      const RigidJointRow& r = row[Size{j} * joint_rows + k];
      const Vec3d along = r.impulse * r.direction;
      tell(r.a, r.ra, -along, r.turns != 0, run);
      tell(r.b, r.rb, along, r.turns != 0, run);
    }
  }
  TRIBO_HD void tell(Index body, const Vec3d& arm, const Vec3d& by, bool turns, TallyRun& run) const {
    if (body < 0 || object[body] < 0) return;
    if (turns)
      run.add_moment(first + object[body], Vec3d::zero(), by);
    else
      run.add_moment(first + object[body], by, cross(arm, by));
  }
};

struct TellRow {
  const RigidRow* row;
  const PlacedBody* body;
  const Index* entry;
  Index first;
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    const RigidRow& r = row[i];
    const Vec3d impulse = r.normal * r.n + r.tangential + r.impact, at = body[r.a].x + r.ra;
    tell(entry[r.a], at, r.ra, impulse, run);
    if (r.b >= 0)
      tell(entry[r.b], at, r.rb, -impulse, run);
    else
      run.add(r.collider, at, -impulse);
  }
  TRIBO_HD void tell(Index to, const Vec3d& at, const Vec3d& arm, const Vec3d& impulse, TallyRun& run) const {
    if (to >= 0) run.add_moment(first + to, impulse, cross(arm, impulse));
    if (to < -1) run.add(-2 - to, at, impulse);
  }
};

}  // namespace

void load_forces(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, std::size_t objects, bool alone,
                 RigidForces& forces) {
  std::vector<int> bodies(objects, 0);
  std::vector<bool> driven(objects, false), joined(objects, false);
  const auto own = [](const RigidBody& body) { return static_cast<std::size_t>(body.object); };
  for (const RigidBody& body : mesh.body) {
    if (body.object < 0) continue;
    ++bodies[own(body)];
    if (body.drive >= 0) driven[own(body)] = true;
  }
  for (const JointTie& joint : joints.ties)
    for (const Index i : {joint.a, joint.b})
      if (i >= 0 && mesh.body[static_cast<std::size_t>(i)].object >= 0)
        joined[own(mesh.body[static_cast<std::size_t>(i)])] = true;
  forces.objects.assign(objects, {});
  for (std::size_t o = 0; o < objects; ++o) {
    ObjectContact& contact = forces.objects[o];
    // Moments are about the center of each body: of several bodies they are about no point at all.
    contact.own_center = true;
    contact.turns = bodies[o] == 1 || !(driven[o] || joined[o]);
    if (driven[o])
      contact.source = alone ? ContactSource::counted : ContactSource::none;
    else if (joined[o])
      contact.source = ContactSource::momentum_less_counted;
  }
  std::vector<Index> joined_object, row_entry;
  for (const RigidBody& body : mesh.body) {
    const bool of_object = body.object >= 0;
    joined_object.push_back(of_object && joined[own(body)] && !driven[own(body)] ? body.object : -1);
    row_entry.push_back(!of_object ? -2 - (body.group - mesh.groups)
                                   : driven[own(body)] && alone ? body.object : -1);
    forces.joined = forces.joined || joined_object.back() >= 0;
  }
  copy_to_device(ex, joined_object.data(), forces.joined_object, mesh.count);
  copy_to_device(ex, row_entry.data(), forces.row_entry, mesh.count);
}

void tell_forces(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, const JointWork& joints,
                 const RigidWork& work, const RigidForces& forces, const ContactTally& tally) {
  tell_each(ex, forces_label, tally, contacts.rows,
            TellRow{contacts.row.data(), work.body.data(), forces.row_entry.data(), tally.colliders});
  if (!forces.joined) return;
  tell_each(ex, forces_label, tally, mesh.joints,
            TellJoint{joints.row.data(), joints.count.data(), forces.joined_object.data(), tally.colliders});
}

}  // namespace tribo::TRIBO_BACKEND
