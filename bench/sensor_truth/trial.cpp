#include "sensor_truth/trial.h"

#include <algorithm>
#include <cmath>

#include "measure/energy_meter.h"
#include "sensor_truth/sensor.h"

namespace rubato::truth {
namespace {

struct Gain {
  double gain;
  double offset_w;
  std::string model;  // it was measured on
};

// Boards without a meter beside them take gain and offset (for its power) from one that had.
Gain gain_of(const Board& board, const std::vector<Board>& boards, Random& random) {
  if (board.gain) return {*board.gain, board.offset_w, board.model};
  while (true) {
    const Board& other = boards[random.index(boards.size())];
    if (other.gain) return {*other.gain, other.offset_w * board.highest_w / other.highest_w, other.model};
  }
}

std::optional<Judged> judge(const measure::EnergyMeter& plain, const measure::EnergyMeter& calibrated,
                            double begin, double end, const Energy& truth, const Energy& sensed) {
  const auto at = [](double t) { return TimePoint{} + Seconds(t); };
  const auto before = plain.window(at(begin), at(end));
  const auto after = calibrated.window(at(begin), at(end));
  if (!before || !after) return std::nullopt;
  const double energy = std::max(1e-9, before->energy.value());
  const double error = before->energy.value() - sensed.joules(begin, end);
  const double both = (before->band_sampling + before->band_calibration).value();
  const double small = (after->band_sampling + after->band_calibration).value();
  const double plain_truth = truth.joules(begin, end);
  return Judged{end - begin,
                before->band_sampling.value() / energy,
                error / energy,
                std::abs(error) <= before->band_sampling.value(),
                std::abs(before->energy.value() - plain_truth) <= both,
                std::abs(after->energy.value() - plain_truth) <= small,
                both / energy,
                small / energy};
}

Counter draw_counter(const Board& board, Random& random) {
  if (!board.volta_or_newer || random.uniform() < 0.5) return Counter::none;
  // A mean over a second is not what a counter adds up; whether one sees more than a part-time reading,
  // nobody has published.
  return board.window_s > 0.5 || random.uniform() < 0.5 ? Counter::sees_all
                                                        : Counter::sees_what_the_sensor_sees;
}

double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

}  // namespace

Trial run_trial(const Table& table, std::uint64_t seed, std::uint64_t number) {
  Random random = Random(seed).fork(number);
  // Every row in turn, so that all kinds come as often as the table has them.
  const Board& board = table.boards[number % table.boards.size()];
  const auto shape = static_cast<Shape>(random.index(kShapes));
  const double length = log_uniform(random, 5, 300);
  const double begin = random.uniform(1.5, 4);
  const bool ends_now = random.uniform() < 0.25;
  const double until = begin + length + (ends_now ? 0 : random.uniform(1.5, 3));
  const Load load = draw_load(shape, until + 1, board.idle_w, board.highest_w, board.period_s, random);
  const Gain own = gain_of(board, table.boards, random);
  const Response response = draw_response(board, own.gain, own.offset_w, random);
  const Energy truth(load, Response{});
  const Energy sensed(load, response);

  const Counter counter = draw_counter(board, random);
  // A counter that adds up readings moves with them.
  const double own_period = random.uniform() < 0.3 ? 0.02 : 0.1;
  const double counter_period = counter == Counter::sees_what_the_sensor_sees ? board.period_s : own_period;
  SensorFacts facts = published(board);
  if (random.uniform() < 0.5) facts.update_period = Seconds(board.period_s * (1 + 0.002 * random.normal()));
  if (counter != Counter::none) facts.counter_period = Seconds(counter_period * (1 + 0.01 * random.normal()));
  // What is known of boards nobody has measured must not come from this very model.
  const UncalibratedBand others = uncalibrated_band(table.boards, own.model);
  facts.calibration_band = others.fraction;
  facts.calibration_floor = Watts(others.floor_w);
  SensorFacts known = facts;
  calibrate(known, board, response, random);

  measure::EnergyMeter meter(facts, Kind::measured, "plain");
  measure::EnergyMeter calibrated(known, Kind::measured, "calibrated");
  const bool step_known = load.step_s && random.uniform() < 0.75;
  if (step_known) {
    const Seconds step(*load.step_s * (1 + 0.0005 * random.normal()));
    const Seconds spread(load.spread_s * random.uniform(0.8, 1.2));
    meter.learn_step(step, spread);
    calibrated.learn_step(step, spread);
  }
  const Reader reader{facts.update_period->value(), counter_period, until};
  for (const FastReading& reading : read_all(board, counter, sensed, reader, random)) {
    meter.add(reading);
    calibrated.add(reading);
  }

  const double brief = log_uniform(random, 0.3, 5);
  const double brief_begin = begin + (length - brief) * random.uniform();
  return {board.kind(),
          board.model,
          shape,
          counter,
          step_known,
          facts.averaging_window || facts.lag,
          judge(meter, calibrated, begin, begin + length, truth, sensed).value_or(Judged{}),
          judge(meter, calibrated, brief_begin, brief_begin + brief, truth, sensed).value_or(Judged{})};
}

std::vector<Trial> run_trials(const Table& table, std::uint64_t seed, std::uint64_t count) {
  std::vector<Trial> trials;
  if (table.boards.empty()) return trials;
  trials.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) trials.push_back(run_trial(table, seed, i));
  return trials;
}

}  // namespace rubato::truth
