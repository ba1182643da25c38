// One micro-benchmark on one GPU: made ready, proved right by a small known result, and run unit by unit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "experiment/calibrate/benchmarks.h"
#include "experiment/calibrate/cuda.h"

namespace rubato::experiment {

class Bench {
 public:
  /// Loads the kernels, fills the memory and compares a first result with the host's: corrupt where they
  /// differ, not_supported where this GPU cannot run it. `gpu` outlives the bench.
  [[nodiscard]] static Result<Bench> prepare(CudaDevice& gpu, const Benchmark& benchmark);

  [[nodiscard]] const UnitPlan& plan() const { return plan_; }
  /// Queues one unit.
  [[nodiscard]] Status submit();

 private:
  Bench(CudaDevice& gpu, const Benchmark& benchmark);
  Status load();
  Status load_oscillators();
  Status load_matrices();
  Status load_mixed();
  Status load_chase();
  Status prove();
  Status prove_oscillators();
  Status prove_matrices();
  Status prove_mixed();
  Status prove_chase();
  /// One launch of the main kernel with this many turns, waited for.
  Status once(unsigned turns);
  Status launch(unsigned turns);
  template <class T>
  Result<std::vector<T>> fetch(std::uint64_t from, std::size_t count);
  [[nodiscard]] Error wrong(std::string_view where) const;

  CudaDevice* gpu_;
  const Benchmark* benchmark_;
  UnitPlan plan_;
  CudaKernel kernel_;
  std::vector<std::uint64_t> memory_;  // in the order of the kernel's parameters
  std::uint32_t count_ = 0;            // `mixed` has one more parameter
};

/// Keeps the GPU busy until `enough` says so after a unit, or for that many units: while one runs the next is
/// queued. `on_unit` is told begin and end of each as the host sees them.
struct UnitTimes {
  std::uint64_t index = 0;
  TimePoint begin;
  TimePoint end;
};
[[nodiscard]] Status run_units(CudaDevice& gpu, Bench& bench, const Clock& clock,
                               const std::function<void(const UnitTimes&)>& on_unit,
                               const std::function<bool(const UnitTimes&)>& enough);

}  // namespace rubato::experiment
