// Drivers of three eras: what each lacks disables one capability with its reason, and nothing else.
#include "device_nvml/fake_driver.h"

namespace rubato::device::nvml::fake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void expect_whole(const SlowReading& reading) {
  EXPECT_EQ(reading.sm_clock, 1380_MHz);
  EXPECT_EQ(reading.memory_clock, 877_MHz);
  EXPECT_EQ(reading.sm_utilisation, 0.9);
  EXPECT_EQ(reading.memory_utilisation, 0.4);
  EXPECT_EQ(reading.temperature, Celsius(61));
  EXPECT_TRUE(reading.limiter && reading.limiter->power_cap);
  EXPECT_EQ(reading.performance_state, 2U);
  EXPECT_TRUE(reading.requested_limit && reading.enforced_limit);
}

TEST_F(Driver2016, ReadsAllItsDriverHasByTheOldCalls) {
  open();
  EXPECT_EQ(gpu_->identity().pci_bus_id, "0000:1B:00.0");
  EXPECT_EQ(fast().power, 101_W);
  EXPECT_FALSE(fast().energy_counter);
  expect_whole(slow());
  EXPECT_EQ(slow().limited, (LimiterTimes{3_s, 1_s, {}, {}}));
  EXPECT_EQ(gpu_->power_limits()->requested, 250_W);
  EXPECT_EQ(gpu_->power_limits()->enforced, 240_W);
}

TEST_F(Driver2016, NamesWhatItLacks) {
  open();
  EXPECT_THAT(can().read_energy_counter.why_not, HasSubstr("nvmlDeviceGetTotalEnergyConsumption"));
  EXPECT_THAT(can().set_sm_clock.why_not, HasSubstr("nvmlDeviceSetGpuLockedClocks"));
  EXPECT_THAT(can().set_memory_clock.why_not, HasSubstr("nvmlDeviceSetMemoryLockedClocks"));
  EXPECT_TRUE(can().set_power_limit.available) << can().set_power_limit.why_not;
}

TEST_F(Driver2016, HasApplicationClocksWithAGetter) {
  open();
  ASSERT_TRUE(can().set_application_clocks.available) << can().set_application_clocks.why_not;
  const auto found = gpu_->application_clocks();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->requested, (ApplicationClocks{877_MHz, 1200_MHz}));
  EXPECT_EQ(found->by_default, (ApplicationClocks{877_MHz, 1380_MHz}));
  ASSERT_TRUE(control()->set_application_clocks({877_MHz, 135_MHz}));
  EXPECT_EQ(gpu_->application_clocks()->requested, (ApplicationClocks{877_MHz, 135_MHz}));
  ASSERT_TRUE(control()->reset_application_clocks());
  EXPECT_EQ(state_->resets_of_application_clocks, 1);
}

TEST_F(Driver2023, ListsTheSmClocksThatAreLegalAtEachMemoryClock) {
  open();
  const auto table = gpu_->supported_clocks();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_THAT(table->memory, ElementsAre(405_MHz, 877_MHz));
  EXPECT_THAT(table->sm, ElementsAre(135_MHz, 405_MHz, 1200_MHz, 1380_MHz));
  ASSERT_EQ(table->pairs.size(), 2U);
  EXPECT_EQ(table->pairs[0].memory, 405_MHz);
  EXPECT_THAT(table->pairs[0].sm, ElementsAre(135_MHz, 405_MHz));
  EXPECT_THAT(table->pairs[1].sm, ElementsAre(135_MHz, 1200_MHz, 1380_MHz));
}

TEST_F(Driver2023, AMemoryClockWhoseSmClocksTheDriverDoesNotListHasNone) {
  state_->low_memory_clock_result = abi::kNotFound;
  open();
  const auto table = gpu_->supported_clocks();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_THAT(table->pairs.at(0).sm, IsEmpty());
  EXPECT_THAT(table->sm, ElementsAre(135_MHz, 1200_MHz, 1380_MHz));
  EXPECT_TRUE(control()->lock_sm_clock({1200_MHz, 1200_MHz}));
}

TEST_F(Driver2023, AnIllegalPairOfApplicationClocksIsRefusedBeforeTheDriverSeesIt) {
  open();
  const auto set = control()->set_application_clocks({405_MHz, 1380_MHz});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(set.error().what, HasSubstr("135 to 405 MHz"));
  EXPECT_EQ(state_->setting_calls, 0);
}

