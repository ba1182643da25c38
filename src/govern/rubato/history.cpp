#include "govern/rubato/history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

namespace rubato::govern {
namespace {

constexpr std::size_t kMost = 44;
constexpr double kLongestSpan = 60;  // s, of stretches that become one
constexpr double kForgotten = 600;   // s, after which little is left of what drifted
// Before anything was seen: half a percent from one unit to the next, as if four units had shown it.
constexpr double kFirstScatter = 0.005 * 0.005;
constexpr double kFirstWeight = 4;
// However many units: the middle of a stretch is known no better, as neighbouring units are alike.
constexpr double kLeastVariance = 0.0003 * 0.0003;
// Of a stretch beside another: relative, what changed between them without being noticed.
constexpr double kUnnoticed = 0.002;
// Of a setting, between a program and its variant: relative.
constexpr double kInherited = 0.01;
constexpr double kMostWeight = 64;  // of one stretch in the scatter: none outweighs all others

}  // namespace

void History::Scatter::add(double variance, double weight_of) {
  sum += variance * weight_of;
  weight += weight_of;
}

double History::Scatter::mean() const {
  return (sum + kFirstScatter * kFirstWeight) / (weight + kFirstWeight);
}

plan::MeasuredStretch History::stretch_of(std::size_t setting, const StretchMean& mean, int era) {
  if (!begin_) begin_ = mean.begin;
  if (mean.time_scatter) time_.add(*mean.time_scatter, std::min(mean.work, kMostWeight));
  if (mean.power_scatter) power_.add(*mean.power_scatter, std::min(mean.work, kMostWeight));
  return {.at = setting,
          .span = mean.end - mean.begin,
          .when = mean.begin + (mean.end - mean.begin) / 2.0 - *begin_,
          .era = era,
          .work = mean.work,
          .log_time = mean.log_time,
          .log_power = mean.log_power};
}

void History::add(std::size_t setting, const StretchMean& mean, int era) {
  era_ = era;
  stretches_.push_back(stretch_of(setting, mean, era));
  while (stretches_.size() + contrasts_.size() > kMost) thin();
}

void History::look(std::size_t setting, const StretchMean& mean, int era) {
  looks_.push_back(stretch_of(setting, mean, era));
}

void History::believe() {
  for (const auto& s : looks_) {
    stretches_.push_back(s);
    while (stretches_.size() + contrasts_.size() > kMost) thin();
  }
  looks_.clear();
}

bool History::forget_looks() {
  const bool any = !looks_.empty();
  looks_.clear();
  return any;
}

std::optional<Seconds> History::latest_at_found() const {
  std::optional<Seconds> out;
  for (const auto& s : stretches_)
    if (s.at == found_ && (!out || s.when > *out)) out = s.when;
  return out;
}

void History::forget_since_found() {
  const auto found = latest_at_found();
  if (!found) return;
  std::erase_if(stretches_, [&](const auto& s) { return s.when > *found; });
  looks_.clear();
}

void History::part_from_found(int era) {
  const auto found = latest_at_found();
  for (auto* some : {&stretches_, &looks_})
    for (auto& s : *some)
      if (found && s.when > *found) s.era = era;
}

void History::forget(std::size_t setting) {
  std::erase_if(stretches_, [&](const auto& s) { return s.at == setting; });
  std::erase_if(looks_, [&](const auto& s) { return s.at == setting; });
  contrasts_.forget(setting);
}

void History::forget_before(int era) {
  std::erase_if(stretches_, [&](const auto& s) { return s.era < era; });
  std::erase_if(looks_, [&](const auto& s) { return s.era < era; });
  contrasts_.clear();
}

void History::inherit() {
  const double unlike = kInherited * kInherited / time_.mean();
  std::map<std::size_t, double> part;  // by setting
  for (const auto& s : rows())
    if (!part.contains(s.at)) part[s.at] = 1 / (1 + work_at(s.at) * unlike);
  for (auto* some : {&stretches_, &looks_})
    for (auto& s : *some) s.work *= part[s.at];
  contrasts_.weaken(part);
}

double History::time_error(double work) const {
  return std::sqrt(time_.mean() / std::max(work, 1.0) + kLeastVariance);
}

// What drifts makes long means deceive: where the found setting and another lie side by side, and so tell
// their difference, only neighbours become one. Elsewhere, where a stretch tells how much the job drifts,
// longer ones do.
void History::thin() {
  if (drop_alone()) return;
  if (merge_closest(kLongestSpan, 0)) return;
  if (settle_oldest(std::numeric_limits<double>::infinity())) return;
  if (merge_closest(std::numeric_limits<double>::infinity(), kLongestSpan)) return;
  if (settle_oldest(kForgotten)) return;
  if (merge_closest(std::numeric_limits<double>::infinity(), 0)) return;
  drop_least();
}

// Each is all that is known of its setting. What is new has had no time to become much.
void History::drop_least() {
  const Seconds now = stretches_.back().when;
  const auto least = [this](auto begin, auto end) {
    return std::min_element(begin, end, [this](const auto& a, const auto& b) {
      return a.at != found_ && (b.at == found_ || a.work < b.work);
    });
  };
  const auto first_new = std::find_if(stretches_.begin(), stretches_.end(),
                                      [&](const auto& s) { return (now - s.when).value() <= kForgotten; });
  const auto old = least(stretches_.begin(), first_new);
  if (contrasts_.drop_below(old == first_new ? std::numeric_limits<double>::infinity() : old->work)) return;
  stretches_.erase(old == first_new ? least(stretches_.begin(), std::prev(stretches_.end())) : old);
}

bool History::drop_alone() {
  std::map<int, std::set<std::size_t>> settings;  // by era
  for (const auto& s : stretches_) settings[s.era].insert(s.at);
  return std::erase_if(stretches_,
                       [&](const auto& s) { return s.era != era_ && settings[s.era].size() < 2; }) > 0;
}

bool History::settle_oldest(double age) {
  const Seconds now = stretches_.back().when;
  const auto oldest = std::find_if(stretches_.begin(), stretches_.end(), [&](const auto& s) {
    return s.at == found_ && (s.era != era_ || (now - s.when).value() > age);
  });
  if (oldest == stretches_.end()) return false;
  const plan::MeasuredStretch found = *oldest;
  const auto comparable = [&](const auto& s) {
    return s.at != found_ && s.era == found.era &&
           std::abs((s.when - found.when).value()) - (s.span + found.span).value() / 2 <= kLongestSpan;
  };
  // Each may be off by what a job's cost can change unnoticed; the longest tells little more than the others.
  const double unnoticed = kUnnoticed * kUnnoticed / time_.mean();
  const auto capped = [&](plan::MeasuredStretch s) {
    if (s.era != era_) s.work = 1 / (1 / s.work + unnoticed);
    return s;
  };
  std::vector<plan::MeasuredStretch> beside;
  for (const auto& s : stretches_)
    if (comparable(s)) beside.push_back(capped(s));
  if (!beside.empty()) contrasts_.add(capped(found), beside, drift_ * drift_ / time_.mean());
  stretches_.erase(oldest);
  std::erase_if(stretches_, comparable);
  return true;
}

double History::from_other_side(const plan::MeasuredStretch& s) const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& other : stretches_)
    if (other.at == found_ && other.era == s.era)
      least = std::min(least, std::abs((other.when - s.when).value()) - s.span.value() / 2);
  return least;
}

