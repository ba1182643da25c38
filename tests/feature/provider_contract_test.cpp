// What every provider promises, asked of each of them by the same tests (feature/provider.h is the contract).
#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.h"
#include "feature/gpu_counters/gpu_counters.h"
#include "feature/subject.h"

namespace rubato::feature {
namespace {

class ProviderContract : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    provider_ = GetParam().kind().open(gpu_);
    ASSERT_NE(provider_, nullptr);
    ASSERT_TRUE(provider_->availability().available) << provider_->availability().why_not;
  }

  /// Half a second at a time, as a run would: the slow tick is shown and the provider polled when it is due.
  void go_on(Seconds span) {
    const TimePoint end = gpu_.now() + span;
    while (gpu_.now() < end) {
      gpu_.go_on(0.5_s);
      GetParam().go_on(0.5_s);
      provider_->see(gpu_.read_slow().value());
      provider_->see(gpu_.read_fast().value());
      const auto due = provider_->next_due();
      if (due && *due <= gpu_.now()) {
        const Status polled = provider_->poll(gpu_.now());
        EXPECT_TRUE(polled) << polled.error().what;
      }
    }
  }
  Result<FeatureVector> window(Seconds span) {
    const Status begun = provider_->begin(gpu_.now());
    if (!begun) return fail(begun.error());
    go_on(span);
    return provider_->end(gpu_.now());
  }
  static std::vector<Feature> present(const FeatureVector& features) {
    std::vector<Feature> out;
    for (std::size_t i = 0; i < kFeatureCount; ++i)
      if (features.values.at(i)) out.push_back(static_cast<Feature>(i));
    return out;
  }
  static bool is_fraction(Feature f) {
    const std::string_view name = kFeatureNames.at(static_cast<std::size_t>(f));
    return name.ends_with("_active") || name.ends_with("_fraction") || name.ends_with("_utilisation") ||
           f == Feature::sm_occupancy;
  }

  TrainingGpu gpu_{GetParam().guise};
  std::unique_ptr<Provider> provider_;
};

TEST_P(ProviderContract, SaysWhatAPersonHasToKnow) {
  const ProviderFacts& facts = provider_->facts();
  EXPECT_EQ(facts.name, GetParam().kind().facts.name);
  for (const std::string_view text : {facts.says, facts.rights, facts.costs, facts.disturbs})
    EXPECT_FALSE(text.empty());
}

TEST_P(ProviderContract, AvailabilityAndFeaturesStayAsTheyWereAtOpening) {
  const std::vector<Feature> before(provider_->features().begin(), provider_->features().end());
  EXPECT_FALSE(before.empty());
  EXPECT_TRUE(provider_->availability().why_not.empty());
  ASSERT_TRUE(window(5_s));
  EXPECT_TRUE(provider_->availability().available);
  EXPECT_TRUE(
      std::equal(before.begin(), before.end(), provider_->features().begin(), provider_->features().end()));
}

TEST_P(ProviderContract, AWindowHoldsFeaturesItNamesInTheirRange) {
  const TimePoint from = gpu_.now();
  const auto counted = window(5_s);
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_GE(counted->begin, from);
  EXPECT_GT(counted->end, counted->begin);
  EXPECT_LE(counted->end, gpu_.now());
  const std::vector<Feature> values = present(*counted);
  EXPECT_FALSE(values.empty());
  for (const Feature f : values) {
    const std::string_view name = kFeatureNames.at(static_cast<std::size_t>(f));
    EXPECT_THAT(provider_->features(), testing::Contains(f)) << name;
    EXPECT_GE(*(*counted)[f], 0) << name;
    if (is_fraction(f)) {
      EXPECT_LE(*(*counted)[f], 1) << name;
    }
  }
}

TEST_P(ProviderContract, AWindowCannotBeginInsideAnother) {
  ASSERT_TRUE(provider_->begin(gpu_.now()));
  const Status second = provider_->begin(gpu_.now());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy) << second.error().what;
  go_on(5_s);
  EXPECT_TRUE(provider_->end(gpu_.now())) << "the first goes on";
}

TEST_P(ProviderContract, AWindowThatWasNeverBegunCannotEnd) {
  const auto ended = provider_->end(gpu_.now());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::conflict) << ended.error().what;
  ASSERT_TRUE(window(5_s));
  EXPECT_FALSE(provider_->end(gpu_.now())) << "nor end twice";
}

TEST_P(ProviderContract, AWindowWithoutAnUpdateIsUnavailableAndClosed) {
  ASSERT_TRUE(provider_->begin(gpu_.now()));
  const auto empty = provider_->end(gpu_.now());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::unavailable) << empty.error().what;
  EXPECT_THAT(empty.error().what, testing::HasSubstr(gpu_.identity().id.uuid));
  const auto next = window(5_s);
  EXPECT_TRUE(next) << next.error().what;
}

TEST_P(ProviderContract, WindowsDoNotOverlap) {
  const auto first = window(5_s);
  ASSERT_TRUE(first) << first.error().what;
  go_on(3_s);
  const TimePoint from = gpu_.now();
  const auto second = window(5_s);
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_GE(second->begin, from);
}

TEST_P(ProviderContract, CallsIntoADriverAreCountedAndOthersAreNot) {
  const CallCost before = provider_->cost();
  ASSERT_TRUE(gpu_.read_fast());
  EXPECT_EQ(provider_->cost().calls, before.calls) << "somebody else's reading";
  ASSERT_TRUE(window(5_s));
  EXPECT_EQ(provider_->cost().calls > before.calls, GetParam().calls_the_driver);
  EXPECT_GE(provider_->cost().inside, before.inside);
}

