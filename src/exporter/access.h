// Who may see the dashboard. Every page needs the token; a browser shows it as a cookie, which it got by a
// link with the token in it, a program in a header. A page of somebody else's in the same browser gets
// nothing: neither by asking from there, nor by a name that it points at this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exporter/http_message.h"

namespace rubato::exporter {

struct AccessOptions {
  std::string token;
  std::vector<std::string> names;  // by which it may be asked for, besides addresses in numbers and localhost
  std::string where_token;         // for people who lack it: "the file /run/user/1000/rubato/..."
};

class Access {
 public:
  explicit Access(AccessOptions options);

  /// The answer to whoever may not see the page asked for, or to a right link; absent: show it.
  [[nodiscard]] std::optional<HttpAnswer> answer(const HttpRequest& request) const;

 private:
  [[nodiscard]] bool known_host(std::string_view header) const;
  [[nodiscard]] bool carries_token(const HttpRequest& request) const;
  [[nodiscard]] HttpAnswer let_in(const HttpRequest& request) const;
  [[nodiscard]] HttpAnswer locked() const;

  AccessOptions options_;
  std::string cookie_;  // its name
};

}  // namespace rubato::exporter
