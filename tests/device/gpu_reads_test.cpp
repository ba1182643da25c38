// What every backend promises of its readings.
#include "device/gpu_contract.h"

namespace rubato::device {
namespace {

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

TEST_P(GpuContract, EnergyCounterNeverFalls) {
  if (!can().read_energy_counter.available) GTEST_SKIP() << can().read_energy_counter.why_not;
  const auto first = gpu_->read_fast();
  ASSERT_TRUE(first && first->energy_counter);
  Joules last = *first->energy_counter;
  // Enough of the GPU's own time for several updates of the counter; the simulated one runs 1000 times
  // faster. The last reading is from after that: a loaded machine may let all of it pass between two lines.
  const TimePoint end = first->at + 1_s;
  for (bool over = false; !over;) {
    over = backend_->clock()->now() >= end;
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

TEST_P(GpuContract, AFastTickIsOneCallWhereTheDriverAllows) {
  if (GetParam().through != Through::stand_in)
    GTEST_SKIP() << "old drivers need two, and a simulated world is no driver";
  const auto before = gpu_->cost().calls;
  ASSERT_TRUE(gpu_->read_fast());
  EXPECT_EQ(gpu_->cost().calls, before + 1);
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
