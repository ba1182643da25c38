// rubato-period-truth [--first-seed N] [--traces N] [--detectors A,B,...]: what the period detectors find in
// generated traces; makes docs/evidence/periods.md. `--development` allows seeds that detectors are tuned on,
// `--failures` lists what the first detector got wrong, `--write DIR` writes traces as files instead.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "period_truth/baseline.h"
#include "period_truth/files.h"
#include "period_truth/observer.h"
#include "period_truth/table.h"
#include "progress/detectors.h"

namespace {

using namespace rubato;
using namespace rubato::period_truth;

constexpr std::uint64_t kJudged = 1900;
constexpr std::uint64_t kWritten = 70;

struct Options {
  std::uint64_t first_seed = 300'000;
  std::optional<std::uint64_t> traces;
  std::string detectors = "rubato,gpoeo,baseline";
  std::string write_to;
  bool development = false;
  bool failures = false;
};

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--development" || flag == "--failures") {
      (flag == "--failures" ? options.failures : options.development) = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string value = argv[++i];
    const auto count = parse_integer(value);
    const bool counts = count && *count >= 0;
    if (flag == "--detectors")
      options.detectors = value;
    else if (flag == "--write")
      options.write_to = value;
    else if (flag == "--first-seed" && counts)
      options.first_seed = static_cast<std::uint64_t>(*count);
    else if (flag == "--traces" && counts)
      options.traces = static_cast<std::uint64_t>(*count);
    else
      return false;
  }
  return options.development || !any_for_development(options.first_seed, options.traces.value_or(kJudged));
}

Result<MakeDetector> detector_named(std::string_view name) {
  if (name == "baseline") return MakeDetector(make_baseline);
  const auto kind = progress::find_detector(name);
  if (!kind) return fail(kind.error());
  return MakeDetector((*kind)->make);
}

void print_failures(const std::vector<Verdict>& verdicts) {
  for (const Verdict& v : verdicts) {
    if (v.right) continue;
    std::printf("%llu, %s, %s: %s, confidence %s, true %s s%s, stated %s s%s\n",
                static_cast<unsigned long long>(v.seed), std::string(name_of(v.family)).c_str(),
                std::string(name_of(v.sensor)).c_str(), std::string(name_of(v.outcome)).c_str(),
                v.confidence ? number(*v.confidence, 3).c_str() : "-",
                v.truth_s ? number(*v.truth_s, 4).c_str() : "-", v.observable ? "" : " (beyond the range)",
                v.stated_s ? number(*v.stated_s, 4).c_str() : "-",
                v.observed ? cat(", observer ", number(*v.observed, 1)).c_str() : "");
  }
}

int complain(const Error& error) {
  std::fprintf(stderr, "rubato-period-truth: %s\n%s\n", error.what.c_str(), error.hint.c_str());
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: rubato-period-truth [--first-seed N] [--traces N] [--detectors A,B,...] [--failures]\n"
        "       [--write DIR] [--development]; seeds below %llu and above %llu need --development\n",
        static_cast<unsigned long long>(kFirstHeldOut), static_cast<unsigned long long>(kLastHeldOut));
    return 125;
  }
  if (!options.write_to.empty()) {
    const Status written =
        write_traces(options.write_to, options.first_seed, options.traces.value_or(kWritten));
    return written ? 0 : complain(written.error());
  }
  const std::uint64_t traces = options.traces.value_or(kJudged);
  std::vector<MakeDetector> make;
  std::vector<Row> rows;
  for (const std::string& name : split(options.detectors, ',')) {
    auto detector = detector_named(name);
    if (!detector) return complain(detector.error());
    make.push_back(*detector);
    rows.push_back({name, {}});
  }
  for (std::uint64_t i = 0; i < traces; ++i) {
    const Trace trace = draw_trace(options.first_seed + i);
    for (std::size_t row = 0; row < rows.size(); ++row)
      rows[row].verdicts.push_back(run_detector(trace, make[row]));
    Verdict& first = rows.front().verdicts.back();
    if (!first.right && first.truth_s) first.observed = log_likelihood_ratio(trace, first.stated_s);
  }
  if (options.failures)
    print_failures(rows.front().verdicts);
  else
    print_page(rows, options.first_seed, traces);
  return 0;
}
