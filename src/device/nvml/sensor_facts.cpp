#include "device/nvml/sensor_facts.h"

#include <array>

#include "base/text.h"

namespace rubato::device::nvml {
namespace {

// "Part-time Power Measurements".
constexpr std::string_view kSource = "Yang, Adamek, Armour 2023, arXiv 2312.02741";

struct Row {
  int major;
  int minor;                      // -1: every one of this major
  std::string_view only_if_name;  // empty: every board of this chip
  int update_ms;
  int instant_window_ms;  // 0: unknown
  int usage_window_ms;
  int lag_ms;  // time constant where it creeps after the power instead; 0: it does not
  std::string_view remark;
  std::string_view source = kSource;
  bool counter_sees_all = false;
  std::string_view never_if_name = {};  // another board of that name
};

// Where nothing else is said. More than 70 boards against an external meter; of chips and boards that are
// neither in it nor measured for this project there is no row here.
constexpr std::array kRows = {
    Row{3, 5, "", 15, 0, 0, 40, "lags like a capacitor, no window"},
    Row{3, 7, "", 100, 0, 0, 220, "lags by about half a second, no window"},
    Row{5, -1, "", 100, 0, 0, 0, "lags like a capacitor, by how much is not known"},
    Row{6, -1, "", 20, 10, 10, 0, "sees half of the time"},
    Row{7, 0, "", 20, 10, 10, 0, "sees half of the time"},
    Row{7, 5, "", 100, 0, 0, 0, "window 100 ms on most boards, 20 ms on a Quadro RTX 8000"},
    Row{8, 0, "", 100, 25, 25, 0, "sees a quarter of the time"},
    Row{8, 6, "", 100, 80, 1000, 0, "the instant reading sees 78 to 100 ms of 100"},
    Row{8, 9, "", 100, 100, 1000, 0, ""},
    Row{9, 0, "H100", 100, 25, 1000, 0, "the instant reading sees a quarter of the time"},
    // A window of 30 to 40 ms fits best; the counter is flat over square waves of 20 ms to 1 s.
    Row{9, 0, "NVIDIA H200", 100, 30, 1000, 0,
        "the instant reading sees about a third of the time, the energy counter all of it",
        "measured on one board, docs/evidence/2026-11-28-h200.md", true, " NVL"},
};

const Row* find(ComputeCapability chip, std::string_view board_name) {
  for (const Row& row : kRows) {
    const bool chip_fits = row.major == chip.major && (row.minor < 0 || row.minor == chip.minor);
    const auto named = [&](std::string_view part) { return board_name.find(part) != std::string_view::npos; };
    if (chip_fits && named(row.only_if_name) && (row.never_if_name.empty() || !named(row.never_if_name)))
      return &row;
  }
  return nullptr;
}

std::optional<Seconds> milliseconds(int ms) {
  if (ms == 0) return std::nullopt;
  return Seconds(ms * 1e-3);
}

}  // namespace

SensorFacts sensor_facts(ComputeCapability chip, std::string_view board_name, PowerPath path,
                         std::string_view driver_version) {
  SensorFacts facts;
  facts.calibration_band = kUncalibratedBand;
  facts.calibration_floor = kUncalibratedFloor;
  const Row* row = find(chip, board_name);
  if (row == nullptr) {
    facts.source = "nothing published for this board; the spread of other boards assumed";
    return facts;
  }
  facts.update_period = milliseconds(row->update_ms);
  facts.lag = milliseconds(row->lag_ms);
  facts.counter_sees_all = row->counter_sees_all;
  facts.source = cat(row->source, row->remark.empty() ? "" : ": ", row->remark);
  if (path == PowerPath::instant_field) facts.averaging_window = milliseconds(row->instant_window_ms);
  if (path == PowerPath::power_usage) {
    facts.averaging_window = milliseconds(row->usage_window_ms);
    // Driver 530 alone gave this reading 100 ms where those before and after give 1 s, on the boards they
    // tried.
    if (row->usage_window_ms == 1000 && driver_version.starts_with("530.")) facts.averaging_window.reset();
  }
  return facts;
}

}  // namespace rubato::device::nvml
