// What the contract suite runs on: one GPU of one backend in a fresh world, or the machine's own.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/gpu.h"

namespace rubato::device {

enum class Through { sim, stand_in, replay, real_driver };

struct Subject {
  std::string name;  // of the test instance
  Through through = Through::sim;
  std::string profile;
  std::string rights;  // of the scenario; empty: the view's default

  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }
};

/// Sets RUBATO_SIM_WORLD, _PROFILES and _SCENARIO to fresh files for as long as it lives. A replayed GPU has
/// work to do from the start, as its table tells nothing of one without.
class FreshWorld {
 public:
  FreshWorld(const Subject& subject, std::string_view test);
  ~FreshWorld();
  FreshWorld(const FreshWorld&) = delete;
  FreshWorld& operator=(const FreshWorld&) = delete;

 private:
  void begin_replay();
  std::string folder_;
};

/// not_found where this machine has no such thing; the text is the reason to skip.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_subject(const Subject& subject);

/// Settings of real hardware are left alone unless RUBATO_TEST_MAY_SET is 1.
[[nodiscard]] bool may_set(const Subject& subject);

}  // namespace rubato::device
