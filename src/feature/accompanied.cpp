#include "feature/accompanied.h"

#include "feature/slow_means.h"

namespace rubato::feature {
namespace {

class Accompanied final : public Provider {
 public:
  Accompanied(std::unique_ptr<Provider> counters, device::Gpu& gpu)
      : counters_(std::move(counters)),
        highest_(availability().available ? highest_sm_clock(gpu) : std::nullopt),
        means_(highest_) {
    if (!availability().available) return;
    features_.assign(counters_->features().begin(), counters_->features().end());
    for (const Feature f : slow_features(gpu.capabilities(), highest_.has_value())) features_.push_back(f);
  }

  const ProviderFacts& facts() const override { return counters_->facts(); }
  const Capability& availability() const override { return counters_->availability(); }
  std::span<const Feature> features() const override { return features_; }
  std::optional<TimePoint> next_due() const override { return counters_->next_due(); }
  Status poll(TimePoint now) override { return counters_->poll(now); }
  CallCost cost() const override { return counters_->cost(); }

  void see(const FastReading& reading) override { counters_->see(reading); }
  void see(const SlowReading& reading) override {
    counters_->see(reading);
    if (open_) means_.see(reading);
  }

  Status begin(TimePoint now) override {
    const Status begun = counters_->begin(now);
    if (!begun) return begun;
    open_ = true;
    begin_ = now;
    means_.begin(now);
    return begun;
  }

  Result<FeatureVector> end(TimePoint now) override {
    open_ = false;
    Result<FeatureVector> counted = counters_->end(now);
    const bool empty = !counted && counted.error().code == ErrorCode::unavailable;
    means_alone_ = false;
    if (!counted && !empty) return counted;
    FeatureVector out;
    out.begin = begin_;
    out.end = now;
    if (counted) out = *counted;
    means_.fill(out);
    // Better than nothing, and what `utilisation` would have told by itself.
    means_alone_ = empty && out[Feature::sm_utilisation];
    if (empty && !means_alone_) return counted;
    return out;
  }

  std::string_view source() const override { return means_alone_ ? kSlowMeansName : counters_->source(); }

 private:
  std::unique_ptr<Provider> counters_;
  std::optional<Megahertz> highest_;
  SlowMeans means_;
  std::vector<Feature> features_;
  bool open_ = false;
  bool means_alone_ = false;  // of the last window
  TimePoint begin_;
};

}  // namespace

std::unique_ptr<Provider> accompany(std::unique_ptr<Provider> counters, device::Gpu& gpu) {
  return std::make_unique<Accompanied>(std::move(counters), gpu);
}

}  // namespace rubato::feature
