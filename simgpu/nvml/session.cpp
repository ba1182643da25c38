#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

struct Session {
  std::mutex mutex;
  std::shared_ptr<sim::SimWorld> world;
  unsigned users = 0;  // nvmlInit less nvmlShutdown
};

Session& session() {
  static Session the_session;
  return the_session;
}

std::vector<std::string> profiles_to_make() {
  const char* named = std::getenv("RUBATO_SIM_PROFILES");
  if (named != nullptr && *named != '\0') return split(named, ',');
  const auto path = sim::world_path_from_environment();
  std::error_code ignored;
  if (path && std::filesystem::exists(*path, ignored)) return {};  // whatever is there
  return {"v100"};
}

/// Like the real driver, the stand-in asks for CAP_SYS_ADMIN unless the world was made with other rights.
Result<std::unique_ptr<sim::SimWorld>> open_world() {
  return sim::open_world_from_environment(profiles_to_make(), sim::Rights::cap_sys_admin);
}

}  // namespace

std::shared_ptr<sim::SimWorld> world() {
  Session& s = session();
  const std::lock_guard lock(s.mutex);
  return s.users > 0 ? s.world : nullptr;
}

std::shared_ptr<sim::SimWorld> world_or_open() {
  if (auto open = world()) return open;
  auto opened = open_world();
  if (!opened) return nullptr;
  return std::move(*opened);
}

abi::Return start_session() {
  Session& s = session();
  const std::lock_guard lock(s.mutex);
  if (s.users == 0) {
    auto opened = open_world();
    if (!opened) {
      // A return code cannot say which file is wrong.
      log::error(opened.error());
      return to_return(opened.error());
    }
    s.world = std::move(*opened);
  }
  for (unsigned gpu = 0; gpu < s.world->gpu_count(); ++gpu)
    if (const auto begun = s.world->begin_call(sim::CallId::open, gpu, s.world->clock()->now()); !begun)
      return to_return(begun);
  ++s.users;
  return abi::kSuccess;
}

abi::Return end_session() {
  Session& s = session();
  const std::lock_guard lock(s.mutex);
  if (s.users == 0) return abi::kUninitialized;
  if (--s.users == 0) s.world.reset();
  return abi::kSuccess;
}

abi::Return trace(const char* function, abi::Return code) {
  const char* file = std::getenv("RUBATO_SIM_TRACE");
  if (file == nullptr || *file == '\0') return code;
  const ScopedFd fd(::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return code;
  const std::string line = cat(function, " ", code, "\n");
  // One write per line, so that lines of several processes do not mix; a full disk loses lines and nothing
  // else.
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), line.data(), line.size());
  return code;
}

abi::Return to_return(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return abi::kInvalidArgument;
    case ErrorCode::not_found:
      return abi::kNotFound;
    case ErrorCode::not_supported:
      return abi::kNotSupported;
    case ErrorCode::no_permission:
      return abi::kNoPermission;
    case ErrorCode::unavailable:
      return abi::kDriverNotLoaded;
    case ErrorCode::busy:
      return abi::kInUse;
    case ErrorCode::conflict:
      return abi::kInvalidState;
    case ErrorCode::timeout:
      return abi::kTimeout;
    case ErrorCode::device_lost:
      return abi::kGpuIsLost;
    case ErrorCode::corrupt:
      return abi::kCorruptedInforom;
    case ErrorCode::io:
      return abi::kOperatingSystem;
    case ErrorCode::internal:
      return abi::kUnknown;
  }
  return abi::kUnknown;
}

abi::Return to_return(const Status& status) {
  return status ? abi::kSuccess : to_return(status.error());
}

// A handle is the GPU's number plus one: clients only pass it back, and zero stays invalid.
abi::Device handle_of(unsigned gpu) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is ever read behind it
  return reinterpret_cast<abi::Device>(static_cast<std::uintptr_t>(gpu) + 1);
}

abi::Return entry_detail::find_gpu(const sim::SimWorld& here, abi::Device device, unsigned* gpu) {
  const auto number = reinterpret_cast<std::uintptr_t>(device);
  if (number == 0 || number > here.gpu_count()) return abi::kInvalidArgument;
  *gpu = static_cast<unsigned>(number - 1);
  return abi::kSuccess;
}

abi::Return copy_text(std::string_view text, char* to, unsigned size) {
  if (text.size() + 1 > size) return abi::kInsufficientSize;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return abi::kSuccess;
}

}  // namespace rubato::simgpu
