// Calls into CUPTI: each is counted, timed, and its refusal put into words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/call_count.h"
#include "base/result.h"
#include "core/sample.h"
#include "feature/cupti/abi.h"

namespace rubato::feature::cupti {

/// What refused, and what helps. `call` is the vendor's name of it.
[[nodiscard]] Error refusal(int code, std::string_view call);

class Api {
 public:
  Api(abi::Calls calls, std::string path, std::uint32_t version)
      : calls_(calls), path_(std::move(path)), version_(version) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] CallCost cost() const { return cost_; }

  /// The raw result; fills the structure's size.
  template <class Params>
  [[nodiscard]] int ask(int (*abi::Calls::*call)(Params*), std::type_identity_t<Params>& params) {
    params.size = abi::size_of<Params>();
    note_call();
    const RealClock wall;
    const TimePoint begin = wall.now();
    const int code = (calls_.*call)(&params);
    cost_.inside += wall.now() - begin;
    ++cost_.calls;
    return code;
  }
  template <class Params>
  [[nodiscard]] Status operator()(int (*abi::Calls::*call)(Params*), std::string_view name,
                                  std::type_identity_t<Params>& params) {
    const int code = ask(call, params);
    if (code != abi::kSuccess) return fail(refusal(code, name));
    return {};
  }

 private:
  abi::Calls calls_;
  std::string path_;
  std::uint32_t version_;
  CallCost cost_{};
};

}  // namespace rubato::feature::cupti
