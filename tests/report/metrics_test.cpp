#include "report/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::report {
namespace {

std::vector<MetricFamily> some() {
  return {{"demo_energy_joules_total",
           MetricType::counter,
           "joules",
           "Energy, in \"joules\".",
           {{{{"uuid", "GPU-1"}, {"name", "a \"b\"\\c\nd"}}, 123456789.125}}},
          {"demo_gpu_info", MetricType::info, "", "A GPU.", {{{{"uuid", "GPU-1"}}, 1}}},
          {"demo_power_watts", MetricType::gauge, "watts", "Power.", {}},
          {"demo_up", MetricType::gauge, "", "Up.", {{{}, 1}}}};
}

TEST(Metrics, AreWrittenInPrometheusOwnFormat) {
  EXPECT_EQ(render_metrics(some(), MetricsFormat::prometheus_text),
            "# HELP demo_energy_joules_total Energy, in \"joules\".\n"
            "# TYPE demo_energy_joules_total counter\n"
            "demo_energy_joules_total{uuid=\"GPU-1\",name=\"a \\\"b\\\"\\\\c\\nd\"} 123456789.125\n"
            "# HELP demo_gpu_info A GPU.\n"
            "# TYPE demo_gpu_info gauge\n"
            "demo_gpu_info{uuid=\"GPU-1\"} 1\n"
            "# HELP demo_up Up.\n"
            "# TYPE demo_up gauge\n"
            "demo_up 1\n");
}

TEST(Metrics, AreWrittenInOpenMetrics) {
  EXPECT_EQ(render_metrics(some(), MetricsFormat::open_metrics),
            "# HELP demo_energy_joules Energy, in \\\"joules\\\".\n"
            "# TYPE demo_energy_joules counter\n"
            "# UNIT demo_energy_joules joules\n"
            "demo_energy_joules_total{uuid=\"GPU-1\",name=\"a \\\"b\\\"\\\\c\\nd\"} 123456789.125\n"
            "# HELP demo_gpu A GPU.\n"
            "# TYPE demo_gpu info\n"
            "demo_gpu_info{uuid=\"GPU-1\"} 1\n"
            "# HELP demo_up Up.\n"
            "# TYPE demo_up gauge\n"
            "demo_up 1\n"
            "# EOF\n");
}

TEST(Metrics, OfAHistogramHaveTheSuffixesOfItsParts) {
  const std::vector<MetricFamily> families = {{"demo_seconds",
                                               MetricType::histogram,
                                               "seconds",
                                               "Times.",
                                               {{{{"le", "0.005"}}, 3, "_bucket"},
                                                {{{"le", "+Inf"}}, 4, "_bucket"},
                                                {{}, 0.5, "_sum"},
                                                {{}, 4, "_count"}}}};
  const std::string samples =
      "demo_seconds_bucket{le=\"0.005\"} 3\ndemo_seconds_bucket{le=\"+Inf\"} 4\ndemo_seconds_sum 0.5\n"
      "demo_seconds_count 4\n";
  EXPECT_EQ(render_metrics(families, MetricsFormat::prometheus_text),
            "# HELP demo_seconds Times.\n# TYPE demo_seconds histogram\n" + samples);
  EXPECT_EQ(render_metrics(families, MetricsFormat::open_metrics),
            "# HELP demo_seconds Times.\n# TYPE demo_seconds histogram\n# UNIT demo_seconds seconds\n" +
                samples + "# EOF\n");
}

TEST(Metrics, ThatAreNoNumberAreAbsent) {
  const std::vector<MetricFamily> families = {
      {"demo_watts", MetricType::gauge, "watts", "Power.", {{{}, std::nan("")}, {{}, INFINITY}}}};
  EXPECT_EQ(render_metrics(families, MetricsFormat::prometheus_text), "");
}

TEST(Metrics, LabelsAreUtf8WhateverTheDriverSays) {
  const auto label = [](std::string value) {
    const std::vector<MetricFamily> families = {
        {"m", MetricType::gauge, "", "M.", {{{{"l", std::move(value)}}, 1}}}};
    const std::string page = render_metrics(families, MetricsFormat::prometheus_text);
    const std::size_t from = page.find("l=\"") + 3;
    return page.substr(from, page.rfind('"') - from);
  };
  EXPECT_EQ(label("µ€😀"), "µ€😀");
  EXPECT_EQ(label("a\xff\xfe"), "a??");
  EXPECT_EQ(label("\xC3"), "?");
  EXPECT_EQ(label("\xE2\x82"), "??");
  EXPECT_EQ(label("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(label("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(label("\xF4\x90\x80\x80"), "????");  // beyond Unicode
}

TEST(Metrics, NumbersAreShortAndKeepAMillijoule) {
  const auto value = [](double number) {
    const std::vector<MetricFamily> families = {{"m", MetricType::gauge, "", "M.", {{{}, number}}}};
    const std::string page = render_metrics(families, MetricsFormat::prometheus_text);
    return page.substr(page.rfind(' ') + 1);
  };
  EXPECT_EQ(value(0.1 + 0.2), "0.3\n");
  EXPECT_EQ(value(1380e6), "1380000000\n");
  EXPECT_EQ(value(22075200000.001), "22075200000.001\n");
  EXPECT_EQ(value(-0.25), "-0.25\n");
}

TEST(Metrics, TheFormatIsWhatTheClientNames) {
  EXPECT_EQ(metrics_format_for(""), MetricsFormat::prometheus_text);
  EXPECT_EQ(metrics_format_for("text/html,*/*"), MetricsFormat::prometheus_text);
  EXPECT_EQ(metrics_format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            MetricsFormat::open_metrics);
}

}  // namespace
}  // namespace rubato::report
