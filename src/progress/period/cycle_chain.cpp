#include "progress/period/cycle_chain.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

namespace rubato::progress {

namespace {

constexpr double kReach = 0.22;  // of a period: how far a mark may lie from where it is expected
constexpr double kPassOver = 12;
constexpr double kPassing = 1.5;     // passing over costs as much as so many cycles that fit gain
constexpr double kLeastFit = 0.15;   // of the mean cycle, for a place to be asked about
constexpr int kFirst = 2;            // cycles on both sides of the anchor, whose mean is the first shape
constexpr double kFirstReach = 0.1;  // of a period: how far each is moved to where it fits
constexpr std::size_t kPasses = 2;
constexpr double kLeastMarks = 2;
constexpr double kClean = 50;    // logarithm, of a cycle without any noise
constexpr double kFreedom = 16;  // values of a cycle that tell more than the others, at most

// What a cycle longer or shorter by the share x than the one before costs: x^2 times the stiffness. Of normal
// lengths that is half of the inverse variance, over the logarithm of the likelihood that a cycle which fits
// gains.
constexpr double kJitter = 0.025;  // standard deviation of a length, as a share
constexpr double kPlaced = 0.4;    // of a mark, in updates: they fall anywhere in a cycle
constexpr double kAtFirst = 20;
constexpr double kSoftest = 2;
constexpr double kStiffest = 0.35;  // of half the inverse variance
constexpr double kLearning = 0.25;  // share of the newest length in the one expected next
constexpr double kHalfAsFast = 20;  // stiffness at which it is learnt half as fast: single lengths are noise

/// The mean cycle, its middle weighed most: marks are set by what is near them.
class Shape {
 public:
  Shape(const Series& series, std::size_t half) : series_(&series), half_(half) {
    for (std::size_t i = 0; i <= 2 * half; ++i) {
      const double x = (static_cast<double>(i) - static_cast<double>(half)) / static_cast<double>(half + 1);
      weights_.push_back(1 - std::abs(x));
    }
    values_.assign(series.columns.size(), std::vector<double>(weights_.size(), 0.0));
  }

  [[nodiscard]] bool fits(double at) const {
    const auto middle = std::lround(at);
    return middle >= static_cast<long>(half_) &&
           middle + static_cast<long>(half_) < static_cast<long>(series_->size);
  }

  void add(double at) {
    const auto from = static_cast<std::size_t>(std::lround(at)) - half_;
    count_ += 1;
    for (std::size_t c = 0; c < values_.size(); ++c)
      for (std::size_t i = 0; i < weights_.size(); ++i)
        values_[c][i] += (series_->columns[c][from + i] - values_[c][i]) / count_;
  }

  /// Products of shape and series around each place where the shape fits; 0 elsewhere.
  [[nodiscard]] std::vector<float> products() const {
    std::vector<float> out(series_->size, 0.0F);
    if (series_->size <= 2 * half_) return out;
    const std::size_t count = series_->size - 2 * half_;
    // Values nearer than a thirtieth of a cycle tell the same.
    const std::size_t stride = weights_.size() > kMany ? 2 : 1;
    std::vector<float> x(series_->size);
    for (std::size_t c = 0; c < values_.size(); ++c) {
      const auto& column = series_->columns[c];
      std::transform(column.begin(), column.end(), x.begin(), [](double v) { return static_cast<float>(v); });
      for (std::size_t k = 0; k < weights_.size(); k += stride) {
        const auto t = static_cast<float>(static_cast<double>(stride) * weights_[k] * values_[c][k]);
        float* sum = out.data() + half_;
        const float* from = x.data() + k;
        for (std::size_t i = 0; i < count; ++i) sum[i] += t * from[i];
      }
    }
    return out;
  }

  [[nodiscard]] double energy() const {
    double sum = 0;
    for (const auto& x : values_)
      for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * x[i] * x[i];
    return sum;
  }

  [[nodiscard]] double energy_at(double at) const {
    const auto from = static_cast<std::size_t>(std::lround(at)) - half_;
    double sum = 0;
    for (const auto& x : series_->columns)
      for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * x[from + i] * x[from + i];
    return sum;
  }

