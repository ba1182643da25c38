#include "device/nvml/fields.h"

namespace rubato::device::nvml {
namespace {

Answer<double> answer_of(const abi::FieldValue& value) {
  Answer<double> answer{.code = value.result};
  if (answer.ok()) answer.value = value_of(value);
  return answer;
}

}  // namespace

std::vector<Answer<double>> ask_fields(DeviceCalls& calls, std::span<const FieldId> ids) {
  if (ids.empty()) return {};
  std::vector<abi::FieldValue> values(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    values[i].field = ids[i].field;
    values[i].scope = ids[i].scope;
    values[i].result = abi::kUnknown;
  }
  const abi::Return whole = calls.call(calls.nvml().fields, static_cast<int>(ids.size()), values.data());
  if (whole != abi::kSuccess) {
    for (abi::FieldValue& value : values) {
      const abi::Return code = calls.call(calls.nvml().fields, 1, &value);
      if (code != abi::kSuccess) value.result = code;
    }
  }
  std::vector<Answer<double>> answers;
  answers.reserve(values.size());
  for (const abi::FieldValue& value : values) answers.push_back(answer_of(value));
  return answers;
}

bool no_answer(abi::Return code) {
  return code == abi::kGpuIsLost || code == abi::kResetRequired || code == abi::kTimeout ||
         code == abi::kUninitialized || code == abi::kDriverNotLoaded || code == abi::kLibRmVersionMismatch;
}

}  // namespace rubato::device::nvml
