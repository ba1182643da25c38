// A board whose figures fit in the head: 2,560 single-precision operations in one SM clock, 16 bytes in one
// memory clock.
#pragma once

#include "core/board_figures.h"
#include "core/layer_demand.h"

namespace rubato::predict {

inline BoardFigures made_board() {
  BoardFigures board;
  board.profile = "made";
  board.peaks = {.compute_major = 8,
                 .compute_minor = 6,
                 .sm_count = 10,
                 .memory_bus_bits = 64,
                 .highest_sm = Megahertz(2000),
                 .highest_memory = Megahertz(5000)};
  board.clocks = {{Megahertz(2500), {Megahertz(500), Megahertz(1000)}},
                  {Megahertz(5000), {Megahertz(500), Megahertz(1000), Megahertz(1500), Megahertz(2000)}}};
  board.has_memory_lock = true;
  board.has_sm_lock = true;
  board.sm_default = Megahertz(1500);
  board.memory_default = Megahertz(5000);
  board.sm_reference = Megahertz(1000);
  board.memory_reference = Megahertz(5000);
  board.idle = Watts(10);
  board.clock_tree = Watts(5);
  board.compute = Watts(80);
  board.memory_background = Watts(8);
  board.memory_traffic = Watts(20);
  board.transport = Watts(4);
  board.leakage = Watts(16);
  board.limit = Watts(1000);
  board.voltage = {{Megahertz(1000), 0.5}, {Megahertz(2000), 1.0}};
  board.clock_latency = {Seconds(0.03), 0.5, Seconds(0.3), 0.02};
  return board;
}

/// Sums and products that the matrix pipes take: `ms` milliseconds at 1000 MHz and three quarters of the
/// roof.
inline LayerDemand made_dense(double ms) {
  LayerDemand layer;
  layer.layer = "dense";
  layer.dense = true;
  layer.operations = 2560 * 1e6 * 0.75 * ms;
  return layer;
}

/// Element by element: `ms` milliseconds at 5000 MHz and 0.85 of the bandwidth.
inline LayerDemand made_stream(double ms) {
  LayerDemand layer;
  layer.layer = "stream";
  layer.bytes_read = 80e6 * 0.85 * ms;
  return layer;
}

}  // namespace rubato::predict
