// PM sampling of one GPU, from its start to its end: the hardware writes a record per interval into a buffer,
// which is emptied now and then. While it lives nobody else can sample this GPU's counters.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "feature/cupti/host.h"
#include "feature/cupti/metrics.h"

namespace rubato::feature::cupti {

/// Between two records. Users of an H100 report complete records every millisecond (CUPTI 13.3, 4 to 7 kB
/// each); one in 10 ms gave none on the H200 it was tried on (docs/evidence/2026-11-28-h200.md). No count
/// passes 32 bits: 64 resident warps in each of 2e9 cycles a second are 1.3e8 in this time.
inline constexpr Seconds kSampleInterval{0.001};
/// Between two looks. A hardware buffer or an image that is full loses what comes: there is room for four
/// times as long, with records of up to 32 kB.
inline constexpr Seconds kDrainEvery{0.25};
inline constexpr std::size_t kBufferBytes = std::size_t{32} << 20;

/// What CUPTI gave, for whoever asks why nothing came of it.
struct Fetched {
  std::uint64_t calls = 0;
  std::uint64_t records = 0;
  std::uint64_t without_length = 0;  // of them: they cover no time and tell nothing
};

class Sampler {
 public:
  /// `api` and `plan` must outlive it. Errors: busy where somebody else samples, no_permission, what CUPTI
  /// says.
  [[nodiscard]] static Result<std::unique_ptr<Sampler>> start(Api& api, const Plan& plan, std::size_t device);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  /// What came since the last call, into `means`. True where a buffer was full and later records are lost.
  [[nodiscard]] Result<bool> drain(Means& means, Fetched& fetched);
  /// No more records; those that are there can still be drained.
  [[nodiscard]] Status stop();

 private:
  Sampler(Api& api, const Plan& plan, Host host, void* sampler)
      : api_(api),
        plan_(plan),
        host_(std::move(host)),
        sampler_(sampler),
        metrics_(metrics_of(plan.counted)) {}
  [[nodiscard]] Status configure();
  [[nodiscard]] Status read_samples(Means& means, Fetched& fetched);

  Api& api_;
  const Plan& plan_;
  Host host_;
  void* sampler_;
  bool running_ = false;
  std::vector<const char*> metrics_;
  std::vector<std::uint8_t> data_;  // decoded records
  std::vector<double> values_;
};

}  // namespace rubato::feature::cupti
