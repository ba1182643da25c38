// What a board did in a stretch at one power limit: how long its work took, how fast its clock ran, and
// whether the limit held it back.
#pragma once

#include <optional>

#include "govern/board.h"
#include "govern/rubato/stretch_meter.h"

namespace rubato::govern {

struct BoardMean {
  Watts limit;
  std::optional<double> log_time;  // of seconds per unit of its work
  double variance = 0;             // of log_time
  double work = 0;
  std::optional<Watts> draw;
  std::optional<Megahertz> clock;  // SM, mean of the readings
  bool capped = false;             // by its power limit, most of the time
};

class BoardMeter {
 public:
  void begin(const Board& board);
  void look(const Board& board);
  [[nodiscard]] BoardMean mean() const;

 private:
  Watts limit_;
  bool open_ = false;  // the first tally has come
  StretchMeter meter_;
  std::optional<TimePoint> latest_;  // reading
  int readings_ = 0;
  int told_ = 0;    // of them, with a reason why the clock is where it is
  int capped_ = 0;  // of those, by the power limit
  int clocks_ = 0;
  double clock_sum_ = 0;  // MHz
};

}  // namespace rubato::govern
