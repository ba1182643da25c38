// What the kernels must compute, computed on the host: multiply-adds round once on both, so results are equal
// to the last bit.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace rubato::experiment {

/// Place and speed of one oscillator after some steps.
template <class Real>
struct Oscillator {
  Real x{};
  Real v{};
  void go_on(unsigned steps) {
    constexpr auto kCoupling = static_cast<Real>(0.7);
    for (unsigned i = 0; i < steps; ++i) {
      v = std::fma(x, -kCoupling, v);
      x = std::fma(v, kCoupling, x);
    }
  }
};

/// The four places that `oscillate` stores for this thread.
template <class Real>
[[nodiscard]] std::array<Real, 4> expected_places(std::uint32_t thread, unsigned steps) {
  constexpr auto kStart = static_cast<Real>(1.0 / 128);
  const Real start = static_cast<Real>((thread & 63U) + 1) * kStart;
  std::array<Real, 4> out{};
  Real place = start;
  for (Real& x : out) {
    Oscillator<Real> oscillator{place, start};
    oscillator.go_on(steps);
    x = oscillator.x;
    place += kStart;
  }
  return out;
}

[[nodiscard]] inline float expected_fill(std::uint32_t i) {
  return static_cast<float>((i * 2654435761U) >> 8U) * 0x1p-24F;
}

/// The vector that `mixed` writes at this place.
[[nodiscard]] inline std::array<float, 4> expected_vector(std::uint32_t vector, unsigned steps) {
  const std::uint32_t i = 4 * vector;
  Oscillator<float> first{expected_fill(i), expected_fill(i + 2)};
  Oscillator<float> second{expected_fill(i + 1), expected_fill(i + 3)};
  first.go_on(steps);
  second.go_on(steps);
  return {first.x, second.x, first.v, second.v};
}

[[nodiscard]] inline std::uint32_t next_link(std::uint32_t at, std::uint32_t mask) {
  return (at * 1664525U + 1013904223U) & mask;
}

/// Matrices for `matrices`: A of 16 x depth row-major; B and C of depth x 16 column-major. Multiples of 1/64
/// up to two: bits that toggle, exact in every format, and C is so near to -B that the sums stay exact in
/// single precision whatever their order.
struct TensorOperands {
  unsigned depth = 16;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
};
[[nodiscard]] TensorOperands tensor_operands(unsigned depth);
/// D, 16 x 16 row-major.
[[nodiscard]] std::vector<float> expected_matrix(const TensorOperands& operands, unsigned turns);

[[nodiscard]] std::uint16_t to_half(float exact);
[[nodiscard]] std::uint16_t to_bfloat16(float exact);

}  // namespace rubato::experiment
