// What every backend promises, asked of each of them by the same tests (device/gpu.h is the contract).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "device/subject.h"

namespace rubato::device {
namespace {

using testing::HasSubstr;

constexpr Megahertz kReadOut{15};  // read-outs are off the table's clocks by a step at most

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

TEST_P(GpuContract, NamesItsGpu) {
  const GpuIdentity& identity = gpu_->identity();
  EXPECT_THAT(identity.id.uuid, testing::StartsWith("GPU-"));
  EXPECT_FALSE(identity.name.empty());
  EXPECT_FALSE(identity.pci_bus_id.empty());
  EXPECT_FALSE(backend_->driver_version().empty());
}

TEST_P(GpuContract, SimulatedGpusSayThatTheyAre) {
  const bool simulated = GetParam().through != Through::real_driver;
  EXPECT_EQ(backend_->simulated(), simulated);
  const Kind made_up = GetParam().through == Through::replay ? Kind::replayed : Kind::modelled;
  EXPECT_EQ(gpu_->kind(), simulated ? made_up : Kind::measured);
}

TEST_P(GpuContract, AJobLearnsWhereTheSimulatedWorldIs) {
  if (!backend_->simulated()) GTEST_SKIP() << "hardware needs no environment";
  const auto environment = backend_->job_environment({gpu_->identity().id});
  const auto has = [&](std::string_view name, const std::string& value) {
    return std::any_of(environment.begin(), environment.end(),
                       [&](const auto& e) { return e.first == name && e.second == value; });
  };
  const std::string kind = GetParam().through == Through::replay ? "RUBATO_REPLAY" : "RUBATO_SIM";
  const char* world = std::getenv((kind + "_WORLD").c_str());
  ASSERT_NE(world, nullptr);
  EXPECT_TRUE(has(kind + "_WORLD", world));
  EXPECT_TRUE(has(kind + "_GPUS", gpu_->identity().id.uuid));
}

TEST_P(GpuContract, AnUnknownGpuIsNotFound) {
  const auto gpu = backend_->open(GpuId{"GPU-none"});
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::not_found);
}

TEST_P(GpuContract, EveryReadingItAdvertisesWorks) {
  const auto fast = gpu_->read_fast();
  ASSERT_TRUE(fast) << fast.error().what;
  EXPECT_EQ(fast->power.has_value(), can().read_power.available);
  EXPECT_EQ(fast->energy_counter.has_value(), can().read_energy_counter.available);
  EXPECT_EQ(fast->power_average.has_value(), can().read_average_power.available);
  EXPECT_EQ(fast->module_power.has_value(), can().read_module_power.available);
  EXPECT_EQ(fast->memory_power.has_value(), can().read_memory_power.available);
  const auto slow = gpu_->read_slow();
  ASSERT_TRUE(slow) << slow.error().what;
  EXPECT_EQ(slow->sm_clock.has_value(), can().read_clocks.available);
  EXPECT_EQ(slow->sm_utilisation.has_value(), can().read_utilisation.available);
  EXPECT_EQ(slow->limiter.has_value(), can().read_limiter.available);
  EXPECT_EQ(slow->limited.any(), can().read_limiter_times.available);
  EXPECT_EQ(gpu_->application_clocks().has_value(), can().read_application_clocks.available);
  EXPECT_EQ(gpu_->compute_processes().has_value(), can().read_processes.available);
  EXPECT_EQ(gpu_->read_counters().has_value(), can().read_counters.available);
}

TEST_P(GpuContract, CountersBeginAtTheFirstCallAndTellOfTheTimeSince) {
  if (!can().read_counters.available) GTEST_SKIP() << can().read_counters.why_not;
  const auto first = gpu_->read_counters();
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->begin, first->end);
  for (const auto& value : first->values) EXPECT_FALSE(value);
  // Well above the interval from one refresh of the counters to the next.
  sleep_until(*backend_->clock(), first->end + 0.5_s);
  const auto second = gpu_->read_counters();
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(second->begin, first->end);
  EXPECT_GE(second->end - second->begin, 0.5_s);
  const double active = (*second)[Feature::sm_active].value_or(-1);
  EXPECT_TRUE(active >= 0 && active <= 1) << active;
}

