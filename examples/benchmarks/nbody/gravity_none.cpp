// In place of gravity_cuda.cu where there is no CUDA compiler.
#include "gravity.h"

namespace nbody {

std::unique_ptr<Gravity> cuda_gravity() {
  return nullptr;
}

}  // namespace nbody
