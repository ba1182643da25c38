#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/hwmon_subject.h"

namespace rubato::meter::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const MeterChannel* channel(const Meter& meter, std::string_view name) {
  for (const MeterChannel& one : meter.channels())
    if (one.name == name) return &one;
  return nullptr;
}

std::unique_ptr<Meter> open(const Tree& tree, std::string_view argument) {
  auto meter = hwmon::kind().open(argument, {.clock = std::make_shared<VirtualClock>(), .root = tree.root()});
  EXPECT_TRUE(meter) << meter.error().what;
  return meter ? std::move(*meter) : nullptr;
}

TEST(Hwmon, GraceNamesSayWhatIsInsideWhat) {
  const HwmonSubject machine;
  const auto meter = open(machine.tree, "");
  const MeterChannel* module = channel(*meter, "power_meter@ACPI000D:00/power1");
  const MeterChannel* grace = channel(*meter, "power_meter@ACPI000D:01/power1");
  const MeterChannel* cpu = channel(*meter, "power_meter@ACPI000D:02/power1");
  const MeterChannel* io = channel(*meter, "power_meter@ACPI000D:03/power1");
  ASSERT_TRUE(module && grace && cpu && io);
  EXPECT_EQ(module->scope, Scope::module);
  EXPECT_EQ(grace->scope, Scope::cpu_package);
  EXPECT_EQ(grace->inside, module->name);
  EXPECT_EQ(cpu->scope, Scope::cpu_cores);
  EXPECT_EQ(cpu->inside, grace->name);
  EXPECT_EQ(io->inside, grace->name);
  EXPECT_EQ(grace->place, "Grace Power Socket 0 (power_meter@ACPI000D:01)");
  EXPECT_EQ(grace->sensor.averaging_window, 50_ms);
}

TEST(Hwmon, ChipsAreChosenByNamePlaceOrFolder) {
  const HwmonSubject machine;
  EXPECT_EQ(open(machine.tree, "ina226")->channels().size(), 1U);
  EXPECT_EQ(open(machine.tree, "hwmon1/energy1")->channels().front().name, "xe/energy1");
  EXPECT_EQ(open(machine.tree, "power_meter")->channels().size(), 4U);
  EXPECT_EQ(open(machine.tree, "power_meter@ACPI000D:02/power1,ina226")->channels().size(), 2U);
  machine.tree.write("/sys/class/hwmon/hwmon0/power2_input", "5000000\n");
  EXPECT_EQ(open(machine.tree, "ina226/power1,power2")->channels().size(), 2U);
}

TEST(Hwmon, AnUnknownChipIsAnErrorThatNamesTheKnownOnes) {
  const HwmonSubject machine;
  const auto meter = hwmon::kind().open("coretemp", machine.around());
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::not_found);
  EXPECT_THAT(meter.error().hint, HasSubstr("ina226/power1, xe/energy1, ina3221/rail2"));
}

TEST(Hwmon, TwoChipsOfOneNameAreToldApartByTheirPlace) {
  const HwmonSubject machine;
  machine.tree.write("/sys/class/hwmon/hwmon10/name", "ina226\n");
  machine.tree.write("/sys/class/hwmon/hwmon10/power1_input", "1000000\n");
  machine.tree.write("/sys/devices/2-0041/name", "ina226\n");
  machine.tree.link("/sys/class/hwmon/hwmon10/device", machine.tree.path("/sys/devices/2-0041"));
  const auto meter = open(machine.tree, "ina226");
  EXPECT_TRUE(channel(*meter, "ina226@hwmon0/power1"));
  EXPECT_TRUE(channel(*meter, "ina226@2-0041/power1"));
}

TEST(Hwmon, AMeterOfTheWholeMachineSaysSo) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "power_meter\n");
  tree.write("/sys/class/hwmon/hwmon0/device/power1_average", "300000000\n");
  EXPECT_EQ(open(tree, "")->channels().front().scope, Scope::rail) << "nothing says what it measures";
  tree.write("/sys/class/hwmon/hwmon0/device/measures/LNXSYBUS:00/hid", "LNXSYBUS\n");
  EXPECT_EQ(open(tree, "")->channels().front().scope, Scope::node);
}

TEST(Hwmon, CountersOfSingleCoresAreReadOnlyWhereNamed) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "amd_energy\n");
  for (const auto& [n, label] : {std::pair{1, "Ecore000"}, {2, "Ecore001"}, {3, "Esocket0"}}) {
    tree.write(cat("/sys/class/hwmon/hwmon0/energy", n, "_label"), label);
    tree.write(cat("/sys/class/hwmon/hwmon0/energy", n, "_input"), "1000\n");
  }
  const auto bare = open(tree, "");
  ASSERT_EQ(bare->channels().size(), 1U);
  EXPECT_EQ(bare->channels()[0].scope, Scope::cpu_package);
  EXPECT_EQ(open(tree, "amd_energy")->channels().size(), 3U);
}

TEST(Hwmon, TheMomentaryReadingIsPreferredToTheAverage) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "amdgpu\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_average", "90000000\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_average_interval", "1000\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_input", "80000000\n");
  tree.write("/sys/class/hwmon/hwmon0/power1_cap", "200000000\n");
  const auto meter = open(tree, "");
  ASSERT_EQ(meter->channels().size(), 1U);
  EXPECT_FALSE(meter->channels()[0].sensor.averaging_window);
  EXPECT_EQ(meter->read()->front().power, 80_W);
}

TEST(Hwmon, TheShuntsOfAnIna3221AreNoRail) {
  const Tree tree;
  const auto write = [&](std::string_view file, std::string_view text) {
    tree.write(cat("/sys/class/hwmon/hwmon0/", file), text);
  };
  write("name", "ina3221\n");
  write("in1_input", "20000\n");   // mV
  write("curr1_input", "5000\n");  // mA
  write("in4_input", "1500\n");    // uV over the shunt of the first rail
  write("curr4_input", "5000\n");  // sum of the three currents
  const auto meter = open(tree, "");
  ASSERT_EQ(meter->channels().size(), 1U);
  EXPECT_EQ(meter->channels()[0].name, "ina3221/rail1");
  EXPECT_EQ(meter->read()->front().power, 100_W);
}

TEST(Hwmon, FindListsEveryQuantityWithItsSpec) {
  const HwmonSubject machine;
  std::vector<std::string> specs;
  for (const FoundMeter& found : hwmon::kind().find(machine.around())) {
    EXPECT_TRUE(found.usable.available) << found.usable.why_not;
    EXPECT_TRUE(hwmon::kind().open(found.spec.substr(6), machine.around())) << found.spec;
    specs.push_back(found.spec);
  }
  EXPECT_THAT(specs,
              ElementsAre("hwmon:ina226/power1", "hwmon:xe/energy1", "hwmon:ina3221/rail2",
                          "hwmon:power_meter@ACPI000D:00/power1", "hwmon:power_meter@ACPI000D:01/power1",
                          "hwmon:power_meter@ACPI000D:02/power1", "hwmon:power_meter@ACPI000D:03/power1"));
}

TEST(Hwmon, AMachineWithoutSuchChipsHasNone) {
  const Tree tree;
  tree.write("/sys/class/hwmon/hwmon0/name", "coretemp\n");
  const Surroundings around{.clock = std::make_shared<VirtualClock>(), .root = tree.root()};
  EXPECT_TRUE(hwmon::kind().find(around).empty());
  const auto meter = hwmon::kind().open("", around);
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace rubato::meter::testing
