#include <algorithm>
#include <array>

#include "base/text.h"
#include "lab/suites.h"
#include "lab/suites/suite_table.h"

namespace rubato::lab {
namespace {

struct Entry {
  std::string_view name;
  std::string_view description;
  std::vector<Knob> knobs;  // by default
  Jobs (*make)(std::span<const Knob> knobs);
};

const std::vector<Entry>& entries() {
  constexpr Knob kLimit = Knob::power_limit;
  constexpr Knob kSm = Knob::sm_clock;
  constexpr Knob kMemory = Knob::memory_clock;
  static const std::vector<Entry> kAll = {
      {"gpoeo-71",
       "71 modelled trainings on an RTX 3080 Ti, from the shapes of published networks",
       {kSm, kMemory},
       desktop_suite},
      {"v100",
       "30 modelled trainings on a V100 PCIe 16 GB",
       {kLimit, kSm},
       [](std::span<const Knob> knobs) { return server_suite("v100", knobs); }},
      {"a100",
       "30 modelled trainings on an A100 PCIe 80 GB",
       {kLimit, kSm},
       [](std::span<const Knob> knobs) { return server_suite("a100", knobs); }},
      {"h100",
       "30 modelled trainings on an H100 SXM5 80 GB",
       {kLimit, kSm},
       [](std::span<const Knob> knobs) { return server_suite("h100", knobs); }},
      {"time-varying",
       "12 modelled jobs on V100 and A100 whose work changes every few minutes",
       {kLimit, kSm},
       time_varying_suite},
      {"boards-8",
       "30 modelled trainings on eight A100 SXM4 80 GB in step, their efficiency spread by 4 %",
       {kSm},
       uneven_boards_suite},
      {"shift-pairs",
       "200 modelled jobs on V100 and A100 in which one training takes another's place after 8 to 16 minutes",
       {kSm},
       shift_pairs_suite}};
  return kAll;
}

}  // namespace

std::vector<SuiteInfo> suites() {
  std::vector<SuiteInfo> out;
  for (const Entry& entry : entries())
    out.push_back({std::string(entry.name), std::string(entry.description)});
  return out;
}

Result<std::vector<Job>> suite_named(std::string_view name, std::span<const Knob> knobs) {
  std::string known;
  for (const Entry& entry : entries()) {
    if (entry.name == name) return entry.make(knobs.empty() ? std::span<const Knob>(entry.knobs) : knobs);
    known += cat(known.empty() ? "" : ", ", entry.name);
  }
  return fail(ErrorCode::not_found, cat("there is no suite '", name, "'; there are ", known),
              "docs/suites.md says what is in each");
}

}  // namespace rubato::lab
