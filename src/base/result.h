// The one way a room tells another that something the world did went wrong.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rubato {

enum class ErrorCode {
  invalid_argument,  // what the user typed or a caller passed cannot work
  not_found,
  not_supported,  // this device, driver or build cannot do it
  no_permission,  // somebody with more rights could
  unavailable,    // not now: no driver, no server, no process at the other end
  busy,           // somebody else owns it
  conflict,       // the present state is not what we left
  timeout,
  device_lost,
  corrupt,  // a file or message that cannot be trusted
  io,
  internal,
};

[[nodiscard]] std::string_view name_of(ErrorCode code);

/// `what` names the device, the value found and the value needed; `hint` is what to do next, best a command.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;
  std::string hint{};
};

/// The name isolates the code from tl::expected until the toolchain has std::expected.
template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(hint)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// An errno as an Error: `doing` reads like "cannot open /run/rubato/lock".
[[nodiscard]] Error from_errno(int number, std::string doing, std::string hint = {});

}  // namespace rubato
