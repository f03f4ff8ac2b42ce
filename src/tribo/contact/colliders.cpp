#include "tribo/contact/colliders.h"

namespace tribo::TRIBO_BACKEND {

TRIBO_OUTLINED_COLLIDERS(, float, 2)
TRIBO_OUTLINED_COLLIDERS(, float, 3)
TRIBO_OUTLINED_COLLIDERS(, double, 2)
TRIBO_OUTLINED_COLLIDERS(, double, 3)

}  // namespace tribo::TRIBO_BACKEND
