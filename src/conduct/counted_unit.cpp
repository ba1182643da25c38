#include "conduct/counted_unit.h"

#include <cmath>

namespace rubato::conduct {
namespace {

constexpr std::int64_t kEstablished = 20;  // iterations counted in a unit, for it to stay
constexpr long kMost = 16;                 // times the unit, or parts of it
constexpr double kWhole = 0.02;  // of the ratio, for it to be a whole number: as sharp as a period is
constexpr double kApart = 0.5;   // of a part, between two that belong together
constexpr double kOther = 0.3;   // of the unit: more is no drift

/// A whole number from 2 to kMost, or nothing.
std::optional<long> times(double ratio) {
  const long whole = std::lround(ratio);
  if (whole < 2 || whole > kMost || std::abs(ratio / static_cast<double>(whole) - 1) > kWhole) return {};
  return whole;
}

/// Where a boundary was not seen, two and more were taken for one.
void part(const Iteration& one, Seconds unit, std::vector<Iteration>& out) {
  const auto parts = std::max(1L, std::lround(one.duration() / unit));
  for (long i = 0; i < parts; ++i) {
    Iteration piece = one;
    piece.begin = one.begin + one.duration() * (static_cast<double>(i) / static_cast<double>(parts));
    piece.end = one.begin + one.duration() * (static_cast<double>(i + 1) / static_cast<double>(parts));
    out.push_back(piece);
  }
}

}  // namespace

void CountedUnit::anew() {
  *this = {};
}

/// Follows what drifts; another length than a multiple or a part is another iteration.
Seconds CountedUnit::unit_for(Seconds period) {
  if (unit_ && in_it_ >= kEstablished) {
    if (const auto longer = times(period / *unit_)) return period / static_cast<double>(*longer);
    if (const auto shorter = times(*unit_ / period)) return period * static_cast<double>(*shorter);
  }
  if (unit_ && std::abs(period / *unit_ - 1) > kOther) in_it_ = 0;
  return period;
}

void CountedUnit::join(const Iteration& part, long parts, std::vector<Iteration>& out) {
  if (!parts_.empty() && abs(part.begin - parts_.back().end) > kApart * part.duration()) parts_.clear();
  parts_.push_back(part);
  if (static_cast<long>(parts_.size()) < parts) return;
  Iteration whole = parts_.front();
  whole.end = part.end;
  out.push_back(whole);
  parts_.clear();
}

std::vector<Iteration> CountedUnit::counted(const std::vector<Iteration>& followed, Seconds period) {
  if (followed.empty()) return {};
  const Seconds unit = unit_for(period);
  const long parts = std::max(1L, std::lround(unit / period));
  std::vector<Iteration> out;
  for (const Iteration& one : followed) {
    if (parts == 1) {
      parts_.clear();
      part(one, unit, out);
      continue;
    }
    // A part whose boundary was not seen is two of them.
    std::vector<Iteration> pieces;
    part(one, period, pieces);
    for (const Iteration& piece : pieces) join(piece, parts, out);
  }
  unit_ = unit;
  in_it_ += static_cast<std::int64_t>(out.size());
  return out;
}

}  // namespace rubato::conduct
