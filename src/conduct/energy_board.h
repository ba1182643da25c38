// What the job's GPUs have drawn so far, for the job itself (include/rubato/energy_layout.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"
#include "core/kind.h"
#include "core/window.h"

namespace rubato::conduct {

/// One GPU now.
struct GpuNow {
  std::string uuid;
  std::optional<EnergyWindow> energy;  // since the run began
  std::optional<Watts> power;
  Kind kind = Kind::measured;
};

class EnergyBoard {
 public:
  /// Makes FOLDER/energy.board for at most `most_gpus`.
  [[nodiscard]] static Result<EnergyBoard> create(const std::filesystem::path& folder, std::size_t most_gpus,
                                                  double clock_rate);
  /// A reader sees the whole of this or the whole of the one before. Failures are not told: nobody depends on
  /// it.
  void publish(std::int64_t monotonic_ns, std::span<const GpuNow> gpus);

 private:
  EnergyBoard(ScopedFd file, std::size_t most_gpus, double clock_rate)
      : file_(std::move(file)), most_gpus_(most_gpus), clock_rate_(clock_rate) {}
  ScopedFd file_;
  std::size_t most_gpus_;
  double clock_rate_;
  std::uint64_t sequence_ = 0;
  std::vector<char> bytes_;
};

}  // namespace rubato::conduct
