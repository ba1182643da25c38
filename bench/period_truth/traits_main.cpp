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
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "period_truth/draw.h"
#include "period_truth/judge.h"
#include "progress/period/analysis.h"
#include "progress/period/candidates.h"
#include "progress/period/leader_traits.h"
#include "progress/period/leaders.h"
#include "progress/period/look_times.h"
#include "progress/period/ranking.h"
#include "progress/period/recall.h"
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
  const progress::Recall* recall = nullptr;
};

/// The leaders of a stretch, with what the looks before it tell of them.
struct Led {
  std::vector<progress::Leader> leaders;
  std::vector<progress::Opinion> opinions;
};

Led led(const Trace& trace, const progress::Samples& samples, double begin_s, double end_s,
        const progress::Recall& recall) {
  const progress::Span span = progress::span_of(samples, trace.facts, begin_s, end_s);
  const auto bands = progress::bands_of(samples, span);
  const auto recalled_s = recall.lengths_s();
  const auto candidates = progress::candidates_of(samples, bands, span, recalled_s);
  const auto traits = progress::traits_of(candidates, span);
  std::vector<double> chances;
  chances.reserve(traits.size());
  for (const auto& t : traits) chances.push_back(progress::chance_of_candidate(t));
  const auto updates = progress::fold_updates(samples, span);
  Led out;
  out.leaders = progress::leaders_of(samples, candidates, traits, chances, updates, span, recalled_s);
  for (const auto& leader : out.leaders)
    out.opinions.push_back({leader.length_s, progress::chance_of_leader(leader.traits)});
  return out;
}

std::optional<double> median_in(const Trace& trace, const Looked& looked) {
  // The detector's clock starts with the first point.
  const double origin_s = trace.points.front().at.since_epoch().value();
  return median_within(trace.truth, looked.begin_s + origin_s, looked.end_s + origin_s);
}

void print_start(const Trace& trace, std::string_view which, int is_it, std::optional<double> median,
                 double period_s) {
  std::printf("%llu,%.*s,%d,%d,%d,%.6g,%.6g", static_cast<unsigned long long>(trace.seed),
              static_cast<int>(which.size()), which.data(), static_cast<int>(trace.family),
              trace.truth.observable ? 1 : 0, is_it, median.value_or(0), period_s);
}

void print_numbers(std::span<const float> numbers) {
  for (const float x : numbers) std::printf(",%.4g", static_cast<double>(x));
}

/// Columns: seed, stretch, family, observable, is_it, true_s, period_s, traits.
void print_candidates(const Trace& trace, const progress::Samples& samples, const Looked& looked) {
  const progress::Span span = progress::span_of(samples, trace.facts, looked.begin_s, looked.end_s);
  const auto bands = progress::bands_of(samples, span);
  const auto candidates = progress::candidates_of(samples, bands, span);
  const auto traits = progress::traits_of(candidates, span);
  const auto median = median_in(trace, looked);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double period_s = candidates[i].candidate.period_s;
    print_start(trace, looked.which, median && std::abs(period_s / *median - 1) < kNear ? 1 : 0, median,
                period_s);
    print_numbers(traits[i]);
    std::printf("\n");
  }
}

int what_it_is(const progress::Leader& leader, const Truth& truth, std::optional<double> median) {
  int is_it = 0;
  if (!median) return is_it;
  for (const double stated_s : {leader.period_s, leader.length_s}) {
    IterationEstimate said;
    said.periodic = true;
    said.period = Seconds(stated_s);
    if (judge(said, truth, *median) != Outcome::wrong)
      is_it = 2;
    else if (std::abs(stated_s / *median - 1) < kNear)
      is_it = std::max(is_it, 1);
  }
  return is_it;
}

void print_leaders(const Trace& trace, const progress::Samples& samples, const Looked& looked) {
  const auto found = led(trace, samples, looked.begin_s, looked.end_s, *looked.recall);
  const auto recalled = looked.recall->traits_of(found.opinions, looked.end_s);
  const auto median = median_in(trace, looked);
  for (std::size_t i = 0; i < found.leaders.size(); ++i) {
    const auto& leader = found.leaders[i];
    const int is_it = what_it_is(leader, looked.which == "whole" ? trace.truth : Truth{}, median);
    print_start(trace, looked.which, is_it, median, leader.period_s);
    print_numbers(leader.traits);
    print_numbers(recalled[i]);
    std::printf("\n");
  }
}

/// Looks as the detector does, from some moment on as if it had decided, and prints one of the looks on the
/// way and the last.
void print_looks(const Trace& trace, const progress::Samples& samples, Random& random) {
  const double end = samples.end_s();
  const double decided = log_uniform(random, 5, 100);
  std::vector<double> looks;
  for (progress::LookTimes times; times.next_s() < end;) {
    const double at = times.next_s();
    looks.push_back(at);
    times.looked(at, at >= decided ? progress::Known::period : progress::Known::nothing);
  }
  const auto printed = static_cast<std::size_t>(random.uniform() * static_cast<double>(looks.size()));
  progress::Recall recall;
  // No more is kept than the detector keeps, and at a look nothing of what comes after it.
  progress::Samples kept;
  std::size_t next = 0;
  for (const auto& point : trace.points) {
    kept.add(point);
    if (next == looks.size() || kept.end_s() < looks[next]) continue;
    const Looked looked{"start", kept.begin_s(), kept.end_s(), &recall};
    if (next == printed) print_leaders(trace, kept, looked);
    auto opinions = led(trace, kept, looked.begin_s, looked.end_s, recall).opinions;
    recall.add(looked.end_s, std::move(opinions));
    ++next;
  }
  print_leaders(trace, samples, {"whole", samples.begin_s(), end, &recall});
}

void print_trace(const Trace& trace, bool leaders) {
  if (trace.points.empty()) return;
  progress::Samples samples;
  for (const auto& point : trace.points) samples.add(point);
  const double begin = samples.begin_s();
  const double end = samples.end_s();
  Random random(trace.seed ^ 0x7472616974ULL);
  const progress::Recall nothing;
  const auto print = [&](const Looked& looked) {
    if (leaders)
      print_leaders(trace, samples, looked);
    else
      print_candidates(trace, samples, looked);
  };
  if (leaders)
    print_looks(trace, samples, random);
  else
    print({"whole", begin, end, &nothing});
  if (end - begin < 2 * kShortest) return;
  if (!leaders) print({"start", begin, begin + log_uniform(random, kShortest, end - begin), &nothing});
  const double length = log_uniform(random, kShortest, end - begin);
  const double from = begin + random.uniform() * (end - begin - length);
  print({"part", from, from + length, &nothing});
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
  if (any_held_out(first, traces)) {
    std::fprintf(stderr, "rubato-period-traits: seeds from %llu to %llu are held out\n",
                 static_cast<unsigned long long>(kFirstHeldOut),
                 static_cast<unsigned long long>(kLastHeldOut));
    return 125;
  }
  std::printf("seed,stretch,family,observable,is_it,true_s,period_s");
  for (const std::string_view name : progress::trait_names())
    std::printf(",%.*s", static_cast<int>(name.size()), name.data());
  if (leaders)
    for (const auto& names : {std::span<const std::string_view>(progress::followed_trait_names()),
                              std::span<const std::string_view>(progress::recall_trait_names())})
      for (const std::string_view name : names)
        std::printf(",%.*s", static_cast<int>(name.size()), name.data());
  std::printf("\n");
  for (std::uint64_t seed = first; seed < first + traces; ++seed) print_trace(draw_trace(seed), leaders);
  return 0;
}
