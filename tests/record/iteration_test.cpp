// What is known of the iteration in a run record: statements, rates, shifts and counters.
#include <gmock/gmock.h>

#include "record/reader.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::IsEmpty;
using testing::SizeIs;

class RecordOfIterations : public testing::Test {
 protected:
  RunRecord written(const std::function<void(Writer&)>& write, const RunEnd& end = run_end()) {
    auto writer = Writer::create(folder_.path(), run_info());
    EXPECT_TRUE(writer) << writer.error().what;
    (*writer)->device(device_info());
    write(**writer);
    const auto file = (*writer)->finish(end);
    EXPECT_TRUE(file) << file.error().what;
    auto read = read_run(*file);
    EXPECT_TRUE(read) << read.error().what;
    return std::move(*read);
  }
  Folder folder_;
};

IterationStatement by_kernels(Seconds after) {
  return {.gpu = kGpu,
          .estimate = {.at = kBegin + after,
                       .source = ProgressSource::kernels,
                       .periodic = true,
                       .period = 0.4_s,
                       .relation = PeriodRelation::multiple,
                       .confidence = 0.99,
                       .half_width = 0.003,
                       .drift_per_minute = -0.001,
                       .launches = 412,
                       .why = "412 launches repeat"},
          .used = true,
          .check = "telemetry agrees"};
}

FeatureWindow counted(const GpuId& gpu, Seconds after) {
  FeatureWindow w{.gpu = gpu, .provider = "gpm", .features = {}, .setting = {.power_limit = 150_W}};
  w.features.begin = kBegin + after;
  w.features.end = kBegin + after + 1_s;
  w.features[Feature::sm_active] = 0.75;
  w.features[Feature::dram_active] = 0;
  w.why = "the job had started";
  return w;
}

TEST_F(RecordOfIterations, KeepsBySourceHowEachWasFound) {
  const auto run = written([](Writer& w) {
    w.iteration({0, kBegin, kBegin + 1_s, ProgressSource::telemetry});
    w.iteration({1, kBegin + 1_s, kBegin + 2_s, ProgressSource::kernels});
    w.iteration({2, kBegin + 2_s, kBegin + 3_s});
  });
  ASSERT_THAT(run.iterations, SizeIs(3));
  EXPECT_EQ(run.iterations[0].source, ProgressSource::telemetry);
  EXPECT_EQ(run.iterations[1].source, ProgressSource::kernels);
  EXPECT_EQ(run.iterations[2].source, ProgressSource::marks);
}

TEST_F(RecordOfIterations, GivesStatementsBackInOrderOfTime) {
  const auto run = written([](Writer& w) {
    w.statement(by_kernels(5_s));
    w.statement({.gpu = std::nullopt,
                 .estimate = {.at = kBegin + 1_s, .source = ProgressSource::marks, .why = "no mark came"}});
  });
  ASSERT_THAT(run.statements, SizeIs(2));
  const IterationStatement& marks = run.statements[0];
  EXPECT_FALSE(marks.gpu);
  EXPECT_FALSE(marks.used);
  EXPECT_FALSE(marks.estimate.periodic);
  EXPECT_FALSE(marks.estimate.period);
  EXPECT_FALSE(marks.estimate.half_width);
  EXPECT_FALSE(marks.estimate.drift_per_minute);
  EXPECT_FALSE(marks.estimate.launches);
  const IterationStatement& kernels = run.statements[1];
  EXPECT_EQ(kernels.gpu, kGpu);
  EXPECT_TRUE(kernels.used);
  EXPECT_EQ(kernels.check, "telemetry agrees");
  EXPECT_EQ(kernels.estimate.at, kBegin + 5_s);
  EXPECT_EQ(kernels.estimate.source, ProgressSource::kernels);
  EXPECT_TRUE(kernels.estimate.periodic);
  EXPECT_EQ(kernels.estimate.period, 0.4_s);
  EXPECT_EQ(kernels.estimate.relation, PeriodRelation::multiple);
  EXPECT_EQ(kernels.estimate.confidence, 0.99);
  EXPECT_EQ(kernels.estimate.half_width, 0.003);
  EXPECT_EQ(kernels.estimate.drift_per_minute, -0.001);
  EXPECT_EQ(kernels.estimate.launches, 412U);
  EXPECT_EQ(kernels.estimate.why, "412 launches repeat");
}

