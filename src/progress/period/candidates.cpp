#include "progress/period/candidates.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "progress/period/fft.h"

namespace rubato::progress {

namespace {

constexpr double kSame = 0.012;          // of a period: two candidates are one
constexpr double kRefined = 0.06;        // of a period, that its multiples may move it
constexpr double kLeastUpdates = 2.6;    // in a cycle: fewer show an alias as well as the cycle
constexpr double kLeastCycles = 2.2;     // in what is looked at
constexpr double kLongestSeconds = 33;   // a little beyond the 30 s promised
constexpr double kLeastSummit = 0.04;    // of the likeness of a whole band to itself
constexpr std::size_t kMostSummits = 8;  // of a band
constexpr std::size_t kMostLines = 5;
constexpr int kMostHarmonic = 3;            // a line may be that of the iteration
constexpr std::size_t kMostFollowedUp = 4;  // whose multiples and parts are asked about
constexpr std::size_t kLeastProfile = 32;   // lags, for a spectrum

double shift_of_summit(double before, double at, double after) {
  const double bend = before - 2 * at + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0.0;
}

/// Summits of a band's likeness to itself, the highest first, however little they stand out.
std::vector<double> summits_of(const Band& band, double shortest_s) {
  const auto& rho = band.profile.correlation;
  std::vector<std::size_t> at;
  for (std::size_t lag = 2; lag + 1 < rho.size(); ++lag) {
    const double lag_s = static_cast<double>(lag) * band.profile.step_s;
    if (lag_s < shortest_s || lag_s > band.longest_s) continue;
    if (rho[lag] >= rho[lag - 1] && rho[lag] > rho[lag + 1] && rho[lag] > kLeastSummit) at.push_back(lag);
  }
  std::sort(at.begin(), at.end(), [&](auto a, auto b) { return rho[a] > rho[b]; });
  if (at.size() > kMostSummits) at.resize(kMostSummits);
  std::vector<double> out;
  out.reserve(at.size());
  for (const std::size_t lag : at)
    out.push_back((static_cast<double>(lag) + shift_of_summit(rho[lag - 1], rho[lag], rho[lag + 1])) *
                  band.profile.step_s);
  return out;
}

/// Periods of the strongest lines of a band: the transform of its likeness to itself, tapered (Blackman and
/// Tukey 1958).
std::vector<double> lines_of(const Band& band, double shortest_s) {
  const auto& rho = band.profile.correlation;
  if (rho.size() < kLeastProfile) return {};
  std::size_t size = 2 * kLeastProfile;
  while (size < 4 * rho.size()) size *= 2;
  std::vector<std::complex<double>> line(size);
  for (std::size_t lag = 0; lag < rho.size(); ++lag) {
    const double place = static_cast<double>(lag) / static_cast<double>(rho.size());
    line[lag] = rho[lag] * (0.5 + 0.5 * std::cos(std::numbers::pi * place));
    if (lag > 0) line[size - lag] = line[lag];
  }
  transform(line);
  std::vector<std::size_t> at;
  const auto period_of = [&](double bin) { return static_cast<double>(size) * band.profile.step_s / bin; };
  for (std::size_t k = 2; k < size / 2; ++k) {
    const double period_s = period_of(static_cast<double>(k));
    if (period_s < shortest_s || period_s > band.longest_s) continue;
    if (line[k].real() >= line[k - 1].real() && line[k].real() > line[k + 1].real()) at.push_back(k);
  }
  std::sort(at.begin(), at.end(), [&](auto a, auto b) { return line[a].real() > line[b].real(); });
  if (at.size() > kMostLines) at.resize(kMostLines);
  std::vector<double> out;
  out.reserve(at.size());
  for (const std::size_t k : at)
    out.push_back(period_of(static_cast<double>(k) +
                            shift_of_summit(line[k - 1].real(), line[k].real(), line[k + 1].real())));
  return out;
}

class Pool {
 public:
  Pool(const Samples& samples, const std::vector<Band>& bands, const Span& span)
      : bands_(bands), span_(span), all_(judge_all(bands, span)) {
    const double update_s = samples.hold_s(Column::power).value_or(span.reading_s);
    shortest_s_ = std::max(2 * span.reading_s, kLeastUpdates * update_s);
    longest_s_ = std::min(kLongestSeconds, (span.end_s - span.begin_s) / kLeastCycles);
  }

  void add(double period_s) {
    if (period_s < shortest_s_ || period_s > longest_s_) return;
    for (const Judged& known : all_)
      if (std::abs(known.candidate.period_s / period_s - 1) < kSame) return;
    const Band* band = band_for(period_s);
    if (band == nullptr) return;
    const double refined_s = refined_period(band->profile, period_s);
    if (std::abs(refined_s / period_s - 1) < kRefined) period_s = refined_s;
    all_.push_back(judge({period_s, band->readings.step_s}, *band, span_));
  }

  [[nodiscard]] double shortest_in(const Band& band) const {
    return &band == &bands_.front() ? shortest_s_ : band.shortest_s;
  }
  [[nodiscard]] std::vector<Judged>& all() { return all_; }

 private:
  [[nodiscard]] const Band* band_for(double period_s) const {
    for (const Band& band : bands_)
      if (shortest_in(band) <= period_s && period_s <= band.longest_s && !band.factors.empty()) return &band;
    return nullptr;
  }

  const std::vector<Band>& bands_;
  const Span& span_;
  std::vector<Judged> all_;
  double shortest_s_ = 0;
  double longest_s_ = 0;
};

}  // namespace

std::vector<Judged> candidates_of(const Samples& samples, const std::vector<Band>& bands, const Span& span,
                                  const std::vector<double>& recalled_s) {
  if (bands.empty()) return {};
  Pool pool(samples, bands, span);
  std::vector<Judged> likest = pool.all();
  std::sort(likest.begin(), likest.end(),
            [](const Judged& a, const Judged& b) { return a.likeness.median > b.likeness.median; });
  if (likest.size() > kMostFollowedUp) likest.resize(kMostFollowedUp);
  if (const Judged* first = shortest_that_qualifies(pool.all())) likest.push_back(*first);
  for (const Band& band : bands) {
    for (const double period_s : summits_of(band, pool.shortest_in(band))) pool.add(period_s);
    for (const double period_s : lines_of(band, pool.shortest_in(band)))
      for (int harmonic = 1; harmonic <= kMostHarmonic; ++harmonic) pool.add(harmonic * period_s);
  }
  for (const Judged& judged : likest) {
    const double period_s = judged.candidate.period_s;
    for (const int times : {2, 3, 4, 5}) {
      pool.add(times * period_s);
      pool.add(period_s / times);
    }
    pool.add(period_s / 6);
    pool.add(period_s / 8);
  }
  for (const double period_s : recalled_s) pool.add(period_s);
  std::sort(pool.all().begin(), pool.all().end(),
            [](const Judged& a, const Judged& b) { return a.candidate.period_s < b.candidate.period_s; });
  return std::move(pool.all());
}

}  // namespace rubato::progress
