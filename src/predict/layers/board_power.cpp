#include "predict/layers/board_power.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/text.h"

namespace rubato::predict {

double volts_at(const BoardFigures& board, Megahertz sm) {
  const auto above = std::find_if(board.voltage.begin(), board.voltage.end(),
                                  [&](const BoardFigures::Voltage& point) { return point.clock >= sm; });
  if (above == board.voltage.end()) return board.voltage.back().volts;
  if (above == board.voltage.begin()) return above->volts;
  const auto below = std::prev(above);
  return below->volts + (above->volts - below->volts) * ((sm - below->clock) / (above->clock - below->clock));
}

Watts power_at(const BoardFigures& board, const Clocks& clocks, const Load& load) {
  const double volts = volts_at(board, clocks.sm);
  const double reference = volts_at(board, board.sm_reference);
  const double highest = board.voltage.back().volts;
  const double square = volts * volts / (reference * reference);
  const double core = clocks.sm / board.sm_reference * square;
  const double memory = clocks.memory / board.memory_reference;
  return board.idle + board.leakage * (volts * volts / (highest * highest)) +
         (board.clock_tree + board.compute * load.compute) * core +
         board.transport * (load.traffic * memory * square) +
         (board.memory_background + board.memory_traffic * load.traffic) * memory;
}

Status check_figures(const BoardFigures& board) {
  std::string lacks;
  const auto need = [&](bool there, std::string_view figure) {
    if (!there) lacks += cat(lacks.empty() ? "" : ", ", figure);
  };
  need(board.peaks.sm_count.has_value(), "sm_count");
  need(board.peaks.memory_bus_bits.has_value(), "memory_bus_bits");
  need(!board.clocks.empty(), "clocks");
  need(!board.voltage.empty(), "voltage");
  need(board.sm_reference > Megahertz(0), "sm_reference_mhz");
  need(board.memory_reference > Megahertz(0), "memory_reference_mhz");
  need(board.sm_default > Megahertz(0), "default SM clock");
  need(board.memory_default > Megahertz(0), "default memory clock");
  need(board.compute > Watts(0), "compute_w");
  need(board.limit > Watts(0), "limit_default_w");
  if (!lacks.empty())
    return fail(
        ErrorCode::not_supported, cat("the profile of '", board.profile, "' has no ", lacks),
        "a prediction from first principles needs them: complete gpus/ or measure with `rubato sweep`");
  if (!peak_rates(board.peaks))
    return fail(ErrorCode::not_supported,
                cat("no arithmetic throughput is known for compute capability ", board.peaks.compute_major,
                    ".", board.peaks.compute_minor, " ('", board.profile, "')"),
                "measure with `rubato sweep` instead");
  return {};
}

}  // namespace rubato::predict
