// A connection to a DCGM host engine that somebody else runs. It only reads what was collected: it adds no
// watch, starts no engine and has none inside this process.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/sample.h"
#include "feature/dcgm/abi.h"

namespace rubato::feature::dcgm {

/// Where to look; as found() fills it, or as a test says.
struct Places {
  std::vector<std::string> libraries = {"libdcgm.so.4", "libdcgm.so.3"};
  std::string address = "127.0.0.1";  // with ":port" where it is not 5555; a path is a unix socket

  /// With $RUBATO_DCGM as the address, where there is one.
  [[nodiscard]] static Places found();
};

/// The last value that the engine collected of one field.
struct Latest {
  bool watched = false;  // somebody has the engine collect it
  std::int64_t at_us = 0;
  std::optional<double> value;
};

class Engine {
 public:
  /// Errors: unavailable where there is no library or no engine; not_supported where they do not fit.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> connect(const Places& places);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// The engine's number of a GPU. Errors: not_found.
  [[nodiscard]] Result<std::uint32_t> gpu(const std::string& uuid);
  /// One for each field, in that order.
  [[nodiscard]] Result<std::vector<Latest>> latest(std::uint32_t gpu, std::span<const std::uint16_t> fields);
  [[nodiscard]] CallCost cost() const { return cost_; }

 private:
  explicit Engine(abi::Calls calls) : calls_(calls) {}
  [[nodiscard]] int read(std::uint32_t gpu, std::span<const std::uint16_t> fields, std::uint32_t flags);

  abi::Calls calls_;
  abi::Handle handle_ = 0;
  bool connected_ = false;
  std::vector<abi::Value> values_;  // kept: each has 4 KiB
  CallCost cost_{};
};

}  // namespace rubato::feature::dcgm
