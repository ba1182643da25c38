#include "exporter/page.h"

#include <gmock/gmock.h>

#include <set>

#include "cli_report/golden.h"
#include "exporter/catalogue.h"
#include "exporter/exporter.h"
#include "fake_gpu.h"
#include "record/sample_run.h"

namespace rubato::exporter {
namespace {

using record::testing_data::Folder;
using report::MetricsFormat;
using testing::HasSubstr;
using testing::Not;
using testing_data::FakeGpu;

const OwnCost kOwn{2.5_s, 12'000'000, 1'790'000'000};

JobState finished_job() {
  JobState job{.run_id = "20261121-081500-1a2b", .mode = "run", .started_at = "2026-11-21T08:15:00Z"};
  job.duration = 600_s;
  job.gpus.push_back({.identity = {{"GPU-51000000"}, "Tesla V100-PCIE-16GB", 3, "00000000:1B:00.0"},
                      .kind = Kind::modelled,
                      .energy = 81'000_J,
                      .found_limit = 200_W,
                      .requested = Setting{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}},
                      .restoration = Restoration::failed});
  analyse::Savings& saved = job.savings.emplace();
  saved.kind = Kind::modelled;
  saved.run_saved = 9000_J;
  saved.run_energy = {.value = 0.1, .interval = analyse::Interval{0.08, 0.12}};
  saved.run_slowdown = {.value = 0.03};
  job.cost = analyse::OwnCostSummary{.driver = {400, 0.2_s}, .cpu = 0.5_s};
  return job;
}

class PageTest : public testing::Test {
 protected:
  PageTest() {
    state_.version = "0.1.0";
    state_.backend = "sim";
    state_.driver_version = "550.54.15";
  }
  void look(Seconds time) {
    for (const TimePoint end = clock_.now() + time; watch_.next_due() <= end;) {
      clock_.advance_to(watch_.next_due());
      watch_.step(clock_.now());
    }
    state_.gpus = watch_.states();
    state_.guards = {SettingGuard::alive, SettingGuard::unknown};
    state_.driver = watch_.cost();
  }
  std::string page(MetricsFormat format = MetricsFormat::prometheus_text) {
    return report::render_metrics(page_of(state_, kOwn, clock_.now()), format);
  }

  VirtualClock clock_;
  FakeGpu gpu_{clock_};
  FakeGpu silent_{clock_, "GPU-51000001"};
  GpuWatch watch_{{{&gpu_, gpu_.sensor()}, {&silent_, silent_.sensor()}}, clock_.now()};
  PageState state_;
};

TEST_F(PageTest, IsAsItWasInBothFormats) {
  silent_.silent = true;
  look(30_s);
  state_.jobs = {finished_job()};
  cli::testing_data::expect_golden(page(), "page.prom", "exporter");
  cli::testing_data::expect_golden(page(MetricsFormat::open_metrics), "page.openmetrics", "exporter");
}

TEST_F(PageTest, WhatASilentGpuLastSaidIsNotSaidAgain) {
  look(30_s);
  EXPECT_THAT(page(), HasSubstr("rubato_gpu_power_watts{uuid=\"GPU-51000001\""));
  silent_.silent = true;
  look(30_s);
  const std::string text = page();
  for (const char* metric : {"power_watts", "energy_joules_total", "driver_energy_joules_total",
                             "sm_clock_hertz", "power_limit_enforced_watts", "temperature_celsius"}) {
    EXPECT_THAT(text, Not(HasSubstr(cat("rubato_gpu_", metric, "{uuid=\"GPU-51000001\""))));
    EXPECT_THAT(text, HasSubstr(cat("rubato_gpu_", metric, "{uuid=\"GPU-51000000\"")));
  }
  EXPECT_THAT(text, HasSubstr("rubato_gpu_silent{uuid=\"GPU-51000001\",name=\"Tesla V100-PCIE-16GB\"} 1"));
  EXPECT_THAT(text, HasSubstr("rubato_gpu_reading_age_seconds{uuid=\"GPU-51000001\""));
}

TEST_F(PageTest, AReadingThatIsMissingIsAbsentAndNeverZero) {
  gpu_.slow = {};
  look(10_s);
  const std::string text = page();
  for (const char* metric : {"sm_clock_hertz", "temperature_celsius", "limiter_active",
                             "limited_seconds_total", "performance_state", "power_limit_requested_watts"})
    EXPECT_THAT(text, Not(HasSubstr(cat("rubato_gpu_", metric, "{uuid=\"GPU-51000000\""))));
}

TEST_F(PageTest, GrowsOldWhileNobodySteps) {
  look(10_s);
  EXPECT_THAT(page(), HasSubstr("rubato_gpu_power_watts"));
  clock_.advance(60_s);  // a step hangs in the driver
  EXPECT_THAT(page(), Not(HasSubstr("rubato_gpu_power_watts")));
  EXPECT_THAT(page(), HasSubstr("rubato_gpu_silent{uuid=\"GPU-51000000\",name=\"Tesla V100-PCIE-16GB\"} 1"));
}

TEST_F(PageTest, RubatodsTimesAreAHistogramOfEachRequestAndPart) {
  look(10_s);
  EXPECT_THAT(page(), Not(HasSubstr("rubatod_request_seconds")));
  state_.requests = {{"apply", {{"own", 0.02_s, 0.012_s, {{0.004_s, 7}, {0.005_s, 2}, {0.0125_s, 1}}}}}};
  const std::string text = page();
  const std::string of = "{request=\"apply\",part=\"own\"";
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_bucket" + of + ",le=\"0.0025\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_bucket" + of + ",le=\"0.005\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_bucket" + of + ",le=\"0.025\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_bucket" + of + ",le=\"+Inf\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_sum" + of + "} 0.02\n"));
  EXPECT_THAT(text, HasSubstr("rubatod_request_seconds_count" + of + "} 10\n"));
}

