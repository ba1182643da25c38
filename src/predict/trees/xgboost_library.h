// XGBoost's C interface as far as rubato uses it, opened on first use: training needs the library, everything
// else runs without it.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace rubato::predict::trees {

/// Written down anew from XGBoost's reference of its C API (xgboost.readthedocs.io, "XGBoost C Package"), so
/// that building needs none of its headers. Every function returns 0 or -1; last_error says why, per thread.
struct XgboostLibrary {
  using Matrix = void*;
  using Booster = void*;
  using Count = std::uint64_t;

  const char* (*last_error)();
  int (*matrix_create)(const float* values, Count rows, Count columns, float missing, Matrix* out);
  int (*matrix_free)(Matrix);
  int (*matrix_set_floats)(Matrix, const char* field, const float* values, Count count);
  int (*booster_create)(const Matrix* matrices, Count count, Booster* out);
  int (*booster_free)(Booster);
  int (*booster_set)(Booster, const char* name, const char* value);
  int (*booster_update)(Booster, int round, Matrix);
  int (*booster_predict)(Booster, Matrix, const char* config, const Count** shape, Count* dimensions,
                         const float** out);
  int (*booster_save)(Booster, const char* config, Count* length, const char** out);
};

/// Opened once, and never closed. unavailable: the machine has none; the hint names the package.
[[nodiscard]] Result<const XgboostLibrary*> xgboost_library();

}  // namespace rubato::predict::trees
