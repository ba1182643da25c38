// rubato-period-traits [--first-seed N] [--traces N]: the candidates of generated development traces, their
// traits, and which of them is the iteration, as CSV: what tools/train-period-ranking learns from. Each trace
// is looked at whole, from its start to some moment, and between two moments, as the detector does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "period_truth/draw.h"
#include "period_truth/judge.h"
#include "progress/period/analysis.h"
#include "progress/period/candidates.h"
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

void print_stretch(const Trace& trace, const progress::Samples& samples, double begin_s, double end_s,
                   std::string_view which) {
  const progress::Span span = progress::span_of(samples, trace.facts, begin_s, end_s);
  const auto bands = progress::bands_of(samples, span);
  const auto candidates = progress::candidates_of(samples, bands, span);
  const auto traits = progress::traits_of(candidates, span);
  // The detector's clock starts with the first point.
  const double origin_s = trace.points.front().at.since_epoch().value();
  const auto median = median_within(trace.truth, begin_s + origin_s, end_s + origin_s);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double period_s = candidates[i].candidate.period_s;
    const bool is_it = median && std::abs(period_s / *median - 1) < kNear;
    std::printf("%llu,%.*s,%d,%d,%d,%.6g,%.6g", static_cast<unsigned long long>(trace.seed),
                static_cast<int>(which.size()), which.data(), static_cast<int>(trace.family),
                trace.truth.observable ? 1 : 0, is_it ? 1 : 0, median.value_or(0), period_s);
    for (const float x : traits[i]) std::printf(",%.6g", static_cast<double>(x));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 60'000;
  std::uint64_t traces = 1000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto value = parse_integer(argv[i + 1]);
    if (!value || *value < 0) return 125;
    (std::string_view(argv[i]) == "--first-seed" ? first : traces) = static_cast<std::uint64_t>(*value);
  }
  if (first + traces > kFirstHeldOut) {
    std::fprintf(stderr, "rubato-period-traits: seeds from %llu on are held out\n",
                 static_cast<unsigned long long>(kFirstHeldOut));
    return 125;
  }
  std::printf("seed,stretch,family,observable,is_it,true_s,period_s");
  for (const std::string_view name : progress::trait_names())
    std::printf(",%.*s", static_cast<int>(name.size()), name.data());
  std::printf("\n");
  for (std::uint64_t seed = first; seed < first + traces; ++seed) {
    const Trace trace = draw_trace(seed);
    if (trace.points.empty()) continue;
    progress::Samples samples;
    for (const auto& point : trace.points) samples.add(point);
    const double begin = samples.begin_s();
    const double end = samples.end_s();
    print_stretch(trace, samples, begin, end, "whole");
    if (end - begin < 2 * kShortest) continue;
    Random random(seed ^ 0x7472616974ULL);
    print_stretch(trace, samples, begin, begin + log_uniform(random, kShortest, end - begin), "start");
    const double length = log_uniform(random, kShortest, end - begin);
    const double from = begin + random.uniform() * (end - begin - length);
    print_stretch(trace, samples, from, from + length, "part");
  }
  return 0;
}
