#include "feature/dcgm/dcgm.h"

#include <array>

#include "base/text.h"

namespace rubato::feature::dcgm {
namespace {

constexpr ProviderFacts kFacts = {
    .name = "dcgm",
    .says = "what DCGM's engine collects already: its profiling fields, each a mean over its update period",
    .rights = "none of its own; whoever has DCGM collect needs root",
    .costs =
        "a question to the engine every second while a window is open; what collecting costs is spent "
        "already",
    .disturbs =
        "nobody: it adds no watch (what others have DCGM collect before Hopper keeps Nsight and CUPTI out)"};

struct Field {
  std::uint16_t id;
  Feature feature;
};
// dcgm_fields.h; fractions are of cycles, transfers in bytes per second, seen from the GPU.
constexpr std::array kFields = {Field{1002, Feature::sm_active},
                                Field{1003, Feature::sm_occupancy},
                                Field{1004, Feature::tensor_active},
                                Field{1005, Feature::dram_active},
                                Field{1006, Feature::fp64_active},
                                Field{1007, Feature::fp32_active},
                                Field{1008, Feature::fp16_active},
                                Field{1009, Feature::pcie_tx_bytes_per_s},
                                Field{1010, Feature::pcie_rx_bytes_per_s},
                                Field{1011, Feature::nvlink_tx_bytes_per_s},
                                Field{1012, Feature::nvlink_rx_bytes_per_s},
                                Field{1016, Feature::integer_active}};
constexpr std::array kFieldIds = [] {
  std::array<std::uint16_t, kFields.size()> ids{};
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = kFields[i].id;
  return ids;
}();
constexpr const char* kCollect =
    "'dcgmi dmon -e 1002,1003,1004,1005,1006,1007,1008,1009,1010 -d 1000' beside the job, as root, has it "
    "collect; not on an idle A10 or A40, which can hang of it";

constexpr Seconds kAskEvery{1};

/// One field over a window: the mean of the updates that lie in it whole.
class FieldMean {
 public:
  void begin(const Latest& latest) { *this = FieldMean(latest.at_us); }
  /// An update tells of the time since the one before, so the first to come reaches back before the window.
  /// Where updates were missed the last stands for them.
  void see(const Latest& latest) {
    if (!latest.value || latest.at_us <= at_us_) return;
    if (updates_++ > 0) {
      const auto span = static_cast<double>(latest.at_us - at_us_);
      sum_ += *latest.value * span;
      weight_ += span;
    }
    at_us_ = latest.at_us;
  }
  [[nodiscard]] std::optional<double> mean() const {
    if (weight_ <= 0) return std::nullopt;
    return sum_ / weight_;
  }

  FieldMean() = default;

 private:
  explicit FieldMean(std::int64_t at_us) : at_us_(at_us) {}
  std::int64_t at_us_ = 0;
  unsigned updates_ = 0;
  double sum_ = 0;
  double weight_ = 0;
};

class DcgmProvider final : public Provider {
 public:
  DcgmProvider(device::Gpu& gpu, const Places& places) : gpu_(gpu) {
    if (const Status ready = prepare(places); ready)
      availability_ = Capability::yes();
    else
      availability_ = Capability::no(ready.error().what, ready.error().hint);
  }

  const ProviderFacts& facts() const override { return kFacts; }
  const Capability& availability() const override { return availability_; }
  std::span<const Feature> features() const override { return features_; }
  CallCost cost() const override { return engine_ != nullptr ? engine_->cost() : CallCost{}; }

  Status begin(TimePoint now) override {
    if (!availability_.available)
      return fail(ErrorCode::not_supported, said(availability_.why_not), availability_.hint);
    if (begin_) return fail(ErrorCode::busy, said("a window is open already"));
    const auto latest = engine_->latest(id_, kFieldIds);
    if (!latest) return fail(said(latest.error()));
    for (std::size_t i = 0; i < means_.size(); ++i) means_[i].begin((*latest)[i]);
    begin_ = now;
    due_ = now + kAskEvery;
    return {};
  }

  std::optional<TimePoint> next_due() const override {
    if (!begin_) return std::nullopt;
    return due_;
  }

  Status poll(TimePoint now) override {
    if (!begin_ || now < due_) return {};
    due_ = now + kAskEvery;
    return ask();
  }

  Result<FeatureVector> end(TimePoint now) override {
    if (!begin_) return fail(ErrorCode::conflict, said("no window is open"));
    FeatureVector out;
    out.begin = *begin_;
    out.end = now;
    const Status last = ask();
    begin_.reset();
    bool any = false;
    for (std::size_t i = 0; i < means_.size(); ++i) {
      out[kFields[i].feature] = means_[i].mean();
      any = any || out[kFields[i].feature].has_value();
    }
    if (any) return out;
    if (!last) return fail(last.error());
    return fail(ErrorCode::unavailable,
                said(cat("no whole update period of DCGM lay in the window of ", out.end - out.begin)),
                "a longer window, or DCGM collecting more often: 'dcgmi dmon -d 1000'");
  }

 private:
  Status prepare(const Places& places) {
    if (gpu_.kind() != Kind::measured)
      return fail(ErrorCode::not_supported, "this GPU is no hardware, which is what DCGM watches");
    auto engine = Engine::connect(places);
    if (!engine) return fail(engine.error());
    auto id = (*engine)->gpu(gpu_.identity().id.uuid);
    if (!id) return fail(id.error());
    auto latest = (*engine)->latest(*id, kFieldIds);
    if (!latest) return fail(latest.error());
    bool watched = false;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      watched = watched || (*latest)[i].watched;
      if ((*latest)[i].value) features_.push_back(kFields[i].feature);
    }
    if (features_.empty()) {
      if (watched)
        return fail(ErrorCode::unavailable,
                    "DCGM is asked for profiling fields, but has no values of this GPU",
                    "'dcgmi profile --resume' where collecting is paused; GPUs before Volta have none");
      return fail(ErrorCode::unavailable, "DCGM runs but collects no profiling fields", kCollect);
    }
    id_ = *id;
    engine_ = std::move(*engine);
    return {};
  }

  Status ask() {
    const auto latest = engine_->latest(id_, kFieldIds);
    if (!latest) return fail(said(latest.error()));
    for (std::size_t i = 0; i < means_.size(); ++i) means_[i].see((*latest)[i]);
    return {};
  }

  [[nodiscard]] std::string said(std::string_view what) const {
    return cat("DCGM's counters of ", gpu_.identity().id.uuid, " (", gpu_.identity().name, "): ", what);
  }
  [[nodiscard]] Error said(Error error) const {
    error.what = said(error.what);
    return error;
  }

  device::Gpu& gpu_;
  Capability availability_;
  std::unique_ptr<Engine> engine_;
  std::uint32_t id_ = 0;
  std::vector<Feature> features_;
  std::array<FieldMean, kFields.size()> means_{};
  std::optional<TimePoint> begin_;
  TimePoint due_;
};

}  // namespace

std::unique_ptr<Provider> open(device::Gpu& gpu, const Places& places) {
  return std::make_unique<DcgmProvider>(gpu, places);
}

ProviderKind kind() {
  return {kFacts, [](device::Gpu& gpu) { return open(gpu, Places::found()); }};
}

}  // namespace rubato::feature::dcgm
