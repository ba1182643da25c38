#include "cli/gpus.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "device/select.h"
#include "record/sensor_store.h"

namespace rubato::cli {
namespace {

// A first start of the driver takes 1-3 s for each GPU without persistence.
constexpr int kChildPatienceMs = 20'000;

Result<device::Selection> select(std::string_view list) {
  // An empty CUDA_VISIBLE_DEVICES hides every GPU; one that is not set hides none.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  return device::select_gpus(list,
                             visible == nullptr ? std::nullopt : std::optional<std::string_view>(visible),
                             order == nullptr ? "" : order);
}

[[noreturn]] void tell_uuids(std::string_view list, const ScopedFd& to) {
  log::set_level(log::Level::quiet);  // the parent will open the same GPUs and say what is wrong
  std::string text;
  if (const auto selection = select(list))
    for (const auto& identity : selection->chosen) text += identity.id.uuid + "\n";
  // A pipe holds 4096 bytes whole, which is more than a hundred GPUs.
  [[maybe_unused]] const ssize_t written = write(to.get(), text.data(), text.size());
  _exit(0);
}

std::string read_until_closed(const ScopedFd& from) {
  std::string text;
  std::array<char, 4096> buffer{};
  pollfd waiting{from.get(), POLLIN, 0};
  for (;;) {
    const int ready = poll(&waiting, 1, kChildPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<OpenGpus> open_gpus(std::string_view list) {
  auto selection = select(list);
  if (!selection) return fail(selection.error());
  return open_selection(std::move(*selection), !list.empty());
}

std::string hidden_from_job(const device::Selection& selection, std::string_view list) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list.empty() || visible == nullptr || names_simulated(list)) return {};
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  const auto seen = device::visible_gpus(visible, selection.backend->gpus(), order == nullptr ? "" : order);
  if (!seen && seen.error().code != ErrorCode::not_found) return {};
  if (seen && (!seen->doubt.empty() || !seen->unknown.empty())) return {};
  std::string hidden;
  for (const GpuIdentity& chosen : selection.chosen)
    if (!seen ||
        std::ranges::none_of(seen->gpus, [&](const GpuIdentity& gpu) { return gpu.id == chosen.id; }))
      hidden += cat(hidden.empty() ? "" : ", ", chosen.index);
  if (hidden.empty()) return {};
  return cat("--gpu names GPU ", hidden, " as the driver counts, which CUDA_VISIBLE_DEVICES=", visible,
             " hides from the job");
}

Result<OpenGpus> open_selection(device::Selection selection, bool named) {
  OpenGpus open;
  open.selection = std::move(selection);
  for (const auto& identity : open.selection.chosen) {
    auto gpu = open.selection.backend->open(identity.id);
    if (gpu) {
      open.gpus.push_back(std::move(*gpu));
      continue;
    }
    if (named) return fail(gpu.error());
    open.lost.push_back(gpu.error());
  }
  if (open.gpus.empty() && !open.lost.empty()) return fail(open.lost.front());
  return open;
}

SensorFacts known_sensor(const device::Backend& backend, const device::Gpu& gpu) {
  const auto folder = record::default_sensor_folder();
  if (!folder) return gpu.sensor();
  const auto found = record::load_sensor_facts(*folder, gpu.identity().id, backend.driver_version());
  return found ? record::with_found(gpu.sensor(), *found) : gpu.sensor();
}

Result<std::string> backend_spec(std::string_view list) {
  std::vector<std::string_view> names;
  for (const auto& entry : device::backends()) names.push_back(entry.name);
  const auto request = device::parse_request(list, names);
  if (!request) return fail(request.error());
  return request->argument.empty() ? request->backend : cat(request->backend, ":", request->argument);
}

bool names_simulated(std::string_view list) {
  const auto spec = backend_spec(list);
  return spec && *spec != "nvml";
}

std::vector<std::string> uuids_asked_by_child(std::string_view list) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const ScopedFd hear(ends[0]);
  ScopedFd tell(ends[1]);
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) tell_uuids(list, tell);
  tell.reset();
  const std::string text = read_until_closed(hear);
  kill(child, SIGKILL);  // it has said all it will, or hangs in the driver
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::vector<std::string> uuids;
  for (const auto& line : split(text, '\n'))
    if (!line.empty()) uuids.push_back(line);
  return uuids;
}

void keep_only(OpenGpus& open, const std::vector<std::string>& uuids) {
  std::erase_if(open.gpus, [&uuids](const auto& gpu) {
    return std::find(uuids.begin(), uuids.end(), gpu->identity().id.uuid) == uuids.end();
  });
}

}  // namespace rubato::cli