TEST_P(GpuContract, ReadingsLieInPhysicalRanges) {
  const auto fast = gpu_->read_fast();
  const auto slow = gpu_->read_slow();
  ASSERT_TRUE(fast && slow);
  const Watts power = fast->power.value_or(100_W);
  EXPECT_TRUE(power > 1_W && power < 2000_W) << cat(power);
  const double busy = slow->sm_utilisation.value_or(0);
  EXPECT_TRUE(busy >= 0 && busy <= 1) << busy;
  const Celsius heat = slow->temperature.value_or(Celsius(40));
  EXPECT_TRUE(heat > Celsius(0) && heat < Celsius(120)) << cat(heat);
}

TEST_P(GpuContract, AModuleHoldsItsGpuAndAGpuItsMemory) {
  if (!can().read_module_power.available) GTEST_SKIP() << can().read_module_power.why_not;
  const auto fast = gpu_->read_fast();
  ASSERT_TRUE(fast && fast->module_power);
  if (fast->power) {
    EXPECT_GT(*fast->module_power, *fast->power);
    EXPECT_LT(fast->memory_power.value_or(0_W), *fast->power);
  }
}

TEST_P(GpuContract, ReadingsCarryTheBackendsOwnTime) {
  const TimePoint before = backend_->clock()->now();
  const auto fast = gpu_->read_fast();
  ASSERT_TRUE(fast);
  EXPECT_GE(fast->at, before);
  EXPECT_LE(fast->at, backend_->clock()->now());
}

TEST_P(GpuContract, ClocksReadByThemselvesAreThoseOfTheSlowTick) {
  const TimePoint before = backend_->clock()->now();
  const auto quick = gpu_->read_clocks();
  ASSERT_TRUE(quick) << quick.error().what;
  EXPECT_GE(quick->at, before);
  EXPECT_LE(quick->at, backend_->clock()->now());
  const auto slow = gpu_->read_slow();
  ASSERT_TRUE(slow) << slow.error().what;
  EXPECT_EQ(quick->sm.has_value(), slow->sm_clock.has_value());
  EXPECT_EQ(quick->memory.has_value(), slow->memory_clock.has_value());
  const ClockTable table = clocks();
  for (const auto& [read, legal] : {std::pair(quick->sm, table.sm), std::pair(quick->memory, table.memory)})
    if (read) {
      EXPECT_GT(*read, 0_MHz);
      EXPECT_LE(*read, legal.back() + kReadOut);
    }
  // A tick of clocks is for following a change: never dearer than the whole of the state.
  const auto calls = gpu_->cost().calls;
  ASSERT_TRUE(gpu_->read_clocks());
  const auto of_clocks = gpu_->cost().calls - calls;
  ASSERT_TRUE(gpu_->read_slow());
  EXPECT_LE(of_clocks, gpu_->cost().calls - calls - of_clocks);
}

TEST_P(GpuContract, ALockedClockIsReadAfterAWhileAndNotAboveTheLock) {
  NEEDS_SETTING(set_sm_clock);
  if (!can().read_clocks.available) GTEST_SKIP() << can().read_clocks.why_not;
  const Megahertz lowest = clocks().sm.front();
  ASSERT_TRUE(control_->lock_sm_clock({lowest, lowest}));
  const TimePoint until = backend_->clock()->now() + 30_s;
  std::optional<Megahertz> read;
  while (backend_->clock()->now() < until && !(read && *read <= lowest + kReadOut)) {
    const auto quick = gpu_->read_clocks();
    ASSERT_TRUE(quick) << quick.error().what;
    read = quick->sm;
  }
  ASSERT_TRUE(read);
  EXPECT_LE(*read, lowest + kReadOut);
  EXPECT_TRUE(control_->reset_sm_clock());
}

