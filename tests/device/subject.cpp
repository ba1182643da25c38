#include "device/subject.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "device/nvml/backend.h"
#include "device/registry.h"
#include "device/replay/world.h"

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
  if (subject.through == Through::replay) begin_replay();
}

// Hours of work: more than any test takes at this rate.
void FreshWorld::begin_replay() {
  const std::string table = folder_ + "/table.csv";
  std::ofstream(table)
      << "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
         "A100,long,g,100,900,1215,8000,80,640000\n"
         "A100,long,g,100,1200,1215,8000,100,800000\n"
         "A100,long,g,200,900,1215,6000,100,600000\n"
         "A100,long,g,200,1200,1215,4000,200,800000\n";
  ::setenv("RUBATO_REPLAY_WORLD", (folder_ + "/replay.world").c_str(), 1);
  const std::vector<replay::ReplaySpec> spec{{.file = table}};
  const auto world = replay::open_world_from_environment(spec);
  ASSERT_TRUE(world) << world.error().what;
  const TimePoint now = (*world)->clock()->now();
  const auto context = (*world)->add_context(0, ::getpid(), now);
  ASSERT_TRUE(context) << context.error().what;
  EXPECT_TRUE((*world)->submit(0, *context, 1.0, now));
}

FreshWorld::~FreshWorld() {
  for (const char* name : {"RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "RUBATO_SIM_SCENARIO",
                           "RUBATO_SIM_TRACE", "RUBATO_REPLAY_WORLD"})
    ::unsetenv(name);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<Backend>> open_subject(const Subject& subject) {
  switch (subject.through) {
    case Through::sim:
      return open_backend(cat("sim:", subject.profile));
    case Through::replay:
      return open_backend("replay");
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
