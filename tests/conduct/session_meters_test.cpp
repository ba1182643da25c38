// A session beside meters that say what they are told to say, in virtual time and without any GPU.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/text.h"
#include "conduct/session.h"
#include "govern/registry.h"
#include "record/reader.h"

namespace rubato::conduct {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kBegin{1'000'000'000'000};

MeterChannel channel(std::string name, Scope scope, bool energy, bool power) {
  return {.name = std::move(name),
          .scope = scope,
          .has_energy = energy,
          .has_power = power,
          .sensor = {.update_period = 1_s, .source = "a made meter"}};
}

/// Looked at once a second.
struct MadeMeter {
  std::string name;
  std::vector<MeterChannel> channels;
  /// Readings of the look `t` seconds after the begin (channel numbers are the meter's own), or an error.
  std::function<Result<std::vector<MeterReading>>(double)> say;
};

MeterReading watts(double w, std::size_t channel = 0) {
  return {.channel = channel, .power = Watts(w)};
}
MeterReading joules(double j, std::size_t channel = 0) {
  return {.channel = channel, .energy = Joules(j)};
}

class SessionMeters : public testing::Test {
 protected:
  ~SessionMeters() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  record::RunRecord run(std::vector<MadeMeter> meters, double seconds) {
    clock_.advance_to(kBegin);
    SessionParts parts;
    parts.strategy = govern::make_strategy("measure-only", {}).value();
    record::RunInfo info{.run_id = "run", .mode = "measure", .started_at = "2026-11-21T08:00:00Z"};
    info.begin = kBegin;
    parts.writer = record::Writer::create(folder_ / "runs", info).value();
    parts.warn = [this](const Error& error) { warnings_.push_back(error.what); };
    for (const MadeMeter& meter : meters)
      for (const MeterChannel& c : meter.channels) parts.channels.push_back({meter.name, c});
    parts.board = [this](TimePoint until, std::span<const GpuNow> gpus,
                         std::span<const ChannelNow> channels) {
      EXPECT_TRUE(gpus.empty());
      boards_.emplace_back(until, std::vector(channels.begin(), channels.end()));
    };
    double next = 0;
    parts.meter_news = [&](TimePoint now) {
      std::vector<MeterNews> news;
      for (; next <= (now - kBegin).value() + 1e-9; next += 1) look(meters, next, news);
      return news;
    };
    Session session(std::move(parts), kBegin);
    const TimePoint end = kBegin + Seconds(seconds);
    while (session.next_due() < end) {
      clock_.advance_to(session.next_due());
      session.step(clock_.now());
    }
    clock_.advance_to(end);
    session.finish(end, {});
    return record::read_run(session.record_file().value()).value();
  }

  static void look(std::vector<MadeMeter>& meters, double t, std::vector<MeterNews>& news) {
    std::size_t first = 0;
    for (std::size_t m = 0; m < meters.size(); ++m) {
      MeterNews one{.meter = m, .at = kBegin + Seconds(t)};
      auto said = meters[m].say(t);
      if (said) {
        for (MeterReading& reading : *said) {
          reading.channel += first;
          reading.at = one.at;
        }
        one.readings = std::move(*said);
      } else {
        one.trouble = said.error();
      }
      first += meters[m].channels.size();
      news.push_back(std::move(one));
    }
  }

  fs::path folder_ = fs::path(testing::TempDir()) / cat("rubato-meters-", ::getpid());
  VirtualClock clock_;
  std::vector<std::pair<TimePoint, std::vector<ChannelNow>>> boards_;
  std::vector<std::string> warnings_;
};

Error no_answer() {
  return {ErrorCode::timeout, "no answer within 2 s", {}};
}

TEST_F(SessionMeters, EachChannelHasItsOwnEnergy) {
  MadeMeter rapl{
      "rapl",
      {channel("package-0", Scope::cpu_package, true, false), channel("dram-0", Scope::dram, true, false)},
      [](double t) {
        return std::vector{joules(50 * t), joules(10 * t, 1)};
      }};
  MadeMeter plug{"mqtt:plug", {channel("plug", Scope::node, false, true)}, [](double) {
                   return std::vector{watts(300)};
                 }};
  const auto run = this->run({rapl, plug}, 60);
  ASSERT_THAT(run.channels, SizeIs(3));
  EXPECT_EQ(run.channels[2].info.meter, "mqtt:plug");
  EXPECT_THAT(run.channels[1].readings, SizeIs(61));
  ASSERT_THAT(run.end->channels, SizeIs(3));
  const auto& ends = run.end->channels;
  EXPECT_NEAR(ends[0].energy->energy.value(), 3000, 60);
  EXPECT_EQ(ends[0].energy->source.scope, Scope::cpu_package);
  EXPECT_NEAR(ends[1].energy->energy.value(), 600, 12);
  EXPECT_NEAR(ends[2].energy->energy.value(), 18000, 1);
  EXPECT_THAT(ends[2].energy->source.quality, HasSubstr("a made meter"));
  EXPECT_THAT(ends[2].lag_quality, HasSubstr("no GPU"));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(run.gaps, IsEmpty());
}

TEST_F(SessionMeters, SilenceIsSaidOnceAndAMeterThatComesBackGoesOn) {
  MadeMeter plug{"snmp:rack", {channel("outlet-7", Scope::node, false, true)}, [](double t) {
                   const bool silent = (t > 20 && t < 40) || (t > 60 && t < 80);
                   return silent ? Result<std::vector<MeterReading>>(fail(no_answer()))
                                 : std::vector{watts(300)};
                 }};
  const auto run = this->run({plug}, 100);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("snmp:rack has told nothing for 5"));
  EXPECT_THAT(warnings_[0], HasSubstr("no answer within 2 s"));
  ASSERT_THAT(run.gaps, SizeIs(2));
  EXPECT_EQ(run.gaps[0].begin, kBegin + 20_s);
  EXPECT_EQ(run.gaps[0].end, kBegin + 40_s);
  EXPECT_FALSE(run.gaps[0].gpu);
  EXPECT_THAT(run.gaps[0].why, HasSubstr("meter snmp:rack told nothing: no answer within 2 s"));
  const auto& energy = run.end->channels[0].energy;
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->energy.value(), 30000, 1);
  EXPECT_GT(energy->band_sampling.value(), 36 * 150 * 0.9) << "half of what was estimated in the holes";
  EXPECT_THAT(energy->source.quality, HasSubstr("without readings"));
}

