#include "device/replay/spec.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/sweep_table_csv.h"

namespace rubato::device::replay {
namespace {

// Shorter ones would pass between two readings unseen; longer ones never end.
constexpr Seconds kShortest{1e-6};
constexpr Seconds kLongest{1e6};
constexpr std::string_view kForm = "write it as replay:FILE#WORKLOAD or replay:FILE#WORKLOAD@SECONDS";

Result<ReplaySpec> parse_spec(std::string_view item) {
  ReplaySpec spec;
  const auto hash = std::min(item.find('#'), item.size());
  spec.file = trim(item.substr(0, hash));
  if (spec.file.empty())
    return fail(ErrorCode::invalid_argument, cat("'replay:", item, "' names no file"), std::string(kForm));
  std::string_view rest = item.substr(std::min(hash + 1, item.size()));
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    const std::optional<double> seconds = parse_number(trim(rest.substr(at + 1)));
    if (!seconds || !(Seconds(*seconds) >= kShortest && Seconds(*seconds) <= kLongest))
      return fail(
          ErrorCode::invalid_argument,
          cat("'", rest.substr(at + 1), "' behind @ in 'replay:", item, "' is no number of seconds from ",
              number(kShortest.value()), " to ", number(kLongest.value())),
          std::string(kForm));
    spec.iteration = Seconds(*seconds);
    rest = rest.substr(0, at);
  }
  spec.workload = trim(rest);
  return spec;
}

std::string first_of(const std::set<std::string>& names) {
  constexpr std::size_t kMostShown = 12;
  std::string out;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMostShown) return cat(out, ", and ", names.size() - kMostShown, " more");
    out += cat(out.empty() ? "" : ", ", name);
  }
  return out.empty() ? "none" : out;
}

}  // namespace

Result<std::vector<ReplaySpec>> parse_specs(std::string_view argument) {
  std::vector<ReplaySpec> specs;
  if (trim(argument).empty()) return specs;
  for (const std::string& item : split(argument, ',')) {
    Result<ReplaySpec> spec = parse_spec(trim(item));
    if (!spec) return fail(spec.error());
    specs.push_back(std::move(*spec));
  }
  return specs;
}

Result<ReplaySource> load(const ReplaySpec& spec) {
  const Result<SweepTable> table = read_sweep_table(spec.file);
  if (!table) return fail(table.error());
  return select(*table, spec.workload, spec.iteration, spec.file.string());
}

Result<ReplaySource> select(const SweepTable& table, std::string_view workload,
                            std::optional<Seconds> iteration, std::string_view name) {
  std::set<std::string> workloads;
  std::set<std::string> gpus;
  ReplaySource source{.table = {}, .iteration = iteration};
  for (const SweepRow& row : table.rows) {
    workloads.insert(row.workload);
    if (!workload.empty() && row.workload != workload) continue;
    gpus.insert(row.gpu);
    source.table.rows.push_back(row);
  }
  if (workload.empty() && workloads.size() != 1)
    return fail(ErrorCode::invalid_argument,
                cat(name, " has ", workloads.size(), " workloads; which one is to be replayed?"),
                cat("name one behind #; there are: ", first_of(workloads)));
  if (source.table.rows.empty())
    return fail(ErrorCode::not_found, cat(name, " has no workload '", workload, "'"),
                cat("there are: ", first_of(workloads)));
  if (gpus.size() != 1)
    return fail(ErrorCode::invalid_argument,
                cat(name, " has '", source.table.rows.front().workload, "' on ", gpus.size(),
                    " GPUs: ", first_of(gpus)),
                "keep the rows of one of them in a table of their own");
  return source;
}

}  // namespace rubato::device::replay
