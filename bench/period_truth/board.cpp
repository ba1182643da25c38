#include "period_truth/board.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "period_truth/draw.h"

namespace rubato::period_truth {
namespace {

/// Spreads a stretch over the bins it touches.
class Binner {
 public:
  explicit Binner(double end_s) {
    const auto bins = static_cast<std::size_t>(end_s / Waveform::kBin);
    for (auto* column : {&wave_.power_w, &wave_.busy, &wave_.memory, &wave_.speed}) column->assign(bins, 0);
  }
  void add(const Stretch& stretch) {
    double left = stretch.seconds;
    while (left > 0 && bin_ < wave_.power_w.size()) {
      const double part = std::min(left, (1 - filled_) * Waveform::kBin);
      const auto share = static_cast<float>(part / Waveform::kBin);
      wave_.power_w[bin_] += share * static_cast<float>(stretch.level);
      wave_.busy[bin_] += share * static_cast<float>(stretch.busy);
      wave_.memory[bin_] += share * static_cast<float>(stretch.busy * stretch.memory);
      wave_.speed[bin_] += share * static_cast<float>(stretch.speed);
      filled_ += part / Waveform::kBin;
      left -= part;
      if (filled_ > 1 - 1e-9) {
        filled_ = 0;
        ++bin_;
      }
    }
  }
  [[nodiscard]] Waveform take() { return std::move(wave_); }

 private:
  Waveform wave_;
  std::size_t bin_ = 0;
  double filled_ = 0;
};

}  // namespace

Board draw_board(Random& random) {
  Board board;
  board.highest_w = log_uniform(random, 120, 700);
  board.idle_w = board.highest_w * random.uniform(0.08, 0.2);
  board.smoothing_s = log_uniform(random, 0.001, 0.015);
  board.warming_s = log_uniform(random, 20, 120);
  board.leakage = random.uniform(0, 0.06);
  board.limit_w = board.highest_w * random.uniform(0.75, 1.1);
  board.mhz_step = chance(random, 0.5) ? 15 : 7.5;
  board.highest_mhz = board.mhz_step * std::round(random.uniform(1200, 2100) / board.mhz_step);
  return board;
}

Waveform draw_waveform(const Board& board, const Program& program, Random& random) {
  Binner binner(program.end_s);
  for (const Stretch& stretch : program.stretches) binner.add(stretch);
  Waveform wave = binner.take();
  const double span = board.highest_w - board.idle_w;
  const double smooth = -std::expm1(-Waveform::kBin / board.smoothing_s);
  const double warm = -std::expm1(-Waveform::kBin / board.warming_s);
  const double phase = random.uniform(0, 2 * std::numbers::pi);
  const double turn =
      program.background_s > 0 ? 2 * std::numbers::pi * Waveform::kBin / program.background_s : 0;
  double level = wave.power_w.empty() ? 0.0 : static_cast<double>(wave.power_w.front());
  double warmth = random.uniform(0, 0.5);
  std::size_t bin = 0;
  for (float& power : wave.power_w) {
    level += (static_cast<double>(power) - level) * smooth;
    warmth += (level - warmth) * warm;
    double watts = (board.idle_w + span * level) * (1 + board.leakage * warmth);
    if (turn > 0) {
      // A controller that hunts: flattened crests.
      const double wave_now = std::sin(phase + turn * static_cast<double>(bin));
      watts += program.background_w * std::clamp(1.5 * wave_now, -1.0, 1.0);
    }
    power = static_cast<float>(std::max(0.0, watts));
    ++bin;
  }
  return wave;
}

RunningSum::RunningSum(const std::vector<float>& column) {
  sum_.reserve(column.size() + 1);
  sum_.push_back(0);
  for (const float value : column) sum_.push_back(sum_.back() + static_cast<double>(value));
  if (!column.empty()) first_ = static_cast<double>(column.front());
}

double RunningSum::up_to(double t) const {
  const double bins = t / Waveform::kBin;
  if (bins <= 0) return bins * first_;
  const double last = static_cast<double>(sum_.size() - 1);
  if (bins >= last) return sum_.back();
  const auto whole = static_cast<std::size_t>(bins);
  return sum_[whole] + (bins - static_cast<double>(whole)) * (sum_[whole + 1] - sum_[whole]);
}

double RunningSum::mean(double begin_s, double end_s) const {
  return (up_to(end_s) - up_to(begin_s)) * Waveform::kBin / (end_s - begin_s);
}

}  // namespace rubato::period_truth
