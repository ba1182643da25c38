// `rubato doctor`: what is missing on this machine, and the exact command that mends it, or that none does.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/invocation.h"
#include "cli/stale.h"
#include "guard/stale.h"
#include "guard/survival.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

enum class State { fine, note, missing };

struct Finding {
  State state;
  std::string what;
  std::string mend;  // empty: nothing to do, or nothing helps and `what` says so
};

std::string_view sign(State state) {
  switch (state) {
    case State::fine:
      return "ok     ";
    case State::note:
      return "note   ";
    case State::missing:
      return "missing";
  }
  return "";
}

void look_at(std::vector<Finding>& findings, const std::string& title, std::string_view what,
             const Capability& can) {
  if (can.available)
    findings.push_back({State::fine, cat(title, ": can ", what), {}});
  else
    findings.push_back({State::missing, cat(title, ": cannot ", what, ": ", can.why_not), can.hint});
}

void look_at_gpus(std::vector<Finding>& findings, const Invocation& invocation) {
  auto open = open_gpus(invocation.gpu);
  if (!open) {
    findings.push_back({State::missing, open.error().what, open.error().hint});
    return;
  }
  const auto& backend = *open->selection.backend;
  findings.push_back({State::fine,
                      cat("driver ", backend.driver_version(), " through ", backend.name(), ", ",
                          open->gpus.size(), " GPU(s)", backend.simulated() ? ", simulated" : ""),
                      {}});
  for (const auto& gpu : open->gpus) {
    const auto& identity = gpu->identity();
    const std::string title = cat("GPU ", identity.index, " ", identity.name);
    const Capabilities& can = gpu->capabilities();
    look_at(findings, title, "read power", can.read_power);
    look_at(findings, title, "read its energy counter", can.read_energy_counter);
    look_at(findings, title, "tell which processes compute on it", can.read_processes);
    look_at(findings, title, "set the power limit", can.set_power_limit);
    look_at(findings, title, "lock SM clocks", can.set_sm_clock);
    look_at(findings, title, "lock memory clocks", can.set_memory_clock);
    if (!gpu->sensor().update_period)
      findings.push_back(
          {State::note, cat(title, ": its sensor's update period is not known; read every 0.1 s"), {}});
  }
}

void look_at_survival(std::vector<Finding>& findings) {
  const auto survival = guard::survival(FsRoot{}, environment_map());
  if (survival.possible())
    findings.push_back({State::fine, cat("a setting would be put back after a kill: ", survival.why), {}});
  else
    findings.push_back(
        {State::missing, cat("nothing outlives a killed job here: ", survival.why), survival.hint});
}

void look_at_journals(std::vector<Finding>& findings) {
  for (const auto& folder : journal_folders()) {
    const auto left = guard::journals_in(folder);
    if (!left) {
      findings.push_back({State::note, left.error().what, left.error().hint});
      continue;
    }
    for (const auto& gpu : *left) {
      findings.push_back(
          {State::note,
           cat(gpu.uuid, " has a journal in ", folder.string(),
               ": a run holds it now, or a dead one left its setting behind"),
           folder.string().starts_with("/run") && geteuid() != 0 ? "sudo rubato restore" : "rubato restore"});
    }
  }
}

void look_at_records(std::vector<Finding>& findings) {
  const auto folder = record::default_directory();
  if (!folder) {
    findings.push_back({State::missing, folder.error().what, folder.error().hint});
    return;
  }
  auto there = *folder;
  while (!there.empty() && access(there.c_str(), F_OK) != 0) there = there.parent_path();
  if (access(there.c_str(), W_OK) != 0) {
    findings.push_back({State::missing, cat("run records cannot be written to ", folder->string()),
                        "export XDG_STATE_HOME=/a/folder/of/yours"});
    return;
  }
  constexpr double kLittle = 100e6;  // bytes; a day of one GPU is some tens of megabytes
  struct statvfs space {};
  const bool little = statvfs(there.c_str(), &space) == 0 &&
                      static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) < kLittle;
  findings.push_back(
      {little ? State::note : State::fine,
       cat("run records go to ", folder->string(), little ? ", where less than 100 MB is free" : ""),
       {}});
}

void doctor(Invocation& invocation) {
  std::vector<Finding> findings;
  look_at_gpus(findings, invocation);
  // Of a simulated GPU its scenario says so, and everything is a file of the user's own.
  if (!names_simulated(invocation.gpu)) look_at_survival(findings);
  look_at_journals(findings);
  look_at_records(findings);
  int missing = 0;
  for (const auto& finding : findings) {
    fmt::print("{}  {}\n", sign(finding.state), finding.what);
    if (!finding.mend.empty()) fmt::print("         -> {}\n", finding.mend);
    missing += finding.state == State::missing ? 1 : 0;
  }
  fmt::print(
      "\nWhat no version of rubato can put back: a setting whose rubato and guard were both killed stays "
      "until the next\n"
      "rubato starts here; a clock lock that was in force before (the driver cannot be asked for it) unless\n"
      "--found-sm-clock names it. A reboot or a driver reload clears every setting by itself.\n");
  invocation.status = missing == 0 ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("doctor", "what is missing on this machine, and what mends it");
  add_common(*command, invocation);
  command->callback([&invocation] { doctor(invocation); });
}

}  // namespace rubato::cli