TEST_F(PageTest, SaysEverySeriesOnce) {
  look(10_s);
  state_.jobs = {finished_job()};
  std::set<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> seen;
  for (const auto& family : page_of(state_, kOwn, clock_.now()))
    for (const auto& sample : family.samples)
      EXPECT_TRUE(seen.insert({family.name, sample.labels}).second) << family.name;
  EXPECT_LT(seen.size(), 2 * 45U + 20U);
}

TEST(Catalogue, NamesAreThoseOfTheConventions) {
  std::set<std::string_view> names;
  for (const MetricInfo& metric : catalogue()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == report::MetricType::counter) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_info"), metric.type == report::MetricType::info) << metric.name;
    std::string_view stem = metric.name;
    if (metric.type == report::MetricType::counter) stem.remove_suffix(6);
    EXPECT_TRUE(metric.unit.empty() || stem.ends_with(cat("_", metric.unit))) << metric.name;
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.name;
  }
}

TEST(ExporterSteps, ServesPagesOfWhatItSawWithoutStepping) {
  VirtualClock clock;
  FakeGpu gpu(clock);
  Folder journals;
  Exporter exporter(
      {.version = "0.1.0", .backend = "sim", .driver_version = "1", .journals = journals.path()},
      {{&gpu, gpu.sensor()}}, clock.now());
  EXPECT_FALSE(exporter.complete());
  EXPECT_THAT(*exporter.page(MetricsFormat::prometheus_text, clock.now(), kOwn),
              HasSubstr("rubato_gpu_silent"));
  while (!exporter.complete()) {
    clock.advance_to(exporter.next_due());
    exporter.step(clock.now(), 1.79e9);
  }
  EXPECT_LE(clock.now() - TimePoint{}, 2.5_s);
  const auto first = exporter.page(MetricsFormat::prometheus_text, clock.now(), kOwn);
  EXPECT_THAT(*first, HasSubstr("rubato_gpu_energy_joules_total"));
  EXPECT_THAT(*first,
              HasSubstr("rubato_gpu_setting_held{uuid=\"GPU-51000000\",name=\"Tesla V100-PCIE-16GB\"} 0"));
  const std::uint64_t calls = gpu.cost().calls;
  EXPECT_EQ(exporter.page(MetricsFormat::prometheus_text, clock.now(), kOwn), first) << "made once for many";
  clock.advance(1_s);
  EXPECT_NE(exporter.page(MetricsFormat::prometheus_text, clock.now(), kOwn), first);
  EXPECT_EQ(gpu.cost().calls, calls) << "a scrape asks no GPU";
}

}  // namespace
}  // namespace rubato::exporter
