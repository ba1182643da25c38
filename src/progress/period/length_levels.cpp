#include "progress/period/length_levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rubato::progress {

namespace {

constexpr std::size_t kMostLevels = 5;
// Neighbours lie apart by so many deviations of what is around them, or it is one level that drifts: equal
// parts of a straight line do by 3.5. A mean of two levels fits no iteration.
constexpr double kApart = 5;
constexpr std::size_t kLeastLevel = 5;    // lengths: overlapping ones are alike by themselves
constexpr std::size_t kMostPlaces = 300;  // where a level may end: the search goes with their square
// The middle iteration of all has this rank in its level at least, and at most the rest: beside a change
// lengths stray.
constexpr double kLeastRank = 0.1;

struct Level {
  std::size_t begin = 0;  // of the places
  std::size_t end = 0;
  double mean = 0;
};

/// The best levels of each count, by the sum of squares around their means.
class Split {
 public:
  explicit Split(const std::vector<double>& places) : places_(places.size()), sum_(1), square_(1) {
    for (const double x : places) {
      sum_.push_back(sum_.back() + x);
      square_.push_back(square_.back() + x * x);
    }
    rest_.front().resize(places_ + 1, kNever);
    rest_.front()[0] = 0;
  }

  /// With one level more than before; false where there are too few places.
  bool add() {
    ++levels_;
    if (levels_ > kMostLevels || levels_ * kLeastLevel > places_) return false;
    auto& rest = rest_[levels_];
    rest.assign(places_ + 1, kNever);
    last_[levels_].assign(places_ + 1, 0);
    for (std::size_t end = levels_ * kLeastLevel; end <= places_; ++end)
      for (std::size_t begin = (levels_ - 1) * kLeastLevel; begin + kLeastLevel <= end; ++begin) {
        const double all = rest_[levels_ - 1][begin] + around_mean(begin, end);
        if (all >= rest[end]) continue;
        rest[end] = all;
        last_[levels_][end] = begin;
      }
    return true;
  }

  [[nodiscard]] std::vector<Level> levels() const {
    std::vector<Level> out;
    std::size_t end = places_;
    for (std::size_t level = levels_; level > 0; --level) {
      const std::size_t begin = last_[level][end];
      out.push_back({begin, end, (sum_[end] - sum_[begin]) / static_cast<double>(end - begin)});
      end = begin;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  [[nodiscard]] double deviation() const {
    return std::sqrt(std::max(0.0, rest_[levels_][places_]) / static_cast<double>(places_));
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  [[nodiscard]] double around_mean(std::size_t begin, std::size_t end) const {
    const double sum = sum_[end] - sum_[begin];
    return square_[end] - square_[begin] - sum * sum / static_cast<double>(end - begin);
  }

  std::size_t places_;
  std::size_t levels_ = 0;
  std::vector<double> sum_;
  std::vector<double> square_;
  std::array<std::vector<double>, kMostLevels + 1> rest_;
  std::array<std::vector<std::size_t>, kMostLevels + 1> last_;
};

bool apart(const std::vector<Level>& levels, double deviation) {
  for (std::size_t i = 1; i < levels.size(); ++i)
    if (std::abs(levels[i].mean - levels[i - 1].mean) < kApart * deviation) return false;
  return true;
}

/// The most levels that all lie apart.
std::vector<Level> levels_of(const std::vector<double>& places) {
  std::vector<Level> out;
  for (Split split(places); split.add();)
    if (auto levels = split.levels(); apart(levels, split.deviation())) out = std::move(levels);
  return out;
}

struct Middle {
  std::size_t level = 0;
  double rank = 0.5;  // in it
};

/// Where the middle one of all iterations lies. Those that were not followed, between two that were, count
/// with the nearer.
Middle middle_of(const std::vector<Level>& levels, const std::vector<TimedLength>& lengths,
                 std::size_t thinning) {
  struct Counted {
    double mean = 0;
    double iterations = 0;
    std::size_t level = 0;
  };
  std::vector<Counted> counted;
  double all = 0;
  double begin_s = lengths.front().at_s;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t next = levels[i].end * thinning;
    const double end_s =
        i + 1 == levels.size() ? lengths.back().at_s : 0.5 * (lengths[next - 1].at_s + lengths[next].at_s);
    counted.push_back({levels[i].mean, (end_s - begin_s) / levels[i].mean, i});
    all += counted.back().iterations;
    begin_s = end_s;
  }
  std::sort(counted.begin(), counted.end(),
            [](const Counted& a, const Counted& b) { return a.mean < b.mean; });
  double before = 0;
  for (const Counted& one : counted) {
    if (before + one.iterations >= all / 2) return {one.level, (all / 2 - before) / one.iterations};
    before += one.iterations;
  }
  return {counted.back().level};
}

}  // namespace

double typical_length(const std::vector<TimedLength>& lengths) {
  std::vector<double> all;
  all.reserve(lengths.size());
  for (const TimedLength& length : lengths) all.push_back(length.length_s);
  const std::size_t thinning = (all.size() + kMostPlaces - 1) / kMostPlaces;
  std::vector<double> places;
  for (std::size_t i = 0; i < all.size(); i += thinning) places.push_back(all[i]);
  const auto levels = levels_of(places);
  if (levels.size() < 2) return steady_median(std::move(all));
  const Middle middle = middle_of(levels, lengths, thinning);
  const auto at = [&](std::size_t place) {
    return all.begin() + static_cast<std::ptrdiff_t>(std::min(place * thinning, all.size()));
  };
  std::vector<double> level(at(levels[middle.level].begin), at(levels[middle.level].end));
  std::sort(level.begin(), level.end());
  const double rank = std::clamp(middle.rank, kLeastRank, 1 - kLeastRank);
  return level[static_cast<std::size_t>(std::lround(rank * static_cast<double>(level.size() - 1)))];
}

}  // namespace rubato::progress
