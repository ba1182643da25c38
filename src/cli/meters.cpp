#include "cli/meters.h"

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "base/text.h"
#include "conduct/patience.h"
#include "meter/registry.h"

namespace rubato::cli {
namespace {

// A test aid (docs/meters.md): where meters find /sys, /proc and /dev. Nothing else looks at it.
FsRoot root_of_meters() {
  const char* root = ::secure_getenv("RUBATO_SYSROOT");
  return root != nullptr && *root != '\0' ? FsRoot(root) : FsRoot();
}

bool is_in_the_spec(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found ||
         error.code == ErrorCode::corrupt;
}

}  // namespace

Result<OpenMeters> open_meters(const std::vector<std::string>& specs, std::shared_ptr<const Clock> clock) {
  OpenMeters open;
  if (specs.empty()) return open;
  auto tables = meter::read_meter_tables();
  if (!tables && is_in_the_spec(tables.error())) return fail(tables.error());
  if (!tables) log::warning(tables.error());
  const meter::Surroundings around{.clock = std::move(clock),
                                   .root = root_of_meters(),
                                   .tables = tables ? std::move(*tables) : std::vector<meter::MeterTable>{}};
  for (const std::string& spec : specs) {
    using Opened = Result<std::unique_ptr<meter::Meter>>;
    auto answer = conduct::patiently<Opened>([spec, around] { return meter::open_meter(spec, around); });
    if (!answer) {
      open.stuck = true;
      open.left_out.push_back(
          Error{ErrorCode::timeout, cat("meter ", spec, " does not answer; it is left out"), {}});
      log::warning(open.left_out.back());
      continue;
    }
    Opened& opened = *answer;
    if (!opened && is_in_the_spec(opened.error())) {
      Error error = opened.error();
      error.what = cat("--meter ", spec, ": ", error.what);
      return fail(std::move(error));
    }
    if (!opened) {
      open.left_out.push_back(Error{opened.error().code,
                                    cat(opened.error().what, "; meter ", spec, " is left out"),
                                    opened.error().hint});
      log::warning(open.left_out.back());
      continue;
    }
    const auto same = [&](const auto& other) { return other->name() == (*opened)->name(); };
    if (std::any_of(open.meters.begin(), open.meters.end(), same))
      return fail(ErrorCode::invalid_argument, cat("--meter ", (*opened)->name(), " is given twice"));
    open.meters.push_back(std::move(*opened));
  }
  return open;
}

std::vector<meter::FoundMeter> meters_here(std::optional<Error>& complaint) {
  auto tables = meter::read_meter_tables();
  if (!tables) complaint = tables.error();
  return meter::find_meters({.clock = std::make_shared<RealClock>(),
                             .root = root_of_meters(),
                             .tables = tables ? std::move(*tables) : std::vector<meter::MeterTable>{}});
}

}  // namespace rubato::cli
