// Power and energy of the GPU, its module and its memory: one call, never mixed up.
#include "device_nvml/fake_driver.h"

namespace rubato::device::nvml::fake {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Scopes : public Driver2023 {
 protected:
  /// The calls one fast tick makes.
  [[nodiscard]] std::uint64_t calls_of_a_tick() const {
    const auto before = gpu_->cost().calls;
    (void)fast();
    return gpu_->cost().calls - before;
  }
};

TEST_F(Scopes, AnOrdinaryBoardHasOneScopeAndOneCall) {
  has_fields({{186, 0, 210'500}, {185, 0, 190'000}, {83, 0, 7'000'000}, {191, 0, 7'000'000}});
  open();
  const FastReading reading = fast();
  EXPECT_EQ(reading.power, 210.5_W);
  EXPECT_EQ(reading.power_average, 190_W);
  EXPECT_EQ(reading.energy_counter, 7000_J);
  EXPECT_FALSE(reading.module_power || reading.module_energy_counter || reading.memory_power);
  EXPECT_EQ(calls_of_a_tick(), 1U);
  EXPECT_THAT(can().read_module_power.why_not, HasSubstr("NVML_ERROR_NOT_SUPPORTED"));
}

TEST_F(Scopes, ASuperchipGivesAllOfThemInTheSameOneCall) {
  has_fields({{186, 0, 400'000},
              {185, 0, 390'000},
              {83, 0, 9'000'000},
              {191, 0, 5'000'000},
              {186, 1, 700'000},
              {191, 1, 9'000'000},
              {185, 2, 60'000}});
  open();
  const FastReading reading = fast();
  EXPECT_EQ(reading.power, 400_W);
  EXPECT_EQ(reading.module_power, 700_W);
  EXPECT_EQ(reading.memory_power, 60_W) << "by its average where there is no instant reading";
  EXPECT_EQ(reading.energy_counter, 5000_J) << "asked for by scope, not the unscoped one";
  EXPECT_EQ(reading.module_energy_counter, 9000_J);
  EXPECT_EQ(calls_of_a_tick(), 1U);
}

TEST_F(Scopes, ASuperchipWhoseGpuScopeFailsIsMeasuredAsAModuleUnderThatName) {
  has_fields({{186, 1, 700'000}, {83, 0, 9'000'000}});
  state_->power_usage_result = abi::kNotSupported;
  open();
  const FastReading reading = fast();
  EXPECT_FALSE(reading.power);
  EXPECT_FALSE(reading.energy_counter);
  EXPECT_EQ(reading.module_power, 700_W);
  EXPECT_EQ(reading.module_energy_counter, 9000_J);
  EXPECT_FALSE(can().read_power.available);
  EXPECT_THAT(can().read_power.why_not, HasSubstr("whole module only"));
  EXPECT_THAT(can().read_energy_counter.why_not, HasSubstr("whole module only"));
}

TEST_F(Scopes, OnASuperchipACounterWithoutScopeIsNotTakenForTheGpus) {
  has_fields({{186, 0, 400'000}, {186, 1, 700'000}, {83, 0, 9'000'000}});
  open();
  EXPECT_EQ(fast().power, 400_W);
  EXPECT_FALSE(fast().energy_counter);
  EXPECT_EQ(fast().module_energy_counter, 9000_J);
}

TEST_F(Scopes, ADriverThatIgnoresScopesHasNoModule) {
  has_fields({{186, 0, 210'000}, {185, 0, 200'000}, {83, 0, 7'000'000}, {191, 0, 7'000'000}});
  state_->ignores_scopes = true;
  open();
  EXPECT_EQ(fast().power, 210_W);
  EXPECT_EQ(fast().energy_counter, 7000_J);
  EXPECT_FALSE(fast().module_power || fast().memory_power || fast().module_energy_counter);
  EXPECT_THAT(can().read_module_power.why_not, HasSubstr("does not tell scopes apart"));
}

TEST_F(Scopes, AScopeThatReadsZeroIsNone) {
  has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}, {186, 1, 0}, {186, 2, 0}});
  open();
  EXPECT_FALSE(fast().module_power || fast().memory_power);
  EXPECT_EQ(fast().energy_counter, 7000_J);
}

TEST_F(Scopes, WithoutFieldsPowerAndCounterTakeACallEach) {
  open();
  EXPECT_EQ(fast().power, 101_W);
  EXPECT_EQ(fast().energy_counter, 5000_J);
  EXPECT_EQ(calls_of_a_tick(), 2U);
  EXPECT_THAT(can().read_average_power.why_not, HasSubstr("no average of its own"));
}

TEST_F(Scopes, NeitherCounterNorFieldLeavesTheCounterAbsentWithTheReason) {
  state_->counter_result = abi::kNotSupported;
  open();
  EXPECT_FALSE(fast().energy_counter);
  EXPECT_THAT(can().read_energy_counter.why_not,
              AllOf(HasSubstr("nvmlDeviceGetTotalEnergyConsumption"), HasSubstr("NVML_ERROR_NOT_SUPPORTED")));
}

TEST_F(Scopes, ADriverThatRefusesAListWithAnUnknownFieldIsAskedOneByOne) {
  has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}});
  state_->refuses_unknown_fields = true;
  open();
  EXPECT_EQ(fast().power, 210_W);
  EXPECT_EQ(fast().energy_counter, 7000_J);
  EXPECT_EQ(calls_of_a_tick(), 1U) << "both are known to work together";
}

TEST_F(Scopes, AFieldThatStopsAnsweringIsAbsentAndTheOthersStay) {
  has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}});
  open();
  state_->fields[1] = {};
  EXPECT_EQ(fast().power, 210_W);
  EXPECT_FALSE(fast().energy_counter);
}

}  // namespace
}  // namespace rubato::device::nvml::fake
