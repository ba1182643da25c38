// A world of its own and the stand-in opened on it, as a C client sees it: without rubato's own NVML path in
// between.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "device/nvml/abi.h"
#include "device/sim/world.h"

namespace rubato::simgpu {

namespace abi = device::nvml::abi;

class StandIn : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("stand_in_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("RUBATO_SIM_WORLD", (folder_ / "gpu.world").c_str(), 1);
    ::setenv("RUBATO_SIM_PROFILES", "v100,rtxa4000", 1);
    ::setenv("RUBATO_SIM_TRACE", (folder_ / "trace").c_str(), 1);
    scenario(R"({"rights": "owner", "found": {"power_limit_w": 140}})");
    library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }
  /// Another world than v100,rtxa4000: before init().
  static void profiles(const char* names) { ::setenv("RUBATO_SIM_PROFILES", names, 1); }
  void TearDown() override {
    if (library_ != nullptr) {
      while (call<abi::Plain>("nvmlShutdown") == abi::kSuccess) {
      }
      ::dlclose(library_);
    }
    for (const char* name : {"RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "RUBATO_SIM_TRACE",
                             "RUBATO_SIM_SCENARIO", "RUBATO_SIM_DRIVER"})
      ::unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  void scenario(const std::string& json) const {
    std::ofstream(folder_ / "scenario.json") << json;
    ::setenv("RUBATO_SIM_SCENARIO", (folder_ / "scenario.json").c_str(), 1);
  }
  template <class Signature, class... Args>
  abi::Return call(const char* name, Args... args) const {
    auto* function = reinterpret_cast<Signature*>(::dlsym(library_, name));
    EXPECT_NE(function, nullptr) << name;
    return function(args...);
  }
  void init() const { ASSERT_EQ(call<abi::Plain>("nvmlInit_v2"), abi::kSuccess); }
  [[nodiscard]] abi::Device gpu(unsigned index = 0) const {
    abi::Device device = nullptr;
    EXPECT_EQ(call<abi::HandleByIndex>("nvmlDeviceGetHandleByIndex_v2", index, &device), abi::kSuccess);
    return device;
  }
  [[nodiscard]] unsigned milliwatts(const char* name, abi::Device device) const {
    unsigned mw = 0;
    EXPECT_EQ(call<abi::DeviceNumber>(name, device, &mw), abi::kSuccess) << name;
    return mw;
  }
  [[nodiscard]] std::string trace() const {
    std::stringstream text;
    text << std::ifstream(folder_ / "trace").rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
  void* library_ = nullptr;
};

}  // namespace rubato::simgpu
