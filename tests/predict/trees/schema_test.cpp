#include "predict/trees/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_curves.h"

namespace rubato::predict::trees {
namespace {

/// 250 W by default, drawing 200 W.
Curve limit_curve() {
  Curve curve{.workload = "w", .group = "g"};
  for (const double limit : {125.0, 250.0})
    curve.rows.push_back({.at = {.power_limit = Watts(limit), .sm_clock = {}, .memory_clock = {}},
                          .time = 1_s,
                          .energy = Joules(limit == 250 ? 200 : 120)});
  curve.known = {.gpu = "V",
                 .at_default = curve.rows.back(),
                 .highest = {.power_limit = 250_W},
                 .features = {},
                 .probes = {}};
  return curve;
}

TEST(Schema, PowerLimitsStandBesideTheDefaultAndTheDraw) {
  const std::vector<Knob> knobs = {Knob::power_limit};
  const Curve curve = limit_curve();
  const auto schema = Schema::of({&curve, 1}, knobs);
  ASSERT_TRUE(schema) << schema.error().what;
  EXPECT_EQ(schema->names(),
            (std::vector<std::string>{"power_limit_over_default", "power_limit_over_default_power",
                                      "default_power_over_default_limit"}));
  EXPECT_EQ(schema->faster(), (std::vector<int>{1, 1, 0}));
  const auto rows = schema->rows(curve.known, settings_of(curve));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->values, (std::vector<float>{0.5F, 0.625F, 0.8F, 1.0F, 1.25F, 0.8F}));
}

TEST(Schema, AnAbsentKnobIsAtItsHighest) {
  const std::vector<Knob> knobs = {Knob::power_limit};
  const Curve curve = limit_curve();
  const auto schema = Schema::of({&curve, 1}, knobs);
  const std::vector<KnobPoint> nothing = {{}};
  EXPECT_EQ(schema->rows(curve.known, nothing)->values.front(), 1.0F);
  EXPECT_EQ(schema->place(curve.known, {}), std::vector<double>{0.0});
}

TEST(Schema, TheDrawIsRelativeToTheMostSeenOnThatGpuAlone) {
  auto curves = clock_curves(2, 0, 1);
  curves[1].known.at_default.energy = curves[0].known.at_default.energy * 2;
  curves[1].known.at_default.time = curves[0].known.at_default.time;
  const auto schema = Schema::of(curves, kSmClock);
  ASSERT_TRUE(schema) << schema.error().what;
  ASSERT_TRUE(schema->power_column());
  const auto rows = schema->rows(curves[0].known, std::vector<KnobPoint>{{}});
  EXPECT_FLOAT_EQ(rows->values[*schema->power_column()], 0.5F);
  Known elsewhere = curves[0].known;
  elsewhere.gpu = "another";
  EXPECT_TRUE(
      std::isnan(schema->rows(elsewhere, std::vector<KnobPoint>{{}})->values[*schema->power_column()]));
}

TEST(Schema, ReadsBackWhatItWrote) {
  const auto curves = clock_curves(2, 0, 1);
  const auto schema = Schema::of(curves, kSmClock);
  const auto again = Schema::read(schema->state());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->names(), schema->names());
  auto changed = schema->state();
  changed["columns"][0] = "something_else";
  EXPECT_EQ(Schema::read(changed).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace rubato::predict::trees
