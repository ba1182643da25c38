// Small made-up tables whose numbers fit in the head.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "device/replay/board.h"
#include "device/replay/world.h"

namespace rubato::device::replay {

inline constexpr std::string_view kColumns =
    "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n";

/// An iteration takes 4 s at 100 W, 2 s at 200 W (the default, being the highest) and 2.5 s at 150 W.
inline constexpr std::string_view kLimits =
    "V100,net,g,100,,,4,90,360\n"
    "V100,net,g,150,,,2.5,140,350\n"
    "V100,net,g,200,,,2,200,400\n";

/// Power limit by SM clock, all four corners; the default is 200 W, 1200 MHz.
inline constexpr std::string_view kTwoKnobs =
    "A100,net,g,100,900,1215,4,80,320\n"
    "A100,net,g,100,1200,1215,4,100,400\n"
    "A100,net,g,200,900,1215,3,100,300\n"
    "A100,net,g,200,1200,1215,2,200,400\n";

/// The default row leaves the clock alone.
inline constexpr std::string_view kClocks =
    "V100,net,g,,1087,877,1.5,100,150\n"
    "V100,net,g,,1102,877,1.4,110,154\n"
    "V100,net,g,,,,1,200,200\n";

inline SweepTable table_of(std::string_view rows) {
  const auto table = parse_sweep_table(cat(kColumns, rows));
  EXPECT_TRUE(table) << table.error().what;
  return table.value_or(SweepTable{});
}

inline ReplaySource source_of(std::string_view rows, std::optional<Seconds> iteration = {}) {
  return {.table = table_of(rows), .iteration = iteration};
}

inline Board board_of(std::string_view rows, std::optional<Seconds> iteration = {}) {
  auto board = Board::make(source_of(rows, iteration));
  EXPECT_TRUE(board) << board.error().what;
  return std::move(board).value();
}

inline std::unique_ptr<ReplayWorld> world_of(std::string_view rows, const ReplayOptions& options = {}) {
  const ReplaySource source = source_of(rows);
  auto world = ReplayWorld::create_private(std::span(&source, 1), options);
  EXPECT_TRUE(world) << world.error().what;
  return std::move(world).value();
}

inline TimePoint at(Seconds since_begin) {
  return TimePoint{} + since_begin;
}

}  // namespace rubato::device::replay
