#include "experiment/calibrate/bench.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "experiment/calibrate/expected.h"

namespace rubato::experiment {
namespace {

constexpr unsigned kProofTurns = 3;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// As many bits as the format has.
template <class T>
std::vector<std::byte> encoded(const std::vector<float>& values, T (*encode)(float)) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const float value : values) out.push_back(encode(value));
  const auto bytes = bytes_of(out);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> encoded(const std::vector<float>& values, ptx::TensorFormat format) {
  if (format == ptx::TensorFormat::fp16) return encoded(values, &to_half);
  if (format == ptx::TensorFormat::bf16) return encoded(values, &to_bfloat16);
  const auto bytes = bytes_of(values);
  return {bytes.begin(), bytes.end()};
}

unsigned depth_of(ptx::TensorFormat format) {
  return format == ptx::TensorFormat::tf32 ? 8 : 16;
}

std::uint32_t last_thread(const LaunchShape& shape) {
  return shape.blocks * shape.threads - 1;
}

}  // namespace

Bench::Bench(CudaDevice& gpu, const Benchmark& benchmark)
    : gpu_(&gpu), benchmark_(&benchmark), plan_(unit_plan(benchmark, gpu.facts().figures)) {}

Result<Bench> Bench::prepare(CudaDevice& gpu, const Benchmark& benchmark) {
  if (const std::string why = why_not_on(benchmark, gpu.facts().figures); !why.empty())
    return fail(ErrorCode::not_supported,
                cat(benchmark.name, " cannot run on ", gpu.facts().name, ": ", why));
  Bench bench(gpu, benchmark);
  if (Status s = bench.load(); !s) return fail(s.error());
  if (Status s = bench.prove(); !s) return fail(s.error());
  return bench;
}

Status Bench::load() {
  switch (benchmark_->kind) {
    case BenchmarkKind::fma32:
    case BenchmarkKind::fma64:
    case BenchmarkKind::launches:
      return load_oscillators();
    case BenchmarkKind::matrices:
      return load_matrices();
    case BenchmarkKind::mixed:
      return load_mixed();
    case BenchmarkKind::chase:
      return load_chase();
  }
  return {};
}

Status Bench::prove() {
  switch (benchmark_->kind) {
    case BenchmarkKind::fma32:
    case BenchmarkKind::fma64:
    case BenchmarkKind::launches:
      return prove_oscillators();
    case BenchmarkKind::matrices:
      return prove_matrices();
    case BenchmarkKind::mixed:
      return prove_mixed();
    case BenchmarkKind::chase:
      return prove_chase();
  }
  return {};
}

Status Bench::load_oscillators() {
  const bool doubles = benchmark_->kind == BenchmarkKind::fma64;
  const auto kernel = gpu_->load(doubles ? ptx::fma64() : ptx::fma32(), "oscillate");
  if (!kernel) return fail(kernel.error());
  kernel_ = *kernel;
  const std::size_t size = 4 * (doubles ? sizeof(double) : sizeof(float));
  const auto out = gpu_->allocate(size * (last_thread(plan_.shape) + std::size_t{1}));
  if (!out) return fail(out.error());
  memory_ = {*out};
  return {};
}

Status Bench::load_matrices() {
  const auto kernel = gpu_->load(ptx::matrices(benchmark_->format), "matrices");
  if (!kernel) return fail(kernel.error());
  kernel_ = *kernel;
  const std::size_t warps = (last_thread(plan_.shape) + std::size_t{1}) / 32;
  const auto out = gpu_->allocate(warps * ptx::kAccumulators * 16 * 16 * sizeof(float));
  if (!out) return fail(out.error());
  memory_ = {*out};
  const TensorOperands operands = tensor_operands(depth_of(benchmark_->format));
  for (const auto* values : {&operands.a, &operands.b, &operands.c}) {
    const auto bytes = encoded(*values, benchmark_->format);
    const auto matrix = gpu_->allocate(bytes.size());
    if (!matrix) return fail(matrix.error());
    if (Status s = gpu_->write(*matrix, bytes); !s) return s;
    memory_.push_back(*matrix);
  }
  return {};
}

Status Bench::load_mixed() {
  const std::string module = ptx::mixed();
  const auto kernel = gpu_->load(module, "mixed");
  if (!kernel) return fail(kernel.error());
  kernel_ = *kernel;
  const auto fill = gpu_->load(module, "fill");
  if (!fill) return fail(fill.error());
  for (int i = 0; i < 2; ++i) {
    const auto array = gpu_->allocate(std::size_t{16} * kMixedVectors);
    if (!array) return fail(array.error());
    memory_.push_back(*array);
  }
  count_ = kMixedVectors;
  std::uint32_t floats = 4 * kMixedVectors;
  std::array<void*, 2> arguments{&memory_[1], &floats};
  return gpu_->launch(*fill, plan_.shape, arguments);
}

