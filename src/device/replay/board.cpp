#include "device/replay/board.h"

#include <algorithm>

#include "base/text.h"
#include "device/replay/grid.h"
#include "device/replay/steps.h"

namespace rubato::device::replay {
namespace {

constexpr Seconds kShortest{1e-6};
constexpr Seconds kLongest{1e7};

std::string_view words(Knob knob) {
  return knob == Knob::power_limit ? "the power limit"
         : knob == Knob::sm_clock  ? "the SM clock"
                                   : "the memory clock";
}

Megahertz nearest(const std::vector<Megahertz>& clocks, Megahertz wanted) {
  return *std::min_element(clocks.begin(), clocks.end(),
                           [&](Megahertz a, Megahertz b) { return abs(a - wanted) < abs(b - wanted); });
}

bool has(const std::vector<Megahertz>& clocks, Megahertz clock) {
  return std::binary_search(clocks.begin(), clocks.end(), clock);
}

}  // namespace

Board::Board(Surface surface, const SweepRow& default_row)
    : gpu_(default_row.gpu),
      workload_(default_row.workload),
      title_(cat(default_row.gpu, " replaying ", default_row.workload)),
      surface_(std::move(surface)),
      default_row_(default_row) {
  if (const Axis* sm = axis(Knob::sm_clock))
    sm_clocks_ = clock_steps(sm->values);
  else if (default_row.sm_clock)
    sm_clocks_ = {*default_row.sm_clock};
  // Memory clocks have no step of their own: a board has a handful.
  if (const Axis* memory = axis(Knob::memory_clock))
    for (const double clock : memory->values) memory_clocks_.emplace_back(clock);
  else if (default_row.memory_clock)
    memory_clocks_ = {*default_row.memory_clock};
}

Result<Board> Board::make(const ReplaySource& source) {
  Result<Grid> grid = grid_of(source.table);
  if (!grid) return fail(grid.error());
  Board board(std::move(grid->surface), grid->default_row);
  board.default_assumed_ = grid->default_assumed;
  board.unlocked_ = grid->off_curve;
  if (source.iteration) board.stretch_ = *source.iteration / grid->default_row.time;
  for (const SweepRow& row : source.table.rows)
    if (const Seconds time = row.time * board.stretch_; !(time >= kShortest && time <= kLongest))
      return fail(ErrorCode::invalid_argument,
                  cat("workload '", board.workload_, "': an iteration of ", number(time.value()),
                      " s; it must last ", number(kShortest.value()), " to ", number(kLongest.value()), " s"),
                  "state how long one lasts at the default setting: replay:FILE#WORKLOAD@SECONDS");
  return board;
}

const Axis* Board::axis(Knob knob) const {
  for (const Axis& axis : surface_.axes())
    if (axis.knob == knob) return &axis;
  return nullptr;
}

std::string Board::why_not(Knob knob) const {
  if (knob == Knob::application_clocks) return "a table of measurements has no application clocks";
  return axis(knob) != nullptr ? std::string() : cat("the table does not sweep ", words(knob));
}

PowerLimits Board::limits(const Knobs& now) const {
  const std::vector<double>& values = axis(Knob::power_limit)->values;
  return {.min = Watts(values.front()),
          .max = Watts(values.back()),
          .default_limit = *default_row_.power_limit,
          .requested = Watts(now.limit_w),
          .enforced = Watts(now.limit_w)};
}

std::optional<Megahertz> Board::sm_clock(const Knobs& now) const {
  if (axis(Knob::power_limit) != nullptr) return std::nullopt;
  return now.has_sm_lock != 0 ? Megahertz(now.sm_high_mhz) : default_row_.sm_clock;
}

std::optional<Megahertz> Board::memory_clock(const Knobs& now) const {
  return now.has_memory_lock != 0 ? Megahertz(now.memory_high_mhz) : default_row_.memory_clock;
}

Knobs Board::default_knobs() const {
  Knobs knobs{};
  if (axis(Knob::power_limit) != nullptr) knobs.limit_w = default_row_.power_limit->value();
  return knobs;
}

Status Board::check_swept(Knob knob) const {
  const std::string why = why_not(knob);
  return why.empty() ? Status() : Status(fail(ErrorCode::not_supported, cat(title_, ": ", why)));
}

Status Board::set_limit(Knobs& knobs, Watts limit) const {
  if (Status swept = check_swept(Knob::power_limit); !swept) return swept;
  const std::vector<double>& measured = axis(Knob::power_limit)->values;
  const Watts min(measured.front());
  const Watts max(measured.back());
  if (!(limit >= min && limit <= max))
    return fail(ErrorCode::invalid_argument,
                cat(title_, ": a power limit of ", limit, " is outside ", min, " to ", max));
  if (!is_limit_step(measured, limit))
    return fail(ErrorCode::invalid_argument,
                cat(title_, ": a power limit of ", number(limit.value()), " W is between two steps of 1 W"));
  knobs.limit_w = limit.value();
  return {};
}

Status Board::check_lock(Knob knob, const std::vector<Megahertz>& clocks, ClockRange range) const {
  if (Status swept = check_swept(knob); !swept) return swept;
  if (!(range.min <= range.max))
    return fail(ErrorCode::invalid_argument,
                cat(title_, ": a lock from ", range.min, " to ", range.max, " is upside down"));
  for (const Megahertz clock : {range.min, range.max})
    if (!has(clocks, clock))
      return fail(ErrorCode::invalid_argument, cat(title_, " cannot lock ", words(knob), " at ", clock),
                  cat("the nearest it has is ", nearest(clocks, clock)));
  return {};
}

Status Board::lock_sm(Knobs& knobs, ClockRange range) const {
  if (Status fits = check_lock(Knob::sm_clock, sm_clocks_, range); !fits) return fits;
  knobs.has_sm_lock = 1;
  knobs.sm_low_mhz = range.min.value();
  knobs.sm_high_mhz = range.max.value();
  return {};
}

Status Board::lock_memory(Knobs& knobs, ClockRange range) const {
  if (Status fits = check_lock(Knob::memory_clock, memory_clocks_, range); !fits) return fits;
  knobs.has_memory_lock = 1;
  knobs.memory_low_mhz = range.min.value();
  knobs.memory_high_mhz = range.max.value();
  return {};
}

Status Board::unlock_sm(Knobs& knobs) const {
  knobs.has_sm_lock = 0;
  knobs.sm_low_mhz = knobs.sm_high_mhz = 0;
  return check_swept(Knob::sm_clock);
}

Status Board::unlock_memory(Knobs& knobs) const {
  knobs.has_memory_lock = 0;
  knobs.memory_low_mhz = knobs.memory_high_mhz = 0;
  return check_swept(Knob::memory_clock);
}

Point Board::at(const Knobs& knobs) const {
  Point point;
  if (unlocked_ && knobs.has_sm_lock == 0 && knobs.has_memory_lock == 0) {
    point = *unlocked_;
  } else {
    Place place{};
    std::size_t i = 0;
    for (const Axis& axis : surface_.axes()) {
      double& value = place[i++];
      if (axis.knob == Knob::power_limit) value = knobs.limit_w;
      if (axis.knob == Knob::sm_clock)
        value = knobs.has_sm_lock != 0 ? knobs.sm_high_mhz : default_row_.sm_clock->value();
      if (axis.knob == Knob::memory_clock)
        value = knobs.has_memory_lock != 0 ? knobs.memory_high_mhz : default_row_.memory_clock->value();
    }
    point = surface_.at(place);
  }
  point.time = point.time * stretch_;
  return point;
}

}  // namespace rubato::device::replay
