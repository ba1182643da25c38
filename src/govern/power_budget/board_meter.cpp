#include "govern/power_budget/board_meter.h"

#include <cmath>

namespace rubato::govern {
namespace {

// Where the driver names no reason, a board that draws this share of its limit is taken as held by it: the
// limiter regulates to within a few percent.
constexpr double kAtItsLimit = 0.93;
// Of a mean whose scatter could not be told.
constexpr double kUnknownVariance = 0.01 * 0.01;

}  // namespace

void BoardMeter::begin(const Board& board) {
  *this = {};
  limit_ = board.limit;
  if (board.state) latest_ = board.state->at;
  look(board);
}

void BoardMeter::look(const Board& board) {
  if (board.tally) {
    open_ ? meter_.add(*board.tally) : meter_.begin(*board.tally);
    open_ = true;
  }
  if (!board.state || (latest_ && board.state->at <= *latest_)) return;
  latest_ = board.state->at;
  ++readings_;
  if (board.state->limiter) {
    ++told_;
    if (board.state->limiter->power_cap) ++capped_;
  }
  if (board.state->sm_clock) {
    ++clocks_;
    clock_sum_ += board.state->sm_clock->value();
  }
}

BoardMean BoardMeter::mean() const {
  BoardMean out{.limit = limit_};
  if (const auto mean = open_ ? meter_.mean() : std::nullopt) {
    out.log_time = mean->log_time;
    out.work = mean->work;
    out.variance = mean->time_scatter ? *mean->time_scatter / mean->work : kUnknownVariance;
    out.draw = Watts(std::exp(mean->log_power));
  }
  if (clocks_ > 0) out.clock = Megahertz(clock_sum_ / clocks_);
  if (told_ > 0)
    out.capped = 2 * capped_ >= told_;
  else
    out.capped = out.draw && *out.draw >= kAtItsLimit * limit_;
  return out;
}

}  // namespace rubato::govern
