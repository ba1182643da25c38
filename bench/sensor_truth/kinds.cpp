#include "sensor_truth/kinds.h"

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

namespace rubato::truth {
namespace {

struct Rating {
  std::string_view in_name;
  double idle_w;  // typical; few sheets state it
  double highest_w;
  bool volta_or_newer;
  bool mixed;               // boards of this generation behave differently: nothing can be told beforehand
  double least_seen_s = 1;  // of its generation, where some boards see less than others
};
// Board power of the data sheets (a K80 holds two GPUs: half of its 300 W). The first that fits.
constexpr std::array kRatings = {
    Rating{"RTX_3090", 25, 350, true, false, 0.08},
    Rating{"RTX_3070_Ti", 15, 290, true, false, 0.08},
    Rating{"RTX_2080_Ti", 15, 250, true, true},
    Rating{"RTX_2060_SUPER", 10, 175, true, true},
    Rating{"1080_Ti", 12, 250, false, false},
    Rating{"RTX_1080", 8, 180, false, false},
    Rating{"GTX_TITAN_X", 15, 250, false, true},
    Rating{"Tesla_M40", 16, 250, false, true},
    Rating{"K620", 5, 41, false, true},
    Rating{"K40m", 20, 235, false, false},
    Rating{"K80", 27, 150, false, false},
    Rating{"A100-SXM4", 55, 400, true, false},
    Rating{"A100", 40, 275, true, false},
    Rating{"P100", 27, 250, false, false},
    Rating{"A5000", 20, 230, true, false, 0.08},
    Rating{"RTX_4090", 25, 450, true, false},
    Rating{"TITAN_X_Pascal", 12, 250, false, false},
    Rating{"GTX_1650_Ti", 5, 55, true, true},
    Rating{"A10", 18, 150, true, false, 0.08},
    Rating{"H100", 50, 350, true, false},
    Rating{"V100", 40, 300, true, false},
    Rating{"TITAN_RTX", 15, 280, true, true},
    Rating{"RTX_8000", 15, 260, true, true},
    Rating{"A6000", 20, 300, true, false, 0.08},
};

const Rating* rating_of(std::string_view model) {
  for (const Rating& rating : kRatings)
    if (model.find(rating.in_name) != std::string_view::npos) return &rating;
  return nullptr;
}

std::optional<double> figure(const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (end == cell.c_str() || !std::isfinite(value)) return std::nullopt;
  return value;
}

enum Column : std::size_t {
  model = 1,
  period = 3,
  field = 4,
  rise = 5,
  delay = 7,
  window = 10,
  spread = 12,
  gain = 13,
  offset = 14,
  r2 = 15,
  columns = 17
};

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  cells.resize(columns);
  return cells;
}

// A mean over a second has no fitted window in the table: its rise, from 10 to 90 %, takes 0.9 s.
constexpr double kRiseOfASecond = 800;
// From 10 to 90 % of a first-order lag, in time constants: ln 9.
constexpr double kRiseInTimeConstants = 2.197;

std::optional<Board> board_of(const std::vector<std::string>& cells) {
  const auto period_ms = figure(cells[period]);
  const auto rise_ms = figure(cells[rise]);
  const Rating* rating = rating_of(cells[model]);
  if (!period_ms || !rise_ms || rating == nullptr) return std::nullopt;
  Board board;
  board.model = cells[model];
  // The maker of the computer changes nothing about the board.
  if (board.model.starts_with("Alienware_")) board.model.erase(0, 10);
  board.field = cells[field];
  board.period_s = *period_ms * 1e-3;
  if (const auto window_ms = figure(cells[window])) {
    // Where a cell is missing, what follows stands one column too far left: a spread wider than its window.
    const auto spread_ms = figure(cells[spread]);
    if (!spread_ms || *spread_ms > 0.5 * *window_ms || *window_ms < 5) return std::nullopt;
    board.window_s = std::min(*window_ms * 1e-3, board.period_s);
    board.delay_s = figure(cells[delay]).value_or(0) * 1e-3;
  } else if (*rise_ms > kRiseOfASecond) {
    board.window_s = 1.0;
  } else {
    board.lag_s = *rise_ms * 1e-3 / kRiseInTimeConstants;
  }
  board.gain = figure(cells[gain]);
  if (board.gain && (*board.gain < 0.5 || *board.gain > 1.5)) return std::nullopt;
  board.offset_w = figure(cells[offset]).value_or(0);
  board.r2 = figure(cells[r2]).value_or(1);
  board.idle_w = rating->idle_w;
  board.highest_w = rating->highest_w;
  board.volta_or_newer = rating->volta_or_newer;
  return board;
}

double published_period(double seconds) {
  for (const double known : {0.015, 0.02, 0.1})
    if (std::abs(seconds / known - 1) < 0.06) return known;
  return seconds;
}

int nearest(double ms, std::initializer_list<int> steps) {
  int best = *steps.begin();
  for (const int step : steps)
    if (std::abs(step - ms) < std::abs(best - ms)) best = step;
  return best;
}

}  // namespace

std::string Board::kind() const {
  const std::string every = std::to_string(nearest(period_s * 1e3, {15, 20, 30, 100})) + " ms, ";
  if (lag_s > 0) return every + "lags by " + std::to_string(nearest(lag_s * 1e3, {35, 40, 150, 220})) + " ms";
  if (window_s > 0.5) return every + "mean of 1 s";
  return every + std::to_string(nearest(window_s * 1e3, {10, 14, 20, 25, 80, 100})) + " ms seen";
}

Table read_table(const std::string& data_folder) {
  Table table;
  std::ifstream in(data_folder + "/sensors/nvml-power-sensors.csv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    if (auto board = board_of(cells_of(line)))
      table.boards.push_back(std::move(*board));
    else
      ++table.left_out;
  }
  return table;
}

SensorFacts published(const Board& board) {
  const Rating* rating = rating_of(board.model);
  SensorFacts facts;
  facts.update_period = Seconds(published_period(board.period_s));
  facts.source = "generation";
  // Maxwell: a window on some boards, a lag on others. Turing: a Quadro RTX 8000 sees a fifth of the time.
  if (rating == nullptr || rating->mixed) return facts;
  if (board.lag_s > 0) {
    facts.lag = Seconds(0.001 * nearest(board.lag_s * 1e3, {40, 220}));
  } else if (board.window_s > 0.5) {
    facts.averaging_window = Seconds(1);
  } else {
    facts.averaging_window =
        Seconds(std::min(1e-3 * nearest(board.window_s * 1e3, {10, 25, 100}), rating->least_seen_s));
  }
  return facts;
}

}  // namespace rubato::truth