TEST_F(RecordOfIterations, KeepsTheRateThatStandsIn) {
  const auto run = written([](Writer& w) {
    w.rate({kGpu,
            {.begin = kBegin,
             .end = kBegin + 10_s,
             .kind = RateKind::kernels,
             .per_second = 250,
             .half_width = 0.1,
             .confidence = 0.8,
             .why = "kernels were recorded"}});
    w.rate({std::nullopt, {.begin = kBegin + 10_s, .end = kBegin + 20_s, .per_second = 0.5}});
  });
  ASSERT_THAT(run.rates, SizeIs(2));
  EXPECT_EQ(run.rates[0].gpu, kGpu);
  EXPECT_EQ(run.rates[0].rate.kind, RateKind::kernels);
  EXPECT_EQ(run.rates[0].rate.per_second, 250);
  EXPECT_EQ(run.rates[0].rate.half_width, 0.1);
  EXPECT_EQ(run.rates[0].rate.confidence, 0.8);
  EXPECT_EQ(run.rates[0].rate.why, "kernels were recorded");
  EXPECT_FALSE(run.rates[1].gpu);
  EXPECT_FALSE(run.rates[1].rate.half_width);
  EXPECT_EQ(run.rates[1].rate.end, kBegin + 20_s);
}

TEST_F(RecordOfIterations, KeepsShifts) {
  const auto run = written([](Writer& w) {
    w.shift({kGpu, {kBegin + 40_s, kBegin + 43_s, "period", 0.4, 0.6, "s", "iterations became longer"}});
  });
  ASSERT_THAT(run.shifts, SizeIs(1));
  EXPECT_EQ(run.shifts[0].gpu, kGpu);
  const Shift& shift = run.shifts[0].shift;
  EXPECT_EQ(shift.at, kBegin + 40_s);
  EXPECT_EQ(shift.noticed, kBegin + 43_s);
  EXPECT_EQ(shift.what, "period");
  EXPECT_EQ(shift.from, 0.4);
  EXPECT_EQ(shift.to, 0.6);
  EXPECT_EQ(shift.unit, "s");
  EXPECT_EQ(shift.why, "iterations became longer");
}

TEST_F(RecordOfIterations, TellsACounterAtZeroFromOneThatWasNotRead) {
  const auto run = written([](Writer& w) {
    w.features(counted(kGpu, 5_s));
    w.features(counted(kGpu, 1_s));
  });
  ASSERT_THAT(run.features, SizeIs(2));
  const FeatureWindow& first = run.features[0];
  EXPECT_EQ(first.features.begin, kBegin + 1_s);
  EXPECT_EQ(first.features.end, kBegin + 2_s);
  EXPECT_EQ(first.provider, "gpm");
  EXPECT_EQ(first.setting.power_limit, 150_W);
  EXPECT_EQ(first.why, "the job had started");
  EXPECT_EQ(first.features[Feature::sm_active], 0.75);
  EXPECT_EQ(first.features[Feature::dram_active], 0.0);
  EXPECT_FALSE(first.features[Feature::tensor_active]);
}

TEST_F(RecordOfIterations, TellsNothingOfAGpuThatTheJobDidNotUse) {
  const GpuId other{"GPU-idle"};
  RunEnd end = run_end();
  end.devices.push_back({.gpu = other, .used_by_job = false});
  const auto run = written(
      [&](Writer& w) {
        w.features(counted(kGpu, 1_s));
        w.features(counted(other, 1_s));
        w.shift({other, {kBegin, kBegin, "power", 1, 2, "W", "somebody else's"}});
        w.rate({other, {.begin = kBegin, .end = kBegin + 1_s}});
        w.statement({.gpu = other, .estimate = {.at = kBegin}});
        w.statement({.gpu = std::nullopt, .estimate = {.at = kBegin, .source = ProgressSource::marks}});
      },
      end);
  ASSERT_THAT(run.features, SizeIs(1));
  EXPECT_EQ(run.features[0].gpu, kGpu);
  EXPECT_THAT(run.shifts, IsEmpty());
  EXPECT_THAT(run.rates, IsEmpty());
  EXPECT_THAT(run.statements, SizeIs(1)) << "marks are the job's";
}

TEST_F(RecordOfIterations, AGapNamesTheChannelItIsOf) {
  const auto run = written([](Writer& w) {
    w.channel({"rapl", {.name = "package-0", .scope = Scope::cpu_package}});
    w.channel({"snmp:rack", {.name = "outlet-7", .scope = Scope::node}});
    w.gap({kBegin, kBegin + 1_s, std::nullopt, "meter snmp:rack told nothing", 1});
    w.gap({kBegin + 1_s, kBegin + 2_s, std::nullopt, "rubato was stopped"});
  });
  ASSERT_THAT(run.gaps, SizeIs(2));
  EXPECT_EQ(run.gaps[0].channel, 1U);
  EXPECT_FALSE(run.gaps[1].channel);
}

}  // namespace
}  // namespace rubato::record
