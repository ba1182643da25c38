#include "progress/tuning/steadiness.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "progress/stats.h"

namespace rubato::progress::tuning {
namespace {

constexpr double kWithin = 0.1;
// The medians of two halves of 12 iterations that only vary differ by less, where single ones vary by a
// sixth.
constexpr double kNoShorter = 0.08;

}  // namespace

void Steadiness::add(Seconds duration) {
  if (latest_.size() >= kVarying) latest_.erase(latest_.begin());
  latest_.push_back(duration.value());
}

bool Steadiness::agree() const {
  if (latest_.size() < kAgreeing) return false;
  const auto last = std::span(latest_).last(kAgreeing);
  const double middle = progress::median(last).value_or(0);
  const auto close =
      std::ranges::count_if(last, [&](double d) { return std::abs(d - middle) <= kWithin * middle; });
  // The latest two have to be among them: one long iteration may be the begin of more.
  const bool ends_well =
      std::ranges::all_of(last.last(2), [&](double d) { return std::abs(d - middle) <= kWithin * middle; });
  return ends_well && close + 1 >= static_cast<std::ptrdiff_t>(kAgreeing);
}

bool Steadiness::only_vary() const {
  if (latest_.size() < kVarying) return false;
  const auto before = progress::median(std::span(latest_).first(kVarying / 2));
  const auto after = progress::median(std::span(latest_).last(kVarying / 2));
  return before && after && *after >= (1 - kNoShorter) * *before;
}

std::optional<Seconds> Steadiness::median() const {
  const auto middle = progress::median(latest_);
  if (!middle) return std::nullopt;
  return Seconds(*middle);
}

std::optional<Seconds> Steadiness::longest() const {
  if (latest_.empty()) return std::nullopt;
  return Seconds(*std::ranges::max_element(latest_));
}

}  // namespace rubato::progress::tuning
