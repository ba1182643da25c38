#include "cli/job_report.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "cli/print_run.h"
#include "report/format.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

/// Sums, absent where a part is missing; energies of agents that were not heard of at the end are.
struct Sums {
  std::size_t gpus = 0;
  std::optional<Joules> energy = Joules(0);
  std::optional<Joules> saved = Joules(0);
  std::optional<Joules> saved_low = Joules(0);
  std::optional<Joules> saved_high = Joules(0);
  Seconds duration;
  std::set<std::string> nodes;
  std::set<std::string> kinds;
};

void add(std::optional<Joules>& sum, const std::optional<Joules>& part) {
  if (sum && part)
    *sum += *part;
  else
    sum.reset();
}

Sums sums_of(const JobReport& job) {
  Sums out;
  for (const agent::Totals& part : job.parts) {
    out.nodes.insert(part.node);
    out.duration = std::max(out.duration, part.duration);
    add(out.saved, part.saved);
    // One baseline hangs on all agents' switches at once, so their errors are not independent: limits are
    // added.
    add(out.saved_low, part.saved_low);
    add(out.saved_high, part.saved_high);
    for (const agent::GpuTotals& gpu : part.gpus) {
      ++out.gpus;
      add(out.energy, gpu.energy);
      out.kinds.insert(std::string(name_of(gpu.kind)));
    }
  }
  if (job.parts.size() < job.agents || !job.all_ranks)
    out.energy = out.saved = out.saved_low = out.saved_high = std::nullopt;
  return out;
}

std::string why_missing(const JobReport& job) {
  if (!job.all_ranks) return "not all ranks of the job told of themselves";
  if (job.parts.size() < job.agents)
    return cat(job.agents - job.parts.size(), " of ", job.agents, " agents were not heard of at the end");
  return "a part of it is not known";
}

Value joules(const std::optional<Joules>& value, const JobReport& job) {
  if (!value) return Missing{why_missing(job)};
  return Amount{value->value(), "J"};
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += cat(out.empty() ? "" : ", ", name);
  return out;
}

Value part_json(const agent::Totals& part) {
  Array gpus;
  for (const agent::GpuTotals& gpu : part.gpus)
    gpus.emplace_back(Object{
        {"uuid", gpu.gpu.uuid},
        {"name", gpu.name},
        {"quality", name_of(gpu.kind)},
        {"energy_j", gpu.energy ? Value(Amount{gpu.energy->value(), "J"}) : Value(Missing{"not known"})},
        {"restoration", gpu.restoration ? Value(name_of(*gpu.restoration)) : Value(Missing{"not told"})}});
  return Object{{"run_id", part.run},
                {"node", part.node},
                {"rank", part.rank},
                {"duration_s", Amount{part.duration.value(), "s", 3}},
                {"iterations", part.iterations},
                {"gpus", std::move(gpus)}};
}

}  // namespace

agent::Totals totals_of(const ReadRun& read, const agent::Join& own) {
  agent::Totals out{.run = own.run, .node = own.node, .rank = own.rank};
  out.duration = read.summary.duration.value_or(Seconds(0));
  out.iterations = static_cast<std::int64_t>(read.run.iterations.size());
  if (const auto& savings = read.summary.savings) {
    out.saved = savings->run_saved;
    const auto& share = savings->run_energy;
    // The interval is of the saved share of what the run would have drawn.
    if (share.interval && share.value != 0) {
      const Joules whole = savings->run_saved / share.value;
      out.saved_low = whole * share.interval->low;
      out.saved_high = whole * share.interval->high;
    }
  }
  for (const auto& gpu : read.summary.gpus)
    out.gpus.push_back({gpu.identity.id, gpu.identity.name,
                        gpu.energy ? std::optional(gpu.energy->energy) : std::nullopt, gpu.kind,
                        gpu.restoration});
  return out;
}

Value job_report_json(const JobReport& job) {
  const Sums sums = sums_of(job);
  Array parts;
  for (const agent::Totals& part : job.parts) parts.push_back(part_json(part));
  Array kinds;
  for (const std::string& kind : sums.kinds) kinds.emplace_back(kind);
  return Object{{"schema", "rubato.job/1"},
                {"launcher", job.launcher},
                {"ranks", job.ranks},
                {"agents", job.agents},
                {"all_ranks", job.all_ranks},
                {"agents_told", job.parts.size()},
                {"gpus", sums.gpus},
                {"qualities", std::move(kinds)},
                {"duration_s", Amount{sums.duration.value(), "s", 3}},
                {"energy_j", joules(sums.energy, job)},
                {"energy_saved_j", joules(sums.saved, job)},
                {"energy_saved_low_j", joules(sums.saved_low, job)},
                {"energy_saved_high_j", joules(sums.saved_high, job)},
                {"switches", job.counts.switches},
                {"switches_cancelled", job.counts.cancelled},
                {"halts", job.counts.halts},
                {"agents_lost", job.counts.lost},
                {"parts", std::move(parts)}};
}

void keep_job_report(const JobReport& job, const std::filesystem::path& record) {
  std::error_code ignored;
  const std::filesystem::path folder = record.parent_path().parent_path() / "jobs";
  std::filesystem::create_directories(folder, ignored);
  const std::string file = (folder / cat(record.stem().string(), ".json")).string();
  if (const auto written = write_report(report::render_json(job_report_json(job)), file, -1); !written)
    log::warning(written.error());
}

std::string job_report_text(const JobReport& job) {
  const Sums sums = sums_of(job);
  std::string out = cat("Whole job: ", job.ranks, " ranks of ", job.launcher, ", ", job.agents,
                        job.agents == 1 ? " agent" : " agents", ", ", sums.gpus, " GPUs");
  out += sums.energy ? cat("; ", report::text_of(*sums.energy), " (", joined(sums.kinds), ")")
                     : cat("; the energy is not known: ", why_missing(job));
  if (sums.saved && sums.energy) {
    out += cat("; ", report::text_of(*sums.saved), " saved");
    if (sums.saved_low && sums.saved_high)
      out +=
          cat(" (90 %: ", report::text_of(*sums.saved_low), " to ", report::text_of(*sums.saved_high), ")");
  }
  out += cat("; ", job.counts.switches, job.counts.switches == 1 ? " switch" : " switches", " agreed on, ",
             job.counts.cancelled, " cancelled, ", job.counts.halts,
             " times back to the found setting at once\n");
  for (const agent::Totals& part : job.parts) {
    Joules energy;
    bool whole = true;
    for (const agent::GpuTotals& gpu : part.gpus) {
      whole = whole && gpu.energy;
      energy += gpu.energy.value_or(Joules(0));
    }
    out += cat("  rank ", part.rank, " on ", part.node, ": ", part.gpus.size(), " GPUs, ",
               whole ? report::text_of(energy) : std::string("energy not known"), ", ", part.iterations,
               " iterations, run ", part.run, "\n");
  }
  return out;
}

}  // namespace rubato::cli
