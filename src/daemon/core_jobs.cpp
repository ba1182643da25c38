// What the scheduler tells of its jobs: between two of them nothing of rubato's is in force.
#include <algorithm>

#include "base/text.h"
#include "daemon/core.h"

namespace rubato::daemon {
namespace {

std::string name_of_job(const JobCall& call) {
  return call.slurm_job ? cat("Slurm job ", *call.slurm_job) : std::string("every job");
}

JobCall call_of(const wire::Message& message) {
  JobCall call{.sequence = message.sequence};
  if (const auto* begin = std::get_if<wire::JobBegin>(&message.body)) {
    call.slurm_job = begin->slurm_job;
    call.begins = true;
  } else {
    call.slurm_job = std::get<wire::JobEnd>(message.body).slurm_job;
  }
  return call;
}

const std::vector<GpuId>& gpus_of(const wire::Message& message) {
  const auto* begin = std::get_if<wire::JobBegin>(&message.body);
  return begin != nullptr ? begin->gpus : std::get<wire::JobEnd>(message.body).gpus;
}

std::string in_words(const wire::Cleared& reply) {
  std::string words;
  for (const wire::ClearedGpu& gpu : reply.gpus)
    words += cat("; ", gpu.report.gpu.uuid, " ", name_of(gpu.report.outcome),
                 gpu.report.detail.empty() ? "" : ": ", gpu.report.detail);
  return words;
}

}  // namespace

Status Core::tell_job(ConnectionId id, Client& client, const wire::Message& message, TimePoint now) {
  if (!is_masters(client))
    return fail(ErrorCode::no_permission,
                cat("only root tells rubatod of jobs, and this is ", describe(client.caller)),
                "rubato-slurm belongs into Slurm's prolog and epilog (docs/slurm.md)");
  JobCall call = call_of(message);
  for (const GpuId& gpu : gpus_of(message)) {
    const GpuEntry* entry = entry_of(gpu);
    if (entry == nullptr)
      return fail(ErrorCode::not_found, cat("rubatod manages no GPU ", gpu.uuid), "rubato doctor");
    const auto place = static_cast<std::size_t>(entry - gpus_.data());
    if (std::find(call.gpus.begin(), call.gpus.end(), place) != call.gpus.end()) continue;
    call.gpus.push_back(place);
  }
  if (call.gpus.empty()) return fail(ErrorCode::invalid_argument, "no GPU of the job was named");
  for (const std::size_t place : call.gpus) {
    call.reply.gpus.push_back({{gpus_[place].identity.id, Restoration::not_needed, {}}});
    call.before.push_back(gpus_[place].job);
  }
  client.job_call = std::move(call);
  JobCall& kept = *client.job_call;
  const auto* begin = std::get_if<wire::JobBegin>(&message.body);
  std::vector<std::size_t> clearing;
  for (std::size_t i = 0; i < kept.gpus.size(); ++i) {
    GpuEntry& gpu = gpus_[kept.gpus[i]];
    if (!kept.begins && kept.slurm_job && gpu.job && gpu.job->slurm_job != *kept.slurm_job) {
      kept.reply.gpus[i].report.detail = cat("given to Slurm job ", gpu.job->slurm_job, " meanwhile");
      continue;
    }
    // At once: nobody else gets a lease on it from here.
    if (kept.slurm_job) gpu.job.reset();
    if (begin != nullptr)
      gpu.job = GpuJob{begin->slurm_job, static_cast<uid_t>(begin->user), now, std::nullopt};
    gpu.ended.reset();
    clearing.push_back(kept.gpus[i]);
  }
  keep_jobs();
  kept.unanswered = clearing.size();
  for (const std::size_t place : clearing) clear(id, kept, place, now);
  if (clearing.empty()) all_cleared(id, client, now);
  return {};
}

void Core::clear(ConnectionId id, const JobCall& call, std::size_t place, TimePoint now) {
  if (const auto holder = gpus_[place].holder)
    end_lease(*holder,
              Error{ErrorCode::unavailable,
                    cat("the scheduler ", call.begins ? "begins " : "ended ", name_of_job(call)),
                    {}},
              now);
  post({TaskKind::clear, place, id}, Clear{});
}

void Core::cleared_one(const Pending& task, const Outcome& outcome, TimePoint now) {
  GpuEntry& gpu = gpus_[task.gpu];
  Client* client = find(task.client);
  const auto* between = outcome ? std::get_if<Between>(&*outcome) : nullptr;
  if (between != nullptr) {
    gpu.ready = true;
    gpu.changed = false;
    gpu.away.clear();
    if (gpu.job && client != nullptr && client->job_call && client->job_call->begins) {
      gpu.job->began = now;
      gpu.job->energy_mj = between->energy_mj;
    }
  }
  if (client == nullptr || !client->job_call) return;
  JobCall& call = *client->job_call;
  if (!outcome && outcome.error().code == ErrorCode::busy && gpu.holder) {
    // Its lease was being taken when it was told to end. That it was has been answered before this, so its
    // End is in the queue by now, and what is asked here comes behind it.
    return clear(task.client, call, task.gpu, now);
  }
  const auto place =
      static_cast<std::size_t>(std::find(call.gpus.begin(), call.gpus.end(), task.gpu) - call.gpus.begin());
  wire::ClearedGpu& told = call.reply.gpus[place];
  if (between == nullptr) {
    told.report.outcome = Restoration::failed;
    told.report.detail = outcome ? "its owner answered something else" : outcome.error().what;
    gpu.ready = false;
    gpu.changed = gpu.changed || (!outcome && outcome.error().code == ErrorCode::conflict);
    gpu.away = told.report.detail;
    gpu.next_try = now + kRetryPeriod;
  } else if (between->left_behind) {
    told.report = *between->left_behind;
  } else if (gpu.ended) {
    told.report = *gpu.ended;
  }
  if (const auto& before = call.before[place];
      between != nullptr && !call.begins && call.slurm_job && before) {
    told.duration = now - before->began;
    if (before->energy_mj && between->energy_mj && *between->energy_mj >= *before->energy_mj)
      told.energy = Joules(static_cast<double>(*between->energy_mj - *before->energy_mj) / 1e3);
  }
  if (--call.unanswered == 0) all_cleared(task.client, *client, now);
}

void Core::all_cleared(ConnectionId id, Client& client, TimePoint now) {
  JobCall call = std::move(*client.job_call);
  client.job_call.reset();
  keep_jobs();
  AuditEntry entry{.event = "job", .decision = "done"};
  for (const wire::ClearedGpu& gpu : call.reply.gpus) {
    entry.gpus.push_back(gpu.report.gpu);
    if (gpu.report.outcome == Restoration::failed) entry.decision = "failed";
  }
  entry.why = cat(name_of_job(call), call.begins ? " begins" : " ended", in_words(call.reply));
  note(std::move(entry), &client, now);
  reply(id, call.sequence, std::move(call.reply));
  pump(id, now);
}

void Core::keep_jobs() const {
  if (!options_.keep_jobs) return;
  Jobs jobs;
  for (const GpuEntry& gpu : gpus_)
    if (gpu.job) jobs.emplace(gpu.identity.id, *gpu.job);
  options_.keep_jobs(jobs);
}

}  // namespace rubato::daemon
