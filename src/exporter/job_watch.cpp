#include "exporter/job_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "analyse/savings.h"
#include "base/text.h"
#include "record/outline.h"

namespace rubato::exporter {
namespace fs = std::filesystem;
namespace {

// A larger record is read without its samples: its savings have no interval then. 8 MiB are a day of one GPU
// or more, a second to read, and some 100 MB of memory meanwhile.
constexpr std::uintmax_t kReadWhole = 8U << 20U;

double seconds_of(const timespec& t) {
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// By the driver's own counter, which is the same line for whoever reads it. Absent where the record has no
/// first reading of it, the counter began anew since, or the board's gain has to be taken off.
std::optional<Joules> by_counter(const record::DeviceRecord& device, const GpuState& now) {
  if (device.counter_edges.empty() || device.info.sensor.gain || !now.fast || !now.fast->energy_counter)
    return std::nullopt;
  const record::CounterEdge& first = device.counter_edges.front();
  if (device.counter_edges.size() > 1 || *now.fast->energy_counter < first.counter) return std::nullopt;
  return *now.fast->energy_counter - first.counter;
}

}  // namespace

std::vector<JobGpu> job_gpus_of(const analyse::Summary& summary) {
  std::vector<JobGpu> gpus;
  for (const analyse::GpuSummary& gpu : summary.gpus) {
    JobGpu& out = gpus.emplace_back(JobGpu{.identity = gpu.identity, .kind = gpu.kind});
    if (gpu.energy) out.energy = gpu.energy->energy;
    if (gpu.found) out.found_limit = gpu.found->power_limit;
    out.requested = gpu.requested;
    out.restoration = gpu.restoration;
  }
  return gpus;
}

std::vector<JobWatch::Candidate> JobWatch::candidates(double unix_s) {
  std::vector<Candidate> found;
  for (const fs::path& folder : options_.folders) {
    std::error_code error;
    fs::directory_iterator files(folder, error);
    for (; !error && files != fs::directory_iterator(); files.increment(error)) {
      const fs::path& file = files->path();
      if (file.extension() != ".sqlite") continue;
      struct stat there {};
      if (stat(file.c_str(), &there) != 0) continue;
      Candidate one{file, seconds_of(there.st_mtim), static_cast<std::uintmax_t>(there.st_size)};
      // While a run goes on its record changes through a log beside it.
      if (stat(cat(file.string(), "-wal").c_str(), &there) == 0)
        one.changed_s = std::max(one.changed_s, seconds_of(there.st_mtim));
      if (unix_s - one.changed_s <= options_.kept.value()) found.push_back(std::move(one));
    }
  }
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return a.changed_s != b.changed_s ? a.changed_s > b.changed_s : a.file < b.file;
  });
  left_out_ = found.size() - std::min(found.size(), options_.most);
  found.resize(found.size() - left_out_);
  return found;
}

void JobWatch::step(TimePoint now, double unix_s, GpuWatch& gpus) {
  std::map<fs::path, Known> still;
  std::vector<JobState> jobs;
  std::set<std::string> told;  // a copy of a record would make the page say the same thing twice
  unreadable_ = 0;
  may_read_whole_ = true;
  for (const Candidate& candidate : candidates(unix_s)) {
    Known known;
    if (auto before = known_.extract(candidate.file)) known = std::move(before.mapped());
    if (!known.over || !known.whole || known.changed_s != candidate.changed_s)
      if (!look(candidate, known, now, gpus)) ++unreadable_;
    if (!known.job.run_id.empty() && told.insert(known.job.run_id).second) jobs.push_back(known.job);
    still[candidate.file] = std::move(known);
  }
  known_ = std::move(still);
  jobs_ = std::move(jobs);
}

