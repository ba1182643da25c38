#include "report/trace_events.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace rubato::report {
namespace {

constexpr TimePoint kZero{7'000'000'000'000'000'000};  // more than two centuries of uptime
using nlohmann::json;

class Text final : public Sink {
 public:
  Status write(std::string_view text) override {
    if (full_) return fail(ErrorCode::io, "disk full");
    text_ += text;
    return {};
  }
  void fill_up() { full_ = true; }
  [[nodiscard]] json parsed() const { return json::parse(text_); }

 private:
  std::string text_;
  bool full_ = false;
};

TEST(TraceEvents, AnEmptyTraceIsValid) {
  Text out;
  TraceWriter trace(out, kZero);
  ASSERT_TRUE(trace.finish({}));
  EXPECT_TRUE(out.parsed().at("traceEvents").empty());
}

TEST(TraceEvents, EveryKindOfEventHasTheFieldsTheFormatAsksFor) {
  Text out;
  TraceWriter trace(out, kZero);
  trace.name_process(1, "GPU 0");
  trace.counter(1, "power", "W", kZero + 1_s, 150.5);
  const std::pair<std::string_view, Cell> why{"why", std::string("because \"so\"")};
  trace.slice({2, 3}, "iteration", "iteration 7", kZero + 1_s, kZero + 3_s, std::span(&why, 1));
  trace.moment({2, 3}, "mark", "checkpoint", kZero + 2_s);
  const std::pair<std::string, std::string> fact{"run", "r1"};
  ASSERT_TRUE(trace.finish(std::span(&fact, 1)));

  const json all = out.parsed();
  const json& events = all.at("traceEvents");
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].at("ph"), "M");
  EXPECT_EQ(events[0].at("args").at("name"), "GPU 0");
  EXPECT_EQ(events[1].at("ph"), "C");
  EXPECT_EQ(events[1].at("ts"), 1e6);
  EXPECT_EQ(events[1].at("args").at("W"), 150.5);
  EXPECT_EQ(events[2].at("ph"), "X");
  EXPECT_EQ(events[2].at("dur"), 2e6);
  EXPECT_EQ(events[2].at("args").at("why"), "because \"so\"");
  EXPECT_EQ(events[3].at("ph"), "i");
  EXPECT_EQ(all.at("otherData").at("run"), "r1");
}

TEST(TraceEvents, NanosecondsSurviveAtAnyDistanceFromZero) {
  Text out;
  TraceWriter trace(out, kZero);
  trace.slice({1, 1}, "c", "n", TimePoint{kZero.ns - 1}, TimePoint{kZero.ns + 1'001});
  ASSERT_TRUE(trace.finish({}));
  const json event = out.parsed().at("traceEvents")[0];
  EXPECT_DOUBLE_EQ(event.at("ts"), -0.001);
  EXPECT_DOUBLE_EQ(event.at("dur"), 1.002);
}

TEST(TraceEvents, WhatIsNoNumberAndWhatEndsBeforeItBeginsIsLeftOut) {
  Text out;
  TraceWriter trace(out, kZero);
  trace.counter(1, "power", "W", kZero, std::nan(""));
  trace.slice({1, 1}, "c", "n", kZero + 2_s, kZero + 1_s);
  ASSERT_TRUE(trace.finish({}));
  EXPECT_TRUE(out.parsed().at("traceEvents").empty());
}

TEST(TraceEvents, AFullDiskIsToldAtTheEnd) {
  Text out;
  TraceWriter trace(out, kZero);
  out.fill_up();
  trace.moment({1, 1}, "c", "n", kZero);
  const Status status = trace.finish({});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "disk full");
}

}  // namespace
}  // namespace rubato::report
