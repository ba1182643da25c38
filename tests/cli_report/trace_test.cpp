#include "cli/report/trace.h"

#include <gmock/gmock.h>
#include <rubato/mark_layout.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr TimePoint kBegin{1'000'000'000'000};
constexpr std::uint64_t kWindow = 0xfeedULL << 40;

class Text final : public report::Sink {
 public:
  Status write(std::string_view text) override {
    text_ += text;
    return {};
  }
  [[nodiscard]] json parsed() const { return json::parse(text_); }

 private:
  std::string text_;
};

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / cat("rubato-trace-", getpid());
    std::filesystem::remove_all(folder_);
    record::RunInfo info;
    info.run_id = "20261121-081500-1a2b";
    info.mode = "measure";
    info.command = {"python", "train.py"};
    info.begin = kBegin;
    auto writer = record::Writer::create(folder_, info);
    ASSERT_TRUE(writer) << writer.error().what;
    writer_ = std::move(*writer);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void mark(double at_s, rubato_mark_kind kind, std::uint64_t id, std::int32_t tid = 11) {
    writer_->mark({.at = kBegin + Seconds(at_s), .kind = kind, .id = id, .pid = 10, .tid = tid});
  }
  /// Everything of one phase ("X") and category ("iteration").
  std::vector<json> slices(const std::string& category) {
    const auto file = writer_->finish({.end = kBegin + 60_s, .exit_code = 0});
    EXPECT_TRUE(file) << file.error().what;
    const auto reader = SeriesReader::open(*file);
    EXPECT_TRUE(reader) << reader.error().what;
    Text text;
    EXPECT_TRUE(write_trace(*reader, text));
    trace_ = text.parsed();
    std::vector<json> found;
    for (const json& event : trace_.at("traceEvents"))
      if (event.at("ph") == "X" && event.at("cat") == category) found.push_back(event);
    return found;
  }
  [[nodiscard]] std::vector<double> counter(const std::string& name, const std::string& unit) const {
    std::vector<double> values;
    for (const json& event : trace_.at("traceEvents"))
      if (event.at("ph") == "C" && event.at("name") == name) values.push_back(event.at("args").at(unit));
    return values;
  }

  std::filesystem::path folder_;
  std::unique_ptr<record::Writer> writer_;
  json trace_;
};

TEST_F(TraceTest, BeginAndEndBecomeOneBar) {
  mark(1, RUBATO_MARK_EPOCH_BEGIN, 0);
  mark(5, RUBATO_MARK_EPOCH_END, 0);
  const auto epochs = slices("epoch");
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].at("name"), "epoch 0");
  EXPECT_EQ(epochs[0].at("ts"), 1e6);
  EXPECT_EQ(epochs[0].at("dur"), 4e6);
  EXPECT_EQ(epochs[0].at("pid"), 10);
}

TEST_F(TraceTest, WhatNeverEndedReachesToTheLastThingSeenAndSaysSo) {
  mark(1, RUBATO_MARK_PHASE_BEGIN, RUBATO_PHASE_EVALUATION);
  mark(9, RUBATO_MARK_POINT, kWindow);
  const auto phases = slices("phase");
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].at("name"), "evaluation");
  EXPECT_EQ(phases[0].at("dur"), 8e6);
  EXPECT_EQ(phases[0].at("args").at("end"), "not marked");
}

TEST_F(TraceTest, AnEndThatNeverBeganIsNoBar) {
  mark(1, RUBATO_MARK_EPOCH_END, 3);
  EXPECT_TRUE(slices("epoch").empty());
}

TEST_F(TraceTest, CrossingWindowsOfTheUserHaveALineEach) {
  mark(1, RUBATO_MARK_WINDOW_BEGIN, kWindow);
  mark(2, RUBATO_MARK_WINDOW_BEGIN, kWindow + 1);
  mark(3, RUBATO_MARK_WINDOW_END, kWindow);
  mark(4, RUBATO_MARK_WINDOW_END, kWindow + 1);
  const auto windows = slices("window");
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_NE(windows[0].at("tid"), windows[1].at("tid"));
}

TEST_F(TraceTest, ThreadsDoNotEndEachOthersStretches) {
  mark(1, RUBATO_MARK_ITERATION_BEGIN, 0, 11);
  mark(2, RUBATO_MARK_ITERATION_BEGIN, 0, 12);
  mark(3, RUBATO_MARK_ITERATION_END, 0, 12);
  mark(5, RUBATO_MARK_ITERATION_END, 0, 11);
  std::vector<double> durations;
  for (const json& slice : slices("iteration"))
    if (slice.at("pid") == 10) durations.push_back(slice.at("dur"));
  EXPECT_THAT(durations, UnorderedElementsAre(1e6, 4e6));
}

TEST_F(TraceTest, ARegisterThatOnlyCountsJoulesIsShownAsPower) {
  record::ChannelInfo channel;
  channel.meter = "rapl";
  channel.channel.name = "package-0";
  channel.channel.scope = Scope::cpu_package;
  writer_->channel(channel);
  for (int i = 0; i < 4; ++i)
    writer_->sample(0,
                    {.at = kBegin + Seconds(i), .power = std::nullopt, .energy_counter = Joules(50.0 * i)});
  static_cast<void>(slices("iteration"));
  EXPECT_THAT(counter("rapl package-0", "W"), ElementsAre(50, 50, 50));
}

TEST_F(TraceTest, KernelsStandOnTheLineOfTheirStream) {
  KernelRecord kernel;
  kernel.begin = kBegin + 1_s;
  kernel.end = kBegin + 2_s;
  kernel.name_hash = kWindow;
  kernel.stream = 7;
  kernel.pid = 10;
  writer_->kernel(kernel);
  const auto kernels = slices("kernel");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].at("pid"), 10);
  EXPECT_EQ(kernels[0].at("dur"), 1e6);
}

}  // namespace
}  // namespace rubato::cli
