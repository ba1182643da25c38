#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meter/rapl_subject.h"

namespace rubato::meter::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const Meter& meter) {
  std::vector<std::string> all;
  for (const MeterChannel& channel : meter.channels()) all.push_back(channel.name);
  return all;
}

std::unique_ptr<Meter> open(const RaplSubject& machine, std::string_view argument) {
  auto meter = rapl::kind().open(argument, machine.around());
  EXPECT_TRUE(meter) << meter.error().what;
  return meter ? std::move(*meter) : nullptr;
}

const MeterChannel& channel(const Meter& meter, std::string_view name) {
  for (const MeterChannel& one : meter.channels())
    if (one.name == name) return one;
  throw std::out_of_range(std::string(name));
}

/// What the effective user may not do: root may read everything, so it steps down meanwhile.
class Unprivileged {
 public:
  Unprivileged() : changed_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  ~Unprivileged() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool changed_;
};

TEST(Rapl, BareItReadsPackagesAndMemoryOfAllSockets) {
  const RaplSubject machine;
  EXPECT_THAT(names(*open(machine, "")), ElementsAre("package-0", "dram-0", "package-1", "dram-1"));
}

TEST(Rapl, DomainsAndChannelsCanBeNamed) {
  const RaplSubject machine;
  EXPECT_THAT(names(*open(machine, "dram")), ElementsAre("dram-0", "dram-1"));
  EXPECT_THAT(names(*open(machine, "package-1, core-1")), ElementsAre("package-1", "core-1"));
  EXPECT_EQ(open(machine, "all")->channels().size(), 6U);
  const auto unknown = rapl::kind().open("gpu", machine.around());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_THAT(unknown.error().hint, HasSubstr("package-0"));
}

TEST(Rapl, CoresAreInsideTheirPackageAndMemoryIsNot) {
  const RaplSubject machine;
  const auto all = open(machine, "all");
  EXPECT_EQ(channel(*all, "core-1").inside, "package-1");
  EXPECT_EQ(channel(*all, "core-1").scope, Scope::cpu_cores);
  EXPECT_EQ(channel(*all, "dram-1").inside, "");
  EXPECT_EQ(channel(*all, "dram-1").place, "memory of socket 1");
  EXPECT_EQ(channel(*open(machine, "core"), "core-1").inside, "")
      << "a container that is not read is not named";
}

TEST(Rapl, ThePlatformHoldsPackagesAndMemory) {
  RaplSubject machine;
  machine.add("intel-rapl:2", "psys");
  const auto all = open(machine, "all");
  EXPECT_EQ(channel(*all, "psys").scope, Scope::platform);
  EXPECT_EQ(channel(*all, "package-0").inside, "psys");
  EXPECT_EQ(channel(*all, "dram-0").inside, "psys");
  EXPECT_EQ(channel(*all, "core-0").inside, "package-0");
}

TEST(Rapl, TheSamePackageSeenByTwoControllersIsCountedOnce) {
  RaplSubject machine;
  machine.add("intel-rapl-mmio:0", "package-0");
  machine.add("intel-rapl-mmio:0:0", "dram");
  EXPECT_THAT(names(*open(machine, "")), ElementsAre("package-0", "dram-0", "package-1", "dram-1"));
}

