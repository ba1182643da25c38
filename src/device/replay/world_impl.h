// What the members of ReplayWorld share between its source files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/following_clock.h"
#include "base/shared_file.h"
#include "base/text.h"
#include "device/replay/progress.h"
#include "device/replay/world.h"

namespace rubato::device::replay {

struct ReplayWorld::Impl {
  std::unique_ptr<SharedFile> file;
  std::vector<Board> boards;
  std::vector<GpuIdentity> identities;
  std::shared_ptr<FollowingClock> following;  // private memory only
  std::shared_ptr<const Clock> clock;

  [[nodiscard]] bool in_file() const { return !file->path().empty(); }
  [[nodiscard]] const ReplayHeader& header() const {
    return *reinterpret_cast<const ReplayHeader*>(file->header().data());
  }
  /// State at `now`, then `change` on it.
  template <class Change>
  Status at(unsigned gpu, TimePoint now, Change&& change) {
    if (gpu >= boards.size())
      return fail(ErrorCode::not_found,
                  cat("this world has ", boards.size(), " replayed GPUs, and none of index ", gpu));
    if (following) following->follow(now);
    return file->update(gpu, [&](std::byte* cell) {
      auto& state = *reinterpret_cast<GpuState*>(cell);
      advance(state, boards[gpu], now);
      change(state);
    });
  }
};

}  // namespace rubato::device::replay
