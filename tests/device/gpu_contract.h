// The subject of the tests that ask the same of every backend (device/gpu.h is the contract).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "device/subject.h"

namespace rubato::device {

inline constexpr Megahertz kReadOut{15};  // read-outs are off the table's clocks by a step at most

class GpuContract : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    world_.emplace(GetParam(), testing::UnitTest::GetInstance()->current_test_info()->name());
    auto backend = open_subject(GetParam());
    if (!backend && GetParam().through == Through::real_driver) GTEST_SKIP() << backend.error().what;
    ASSERT_TRUE(backend) << backend.error().what;
    backend_ = std::move(*backend);
    // A library that only looks like the real one must not be taken for it.
    if (GetParam().through == Through::real_driver && backend_->simulated())
      GTEST_SKIP() << "a stand-in, no hardware";
    gpu_ = open();
    auto control = backend_->open_control(gpu_->identity().id);
    ASSERT_TRUE(control) << control.error().what;
    control_ = std::move(*control);
  }

  [[nodiscard]] std::unique_ptr<Gpu> open() const {
    auto gpu = backend_->open(backend_->gpus().front().id);
    EXPECT_TRUE(gpu) << gpu.error().what;
    return gpu ? std::move(*gpu) : nullptr;
  }
  [[nodiscard]] const Capabilities& can() const { return gpu_->capabilities(); }
  [[nodiscard]] PowerLimits limits() const {
    const auto now = gpu_->power_limits();
    EXPECT_TRUE(now) << now.error().what;
    return now.value_or(PowerLimits{});
  }
  [[nodiscard]] ClockTable clocks() const {
    const auto table = gpu_->supported_clocks();
    EXPECT_TRUE(table) << table.error().what;
    return table.value_or(ClockTable{});
  }

  std::optional<FreshWorld> world_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<GpuControl> control_;
};

#define NEEDS_SETTING(capability)                                                                  \
  do {                                                                                             \
    if (!may_set(GetParam())) GTEST_SKIP() << "RUBATO_TEST_MAY_SET is not 1";                      \
    if (GetParam().rights == "none") GTEST_SKIP() << "a world whose driver refuses every setting"; \
    if (!can().capability.available) GTEST_SKIP() << can().capability.why_not;                     \
  } while (false)

}  // namespace rubato::device
