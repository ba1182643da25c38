// What a new world of replayed GPUs begins with, and what an old one was made of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/replay/state.h"
#include "device/replay/world.h"

namespace rubato::device::replay {

struct NewWorld {
  std::string header;  // ReplayHeader, then the tables as text
  std::vector<GpuState> gpus;
};

/// invalid_argument where a source cannot be replayed or the found limit does not fit it.
[[nodiscard]] Result<NewWorld> new_world(std::span<const ReplaySource> sources, const ReplayOptions& options,
                                         TimePoint start);
/// corrupt: the header contradicts itself.
[[nodiscard]] Result<std::vector<ReplaySource>> sources_of(std::span<const std::byte> header);
/// The same sources give the same text.
[[nodiscard]] Result<std::string> source_text(const ReplaySource& source);

[[nodiscard]] std::string boot_id();
/// 32 hexadecimal digits that are the same in every process and build.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace rubato::device::replay