TEST_F(SessionMeters, ADeviceThatSpeaksSeldomIsNotSilentBetweenItsWords) {
  MeterChannel outlet = channel("outlet-0", Scope::node, true, true);
  outlet.quiet_for = 120_s;
  MadeMeter plug{
      "mqtt:plug", {outlet}, [](double t) {
        const bool lost = t > 200 && t < 220;
        if (lost) return Result<std::vector<MeterReading>>(fail(no_answer()));
        if (std::fmod(t, 50) != 40) return Result<std::vector<MeterReading>>{};
        return Result<std::vector<MeterReading>>({MeterReading{.power = 100_W, .energy = Joules(100 * t)}});
      }};
  const auto run = this->run({plug}, 480);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("no answer within 2 s"))) << "of the lost connection alone";
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_EQ(run.gaps[0].begin, kBegin + 190_s);
  EXPECT_EQ(run.gaps[0].end, kBegin + 240_s);
}

TEST_F(SessionMeters, ADeviceThatSpeaksSeldomAndWasNeverHeardIsNamedInAMinute) {
  MeterChannel outlet = channel("outlet-0", Scope::node, true, true);
  outlet.quiet_for = 600_s;
  MadeMeter plug{"mqtt:plug", {outlet}, [](double) { return Result<std::vector<MeterReading>>{}; }};
  const auto run = this->run({plug}, 70);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("mqtt:plug has told nothing yet, for 6")));
  EXPECT_THAT(run.gaps, SizeIs(1));
}

TEST_F(SessionMeters, ACounterThatFallsSilentForEverKeepsWhatItTold) {
  MadeMeter rapl{"rapl", {channel("package-0", Scope::cpu_package, true, false)}, [](double t) {
                   return t > 30 ? Result<std::vector<MeterReading>>(fail(no_answer()))
                                 : std::vector{joules(50 * t)};
                 }};
  const auto run = this->run({rapl}, 100);
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_EQ(run.gaps[0].begin, kBegin + 30_s);
  EXPECT_EQ(run.gaps[0].end, kBegin + 100_s);
  const auto& energy = run.end->channels[0].energy;
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->end, kBegin + 30_s);
  EXPECT_NEAR(energy->energy.value(), 1500, 60);
}

TEST_F(SessionMeters, TheJobIsToldWhatEachChannelCountedSoFar) {
  (void)run({{"rapl",
              {channel("package-0", Scope::cpu_package, true, false)},
              [](double t) { return std::vector{joules(50 * t)}; }}},
            60);
  ASSERT_GT(boards_.size(), 20U);
  const auto& [until, channels] = boards_.back();
  ASSERT_THAT(channels, SizeIs(1));
  EXPECT_EQ(channels[0].scope, Scope::cpu_package);
  EXPECT_NEAR(channels[0].energy->energy.value(), 50 * (until - kBegin).value(), 1);
  EXPECT_FALSE(boards_.front().second[0].energy) << "one reading is no energy yet";
}

TEST_F(SessionMeters, AMeterThatNeverAnswersIsOneGapAndNoZero) {
  MadeMeter plug{
      "snmp:rack",
      {channel("outlet-7", Scope::node, false, true), channel("outlet-8", Scope::node, false, true)},
      [](double) { return Result<std::vector<MeterReading>>(fail(no_answer())); }};
  const auto run = this->run({plug}, 60);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("has told nothing yet")));
  ASSERT_THAT(run.gaps, SizeIs(1)) << "both channels of one meter";
  ASSERT_THAT(run.end->channels, SizeIs(2));
  EXPECT_FALSE(run.end->channels[0].energy);
}

