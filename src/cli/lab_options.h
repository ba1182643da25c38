// What `rubato lab run` was asked, as typed and as understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/campaign.h"
#include "lab/truth.h"

namespace rubato::cli {

/// Exactly as typed.
struct LabText {
  std::string table;
  std::string suite;
  std::string train;
  std::vector<std::string> strategies;
  std::vector<std::string> knobs;
  std::string resolution = "hardware";
  std::string truth = "denoised";
  std::string noise = "1%";
  std::string noise_model = "iid";
  std::string max_slowdown = "5%";
  std::int64_t iterations = 4000;
  std::optional<double> iteration_s;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::optional<double> host_watts;
  std::optional<double> second_watts;
  unsigned threads = 0;  // 0: one per core
};

struct LabWanted {
  lab::TruthOptions truth;
  lab::CampaignOptions campaign;
};

/// invalid_argument where the text makes no sense by itself. No file is read.
[[nodiscard]] Result<LabWanted> parse_lab(const LabText& text);

}  // namespace rubato::cli
