// The report of a job on several nodes: every agent's part, every GPU counted once. docs/formats.md,
// rubato.job/1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/bootstrap.h"
#include "agent/leader.h"
#include "agent/message.h"
#include "cli/records.h"
#include "report/value.h"

namespace rubato::cli {

/// One agent's part, from its own record.
[[nodiscard]] agent::Totals totals_of(const ReadRun& read, const agent::Join& own);

struct JobReport {
  std::string launcher;
  std::int64_t ranks = 1;
  std::size_t agents = 0;  // that were ever here, the leader among them
  bool all_ranks = true;   // they covered every rank of the job
  agent::Leader::Counts counts;
  std::vector<agent::Totals> parts;  // of those that told
};

[[nodiscard]] report::Value job_report_json(const JobReport& job);
/// Beside the leader's record: jobs/RUN_ID.json in the state folder. What cannot be written is said.
void keep_job_report(const JobReport& job, const std::filesystem::path& record);
/// A few lines.
[[nodiscard]] std::string job_report_text(const JobReport& job);

}  // namespace rubato::cli
