#include "progress/period/recall.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato::progress {

namespace {

constexpr std::size_t kRemembered = 5;  // looks
constexpr std::size_t kOneByOne = 3;    // the latest of them, each told by itself
constexpr double kSame = 0.04;          // of a length
constexpr double kNothing = -3;         // there was no such look
constexpr std::size_t kAskedAgain = 2;
constexpr double kLeastAskedAgain = 0.1;

constexpr std::array<std::string_view, kRecallTraits> kNames = {
    // This look by itself: the chance, that of the best other, and how much longer that one is.
    "now", "now_other", "now_over_other",
    // The look before, the one before that, and the one before that: the chance, less that of the best other,
    // and
    // how much longer this look is.
    "before", "before_lead", "before_ago", "before2", "before2_lead", "before2_ago", "before3",
    "before3_lead", "before3_ago",
    // All that are remembered: the mean chance, the share in which it was first, how many.
    "recalled", "recalled_first", "looks",
    // The other length recalled best.
    "other_recalled", "over_other_recalled"};

bool same(double a_s, double b_s) {
  return std::abs(a_s / b_s - 1) < kSame;
}

/// The chance of that length, and of the best other.
std::pair<Opinion, Opinion> split(const std::vector<Opinion>& opinions, double length_s) {
  std::pair<Opinion, Opinion> out{{length_s, 0}, {length_s, 0}};
  for (const Opinion& o : opinions) {
    Opinion& best = same(o.length_s, length_s) ? out.first : out.second;
    if (o.chance > best.chance) best = o;
  }
  return out;
}

}  // namespace

void Recall::add(double seconds, std::vector<Opinion> opinions) {
  looks_.push_back({seconds - from_s_, std::move(opinions)});
  if (looks_.size() > kRemembered) looks_.pop_front();
}

double Recall::mean_chance(double length_s) const {
  double sum = 0;
  for (const Past& past : looks_) sum += split(past.opinions, length_s).first.chance;
  return looks_.empty() ? 0 : sum / static_cast<double>(looks_.size());
}

Opinion Recall::best_but(double length_s) const {
  Opinion best{length_s, 0};
  for (const Past& past : looks_)
    for (const Opinion& o : past.opinions)
      if (!same(o.length_s, length_s))
        if (const double mean = mean_chance(o.length_s); mean > best.chance) best = {o.length_s, mean};
  return best;
}

std::vector<double> Recall::lengths_s() const {
  std::vector<Opinion> best;
  // The latest first: where a length drifts, it is asked about as it was last.
  for (auto past = looks_.rbegin(); past != looks_.rend(); ++past)
    for (const Opinion& o : past->opinions) {
      if (std::any_of(best.begin(), best.end(),
                      [&](const Opinion& b) { return same(o.length_s, b.length_s); }))
        continue;
      if (const double mean = mean_chance(o.length_s); mean > kLeastAskedAgain)
        best.push_back({o.length_s, mean});
    }
  std::stable_sort(best.begin(), best.end(),
                   [](const auto& a, const auto& b) { return a.chance > b.chance; });
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(best.size(), kAskedAgain); ++i) out.push_back(best[i].length_s);
  return out;
}

std::vector<RecallTraits> Recall::traits_of(const std::vector<Opinion>& now, double seconds) const {
  std::vector<RecallTraits> out;
  out.reserve(now.size());
  for (const Opinion& own : now) {
    RecallTraits traits{};
    std::size_t at = 0;
    const auto put = [&](double x) { traits[at++] = static_cast<float>(x); };
    const auto other = split(now, own.length_s).second;
    put(own.chance);
    put(other.chance);
    put(std::log(own.length_s / other.length_s));
    for (std::size_t k = 0; k < kOneByOne; ++k) {
      if (k >= looks_.size()) {
        for (int i = 0; i < 3; ++i) put(kNothing);
        continue;
      }
      const Past& past = looks_[looks_.size() - 1 - k];
      const auto [then, others] = split(past.opinions, own.length_s);
      put(then.chance);
      put(then.chance - others.chance);
      put(std::log((seconds - from_s_) / past.seconds));
    }
    const auto first = std::count_if(looks_.begin(), looks_.end(), [&](const Past& past) {
      const auto [then, others] = split(past.opinions, own.length_s);
      return then.chance > others.chance;
    });
    const auto looks = static_cast<double>(looks_.size());
    put(looks_.empty() ? kNothing : mean_chance(own.length_s));
    put(looks_.empty() ? kNothing : static_cast<double>(first) / looks);
    put(looks);
    const Opinion best = best_but(own.length_s);
    put(looks_.empty() ? kNothing : best.chance);
    put(std::log(own.length_s / best.length_s));
    out.push_back(traits);
  }
  return out;
}

std::span<const std::string_view, kRecallTraits> recall_trait_names() {
  return kNames;
}

}  // namespace rubato::progress