  [[nodiscard]] double product_at(double at) const {
    const auto from = static_cast<std::size_t>(std::lround(at)) - half_;
    double sum = 0;
    for (std::size_t c = 0; c < values_.size(); ++c)
      for (std::size_t i = 0; i < weights_.size(); ++i)
        sum += weights_[i] * series_->columns[c][from + i] * values_[c][i];
    return sum;
  }

  [[nodiscard]] double count() const { return count_; }
  [[nodiscard]] std::size_t half() const { return half_; }

 private:
  static constexpr std::size_t kMany = 32;
  const Series* series_;
  std::size_t half_;
  std::vector<double> weights_;
  std::vector<std::vector<double>> values_;
  double count_ = 0;
};

/// The mean of a few cycles around the anchor, each moved to where it fits those before.
Shape first_shape(const Series& series, std::size_t anchor, double period, std::size_t half) {
  Shape shape(series, half);
  shape.add(static_cast<double>(anchor));
  const double reach = std::max(1.0, kFirstReach * period);
  for (const double direction : {-1.0, 1.0}) {
    double last = static_cast<double>(anchor);
    for (int k = 0; k < kFirst; ++k) {
      const double expected = last + direction * period;
      std::optional<double> best;
      double most = 0;
      const long last_tried = std::lround(std::floor(expected + reach));
      for (long place = std::lround(std::ceil(expected - reach)); place <= last_tried; ++place) {
        const auto at = static_cast<double>(place);
        if (!shape.fits(at)) continue;
        const double product = shape.product_at(at);
        if (product <= most) continue;
        most = product;
        best = at;
      }
      if (!best) break;
      shape.add(*best);
      last = *best;
    }
  }
  return shape;
}

/// A summit of the fit.
struct Place {
  double at = 0;
  double gain = 0;   // what a cycle here explains of the shape's energy, 1 where it is the shape
  double total = 0;  // of the best chain that ends here
  double local = 0;  // its latest length
  std::size_t before = 0;
  bool first = true;
  bool paused = false;
};

/// Marks in order of time.
struct Chain {
  std::vector<double> at;
  std::vector<bool> paused;  // something lies between this mark and the one before
};

/// Where the shape lies within the series, and on both sides of it too: at the ends nothing is a summit.
std::vector<Place> summits_of(const std::vector<float>& products, double energy, std::size_t half) {
  std::vector<Place> out;
  for (std::size_t i = half + 1; i + half + 1 < products.size(); ++i) {
    const float here = products[i];
    if (here < products[i - 1] || here <= products[i + 1]) continue;
    const double fit = static_cast<double>(here) / energy;
    if (fit < kLeastFit) continue;
    const double before = static_cast<double>(products[i - 1]) / energy;
    const double after = static_cast<double>(products[i + 1]) / energy;
    const double bend = before - 2 * fit + after;
    const double off = bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0.0;
    Place place;
    place.at = static_cast<double>(i) + off;
    place.gain = 2 * fit - 1;
    out.push_back(place);
  }
  return out;
}

Chain best_chain(std::vector<Place>& places, double period, double stiffness) {
  std::deque<std::size_t> ahead_of_pause;  // totals fall: the first is the best to go on from after a pause
  std::size_t entering = 0;
  std::size_t nearest = 0;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Place& here = places[i];
    double most = 0;
    here.local = period;
    while (nearest < i && places[nearest].at < here.at - 2 * period) ++nearest;
    for (std::size_t j = nearest; j < i; ++j) {
      const double off = (here.at - places[j].at) / places[j].local - 1;
      if (std::abs(off) > kReach) continue;
      const double total = places[j].total - stiffness * off * off;
      if (total <= most) continue;
      most = total;
      here.first = false;
      here.before = j;
    }
    for (; entering < i && places[entering].at < here.at - (1 + kReach) * period; ++entering) {
      while (!ahead_of_pause.empty() && places[ahead_of_pause.back()].total <= places[entering].total)
        ahead_of_pause.pop_back();
      ahead_of_pause.push_back(entering);
    }
    while (!ahead_of_pause.empty() && places[ahead_of_pause.front()].at < here.at - kPassOver * period)
      ahead_of_pause.pop_front();
    const bool regular = !here.first;
    if (!ahead_of_pause.empty() && places[ahead_of_pause.front()].total - kPassing > most) {
      most = places[ahead_of_pause.front()].total - kPassing;
      here.first = false;
      here.before = ahead_of_pause.front();
      here.local = places[here.before].local;
      here.paused = true;
    } else if (regular) {
      const double local = places[here.before].local;
      here.local =
          local + kLearning / (1 + stiffness / kHalfAsFast) * (here.at - places[here.before].at - local);
    }
    here.total = here.gain + most;
    if (here.total > 0 && (!last || here.total > places[*last].total)) last = i;
  }
  Chain out;
  while (last) {
    out.at.push_back(places[*last].at);
    out.paused.push_back(places[*last].paused);
    if (places[*last].first) break;
    last = places[*last].before;
  }
  std::reverse(out.at.begin(), out.at.end());
  std::reverse(out.paused.begin(), out.paused.end());
  return out;
}

/// What single cycles differ by from their mean, and what that mean is worth.
struct Worth {
  double signal = 0;  // energy of a cycle without noise
  double noise = 0;   // of each value that tells more than the others
  double all = 0;  // what all cycles together tell of it: logarithms of signal and noise over noise, so that
                   // a few strong ones are not worth many
};

Worth worth_of(const Shape& shape, const std::vector<double>& marks, double period) {
  double residual = 0;
  for (const double at : marks)
    if (shape.fits(at)) residual += shape.energy_at(at) - 2 * shape.product_at(at) + shape.energy();
  const double count = shape.count();
  if (count < kLeastMarks) return {};
  const double noise = residual / (count - 1);
  Worth out;
  out.signal = std::max(0.0, shape.energy() - noise / count);
  out.noise = noise / std::min(period, kFreedom);
  out.all = noise > 0 ? count * std::log1p(out.signal / noise) : count * kClean;
  return out;
}

/// What being off costs against fitting: the surer a single cycle is, the less is expected of its length.
double stiffness_of(const Worth& worth, double half_inverse_variance) {
  const double most = std::max(kSoftest, kStiffest * half_inverse_variance);
  if (worth.signal <= 0) return most;
  return std::clamp(half_inverse_variance * 2 * worth.noise / worth.signal, kSoftest, most);
}

Shape mean_of(const Series& series, const std::vector<double>& marks, std::size_t half) {
  Shape out(series, half);
  for (const double at : marks)
    if (out.fits(at)) out.add(at);
  return out;
}

Chain chain_by(const Shape& shape, double period, double stiffness) {
  const double energy = shape.energy();
  if (energy <= 0) return {};
  auto places = summits_of(shape.products(), energy, shape.half());
  return best_chain(places, period, stiffness);
}

}  // namespace

