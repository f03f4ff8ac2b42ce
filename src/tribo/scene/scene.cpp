#include "tribo/scene/scene.h"

#include <algorithm>
#include <cmath>

namespace tribo {

int Scene::frame_count() const { return std::max(1, static_cast<int>(std::lround(duration * fps))); }

}  // namespace tribo
