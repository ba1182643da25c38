// A program that cannot go on says why and ends.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/result.h"

namespace rubato::layer_study {

template <class T>
T value_or_end(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().what.c_str());
  std::exit(1);
}

}  // namespace rubato::layer_study
