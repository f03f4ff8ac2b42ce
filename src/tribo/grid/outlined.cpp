#include "tribo/grid/outlined.h"

#if !defined(TRIBO_BACKEND_CUDA)
TRIBO_OUTLINED_ALL()
#endif
