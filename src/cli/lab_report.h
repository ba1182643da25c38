// What a campaign of the lab found, as a page and as rubato.lab/1.
#pragma once

#include <string>
#include <vector>

#include "cli/report/page.h"
#include "lab/campaign.h"
#include "lab/correction.h"
#include "lab/truth.h"
#include "report/value.h"

namespace rubato::cli {

/// Of a table, where its rows or their noise shape the result: at the table's own settings, and at every
/// step of the GPU.
struct LabCorrection {
  lab::Correction table;
  lab::Correction hardware;
};

struct LabReport {
  std::string table;  // a file's name; empty: a suite
  std::string suite;
  std::string train;  // a file's name; empty: nothing was learned beforehand
  lab::TruthOptions truth;
  lab::CampaignOptions options;
  std::vector<lab::Job> jobs;
  std::vector<lab::StrategyOutcome> outcomes;
  bool default_assumed = false;  // somewhere no row of the table says that it is the default
  std::optional<LabCorrection> correction;
  bool iteration_asked = false;  // of the suite's jobs too
};

[[nodiscard]] std::string_view name_of(lab::Resolution resolution);
[[nodiscard]] std::string_view name_of(lab::TruthKind truth);

/// `every_workload`: with the rows of each strategy.
[[nodiscard]] report::Object lab_json(const LabReport& lab, bool every_workload);
void say_lab(Page& page, const LabReport& lab, bool every_workload);

}  // namespace rubato::cli