TEST(Rapl, WithTheMmioControllerAloneItIsUsed) {
  RaplSubject machine;
  machine.tree.remove("/sys/class/powercap");
  machine.tree.write("/sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
  machine.tree.write("/sys/class/powercap/intel-rapl-mmio:0/energy_uj", "5\n");
  EXPECT_THAT(names(*open(machine, "")), ElementsAre("package-0"));
}

TEST(Rapl, EveryDieHasItsOwnRegister) {
  RaplSubject machine;
  machine.add("intel-rapl:0", "package-0-die-0");
  machine.add("intel-rapl:1", "package-0-die-1");
  const auto all = open(machine, "all");
  EXPECT_THAT(names(*all), ElementsAre("package-0-die-0", "dram-0-die-0", "core-0-die-0", "package-0-die-1",
                                       "dram-0-die-1", "core-0-die-1"));
  EXPECT_EQ(channel(*all, "core-0-die-1").inside, "package-0-die-1");
  EXPECT_EQ(channel(*all, "package-0-die-1").place, "CPU package of socket 0, die 1");
}

TEST(Rapl, OnAmdTheCoreRegisterIsSaidToBeOfOneCore) {
  RaplSubject machine;
  machine.tree.write("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  EXPECT_EQ(channel(*open(machine, "core"), "core-0").place, "the first core of socket 0");
}

TEST(Rapl, OnAmdOfManyProcessorsTooTheCoreRegisterIsSaidToBeOfOneCore) {
  RaplSubject machine;
  std::string info;
  for (int processor = 0; processor < 768; ++processor)
    info += cat("processor\t: ", processor,
                "\nvendor_id\t: AuthenticAMD\nflags\t\t: ", std::string(1900, 'f'), "\n\n");
  machine.tree.write("/proc/cpuinfo", info);
  EXPECT_EQ(channel(*open(machine, "core"), "core-0").place, "the first core of socket 0");
}

TEST(Rapl, ARegisterThatTurnsOverLosesNothing) {
  RaplSubject machine;
  machine.count("intel-rapl:0") = kRaplTop - 100'000'000;
  machine.show();
  const auto meter = open(machine, "package-0");
  ASSERT_TRUE(meter->read());
  machine.advance(10_s, 150_W);
  const auto after = meter->read();
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_NEAR(after->front().energy->value(), 1500, 1e-5);
  EXPECT_FALSE(meter->complaint());
}

TEST(Rapl, AfterAPauseInWhichItCouldTurnTwiceTheEnergyIsUnknown) {
  RaplSubject machine;
  const auto meter = open(machine, "package-0");
  ASSERT_TRUE(meter->read());
  machine.advance(10_s, 100_W);
  ASSERT_TRUE(meter->read());
  machine.advance(200_s, 100_W);
  const auto after = meter->read();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->front().energy, 0_J) << "lower than before, as after a reset";
  ASSERT_TRUE(meter->complaint());
  EXPECT_THAT(meter->complaint()->what, HasSubstr("package-0"));
}

TEST(Rapl, OneRegisterThatFailsDoesNotSilenceTheOthers) {
  const RaplSubject machine;
  const auto meter = open(machine, "");
  machine.tree.remove("/sys/class/powercap/intel-rapl:1/energy_uj");
  const auto read = meter->read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 3U);
  ASSERT_TRUE(meter->complaint());
  EXPECT_THAT(meter->complaint()->what, HasSubstr("intel-rapl:1/energy_uj"));
}

TEST(Rapl, AFileThatOnlyRootMayReadIsNamedWithWhatHelps) {
  const RaplSubject machine;
  ::chmod(machine.tree.path("/").c_str(), 0755);
  for (const char* zone : {"0", "0:0", "0:1", "1", "1:0", "1:1"})
    ::chmod(machine.tree.path(cat("/sys/class/powercap/intel-rapl:", zone, "/energy_uj")).c_str(), 0);
  const Unprivileged user;
  const auto meter = rapl::kind().open("", machine.around());
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::no_permission);
  EXPECT_THAT(meter.error().what, HasSubstr("intel-rapl:0/energy_uj"));
  EXPECT_THAT(meter.error().hint, HasSubstr("chgrp"));
  EXPECT_THAT(meter.error().hint, HasSubstr("sudo rubato"));
  const auto found = rapl::kind().find(machine.around());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].usable.available);
  EXPECT_TRUE(found[0].usable.needs_right);
}

TEST(Rapl, FindSaysWhatThereIs) {
  const RaplSubject machine;
  const auto found = rapl::kind().find(machine.around());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].spec, "rapl");
  EXPECT_EQ(found[0].what, "energy of package-0, dram-0, package-1, dram-1");
  EXPECT_TRUE(found[0].usable.available);
}

TEST(Rapl, AMachineWithoutTheTreeHasNone) {
  const Tree empty;
  const Surroundings around{.clock = std::make_shared<VirtualClock>(), .root = empty.root()};
  EXPECT_TRUE(rapl::kind().find(around).empty());
  const auto meter = rapl::kind().open("", around);
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace rubato::meter::testing
