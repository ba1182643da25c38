// A mark by <rubato/mark.h>, beside a look at the clock.
#include <benchmark/benchmark.h>
#include <rubato/mark.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

void clock_alone(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    benchmark::DoNotOptimize(now);
  }
}
BENCHMARK(clock_alone);

void iteration(benchmark::State& state) {
  std::uint64_t index = 0;
  for ([[maybe_unused]] auto _ : state) rubato_iteration_begin(index++);
}

// Of the only ring in `folder`.
std::uint64_t written_in(const std::string& folder) {
  rubato_mark_header header{};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream ring(entry.path(), std::ios::binary);
    ring.read(reinterpret_cast<char*>(&header), sizeof header);
  }
  return header.written;
}

void mark(benchmark::State& state) {
  std::string folder = std::filesystem::temp_directory_path() / "rubato-mark-cost-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr || setenv(RUBATO_MARKS_ENV, folder.c_str(), 1) != 0) {
    state.SkipWithError("no folder for marks");
    return;
  }
  iteration(state);
  rubato_mark_close();
  if (written_in(folder) != static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("the marks did not arrive");
  std::filesystem::remove_all(folder);
}
BENCHMARK(mark);

}  // namespace

BENCHMARK_MAIN();