Status Bench::load_chase() {
  const std::string module = ptx::chase();
  const auto kernel = gpu_->load(module, "chase");
  if (!kernel) return fail(kernel.error());
  kernel_ = *kernel;
  const auto link = gpu_->load(module, "link");
  if (!link) return fail(link.error());
  const auto table = gpu_->allocate(std::size_t{4} * kChaseEntries);
  if (!table) return fail(table.error());
  const auto at = gpu_->allocate(4);
  if (!at) return fail(at.error());
  memory_ = {*table, *at};
  const std::vector<std::uint32_t> start{0};
  if (Status s = gpu_->write(*at, bytes_of(start)); !s) return s;
  std::uint32_t mask = kChaseEntries - 1;
  std::array<void*, 2> arguments{&memory_[0], &mask};
  const unsigned sms = gpu_->facts().figures.sm_count.value_or(1);
  return gpu_->launch(*link, {sms * 8, ptx::kBlock}, arguments);
}

Status Bench::launch(unsigned turns) {
  std::vector<void*> arguments;
  for (std::uint64_t& address : memory_) arguments.push_back(&address);
  if (count_ > 0) arguments.push_back(&count_);
  arguments.push_back(&turns);
  return gpu_->launch(kernel_, plan_.shape, arguments);
}

Status Bench::once(unsigned turns) {
  if (Status s = launch(turns); !s) return s;
  if (Status s = gpu_->mark(0); !s) return s;
  return gpu_->wait(0);
}

template <class T>
Result<std::vector<T>> Bench::fetch(std::uint64_t from, std::size_t count) {
  std::vector<T> out(count);
  if (Status s = gpu_->read(std::as_writable_bytes(std::span(out)), from); !s) return fail(s.error());
  return out;
}

Error Bench::wrong(std::string_view where) const {
  return Error{ErrorCode::corrupt,
               cat(gpu_->facts().name, " computed a wrong result: ", benchmark_->name, ", ", where,
                   " is not what the host computes"),
               "nothing measured with this kernel counts; please report it with the driver's version"};
}

Status Bench::prove_oscillators() {
  if (Status s = once(kProofTurns); !s) return s;
  const auto check = [&]<class Real>(Real) -> Status {
    for (const std::uint32_t thread : {0U, 77U, last_thread(plan_.shape)}) {
      const auto expected = expected_places<Real>(thread, kProofTurns * ptx::kFmaUnroll);
      const auto got = fetch<Real>(memory_[0] + sizeof expected * thread, 4);
      if (!got) return fail(got.error());
      if (!std::equal(got->begin(), got->end(), expected.begin())) return fail(wrong(cat("thread ", thread)));
    }
    return {};
  };
  return benchmark_->kind == BenchmarkKind::fma64 ? check(double{}) : check(float{});
}

Status Bench::prove_matrices() {
  if (Status s = once(kProofTurns); !s) return s;
  const auto expected = expected_matrix(tensor_operands(depth_of(benchmark_->format)), kProofTurns);
  const std::uint32_t last_warp = last_thread(plan_.shape) / 32;
  for (const std::uint32_t matrix : {0U, last_warp * ptx::kAccumulators + ptx::kAccumulators - 1}) {
    constexpr std::size_t kCells = std::size_t{16} * 16;
    const auto got = fetch<float>(memory_[0] + matrix * kCells * sizeof(float), kCells);
    if (!got) return fail(got.error());
    if (*got != expected) return fail(wrong(cat("matrix ", matrix)));
  }
  return {};
}

Status Bench::prove_mixed() {
  if (Status s = once(benchmark_->turns); !s) return s;
  for (const std::uint32_t vector : {0U, kMixedVectors / 2 + 1, kMixedVectors - 1}) {
    const auto expected = expected_vector(vector, benchmark_->turns * ptx::kMixedUnroll);
    const auto got = fetch<float>(memory_[0] + std::uint64_t{16} * vector, 4);
    if (!got) return fail(got.error());
    if (!std::equal(got->begin(), got->end(), expected.begin())) return fail(wrong(cat("vector ", vector)));
  }
  return {};
}

Status Bench::prove_chase() {
  if (Status s = once(benchmark_->turns); !s) return s;
  std::uint32_t expected = 0;
  for (unsigned i = 0; i < benchmark_->turns * ptx::kChaseUnroll; ++i)
    expected = next_link(expected, kChaseEntries - 1);
  const auto got = fetch<std::uint32_t>(memory_[1], 1);
  if (!got) return fail(got.error());
  if (got->front() != expected) return fail(wrong("the place the pointers lead to"));
  return {};
}

Status Bench::submit() {
  for (unsigned i = 0; i < plan_.launches; ++i)
    if (Status s = launch(benchmark_->turns); !s) return s;
  return {};
}

Status run_units(CudaDevice& gpu, Bench& bench, const Clock& clock,
                 const std::function<void(const UnitTimes&)>& on_unit,
                 const std::function<bool(const UnitTimes&)>& enough) {
  const auto queue = [&](std::uint64_t unit) -> Status {
    if (Status s = bench.submit(); !s) return s;
    return gpu.mark(static_cast<unsigned>(unit % 2));
  };
  TimePoint begin = clock.now();
  if (Status s = queue(0); !s) return s;
  for (std::uint64_t unit = 0;; ++unit) {
    if (Status s = queue(unit + 1); !s) return s;
    if (Status s = gpu.wait(static_cast<unsigned>(unit % 2)); !s) return s;
    const UnitTimes times{unit, begin, clock.now()};
    on_unit(times);
    begin = times.end;
    if (!enough(times)) continue;
    return gpu.wait(static_cast<unsigned>((unit + 1) % 2));
  }
}

}  // namespace rubato::experiment
