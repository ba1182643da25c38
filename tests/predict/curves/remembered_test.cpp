#include "predict/remembered.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "predict/shared_curve/made_curves.h"

namespace rubato::predict {
namespace {

const std::array kClock = {Knob::sm_clock};

/// Counts how often it learns, and says how many curves it has seen.
class Counting final : public Learner {
 public:
  mutable std::atomic<int> learnt = 0;
  std::string_view name() const override { return "counting"; }
  Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves, std::span<const Knob>) const override {
    ++learnt;
    if (curves.empty()) return fail(ErrorCode::invalid_argument, "no curves");
    return std::make_unique<Said>(curves.size());
  }
  Result<std::unique_ptr<Model>> read(const nlohmann::json& state) const override {
    return std::make_unique<Said>(state.get<std::size_t>());
  }

 private:
  class Said final : public Model {
   public:
    explicit Said(std::size_t curves) : curves_(curves) {}
    Result<Prediction> predict(const Known&, std::span<const KnobPoint>) const override {
      return fail(ErrorCode::internal, "not asked");
    }
    nlohmann::json state() const override { return curves_; }

   private:
    std::size_t curves_;
  };
};

std::vector<Curve> two() {
  return {made::curve("g", "a", 1.0, 250), made::curve("h", "b", 0.5, 200)};
}

TEST(Remembered, LearnsFromEqualCurvesOnce) {
  const Counting counting;
  const Remembered remembered(counting);
  for (int i = 0; i < 2; ++i) {
    const auto model = remembered.learn(two(), kClock);
    ASSERT_TRUE(model) << model.error().what;
    EXPECT_EQ((*model)->state(), 2);
  }
  EXPECT_EQ(counting.learnt, 1);
}

TEST(Remembered, AnotherGroupFigureFeatureOrKnobIsLearntAnew) {
  const Counting counting;
  const Remembered remembered(counting);
  const auto learn = [&](const std::vector<Curve>& curves, std::span<const Knob> knobs = kClock) {
    EXPECT_TRUE(remembered.learn(curves, knobs));
  };
  learn(two());
  auto other = two();
  other.front().group = "h";
  learn(other);
  other = two();
  other.back().rows.back().energy = other.back().rows.back().energy * 1.001;
  learn(other);
  other = two();
  other.back().known.features["sm_active"] = 0.5;
  learn(other);
  learn(two(), std::array{Knob::memory_clock});
  EXPECT_EQ(counting.learnt, 5);
}

TEST(Remembered, RefusalsAreRememberedToo) {
  const Counting counting;
  const Remembered remembered(counting);
  EXPECT_FALSE(remembered.learn({}, kClock));
  const auto again = remembered.learn({}, kClock);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "no curves");
  EXPECT_EQ(counting.learnt, 1);
}

TEST(Remembered, ThreadsShareWhatOneLearns) {
  const Counting counting;
  const Remembered remembered(counting);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(remembered.learn(two(), kClock)); });
  }
  EXPECT_EQ(counting.learnt, 1);
}

TEST(Remembered, TheCombinedLearnerGivesTheSameModelsWithAndWithout) {
  std::vector<Curve> curves;
  for (int i = 0; i < 6; ++i)
    curves.push_back(made::curve(cat("g", i % 3), cat("w", i), 0.2 + 0.1 * i, 180 + 10 * i));
  const auto combined = find_learner("rubato");
  ASSERT_TRUE(combined);
  const auto remembering = (*combined)->remembering();
  ASSERT_TRUE(remembering);
  for (const std::size_t without : {0U, 1U}) {  // what is left of the first holds what is left of the second
    std::vector<Curve> rest;
    for (const Curve& c : curves)
      if (c.group != cat("g", without)) rest.push_back(c);
    const auto plain = (*combined)->learn(rest, kClock);
    const auto kept = remembering->learn(rest, kClock);
    ASSERT_TRUE(plain && kept);
    EXPECT_EQ((*plain)->state(), (*kept)->state());
  }
}

}  // namespace
}  // namespace rubato::predict
