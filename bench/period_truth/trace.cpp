#include "period_truth/trace.h"

#include "period_truth/draw.h"

namespace rubato::period_truth {

Trace draw_trace(std::uint64_t seed) {
  Trace trace;
  trace.seed = seed;
  trace.family = static_cast<Family>(seed % kFamilies);
  // 19 and 5 have no common divisor: every pair comes.
  const auto kind = static_cast<SensorKind>(seed % kSensorKinds);
  Random random(seed);
  Random work = random.fork(1);
  Random board_draws = random.fork(2);
  Random sensor_draws = random.fork(3);
  const Program program = draw_program(trace.family, work);
  const Board board = draw_board(board_draws);
  const Waveform wave = draw_waveform(board, program, board_draws);
  trace.sensor = draw_sensor(kind, sensor_draws);
  const std::vector<Tick> ticks = draw_ticks(trace.sensor, wave, sensor_draws);
  const Reader reader = draw_reader(wave.end_s(), sensor_draws);
  trace.points = read_all(trace.sensor, ticks, reader, board, wave, sensor_draws);
  if (chance(sensor_draws, 0.5)) {
    trace.facts.update_period = Seconds(trace.sensor.nominal_s);
    if (trace.sensor.window_s > 0) trace.facts.averaging_window = Seconds(trace.sensor.window_s);
  }
  trace.truth = truth_of(program, trace.sensor, ticks, reader.interval_s);
  return trace;
}

}  // namespace rubato::period_truth
