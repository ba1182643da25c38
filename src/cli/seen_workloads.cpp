#include "cli/seen_workloads.h"

#include "base/log.h"
#include "base/text.h"
#include "core/sweep_workloads.h"

namespace rubato::cli {

void warn_of_seen_workloads(const SweepTable& table, const std::string& table_file, const SweepTable& train,
                            const std::string& train_file) {
  const auto all = workloads_of(table);
  const std::size_t seen = workloads_seen(table, train);
  if (!all || seen == 0) return;
  log::warning(
      Error{ErrorCode::conflict,
            cat(seen == all->size() ? "all " : "", seen, seen == all->size() ? "" : cat(" of ", all->size()),
                " workloads of ", table_file, " are in ", train_file,
                " too: the model has seen them, and figures of it are better than on new ones"),
            "learn from a table of other workloads"});
}

}  // namespace rubato::cli