TEST_F(SessionMeters, OneSilentChannelOfTwoIsNamed) {
  MadeMeter plug{
      "snmp:rack",
      {channel("outlet-7", Scope::node, false, true), channel("outlet-8", Scope::node, false, true)},
      [](double t) {
        return t > 20 && t < 40 ? std::vector{watts(1)} : std::vector{watts(1), watts(2, 1)};
      }};
  const auto run = this->run({plug}, 60);
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_THAT(run.gaps[0].why, HasSubstr("snmp:rack, outlet-8"));
  EXPECT_THAT(warnings_, IsEmpty()) << "the meter answered";
}

TEST_F(SessionMeters, AJumpOfAGigajouleIsSaidOnceAndIsNoEnergy) {
  MadeMeter rail{"hwmon", {channel("energy1", Scope::node, true, true)}, [](double t) {
                   MeterReading both = joules(100 * t + (t > 30 ? 1e9 : 0) + (t > 40 ? 1e9 : 0));
                   both.power = 100_W;
                   return std::vector{both};
                 }};
  const auto run = this->run({rail}, 60);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("hwmon, energy1: its energy leapt by")));
  EXPECT_NEAR(run.end->channels[0].energy->energy.value(), 6000, 250);
}

TEST_F(SessionMeters, WhatCannotBeIsLeftOutAndSaidOnce) {
  MadeMeter plug{"mqtt:plug", {channel("plug", Scope::node, false, true)}, [](double t) {
                   if (t == 10) return std::vector{watts(-50)};
                   if (t == 20) return std::vector{watts(1e9)};
                   if (t == 30) return std::vector{watts(std::nan(""))};
                   return std::vector{watts(200)};
                 }};
  const auto run = this->run({plug}, 60);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("-50 W, which cannot be")));
  EXPECT_THAT(run.channels[0].readings, SizeIs(58));
  EXPECT_NEAR(run.end->channels[0].energy->energy.value(), 12000, 1);
}

Error found(int watts) {
  return {ErrorCode::corrupt, cat("found ", watts, " W, needed 0 W or more"), {}};
}

TEST_F(SessionMeters, AShortLieIsNamedAtOnceAndItsStretchStandsInTheRecord) {
  using Said = Result<std::vector<MeterReading>>;
  MadeMeter plug{"mqtt:plug", {channel("plug", Scope::node, false, true)}, [](double t) -> Said {
                   if (t == 11 || t == 12) return fail(found(t == 11 ? -150 : -149));
                   return std::vector{watts(200)};
                 }};
  const auto run = this->run({plug}, 30);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("mqtt:plug does not tell everything: found -150 W")));
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_EQ(run.gaps[0].begin, kBegin + 10_s);
  EXPECT_EQ(run.gaps[0].end, kBegin + 13_s);
  EXPECT_THAT(run.gaps[0].why, HasSubstr("left out: found -150 W"));
}

TEST_F(SessionMeters, ALieThatComesAndGoesIsOneRowAndAnotherKindIsAnother) {
  using Said = Result<std::vector<MeterReading>>;
  MadeMeter plug{"mqtt:plug", {channel("plug", Scope::node, false, true)}, [](double t) -> Said {
                   const int second = static_cast<int>(t);
                   if (second > 10 && second < 40 && second % 2 == 0) return fail(found(-second));
                   if (second == 41) return fail(ErrorCode::corrupt, "the message is no JSON");
                   return std::vector{watts(200)};
                 }};
  const auto run = this->run({plug}, 60);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("found -12 W"), HasSubstr("no JSON")));
  ASSERT_THAT(run.gaps, SizeIs(2));
  EXPECT_EQ(run.gaps[0].begin, kBegin + 11_s);
  EXPECT_EQ(run.gaps[0].end, kBegin + 39_s);
  EXPECT_THAT(run.gaps[1].why, HasSubstr("no JSON"));
}

TEST_F(SessionMeters, AHoleWithALieInItIsOneRow) {
  using Said = Result<std::vector<MeterReading>>;
  MadeMeter plug{"mqtt:plug", {channel("plug", Scope::node, false, true)}, [](double t) -> Said {
                   if (t > 10 && t < 30) return fail(found(-1));
                   return std::vector{watts(200)};
                 }};
  const auto run = this->run({plug}, 60);
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_THAT(run.gaps[0].why, HasSubstr("told nothing: found -1 W"));
  EXPECT_EQ(run.gaps[0].end, kBegin + 30_s);
}

TEST_F(SessionMeters, WithoutANumberItKnowsNothingIsReadFromNowhere) {
  MadeMeter odd{"odd", {channel("a", Scope::node, false, true)}, [](double) {
                  return std::vector{watts(1, 7), watts(5)};
                }};
  const auto run = this->run({odd}, 20);
  EXPECT_NEAR(run.end->channels[0].energy->energy.value(), 100, 1);
}

}  // namespace
}  // namespace rubato::conduct
