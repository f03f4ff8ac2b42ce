#include "tribo/matter/rigid/contact/forces.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* label = "rigid impulses";

struct KeepFree {
  const PlacedBody* body;
  Vec3d *v, *w;
  TRIBO_HD void operator()(Index i) const {
    v[i] = body[i].v;
    w[i] = body[i].w;
  }
};

/// All that has changed a body's velocities.
struct TellBody {
  const PlacedBody* body;
  const Vec3d *v, *w;
  const double* mass;
  FieldView<const double, 6> inertia;
  const Index* object;
  Index first;  ///< entry of objects
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    if (object[i] < 0) return;
    Sym<double, 3> own;
    for (int k = 0; k < 6; ++k) own.s[k] = inertia[k][i];
    run.add_moment(first + object[i], mass[i] * (body[i].v - v[i]), carried(body[i].rotation, own) * (body[i].w - w[i]));
  }
};

/// Less what joints have given.
struct TellJoint {
  const JointTie* tie;
  const RigidJointRow* row;
  const Index* count;
  const Index* object;
  Index first;
  TRIBO_HD void operator()(Index j, TallyRun& run) const {
    for (Index k = 0; k < count[j]; ++k) {
      const RigidJointRow& r = row[j * joint_rows + k];
      const Vec3d along = r.impulse * r.direction;
      less(tie[j].a, -along, r.ra, r.turns, run);
      less(tie[j].b, along, r.rb, r.turns, run);
    }
  }
  TRIBO_HD void less(Index body, const Vec3d& impulse, const Vec3d& arm, Index turns, TallyRun& run) const {
    if (body < 0 || object[body] < 0) return;
    if (turns != 0)
      run.add_moment(first + object[body], Vec3d::zero(), -impulse);
    else
      run.add_moment(first + object[body], -impulse, -cross(arm, impulse));
  }
};

/// What has no velocity that tells of impulses.
struct TellRow {
  const RigidRow* row;
  const PlacedBody* body;
  const Index* whose;
  Index first;
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    const RigidRow& r = row[i];
    const Vec3d impulse = r.normal * r.n + r.tangential, at = body[r.a].x + r.ra;
    tell(whose[r.a], at, r.ra, impulse, run);
    if (r.b >= 0)
      tell(whose[r.b], at, r.rb, -impulse, run);
    else
      run.add(r.collider, at, -impulse);
  }
  TRIBO_HD void tell(Index who, const Vec3d& at, const Vec3d& arm, const Vec3d& impulse, TallyRun& run) const {
    if (who >= 0) run.add_moment(first + who, impulse, cross(arm, impulse));
    if (who < -1) run.add(-2 - who, at, impulse);
  }
};

}  // namespace

void load_forces(Exec& ex, const RigidMesh& mesh, const std::vector<JointTie>& joints, std::size_t objects,
                 RigidForces& forces) {
  std::vector<int> bodies(objects, 0);
  std::vector<bool> counted(objects, false);
  const auto count = [&](const RigidBody& body) {
    if (body.object >= 0) counted[static_cast<std::size_t>(body.object)] = true;
  };
  for (const RigidBody& body : mesh.body) {
    if (body.object >= 0) ++bodies[static_cast<std::size_t>(body.object)];
    if (body.drive >= 0) count(body);
  }
  for (const JointTie& joint : joints)
    for (const Index i : {joint.a, joint.b})
      if (i >= 0) count(mesh.body[static_cast<std::size_t>(i)]);
  forces.objects.assign(objects, {});
  for (std::size_t o = 0; o < objects; ++o)
    if (counted[o]) forces.objects[o] = {ContactSource::counted, {}, true, bodies[o] == 1};
  std::vector<Index> of_change, of_rows;
  for (const RigidBody& body : mesh.body) {
    const bool asked = body.object >= 0 && counted[static_cast<std::size_t>(body.object)];
    forces.any = forces.any || asked;
    of_change.push_back(asked && body.drive < 0 ? body.object : -1);
    of_rows.push_back(body.object < 0 ? -2 - (body.group - mesh.groups) : asked && body.drive >= 0 ? body.object : -1);
  }
  copy_to_device(ex, of_change.data(), forces.of_change, mesh.count);
  copy_to_device(ex, of_rows.data(), forces.of_rows, mesh.count);
}

void keep_free(Exec& ex, const RigidMesh& mesh, const RigidWork& work, RigidForces& forces) {
  if (!forces.any) return;
  forces.v.resize_discard(mesh.count);
  forces.w.resize_discard(mesh.count);
  parallel_for(ex, label, mesh.count, KeepFree{work.body.data(), forces.v.data(), forces.w.data()});
}

void tell_forces(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, const RigidJoints& joints,
                 const JointWork& rows, const RigidWork& work, const RigidForces& forces, const ContactTally& tally) {
  tell_each(ex, label, tally, contacts.rows,
            TellRow{contacts.row.data(), work.body.data(), forces.of_rows.data(), tally.colliders});
  if (!forces.any) return;
  tell_each(ex, label, tally, mesh.count,
            TellBody{work.body.data(), forces.v.data(), forces.w.data(), mesh.mass.data(), view(mesh.inertia),
                     forces.of_change.data(), tally.colliders});
  tell_each(ex, label, tally, mesh.joints,
            TellJoint{joints.view().tie, rows.row.data(), rows.count.data(), forces.of_change.data(), tally.colliders});
}

}  // namespace tribo::TRIBO_BACKEND
