#include "meter/mcp39f511n/unit_check.h"

#include "meter/meter.h"

namespace rubato::meter::mcp39f511n {
namespace {

// Units differ by powers of ten or by 3.6; a load that moves between two readings by less than this does not
// hide it.
constexpr double kAgrees = 1.25;
constexpr unsigned kIntervals = 3;
// Counts that must have been expected: below, the register's step is too coarse to tell.
constexpr double kEnoughToConfirm = 50;
constexpr double kEnoughToRefute = 500;

}  // namespace

std::optional<Joules> UnitCheck::seen_per_count() const {
  if (counts_ <= 0) return std::nullopt;
  return flowed_ / counts_;
}

UnitVerdict UnitCheck::add(TimePoint at, Watts power, std::uint64_t counts) {
  const std::optional<Last> before = last_;
  last_ = Last{at, power};
  if (verdict_ != UnitVerdict::open || !before) return verdict_;
  const Seconds span = at - before->at;
  // A leap of the register says nothing about its unit.
  if (static_cast<double>(counts) * per_count_ > kMostWatts * span) return verdict_;
  flowed_ += (before->power + power) / 2 * span;
  counts_ += static_cast<double>(counts);
  ++intervals_;
  const double expected = flowed_ / per_count_;
  if (intervals_ < kIntervals || expected < kEnoughToConfirm) return verdict_;
  if (counts_ * kAgrees >= expected && counts_ <= expected * kAgrees)
    verdict_ = UnitVerdict::confirmed;
  else if (expected >= kEnoughToRefute)
    verdict_ = UnitVerdict::refuted;
  return verdict_;
}

}  // namespace rubato::meter::mcp39f511n
