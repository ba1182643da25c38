// What the contract suite runs on: one kind of provider, and what makes it count.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "feature/provider.h"
#include "feature/training_gpu.h"

namespace rubato::feature {

struct Subject {
  std::string name;  // of the test instance
  ProviderKind (*kind)();
  Guise guise = Guise::hardware;
  bool calls_the_driver = true;  // while it counts
  /// Called with the GPU's time going on, where the provider's own library has to be told.
  std::function<void(Seconds)> go_on = [](Seconds) {};

  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }
};

/// Of the providers that open a library of their own, on the fakes that their own tests use.
[[nodiscard]] std::vector<Subject> library_subjects();

}  // namespace rubato::feature
