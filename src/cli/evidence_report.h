// What `rubato evidence` says before it begins and when it is done.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/evidence_facts.h"
#include "experiment/evidence_plan.h"
#include "report/render.h"

namespace rubato::cli {

[[nodiscard]] std::string evidence_plan_text(const experiment::EvidencePlan& plan, const EvidenceFacts& facts,
                                             const std::string& file, const report::TextOptions& options);
[[nodiscard]] nlohmann::ordered_json evidence_plan_json(const experiment::EvidencePlan& plan,
                                                        const EvidenceFacts& facts);
/// Of the document as it was written to `file`.
[[nodiscard]] std::string evidence_text(const nlohmann::ordered_json& document, const std::string& file,
                                        const report::TextOptions& options);

}  // namespace rubato::cli