std::vector<ChainMark> chain_of_cycles(const Series& series, const std::vector<std::size_t>& anchors,
                                       double period, double update) {
  const auto half = static_cast<std::size_t>(std::lround(period)) / 2;
  const double off = kPlaced * update / period;
  const double half_inverse_variance = 0.5 / (kJitter * kJitter + off * off);
  const double at_first = std::min(kAtFirst, kStiffest * half_inverse_variance);
  Shape shape(series, half);
  Worth worth;
  for (const std::size_t anchor : anchors) {
    const Chain found = chain_by(first_shape(series, anchor, period, half), period, at_first);
    Shape mean = mean_of(series, found.at, half);
    const Worth here = worth_of(mean, found.at, period);
    if (here.all <= worth.all) continue;
    worth = here;
    shape = std::move(mean);
  }
  Chain chain;
  for (std::size_t pass = 0; pass < kPasses && worth.all > 0; ++pass) {
    chain = chain_by(shape, period, stiffness_of(worth, half_inverse_variance));
    if (pass + 1 == kPasses) break;
    Shape mean = mean_of(series, chain.at, half);
    const Worth here = worth_of(mean, chain.at, period);
    if (here.all < worth.all) break;
    worth = here;
    shape = std::move(mean);
  }
  std::vector<ChainMark> out;
  const double energy = shape.energy();
  for (std::size_t i = 0; i < chain.at.size(); ++i) {
    if (!shape.fits(chain.at[i])) continue;
    const double both = shape.energy_at(chain.at[i]) + energy;
    const bool paused = !out.empty() && chain.paused[i];
    out.push_back({chain.at[i], both > 0 ? 2 * shape.product_at(chain.at[i]) / both : 0, paused});
  }
  return out;
}

}  // namespace rubato::progress
