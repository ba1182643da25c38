// Names that arrive in parts of 32 bytes (include/rubato/mark_layout.h, RUBATO_MARK_NAME), put together. They
// come from somebody else's program: what is no text is made one, and there is an end to how much is kept.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/iteration.h"

namespace rubato::record {

class NameBook {
 public:
  /// A mark of kind RUBATO_MARK_NAME. A part that does not follow those before it is passed over, so several
  /// processes may tell the same name; the first to tell one wins.
  void add(const Mark& mark);
  /// New and longer ones since the last call, as UTF-8 without control characters.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::string>> take_changed();

 private:
  struct Name {
    std::string bytes;
    std::uint32_t parts = 0;
    bool whole = false;
  };
  std::map<std::uint64_t, Name> names_;
  std::set<std::uint64_t> changed_;
  std::size_t bytes_ = 0;
};

}  // namespace rubato::record
