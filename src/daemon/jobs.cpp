#include "daemon/jobs.h"

#include <fcntl.h>

#include "base/text.h"

namespace rubato::daemon {
namespace {

constexpr const char* kFile = "slurm-jobs";
constexpr const char* kDraft = "slurm-jobs.new";
constexpr std::string_view kFormat = "rubato-jobs/1";
constexpr std::string_view kNoCounter = "-";

/// "UUID JOB USER BEGAN-NS ENERGY-MJ"
std::optional<std::pair<GpuId, GpuJob>> parse_line(const std::string& line) {
  const auto words = split(line, ' ');
  if (words.size() != 5 || words[0].empty()) return std::nullopt;
  const auto job = parse_integer(words[1]);
  const auto user = parse_integer(words[2]);
  const auto began = parse_integer(words[3]);
  const auto energy = parse_integer(words[4]);
  if (!job || !user || *user < 0 || !began || (!energy && words[4] != kNoCounter)) return std::nullopt;
  return std::pair{GpuId{words[0]}, GpuJob{*job, static_cast<uid_t>(*user), TimePoint{*began}, energy}};
}

}  // namespace

Caller placed(const Caller& caller, const std::optional<GpuJob>& job) {
  Caller here = caller;
  if (!here.slurm_job && job && job->user == caller.uid) here.slurm_job = job->slurm_job;
  return here;
}

std::string print_jobs(const Jobs& jobs, std::string_view boot_id) {
  std::string text = cat(kFormat, " ", boot_id, "\n");
  for (const auto& [gpu, job] : jobs)
    text += cat(gpu.uuid, " ", job.slurm_job, " ", job.user, " ", job.began.ns, " ",
                job.energy_mj ? std::to_string(*job.energy_mj) : std::string(kNoCounter), "\n");
  return text;
}

Jobs parse_jobs(std::string_view text, std::string_view boot_id) {
  const auto lines = split(text, '\n');
  if (lines.size() < 2 || lines.front() != cat(kFormat, " ", boot_id) || !lines.back().empty()) return {};
  Jobs jobs;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    auto job = parse_line(lines[i]);
    if (!job) return {};
    jobs.insert(std::move(*job));
  }
  return jobs;
}

Jobs JobsFile::read() const {
  const auto file = folder_.open_file(kFile, O_RDONLY);
  if (!file) return {};
  const auto text = folder_.files().read_all(file->get());
  return text ? parse_jobs(*text, boot_id_) : Jobs();
}

Status JobsFile::keep(const Jobs& jobs) const {
  auto draft = folder_.open_file(kDraft, O_WRONLY | O_CREAT | O_TRUNC);
  if (!draft) return fail(draft.error());
  Status done = folder_.files().append(draft->get(), print_jobs(jobs, boot_id_));
  if (done) done = folder_.files().sync(draft->get());
  if (done) done = folder_.files().replace(folder_.fd(), kDraft, kFile);
  return done;
}

}  // namespace rubato::daemon
