#include "device/nvml/device_calls.h"

#include <algorithm>

namespace rubato::device::nvml {
namespace {

void sort_unique(std::vector<unsigned>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

double value_of(const abi::FieldValue& field) {
  switch (field.type) {
    case abi::ValueType::real:
      return field.value.real;
    case abi::ValueType::unsigned_int:
      return field.value.unsigned_int;
    case abi::ValueType::unsigned_long:
      return static_cast<double>(field.value.unsigned_long);
    case abi::ValueType::unsigned_long_long:
      return static_cast<double>(field.value.unsigned_long_long);
    case abi::ValueType::signed_long_long:
      return static_cast<double>(field.value.signed_long_long);
    case abi::ValueType::signed_int:
      return field.value.signed_int;
    case abi::ValueType::unsigned_short:
      return field.value.unsigned_short;
  }
  return static_cast<double>(field.value.unsigned_long_long);
}

Answer<unsigned> DeviceCalls::number(const Function<abi::DeviceNumber>& function) {
  Answer<unsigned> answer;
  answer.code = call(function, &answer.value);
  return answer;
}

Answer<unsigned> DeviceCalls::number(const Function<abi::DeviceKindNumber>& function, int kind) {
  Answer<unsigned> answer;
  answer.code = call(function, kind, &answer.value);
  return answer;
}

Answer<unsigned long long> DeviceCalls::number(const Function<abi::DeviceLong>& function) {
  Answer<unsigned long long> answer;
  answer.code = call(function, &answer.value);
  return answer;
}

Answer<double> DeviceCalls::field(unsigned id) {
  abi::FieldValue value{};
  value.field = id;
  Answer<double> answer;
  answer.code = call(nvml().fields, 1, &value);
  if (answer.ok()) answer.code = value.result;
  if (answer.ok()) answer.value = value_of(value);
  return answer;
}

Answer<std::vector<unsigned>> DeviceCalls::memory_clocks() {
  auto clocks = list<unsigned>(nvml().memory_clocks);
  sort_unique(clocks.value);
  return clocks;
}

Answer<std::vector<unsigned>> DeviceCalls::graphics_clocks() {
  auto all = memory_clocks();
  if (!all.ok()) return all;
  const std::vector<unsigned> memory = std::move(all.value);
  all.value.clear();
  for (const unsigned mhz : memory) {
    const auto clocks = list<unsigned>(nvml().graphics_clocks, mhz);
    if (!clocks.ok()) return clocks;
    all.value.insert(all.value.end(), clocks.value.begin(), clocks.value.end());
  }
  sort_unique(all.value);
  return all;
}

}  // namespace rubato::device::nvml
