#include "device/subject.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "device/nvml/backend.h"
#include "device/registry.h"

namespace rubato::device {
namespace {

// The stand-in comes first on the search path here, so the real library is asked for by its usual places.
constexpr std::string_view kRealLibraries[] = {
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"};

Result<std::unique_ptr<Backend>> open_real() {
  for (const std::string_view file : kRealLibraries)
    if (std::filesystem::exists(file)) return nvml::open_with({.library = std::string(file)});
  return fail(ErrorCode::not_found, "no NVIDIA driver library in its usual places");
}

}  // namespace

FreshWorld::FreshWorld(const Subject& subject, std::string_view test)
    : folder_(cat(testing::TempDir(), "rubato_contract_", subject.name, "_", test)) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  const std::string scenario = folder_ + "/scenario.json";
  // Fast enough that the energy counter moves between two reads.
  std::ofstream(scenario) << "{\"rate\": 1000"
                          << (subject.rights.empty() ? "" : ", \"rights\": \"" + subject.rights + "\"")
                          << "}";
  ::setenv("RUBATO_SIM_WORLD", (folder_ + "/gpu.world").c_str(), 1);
  ::setenv("RUBATO_SIM_PROFILES", subject.profile.c_str(), 1);
  ::setenv("RUBATO_SIM_SCENARIO", scenario.c_str(), 1);
  ::setenv("RUBATO_SIM_TRACE", (folder_ + "/trace").c_str(), 1);
}

FreshWorld::~FreshWorld() {
  for (const char* name :
       {"RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "RUBATO_SIM_SCENARIO", "RUBATO_SIM_TRACE"})
    ::unsetenv(name);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<Backend>> open_subject(const Subject& subject) {
  switch (subject.through) {
    case Through::sim:
      return open_backend(cat("sim:", subject.profile));
    case Through::stand_in:
      return open_backend("nvml");
    case Through::real_driver:
      return open_real();
  }
  return fail(ErrorCode::internal, "no such subject");
}

bool may_set(const Subject& subject) {
  if (subject.through != Through::real_driver) return true;
  const char* allowed = std::getenv("RUBATO_TEST_MAY_SET");
  return allowed != nullptr && std::string_view(allowed) == "1";
}

}  // namespace rubato::device
