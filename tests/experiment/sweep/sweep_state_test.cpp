#include "experiment/sweep_state.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "experiment/sweep/measurements.h"

namespace rubato::experiment {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const SweepIdentity kIdentity = {{{"command", "python3 train.py"}, {"--seed", "1"}},
                                 {{"power limit of GPU 0", "140 W"}, {"power limit of GPU 1", "140 W"}}};

class SweepStateTest : public ::testing::Test {
 protected:
  SweepStateTest() { fs::create_directories(folder_); }
  ~SweepStateTest() override { fs::remove_all(folder_); }

  void write(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }

  /// Of a sweep that began as kIdentity and is to go on as this one; nothing is changed by it.
  [[nodiscard]] Error refusal_of(const SweepIdentity& now) const {
    EXPECT_TRUE(SweepState::open(file_, kIdentity));
    const auto other = SweepState::open(file_, now);
    EXPECT_TRUE(SweepState::open(file_, kIdentity)) << "the refusal must change nothing";
    EXPECT_FALSE(other);
    if (other) return {};
    EXPECT_EQ(other.error().code, ErrorCode::conflict);
    return other.error();
  }

  const fs::path folder_ = fs::temp_directory_path() / cat("rubato-sweep-state-", getpid());
  const fs::path file_ = folder_ / "sweep.csv.state";
};

SweepMeasurement full() {
  SweepMeasurement m = measured({.power_limit = Watts(150), .sm_clock = Megahertz(1005)}, 10.25, 1500.5, 2);
  m.energy_band = 0.003;
  m.iterations = 100;
  m.kind = Kind::modelled;
  m.temperature = Celsius(61);
  m.temperature_halfway = Celsius(60);
  m.reached = {Megahertz(1005), std::nullopt, Watts(150), {"power cap", "heat"}};
  m.not_used = "an \"odd\" reason\nof two lines";
  m.notes = {"one", "two"};
  m.features = {{"sm_active", 0.75}};
  return m;
}

TEST_F(SweepStateTest, WhatWasMeasuredComesBackTheSame) {
  auto state = SweepState::open(file_, kIdentity);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->session(), 0U);
  ASSERT_TRUE(state->add(full()));
  ASSERT_TRUE(state->add(control(10, 1000)));
  const auto again = SweepState::open(file_, kIdentity);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->measured(), state->measured());
  EXPECT_EQ(again->measured().front(), full());
  EXPECT_EQ(again->session(), 1U);
}

TEST_F(SweepStateTest, AnotherSweepIsRefusedWithWhatDiffers) {
  SweepIdentity asked = kIdentity;
  asked.asked["command"] = "python3 other.py";
  EXPECT_THAT(refusal_of(asked).what,
              HasSubstr("its command is python3 train.py, this one's is python3 other.py"));
}

TEST_F(SweepStateTest, AnotherFoundSettingIsRefusedWithWhatDiffersOnWhichGpu) {
  SweepIdentity now = kIdentity;
  now.found["power limit of GPU 1"] = "250 W";
  const Error refused = refusal_of(now);
  EXPECT_THAT(refused.what, HasSubstr("power limit of GPU 1 was 140 W and is 250 W"));
  EXPECT_THAT(refused.what, Not(HasSubstr("GPU 0")));
  EXPECT_THAT(refused.hint, HasSubstr("set it as it was"));
  EXPECT_FALSE(peek_sweep_state(file_, now)) << "a dry run must say so as well";
}

TEST_F(SweepStateTest, WhatOnlyOneOfTwoCouldReadIsNotCompared) {
  SweepIdentity first = kIdentity;
  first.found["application clocks of GPU 0"] = "877 MHz memory, 1380 MHz SM";
  ASSERT_TRUE(SweepState::open(file_, first));
  SweepIdentity now = kIdentity;
  now.found["power limit of GPU 2"] = "140 W";
  EXPECT_TRUE(SweepState::open(file_, now));
}

TEST_F(SweepStateTest, AFileThatKeepsNoFoundSettingIsRefused) {
  const std::string text =
      R"({"schema":"rubato.sweep_state/1","sweep":{"--seed":"1","command":"python3 train.py"}})";
  write(text + "\n");
  const auto opened = SweepState::open(file_, kIdentity);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::conflict);
  EXPECT_THAT(opened.error().what, HasSubstr("earlier rubato"));
  EXPECT_EQ(fs::file_size(file_), text.size() + 1);
}

TEST_F(SweepStateTest, ALineThatACrashCutOffDoesNotCount) {
  auto state = SweepState::open(file_, kIdentity);
  ASSERT_TRUE(state->add(control(10, 1000)));
  write(R"({"at":{},"repeat":1)");
  auto again = SweepState::open(file_, kIdentity);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->measured().size(), 1U);
  ASSERT_TRUE(again->add(control(11, 1100, 1)));
  EXPECT_EQ(SweepState::open(file_, kIdentity)->measured().size(), 2U);
}

TEST_F(SweepStateTest, ADamagedLineIsNamedAndTheFileLeftAsItIs) {
  ASSERT_TRUE(SweepState::open(file_, kIdentity));
  write("{\"at\":{}}\n");
  const auto size = fs::file_size(file_);
  const auto again = SweepState::open(file_, kIdentity);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::corrupt);
  EXPECT_THAT(again.error().what, HasSubstr("line 2"));
  EXPECT_EQ(fs::file_size(file_), size);
}

TEST_F(SweepStateTest, AForeignFileIsNotOverwritten) {
  write("gpu,workload,group\n");
  EXPECT_EQ(SweepState::open(file_, kIdentity).error().code, ErrorCode::corrupt);
}

TEST_F(SweepStateTest, PeekingMakesNoFile) {
  const auto peeked = peek_sweep_state(file_, kIdentity);
  ASSERT_TRUE(peeked);
  EXPECT_FALSE(peeked->has_value());
  EXPECT_FALSE(fs::exists(file_));
}

}  // namespace
}  // namespace rubato::experiment
