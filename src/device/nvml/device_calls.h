// NVML calls on one GPU, each of them counted and timed, and the way back to the GPU after somebody reset it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/sample.h"
#include "device/nvml/abi.h"
#include "device/nvml/library.h"
#include "device/timed_call.h"

namespace rubato::device::nvml {

template <class T>
struct Answer {
  abi::Return code = abi::kUnknown;
  T value{};
  [[nodiscard]] bool ok() const { return code == abi::kSuccess; }
};

class DeviceCalls {
 public:
  DeviceCalls(std::shared_ptr<const Library> library, abi::Device handle, std::string uuid)
      : library_(std::move(library)),
        handle_(handle),
        uuid_(std::move(uuid)),
        session_(library_->session()) {}

  [[nodiscard]] const Functions& nvml() const { return library_->nvml(); }
  [[nodiscard]] const std::shared_ptr<const Library>& library() const { return library_; }
  [[nodiscard]] const CallCost& cost() const { return cost_; }
  /// Grows with every way back to the GPU: what was counted before is of another life of it.
  [[nodiscard]] unsigned found_again() const { return found_again_; }

  template <class Signature, class... Args>
  abi::Return call(const Function<Signature>& function, Args... args) {
    if (!function.exists()) return abi::kFunctionNotFound;
    if (session_ != library_->session() && !find_again()) {
      session_ = library_->session();
      handle_ = nullptr;
    }
    const auto ask = [&] {
      if (handle_ == nullptr) return abi::kGpuIsLost;
      return timed_call(cost_, [&] { return function(handle_, args...); });
    };
    const abi::Return code = ask();
    if (!gpu_is_gone(code)) {
      gone_in_a_row_ = 0;
      return code;
    }
    return worth_a_try() && find_again() ? ask() : code;
  }

  /// A call that names no GPU and is made for this one.
  template <class Signature, class... Args>
  abi::Return call_library(const Function<Signature>& function, Args... args) {
    return timed_call(cost_, [&] { return function(args...); });
  }

  [[nodiscard]] Answer<unsigned> number(const Function<abi::DeviceNumber>& function);
  [[nodiscard]] Answer<unsigned> number(const Function<abi::DeviceKindNumber>& function, int kind);
  [[nodiscard]] Answer<unsigned long long> number(const Function<abi::DeviceLong>& function);
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

  /// Ascending and without repetition.
  [[nodiscard]] Answer<std::vector<unsigned>> memory_clocks();
  [[nodiscard]] Answer<std::vector<unsigned>> graphics_clocks_at(unsigned memory_mhz);

 private:
  [[nodiscard]] static bool gpu_is_gone(abi::Return code) {
    return code == abi::kUninitialized || code == abi::kGpuIsLost || code == abi::kResetRequired;
  }
  /// True at the 1st, 2nd, 4th, 8th ... failure in a row: a GPU gone for good costs next to nothing.
  [[nodiscard]] bool worth_a_try() {
    ++gone_in_a_row_;
    return (gone_in_a_row_ & (gone_in_a_row_ - 1)) == 0;
  }
  /// The GPU's handle anew, after nvmlInit where the library says it needs one. Never ends the session first:
  /// where no other client holds the driver, that would undo the settings of every other GPU.
  bool find_again();

  std::shared_ptr<const Library> library_;
  abi::Device handle_;  // null: not found in this session
  std::string uuid_;
  unsigned session_;  // of the library when handle_ was found
  unsigned gone_in_a_row_ = 0;
  unsigned found_again_ = 0;
  CallCost cost_;
};

/// The number in a field value, whatever its C type.
[[nodiscard]] double value_of(const abi::FieldValue& field);

}  // namespace rubato::device::nvml
