#include "experiment/fnv1a64.h"

#include "base/fnv1a.h"
#include "base/text.h"

namespace rubato::experiment {

std::string fnv1a64(std::string_view text) {
  return cat("fnv1a64:", hex(fnv1a(text), 16));
}

}  // namespace rubato::experiment