ProviderKind named(std::string_view name) {
  const auto kinds = provider_kinds();
  return *std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.facts.name == name; });
}

// As the registry hands them out.
INSTANTIATE_TEST_SUITE_P(
    OfTheDevice, ProviderContract,
    testing::Values(Subject{"gpm", [] { return named("gpm"); }},
                    Subject{"simulated", [] { return named("simulated"); }, Guise::simulated},
                    Subject{"utilisation", [] { return named("utilisation"); }, Guise::hardware, false}),
    [](const auto& subject) { return subject.param.name; });

INSTANTIATE_TEST_SUITE_P(OfALibrary, ProviderContract, testing::ValuesIn(library_subjects()),
                         [](const auto& subject) { return subject.param.name; });

TEST(AccompaniedCounters, HoldTheClockAtWhichWasCounted) {
  TrainingGpu gpu(Guise::hardware);
  const auto provider = open_provider("gpm", gpu).value();
  EXPECT_THAT(provider->features(), testing::Contains(Feature::sm_clock_fraction));
  ASSERT_TRUE(provider->begin(gpu.now()));
  gpu.go_on(5_s);
  const SlowReading reading = gpu.read_slow().value();
  provider->see(reading);
  const auto counted = provider->end(gpu.now());
  ASSERT_TRUE(counted);
  EXPECT_NEAR((*counted)[Feature::sm_clock_fraction].value(),
              *reading.sm_clock / gpu.supported_clocks()->sm.back(), 1e-9);
  EXPECT_TRUE((*counted)[Feature::sm_active]) << "beside the counters";
}

TEST(AccompaniedCounters, ThatHadNothingToTellLeaveTheUtilisationAndSayWhoseItIs) {
  TrainingGpu gpu(Guise::hardware);
  const auto provider = open_provider("gpm", gpu).value();
  ASSERT_TRUE(provider->begin(gpu.now()));
  const TimePoint from = gpu.now();
  gpu.go_on(5_s);
  provider->see(gpu.read_slow().value());
  gpu.refuse_counters(ErrorCode::unavailable);
  const auto counted = provider->end(gpu.now());
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_TRUE((*counted)[Feature::sm_utilisation]);
  EXPECT_FALSE((*counted)[Feature::sm_active]);
  EXPECT_EQ(counted->begin, from);
  EXPECT_EQ(counted->end, gpu.now());
  EXPECT_EQ(provider->source(), "utilisation");
  gpu.refuse_counters(std::nullopt);
  ASSERT_TRUE(provider->begin(gpu.now()));
  gpu.go_on(5_s);
  ASSERT_TRUE(provider->end(gpu.now()));
  EXPECT_EQ(provider->source(), "gpm") << "of the last window";
}

// The one who opens a kind that cannot work learns why, and nothing else happens.
TEST(UnavailableProvider, SaysWhyAndCountsNothing) {
  for (const ProviderKind& kind : provider_kinds()) {
    SCOPED_TRACE(kind.facts.name);
    TrainingGpu gpu(Guise::mute);
    const auto provider = kind.open(gpu);
    ASSERT_NE(provider, nullptr);
    EXPECT_FALSE(provider->availability().available);
    EXPECT_FALSE(provider->availability().why_not.empty());
    EXPECT_TRUE(provider->features().empty());
    const Status begun = provider->begin(gpu.now());
    ASSERT_FALSE(begun);
    EXPECT_THAT(begun.error().what, testing::HasSubstr(provider->availability().why_not));
    EXPECT_FALSE(provider->end(gpu.now()));
  }
}

TEST(GpuCounters, AnErrorOfTheDriverEndsTheWindow) {
  TrainingGpu gpu(Guise::hardware);
  const auto provider = gpu_counters::gpm_kind().open(gpu);
  ASSERT_TRUE(provider->begin(gpu.now()));
  gpu.go_on(1_s);
  gpu.refuse_counters(ErrorCode::device_lost);
  EXPECT_EQ(provider->end(gpu.now()).error().code, ErrorCode::device_lost);
  EXPECT_EQ(provider->end(gpu.now()).error().code, ErrorCode::conflict);
  EXPECT_EQ(provider->begin(gpu.now()).error().code, ErrorCode::device_lost);
}

TEST(GpuCounters, TellTheShareOfTimeThatTheUnitsWorked) {
  TrainingGpu gpu(Guise::simulated);
  const auto provider = gpu_counters::simulated_kind().open(gpu);
  gpu.go_on(5_s);  // until its clocks are up
  ASSERT_TRUE(provider->begin(gpu.now()));
  gpu.go_on(10_s);
  const auto counted = provider->end(gpu.now());
  ASSERT_TRUE(counted) << counted.error().what;
  // 50 ms of compute at the reference clock, 20 ms of memory traffic beside it, 50 ms of neither.
  const double sm = counted->operator[](Feature::sm_active).value();
  const double dram = counted->operator[](Feature::dram_active).value();
  EXPECT_NEAR(sm, 0.5, 0.05);
  EXPECT_NEAR(dram / sm, 20.0 / 50, 0.05);
  EXPECT_FALSE(counted->operator[](Feature::tensor_active)) << "no workload says which pipe computes";
}

}  // namespace
}  // namespace rubato::feature
