#include "analyse/scopes.h"

#include <gmock/gmock.h>

#include "made_training.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::HasSubstr;
using testing::SizeIs;

Scopes scopes(const record::RunRecord& run) {
  return scopes_of(run, timeline_of(run), sources_of(run));
}

// A GPU of 300 W in a machine that draws 450 W, of which two CPU packages draw 60 W each.
MadeTraining machine() {
  MadeTraining made;
  made.channel("snmp:rack", "outlet-7", Scope::node, 150_W, 1.0);
  made.channel("rapl", "package-0", Scope::cpu_package, 60_W);
  made.channel("rapl", "core-0", Scope::cpu_cores, 20_W, 0, "package-0");
  made.channel("rapl", "package-1", Scope::cpu_package, 60_W);
  return made;
}

TEST(Scopes, SayWhatIsInsideWhat) {
  const Scopes s = scopes(machine().wait(60_s, 300_W).ended());
  ASSERT_THAT(s.rows, SizeIs(5));
  EXPECT_FALSE(s.rows[1].inside);   // the node
  EXPECT_EQ(s.rows[0].inside, 1U);  // GPU
  EXPECT_EQ(s.rows[2].inside, 1U);  // package-0
  EXPECT_EQ(s.rows[3].inside, 2U);  // its cores, as the meter says
  EXPECT_NEAR(s.rows[1].energy->energy.value(), 27'000, 30);
}

TEST(Scopes, WhatAWholeHoldsBesidesItsPartsIsNotAccountedFor) {
  const Scopes s = scopes(machine().wait(60_s, 300_W).ended());
  ASSERT_TRUE(s.rows[1].rest);
  // 450 - 300 - 60 - 60 = 30 W; the GPU's unknown gain alone is 15 W.
  ASSERT_TRUE(s.rows[1].rest->energy) << s.rows[1].rest->why_not;
  EXPECT_NEAR(s.rows[1].rest->energy->value(), 1800, 60);
  EXPECT_NEAR(s.rows[1].rest->band.value(), 60 * std::hypot(15.0, 4.5, 0.85), 45);
}

TEST(Scopes, ARestInsideTheBandsIsNotShown) {
  MadeTraining made;
  made.channel("snmp:rack", "outlet-7", Scope::node, 10_W, 1.0).wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_FALSE(s.rows[1].rest->energy);
  EXPECT_THAT(s.rows[1].rest->why_not, HasSubstr("wider than what is left"));
}

TEST(Scopes, PartsLargerThanTheirWholeAreADisagreement) {
  MadeTraining made;
  made.channel("snmp:rack", "outlet-7", Scope::node, 100_W).wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_THAT(s.rows[1].rest->why_not, HasSubstr("the meters disagree"));
  EXPECT_FALSE(s.host.value);
}

TEST(Scopes, NothingIsPutInsideOneOfTwoMetersAtTheWall) {
  MadeTraining made = machine();
  made.channel("ipmi", "dcmi", Scope::node, 140_W, 1.0).wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_FALSE(s.rows[0].inside);
  ASSERT_THAT(s.notes, SizeIs(1));
  EXPECT_EQ(s.host.source, "rapl package-0 + rapl package-1");
}

TEST(Scopes, AStripIsNotTheNextLargerWholeButItsOutletIs) {
  MadeTraining made;
  made.channel("snmp:rack", "strip", Scope::node, 800_W, 1.0);
  made.channel("snmp:rack", "outlet-7", Scope::node, 150_W, 1.0, "strip").wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_EQ(s.rows[0].inside, 2U);
  EXPECT_EQ(s.rows[2].inside, 1U);
  EXPECT_THAT(s.notes, SizeIs(0));
}

TEST(Scopes, ASimulatedGpuIsInsideNoRealMachine) {
  MadeTraining made(1, true, Kind::modelled);
  made.channel("snmp:rack", "outlet-7", Scope::node, 150_W).wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_FALSE(s.rows[0].inside);
  EXPECT_FALSE(s.host.value);
  EXPECT_THAT(s.host.quality, HasSubstr("not a real one"));
}

TEST(Scopes, ACircleOfContainersIsCut) {
  MadeTraining made;
  made.channel("x", "a", Scope::rail, 10_W, 0, "b")
      .channel("x", "b", Scope::rail, 10_W, 0, "a")
      .wait(60_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_FALSE(s.rows[1].inside && s.rows[2].inside);
}

TEST(HostWatts, AreTheNodeLessItsGpus) {
  const Scopes s = scopes(machine().wait(60_s, 300_W).ended());
  ASSERT_TRUE(s.host.value) << s.host.quality;
  EXPECT_NEAR(s.host.value->value(), 150, 1);
  EXPECT_EQ(s.host.source, "snmp:rack outlet-7 less GPU 0");
}

TEST(HostWatts, WithoutANodeMeterAreThePackagesAndSayWhatIsMissing) {
  MadeTraining made;
  made.channel("rapl", "package-0", Scope::cpu_package, 60_W).channel("rapl", "dram-0", Scope::dram, 15_W);
  const Scopes s = scopes(made.wait(60_s, 300_W).ended());
  ASSERT_TRUE(s.host.value);
  EXPECT_NEAR(s.host.value->value(), 75, 1e-3);
  EXPECT_THAT(s.host.quality, HasSubstr("fans"));
}

HostWatts host_of(MadeTraining made) {
  return scopes(made.wait(60_s, 300_W).ended()).host;
}

// Two packages of 60 W and their memory of 15 W, whoever reads them.
MadeTraining& rapl(MadeTraining& made, const std::string& meter) {
  for (const char* socket : {"0", "1"})
    made.channel(meter, std::string("package-") + socket, Scope::cpu_package, 60_W)
        .channel(meter, std::string("dram-") + socket, Scope::dram, 15_W);
  return made;
}

TEST(HostWatts, CountACpuOnceThatTwoMetersRead) {
  MadeTraining twice;
  rapl(rapl(twice, "rapl"), "rapl:all");
  EXPECT_NEAR(host_of(twice).value->value(), 150, 1e-3);
  EXPECT_EQ(host_of(twice).source, "rapl package-0 + rapl dram-0 + rapl package-1 + rapl dram-1");
  EXPECT_THAT(host_of(twice).quality, HasSubstr("rapl:all reads the same and is not added"));

  MadeTraining other;
  rapl(other, "rapl").channel("hwmon", "Esocket0", Scope::cpu_package, 60_W);
  other.channel("hwmon", "Esocket1", Scope::cpu_package, 60_W);
  EXPECT_NEAR(host_of(other).value->value(), 150, 1e-3);
}

TEST(HostWatts, TakeTheMetersThatTellOfMost) {
  MadeTraining less;
  less.channel("hwmon", "Esocket0", Scope::cpu_package, 60_W);
  EXPECT_NEAR(host_of(rapl(less, "rapl")).value->value(), 150, 1e-3);

  MadeTraining one_each;
  one_each.channel("rapl:package-0", "package-0", Scope::cpu_package, 60_W);
  one_each.channel("rapl:package-1", "package-1", Scope::cpu_package, 60_W);
  EXPECT_NEAR(host_of(one_each).value->value(), 120, 1e-3);
}

TEST(HostWatts, OfAPlatformThatIsReadTwiceAreThePlatforms) {
  MadeTraining made;
  made.channel("rapl", "psys", Scope::platform, 200_W).channel("rapl:all", "psys", Scope::platform, 200_W);
  EXPECT_NEAR(host_of(made).value->value(), 200, 1e-3);
}

TEST(HostWatts, AreAbsentWithoutAMeter) {
  const Scopes s = scopes(MadeTraining().wait(60_s, 300_W).ended());
  EXPECT_FALSE(s.host.value);
  EXPECT_THAT(s.host.quality, HasSubstr("--meter"));
}

// 10 s at 50 W before the first mark, 19 160 J + … in 105 s.
TEST(IdleShare, ComesFromTheRunsOwnQuietStretch) {
  MadeTraining made = three_epochs();
  const Scopes s = scopes(made.ended());
  ASSERT_THAT(s.idle, SizeIs(1));
  ASSERT_TRUE(s.idle[0].share) << s.idle[0].why_not;
  EXPECT_NEAR(s.idle[0].idle->value(), 50, 1);
  EXPECT_NEAR(*s.idle[0].share, 50 * 105 / made.energy().value(), 0.01);
}

TEST(IdleShare, WithoutAQuietStretchSaysWhatWasMissing) {
  MadeTraining made;
  made.wait(3_s, 50_W, 0.0).iterate(60, 0.5_s, 300_W);
  const Scopes s = scopes(made.ended());
  EXPECT_FALSE(s.idle[0].share);
  EXPECT_THAT(s.idle[0].why_not, HasSubstr("not idle for 5 s"));
}

}  // namespace
}  // namespace rubato::analyse
