#include "predict/trees/xgboost_library.h"

#include <dlfcn.h>

#include <optional>
#include <string>

#include "base/text.h"

namespace rubato::predict::trees {
namespace {

template <class Function>
bool resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

Result<XgboostLibrary> open() {
  void* handle = nullptr;
  for (const char* name : {"libxgboost.so.0", "libxgboost.so"})
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return fail(ErrorCode::unavailable,
                "boosted trees are trained by XGBoost, and this machine has no libxgboost.so.0",
                "apt-get install libxgboost0, or take another model");
  XgboostLibrary library{};
  // XGBoosterSaveModelToBuffer came with 1.6 and is the newest of them.
  if (!resolve(handle, "XGBGetLastError", library.last_error) ||
      !resolve(handle, "XGDMatrixCreateFromMat", library.matrix_create) ||
      !resolve(handle, "XGDMatrixFree", library.matrix_free) ||
      !resolve(handle, "XGDMatrixSetFloatInfo", library.matrix_set_floats) ||
      !resolve(handle, "XGBoosterCreate", library.booster_create) ||
      !resolve(handle, "XGBoosterFree", library.booster_free) ||
      !resolve(handle, "XGBoosterSetParam", library.booster_set) ||
      !resolve(handle, "XGBoosterUpdateOneIter", library.booster_update) ||
      !resolve(handle, "XGBoosterPredictFromDMatrix", library.booster_predict) ||
      !resolve(handle, "XGBoosterSaveModelToBuffer", library.booster_save))
    return fail(ErrorCode::not_supported, "the libxgboost.so.0 of this machine is older than 1.6",
                "install XGBoost 1.6 or newer, or take another model");
  return library;
}

}  // namespace

Result<const XgboostLibrary*> xgboost_library() {
  static const Result<XgboostLibrary> library = open();
  if (!library) return fail(library.error());
  return &*library;
}

}  // namespace rubato::predict::trees
