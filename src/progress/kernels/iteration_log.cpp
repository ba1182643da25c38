#include "progress/kernels/iteration_log.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "progress/stats.h"

namespace rubato::progress::kernels {
namespace {

constexpr std::size_t kKept = 128;
constexpr std::size_t kRecent = 33;          // a change of clock shows after half of these
constexpr std::size_t kEnoughForDrift = 12;  // iterations
constexpr Seconds kSpanForDrift{10};

std::vector<double> durations(const std::deque<IterationLog::Entry>& entries, std::size_t most) {
  std::vector<double> out;
  for (std::size_t i = entries.size() - std::min(most, entries.size()); i < entries.size(); ++i)
    out.push_back((entries[i].end - entries[i].begin).value());
  return out;
}

}  // namespace

void IterationLog::add(const Entry& entry) {
  latest_.push_back(entry);
  if (latest_.size() > kKept) latest_.pop_front();
  ++count_;
  covered_ = covered_ + (entry.end - entry.begin);
}

std::optional<TimePoint> IterationLog::last_end() const {
  if (latest_.empty()) return std::nullopt;
  return latest_.back().end;
}

std::optional<Seconds> IterationLog::period() const {
  const auto middle = median(durations(latest_, kRecent));
  if (!middle) return std::nullopt;
  return Seconds(*middle);
}

std::optional<double> IterationLog::half_width() const {
  std::vector<double> d = durations(latest_, kRecent);
  if (d.size() < 5) return std::nullopt;
  std::ranges::sort(d);
  const double middle = d[d.size() / 2];
  if (middle <= 0) return std::nullopt;
  // The spread from the quartiles, as stalls have no say in it; the median of n values of a normal
  // distribution has sqrt(pi / 2) times the error of their mean.
  const double spread = (d[d.size() * 3 / 4] - d[d.size() / 4]) / 1.349;
  return 1.96 * 1.2533 * spread / std::sqrt(static_cast<double>(d.size())) / middle;
}

// Median of the later half against that of the earlier half, over the time between their middles.
std::optional<double> IterationLog::drift_per_minute() const {
  if (latest_.size() < kEnoughForDrift || latest_.back().end - latest_.front().begin < kSpanForDrift)
    return std::nullopt;
  const std::vector<double> d = durations(latest_, kKept);
  const std::size_t half = d.size() / 2;
  const auto before = median(std::span(d).first(half));
  const auto after = median(std::span(d).last(half));
  const Seconds apart = latest_[latest_.size() - 1 - half / 2].begin - latest_[half / 2].begin;
  if (!before || !after || *before <= 0 || apart.value() <= 0) return std::nullopt;
  return (*after / *before - 1) * 60 / apart.value();
}

std::optional<std::size_t> IterationLog::median_launches() const {
  std::vector<std::size_t> n;
  for (std::size_t i = latest_.size() - std::min(kRecent, latest_.size()); i < latest_.size(); ++i)
    n.push_back(latest_[i].launches);
  if (n.empty()) return std::nullopt;
  std::ranges::sort(n);
  return n[n.size() / 2];
}

std::size_t IterationLog::mean_others() const {
  std::vector<std::size_t> n;
  for (const Entry& e : latest_) n.push_back(e.others);
  if (n.empty()) return 0;
  std::ranges::sort(n);
  const std::size_t cut = n.size() / 8;
  double sum = 0;
  for (std::size_t i = cut; i < n.size() - cut; ++i) sum += static_cast<double>(n[i]);
  return static_cast<std::size_t>(std::llround(sum / static_cast<double>(n.size() - 2 * cut)));
}

}  // namespace rubato::progress::kernels