Status JobWatch::look(const Candidate& candidate, Known& known, TimePoint now, GpuWatch& gpus) {
  // Asked before the record is opened here: see writer_of().
  const auto writer = options_.writer_of(candidate.file);
  auto run = record::read_outline(candidate.file);
  const bool over = run && (run->end || !writer);
  // One at a look, so that the GPUs do not wait long.
  const bool read_whole = over && candidate.size <= kReadWhole && std::exchange(may_read_whole_, false);
  if (read_whole) run = record::read_run(candidate.file);
  if (!run) return fail(run.error());
  known.changed_s = candidate.changed_s;
  known.over = over;
  known.whole = read_whole || candidate.size > kReadWhole;
  known.begin = run->info.begin;
  JobState job{.run_id = run->info.run_id, .mode = run->info.mode, .started_at = run->info.started_at};
  job.running = !known.over;
  const analyse::Summary summary = analyse::summarise(*run);
  job.duration = summary.duration;
  job.savings = summary.savings;
  job.cost = summary.cost;
  job.gpus = job_gpus_of(summary);
  known.job = std::move(job);
  if (known.job.running) add_live(*run, known, now, gpus, *writer);
  for (JobGpu& gpu : known.job.gpus) {
    if (known.over)
      if (const auto at = gpus.find(gpu.identity.id)) gpus.forget_since(*at, known.begin);
    if (!gpu.energy) continue;
    Joules& most = known.most[gpu.identity.id.uuid];
    most = std::max(most, *gpu.energy);
    gpu.energy = most;
  }
  return {};
}

// Energy so far is on the exporter's own readings: the samples of a long run are too many to go through again
// and again.
void JobWatch::add_live(const record::RunRecord& run, Known& known, TimePoint now, GpuWatch& gpus,
                        pid_t rubato) const {
  std::optional<EnergyWindow> total = EnergyWindow{};
  bool all_watched = !known.job.gpus.empty();
  std::vector<JobGpu> used;
  for (std::size_t i = 0; i < known.job.gpus.size(); ++i) {
    JobGpu& gpu = known.job.gpus[i];
    const auto at = gpus.find(gpu.identity.id);
    all_watched = all_watched && at;
    if (at) {
      const std::string& uuid = gpu.identity.id.uuid;
      if (!known.used.contains(uuid) && computes_on(gpus, *at, rubato)) known.used.insert(uuid);
      // The record will leave it out too, unless the job comes to use it.
      if (!known.used.contains(uuid)) continue;
      const auto window = gpus.energy_since(*at, run.info.begin);
      gpu.energy = by_counter(run.devices[i], gpus.state(*at));
      if (!gpu.energy && window) gpu.energy = window->energy;
    }
    if (gpu.energy && total)
      total->energy += *gpu.energy;
    else
      total.reset();
    used.push_back(std::move(gpu));
  }
  known.job.gpus = std::move(used);
  known.job.savings.reset();
  if (!all_watched) return;  // then the run may live on another clock, too
  known.job.duration = now - run.info.begin;
  if (known.job.gpus.empty() || !total) return;
  const auto savings = analyse::savings_of(run, analyse::sources_of(run), analyse::stretches_of(run), total,
                                           known.job.duration);
  if (savings) known.job.savings = *savings;
}

bool JobWatch::computes_on(GpuWatch& gpus, std::size_t gpu, pid_t rubato) const {
  const auto processes = gpus.processes(gpu);
  if (!processes || rubato == 0) return true;  // cannot be told: the record will count it as well
  return std::ranges::any_of(*processes, [&](const ComputeProcess& process) {
    const auto pid = static_cast<pid_t>(process.pid);
    return descends(pid, rubato) || !root_.exists(cat("/proc/", pid));
  });
}

bool JobWatch::descends(pid_t pid, pid_t from) const {
  // Deeper than this is a loop made by process ids that were used again.
  constexpr int kDeepest = 256;
  for (int depth = 0; pid > 1 && depth < kDeepest; ++depth) {
    if (pid == from) return true;
    // Field 4; the second one, the name, may hold spaces and brackets.
    const auto stat = root_.read(cat("/proc/", pid, "/stat"));
    const auto behind_name = stat ? stat->rfind(") ") : std::string::npos;
    if (behind_name == std::string::npos) return false;
    const auto fields = split(std::string_view(*stat).substr(behind_name + 2), ' ');
    const auto parent = fields.size() > 1 ? parse_integer(fields[1]) : std::nullopt;
    if (!parent) return false;
    pid = static_cast<pid_t>(*parent);
  }
  return false;
}

}  // namespace rubato::exporter
