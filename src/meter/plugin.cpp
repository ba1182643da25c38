#include "meter/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/text.h"
#include "meter/module.h"

namespace rubato::meter {
namespace {

namespace fs = std::filesystem;

Result<const MeterKind*> open_module(const fs::path& file, std::string_view name, std::string_view package) {
  // Never closed: the meters' code is in it.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return fail(ErrorCode::not_supported,
                cat("meter ", name, ": cannot load ", file.string(), ": ", why != nullptr ? why : "?"),
                cat("sudo apt install ", package));
  }
  const auto entry = reinterpret_cast<ModuleEntry>(::dlsym(library, kModuleEntry));
  const MeterKind* const kind = entry == nullptr ? nullptr : entry(kModuleBuild);
  if (kind == nullptr)
    return fail(ErrorCode::not_supported,
                cat("meter ", name, ": ", file.string(), " is not of this build of rubato"),
                "install rubato and its lib/rubato folder from the same release, or unset RUBATO_METER_PATH");
  return kind;
}

}  // namespace

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const char* const path = ::secure_getenv("RUBATO_METER_PATH"); path != nullptr)
    for (const std::string& folder : split(path, ':'))
      if (!folder.empty()) folders.emplace_back(folder);
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) folders.push_back((program.parent_path() / "../lib/rubato").lexically_normal());
  return folders;
}

Result<const MeterKind*> load_kind(std::string_view name, std::string_view package,
                                   const std::vector<fs::path>& folders) {
  static std::mutex guard;
  static std::map<fs::path, const MeterKind*> loaded;
  const std::lock_guard lock(guard);
  std::string looked;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / cat("librubato-meter-", name, ".so");
    if (const auto known = loaded.find(file); known != loaded.end()) return known->second;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
      looked += cat(looked.empty() ? "" : " or ", folder.string());
      continue;
    }
    auto kind = open_module(file, name, package);
    if (kind) loaded.emplace(file, *kind);
    return kind;
  }
  return fail(
      ErrorCode::not_supported, cat("meter ", name, ": librubato-meter-", name, ".so is not in ", looked),
      "this build has no such module: build rubato with its library installed (docs/dependencies.md), or "
      "name the module's folder in RUBATO_METER_PATH");
}

}  // namespace rubato::meter
