// NVML calls on one GPU, each of them counted and timed.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "core/sample.h"
#include "device/nvml/abi.h"
#include "device/nvml/library.h"

namespace rubato::device::nvml {

template <class T>
struct Answer {
  abi::Return code = abi::kUnknown;
  T value{};
  [[nodiscard]] bool ok() const { return code == abi::kSuccess; }
};

class DeviceCalls {
 public:
  DeviceCalls(std::shared_ptr<const Library> library, abi::Device handle)
      : library_(std::move(library)), handle_(handle) {}

  [[nodiscard]] const Functions& nvml() const { return library_->nvml(); }
  [[nodiscard]] const CallCost& cost() const { return cost_; }

  template <class Signature, class... Args>
  abi::Return call(const Function<Signature>& function, Args... args) {
    if (!function.exists()) return abi::kFunctionNotFound;
    // Wall time on purpose, also in a scaled world: this is what the driver costs the host.
    const auto begin = std::chrono::steady_clock::now();
    const abi::Return code = function(handle_, args...);
    cost_.inside += Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ++cost_.calls;
    return code;
  }

  [[nodiscard]] Answer<unsigned> number(const Function<abi::DeviceNumber>& function);
  [[nodiscard]] Answer<unsigned> number(const Function<abi::DeviceKindNumber>& function, int kind);
  [[nodiscard]] Answer<unsigned long long> number(const Function<abi::DeviceLong>& function);
  /// One field; for several at once fill FieldValues and call fields.
  [[nodiscard]] Answer<double> field(unsigned id);
  /// NVML's way to return lists: ask with room for so many, be told how many are needed, ask again.
  template <class Row, class Signature, class... Args>
  [[nodiscard]] Answer<std::vector<Row>> list(const Function<Signature>& function, Args... args) {
    Answer<std::vector<Row>> rows;
    unsigned count = 64;
    // More than twice only where the list grows while we ask.
    for (int attempt = 0; attempt < 4; ++attempt) {
      rows.value.resize(count);
      rows.code = call(function, args..., &count, rows.value.data());
      if (rows.code != abi::kInsufficientSize) break;
      count = std::max(count, static_cast<unsigned>(rows.value.size())) + 8;
    }
    rows.value.resize(rows.ok() ? std::min<std::size_t>(count, rows.value.size()) : 0);
    return rows;
  }

  /// Ascending and without repetition; SM clocks over all memory clocks.
  [[nodiscard]] Answer<std::vector<unsigned>> memory_clocks();
  [[nodiscard]] Answer<std::vector<unsigned>> graphics_clocks();

 private:
  std::shared_ptr<const Library> library_;
  abi::Device handle_;
  CallCost cost_;
};

/// The number in a field value, whatever its C type.
[[nodiscard]] double value_of(const abi::FieldValue& field);

}  // namespace rubato::device::nvml
