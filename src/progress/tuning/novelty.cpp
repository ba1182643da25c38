#include "progress/tuning/novelty.h"

#include <algorithm>

namespace rubato::progress::tuning {
namespace {

constexpr std::size_t kRemembered = 4096;

}  // namespace

void Novelty::add(const KernelRecord& r) {
  ++kernels_;
  last_kernel_ = std::max(last_kernel_.value_or(r.begin), r.begin);
  // Graphs have no name; each is captured once and is no trial.
  if (r.name_hash == 0 || names_.size() >= kMostNames || !names_.insert(r.name_hash).second) return;
  if (firsts_.size() >= kRemembered) firsts_.pop_front();
  firsts_.push_back(firsts_.empty() ? r.begin : std::max(r.begin, firsts_.back()));
}

std::optional<TimePoint> Novelty::last_new() const {
  if (firsts_.empty()) return std::nullopt;
  return firsts_.back();
}

std::size_t Novelty::new_between(TimePoint from, TimePoint to) const {
  const auto first = std::ranges::lower_bound(firsts_, from);
  const auto last = std::ranges::lower_bound(firsts_, to);
  return last > first ? static_cast<std::size_t>(last - first) : 0;
}

}  // namespace rubato::progress::tuning
