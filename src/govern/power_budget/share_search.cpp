#include "govern/power_budget/share_search.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::govern {
namespace {

// Until a board has been seen at two limits: power goes with f * V^2, and V with f only in part of the range,
// so that a clock goes with the cube root to the first power of watts. What it buys of time is less, as
// memory and launches do not wait for the clock.
constexpr double kClockSlope = 0.5;
constexpr double kRateSlope = 0.3;
constexpr double kLeastSlope = 0.05;
constexpr double kMostSlope = 0.9;
// Limits nearer than that tell nothing of a slope; older points are of another state of the job.
constexpr double kLeastSpread = 0.02;
constexpr std::size_t kPointsKept = 6;

// A share moves by no more than this at once: slopes are those of its neighbourhood.
constexpr double kLowest = 0.75;
constexpr double kHighest = 1.35;
constexpr double kHeadroom = 1.05;  // over what a board draws that its limit does not hold back

constexpr double kWorthTrying = 0.003;
constexpr int kMostLevels = 6;
constexpr int kMostLevelsLost = 2;
constexpr double kLean = 0.08;
constexpr double kProbe = 0.06;
constexpr Watts kLeastProbe{2};

// Boards that wait for each other are at most a few iterations apart.
constexpr double kApart = 0.02;
constexpr double kIterationsApart = 3;

template <class T>
void keep(std::vector<T>& points, T point) {
  points.push_back(point);
  if (points.size() > kPointsKept) points.erase(points.begin());
}

template <class T>
double slope_of(const std::vector<T>& points, double unknown) {
  double x = 0;
  double y = 0;
  for (const T& p : points) {
    x += p.log_watts;
    y += p.log_rate;
  }
  const auto n = static_cast<double>(points.size());
  double xx = 0;
  double xy = 0;
  for (const T& p : points) {
    xx += (p.log_watts - x / n) * (p.log_watts - x / n);
    xy += (p.log_watts - x / n) * (p.log_rate - y / n);
  }
  if (points.size() < 2 || xx < kLeastSpread * kLeastSpread / 2) return unknown;
  return std::clamp(xy / xx, kLeastSlope, kMostSlope);
}

bool moves(const std::vector<Watts>& shares, const std::vector<BoardMean>& base) {
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (abs(shares[i] - base[i].limit) >= Watts(1)) return true;
  return false;
}

}  // namespace

ShareSearch::ShareSearch(std::vector<plan::BoardRange> boards, Watts budget)
    : boards_(std::move(boards)), budget_(budget), learned_(boards_.size()) {}

void ShareSearch::measured(const std::vector<BoardMean>& means) {
  double fewest = INFINITY;
  double most = 0;
  double slowest = -INFINITY;
  double fastest = INFINITY;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const BoardMean& m = means[i];
    // Beyond what holds a board back, a limit says nothing of it.
    const double log_watts = std::log((m.capped ? m.limit : m.draw.value_or(m.limit)).value());
    if (m.clock && m.capped) keep(learned_[i].clocks, Point{log_watts, std::log(m.clock->value())});
    if (!m.log_time) continue;
    if (m.capped) keep(learned_[i].rates, Point{log_watts, -*m.log_time});
    fewest = std::min(fewest, m.work);
    most = std::max(most, m.work);
    slowest = std::max(slowest, *m.log_time);
    fastest = std::min(fastest, *m.log_time);
  }
  if (most - fewest > kIterationsApart && slowest - fastest > kApart) in_step_ = false;
}

std::optional<ShareProposal> ShareSearch::next(const std::vector<BoardMean>& base) {
  latest_ = Kind::none;
  std::optional<ShareProposal> out;
  const auto take = [&](Kind kind, std::optional<ShareProposal> proposal) {
    if (!proposal || !moves(proposal->shares, base)) return false;
    latest_ = kind;
    out = std::move(proposal);
    return true;
  };
  if (levels_ < kMostLevels && levels_lost_ < kMostLevelsLost && take(Kind::level, level(base))) return out;
  if (!in_step_) {
    if (!leaned_ && take(Kind::lean, lean(base))) return out;
    return std::nullopt;
  }
  for (; probe_ < base.size() && base.size() > 1; ++probe_)
    if (base[probe_].capped && take(Kind::probe, probe(base, probe_))) return out;
  return std::nullopt;
}

void ShareSearch::judged(bool better) {
  if (latest_ == Kind::level) {
    ++levels_;
    if (!better) ++levels_lost_;
  }
  if (latest_ == Kind::lean) leaned_ = true;
  if (latest_ == Kind::probe && !better) ++probe_;
  latest_ = Kind::none;
}

void ShareSearch::again() {
  levels_ = 0;
  levels_lost_ = 0;
  leaned_ = false;
  probe_ = 0;
}

