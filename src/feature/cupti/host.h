// CUPTI's host side, which needs no GPU: what a chip counts in one pass, and what a sample's raw counts mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "feature/cupti/api.h"
#include "feature/cupti/metrics.h"

namespace rubato::feature::cupti {

/// What one chip is asked to count.
struct Plan {
  std::string chip;                        // "GH100"
  std::vector<std::uint8_t> availability;  // as this machine's GPU says; may be empty
  std::vector<Counted> counted;
  std::vector<std::uint8_t> config;  // for the sampler
};

/// Every chip that this CUPTI knows.
[[nodiscard]] Result<std::vector<std::string>> supported_chips(Api& api);

/// Takes what is wanted, in order, as long as one pass is enough. Errors: not_supported where the chip has no
/// PM sampling or nothing fits.
[[nodiscard]] Result<Plan> make_plan(Api& api, std::string chip, std::vector<std::uint8_t> availability);

/// One chip's host object, with metrics added.
class Host {
 public:
  [[nodiscard]] static Result<Host> open(Api& api, const std::string& chip,
                                         std::span<const std::uint8_t> availability);
  Host(Host&& other) noexcept : api_(other.api_), host_(std::exchange(other.host_, nullptr)) {}
  Host& operator=(Host&&) = delete;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  [[nodiscard]] Status add(std::span<const char* const> metrics);
  [[nodiscard]] Result<std::vector<std::uint8_t>> config();
  [[nodiscard]] Result<std::size_t> passes(std::vector<std::uint8_t>& config);
  /// One value for each metric.
  [[nodiscard]] Status evaluate(std::span<const std::uint8_t> data, std::size_t sample,
                                std::vector<const char*>& metrics, std::vector<double>& values);

 private:
  Host(Api& api, void* host) : api_(&api), host_(host) {}
  Api* api_;
  void* host_;
};

}  // namespace rubato::feature::cupti
