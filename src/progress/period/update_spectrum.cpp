#include "progress/period/update_spectrum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "progress/period/fft.h"

namespace rubato::progress {

namespace {

constexpr std::size_t kLeastUpdates = 36;  // fewer have lines too wide for four harmonics
constexpr std::size_t kStretch = 128;      // updates, over which an iteration's jitter keeps it in step
constexpr std::size_t kFiner = 4;          // bins to a line's own width
constexpr double kHalfWidth = 2;           // of a line in a Hann window, in 1/stretch
constexpr long kFinest = 2;                // fundamentals tried in a bin, for their harmonics' sake
constexpr std::size_t kMostHarmonics = 5;  // more lines than that leave little room for noise
constexpr double kPerHarmonic = 0.12;      // what a further one has to take off the rest

constexpr double kDouble = 1.15;       // a longer lag must be so much more alike than one before
constexpr std::size_t kFinerLags = 2;  // lags between two updates

constexpr double kOwnLine = 1.2;          // half width of a line in the spectrum of the whole series
constexpr std::size_t kOwnHarmonics = 3;  // the strongest; further ones of neighbours fall together
constexpr double kClearly = 1.25;         // more in its own lines, for another fundamental to be the one

/// Distance of a frequency to the nearest whole number of cycles per update: what it looks like.
double folded(double frequency) {
  return std::abs(frequency - std::round(frequency));
}

}  // namespace

UpdateSpectrum::UpdateSpectrum(const Updates& updates) : count_(updates.value.size()) {
  if (count_ < kLeastUpdates) return;
  stretch_ = std::min(kStretch, count_);
  const std::size_t n = std::bit_ceil(kFiner * stretch_);
  power_.assign(n / 2 + 1, 0.0);
  std::vector<std::complex<double>> data(n);
  const std::size_t stride = std::max<std::size_t>(1, stretch_ / 2);
  for (std::size_t from = 0; from + stretch_ <= count_; from += stride) {
    std::fill(data.begin(), data.end(), 0.0);
    for (std::size_t i = 0; i < stretch_; ++i) {
      const double phase =
          2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(stretch_);
      data[i] = updates.value[from + i] * 0.5 * (1 - std::cos(phase));
    }
    transform(data);
    for (std::size_t k = 0; k < power_.size(); ++k) power_[k] += std::norm(data[k]);
  }
  double sum = 0;
  for (const double p : power_) sum += p;
  for (double& p : power_) p /= std::max(1e-12, sum);

  data.assign(std::bit_ceil(2 * count_), 0.0);
  for (std::size_t i = 0; i < count_; ++i) data[i] = updates.value[i];
  transform(data);
  whole_.resize(data.size() / 2 + 1);
  for (std::size_t k = 0; k < whole_.size(); ++k) whole_[k] = std::norm(data[k]);
}

/// Negative frequencies and those above half a cycle per update are the others' mirror images.
std::size_t UpdateSpectrum::mirrored(long bin) const {
  const auto top = static_cast<long>(power_.size() - 1);
  bin = std::abs(bin);
  return static_cast<std::size_t>(bin <= top ? bin : 2 * top - bin);
}

std::optional<Fold> UpdateSpectrum::smoothest_fold(double longest) const {
  if (power_.empty()) return std::nullopt;
  const auto top = static_cast<long>(power_.size() - 1);
  const double bins = 2 * static_cast<double>(top);
  const double width = 1 / static_cast<double>(stretch_);  // in cycles per update
  const double half = kHalfWidth * width * bins;
  // Lines nearer to zero than their width are slow change.
  const auto first = static_cast<long>(std::max(1 / longest, 2 * width) * bins * kFinest);
  // Lines lie on half bins, so that their shape is a table.
  const long turn = 2 * kFinest * top;
  const double reach = half * kFinest;
  std::vector<double> shape;
  const long last = static_cast<long>(reach);
  for (long off = 0; off <= last; ++off) shape.push_back(1 - static_cast<double>(off) / reach);
  const auto place_of = [&](long harmonic) { return std::min(harmonic % turn, turn - harmonic % turn); };
  // The most a line can hold around each place: where others overlap it, they share. Most fundamentals need
  // not be asked more than this.
  std::vector<double> most(static_cast<std::size_t>(kFinest * top) + 1, 0.0);
  for (long at = 0; at <= kFinest * top; ++at)
    for (long bin = (at - last + turn + kFinest - 1) / kFinest - turn / kFinest; kFinest * bin <= at + last;
         ++bin)
      most[static_cast<std::size_t>(at)] +=
          shape[static_cast<std::size_t>(std::abs(kFinest * bin - at))] * power_[mirrored(bin)];
  const auto can_cost_less = [&](long k, double than) {
    double share = 0;
    for (long h = 1; h <= static_cast<long>(kMostHarmonics); ++h) {
      share += most[static_cast<std::size_t>(place_of(h * k))];
      if ((1 - share) * (1 + kPerHarmonic * static_cast<double>(h)) < than) return true;
    }
    return false;
  };
  std::optional<Fold> best;
  double least = 1;
  std::vector<double> weight(power_.size());
  std::vector<std::size_t> taken;  // bins with a weight
  for (long k = first; k <= top * kFinest; ++k) {
    if (!can_cost_less(k, least)) continue;
    for (const std::size_t m : taken) weight[m] = 0;
    taken.clear();
    double share = 0;
    double room = 0;
    for (long h = 1; h <= static_cast<long>(kMostHarmonics); ++h) {
      const long at = place_of(h * k);
      long bin = (at - last + turn + kFinest - 1) / kFinest - turn / kFinest;  // rounded up
      for (; kFinest * bin <= at + last; ++bin) {
        const double c = shape[static_cast<std::size_t>(std::abs(kFinest * bin - at))];
        const std::size_t m = mirrored(bin);
        if (c <= weight[m]) continue;
        share += (c - weight[m]) * power_[m];
        room += c - weight[m];
        weight[m] = c;
        taken.push_back(m);
      }
      const double rest = (1 - share) / (1 - room / static_cast<double>(top));
      const double cost = rest * (1 + kPerHarmonic * static_cast<double>(h));
      if (cost >= least) continue;
      least = cost;
      best = Fold{bins * kFinest / static_cast<double>(k), 1 - rest};
    }
  }
  if (best) best->updates = 1 / placed(told_apart(1 / best->updates));
  return best;
}

/// Near a whole number of cycles in n updates the lines of j/n for all j fall together, as far as a stretch
/// tells. The whole series tells more: the fundamental whose own lines hold most of it.
double UpdateSpectrum::told_apart(double fundamental) const {
  int n = 3;
  for (; n <= kMostCommon; ++n)
    if (std::abs(fundamental - std::round(fundamental * n) / n) < line_width()) break;
  if (n > kMostCommon) return fundamental;
  const double bins = static_cast<double>(2 * (whole_.size() - 1));
  const double half = kOwnLine / static_cast<double>(count_);
  const auto held = [&](double f) {
    double sum = 0;
    std::array<double, kMostHarmonics> taken{};
    for (std::size_t h = 1; h <= kOwnHarmonics; ++h) {
      const double at = folded(static_cast<double>(h) * f);
      taken[h - 1] = at;
      if (std::any_of(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(h) - 1,
                      [&](double t) { return std::abs(t - at) < 2 * half; }))
        continue;
      const auto from = static_cast<std::size_t>(std::max(0.0, std::ceil((at - half) * bins)));
      const auto to = std::min(whole_.size() - 1, static_cast<std::size_t>((at + half) * bins));
      for (std::size_t k = from; k <= to; ++k) sum += whole_[k];
    }
    return sum;
  };
  const double step = 0.5 / static_cast<double>(count_);
  double out = fundamental;
  double least = 0;
  // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a step more or less is no matter here
  for (double f = fundamental - line_width(); f < fundamental + line_width(); f += step)
    least = std::max(least, held(f));
  least *= kClearly;
  for (int j = 1; 2 * j < n; ++j) {
    const double centre = static_cast<double>(j) / n;
    if (std::abs(centre - fundamental) < 2 * line_width()) continue;
    // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a step more or less is no matter here
    for (double f = centre - line_width(); f < centre + line_width(); f += step) {
      const double here = held(f);
      if (here <= least) continue;
      least = here;
      out = f;
    }
  }
  return out;
}

/// The same fundamental, as its strongest line in the spectrum of the whole series places it.
double UpdateSpectrum::placed(double fundamental) const {
  const double bins = static_cast<double>(2 * (whole_.size() - 1));
  const double half = line_width();
  double strongest = 0;
  double out = fundamental;
  for (std::size_t h = 1; h <= kMostHarmonics; ++h) {
    const double times = static_cast<double>(h);
    const double turns = std::round(times * fundamental);
    const double signed_at = times * fundamental - turns;
    const double at = std::abs(signed_at);
    if (at < half || at > 0.5 - half) continue;  // half of the line is folded over
    const auto from = static_cast<std::size_t>((at - half) * bins);
    const auto to = std::min(whole_.size() - 1, static_cast<std::size_t>((at + half) * bins));
    std::size_t peak = from;
    for (std::size_t k = from; k <= to; ++k)
      if (whole_[k] > whole_[peak]) peak = k;
    // Jitter has spread the line around its peak.
    const auto near = static_cast<std::size_t>(0.4 * half * bins) + 1;
    double sum = 0;
    double moment = 0;
    for (std::size_t k = peak - std::min(peak, near); k <= std::min(whole_.size() - 1, peak + near); ++k) {
      sum += whole_[k];
      moment += whole_[k] * static_cast<double>(k) / bins;
    }
    if (sum <= strongest) continue;
    strongest = sum;
    out = (turns + std::copysign(moment / sum, signed_at)) / times;
  }
  return out;
}

UpdateSpectrum::Rest UpdateSpectrum::rest_of(const Fold& fold, double lag_updates) const {
  Rest out;
  if (whole_.empty()) return out;
  const double bins = static_cast<double>(2 * (whole_.size() - 1));
  const double half = kHalfWidth / static_cast<double>(stretch_);
  double all = 0;
  double rest = 0;
  double alike = 0;
  for (std::size_t k = 0; k < whole_.size(); ++k) {
    const double frequency = static_cast<double>(k) / bins;
    all += whole_[k];
    bool taken = false;
    for (std::size_t h = 1; h <= kMostHarmonics && !taken; ++h)
      taken = std::abs(folded(static_cast<double>(h) / fold.updates) - frequency) < half;
    if (taken) continue;
    rest += whole_[k];
    alike += whole_[k] * std::cos(2 * std::numbers::pi * frequency * lag_updates);
  }
  const double overlap = 1 - lag_updates / static_cast<double>(count_);
  if (rest <= 0 || overlap < 0.2) return out;
  out.alike = alike / rest / overlap;
  out.share = rest / all;
  return out;
}

std::optional<double> UpdateSpectrum::rest_repeats_after(const Fold& fold) const {
  if (whole_.empty()) return std::nullopt;
  const std::size_t n = 2 * (whole_.size() - 1);
  const double half = kHalfWidth / static_cast<double>(stretch_);
  // Twice as long: the likeness at half updates too, where a period is no whole number of them.
  std::vector<std::complex<double>> rest(kFinerLags * n);
  double all = 0;
  double left = 0;
  for (std::size_t k = 0; k < whole_.size(); ++k) {
    all += whole_[k];
    bool taken = false;
    for (std::size_t h = 1; h <= kMostHarmonics && !taken; ++h)
      taken = std::abs(folded(static_cast<double>(h) / fold.updates) -
                       static_cast<double>(k) / static_cast<double>(n)) < half;
    if (taken) continue;
    left += whole_[k];
    rest[k] = whole_[k];
    rest[(rest.size() - k) % rest.size()] = whole_[k];
  }
  if (left < kRestShare * all) return std::nullopt;
  // Further harmonics of the fold itself are no longer period.
  double own = 1;
  for (int times = 2; times <= 5; ++times) own = std::min(own, rest_of(fold, times * fold.updates).alike);
  if (own > kRestAlike) return std::nullopt;
  transform(rest);
  const auto alike = [&](std::size_t lag) {
    return rest[lag].real() / rest[0].real() /
           (1 - static_cast<double>(lag) / static_cast<double>(kFinerLags * count_));
  };
  const auto first = static_cast<std::size_t>(kFinerLags * 2 * fold.updates) + 1;
  const auto last = static_cast<std::size_t>(0.35 * static_cast<double>(kFinerLags * count_));
  double most = kRestAlike;
  std::optional<double> out;
  for (std::size_t lag = first; lag < last; ++lag) {
    const double here = alike(lag);
    const double before = alike(lag - 1);
    const double after = alike(lag + 1);
    // The double is about as alike as the period.
    if (here < most || here < before || here < after) continue;
    most = here * kDouble;
    const double off = 0.5 * (before - after) / std::min(-1e-9, before - 2 * here + after);
    out = (static_cast<double>(lag) + off) / kFinerLags;
  }
  return out;
}

}  // namespace rubato::progress
