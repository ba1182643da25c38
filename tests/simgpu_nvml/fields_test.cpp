// Field values: scopes, and what a driver of another age tells.
#include "simgpu_nvml/stand_in.h"

namespace rubato::simgpu {
namespace {

class Fields : public StandIn {
 protected:
  [[nodiscard]] abi::FieldValue field(unsigned id, unsigned scope = abi::kScopeGpu) const {
    abi::FieldValue value{};
    value.field = id;
    value.scope = scope;
    EXPECT_EQ(call<abi::DeviceFields>("nvmlDeviceGetFieldValues", gpu(), 1, &value), abi::kSuccess);
    return value;
  }
};

TEST_F(Fields, OnABoardWithoutOtherSensorsOnlyTheGpusOwnScopeAnswers) {
  init();
  for (const unsigned id : {abi::kFieldPowerInstant, abi::kFieldEnergy}) {
    EXPECT_EQ(field(id).result, abi::kSuccess) << id;
    for (const unsigned scope : {abi::kScopeModule, abi::kScopeMemory, 255U})
      EXPECT_EQ(field(id, scope).result, abi::kNotSupported) << id << " scope " << scope;
  }
  EXPECT_EQ(field(abi::kFieldPowerRequestedLimit, abi::kScopeModule).result, abi::kNotSupported);
}

TEST_F(Fields, ASuperchipsModuleDrawsMoreThanItsGpu) {
  profiles("gh200-480gb");
  scenario("{}");
  init();
  const auto gpu_power = field(abi::kFieldPowerInstant);
  const auto module_power = field(abi::kFieldPowerInstant, abi::kScopeModule);
  ASSERT_EQ(module_power.result, abi::kSuccess);
  EXPECT_GT(module_power.value.unsigned_int, gpu_power.value.unsigned_int);
  EXPECT_EQ(field(abi::kFieldEnergy, abi::kScopeModule).result, abi::kSuccess);
}

TEST_F(Fields, TheDriversOwnAverageIsThereFromAmpereOnButNotOnGa100) {
  profiles("v100,a100,rtxa4000");
  scenario("{}");
  init();
  abi::FieldValue value{};
  const auto answer_of = [&](unsigned index) {
    value.field = abi::kFieldPowerAverage;
    EXPECT_EQ(call<abi::DeviceFields>("nvmlDeviceGetFieldValues", gpu(index), 1, &value), abi::kSuccess);
    return value.result;
  };
  EXPECT_EQ(answer_of(0), abi::kNotSupported);
  EXPECT_EQ(answer_of(1), abi::kNotSupported);
  EXPECT_EQ(answer_of(2), abi::kSuccess);
}

TEST_F(Fields, TimesByHeatAreToldByNewDriversOnly) {
  init();
  EXPECT_EQ(field(abi::kFieldTimePowerCap).result, abi::kSuccess);
  EXPECT_EQ(field(abi::kFieldTimeSwThermal).result, abi::kNotSupported);
  ::setenv("RUBATO_SIM_DRIVER", "580.65.06", 1);
  EXPECT_EQ(field(abi::kFieldTimeSwThermal).result, abi::kNotSupported);
  ::setenv("RUBATO_SIM_DRIVER", "580.82.07", 1);
  for (const unsigned id : {abi::kFieldTimeSwThermal, abi::kFieldTimeHwThermal, abi::kFieldTimePowerBrake}) {
    const auto value = field(id);
    EXPECT_EQ(value.result, abi::kSuccess) << id;
    EXPECT_EQ(value.type, abi::ValueType::unsigned_long_long);
    EXPECT_EQ(value.value.unsigned_long_long, 0U) << "a cool idle GPU";
  }
}

TEST_F(Fields, AnOldDriverKnowsNoPowerFieldsAndSaysSoOfItself) {
  ::setenv("RUBATO_SIM_DRIVER", "470.223.02", 1);
  init();
  EXPECT_EQ(field(abi::kFieldPowerInstant).result, abi::kNotSupported);
  EXPECT_EQ(field(abi::kFieldPowerRequestedLimit).result, abi::kNotSupported);
  EXPECT_EQ(field(abi::kFieldTotalEnergy).result, abi::kSuccess);
  std::array<char, abi::kVersionSize> text{};
  ASSERT_EQ(call<abi::GetText>("nvmlSystemGetNVMLVersion", text.data(), abi::kVersionSize), abi::kSuccess);
  EXPECT_STREQ(text.data(), "11.470.223.02");
  int cuda = 0;
  ASSERT_EQ(call<abi::GetInt>("nvmlSystemGetCudaDriverVersion_v2", &cuda), abi::kSuccess);
  EXPECT_EQ(cuda, 11040);
}

}  // namespace
}  // namespace rubato::simgpu