TEST_F(Driver2023, LimitsComeInOneCallAndTheRequestedOneByItsOwnField) {
  has_fields({{187, 0, 100'000}, {188, 0, 350'000}, {189, 0, 300'000}, {190, 0, 180'000}, {192, 0, 270'000}});
  open();
  const auto before = gpu_->cost().calls;
  const auto limits = gpu_->power_limits();
  ASSERT_TRUE(limits) << limits.error().what;
  EXPECT_EQ(gpu_->cost().calls, before + 1);
  EXPECT_EQ(limits->min, 100_W);
  EXPECT_EQ(limits->max, 350_W);
  EXPECT_EQ(limits->default_limit, 300_W);
  EXPECT_EQ(limits->enforced, 180_W);
  EXPECT_EQ(limits->requested, 270_W) << "the call says 250 W";
  EXPECT_EQ(slow().requested_limit, 270_W);
  EXPECT_EQ(slow().enforced_limit, 180_W);
}

TEST_F(Driver2023, ALimitFieldThatReadsZeroIsFilledByItsCall) {
  has_fields({{187, 0, 0}, {188, 0, 350'000}, {192, 0, 0}});
  open();
  EXPECT_EQ(gpu_->power_limits()->requested, 250_W);
  EXPECT_EQ(gpu_->power_limits()->min, 100_W);
  EXPECT_EQ(slow().requested_limit, 250_W);
}

TEST_F(Driver2023, AMissingLimitFieldIsFilledByItsCall) {
  has_fields({{187, 0, 100'000}, {188, 0, 350'000}, {192, 0, 270'000}});
  open();
  const auto limits = gpu_->power_limits();
  ASSERT_TRUE(limits) << limits.error().what;
  EXPECT_EQ(limits->requested, 270_W);
  EXPECT_EQ(limits->default_limit, 300_W);
  EXPECT_EQ(limits->enforced, 240_W);
}

// The same numbers mean a preset profile and two ramp rates before driver 580.82.
const std::initializer_list<Field> kTimes = {{74, 0, 5e9}, {269, 0, 6e9}, {270, 0, 7e9}, {271, 0, 8e9}};

TEST_F(Driver2023, LimiterTimesBeforeTheirFieldsWereRenumberedComeByCall) {
  for (const char* version : {"535.183.01", "575.57.08", "580.65.06"}) {
    has_fields(kTimes);
    state_->driver_version = version;
    open();
    const Seconds power_cap = std::string_view(version).starts_with("535") ? 3_s : 5_s;
    EXPECT_EQ(slow().limited, (LimiterTimes{power_cap, 1_s, {}, {}})) << version;
  }
}

TEST_F(Driver2023, LimiterTimesFromDriver580Update1OnAreFields) {
  has_fields(kTimes);
  state_->driver_version = "580.82.07";
  open();
  EXPECT_EQ(slow().limited, (LimiterTimes{5_s, 6_s, 7_s, 8_s}));
  EXPECT_TRUE(can().read_limiter_times.available);
}

TEST_F(NewestDriver, ReadsEverythingWithoutTheDeprecatedCalls) {
  has_fields(
      {{186, 0, 210'000}, {83, 0, 7'000'000}, {74, 0, 5e9}, {269, 0, 6e9}, {270, 0, 7e9}, {271, 0, 8e9}});
  open();
  EXPECT_EQ(fast().power, 210_W);
  expect_whole(slow());
  EXPECT_EQ(slow().limited, (LimiterTimes{5_s, 6_s, 7_s, 8_s}));
  EXPECT_TRUE(gpu_->compute_processes());
  EXPECT_TRUE(can().set_sm_clock.available) << can().set_sm_clock.why_not;
}

TEST_F(NewestDriver, SaysThatApplicationClocksAreGone) {
  open();
  EXPECT_FALSE(can().read_application_clocks.available);
  EXPECT_THAT(can().read_application_clocks.why_not, HasSubstr("nvmlDeviceGetApplicationsClock"));
  EXPECT_THAT(can().set_application_clocks.why_not, HasSubstr("nvmlDeviceSetApplicationsClocks"));
  EXPECT_EQ(gpu_->application_clocks().error().code, ErrorCode::not_supported);
}

TEST_F(NewestDriver, LimiterTimesThatItLacksAreNamed) {
  open();
  EXPECT_FALSE(slow().limited.any());
  EXPECT_THAT(can().read_limiter_times.why_not, HasSubstr("nvmlDeviceGetViolationStatus"));
}

TEST_F(Driver2023, WithoutAnArchitectureTheComputeCapabilityTells) {
  state_->architecture_result = abi::kNotSupported;
  open();
  EXPECT_TRUE(can().set_sm_clock.available) << can().set_sm_clock.why_not;
  EXPECT_THAT(can().set_memory_clock.why_not, HasSubstr("Ampere or newer"));
  state_->chip_major = 6;
  open();
  EXPECT_THAT(can().set_sm_clock.why_not, HasSubstr("Volta or newer"));
}

TEST_F(Driver2023, ProbingNeverSets) {
  has_fields(kTimes);
  open();
  EXPECT_EQ(state_->setting_calls, 0);
}

}  // namespace
}  // namespace rubato::device::nvml::fake
