// What every kind of meter must keep, whatever it reads. Include once per test program and say
//   INSTANTIATE_TEST_SUITE_P(Rapl, MeterContract, ::testing::Values(SubjectCase{…}), case_name);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "meter/subject.h"

namespace rubato::meter::testing {

using Readings = std::vector<MeterReading>;

inline std::string case_name(const ::testing::TestParamInfo<SubjectCase>& info) {
  return info.param.name;
}

class MeterContract : public ::testing::TestWithParam<SubjectCase> {
 protected:
  void SetUp() override {
    std::string why_not;
    subject_ = GetParam().make(why_not);
    if (!subject_) GTEST_SKIP() << why_not;
    auto opened = subject_->open();
    ASSERT_TRUE(opened) << opened.error().what;
    meter_ = std::move(*opened);
  }

  /// Reads until every channel has told something new; meters to which others send may need a moment.
  Result<Readings> read_all() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    Readings all;
    for (;;) {
      auto read = meter_->read();
      if (!read) return read;
      for (const MeterReading& r : *read) {
        EXPECT_LT(r.channel, meter_->channels().size());
        std::erase_if(all, [&](const MeterReading& old) { return old.channel == r.channel; });
        all.push_back(r);
      }
      if (all.size() == meter_->channels().size()) return all;
      if (std::chrono::steady_clock::now() > deadline)
        return fail(ErrorCode::timeout, cat_channels("no reading in 5 s of: ", all));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  /// True once read_all() succeeds; a meter may need some reads to come back.
  bool comes_back() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      subject_->advance(meter_->period(), Watts(100));
      if (read_all()) return true;
    }
    return false;
  }

  static const MeterReading* of(const Readings& readings, std::size_t channel) {
    const auto found = std::find_if(readings.begin(), readings.end(),
                                    [&](const MeterReading& r) { return r.channel == channel; });
    return found == readings.end() ? nullptr : &*found;
  }

  std::unique_ptr<Subject> subject_;
  std::unique_ptr<Meter> meter_;

 private:
  std::string cat_channels(std::string text, const Readings& told) const {
    for (std::size_t i = 0; i < meter_->channels().size(); ++i)
      if (of(told, i) == nullptr) text += meter_->channels()[i].name + " ";
    return text;
  }
};

inline void expect_possible(const MeterReading& reading) {
  EXPECT_TRUE(reading.power || reading.energy);
  if (reading.power) {
    EXPECT_TRUE(std::isfinite(reading.power->value()));
    EXPECT_GE(reading.power->value(), 0);
    EXPECT_LE(reading.power->value(), kMostWatts.value());
  }
  if (reading.energy) {
    EXPECT_TRUE(std::isfinite(reading.energy->value()));
    EXPECT_GE(reading.energy->value(), 0);
  }
}

inline void expect_helpful(const Error& error) {
  EXPECT_FALSE(error.what.empty());
  EXPECT_FALSE(error.hint.empty()) << error.what;
}

TEST_P(MeterContract, NamesItsChannelsOnceAndSaysWhatTheyAre) {
  EXPECT_FALSE(meter_->name().empty());
  EXPECT_GT(meter_->period().value(), 0);
  ASSERT_FALSE(meter_->channels().empty());
  std::set<std::string> names;
  for (const MeterChannel& channel : meter_->channels()) {
    EXPECT_TRUE(names.insert(channel.name).second) << channel.name << " twice";
    EXPECT_FALSE(channel.place.empty()) << channel.name;
    EXPECT_TRUE(channel.has_energy || channel.has_power) << channel.name;
    EXPECT_FALSE(channel.sensor.source.empty()) << channel.name;
  }
}

TEST_P(MeterContract, WhatIsInsideWhatIsATreeOfItsOwnChannels) {
  const auto& channels = meter_->channels();
  const auto named = [&](const std::string& name) {
    return std::find_if(channels.begin(), channels.end(),
                        [&](const MeterChannel& c) { return c.name == name; });
  };
  for (const MeterChannel& channel : channels) {
    std::size_t steps = 0;
    for (auto at = named(channel.name); !at->inside.empty(); at = named(at->inside)) {
      ASSERT_NE(named(at->inside), channels.end()) << at->name << " is inside unknown " << at->inside;
      ASSERT_LT(++steps, channels.size()) << channel.name << " is inside itself";
    }
  }
}

