// Reading many values by one driver call: which fields a GPU answers is found once, then they are asked
// together.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device/nvml/device_calls.h"

namespace rubato::device::nvml {

struct FieldId {
  unsigned field = 0;
  unsigned scope = abi::kScopeGpu;
  bool operator==(const FieldId&) const = default;
};

/// A field and where its value goes.
template <class Reading>
struct FieldTo {
  FieldId id;
  void (*put)(Reading&, double);
};

inline constexpr std::size_t kMostFields = 16;

/// One answer per id, in their order, by one call; one by one where the driver refuses the list as a whole.
[[nodiscard]] std::vector<Answer<double>> ask_fields(DeviceCalls& calls, std::span<const FieldId> ids);

/// Unlike a missing reading, this is no answer at all.
[[nodiscard]] bool no_answer(abi::Return code);

/// Those of `candidates` that answer with `least` or more.
template <class Reading>
[[nodiscard]] std::vector<FieldTo<Reading>> answering(DeviceCalls& calls,
                                                      std::span<const FieldTo<Reading>> candidates,
                                                      double least) {
  std::vector<FieldId> ids;
  for (const auto& candidate : candidates) ids.push_back(candidate.id);
  const auto answers = ask_fields(calls, ids);
  std::vector<FieldTo<Reading>> kept;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].ok() && answers[i].value >= least) kept.push_back(candidates[i]);
  return kept;
}

/// Puts what can be read now into `reading` by one call. Success where single values are missing; an error
/// where the GPU does not answer.
template <class Reading>
[[nodiscard]] abi::Return read_fields(DeviceCalls& calls, const std::vector<FieldTo<Reading>>& wanted,
                                      Reading& reading) {
  if (wanted.empty()) return abi::kSuccess;
  std::array<abi::FieldValue, kMostFields> values{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    values.at(i).field = wanted[i].id.field;
    values.at(i).scope = wanted[i].id.scope;
  }
  const abi::Return code = calls.call(calls.nvml().fields, static_cast<int>(wanted.size()), values.data());
  if (code != abi::kSuccess) return code;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (no_answer(values.at(i).result)) return values.at(i).result;
    if (values.at(i).result == abi::kSuccess) wanted[i].put(reading, value_of(values.at(i)));
  }
  return abi::kSuccess;
}

}  // namespace rubato::device::nvml
