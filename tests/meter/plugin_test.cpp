#include "meter/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/registry.h"
#include "meter/tree.h"

namespace rubato::meter::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::filesystem::path kSame = RUBATO_FAKE_MODULES "/same";
const std::filesystem::path kOther = RUBATO_FAKE_MODULES "/other";

TEST(Plugin, AModuleOfTheSameBuildGivesItsKind) {
  const auto kind = load_kind("fake", "libfake1", {"/none", kSame});
  ASSERT_TRUE(kind) << kind.error().what;
  EXPECT_EQ((*kind)->name, "fake");
  EXPECT_EQ((*kind)->open("here", {}).error().what, "no answer from here");
  EXPECT_EQ(load_kind("fake", "libfake1", {kSame}).value(), *kind) << "opened once";
}

TEST(Plugin, AModuleOfAnotherBuildIsNotUsed) {
  const auto kind = load_kind("fake", "libfake1", {kOther});
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().code, ErrorCode::not_supported);
  EXPECT_THAT(kind.error().what, HasSubstr("not of this build"));
}

TEST(Plugin, AMissingModuleSaysWhereItWasLookedFor) {
  const auto kind = load_kind("none", "libnone1", {"/first", "/second"});
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().what, "meter none: librubato-meter-none.so is not in /first or /second");
  EXPECT_THAT(kind.error().hint, HasSubstr("RUBATO_METER_PATH"));
}

TEST(Plugin, AModuleThatCannotBeLoadedNamesThePackage) {
  const Tree tree;
  tree.write("/librubato-meter-broken.so", "not a library");
  const auto kind = load_kind("broken", "libbroken1", {tree.path("/")});
  ASSERT_FALSE(kind);
  EXPECT_THAT(kind.error().what, HasSubstr("cannot load"));
  EXPECT_EQ(kind.error().hint, "sudo apt install libbroken1");
}

TEST(Plugin, ModulesAreLookedForInTheBuildTreeAndWhereTheUserSays) {
  ::setenv("RUBATO_METER_PATH", "/a:/b", 1);
  const auto folders = module_folders();
  ::unsetenv("RUBATO_METER_PATH");
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0], "/a");
  EXPECT_EQ(folders[1], "/b");
  EXPECT_EQ(folders[2].parent_path().filename(), "lib");
  EXPECT_EQ(folders[2].filename(), "rubato");
}

TEST(Plugin, EveryModuleOfThisBuildIsWhatItsNameSays) {
  int loaded = 0;
  for (const std::string name : {"ipmi", "snmp", "mqtt"}) {
    if (!std::filesystem::exists(module_folders().back() / ("librubato-meter-" + name + ".so"))) continue;
    const auto kind = load_kind(name, "?", module_folders());
    ASSERT_TRUE(kind) << kind.error().what;
    EXPECT_EQ((*kind)->name, name);
    ++loaded;
  }
  if (loaded == 0) GTEST_SKIP() << "this build has no module: none of their libraries is installed";
}

TEST(MeterRegistry, ListsEveryKindOnceWithoutLoadingAny) {
  std::vector<std::string_view> names;
  for (const MeterKind& kind : kinds()) names.push_back(kind.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("rapl", "hwmon", "mcp39f511n", "ipmi", "snmp", "mqtt"));
}

TEST(MeterRegistry, AnUnknownKindNamesTheKnownOnes) {
  const auto meter = open_meter("zigbee:plug", {});
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(meter.error().hint, HasSubstr("rapl[:DOMAIN,…], "));
}

TEST(MeterRegistry, PassesTheArgumentToTheKind) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "ina226\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_input", "1000000\n");
  const Surroundings around{.clock = std::make_shared<VirtualClock>(), .root = tree.root()};
  const auto meter = open_meter("hwmon:ina226/power1", around);
  ASSERT_TRUE(meter) << meter.error().what;
  EXPECT_EQ((*meter)->name(), "hwmon:ina226/power1");
  EXPECT_FALSE(open_meter("hwmon:none", around));
}

TEST(MeterRegistry, FindsWhatTheMachineHasAndWhatIsConfigured) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "ina226\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_input", "1000000\n");
  Surroundings around{.clock = std::make_shared<VirtualClock>(), .root = tree.root()};
  around.tables = {
      {.name = "rack", .values = {{"kind", "snmp"}, {"host", "127.0.0.1"}}, .file = "meters.toml"}};
  std::vector<std::string> specs;
  for (const FoundMeter& found : find_meters(around)) specs.push_back(found.spec);
  EXPECT_THAT(specs, Contains("hwmon:ina226/power1"));
  EXPECT_THAT(specs, Contains("snmp:rack"));
}

}  // namespace
}  // namespace rubato::meter::testing
