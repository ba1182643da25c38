// Cuts one GPU's run into blocks: stretches at one setting, with whole iterations where a progress source
// sees any. A long stretch becomes many blocks, so that their scatter tells how sure the means are
// (analyse/).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "core/block_role.h"
#include "core/iteration.h"
#include "core/setting.h"
#include "core/window.h"

namespace rubato::conduct {

struct FinishedBlock {
  BlockRole role = BlockRole::hold;
  Setting setting;
  TimePoint begin;
  TimePoint end;
  std::int64_t iterations = 0;
};

class BlockKeeper {
 public:
  using Sink = std::function<void(const FinishedBlock&)>;

  /// Energy can be told for stretches of at least 50 sensor updates (docs/design.md, "What a window can
  /// say").
  BlockKeeper(TimePoint run_begin, Seconds sensor_period, Sink sink);

  /// The sensor turned out to be another one.
  void set_sensor_period(Seconds sensor_period);

  /// From `now` on the GPU is at `setting` for the sake of `role`. The same again changes nothing.
  void enter(BlockRole role, const Setting& setting, TimePoint now);
  void iteration(const Iteration& iteration);
  /// The program did something else until `resumed`: that stretch belongs to no block.
  void interruption(TimePoint resumed);
  /// The GPU was not at the open block's setting all the time: that block is dropped, another begins.
  void spoil(TimePoint now);
  /// Cuts where enough has been seen and no iteration will.
  void tick(TimePoint now);
  void finish(TimePoint now);
  /// Where the open block began.
  [[nodiscard]] std::optional<TimePoint> begin() const {
    return open_ ? std::optional(block_.begin) : std::nullopt;
  }

 private:
  [[nodiscard]] bool long_enough(TimePoint end) const;
  /// Iterations were seen, and so many of them should have ended since `t` that no more are waited for.
  [[nodiscard]] bool given_up(TimePoint t, TimePoint now) const;
  void cut(TimePoint end);

  TimePoint run_begin_;
  Seconds shortest_;
  Sink sink_;
  bool open_ = false;
  bool aligned_ = false;  // begin_ lies on an iteration's edge
  FinishedBlock block_;
  std::optional<std::int64_t> last_index_;
  std::optional<Seconds> iteration_time_;  // absent: none are to be expected
  std::optional<TimePoint> last_edge_;     // end of the latest whole iteration inside the block
};

}  // namespace rubato::conduct