TEST_P(GpuContract, EnergyCounterNeverFalls) {
  if (!can().read_energy_counter.available) GTEST_SKIP() << can().read_energy_counter.why_not;
  const auto first = gpu_->read_fast();
  ASSERT_TRUE(first && first->energy_counter);
  Joules last = *first->energy_counter;
  // Enough of the GPU's own time for several updates of the counter; the simulated one runs 1000 times
  // faster.
  const TimePoint end = first->at + 1_s;
  while (backend_->clock()->now() < end) {
    const auto reading = gpu_->read_fast();
    ASSERT_TRUE(reading && reading->energy_counter);
    ASSERT_GE(*reading->energy_counter, last);
    last = *reading->energy_counter;
  }
  EXPECT_GT(last, *first->energy_counter);
}

TEST_P(GpuContract, PowerLimitsAreInOrder) {
  const PowerLimits now = limits();
  EXPECT_LT(now.min, now.max);
  EXPECT_GE(now.default_limit, now.min);
  EXPECT_LE(now.default_limit, now.max);
  EXPECT_LE(now.enforced, now.max);
}

TEST_P(GpuContract, ClocksAreListedUpwards) {
  const ClockTable table = clocks();
  ASSERT_FALSE(table.sm.empty());
  ASSERT_FALSE(table.memory.empty());
  EXPECT_TRUE(std::is_sorted(table.sm.begin(), table.sm.end()));
  EXPECT_TRUE(std::is_sorted(table.memory.begin(), table.memory.end()));
  EXPECT_EQ(std::adjacent_find(table.sm.begin(), table.sm.end()), table.sm.end());
}

TEST_P(GpuContract, LegalPairsCoverTheClocks) {
  const ClockTable table = clocks();
  ASSERT_EQ(table.pairs.size(), table.memory.size());
  std::vector<Megahertz> together;
  for (std::size_t i = 0; i < table.pairs.size(); ++i) {
    EXPECT_EQ(table.pairs[i].memory, table.memory[i]);
    EXPECT_TRUE(std::is_sorted(table.pairs[i].sm.begin(), table.pairs[i].sm.end()));
    together.insert(together.end(), table.pairs[i].sm.begin(), table.pairs[i].sm.end());
  }
  std::sort(together.begin(), together.end());
  together.erase(std::unique(together.begin(), together.end()), together.end());
  EXPECT_EQ(together, table.sm);
}

TEST_P(GpuContract, BothTicksTellTheSameLimitsAsTheLimitsThemselves) {
  const auto slow = gpu_->read_slow();
  ASSERT_TRUE(slow) << slow.error().what;
  EXPECT_EQ(slow->requested_limit, limits().requested);
  EXPECT_EQ(slow->enforced_limit, limits().enforced);
}

TEST_P(GpuContract, LimiterTimesNeverFall) {
  if (!can().read_limiter_times.available) GTEST_SKIP() << can().read_limiter_times.why_not;
  const auto first = gpu_->read_slow();
  const auto second = gpu_->read_slow();
  ASSERT_TRUE(first && second);
  for (const auto member : {&LimiterTimes::power_cap, &LimiterTimes::thermal, &LimiterTimes::hw_thermal,
                            &LimiterTimes::power_brake}) {
    EXPECT_EQ((first->limited.*member).has_value(), (second->limited.*member).has_value());
    EXPECT_GE(second->limited.*member, first->limited.*member);
  }
}

TEST_P(GpuContract, MissingCapabilitySaysWhy) {
  const Capabilities& c = can();
  for (const Capability* capability :
       {&c.read_power, &c.read_energy_counter, &c.read_clocks, &c.read_utilisation, &c.read_limiter,
        &c.read_limiter_times, &c.read_average_power, &c.read_module_power, &c.read_memory_power,
        &c.read_application_clocks, &c.read_counters, &c.read_processes, &c.set_power_limit, &c.set_sm_clock,
        &c.set_memory_clock, &c.set_application_clocks})
    EXPECT_EQ(capability->available, capability->why_not.empty()) << capability->why_not;
}

