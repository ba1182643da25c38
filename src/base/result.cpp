#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace rubato {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::not_supported:
      return "not_supported";
    case ErrorCode::no_permission:
      return "no_permission";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

Error from_errno(int number, std::string doing, std::string hint) {
  ErrorCode code = ErrorCode::io;
  if (number == EACCES || number == EPERM) code = ErrorCode::no_permission;
  if (number == ENOENT || number == ESRCH) code = ErrorCode::not_found;
  if (number == EAGAIN || number == EBUSY) code = ErrorCode::busy;
  if (number == ETIMEDOUT) code = ErrorCode::timeout;
  return Error{code, std::move(doing) + ": " + std::generic_category().message(number), std::move(hint)};
}

}  // namespace rubato
