// What finding the iteration costs for each kernel record, against the least that any reader of the record
// has to do (look its token up), in the same run.
//
//   build/release/bin/rubato-kernel-sequence-cost
#include <benchmark/benchmark.h>

#include <cstdint>

#include "base/random.h"
#include "progress/kernel_sequence.h"
#include "progress/kernels/token_table.h"

namespace {

using rubato::KernelRecord;
using rubato::Random;
using rubato::TimePoint;

constexpr std::size_t kKernels = 60;  // names, each with up to four grids

// Iterations of `size` launches in the same order, 5 us apart; random ones have no order. Made as they are
// asked for, so that a million need no memory.
class Stream {
 public:
  Stream(std::size_t size, bool periodic) : size_(size), periodic_(periodic), random_(1) {}

  const KernelRecord& next() {
    const std::uint64_t what = periodic_ ? Random(at_++ % size_).next() : random_.next();
    record_.begin = TimePoint{record_.begin.ns + 5'000};
    record_.end = TimePoint{record_.begin.ns + 4'000};
    record_.name_hash = what % kKernels;
    record_.grid[0] = static_cast<std::uint32_t>(what >> 32U) % 4;
    return record_;
  }

 private:
  std::size_t size_;
  bool periodic_;
  Random random_;
  std::uint64_t at_ = 0;
  KernelRecord record_{};
};

void made_only(benchmark::State& state) {
  Stream stream(static_cast<std::size_t>(state.range(0)), true);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(stream.next());
}

void looked_up(benchmark::State& state) {
  Stream stream(static_cast<std::size_t>(state.range(0)), true);
  rubato::progress::kernels::TokenTable table;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(table.token(stream.next()));
}

// From nothing known on: the search for the pattern is in it.
void a_million(benchmark::State& state, bool periodic) {
  constexpr std::int64_t kRecords = 1'000'000;
  for ([[maybe_unused]] auto _ : state) {
    Stream stream(static_cast<std::size_t>(state.range(0)), periodic);
    rubato::progress::KernelSequence sequence;
    for (std::int64_t i = 0; i < kRecords; ++i) sequence.add(stream.next());
    benchmark::DoNotOptimize(sequence.estimate());
  }
  state.counters["per_record"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(kRecords),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// With the pattern known.
void followed(benchmark::State& state) {
  Stream stream(static_cast<std::size_t>(state.range(0)), true);
  rubato::progress::KernelSequence sequence;
  for (int i = 0; i < 1'000'000; ++i) sequence.add(stream.next());
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    sequence.add(stream.next());
    if (++count % 4'096 == 0) benchmark::DoNotOptimize(sequence.take_iterations());
  }
}

}  // namespace

BENCHMARK(made_only)->Arg(1'000);
BENCHMARK(looked_up)->Arg(1'000);
BENCHMARK(followed)->Arg(100)->Arg(1'000)->Arg(20'000);
BENCHMARK_CAPTURE(a_million, periodic, true)->Arg(1'000)->Arg(20'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(a_million, without_period, false)->Arg(1'000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
