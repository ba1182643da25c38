#include "cli/findings.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "cli/counters.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/hooks.h"
#include "cli/left_behind.h"
#include "cli/managed_findings.h"
#include "cli/meters.h"
#include "cli/rank_group.h"
#include "conduct/patience.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

struct Named {
  const char* words;
  Capability Capabilities::*member;
};

constexpr Named kReads[] = {{"power", &Capabilities::read_power},
                            {"its energy counter", &Capabilities::read_energy_counter},
                            {"which processes compute on it", &Capabilities::read_processes}};
constexpr Named kSets[] = {{"the power limit", &Capabilities::set_power_limit},
                           {"SM clocks", &Capabilities::set_sm_clock},
                           {"memory clocks", &Capabilities::set_memory_clock}};

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 == words.size() ? " and " : ", ", words[i]);
  return out;
}

/// "0-3, 6".
std::string ranges(const std::vector<unsigned>& indices) {
  std::string out;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    out += cat(out.empty() ? "" : ", ", indices[i], last > i ? cat("-", indices[last]) : "");
    i = last + 1;
  }
  return out;
}

/// Eight GPUs of one kind say the same eight times: told once, with all their numbers.
class GpuFindings {
 public:
  void add(const device::Gpu& gpu, Finding finding) {
    const auto same = [&](const Entry& e) {
      return e.name == gpu.identity().name && e.finding.what == finding.what &&
             e.finding.mend == finding.mend;
    };
    auto found = std::find_if(entries_.begin(), entries_.end(), same);
    if (found == entries_.end())
      found = entries_.insert(entries_.end(), {gpu.identity().name, {}, std::move(finding)});
    found->indices.push_back(gpu.identity().index);
  }
  void move_to(std::vector<Finding>& findings) {
    for (auto& [name, indices, finding] : entries_) {
      finding.what =
          cat(indices.size() == 1 ? "GPU " : "GPUs ", ranges(indices), " (", name, "): ", finding.what);
      findings.push_back(std::move(finding));
    }
  }

 private:
  struct Entry {
    std::string name;
    std::vector<unsigned> indices;
    Finding finding;
  };
  std::vector<Entry> entries_;
};

void look_at_reading(GpuFindings& findings, const device::Backend& backend, const device::Gpu& gpu) {
  const Capabilities& can = gpu.capabilities();
  std::vector<std::string> readable;
  for (const auto& [words, member] : kReads)
    if ((can.*member).available) readable.emplace_back(words);
  if (!readable.empty()) findings.add(gpu, {State::fine, "gpu", cat("tells ", listed(readable)), {}});
  for (const auto& [words, member] : kReads) {
    const Capability& reading = can.*member;
    if (!reading.available)
      findings.add(
          gpu, {State::missing, "gpu", cat("does not tell ", words, ": ", reading.why_not), reading.hint});
  }
  if (!known_sensor(backend, gpu).update_period)
    findings.add(gpu,
                 {State::note,
                  "gpu",
                  "its sensor's update period is not known; it is read every 0.1 s until a run has found it",
                  {}});
}

void look_at_setting(GpuFindings& findings, const device::Gpu& gpu, bool by_driver, const Place& place) {
  const Capabilities& can = gpu.capabilities();
  std::vector<std::string> settable;
  std::vector<std::string> forbidden;
  std::string why;
  for (const auto& [words, member] : kSets) {
    const Capability& setting = can.*member;
    if (setting.available) {
      settable.emplace_back(words);
    } else if (setting.needs_right) {
      forbidden.emplace_back(words);
      why = setting.why_not;
    }
  }
  if (!settable.empty())
    findings.add(gpu, {State::fine, "rights", cat("this process may set ", listed(settable)), {}});
  if (!forbidden.empty()) {
    // Of the driver's rights this machine says more than the driver does.
    const Error here = by_driver && place.right != Right::here ? missing_right_here(place)
                                                               : Error{ErrorCode::no_permission, why, {}};
    findings.add(gpu, {State::missing, "rights",
                       cat("this process may not set ", listed(forbidden), ": ", here.what), here.hint});
  }
  for (const auto& [words, member] : kSets) {
    const Capability& setting = can.*member;
    if (!setting.available && !setting.needs_right)
      findings.add(gpu, {State::note, "gpu", cat("has no way to set ", words, ": ", setting.why_not), {}});
  }
}

/// What stands before the best that works is told with what would help; what stands behind it is not needed.
void look_at_counters(GpuFindings& findings, device::Gpu& gpu, const Result<std::vector<Feature>>& trial) {
  // The backend's own counters come first.
  bool of_backend = true;
  for (const auto& [facts, availability, features] : counter_sources(gpu)) {
    const bool tried = of_backend && availability.available;
    of_backend = false;
    if (tried && (!trial || trial->empty())) {
      findings.add(gpu, {State::note, "counters",
                         trial ? cat("counters by ", facts.name, " answer and tell nothing")
                               : cat("counters by ", facts.name, " failed: ", trial.error().what),
                         trial ? std::string() : trial.error().hint});
    } else if (!availability.available) {
      findings.add(gpu, {State::note, "counters",
                         cat("counters by ", facts.name, " cannot be read: ", availability.why_not),
                         availability.hint});
    } else {
      const std::string told = tried ? cat("told just now: ", names_of(*trial)) : names_of(features);
      findings.add(gpu,
                   {State::fine,
                    "counters",
                    cat("its work is counted by ", facts.name, " (", told, "); disturbs ", facts.disturbs),
                    {}});
      return;
    }
  }
}

