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

Answer<std::vector<unsigned>> DeviceCalls::memory_clocks() {
  auto clocks = list<unsigned>(nvml().memory_clocks);
  sort_unique(clocks.value);
  return clocks;
}

Answer<std::vector<unsigned>> DeviceCalls::graphics_clocks_at(unsigned memory_mhz) {
  auto clocks = list<unsigned>(nvml().graphics_clocks, memory_mhz);
  sort_unique(clocks.value);
  return clocks;
}

bool DeviceCalls::find_again() {
  const auto look = [&] {
    abi::Device found = nullptr;
    const abi::Return code = nvml().handle_by_uuid(uuid_.c_str(), &found);
    if (code == abi::kSuccess) {
      handle_ = found;
      session_ = library_->session();
      ++found_again_;
    }
    return code;
  };
  const unsigned seen = library_->session();
  const abi::Return code = look();
  if (code == abi::kUninitialized && library_->start_again(seen)) return look() == abi::kSuccess;
  return code == abi::kSuccess;
}

}  // namespace rubato::device::nvml