TEST_P(GpuContract, CapabilitiesMakeNoSettingCall) {
  if (GetParam().through != Through::stand_in) GTEST_SKIP() << "only the stand-in keeps a trace of calls";
  std::ifstream file(std::getenv("RUBATO_SIM_TRACE"));
  std::stringstream trace;
  trace << file.rdbuf();
  EXPECT_THAT(trace.str(), HasSubstr("nvmlDeviceGetPowerManagementLimitConstraints"));
  EXPECT_THAT(trace.str(), testing::Not(HasSubstr("DeviceSet")));
  EXPECT_THAT(trace.str(), testing::Not(HasSubstr("DeviceReset")));
}

TEST_P(GpuContract, AFastTickIsOneCallWhereTheDriverAllows) {
  if (GetParam().through != Through::stand_in)
    GTEST_SKIP() << "old drivers need two, and a simulated world is no driver";
  const auto before = gpu_->cost().calls;
  ASSERT_TRUE(gpu_->read_fast());
  EXPECT_EQ(gpu_->cost().calls, before + 1);
}

TEST_P(GpuContract, SetLimitReadsBackAsRequested) {
  NEEDS_SETTING(set_power_limit);
  const PowerLimits found = limits();
  const Watts asked = found.min + 7_W;
  const auto set = control_->set_power_limit(asked);
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(limits().requested, asked);
  ASSERT_TRUE(control_->set_power_limit(found.requested));
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, BothEndsOfTheLimitRangeCanBeSet) {
  NEEDS_SETTING(set_power_limit);
  const PowerLimits found = limits();
  for (const Watts end : {found.min, found.max}) {
    ASSERT_TRUE(control_->set_power_limit(end));
    EXPECT_EQ(limits().requested, end);
  }
  ASSERT_TRUE(control_->set_power_limit(found.requested));
}

TEST_P(GpuContract, LimitOutsideTheRangeIsRefusedWithTheRange) {
  if (!may_set(GetParam())) GTEST_SKIP() << "RUBATO_TEST_MAY_SET is not 1";
  const PowerLimits found = limits();
  for (const Watts wrong : {found.min - 1_W, found.max + 1_W, Watts(-5), Watts(std::nan(""))}) {
    const auto set = control_->set_power_limit(wrong);
    ASSERT_FALSE(set) << cat(wrong);
    if (!can().set_power_limit.available && set.error().code == ErrorCode::no_permission) continue;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument) << set.error().what;
    EXPECT_THAT(set.error().what, testing::AllOf(HasSubstr(cat(found.min)), HasSubstr(cat(found.max))));
  }
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, RefusedWriteLeavesStateUnchanged) {
  if (!may_set(GetParam())) GTEST_SKIP() << "RUBATO_TEST_MAY_SET is not 1";
  if (can().set_power_limit.available && GetParam().rights != "none")
    GTEST_SKIP() << "nothing is refused here";
  const PowerLimits found = limits();
  const auto set = control_->set_power_limit(found.min);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::no_permission) << set.error().what;
  EXPECT_FALSE(set.error().hint.empty());
  EXPECT_THAT(set.error().what, HasSubstr(gpu_->identity().name));
  EXPECT_FALSE(control_->lock_sm_clock({clocks().sm.front(), clocks().sm.front()}));
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, EveryAdvertisedSmClockCanBeLockedAndReset) {
  NEEDS_SETTING(set_sm_clock);
  for (const Megahertz clock : clocks().sm) {
    const auto locked = control_->lock_sm_clock({clock, clock});
    ASSERT_TRUE(locked) << locked.error().what;
  }
  EXPECT_TRUE(control_->lock_sm_clock({clocks().sm.front(), clocks().sm.back()}));
  EXPECT_TRUE(control_->reset_sm_clock());
  EXPECT_TRUE(control_->reset_sm_clock()) << "unlocking twice is no error";
}

TEST_P(GpuContract, EveryAdvertisedMemoryClockCanBeLockedAndReset) {
  NEEDS_SETTING(set_memory_clock);
  for (const Megahertz clock : clocks().memory) {
    const auto locked = control_->lock_memory_clock({clock, clock});
    ASSERT_TRUE(locked) << locked.error().what;
  }
  EXPECT_TRUE(control_->reset_memory_clock());
}

