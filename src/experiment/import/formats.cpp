#include "experiment/import/formats.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "experiment/import/collect.h"

namespace rubato::experiment {
namespace {

constexpr std::array kFormats = {
    ImportFormat{"zeus-power", "Zeus's power traces, summary_power_GPU.csv"},
    ImportFormat{"zeus-optimizer", "what Zeus's power-limit optimizer recorded, GPU+WORKLOAD+gpuN.csv"},
    ImportFormat{"zeus-profile", "what Zeus's power-limit optimizer saved as JSON"},
    ImportFormat{"zeus-monitor", "a ZeusMonitor's log of windows"},
    ImportFormat{"perseus", "Perseus's profiles of pipeline stages, MODEL+GPU.csv"},
    ImportFormat{"rubato-sweep", "sweep tables of rubato's own, to join them"},
};
/// A wish that a format has no use for is one that its user believes was granted.
Status check_wishes(std::string_view format, const ImportWishes& wishes) {
  if (wishes.gpu_count && format != "zeus-profile")
    return fail(ErrorCode::invalid_argument,
                cat("--gpu-count is for zeus-profile; files of ", format, " tell whose energy is whose"),
                "leave it out");
  if (wishes.workload && format == "zeus-power")
    return fail(ErrorCode::invalid_argument, "--workload: every row of zeus-power names its own",
                "leave it out");
  return {};
}

constexpr std::array<ReadFormat, kFormats.size()> kReaders = {read_zeus_power,   read_zeus_optimizer,
                                                              read_zeus_profile, read_zeus_monitor,
                                                              read_perseus,      read_rubato_sweep};

}  // namespace

std::span<const ImportFormat> import_formats() {
  return kFormats;
}

Result<SweepTable> import_files(std::string_view format, std::span<const ForeignFile> files,
                                const ImportWishes& wishes) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const ImportFormat& known) { return known.name == format; });
  if (found == kFormats.end()) {
    std::string names;
    for (const ImportFormat& known : kFormats) names += cat(names.empty() ? "" : ", ", known.name);
    return fail(ErrorCode::invalid_argument, cat("there is no format '", format, "'"),
                cat("there are ", names));
  }
  if (const Status fine = check_wishes(format, wishes); !fine) return fail(fine.error());
  Collect into;
  into.comment(cat("Imported by rubato from ", format));
  const ReadFormat read = kReaders[static_cast<std::size_t>(found - kFormats.begin())];
  for (const ForeignFile& file : files)
    if (const Status done = read(file, wishes, into); !done) return fail(done.error());
  into.keep_common_features();
  return std::move(into).finish();
}

}  // namespace rubato::experiment
