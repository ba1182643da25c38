// What a run that goes on has saved and how much longer it took so far, against its own baseline, each with
// its 90 % interval. For the person at the terminal; the report at the end judges batches with more care
// (analyse/batches.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/kind.h"
#include "record/types.h"

namespace rubato::conduct {

/// A fraction of what the run so far would have taken at the found setting, and half of its interval.
struct Share {
  double value = 0;
  double half_width = 0;
};

struct SoFar {
  TimePoint at;
  Kind kind = Kind::measured;
  Share saved;   // energy
  Share slower;  // time
};

class SoFarAccount {
 public:
  void add(const record::Block& block);
  /// Absent until the found setting was measured over four blocks on every GPU, and another one was used.
  [[nodiscard]] std::optional<SoFar> so_far() const;

 private:
  /// Per iteration, weighted by iterations; blocks are taken as independent.
  struct Sum {
    double iterations = 0;
    double value = 0;
    double squares = 0;  // of a block's value, over its iterations
    int blocks = 0;
    void add(double n, double v);
    [[nodiscard]] double variance_of_one() const;
  };
  struct Side {
    Sum found;
    Sum away;
    double all = 0;
  };
  struct Difference {
    double saved = 0;
    double square = 0;  // of half the interval
    double all = 0;
  };
  struct Gpu {
    Side energy;
    Side time;
  };
  [[nodiscard]] static std::optional<Difference> difference(const Side& side);

  std::map<std::string, Gpu> gpus_;
  TimePoint at_;
  Kind kind_ = Kind::measured;
};

}  // namespace rubato::conduct
