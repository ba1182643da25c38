// rubato-period-traits [--first-seed N] [--traces N] [--leaders]: the candidates of generated development
// traces, their traits, and which of them is the iteration, as CSV: what tools/train-period-ranking learns
// from. Each trace is looked at whole, from its start to some moment, and between two moments, as the
// detector does.
// `--leaders` prints those that the first ranking puts first, with what following them tells. "is_it" is 1
// within 5 % of the iteration; of leaders it is 2 where the judge takes their period or the length followed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "period_truth/draw.h"
#include "period_truth/judge.h"
#include "progress/period/analysis.h"
#include "progress/period/candidates.h"
#include "progress/period/leader_traits.h"
#include "progress/period/leaders.h"
#include "progress/period/ranking.h"
#include "progress/period/traits.h"

namespace {

using namespace rubato;
using namespace rubato::period_truth;

constexpr double kNear = 0.05;   // of an iteration: the tracker finds the rest
constexpr double kShortest = 4;  // s, of what is looked at
constexpr std::size_t kLeastSteps = 3;

std::optional<double> median_within(const Truth& truth, double begin_s, double end_s) {
  std::vector<double> lengths;
  for (const Step& step : truth.marks)
    if (step.begin_s >= begin_s && step.end_s <= end_s) lengths.push_back(step.seconds());
  if (lengths.size() < kLeastSteps) return std::nullopt;
  std::sort(lengths.begin(), lengths.end());
  return lengths[lengths.size() / 2];
}

struct Looked {
  std::string_view which;  // "whole", "start", "part"
  double begin_s = 0;      // since the first point
  double end_s = 0;
};

/// Columns: seed, stretch, family, observable, is_it, true_s, period_s, traits.
void print_candidates(const Trace& trace, const progress::Samples& samples, const Looked& looked,
                      bool leaders) {
  const progress::Span span = progress::span_of(samples, trace.facts, looked.begin_s, looked.end_s);
  const auto bands = progress::bands_of(samples, span);
  const auto candidates = progress::candidates_of(samples, bands, span);
  const auto traits = progress::traits_of(candidates, span);
  // The detector's clock starts with the first point.
  const double origin_s = trace.points.front().at.since_epoch().value();
  const auto median = median_within(trace.truth, looked.begin_s + origin_s, looked.end_s + origin_s);
  const auto print = [&](double period_s, int is_it, auto numbers) {
    std::printf("%llu,%.*s,%d,%d,%d,%.6g,%.6g", static_cast<unsigned long long>(trace.seed),
                static_cast<int>(looked.which.size()), looked.which.data(), static_cast<int>(trace.family),
                trace.truth.observable ? 1 : 0, is_it, median.value_or(0), period_s);
    for (const float x : numbers) std::printf(",%.4g", static_cast<double>(x));
    std::printf("\n");
  };
  if (!leaders) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double period_s = candidates[i].candidate.period_s;
      print(period_s, median && std::abs(period_s / *median - 1) < kNear ? 1 : 0, traits[i]);
    }
    return;
  }
  std::vector<double> chances;
  for (const auto& t : traits) chances.push_back(progress::chance_of_candidate(t));
  const auto updates = progress::fold_updates(samples, span);
  for (const auto& leader : progress::leaders_of(samples, candidates, traits, chances, updates, span)) {
    int is_it = 0;
    for (const double stated_s : {leader.period_s, leader.length_s}) {
      IterationEstimate said;
      said.periodic = true;
      said.period = Seconds(stated_s);
      if (!median) continue;
      if (judge(said, looked.which == "whole" ? trace.truth : Truth{}, *median) != Outcome::wrong)
        is_it = 2;
      else if (std::abs(stated_s / *median - 1) < kNear)
        is_it = std::max(is_it, 1);
    }
    print(leader.period_s, is_it, leader.traits);
  }
}

void print_trace(const Trace& trace, bool leaders) {
  if (trace.points.empty()) return;
  progress::Samples samples;
  for (const auto& point : trace.points) samples.add(point);
  const double begin = samples.begin_s();
  const double end = samples.end_s();
  print_candidates(trace, samples, {"whole", begin, end}, leaders);
  if (end - begin < 2 * kShortest) return;
  Random random(trace.seed ^ 0x7472616974ULL);
  print_candidates(trace, samples, {"start", begin, begin + log_uniform(random, kShortest, end - begin)},
                   leaders);
  const double length = log_uniform(random, kShortest, end - begin);
  const double from = begin + random.uniform() * (end - begin - length);
  print_candidates(trace, samples, {"part", from, from + length}, leaders);
}

int complain() {
  std::fprintf(stderr, "usage: rubato-period-traits [--first-seed N] [--traces N] [--leaders]\n");
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 60'000;
  std::uint64_t traces = 1000;
  bool leaders = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--leaders") {
      leaders = true;
      continue;
    }
    const auto value = i + 1 < argc ? parse_integer(argv[++i]) : std::nullopt;
    if (!value || *value < 0 || (flag != "--first-seed" && flag != "--traces")) return complain();
    (flag == "--first-seed" ? first : traces) = static_cast<std::uint64_t>(*value);
  }
  if (first + traces > kFirstHeldOut) {
    std::fprintf(stderr, "rubato-period-traits: seeds from %llu on are held out\n",
                 static_cast<unsigned long long>(kFirstHeldOut));
    return 125;
  }
  std::printf("seed,stretch,family,observable,is_it,true_s,period_s");
  for (const std::string_view name : progress::trait_names())
    std::printf(",%.*s", static_cast<int>(name.size()), name.data());
  if (leaders)
    for (const std::string_view name : progress::followed_trait_names())
      std::printf(",%.*s", static_cast<int>(name.size()), name.data());
  std::printf("\n");
  for (std::uint64_t seed = first; seed < first + traces; ++seed) print_trace(draw_trace(seed), leaders);
  return 0;
}
