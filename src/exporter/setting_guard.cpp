#include "exporter/setting_guard.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/text.h"

namespace rubato::exporter {

SettingGuard setting_guard_of(const GpuId& gpu, const std::filesystem::path& journals, const FsRoot& root) {
  struct stat there {};
  if (stat((journals / gpu.uuid).c_str(), &there) != 0)
    return errno == ENOENT ? SettingGuard::none : SettingGuard::unknown;
  const auto locks = root.read("/proc/locks");
  if (!locks) return SettingGuard::unknown;
  if (stat((journals / (gpu.uuid + ".lock")).c_str(), &there) != 0)
    return errno == ENOENT ? SettingGuard::dead : SettingGuard::unknown;
  // "1: FLOCK  ADVISORY  WRITE 4711 00:19:1234 0 EOF" (proc(5)). The device is not compared: file systems
  // with devices of their own (btrfs, overlays) show another one here than to stat().
  const std::string inode = cat(":", there.st_ino, " ");
  for (const std::string& line : split(*locks, '\n'))
    if (line.find(" FLOCK ") != std::string::npos && line.find(inode) != std::string::npos)
      return SettingGuard::alive;
  return SettingGuard::dead;
}

}  // namespace rubato::exporter
