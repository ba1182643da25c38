// What the injected library adds to a training, apart from CUPTI itself: on the training's own threads
// (buffers, layers) and on its own thread (records). Each beside the least that any such library has to do,
// in the same run.
//
//   build/release/bin/rubato-inject-cost --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>
#include <rubato/kernel_layout.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "inject/buffers.h"
#include "inject/decode.h"
#include "inject/ids.h"
#include "inject/layers.h"
#include "inject/marks.h"
#include "inject/ring.h"
}

namespace {

// A buffer of kernels as CUDA 13.5 lays them out: 256 bytes each, of which ours are the beginning.
constexpr std::size_t kStride = 256;
constexpr std::size_t kRecords = RUBATO_BUFFER_BYTES / kStride;

int next_record(std::uint8_t* buffer, std::size_t valid, cupti_record** record) {
  std::uint8_t* next = *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + kStride;
  if (next >= buffer + valid) return CUPTI_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<cupti_record*>(next);
  return CUPTI_OK;
}

int push_id(int, std::uint64_t) {
  return CUPTI_OK;
}

int pop_id(int, std::uint64_t*) {
  return CUPTI_OK;
}

// Fifty kernels with names of a length that frameworks' templates have.
const std::vector<std::string>& names() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> out;
    out.reserve(50);
    for (int i = 0; i < 50; ++i) out.push_back("_ZN2at6native" + std::string(150, 'x') + std::to_string(i));
    return out;
  }();
  return made;
}

void fill(std::uint8_t* buffer) {
  for (std::size_t i = 0; i < kRecords; ++i) {
    cupti_kernel k{};
    k.kind = CUPTI_KIND_CONCURRENT_KERNEL;
    k.start = 1000 * (i + 1);
    k.end = k.start + 500;
    k.correlation = static_cast<std::uint32_t>(i);
    k.name = names()[i % names().size()].c_str();
    std::memcpy(buffer + i * kStride, &k, sizeof k);
  }
}

void per_record(benchmark::State& state) {
  state.counters["per_record"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kRecords,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The least: one buffer, always the same, handed over and forgotten.
std::uint8_t* g_only = nullptr;
void empty_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = g_only;
  *size = RUBATO_BUFFER_BYTES;
  *most = 0;
}
void empty_completed(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}

void callbacks(benchmark::State& state, cupti_buffer_requested* requested, cupti_buffer_completed* completed,
               bool release) {
  std::vector<std::uint8_t> only(RUBATO_BUFFER_BYTES);
  g_only = only.data();
  for ([[maybe_unused]] auto _ : state) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    requested(&buffer, &size, &most);
    benchmark::DoNotOptimize(buffer);
    completed(nullptr, 0, buffer, size, size);
    if (!release) continue;
    for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
      std::size_t valid = 0;
      if (buffer_completed_at(i, &valid) != nullptr) buffer_release(i);
    }
  }
  per_record(state);
}

void records_walked(benchmark::State& state) {
  std::vector<std::uint8_t> buffer(RUBATO_BUFFER_BYTES);
  fill(buffer.data());
  for ([[maybe_unused]] auto _ : state) {
    cupti_record* record = nullptr;
    while (next_record(buffer.data(), buffer.size(), &record) == CUPTI_OK)
      benchmark::DoNotOptimize(record->kind);
  }
  per_record(state);
}

void records_decoded(benchmark::State& state) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("rubato-inject-cost-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string marks = folder.string();
  marks_open(marks.c_str());
  ring ring{};
  const ring_layout layout{RUBATO_KERNEL_MAGIC, RUBATO_KERNEL_VERSION, sizeof(rubato_kernel_record),
                           RUBATO_KERNEL_DEFAULT_CAPACITY};
  if (!ring_create(&ring, (folder / "1-0.kernels").c_str(), &layout)) {
    state.SkipWithError("no ring could be made");
    return;
  }
  cupti call{};
  call.next_record = next_record;
  decoder decoder{};
  decoder.call = &call;
  decoder.ring = &ring;
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    buffers_requested(&buffer, &size, &most);
    fill(buffer);
    buffers_completed(nullptr, 0, buffer, size, size);
    state.ResumeTiming();
    decode_completed(&decoder);
  }
  per_record(state);
  std::filesystem::remove_all(folder);
}

__attribute__((noinline)) void empty_call(std::uint32_t slot) {
  benchmark::DoNotOptimize(slot);
}

void empty_pair(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    empty_call(1);
    empty_call(1);
  }
}

void layer_pair(benchmark::State& state) {
  cupti call{};
  call.push_id = push_id;
  call.pop_id = pop_id;
  if (state.range(0) != 0) layers_begin_cycle(&call, 1);
  for ([[maybe_unused]] auto _ : state) {
    layers_push(1);
    layers_pop();
  }
  layers_end_cycle();
}

}  // namespace

BENCHMARK_CAPTURE(callbacks, buffer_ours, buffers_requested, buffers_completed, true);
BENCHMARK_CAPTURE(callbacks, buffer_empty, empty_requested, empty_completed, false);
BENCHMARK(records_walked);
BENCHMARK(records_decoded);
BENCHMARK(layer_pair)->ArgName("recording")->Arg(0)->Arg(1);
BENCHMARK(empty_pair);

BENCHMARK_MAIN();