std::optional<ShareGain> ShareSearch::gain(const std::vector<BoardMean>& from,
                                           const std::vector<BoardMean>& to) const {
  ShareGain out;
  double square = 0;
  int seen = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].log_time || !to[i].log_time) continue;
    out.value += -std::expm1(*to[i].log_time - *from[i].log_time);
    // In step every board tells of the same iterations: more of them are no surer.
    const double one = from[i].variance + to[i].variance;
    square = in_step_ ? std::max(square, one) : square + one;
    ++seen;
  }
  if (seen == 0) return std::nullopt;
  out.value /= seen;
  out.error = std::sqrt(square) / (in_step_ ? 1 : seen);
  return out;
}

std::vector<plan::BoardRange> ShareSearch::near(const std::vector<BoardMean>& base) const {
  std::vector<plan::BoardRange> out = boards_;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Watts now = base[i].limit;
    out[i].least = std::max(out[i].least, kLowest * now);
    out[i].most = std::min(out[i].most, kHighest * now);
    if (!base[i].capped && base[i].draw)
      out[i].most = std::clamp(kHeadroom * *base[i].draw, out[i].least, out[i].most);
  }
  return out;
}

std::optional<std::vector<plan::BoardCurve>> ShareSearch::curves(const std::vector<BoardMean>& base) const {
  std::vector<plan::BoardCurve> out;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const BoardMean& m = base[i];
    const bool told = in_step_ ? m.clock.has_value() : m.log_time.has_value();
    if (!told) return std::nullopt;
    // In step a board's own time is hidden in that of all: what its watts buy is its clock. Else all are
    // compared as they stand now.
    plan::BoardCurve curve{.at = m.limit,
                           .log_rate = in_step_ ? std::log(m.clock->value()) : 0.0,
                           .slope = in_step_ ? slope_of(learned_[i].clocks, kClockSlope)
                                             : slope_of(learned_[i].rates, kRateSlope)};
    if (!m.capped && m.draw) curve.at = *m.draw;
    if (!m.capped && !in_step_) curve.slope = kLeastSlope;
    out.push_back(curve);
  }
  return out;
}

std::optional<ShareProposal> ShareSearch::level(const std::vector<BoardMean>& base) const {
  const auto known = curves(base);
  if (!known) return std::nullopt;
  const auto ranges = near(base);
  const auto shares = in_step_ ? plan::equal_rate_shares(ranges, *known, budget_)
                               : plan::most_rate_shares(ranges, *known, budget_);
  double slowest_now = INFINITY;
  double slowest_then = INFINITY;
  double sum = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const plan::BoardCurve& c = (*known)[i];
    const auto rate = [&](Watts watts) {
      const Watts used = base[i].capped ? watts : std::min(watts, c.at);
      return c.log_rate + c.slope * std::log(used / c.at);
    };
    slowest_now = std::min(slowest_now, rate(base[i].limit));
    slowest_then = std::min(slowest_then, rate(shares[i]));
    sum += std::expm1(rate(shares[i]) - rate(base[i].limit));
  }
  const double gain =
      in_step_ ? -std::expm1(slowest_now - slowest_then) : sum / static_cast<double>(base.size());
  if (gain < kWorthTrying) return std::nullopt;
  return ShareProposal{shares, cat(in_step_ ? "boards that wait for each other are brought to one clock"
                                            : "watts go where one buys most work",
                                   ", which is expected to take ", number(100 * gain, 1), " % less time")};
}

std::optional<ShareProposal> ShareSearch::lean(const std::vector<BoardMean>& base) const {
  std::vector<plan::BoardRange> ranges = boards_;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double part = i % 2 == 0 ? 1 + kLean : 1 - kLean;
    const Watts wanted = std::clamp(part * base[i].limit, boards_[i].least, boards_[i].most);
    ranges[i].most = wanted;
  }
  return ShareProposal{plan::even_shares(ranges, budget_),
                       "every other board gets less, to learn what a watt buys on each"};
}

std::optional<ShareProposal> ShareSearch::probe(const std::vector<BoardMean>& base, std::size_t board) const {
  Watts sum;
  for (const BoardMean& m : base) sum += m.limit;
  const Watts wanted = std::max(kLeastProbe, kProbe * base[board].limit);
  const Watts more(std::floor(std::min(wanted, boards_[board].most - base[board].limit).value()));
  if (more < Watts(1)) return std::nullopt;
  // What is free goes first; the rest is taken from all others alike.
  const auto others = static_cast<double>(base.size() - 1);
  const Watts each = std::max(Watts{}, more - (budget_ - sum)) / others;
  std::vector<plan::BoardRange> ranges = boards_;
  for (std::size_t i = 0; i < base.size(); ++i)
    ranges[i].most = i == board ? base[i].limit + more : std::max(ranges[i].least, base[i].limit - each);
  ranges[board].least = ranges[board].most;
  return ShareProposal{plan::even_shares(ranges, budget_),
                       "one board gets more and all others less, to see whether it is the one all wait for"};
}

}  // namespace rubato::govern
