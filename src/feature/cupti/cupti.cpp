#include "feature/cupti/cupti.h"

#include "base/text.h"
#include "feature/cupti/host.h"
#include "feature/cupti/rights.h"
#include "feature/cupti/sampler.h"

namespace rubato::feature::cupti {
namespace {

constexpr ProviderFacts kFacts = {
    .name = "cupti",
    .says = "CUPTI's PM sampling: the whole GPU's counters every 10 ms, as many as one pass holds",
    .rights =
        "CAP_SYS_ADMIN, or the nvidia module loaded with NVreg_RestrictProfilingToAdminUsers=0; CUDA 12.8 "
        "or newer",
    .costs =
        "starts CUDA in rubato's process, and 32 MiB while a window is open; no kernel is replayed or "
        "held up; what it costs the job is not yet measured",
    .disturbs =
        "other profilers (Nsight, DCGM before Hopper, the job's own counters) while a window is open: "
        "one at a time can sample a GPU"};

class CuptiProvider final : public Provider {
 public:
  CuptiProvider(device::Gpu& gpu, const Places& places) : gpu_(gpu) {
    const RealClock wall;
    const TimePoint begin = wall.now();
    const Status ready = prepare(places);
    opening_ = CallCost{1, wall.now() - begin};
    if (api_) opening_.inside -= api_->cost().inside;  // counted by itself
    if (ready) {
      availability_ = Capability::yes();
    } else {
      const Error& error = ready.error();
      availability_ = error.code == ErrorCode::no_permission ? Capability::forbidden(error.what, error.hint)
                                                             : Capability::no(error.what, error.hint);
    }
  }

  const ProviderFacts& facts() const override { return kFacts; }
  const Capability& availability() const override { return availability_; }
  std::span<const Feature> features() const override { return features_; }
  CallCost cost() const override {
    CallCost cost = opening_;
    if (api_) {
      cost.calls += api_->cost().calls;
      cost.inside += api_->cost().inside;
    }
    return cost;
  }

  Status begin(TimePoint now) override {
    if (!availability_.available)
      return fail(ErrorCode::not_supported, said(availability_.why_not), availability_.hint);
    if (begin_) return fail(ErrorCode::busy, said("a window is open already"));
    auto sampler = Sampler::start(*api_, plan_, device_.index);
    if (!sampler) return fail(said(std::move(sampler.error())));
    sampler_ = std::move(*sampler);
    means_ = Means(plan_.counted);
    fetched_ = {};
    begin_ = now;
    due_ = now + kDrainEvery;
    cut_short_ = false;
    return {};
  }

  std::optional<TimePoint> next_due() const override {
    if (sampler_ == nullptr) return std::nullopt;
    return due_;
  }

  Status poll(TimePoint now) override {
    if (sampler_ == nullptr || now < due_) return {};
    due_ = now + kDrainEvery;
    return drain();
  }

  Result<FeatureVector> end(TimePoint now) override {
    if (!begin_) return fail(ErrorCode::conflict, said("no window is open"));
    FeatureVector out;
    out.begin = *begin_;
    out.end = now;
    begin_.reset();
    Status last;
    if (sampler_ != nullptr) {
      if (auto stopped = sampler_->stop(); !stopped)
        last = cut_short(std::move(stopped.error()));
      else
        last = drain();
      sampler_.reset();
    }
    if (means_.seconds() <= 0) {
      if (!last) return fail(last.error());
      return fail(ErrorCode::unavailable,
                  said(cat("no sample came in the window of ", out.end - out.begin, ": CUPTI gave ",
                           fetched_.records, " records in ", fetched_.calls, " calls, ",
                           fetched_.without_length, " of them without a length")),
                  cat("a window of several times ", kSampleInterval, " should hold some"));
    }
    if (const TimePoint told = out.begin + Seconds(means_.seconds()); cut_short_ && told < out.end)
      out.end = told;
    means_.fill(out);
    return out;
  }

 private:
  Status prepare(const Places& places) {
    if (gpu_.kind() != Kind::measured)
      return fail(ErrorCode::not_supported, "this GPU is no hardware, which is what CUPTI counts");
    if (auto allowed = counting_right(places.root); !allowed) return allowed;
    auto device = find_cuda_device(places, gpu_.identity().pci_bus_id);
    if (!device) return fail(device.error());
    device_ = *device;
    auto api = open_cupti(places, device_.cuda_major);
    if (!api) return fail(api.error());
    api_ = std::make_unique<Api>(std::move(*api));
    abi::ProfilerInitialize initialize;
    if (auto done = (*api_)(&abi::Calls::initialize, "cuptiProfilerInitialize", initialize); !done)
      return done;
    abi::ChipName chip;
    chip.device = device_.index;
    if (auto asked = (*api_)(&abi::Calls::chip_name, "cuptiDeviceGetChipName", chip); !asked) return asked;
    auto available = availability_image();
    if (!available) return fail(available.error());
    auto plan = make_plan(*api_, chip.name, std::move(*available));
    if (!plan) return fail(plan.error());
    plan_ = std::move(*plan);
    features_ = features_of(plan_.counted);
    return {};
  }

  /// The first call that the driver refuses to who may not count.
  Result<std::vector<std::uint8_t>> availability_image() {
    constexpr const char* kName = "cuptiPmSamplingGetCounterAvailability";
    abi::Availability params;
    params.device = device_.index;
    if (auto asked = (*api_)(&abi::Calls::availability, kName, params); !asked) return fail(asked.error());
    std::vector<std::uint8_t> image(params.bytes);
    params.image = image.data();
    if (auto asked = (*api_)(&abi::Calls::availability, kName, params); !asked) return fail(asked.error());
    return image;
  }

  Status drain() {
    auto full = sampler_->drain(means_, fetched_);
    if (!full) return cut_short(std::move(full.error()));
    if (*full) {
      cut_short_ = true;
      sampler_.reset();  // what the GPU adds is lost anyway
    }
    return {};
  }

  Status cut_short(Error error) {
    cut_short_ = true;
    sampler_.reset();
    return fail(said(std::move(error)));
  }

  [[nodiscard]] std::string said(std::string_view what) const {
    return cat("CUPTI counters of ", gpu_.identity().id.uuid, " (", gpu_.identity().name, "): ", what);
  }
  [[nodiscard]] Error said(Error error) const {
    error.what = said(error.what);
    return error;
  }

  device::Gpu& gpu_;
  Capability availability_;
  CallCost opening_{};
  CudaDevice device_;
  std::unique_ptr<Api> api_;  // its address is kept by the sampler
  Plan plan_;
  std::vector<Feature> features_;
  std::unique_ptr<Sampler> sampler_;
  Means means_{{}};
  Fetched fetched_;  // in this window
  std::optional<TimePoint> begin_;
  TimePoint due_;
  bool cut_short_ = false;  // the counts tell of the beginning of the window only
};

}  // namespace

std::unique_ptr<Provider> open(device::Gpu& gpu, const Places& places) {
  return std::make_unique<CuptiProvider>(gpu, places);
}

ProviderKind kind() {
  return {kFacts, [](device::Gpu& gpu) { return open(gpu, Places::found()); }};
}

}  // namespace rubato::feature::cupti
