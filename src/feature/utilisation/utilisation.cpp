#include "feature/utilisation/utilisation.h"

#include "base/text.h"
#include "feature/slow_means.h"

namespace rubato::feature::utilisation {
namespace {

constexpr ProviderFacts kFacts = {
    .name = kSlowMeansName,
    .says =
        "the share of time with any kernel and with any memory access, and the SM clock: says whether the "
        "GPU works, little of at what",
    .rights = "none",
    .costs = "nothing: it is shown what is read anyway",
    .disturbs = "nobody"};

class UtilisationProvider final : public Provider {
 public:
  explicit UtilisationProvider(device::Gpu& gpu)
      : gpu_(gpu),
        availability_(gpu.capabilities().read_utilisation),
        highest_(availability_.available ? highest_sm_clock(gpu) : std::nullopt),
        means_(highest_) {
    if (availability_.available) features_ = slow_features(gpu.capabilities(), highest_.has_value());
  }

  const ProviderFacts& facts() const override { return kFacts; }
  const Capability& availability() const override { return availability_; }
  std::span<const Feature> features() const override { return features_; }
  CallCost cost() const override { return {}; }
  void see(const SlowReading& reading) override {
    if (begin_) means_.see(reading);
  }

  Status begin(TimePoint now) override {
    if (!availability_.available)
      return fail(ErrorCode::not_supported, said(availability_.why_not), availability_.hint);
    if (begin_) return fail(ErrorCode::busy, said("a window is open already"));
    begin_ = now;
    means_.begin(now);
    return {};
  }

  Result<FeatureVector> end(TimePoint now) override {
    if (!begin_) return fail(ErrorCode::conflict, said("no window is open"));
    FeatureVector out;
    out.begin = *begin_;
    out.end = now;
    begin_.reset();
    means_.fill(out);
    if (!out[Feature::sm_utilisation])
      return fail(ErrorCode::unavailable,
                  said(cat("no reading tells of the window of ", out.end - out.begin,
                           " alone: a utilisation is a mean over up to a second before it")));
    return out;
  }

 private:
  [[nodiscard]] std::string said(std::string_view what) const {
    return cat("utilisation of ", gpu_.identity().id.uuid, " (", gpu_.identity().name, "): ", what);
  }

  device::Gpu& gpu_;
  Capability availability_;
  std::optional<Megahertz> highest_;
  SlowMeans means_;
  std::vector<Feature> features_;
  std::optional<TimePoint> begin_;
};

}  // namespace

ProviderKind kind() {
  return {kFacts, [](device::Gpu& gpu) -> std::unique_ptr<Provider> {
            return std::make_unique<UtilisationProvider>(gpu);
          }};
}

}  // namespace rubato::feature::utilisation