bool History::merge_closest(double longest, double away) {
  std::size_t first = 0;
  std::size_t second = 0;
  double least = longest;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const auto& a = stretches_[i];
    if (away > 0 && from_other_side(a) < away) continue;
    // Apart in time they stay where the found setting was seen in between.
    const auto next = std::find_if(
        stretches_.begin() + static_cast<std::ptrdiff_t>(i) + 1, stretches_.end(),
        [&](const auto& s) { return s.era == a.era && (s.at == a.at || (away > 0 && s.at == found_)); });
    if (next == stretches_.end() || next->at != a.at || (away > 0 && from_other_side(*next) < away)) continue;
    const double together = (next->when - a.when + (next->span + a.span) / 2.0).value();
    if (together >= least) continue;
    first = i;
    second = static_cast<std::size_t>(next - stretches_.begin());
    least = together;
  }
  if (second == 0) return false;
  auto& a = stretches_[first];
  const auto& b = stretches_[second];
  const double part = b.work / (a.work + b.work);
  const Seconds begin = a.when - a.span / 2.0;
  const Seconds end = b.when + b.span / 2.0;
  a.when = a.when + (b.when - a.when) * part;
  a.span = end - begin;
  a.log_time += part * (b.log_time - a.log_time);
  a.log_power += part * (b.log_power - a.log_power);
  a.work += b.work;
  stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(second));
  return true;
}

std::vector<plan::MeasuredStretch> History::rows() const {
  auto out = stretches_;
  const auto& contrasts = contrasts_.rows();
  out.insert(out.end(), contrasts.begin(), contrasts.end());
  out.insert(out.end(), looks_.begin(), looks_.end());
  for (auto& s : out) {
    s.time_variance = time_.mean() / std::max(s.work, 1.0) + kLeastVariance;
    s.power_variance = power_.mean() / std::max(s.work, 1.0) + kLeastVariance;
  }
  return out;
}

bool History::measured(std::size_t setting) const {
  return work_at(setting) > 0;
}

double History::work_at(std::size_t setting) const {
  double sum = 0;
  const auto& contrasts = contrasts_.rows();
  for (const auto* some : {&stretches_, &looks_, &contrasts})
    for (const auto& s : *some)
      if (s.at == setting) sum += s.work;
  return sum;
}

}  // namespace rubato::govern