TEST_P(GpuContract, ApplicationClocksReadBackAndResetToTheirDefault) {
  NEEDS_SETTING(set_application_clocks);
  const auto found = gpu_->application_clocks();
  ASSERT_TRUE(found) << found.error().what;
  const LegalClocks legal = clocks().pairs.back();
  const ApplicationClocks asked{.memory = legal.memory, .sm = legal.sm.front()};
  const auto set = control_->set_application_clocks(asked);
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(gpu_->application_clocks()->requested, asked);
  ASSERT_TRUE(control_->reset_application_clocks());
  EXPECT_EQ(gpu_->application_clocks()->requested, found->by_default);
  ASSERT_TRUE(control_->set_application_clocks(found->requested));
  EXPECT_EQ(gpu_->application_clocks()->requested, found->requested);
}

TEST_P(GpuContract, AClockItDoesNotHaveIsRefusedWithTheNearest) {
  NEEDS_SETTING(set_sm_clock);
  const Megahertz highest = clocks().sm.back();
  const auto locked = control_->lock_sm_clock({highest + 1000_MHz, highest + 1000_MHz});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(locked.error().what + locked.error().hint, HasSubstr(number(highest.value())));
}

TEST_P(GpuContract, WhatIsNoClockIsRefused) {
  NEEDS_SETTING(set_sm_clock);
  for (const Megahertz wrong : {0_MHz, Megahertz(-900), Megahertz(std::nan("")), Megahertz(1e300)}) {
    EXPECT_FALSE(control_->lock_sm_clock({wrong, wrong})) << cat(wrong);
    EXPECT_FALSE(control_->set_application_clocks({wrong, wrong})) << cat(wrong);
  }
}

TEST_P(GpuContract, AClockRangeUpsideDownIsRefused) {
  NEEDS_SETTING(set_sm_clock);
  const auto locked = control_->lock_sm_clock({clocks().sm.back(), clocks().sm.front()});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::invalid_argument);
}

TEST_P(GpuContract, TwoOpenersSeeTheSameGpu) {
  NEEDS_SETTING(set_power_limit);
  auto second_backend = open_subject(GetParam());
  ASSERT_TRUE(second_backend) << second_backend.error().what;
  auto second = (*second_backend)->open(gpu_->identity().id);
  ASSERT_TRUE(second) << second.error().what;
  const PowerLimits found = limits();
  ASSERT_TRUE(control_->set_power_limit(found.min));
  const auto seen = (*second)->power_limits();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->requested, found.min);
  ASSERT_TRUE(control_->set_power_limit(found.requested));
}

TEST_P(GpuContract, AGpuOutlivesTheBackendThatOpenedIt) {
  backend_.reset();
  EXPECT_TRUE(gpu_->read_fast());
}

INSTANTIATE_TEST_SUITE_P(Backends, GpuContract,
                         testing::Values(Subject{"sim_v100", Through::sim, "v100", ""},
                                         Subject{"sim_rtxa4000", Through::sim, "rtxa4000", ""},
                                         Subject{"sim_k80", Through::sim, "k80", ""},
                                         Subject{"sim_gh200", Through::sim, "gh200-480gb", ""},
                                         Subject{"sim_without_rights", Through::sim, "v100", "none"},
                                         Subject{"nvml_v100", Through::stand_in, "v100", "owner"},
                                         Subject{"nvml_rtxa4000", Through::stand_in, "rtxa4000", "owner"},
                                         Subject{"nvml_k80", Through::stand_in, "k80", "owner"},
                                         Subject{"nvml_gh200", Through::stand_in, "gh200-480gb", "owner"},
                                         Subject{"nvml_h100", Through::stand_in, "h100", "owner"},
                                         Subject{"nvml_as_a_driver_asks", Through::stand_in, "v100", ""},
                                         Subject{"nvml_without_rights", Through::stand_in, "v100", "none"},
                                         Subject{"replayed", Through::replay, "", ""},
                                         Subject{"replayed_without_rights", Through::replay, "", "none"},
                                         Subject{"real_nvml", Through::real_driver, "", ""}),
                         [](const auto& subject) { return subject.param.name; });

}  // namespace
}  // namespace rubato::device