void look_at_survival(std::vector<Finding>& findings, const device::Backend& backend) {
  if (const auto lonely = nothing_outlives(backend, std::nullopt))
    findings.push_back({State::missing, "survival", lonely->what, lonely->hint});
  else
    findings.push_back({State::fine, "survival", "a setting would be put back even after a kill", {}});
}

void look_at_gpus(Examination& examination, std::string_view gpu_list) {
  auto& findings = examination.findings;
  const auto open = open_gpus(gpu_list);
  if (!open) {
    findings.push_back({State::missing, "driver", open.error().what, open.error().hint});
    return;
  }
  const auto& backend = *open->selection.backend;
  findings.push_back(
      {State::fine,
       "driver",
       cat("driver ", backend.driver_version(), " through ", backend.name(), ", ", open->gpus.size(),
           open->gpus.size() == 1 ? " GPU" : " GPUs", backend.simulated() ? ", simulated" : ""),
       {}});
  for (const auto& error : open->lost) findings.push_back({State::missing, "gpu", error.what, error.hint});
  GpuFindings gpus;
  const auto trials = try_counters(open->gpus, *backend.clock());
  for (std::size_t i = 0; i < open->gpus.size(); ++i) {
    auto& gpu = *open->gpus[i];
    look_at_reading(gpus, backend, gpu);
    look_at_setting(gpus, gpu, backend.name() == "nvml", examination.place);
    look_at_counters(gpus, gpu, trials[i]);
  }
  gpus.move_to(findings);
  look_at_survival(findings, backend);

  examination.facts.driver_version = backend.driver_version();
  std::map<std::string, int> kinds;
  for (const auto& gpu : open->gpus) ++kinds[gpu->identity().name];
  for (const auto& [name, count] : kinds)
    examination.facts.gpus.push_back(count == 1 ? name : cat(count, " x ", name));
}

void look_at_meters(std::vector<Finding>& findings) {
  std::optional<Error> complaint;
  for (const auto& meter : meters_here(complaint)) {
    const Capability& usable = meter.usable;
    if (usable.available)
      findings.push_back(
          {State::fine, "meter", cat("--meter ", meter.spec, " can be read: ", meter.what), {}});
    else if (usable.needs_right || !usable.hint.empty())
      findings.push_back({State::note, "meter",
                          cat("--meter ", meter.spec, " cannot be read: ", usable.why_not), usable.hint});
  }
  if (complaint) findings.push_back({State::missing, "meter", complaint->what, complaint->hint});
}

void look_at_hooks(std::vector<Finding>& findings) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const HookPlan hooks = plan_hooks({}, {}, {}, program);
  if (!hooks.not_installed.empty())
    findings.push_back(
        {State::note, "hooks", hooks.not_installed, "install rubato with its share/rubato folder"});
}

void look_at_ranks(std::vector<Finding>& findings) {
  if (const auto group = rank_group(environment_map()))
    findings.push_back({State::note,
                        "ranks",
                        cat("this is local rank ", group->local_rank, " of a job of ", group->launcher,
                            ": the first of its ranks here measures and sets for all of them"),
                        {}});
}

void look_at_records(std::vector<Finding>& findings) {
  const auto folder = record::default_directory();
  if (!folder) {
    findings.push_back({State::missing, "records", folder.error().what, folder.error().hint});
    return;
  }
  auto there = *folder;
  while (!there.empty() && access(there.c_str(), F_OK) != 0) there = there.parent_path();
  std::error_code ignored;  // root may write to a file too, which holds no folder
  if (access(there.c_str(), W_OK) != 0 || !std::filesystem::is_directory(there, ignored)) {
    findings.push_back({State::missing, "records", cat("run records cannot be written to ", folder->string()),
                        "export XDG_STATE_HOME=/a/folder/of/yours"});
    return;
  }
  constexpr double kLittle = 100e6;  // bytes; a day of one GPU is some tens of megabytes
  struct statvfs space {};
  const bool little = statvfs(there.c_str(), &space) == 0 &&
                      static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) < kLittle;
  findings.push_back(
      {little ? State::note : State::fine,
       "records",
       cat("run records go to ", folder->string(), little ? ", where less than 100 MB is free" : ""),
       {}});
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::fine:
      return "ok";
    case State::note:
      return "note";
    case State::missing:
      return "missing";
  }
  return "";
}

Examination examine(std::string_view gpu_list) {
  const auto environment = environment_map();
  Examination examination;
  examination.place = place(FsRoot{}, environment);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) examination.facts.host = host.data();
  const auto user = environment.find("USER");
  examination.facts.user = user != environment.end() ? user->second : cat(getuid());
  const auto gpus =
      conduct::patiently<Examination>([place = examination.place, list = std::string(gpu_list)] {
        Examination seen;
        seen.place = place;
        look_at_gpus(seen, list);
        return seen;
      });
  if (gpus) {
    examination.findings = gpus->findings;
    examination.facts.driver_version = gpus->facts.driver_version;
    examination.facts.gpus = gpus->facts.gpus;
  } else {
    const Error error = conduct::stands_still();
    examination.findings.push_back({State::missing, "driver", error.what, error.hint});
    examination.driver_stuck = true;
  }
  look_at_meters(examination.findings);
  look_at_hooks(examination.findings);
  look_at_ranks(examination.findings);
  if (look_at_rubatod(examination.findings, gpu_list))
    for (Finding& finding : examination.findings)
      if (finding.state == State::missing && (finding.subject == "rights" || finding.subject == "survival"))
        finding = {State::fine, finding.subject, finding.what + "; rubatod does it", {}};
  for (const auto& left : left_behind())
    examination.findings.push_back({State::note, "journal", left.what, left.hint});
  look_at_records(examination.findings);
  return examination;
}

}  // namespace rubato::cli
