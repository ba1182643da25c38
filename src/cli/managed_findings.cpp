#include "cli/managed_findings.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/gpus.h"
#include "cli/managed.h"

namespace rubato::cli {
namespace {

constexpr std::string_view kRules = "an administrator changes the rules: docs/daemon.md";

/// GPUs of one fate are told together.
void look_at_gpus(std::vector<Finding>& findings, const wire::Greeted& manager) {
  std::map<std::string, int> refused;
  int allowed = 0;
  for (const auto& gpu : manager.status.gpus) {
    if (gpu.allowed)
      ++allowed;
    else
      ++refused[gpu.why_not];
  }
  if (allowed > 0)
    findings.push_back({State::fine,
                        "rubatod",
                        cat("its rules let you set ", allowed, " of the ", manager.status.gpus.size(),
                            manager.status.gpus.size() == 1 ? " GPU" : " GPUs", " it manages"),
                        {}});
  for (const auto& [why, count] : refused)
    findings.push_back({State::note, "rubatod",
                        cat("it would refuse ", count, count == 1 ? " GPU: " : " GPUs: ", why),
                        std::string(kRules)});
}

std::string listed(const std::vector<std::string>& uuids) {
  std::string out;
  for (const auto& uuid : uuids) out += cat(out.empty() ? "" : ",", uuid);
  return out;
}

/// True where it manages all of them. A run over managed and other GPUs has nobody who could set them all.
bool manages_all(std::vector<Finding>& findings, const wire::StatusReply& status,
                 const std::vector<std::string>& uuids) {
  std::vector<std::string> its;
  std::vector<std::string> others;
  for (const auto& uuid : uuids) (managed_among(status, {uuid}) == 1 ? its : others).push_back(uuid);
  if (!its.empty() && !others.empty())
    findings.push_back({State::note, "rubatod",
                        cat("it manages ", its.size(), " of the ", uuids.size(),
                            " GPUs here, and a run over managed and other GPUs is only measured"),
                        cat("choose them apart: --gpu ", listed(its), " or --gpu ", listed(others))});
  return others.empty();
}

}  // namespace

bool look_at_rubatod(std::vector<Finding>& findings, std::string_view gpu_list) {
  const auto greeted = greet_manager(gpu_list);
  if (!greeted) {
    findings.push_back({State::missing, "rubatod", greeted.error().what, greeted.error().hint});
    return false;
  }
  if (!*greeted) return false;
  const wire::Greeted& manager = **greeted;
  const bool observes = manager.welcome.mode == wire::kObserve;
  findings.push_back(
      {observes ? State::note : State::fine, "rubatod",
       cat(manager.welcome.server, " manages ", manager.status.gpus.size(),
           manager.status.gpus.size() == 1 ? " GPU" : " GPUs", " here",
           observes ? " and only observes: it sets nothing and writes down what it would set" : ""),
       observes ? "mode = \"manage\" in its configuration, by an administrator" : ""});
  look_at_gpus(findings, manager);
  if (!manager.status.last_refusal.empty())
    findings.push_back({State::note, "rubatod",
                        cat("the last thing it refused you: ", manager.status.last_refusal),
                        std::string(kRules)});
  const bool all = manages_all(findings, manager.status, uuids_asked_by_child(gpu_list));
  return !observes && all &&
         std::any_of(manager.status.gpus.begin(), manager.status.gpus.end(),
                     [](const wire::ManagedGpu& gpu) { return gpu.allowed; });
}

}  // namespace rubato::cli
