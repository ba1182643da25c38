#include "cli/ranks.h"

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/guarding.h"
#include "conduct/ownership.h"

namespace rubato::cli {

Ranks Ranks::of_this_process(bool nested) {
  const auto environment = environment_map();
  Ranks ranks;
  ranks.group_ = rank_group(environment);
  const auto outer = environment.find(conduct::kRunIdVariable);
  if (nested && outer != environment.end()) ranks.outer_run_id_ = outer->second;
  return ranks;
}

void Ranks::elect(std::vector<std::string> uuids, const std::string& run_id, std::int64_t ranks_here) {
  Claim claim;
  claim.run_id = run_id;
  claim.outer_run_id = outer_run_id_;
  if (group_) {
    claim.group = group_->key;
    claim.local_rank = group_->local_rank;
  }
  const auto folder = runtime_folder();
  // Who sees fewer GPUs than there are ranks on its node has its own.
  if (folder && group_ && group_->local_rank > 0 && static_cast<std::int64_t>(uuids.size()) >= ranks_here)
    wait_for_claim(*folder, uuids);
  auto taken = folder ? take_leadership(*folder, uuids, claim) : Result<Leadership>(fail(folder.error()));
  if (!taken) {
    if (may_follow())
      log::warning(Error{taken.error().code,
                         cat(taken.error().what, "; other ranks of this job may measure the same GPUs"),
                         taken.error().hint});
    leadership_.emplace(Leadership{std::move(uuids), {}, {}});
    return;
  }
  leadership_ = std::move(*taken);
}

bool Ranks::follows() const {
  return leadership_ && leadership_->leader && leadership_->uuids.empty();
}

std::string Ranks::in_words() const {
  const Claim& leader = *leadership_->leader;
  if (group_ && leader.group == group_->key)
    return cat("local rank ", group_->local_rank, " of ", group_->launcher, ": local rank ",
               leader.local_rank, " measures and sets for all of them (run ", leader.run_id, ")");
  return cat("this command runs under rubato already, which measures and sets its GPUs (run ", leader.run_id,
             ")");
}

}  // namespace rubato::cli
