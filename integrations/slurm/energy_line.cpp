#include "energy_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::slurm {
namespace {

using Json = nlohmann::ordered_json;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace

std::string energy_line(const Job& job, const wire::Cleared& cleared, std::string_view at) {
  Json line{{"schema", "rubato.slurm-job/1"},
            {"at", at},
            {"slurm_job", job.id},
            {"uid", job.user},
            {"node", job.node},
            {"gpus", Json::array()}};
  for (const wire::ClearedGpu& gpu : cleared.gpus) {
    Json one{{"uuid", gpu.report.gpu.uuid}, {"energy_j", nullptr}, {"duration_s", nullptr}};
    if (gpu.energy) one["energy_j"] = gpu.energy->value();
    if (gpu.duration) one["duration_s"] = gpu.duration->value();
    one["energy_source"] = "energy_counter";
    one["restoration"] = name_of(gpu.report.outcome);
    one["restoration_detail"] = gpu.report.detail;
    line["gpus"].push_back(std::move(one));
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status append_energy(const std::filesystem::path& file, const Job& job, const wire::Cleared& cleared) {
  const ScopedFd fd(
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot open ", file.string())));
  const std::string line = energy_line(job, cleared, utc_now()) + "\n";
  if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return fail(from_errno(errno, cat("cannot write ", file.string())));
  return {};
}

}  // namespace rubato::slurm
