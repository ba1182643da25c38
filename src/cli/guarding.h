// How the cli gets a guard, and what it says when it cannot have one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "conduct/lease_holder.h"
#include "device/gpu.h"
#include "wire/channel.h"

namespace rubato::cli {

struct GuardChoice {
  bool through_sudo = false;
};

struct GuardedRun {
  std::unique_ptr<wire::Channel> channel;  // null: measure only, and why_not says why
  bool own_scope = false;
  bool more_rights_than_us = false;
  bool managed = false;   // rubatod is at the other end of the channel
  bool observes = false;  // and will set nothing
  bool fatal = false;     // what was typed cannot be done: the job is not started
  Error why_not;
};

/// rubatod where it manages these GPUs, else a guard of our own. Before any thread, any driver call and any
/// signal handling of this process.
[[nodiscard]] GuardedRun start_guard(std::string_view gpu_list, const GuardChoice& choice);

/// For what needs its setting, where rubatod only observes.
[[nodiscard]] Error only_observes();

/// Why a kill of everything at once could leave the setting behind here; nothing where it could not.
/// `own_scope`: whether the guard got one; absent: none was started, so it is taken to get one where systemd
/// is.
[[nodiscard]] std::optional<Error> nothing_outlives(const device::Backend& backend,
                                                    std::optional<bool> own_scope);

/// For --accept-unrestored where nothing outlives the job: who could put it back after a kill of everything.
[[nodiscard]] std::string after_a_kill(const device::Backend& backend);

/// Starts another guard that puts back what a killed one left behind; what rubatod left, it puts back itself
/// where this process may not.
[[nodiscard]] conduct::Rescue rescue_for(std::string_view gpu_list, bool managed = false);

[[nodiscard]] std::map<std::string, std::string> environment_map();

}  // namespace rubato::cli
