#include "cli/left_behind.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/fd.h"
#include "base/fs_root.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/stale.h"
#include "device/sim/world.h"
#include "guard/stale.h"

namespace rubato::cli {
namespace {

namespace fs = std::filesystem;
namespace sim = device::sim;

/// Who has the lock file, as the kernel lists it: "1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF".
std::optional<std::int64_t> holder_of(const fs::path& lock_file) {
  struct stat file {};
  if (stat(lock_file.c_str(), &file) != 0) return std::nullopt;
  const auto locks = FsRoot{}.read("/proc/locks");
  if (!locks) return std::nullopt;
  const std::string inode = cat(":", file.st_ino, " ");
  for (const std::string& line : split(*locks, '\n')) {
    if (line.find(" FLOCK ") == std::string::npos || line.find(inode) == std::string::npos) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5 && words >> word; ++i) {
    }
    return parse_integer(word);
  }
  return std::nullopt;
}

/// A simulated world that has this GPU, and how it is named on a command line.
struct World {
  fs::path file;
  std::string spec;  // "sim:v100-pcie-16gb", or "sim" for the one in RUBATO_SIM_WORLD
};

std::vector<World> worlds_of_this_user() {
  std::vector<World> worlds;
  // The variable outdoes every other world, so the others cannot be named beside it.
  if (const auto named = sim::world_path_from_environment()) return {{*named, "sim"}};
  const auto folder = runtime_folder();
  if (!folder) return worlds;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(*folder / "sim", ignored))
    if (entry.path().extension() == ".world")
      worlds.push_back({entry.path(), "sim:" + entry.path().stem().string()});
  std::sort(worlds.begin(), worlds.end(), [](const World& a, const World& b) { return a.file < b.file; });
  return worlds;
}

std::optional<std::string> spec_of(const std::string& uuid, const std::vector<World>& worlds) {
  for (const auto& world : worlds) {
    const auto open = sim::SimWorld::open(world.file);
    if (open && (*open)->find(uuid)) return world.spec;
  }
  return std::nullopt;
}

/// "sim:a,b" as it is typed: "sim:a,sim:b".
std::string as_typed(const std::string& spec) {
  std::string out;
  for (const char c : spec) out += c == ',' ? std::string(",sim:") : std::string(1, c);
  return out;
}

void describe_own(LeftBehind& left, const fs::path& folder, const std::vector<World>& worlds) {
  left.spec = spec_of(left.uuid, worlds);
  if (left.spec) {
    left.hint = cat("rubato restore --gpu ", as_typed(*left.spec));
    return;
  }
  left.what += "; no simulated world that can be named from here has this GPU";
  left.hint = cat("RUBATO_SIM_WORLD=FILE rubato restore --gpu sim; where that world is gone: rm ",
                  (folder / left.uuid).string());
}

void look_into(std::vector<LeftBehind>& all, const fs::path& folder) {
  const auto journals = guard::journals_in(folder);
  if (!journals) {
    all.push_back({{}, journals.error().what, journals.error().hint, {}, false});
    return;
  }
  if (journals->empty()) return;
  const bool system = folder == guard::kSystemFolder;
  const auto worlds = system ? std::vector<World>() : worlds_of_this_user();
  for (const auto& gpu : *journals) {
    const auto held = held_by_a_guard(folder, gpu.uuid);
    LeftBehind left{gpu.uuid, {}, {}, {}, held.value_or(false)};
    left.what = cat(gpu.uuid, " has a journal in ", folder.string(), ": ",
                    !held   ? "a run holds it now, or a dead one left its setting behind"
                    : *held ? "a run holds it now"
                            : "a dead run left its setting behind");
    if (system) {
      left.spec = "nvml";
      left.hint = geteuid() == 0 ? "rubato restore" : "sudo rubato restore";
    } else {
      describe_own(left, folder, worlds);
    }
    if (left.held) {
      const auto pid = holder_of(folder / (gpu.uuid + ".lock"));
      left.hint = pid ? cat("where no run goes on its guard hangs in the driver: kill -9 ", *pid,
                            ", then rubato restore")
                      : std::string();
    }
    all.push_back(std::move(left));
  }
}

}  // namespace

std::optional<bool> held_by_a_guard(const std::filesystem::path& folder, const std::string& uuid) {
  const ScopedFd lock(open((folder / (uuid + ".lock")).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.is_open()) return std::nullopt;
  return flock(lock.get(), LOCK_SH | LOCK_NB) != 0;
}

std::vector<LeftBehind> left_behind() {
  std::vector<LeftBehind> all;
  for (const auto& folder : journal_folders()) look_into(all, folder);
  return all;
}

}  // namespace rubato::cli
