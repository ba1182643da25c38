#include "cli/managed.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/version.h"
#include "guard/files.h"
#include "guard/stale.h"
#include "wire/lease_client.h"

namespace rubato::cli {
namespace {

// ExecStopPost and the restart of the service take a moment each. Wall time.
constexpr auto kRescuePatience = std::chrono::seconds(5);
constexpr auto kRescueStep = std::chrono::milliseconds(50);

bool manages(const wire::StatusReply& status, const std::string& uuid) {
  return std::any_of(status.gpus.begin(), status.gpus.end(),
                     [&uuid](const wire::ManagedGpu& gpu) { return gpu.gpu.uuid == uuid; });
}

/// rubatod, and the GPUs of a list that it manages all of.
struct Manager {
  wire::Greeted greeted;
  std::vector<std::string> uuids;
};

Result<std::optional<Manager>> find_manager(std::string_view gpu_list) {
  auto greeted = greet_manager(gpu_list);
  if (!greeted) return fail(greeted.error());
  if (!*greeted) return std::optional<Manager>();
  auto uuids = uuids_asked_by_child(gpu_list);
  const std::size_t managed = managed_among((*greeted)->status, uuids);
  if (managed == 0) return std::optional<Manager>();
  if (managed == uuids.size()) return Manager{std::move(**greeted), std::move(uuids)};
  return fail(ErrorCode::unavailable,
              cat((*greeted)->welcome.server, " manages ", managed, " of the ", uuids.size(),
                  " GPUs of this run, and a run is set by one of rubatod and a guard of its own"),
              "choose them apart with --gpu; `rubato doctor` names the managed ones");
}

/// Whether nothing lies there any more that waits to be put back.
bool nothing_left() {
  const auto left = guard::journals_in(guard::kSystemFolder);
  return left && left->empty();
}

}  // namespace

std::vector<std::filesystem::path> manager_sockets(std::string_view gpu_list) {
  if (const char* named = std::getenv("RUBATO_SOCKET"); named != nullptr && *named != '\0') return {named};
  std::vector<std::filesystem::path> sockets;
  if (!names_simulated(gpu_list)) sockets.emplace_back(wire::kSystemSocket);
  if (runtime_folder_is_anothers()) return sockets;
  if (const auto folder = runtime_folder()) sockets.push_back(*folder / wire::kSocketName);
  return sockets;
}

Result<std::optional<wire::Greeted>> greet_manager(std::string_view gpu_list) {
  for (const auto& socket : manager_sockets(gpu_list)) {
    auto greeted = wire::greet_daemon(socket, cat("rubato ", kVersion, ", process ", ::getpid()));
    if (greeted) return std::optional(std::move(*greeted));
    Error error = greeted.error();
    if (error.code == ErrorCode::not_found) continue;
    // A timeout means a driver that hangs; this is a daemon that does.
    if (error.code == ErrorCode::timeout) error.code = ErrorCode::unavailable;
    return fail(std::move(error));
  }
  return std::optional<wire::Greeted>();
}

std::size_t managed_among(const wire::StatusReply& status, const std::vector<std::string>& uuids) {
  return static_cast<std::size_t>(std::count_if(
      uuids.begin(), uuids.end(), [&status](const auto& uuid) { return manages(status, uuid); }));
}

Result<std::optional<wire::Greeted>> manager_of(std::string_view gpu_list) {
  auto manager = find_manager(gpu_list);
  if (!manager) return fail(manager.error());
  if (!*manager) return std::optional<wire::Greeted>();
  return std::optional(std::move((*manager)->greeted));
}

Result<bool> manager_grants(std::string_view gpu_list, const std::vector<Knob>& knobs) {
  auto manager = find_manager(gpu_list);
  if (!manager) return fail(manager.error());
  if (!*manager) return false;
  auto& [greeted, uuids] = **manager;
  if (greeted.welcome.mode == wire::kObserve) return fail(only_observes());
  wire::Acquire wanted{.gpus = {}, .knobs = knobs, .found_sm_clock = {}};
  for (std::string& uuid : uuids) wanted.gpus.push_back({std::move(uuid)});
  wire::LeaseClient lease(std::move(greeted.channel), std::make_shared<RealClock>());
  const auto granted = lease.acquire(std::move(wanted));
  if (!granted) return fail(granted.error());
  const auto given_back = lease.release();
  if (!given_back) return fail(given_back.error());
  return true;
}

conduct::Rescue rescue_by_manager(std::string_view gpu_list, conduct::Rescue otherwise) {
  if (names_simulated(gpu_list) || geteuid() == 0) return otherwise;
  return [otherwise = std::move(otherwise)]() -> Result<std::vector<RestorationReport>> {
    const auto end = std::chrono::steady_clock::now() + kRescuePatience;
    while (std::chrono::steady_clock::now() < end) {
      if (nothing_left()) return std::vector<RestorationReport>();
      std::this_thread::sleep_for(kRescueStep);
    }
    return otherwise();
  };
}

}  // namespace rubato::cli
