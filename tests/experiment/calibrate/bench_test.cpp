#include "experiment/calibrate/bench.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "experiment/calibrate/expected.h"

namespace rubato::experiment {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kAmpere = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
constexpr std::string_view kVolta = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f";

/// While it lives, the fake driver misbehaves.
struct Fault {
  explicit Fault(const char* which) { setenv("FAKE_CUDA_FAULT", which, 1); }
  ~Fault() { unsetenv("FAKE_CUDA_FAULT"); }
};

std::unique_ptr<CudaDevice> ampere() {
  auto gpu = open_cuda(kAmpere, FAKE_CUDA);
  EXPECT_TRUE(gpu) << gpu.error().what;
  return gpu ? std::move(*gpu) : nullptr;
}

TEST(Cuda, TellsWhatTheDriverSaysOfTheGpu) {
  const auto gpu = ampere();
  EXPECT_EQ(gpu->facts().name, "Host that plays a GPU");
  EXPECT_EQ(gpu->facts().driver_version, 12020U);
  EXPECT_EQ(gpu->facts().figures.compute_major, 8U);
  EXPECT_EQ(gpu->facts().figures.sm_count, 2U);
  EXPECT_EQ(gpu->facts().figures.highest_sm, Megahertz(1));
}

TEST(Cuda, AGpuItDoesNotShowIsAnErrorThatNamesThoseItShows) {
  const auto gpu = open_cuda("GPU-ffffffff", FAKE_CUDA);
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::not_found);
  EXPECT_THAT(gpu.error().what, AllOf(HasSubstr("GPU-ffffffff"), HasSubstr(kAmpere), HasSubstr(kVolta)));
}

TEST(Cuda, WithoutADriverTheHintSaysWhatBringsIt) {
  const auto gpu = open_cuda("", "libcuda-that-is-not-there.so.1");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::unavailable);
  EXPECT_THAT(gpu.error().hint, HasSubstr("driver"));
  const Fault none("none");
  EXPECT_THAT(open_cuda("", FAKE_CUDA).error().what, HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

class EveryBenchmark : public ::testing::TestWithParam<const Benchmark*> {};

TEST_P(EveryBenchmark, ProvesItselfByAKnownResult) {
  const auto gpu = ampere();
  const auto bench = Bench::prepare(*gpu, *GetParam());
  EXPECT_TRUE(bench) << bench.error().what;
}

TEST_P(EveryBenchmark, RefusesAGpuThatComputesOneBitWrong) {
  const Fault wrong("wrong");
  const auto gpu = ampere();
  const auto bench = Bench::prepare(*gpu, *GetParam());
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, ErrorCode::corrupt);
  EXPECT_THAT(bench.error().what, HasSubstr(GetParam()->name));
}

std::vector<const Benchmark*> all() {
  std::vector<const Benchmark*> out;
  for (const Benchmark& benchmark : benchmarks()) out.push_back(&benchmark);
  return out;
}
INSTANTIATE_TEST_SUITE_P(List, EveryBenchmark, ::testing::ValuesIn(all()), [](const auto& one) {
  std::string name(one.param->name);
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

TEST(Bench, BfloatMatricesNeedAmpere) {
  auto gpu = open_cuda(kVolta, FAKE_CUDA);
  ASSERT_TRUE(gpu);
  const auto bench = Bench::prepare(**gpu, **find_benchmark("tensor-bf16"));
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, ErrorCode::not_supported);
  EXPECT_THAT(bench.error().what, AllOf(HasSubstr("8.0"), HasSubstr("7.0")));
  EXPECT_TRUE(Bench::prepare(**gpu, **find_benchmark("tensor-fp16")));
}

TEST(Bench, AKernelTheDriverRefusesIsToldWithTheDriversLog) {
  const Fault old("old");
  const auto bench = Bench::prepare(*ampere(), **find_benchmark("fp32"));
  ASSERT_FALSE(bench);
  EXPECT_THAT(bench.error().what, AllOf(HasSubstr("CUDA_ERROR_INVALID_PTX"), HasSubstr("too new for me")));
}

TEST(Bench, FullMemoryIsSomebodyElsesAndSaidSo) {
  const Fault full("full");
  const auto bench = Bench::prepare(*ampere(), **find_benchmark("bandwidth"));
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, ErrorCode::busy);
  EXPECT_THAT(bench.error().what, HasSubstr("256 MiB"));
}

TEST(RunUnits, TellsEachUnitOnceAndWithoutHoles) {
  const auto gpu = ampere();
  auto bench = Bench::prepare(*gpu, **find_benchmark("latency"));
  ASSERT_TRUE(bench);
  std::vector<UnitTimes> seen;
  const RealClock clock;
  const Status done = run_units(
      *gpu, *bench, clock, [&](const UnitTimes& unit) { seen.push_back(unit); },
      [&](const UnitTimes& unit) { return unit.index == 2; });
  ASSERT_TRUE(done);
  ASSERT_EQ(seen.size(), 3U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].index, i);
    EXPECT_LE(seen[i].begin, seen[i].end);
    if (i > 0) {
      EXPECT_EQ(seen[i].begin, seen[i - 1].end);
    }
  }
}

TEST(Expected, OperandsAreExactInEveryFormat) {
  for (const unsigned depth : {8U, 16U}) {
    const TensorOperands o = tensor_operands(depth);
    for (const auto* matrix : {&o.a, &o.b, &o.c}) {
      for (const float x : *matrix) {
        EXPECT_EQ(x * 64, std::round(x * 64));
        EXPECT_LT(std::abs(x), 2);
        // Cutting the lower half off loses nothing.
        EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(to_bfloat16(x)) << 16U), x);
      }
    }
  }
  EXPECT_EQ(to_half(1.0F), 0x3C00);
  EXPECT_EQ(to_half(-0.5F), 0xB800);
  EXPECT_EQ(to_half(0.0F), 0);
}

TEST(Expected, SumsStayExactOverAllTurnsOfAUnit) {
  const unsigned turns = (*find_benchmark("tensor-fp16"))->turns;
  for (const float x : expected_matrix(tensor_operands(16), turns)) {
    EXPECT_LT(std::abs(x), 1024);  // 10 bits before the point and 12 behind it fit into 24
    EXPECT_EQ(x * 4096, std::round(x * 4096));
  }
}

TEST(Expected, AnOscillatorNeitherSettlesNorOverflows) {
  Oscillator<float> o{0.5F, 0.5F};
  float least = 1e9F;
  float most = 0;
  for (int i = 0; i < 100'000; ++i) {
    o.go_on(1);
    const float energy = o.x * o.x + o.v * o.v;
    least = std::min(least, energy);
    most = std::max(most, energy);
  }
  EXPECT_GT(least, 0.1F);
  EXPECT_LT(most, 2.0F);
}

}  // namespace
}  // namespace rubato::experiment