TEST_P(MeterContract, OpensTheSameChannelsAgain) {
  const std::string name = meter_->name();
  const auto channels = meter_->channels();
  meter_.reset();  // a serial port has one user
  auto again = subject_->open();
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*again)->name(), name);
  ASSERT_EQ((*again)->channels().size(), channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) EXPECT_EQ((*again)->channels()[i].name, channels[i].name);
}

TEST_P(MeterContract, TellsTheWattsThatAreDrawn) {
  for (const double watts : {100.0, 250.0}) {
    subject_->advance(Seconds(20), Watts(watts));
    const auto read = read_all();
    ASSERT_TRUE(read) << read.error().what;
    for (const MeterReading& reading : *read) {
      expect_possible(reading);
      if (meter_->channels()[reading.channel].has_power) {
        ASSERT_TRUE(reading.power) << meter_->channels()[reading.channel].name;
        EXPECT_NEAR(reading.power->value(), watts, subject_->power_step().value());
      }
    }
  }
}

TEST_P(MeterContract, CountsTheJoulesThatFlowed) {
  // A meter may want to see power and energy move together before it believes its register's unit.
  std::vector<Readings> seen;
  for (int i = 0; i < 8; ++i) {
    subject_->advance(Seconds(10), Watts(200));
    auto read = read_all();
    ASSERT_TRUE(read) << read.error().what;
    seen.push_back(std::move(*read));
  }
  for (std::size_t c = 0; c < meter_->channels().size(); ++c) {
    if (!meter_->channels()[c].has_energy) continue;
    for (std::size_t i = 6; i < seen.size(); ++i) {
      const MeterReading* before = of(seen[i - 1], c);
      const MeterReading* now = of(seen[i], c);
      ASSERT_TRUE(before->energy && now->energy) << meter_->channels()[c].name;
      EXPECT_NEAR((*now->energy - *before->energy).value(), 2000, 2 * subject_->energy_step().value());
    }
  }
}

TEST_P(MeterContract, StampsReadingsWithTheClockItWasGiven) {
  const TimePoint before = subject_->clock()->now();
  subject_->advance(Seconds(1), Watts(100));
  const auto read = read_all();
  ASSERT_TRUE(read) << read.error().what;
  for (const MeterReading& reading : *read) {
    EXPECT_GE(reading.at, before);
    EXPECT_LE(reading.at, subject_->clock()->now());
  }
}

TEST_P(MeterContract, CountsItsCalls) {
  const auto before = meter_->cost().calls;
  subject_->advance(Seconds(1), Watts(100));
  ASSERT_TRUE(read_all());
  EXPECT_GT(meter_->cost().calls, before);
  EXPECT_GE(meter_->cost().inside.value(), 0);
}

TEST_P(MeterContract, SurvivesEveryFaultNamesItAndComesBack) {
  for (const Fault fault : subject_->faults()) {
    SCOPED_TRACE(static_cast<int>(fault));
    subject_->advance(Seconds(10), Watts(100));
    const auto good = read_all();
    ASSERT_TRUE(good) << good.error().what;
    subject_->break_it(fault);
    bool named = false;
    for (int i = 0; i < 3; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto read = meter_->read();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(took.count(), kReadPatience.value() + 1);
      if (!read) {
        expect_helpful(read.error());
        named = true;
        continue;
      }
      for (const MeterReading& reading : *read) {
        expect_possible(reading);
        // A jump may be handed on: the sampler's counter track judges it.
        const MeterReading* const before = of(*good, reading.channel);
        const bool both = before != nullptr && before->energy && reading.energy;
        if (fault == Fault::jump && both && *reading.energy - *before->energy > Joules(1e5)) named = true;
      }
      if (const auto complaint = meter_->complaint()) {
        expect_helpful(*complaint);
        named = true;
      }
    }
    EXPECT_TRUE(named) << "nothing was said";
    subject_->mend();
    EXPECT_TRUE(comes_back());
  }
}

}  // namespace rubato::meter::testing
