// Whether this process measures and sets for its job, or another rank of the same job (or the rubato it runs
// under) already does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/leadership.h"
#include "cli/rank_group.h"

namespace rubato::cli {

class Ranks {
 public:
  /// `nested`: a rubato further out counts as well, not only other ranks.
  [[nodiscard]] static Ranks of_this_process(bool nested);

  /// Another rubato may already have this job's GPUs: worth asking before a guard is started.
  [[nodiscard]] bool may_follow() const { return group_.has_value() || !outer_run_id_.empty(); }
  /// Once. Where the locks cannot be had, this process leads everything.
  /// `ranks_here`: more than one where local rank 0 is to lead wherever it wants these GPUs too; it is
  /// waited for a moment.
  void elect(std::vector<std::string> uuids, const std::string& run_id, std::int64_t ranks_here = 1);
  [[nodiscard]] bool elected() const { return leadership_.has_value(); }

  /// Every GPU of ours is measured by somebody else.
  [[nodiscard]] bool follows() const;
  [[nodiscard]] const Leadership& leadership() const { return *leadership_; }
  [[nodiscard]] const std::optional<RankGroup>& group() const { return group_; }
  /// "local rank 3 of torchrun: local rank 0 measures and sets (run 2026…)", of a follower.
  [[nodiscard]] std::string in_words() const;

 private:
  std::optional<RankGroup> group_;
  std::string outer_run_id_;
  std::optional<Leadership> leadership_;
};

}  // namespace rubato::cli
