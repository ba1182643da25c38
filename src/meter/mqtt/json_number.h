// A number, or a text, somewhere in a JSON message of which nothing is sure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato::meter::mqtt {

class JsonMessage {
 public:
  /// Errors: corrupt with the first characters of what is no JSON.
  [[nodiscard]] static Result<JsonMessage> parse(std::string_view text);
  ~JsonMessage();
  JsonMessage(JsonMessage&&) noexcept;
  JsonMessage& operator=(JsonMessage&&) noexcept;

  /// `path`: names, and positions in lists, with points between: "ENERGY.Power", "em:0.phases.2". Empty: the
  /// message itself. Errors: not_found, corrupt naming the path and what stands there.
  [[nodiscard]] Result<double> number(std::string_view path) const;
  [[nodiscard]] Result<std::string> text(std::string_view path) const;

 private:
  struct Tree;
  explicit JsonMessage(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

}  // namespace rubato::meter::mqtt
