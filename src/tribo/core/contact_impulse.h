#pragma once

#include "tribo/math/small.h"

namespace tribo {

/// What contact has given so far.
struct ContactImpulse {
  Vec<double, 3> linear = Vec<double, 3>::zero();   ///< [N s]
  Vec<double, 3> angular = Vec<double, 3>::zero();  ///< about the origin [N m s]
};

/// How what contact does to an object can be known.
enum class ContactSource {
  none,                   ///< not at all
  momentum,               ///< nothing but contact and gravity changes its momentum
  momentum_less_counted,  ///< joints do, too, whose impulses are summed up
  counted                 ///< impulses of contact themselves are summed up
};

/// Contact of an object.
struct ObjectContact {
  ContactSource source = ContactSource::momentum;
  ContactImpulse impulse;   ///< what is summed up
  bool own_center = false;  ///< `angular` is about the object's center of mass, wherever that has been
  bool turns = true;        ///< whether `angular` is known
};

}  // namespace tribo
