// What the job's GPUs, and meters beside them, have drawn so far, for the job itself
// (include/rubato/energy_layout.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "conduct/energy_now.h"

namespace rubato::conduct {

class EnergyBoard {
 public:
  /// Makes FOLDER/energy.board for at most `most` records, of which GPUs come first.
  [[nodiscard]] static Result<EnergyBoard> create(const std::filesystem::path& folder, std::size_t most,
                                                  double clock_rate);
  /// A reader sees the whole of this or the whole of the one before. Failures are not told: nobody depends on
  /// it.
  void publish(std::int64_t monotonic_ns, std::span<const GpuNow> gpus,
               std::span<const ChannelNow> channels = {});

 private:
  EnergyBoard(ScopedFd file, std::size_t most, double clock_rate)
      : file_(std::move(file)), most_(most), clock_rate_(clock_rate) {}
  ScopedFd file_;
  std::size_t most_;
  double clock_rate_;
  std::uint64_t sequence_ = 0;
};

}  // namespace rubato::conduct
