#include "predict/roofline/peak_rates.h"

#include <gtest/gtest.h>

#include "device/registry.h"
#include "device/sim/profile.h"

namespace rubato::predict {
namespace {

PeakRates rates_of(std::string_view board) {
  const auto figures = device::figures_of_board(board);
  EXPECT_TRUE(figures) << board;
  return peak_rates(figures.value()).value();
}

TEST(PeakRates, AreThoseOfTheDataSheets) {
  const PeakRates v100 = rates_of("Tesla V100-SXM2-32GB");
  EXPECT_NEAR(*v100.operations(Pipe::fp32) * 1530e6, 15.7e12, 0.1e12);
  EXPECT_NEAR(*v100.operations(Pipe::fp64) * 1530e6, 7.8e12, 0.1e12);
  EXPECT_NEAR(*v100.operations(Pipe::tensor) * 1530e6, 125e12, 1e12);
  EXPECT_NEAR(v100.bytes_per_clock * 877e6, 900e9, 5e9);
  const PeakRates a100 = rates_of("NVIDIA A100-SXM4-80GB");
  EXPECT_NEAR(*a100.operations(Pipe::tensor) * 1410e6, 312e12, 1e12);
  EXPECT_NEAR(a100.bytes_per_clock * 1593e6, 2039e9, 5e9);
  const PeakRates h100 = rates_of("NVIDIA H100 80GB HBM3");
  EXPECT_NEAR(*h100.operations(Pipe::tensor) * 1830e6, 989e12, 5e12);
  EXPECT_NEAR(rates_of("NVIDIA GeForce RTX 3090").bytes_per_clock * 9751e6, 936e9, 2e9);
}

TEST(PeakRates, EveryBoardThatHasAProfileHasThem) {
  for (const auto& board : device::sim::list_profiles()) {
    const PeakRates rates = rates_of(board.board);
    EXPECT_GT(*rates.operations(Pipe::fp32), 0) << board.name;
    EXPECT_GT(rates.bytes_per_clock, 0) << board.name;
  }
}

TEST(PeakRates, AreNotMadeUpWhereAFigureIsMissing) {
  EXPECT_FALSE(device::figures_of_board("NVIDIA Unheard Of"));
  EXPECT_FALSE(peak_rates({.compute_major = 7, .sm_count = 80}));
  EXPECT_FALSE(peak_rates({.compute_major = 99, .sm_count = 80, .memory_bus_bits = 4096}));
  EXPECT_FALSE(rates_of("Tesla K80").operations(Pipe::tensor)) << "Kepler has none";
}

TEST(Ridge, RisesWithTheSmClockAndFallsWithTheMemoryClock) {
  PeakRates rates{.bytes_per_clock = 10};
  rates.operations_per_clock[static_cast<std::size_t>(Pipe::fp32)] = 100;
  EXPECT_DOUBLE_EQ(*ridge(rates, Pipe::fp32, Megahertz(1000), Megahertz(1000)), 10);
  EXPECT_DOUBLE_EQ(*ridge(rates, Pipe::fp32, Megahertz(500), Megahertz(1000)), 5);
  EXPECT_DOUBLE_EQ(*ridge(rates, Pipe::fp32, Megahertz(1000), Megahertz(2000)), 5);
  EXPECT_FALSE(ridge(rates, Pipe::fp64, Megahertz(1000), Megahertz(1000)));
}

}  // namespace
}  // namespace rubato::predict
