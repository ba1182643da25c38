#include "period_truth/baseline.h"

#include <numeric>
#include <vector>

namespace rubato::period_truth {
namespace {

constexpr double kInterval = 0.1;
constexpr std::size_t kEvery = 100;       // samples between two looks
constexpr std::size_t kLongestLag = 300;  // samples

class Baseline final : public progress::PeriodDetector {
 public:
  [[nodiscard]] std::string_view name() const override { return "autocorrelation peak"; }

  void add(const progress::TelemetryPoint& point) override {
    if (!point.power || (last_ && point.at <= *last_)) return;
    if (!last_) due_ = point.at;
    for (; due_ <= point.at; due_ = due_ + Seconds(kInterval)) {
      samples_.push_back(point.power->value());
      if (samples_.size() % kEvery == 0) look(point.at);
    }
    last_ = point.at;
  }
  [[nodiscard]] std::optional<IterationEstimate> estimate() const override { return estimate_; }
  [[nodiscard]] progress::PeriodSummary summary() const override {
    progress::PeriodSummary summary;
    summary.verdict = estimate_;
    return summary;
  }

 private:
  void look(TimePoint now) {
    const auto count = samples_.size();
    const double mean = std::accumulate(samples_.begin(), samples_.end(), 0.0) / static_cast<double>(count);
    std::vector<double> product(std::min(kLongestLag, count / 3) + 1);
    for (std::size_t lag = 0; lag < product.size(); ++lag) {
      for (std::size_t i = lag; i < count; ++i)
        product[lag] += (samples_[i] - mean) * (samples_[i - lag] - mean);
      product[lag] /= static_cast<double>(count - lag);
    }
    std::size_t best = 0;
    for (std::size_t lag = 2; lag + 1 < product.size(); ++lag)
      if (product[lag] > product[lag - 1] && product[lag] >= product[lag + 1] &&
          (best == 0 || product[lag] > product[best]))
        best = lag;
    if (best == 0 || product[0] <= 0) return;
    // The vertex of the parabola through the peak and its neighbours.
    const double bend = product[best - 1] - 2 * product[best] + product[best + 1];
    const double aside = bend < 0 ? (product[best - 1] - product[best + 1]) / (2 * bend) : 0;
    IterationEstimate estimate;
    estimate.at = now;
    estimate.periodic = true;
    estimate.period = Seconds(kInterval * (static_cast<double>(best) + aside));
    estimate.confidence = std::max(0.0, product[best] / product[0]);
    estimate.why = "the highest peak of the autocorrelation";
    estimate_ = estimate;
  }

  std::optional<TimePoint> last_;
  TimePoint due_;
  std::vector<double> samples_;
  std::optional<IterationEstimate> estimate_;
};

}  // namespace

std::unique_ptr<progress::PeriodDetector> make_baseline(const progress::TelemetryFacts&) {
  return std::make_unique<Baseline>();
}

}  // namespace rubato::period_truth
