#include "guard/recover.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "guard/restore.h"
#include "guard/writes.h"

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

std::optional<std::int64_t> lowest_energy_mj(device::Gpu& gpu) {
  const auto first = energy_mj(gpu);
  const auto second = energy_mj(gpu);
  if (!first || !second) return first ? first : second;
  return std::min(*first, *second);
}

std::optional<std::string> why_over(const Header& written, const Era& now) {
  if (written.boot_id != now.boot_id) return "the machine was started anew since";
  if (written.driver_version != now.driver_version) {
    return cat("the driver was ", written.driver_version, " and is ", now.driver_version, " now");
  }
  return std::nullopt;
}

bool counter_fell(const Header& written, device::Gpu& gpu) {
  const auto fell = [&] {
    const auto now = energy_mj(gpu);
    return written.energy_mj && now && *now < *written.energy_mj;
  };
  const bool once = fell();
  return once && fell();  // one reading may lie
}

bool limit_stands(const JournalContent& written, const PowerLimits& now) {
  return written.limit && written.limit->touched && is_ours(*written.limit, now);
}

std::optional<std::string> why_void(const JournalContent& written, const Era& now, device::Gpu& gpu) {
  if (auto over = why_over(written.header, now)) return over;
  if (!written.limit || !written.limit->touched || !counter_fell(written.header, gpu)) return std::nullopt;
  const auto limits = gpu.power_limits();
  if (!limits || limit_stands(written, *limits) || !same_limit(limits->requested, limits->default_limit))
    return std::nullopt;
  return cat("the GPU was reset since: its energy counter began anew and the power limit is the driver's ",
             limits->default_limit);
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
  if (const auto reason = why_void((*journal)->content(), now, *opened.gpu)) {
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
