// What `run` was asked to set, checked against the GPUs before the job starts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "device/gpu.h"

namespace rubato::cli {

/// Exactly as typed; absent: not asked for.
struct WantedText {
  std::optional<double> power_limit_w;
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::string found_sm_clock;  // "MIN:MAX" or "none"
};

struct Wanted {
  Setting setting;
  std::vector<Knob> knobs;
  std::optional<ClockRange> found_sm_clock;
  bool found_clock_stated = false;  // with a lock or with none: nothing is left to be told by looking
  std::vector<std::string> notes;   // "1000 MHz is not a clock of …: using 1005 MHz"
};

/// invalid_argument where the text makes no sense by itself. No GPU is touched.
[[nodiscard]] Result<Wanted> parse_wanted(const WantedText& text);

/// "5%" or "0.05" as a fraction; absent where the text is empty. invalid_argument outside 0 to 100 %.
[[nodiscard]] Result<std::optional<double>> parse_max_slowdown(const std::string& text);

/// One of the knobs that models and searches choose: application clocks are none of them. invalid_argument.
[[nodiscard]] Result<Knob> parse_tunable_knob(const std::string& name);

/// A provider's name or "auto" as it is, empty for "off". Errors: invalid_argument naming the providers.
[[nodiscard]] Result<std::string> wanted_counters(const std::string& name);

/// Fits `wanted` to every GPU: invalid_argument (with the range) for a limit one of them refuses,
/// not_supported for a knob one of them lacks; a clock it does not have becomes the nearest one that all of
/// them have, said in notes.
[[nodiscard]] Status fit_to_gpus(Wanted& wanted, const std::vector<std::unique_ptr<device::Gpu>>& gpus);

/// Why this process could not set it, where it could not; permission only. `why`: what the machine says about
/// that, in place of the driver's own words.
[[nodiscard]] std::optional<Error> missing_right(const Wanted& wanted,
                                                 const std::vector<std::unique_ptr<device::Gpu>>& gpus,
                                                 const std::optional<Error>& why = std::nullopt);

}  // namespace rubato::cli
