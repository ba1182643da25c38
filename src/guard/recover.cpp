#include "guard/recover.h"

#include <cmath>

#include "base/text.h"
#include "guard/restore.h"

namespace rubato::guard {

Result<Era> present_era(const FsRoot& root, std::string driver_version) {
  const auto boot = root.read("/proc/sys/kernel/random/boot_id");
  if (!boot) return fail(boot.error());
  return Era{std::string(trim(*boot)), std::move(driver_version)};
}

std::optional<std::int64_t> energy_mj(device::Gpu& gpu) {
  const auto reading = gpu.read_fast();
  if (!reading || !reading->energy_counter) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(reading->energy_counter->value() * 1e3));
}

std::optional<std::string> why_void(const Header& written, const Era& now,
                                    std::optional<std::int64_t> energy_now_mj) {
  if (written.boot_id != now.boot_id) return "the machine was started anew since";
  if (written.driver_version != now.driver_version) {
    return cat("the driver was ", written.driver_version, " and is ", now.driver_version, " now");
  }
  if (written.energy_mj && energy_now_mj && *energy_now_mj < *written.energy_mj) {
    return "the GPU was reset since: its energy counter began anew";
  }
  return std::nullopt;
}

Result<std::optional<Recovery>> recover(const Folder& folder, const GpuId& gpu, OpenedGpu& opened,
                                        const Era& now) {
  auto journal = Journal::open_left_behind(folder, gpu);
  if (!journal && journal.error().code == ErrorCode::corrupt) {
    const auto moved = Journal::move_aside(folder, gpu);
    if (!moved) return fail(moved.error());
    return Recovery{{gpu, Restoration::failed,
                     cat(journal.error().what, "; nothing was put back and it was moved to ", *moved,
                         ": compare the power limit and clocks with what they should be")},
                    true};
  }
  if (!journal) return fail(journal.error());
  if (!*journal) return std::nullopt;
  Recovery recovery{{gpu, Restoration::left_alone, {}}, false};
  if (const auto reason = why_void((*journal)->content().header, now, energy_mj(*opened.gpu))) {
    recovery.report.detail = "a dead run's settings are gone: " + *reason;
  } else {
    recovery.report = restore(**journal, *opened.gpu, *opened.control);
    if (recovery.report.outcome == Restoration::failed) return recovery;
  }
  if (const Status gone = (*journal)->discard(); !gone) return fail(gone.error());
  recovery.cleared = true;
  return recovery;
}

}  // namespace rubato::guard
